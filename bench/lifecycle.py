"""Whole lives of assets through both stores: how many a second, on tables of any size, beside their floor.

    python bench/lifecycle.py [--assets 1000 10000 100000 1000000] [--stores sqlite postgresql] [--flights 4]

A life is what database and coordination store do for one asset of one part: due → plan stored → admitted → begun → job
entered → claimed, and then what its result does, which has a column of its own: part accepted, fence and wanted hash
compared, asset READY, outcome, journal → claim settled → released → release written down. Planning, tickets and the
worker are not in it (`bench/engine.py` has them). It is done in batches of 200, with so many batches in flight in one
process: each flight works in a lane of its own. Everything runs on the same cores; fsync is on everywhere.

Floor: the same rows, of other assets in the same tables, written by inserts and updates of the same shape in the same
transactions and flights, from values known beforehand, without a condition, a look or a lock; and an empty script
called as often as the coordination store's, with the same keys and arguments. Lives and floor alternate, some rounds
of each, and the best of both are given. `CPU µs` are per asset and life: of this process, of PostgreSQL, of Valkey; and
of all of them for its result alone.
"""

from __future__ import annotations

import argparse
import asyncio
import subprocess
import sys
import tempfile
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field, replace
from datetime import timedelta
from hashlib import sha1, sha256
from itertools import islice
from pathlib import Path
from typing import Any, TypeAlias

from sqlalchemy import text

from animastor.clock import SystemClock
from animastor.coordination import Limits, MemoryCoordination
from animastor.coordination.redis import RedisCoordination, RedisLink, Script
from animastor.coordination.redis.link import connect
from animastor.engine.ports import (
    Accepted,
    Begin,
    Candidate,
    Coordination,
    Ended,
    PartResult,
    PartRow,
    StorePlan,
    Verdict,
)
from animastor.media.registry import Registry
from animastor.protocol import AssetId, DispatchId, Job, Pair, Uploaded, Worker, job_id
from animastor.storage.database import Database, SqliteDatabase
from animastor.storage.postgres import PostgresDatabase
from animastor.storage.sql import SqlStorage, open_storage
from animastor.tuning import tune
from filled import PROMPT, fill
from lifecycle_floor import COMPLETED, STARTED, Step
from servers import Server, postgres, valkey
from storage import FACTS
from storage import PICTURE as STORED_PICTURE

BATCH = 200
ROUNDS = 4
MOST = 5  # batches of each flight in a round
NOW = timedelta()
EMPTY = "return ''"
Call: TypeAlias = tuple[Sequence[str], Sequence[Any]]  # keys and arguments of a script
PICTURE = replace(STORED_PICTURE, facts_of_structures=False)  # as the pictures of this installation


def plan_of(asset: AssetId, plan_seq: int) -> StorePlan:
    """A plan of one picture with parameters of a usual size."""
    hash_ = sha256(f"part {asset}".encode()).hexdigest()
    part = PartRow(hash_, "picture", (f"u{asset}",), {"prompt": PROMPT, "seed": asset}, (), "storyboard", 0.0, 1.0)
    return StorePlan(asset, plan_seq, sha256(hash_.encode()).hexdigest(), (part,))


# --- the two pairs of stores ---


@dataclass(slots=True)
class Stores:
    """A database with a coordination store, and what their servers have used."""

    name: str
    database: Database
    storage: SqlStorage
    coordination: Coordination
    calls: list[Call] = field(default_factory=list)
    link: RedisLink | None = None
    servers: tuple[Server, ...] = ()

    def cpu(self) -> tuple[float, ...]:
        """CPU seconds so far: of this process, of each server."""
        return (time.process_time(), *(server.cpu() for server in self.servers))


class Listening(RedisLink):
    """A link that remembers what was called."""

    def __init__(self, client: Any, calls: list[Call]) -> None:
        super().__init__(client)
        self._calls = calls

    async def run(self, script: Script, keys: Sequence[str], args: Sequence[Any], lost: Any = None) -> Any:
        """As ever."""
        self._calls.append((keys, args))
        return await super().run(script, keys, args, lost)


LIMITS = Limits(min_quota={"picture": 1_000_000})


@asynccontextmanager
async def sqlite_memory() -> AsyncIterator[Stores]:
    """A SQLite file and the store in memory."""
    with tempfile.TemporaryDirectory(dir=".", prefix=".bench-") as folder:
        database = SqliteDatabase(Path(folder) / "home.db", time.time)
        storage = await open_storage(database, Registry([PICTURE]), create=True)
        yield Stores("SQLite + memory", database, storage, MemoryCoordination(SystemClock(), LIMITS))
        await storage.close()


