"""The engine's own speed: assets per second through their complete life, embedded, without any real work.

The composition root of `make` with two things exchanged: the backends (an instant one, whose every result is the same
small file) and the byte check (which believes). Everything else is the real thing: SQLite with synchronous=FULL,
planning, admission, claims, signed tickets, journal, group commit, settling, releasing.

Beside each figure stands its floor from the same run: the rows that such a life leaves behind, written in the same
number of transactions by plain inserts and updates, with no logic.
"""

from __future__ import annotations

import argparse
import asyncio
import gc
import resource
import secrets
import sqlite3
import tempfile
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from animastor.app import artifact_store, compose_engine, compose_worker
from animastor.books.model import Book, BookHead, BookId, Chapter, ChapterId, Scene, SceneId, Unit, UnitId
from animastor.clock import SystemClock
from animastor.config import Settings
from animastor.coordination.limits import Limits
from animastor.coordination.memory import MemoryCoordination
from animastor.engine.ports import NewRequest, Scope
from animastor.hub.local import LocalHub
from animastor.media.image import IMAGE
from animastor.media.registry import Registry
from animastor.media.types import ContentSettings, Facts, Structure
from animastor.storage.sql import open_home
from animastor.tuning import tune
from animastor.workers.backend import Produced, Progress
from animastor.workers.backends import Backends, CpuBackend
from animastor.workers.work import Work
from animastor.workers.workdir import Workdir

AT_ONCE = 200  # jobs in the instant backend's hands, as a rack of GPUs would have
TARGET = 4000


class InstantRunner:
    """Makes nothing: every order's result is the same file, which the store takes in as it takes in any other."""

    def __init__(self, folder: Path) -> None:
        self._made = Produced(folder / "made.png")
        self._made.path.write_bytes(b"the same picture every time")

    @property
    def count(self) -> int:
        """How much runs at once."""
        return AT_ONCE

    async def run(self, work: Work, progress: Progress) -> Produced:
        """The one result."""
        return self._made


class Believing:
    """A byte check that has seen what was ordered."""

    async def check(self, _media: str, _kind: str, structure: Structure, _path: Path) -> tuple[Facts, str | None]:
        """Facts as ordered."""
        width, height = structure.get("size", (0, 0))
        return Facts(width=width, height=height, frames=1, codec="png"), None


def book_of(scenes: int) -> Book:
    """A book of one-unit scenes, 100 to a chapter."""
    made = [
        Scene(SceneId(f"sc-{n}"), (Unit(UnitId(f"iu-{n}"), f"Sentence number {n} of a long book."),))
        for n in range(scenes)
    ]
    chapters = tuple(
        Chapter(ChapterId(f"ch-{n}"), tuple(made[n : n + 100]), title=f"Chapter {n}") for n in range(0, scenes, 100)
    )
    return Book(BookHead(BookId("bench"), title="Bench", language="en"), chapters)


async def life(folder: Path, scenes: int) -> Mapping[str, float]:
    """Import a book and make all its pictures; what it took."""
    settings = Settings(home=folder / "home", disk_low_bytes=0, disk_low_fraction=0.0)
    clock, registry = SystemClock(), Registry([IMAGE])
    storage = await open_home(settings.home / "animastor.db", registry, clock, writable=True)
    workdir = Workdir(settings.home / "work", secrets.token_hex(4))
    artifacts = artifact_store(settings, create=True)
    coordination = MemoryCoordination(clock, Limits.of(registry))
    engine = compose_engine(
        storage=storage,
        coordination=coordination,
        artifacts=artifacts,
        checker=Believing(),
        registry=registry,
        clock=clock,
        settings=settings,
        report=print,
    )
    hub = LocalHub(coordination, engine.results, artifacts, storage, media=registry, clock=clock)
    backends = Backends([CpuBackend("storyboard", {"image": "instant:run"}, lambda: None)], clock)
    loop = compose_worker(
        hub,
        InstantRunner(settings.home),
        backends,
        clock=clock,
        workdir=workdir,
        instance="bench",
        settings=settings,
    )
    saved = await storage.save_book(
        book_of(scenes), settings=ContentSettings(), source="bench", source_key="bench", source_sha256="bench"
    )
    await engine.start()
    serving = asyncio.create_task(loop.run())
    started, busy = time.perf_counter(), time.process_time()
    opened = await engine.requests.open(NewRequest(saved.book_key, Scope(), ("image",), "bench"))
    async for event in engine.requests.events(opened.request.request_id):
        last = event
    took, used = time.perf_counter() - started, time.process_time() - busy
    assert last.progress.media[0].ready == scenes, last.progress
    loop.stop()
    await serving
    await engine.stop()
    workdir.close()
    await storage.close()
    return {"seconds": took, "cpu": used, "per_s": scenes / took}


