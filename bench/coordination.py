"""Operations per second of the memory coordination, by batch size: admit + release, and a whole life of a job.

    python bench/coordination.py [--assets 20000]

A life is admit → enqueue → claim → settle → release of one asset with one job; the jobs are made before the clock
starts, since the engine makes them. Each figure is the best of three, in CPU seconds of this process, so that it says
the same on a machine that does other things. Memory is what 100,000 queued
jobs of one store add, the jobs themselves included.
"""

from __future__ import annotations

import argparse
import asyncio
import gc
import time
import tracemalloc
from collections.abc import Iterator, Sequence
from datetime import timedelta
from itertools import count

from animastor.clock import SystemClock
from animastor.coordination import Limits, MemoryCoordination
from animastor.engine.ports import Candidate, Ended, Verdict
from animastor.protocol import AssetId, BookKey, DispatchId, Job, Pair, Worker, job_id

PAIR = Pair("audio", "system")
WORKER = Worker("bench", "1", {"speech": 1_000})
NO_WAIT = timedelta()
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


async def admit_release(work: Sequence[tuple[list[Job], list[Candidate], list[Ended]]]) -> float:
    """CPU seconds for admitting and releasing everything."""
    store = await fresh()
    began = time.process_time()
    for _, candidates, ended in work:
        await store.admit(candidates)
        await store.release(ended)
    return time.process_time() - began


async def lives(work: Sequence[tuple[list[Job], list[Candidate], list[Ended]]]) -> float:
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


async def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--assets", type=int, default=20_000)
    assets = parser.parse_args().assets
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


if __name__ == "__main__":
    asyncio.run(main())