@asynccontextmanager
async def postgresql_valkey() -> AsyncIterator[Stores]:
    """Both servers."""
    async with AsyncExitStack() as stack:
        sql, kv = stack.enter_context(postgres()), stack.enter_context(valkey())
        database = PostgresDatabase(sql.url)
        storage = await open_storage(database, Registry([PICTURE]), create=True)
        calls: list[Call] = []
        link = Listening(connect(kv.url), calls)
        coordination = RedisCoordination(link, SystemClock(), LIMITS, window=False)
        yield Stores("PostgreSQL + Valkey", database, storage, coordination, calls, link, (sql, kv))
        await coordination.close()
        await storage.close()


STORES = {"sqlite": sqlite_memory, "postgresql": postgresql_valkey}


async def settle(stores: Stores) -> None:
    """Let PostgreSQL look after what was just filled in, as it does by itself in time."""
    if isinstance(stores.database, PostgresDatabase):
        async with stores.database._engine.connect() as connection:
            await connection.execution_options(isolation_level="AUTOCOMMIT")
            await connection.execute(text("VACUUM ANALYZE"))
            await connection.execute(text("CHECKPOINT"))


# --- lives ---


@dataclass(slots=True)
class Begun:
    """A batch with its claims."""

    pair: Pair
    worker: Worker
    results: list[PartResult]
    verdicts: list[Verdict]


async def start(stores: Stores, pair: Pair, worker: Worker) -> Begun:
    """A batch from due to claimed."""
    walk = await stores.storage.due(pair, BATCH, BATCH, 0)
    plans = [plan_of(row.asset, row.plan_seq) for row in walk.rows]
    stored = await stores.storage.store_plans(plans)
    dispatches = {row.asset: DispatchId(f"{row.asset:032x}") for row in walk.rows}
    candidates = [Candidate(row.asset, row.book_key, pair, dispatches[row.asset]) for row in walk.rows]
    assert all(one.granted for one in await stores.coordination.admit(candidates))
    begun = await stores.storage.begin([Begin(row.asset, dispatches[row.asset], row.plan_seq) for row in walk.rows])
    fences = {one.asset: one.fence for one in begun if one.begun}
    jobs = [
        Job(
            job_id("picture", row.asset, plan.missing[0].hash), "picture", "picture", row.asset, row.book_key, "book",
            row.chapter_id, row.scene_id, dispatches[row.asset], fences[row.asset], plan.missing[0].hash,
            plan.missing[0].params, (), 1800.0, "storyboard", pair.lane,
        )
        for row, plan in zip(walk.rows, stored, strict=True)
    ]  # fmt: skip
    await stores.coordination.enqueue(jobs)
    claims = await stores.coordination.claim(worker, {"storyboard": BATCH}, NOW)
    assert len(claims) == len(walk.rows)
    return Begun(
        pair,
        worker,
        [
            PartResult(
                one.job.asset, one.job.input_hash, "picture", one.job.dispatch_id, one.job.fence, one.claim_no,
                Uploaded(sha256(f"bytes {one.job.asset}".encode()).hexdigest(), 100_000, ".png", FACTS),
            )
            for one in claims
        ],
        [Verdict(one.job.job_id, one.claim_no, worker.key) for one in claims],
    )  # fmt: skip


async def complete(stores: Stores, batch: Begun) -> None:
    """A batch from its results to its release."""
    accepted: Sequence[Accepted] = await stores.storage.accept(batch.results)
    await stores.coordination.settle(batch.verdicts)
    ended: list[Ended] = [one.ended for one in accepted if one.ended is not None]
    assert len(ended) == len(batch.results)
    await stores.coordination.release(ended)
    await stores.storage.mark_released(ended)


# --- measuring ---


@dataclass(slots=True)
class Round:
    """Seconds of wall time and of each process's CPU time, for so many assets."""

    assets: int
    seconds: float
    completing: float
    cpu: tuple[float, ...]
    completing_cpu: float

    @property
    def rate(self) -> float:
        """Lives a second."""
        return self.assets / self.seconds

    @property
    def results(self) -> float:
        """Results a second, of the second half of a life."""
        return self.assets / self.completing


async def timed(
    stores: Stores, assets: int, first: Callable[[], Awaitable[object]], second: Callable[[], Awaitable[object]]
) -> Round:
    """A round's two halves."""
    used, began = stores.cpu(), time.perf_counter()
    await first()
    half, used_half = time.perf_counter(), stores.cpu()
    await second()
    ended, used_all = time.perf_counter(), stores.cpu()
    cpu = tuple(after - before for before, after in zip(used, used_all, strict=True))
    return Round(assets, ended - began, ended - half, cpu, sum(used_all) - sum(used_half))


async def lives(stores: Stores, workers: Sequence[Worker], batches: int) -> Round:
    """So many batches in each flight."""
    begun: list[list[Begun]] = [[] for _ in workers]

    async def starting(flight: int) -> None:
        for _ in range(batches):
            begun[flight].append(await start(stores, Pair("picture", workers[flight].lanes[0]), workers[flight]))

    async def completing(flight: int) -> None:
        for batch in begun[flight]:
            await complete(stores, batch)

    each = range(len(workers))
    stores.calls.clear()
    return await timed(
        stores,
        len(workers) * batches * BATCH,
        lambda: asyncio.gather(*map(starting, each)),
        lambda: asyncio.gather(*map(completing, each)),
    )