def floor(folder: Path, home: Path, scenes: int) -> float:
    """Assets per second when the rows of these lives are only written: same rows, same number of transactions."""
    there = sqlite3.connect(f"file:{home / 'animastor.db'}?mode=ro", uri=True)
    tables = ("dispatch", "part", "journal")
    rows = {name: there.execute(f"SELECT * FROM {name}").fetchall() for name in tables}
    schema = [
        row[0]
        for row in there.execute("SELECT sql FROM sqlite_master WHERE sql IS NOT NULL AND name NOT LIKE 'sqlite%'")
    ]
    assets = there.execute("SELECT * FROM asset").fetchall()
    database = sqlite3.connect(folder / "floor.db", isolation_level=None)
    for pragma in ("journal_mode = WAL", "synchronous = FULL", "wal_autocheckpoint = 4000", "cache_size = -32768"):
        database.execute(f"PRAGMA {pragma}")
    for statement in schema:
        database.execute(statement)
    fresh = [(*row[:9], 1, 0, None, 1, 0, 1, 0, 0, "", "", "", "", "", "", "") for row in assets]
    database.execute("BEGIN")
    database.executemany(f"INSERT INTO asset VALUES ({','.join('?' * len(assets[0]))})", fresh)
    database.execute("COMMIT")
    started = time.perf_counter()
    per_asset = {name: max(1, round(len(found) / scenes)) for name, found in rows.items()}
    for at in range(0, scenes, AT_ONCE):
        _floor_batch(database, rows, per_asset, assets[at : at + AT_ONCE], at)
    return scenes / (time.perf_counter() - started)


def _floor_batch(
    database: sqlite3.Connection,
    rows: Mapping[str, list[Any]],
    per_asset: Mapping[str, int],
    assets: list[Any],
    at: int,
) -> None:
    """One batch's four transactions: plans, begin, results, released."""

    def insert(name: str, share: slice) -> None:
        each = per_asset[name]
        found = rows[name][at * each : (at + len(assets)) * each][share]
        if found:
            database.executemany(f"INSERT OR REPLACE INTO {name} VALUES ({','.join('?' * len(found[0]))})", found)

    def update(column: str) -> None:
        database.executemany(f"UPDATE asset SET {column} = ? WHERE id = ?", [(1, row[0]) for row in assets])

    steps = (
        lambda: (insert("part", slice(None)), update("planned_seq")),
        lambda: (insert("dispatch", slice(None)), insert("journal", slice(0, None, 2)), update("state")),
        lambda: (insert("journal", slice(1, None, 2)), insert("part", slice(None)), update("fence")),
        lambda: insert("dispatch", slice(None)),
    )
    for step in steps:
        database.execute("BEGIN IMMEDIATE")
        step()
        database.execute("COMMIT")


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--scenes", type=int, nargs="*", default=[1_000, 10_000, 100_000])
    asked = parser.parse_args()
    tune()
    print(f"{'scenes':>8} {'assets/s':>9} {'us/asset':>9} {'cpu us':>7} {'floor/s':>9} {'share':>6} {'peak MiB':>9}")
    for scenes in asked.scenes:
        gc.collect()
        with tempfile.TemporaryDirectory(dir=Path.cwd()) as name:
            folder = Path(name)
            measured = asyncio.run(life(folder, scenes))
            peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
            least = floor(folder, folder / "home", scenes)
        print(
            f"{scenes:>8} {measured['per_s']:>9.0f} {1e6 / measured['per_s']:>9.0f}"
            f" {measured['cpu'] / scenes * 1e6:>7.0f} {least:>9.0f} {measured['per_s'] / least:>6.2f} {peak:>9.0f}",
            flush=True,
        )


if __name__ == "__main__":
    main()