async def floor(stores: Stores, shares: Sequence[Sequence[int]]) -> Round:
    """The same for assets that are known: one share each flight, in batches; after lives of as many assets."""
    script = Script("empty", EMPTY, sha1(EMPTY.encode()).hexdigest())
    middle = len(stores.calls) * 3 // 5  # admit, enqueue, claim; then settle, release
    halves = iter(stores.calls[:middle]), iter(stores.calls[middle:])

    async def flight(share: Sequence[int], steps: Sequence[Step], calls: Iterator[Call], each: int) -> None:
        for at in range(0, len(share), BATCH):
            for step in steps:
                await stores.database.write(step, share[at : at + BATCH])
            for keys, args in islice(calls, each):
                assert stores.link is not None, "only a link makes calls"
                await RedisLink.run(stores.link, script, keys, args)

    def half(steps: Sequence[Step], calls: Iterator[Call], each: int) -> Callable[[], Awaitable[object]]:
        return lambda: asyncio.gather(*(flight(share, steps, calls, each) for share in shares))

    first, second = half(STARTED, halves[0], 3), half(COMPLETED, halves[1], 2)
    return await timed(stores, sum(map(len, shares)), first, second)


async def measure(stores: Stores, assets: int, flights: int) -> str:
    """A line of the table."""
    batches = min(MOST, max(1, assets // (2 * ROUNDS * flights * BATCH)))
    rounds = min(ROUNDS, max(1, assets // (2 * flights * batches * BATCH)))
    if assets < 2 * flights * BATCH:
        flights, rounds = max(1, assets // (2 * BATCH)), 1
    fresh = 2 * rounds * flights * batches * BATCH
    await stores.database.write(fill, assets, fresh, 2 * flights)
    await settle(stores)
    await stores.coordination.set_era(1)
    workers = [Worker("bench", str(n), {"storyboard": 1_000_000}, (f"lane-{n}",)) for n in range(flights)]
    for worker in workers:
        await stores.coordination.register(worker)
    step = assets // fresh
    spare = [
        [(n * 2 * flights + lane) * step + 1 for n in range(rounds * batches * BATCH)]
        for lane in range(flights, 2 * flights)
    ]
    best: list[Round | None] = [None, None]
    for number in range(rounds):
        share = slice(number * batches * BATCH, (number + 1) * batches * BATCH)
        done = await lives(stores, workers, batches), await floor(stores, [lane[share] for lane in spare])
        best = [new if old is None or new.rate > old.rate else old for old, new in zip(best, done, strict=True)]
    life, low = best
    assert life is not None
    assert low is not None
    return _row(stores.name, assets, flights, life, low)


def _row(name: str, assets: int, flights: int, life: Round, low: Round) -> str:
    cpu, low_cpu = (" + ".join(f"{used / one.assets * 1e6:.0f}" for used in one.cpu) for one in (life, low))
    return (
        f"| {name:<19} | {assets:>9,} | {flights:>7} | {life.rate:>7,.0f} | {low.rate:>7,.0f} |"
        f" {life.rate / low.rate:>5.2f} | {life.results:>9,.0f} | {low.results:>7,.0f} |"
        f" {life.results / low.results:>5.2f} | {cpu:>14} | {low_cpu:>14} |"
        f" {life.completing_cpu / life.assets * 1e6:>4.0f} | {low.completing_cpu / low.assets * 1e6:>4.0f} |"
    )


async def line(stores: str, assets: int, flights: int) -> None:
    """Print one line."""
    tune()
    async with STORES[stores]() as made:
        print(await measure(made, assets, flights), flush=True)


def main() -> None:
    """Print the table, each line from a process of its own."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--assets", type=int, nargs="*", default=[1_000, 10_000, 100_000, 1_000_000])
    parser.add_argument("--stores", nargs="*", default=list(STORES), choices=list(STORES))
    parser.add_argument("--flights", type=int, default=4)
    parser.add_argument("--line", action="store_true", help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.line:
        asyncio.run(line(given.stores[0], given.assets[0], given.flights))
        return
    head = "| stores | assets | flights | lives/s | floor/s | share | results/s | floor/s | share"
    print(f"{head} | CPU µs | of floor | of a result | of floor |")
    print("|---|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|", flush=True)
    for stores in given.stores:
        for assets in given.assets:
            command = ["--line", "--stores", stores, "--assets", str(assets), "--flights", str(given.flights)]
            subprocess.run([sys.executable, __file__, *command], check=True)


if __name__ == "__main__":
    main()
