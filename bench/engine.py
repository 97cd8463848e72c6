"""The engine's own speed: assets per second through their complete life, embedded, without any real work.

    python bench/engine.py [--scenes 1000 10000 100000]

The composition root of `make` with two things exchanged: the backends (an instant one, whose every result is the same
small file) and the byte check (which believes). Everything else is the real thing: SQLite with synchronous=FULL,
planning, admission, claims, signed tickets, journal, group commit, settling, releasing. `tests/engine/
test_engine_bench.py` holds the rows that such a life leaves against those of a real one.

Beside each figure stands its floor from the same run: the rows that these lives left, written in the same steps and
batches by plain inserts and updates of values that are known beforehand, with no logic and one connection.
"""

from __future__ import annotations

import argparse
import asyncio
import resource
import secrets
import sqlite3
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import structlog

from animastor.app import compose_engine, compose_worker
from animastor.books.model import Book, BookHead, BookId, Chapter, ChapterId, Scene, SceneId, Unit, UnitId
from animastor.clock import SystemClock
from animastor.config import Settings
from animastor.coordination.memory import MemoryCoordination
from animastor.engine.ports import NewRequest, Scope
from animastor.hub.local import LocalHub
from animastor.media.image import IMAGE
from animastor.media.registry import Registry
from animastor.media.types import ContentSettings, Facts, Structure
from animastor.storage.sql import open_home
from animastor.stores import DATABASE, artifact_store, coordination_limits
from animastor.tuning import tune
from animastor.workers.backend import Produced, Progress
from animastor.workers.backends import Backends, CpuBackend
from animastor.workers.work import Work
from animastor.workers.workdir import Workdir

AT_ONCE = 200  # jobs in the instant backend's hands, as a rack of GPUs would have
BATCH = 200  # of the floor: results come in such batches
ENTERED = 1000  # … and requests are entered in such
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
    """Import a book and make all its pictures; what making took."""
    settings = Settings(home=folder / "home", disk_low_bytes=0, disk_low_fraction=0.0)
    clock, registry = SystemClock(), Registry([IMAGE])
    storage = await open_home(settings.home / DATABASE, registry, clock, writable=True)
    workdir = Workdir(settings.home / "work", secrets.token_hex(4))
    artifacts = artifact_store(settings, create=True)
    coordination = MemoryCoordination(clock, coordination_limits(registry, settings))
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


# --- the floor ---

Rows = list[dict[str, Any]]
TABLES = {
    "asset": "id",
    "part": "asset",
    "tally": "asset",
    "dispatch": "asset",
    "asset_facts": "asset",
    "journal": "id",
}


def floor(folder: Path, home: Path) -> Mapping[str, float]:
    """Write the rows of a home's finished lives again, without any logic; assets per second, and CPU seconds."""
    made = _made(home / DATABASE)
    database = _prepared(folder / "floor.db", home / DATABASE, made)
    scenes = len(made["asset"])
    started, busy = time.perf_counter(), time.process_time()
    for first in range(0, scenes, ENTERED):
        _transaction(database, lambda: _enter(database, made, slice(first, first + ENTERED)))  # noqa: B023 - run now
    for first in range(0, scenes, BATCH):
        for step in (_plan, _begin, _accept, _release):
            _transaction(database, lambda: step(database, made, slice(first, first + BATCH)))  # noqa: B023 - run now
    took, used = time.perf_counter() - started, time.process_time() - busy
    database.close()
    return {"per_s": scenes / took, "cpu": used}


def _made(path: Path) -> dict[str, Rows]:
    with sqlite3.connect(f"file:{path}?mode=ro", uri=True) as there:
        there.row_factory = sqlite3.Row
        made = {
            table: [dict(row) for row in there.execute(f"SELECT * FROM {table} ORDER BY {key}")]
            for table, key in TABLES.items()
        }
        made["artifact"] = [dict(row) for row in there.execute("SELECT * FROM artifact")]
    by_type: dict[str, Rows] = {}
    for row in made.pop("journal"):
        by_type.setdefault(row["type"], []).append(row)
    return made | by_type


def _prepared(path: Path, home: Path, made: Mapping[str, Rows]) -> sqlite3.Connection:
    """An empty database of the same schema, with the assets as they are before their lives."""
    database = sqlite3.connect(path, isolation_level=None)
    with sqlite3.connect(f"file:{home}?mode=ro", uri=True) as there:
        for (sql,) in there.execute(
            "SELECT sql FROM sqlite_master WHERE sql IS NOT NULL AND name NOT LIKE 'sqlite%' AND tbl_name <> 'meta'"
        ):
            database.execute(sql)
    for pragma in ("journal_mode = WAL", "synchronous = FULL", "wal_autocheckpoint = 4000", "cache_size = -32768"):
        database.execute(f"PRAGMA {pragma}")
    fresh = {"state": 0, "planned_seq": 0, "fence": 0, "artifact": "", "artifact_hash": "", "dispatch_id": ""}
    rows = [{**row, **fresh, "wanted_hash": "", "made_by": "", "request_id": 0} for row in made["asset"]]
    _transaction(database, lambda: _insert(database, "asset", rows))
    return database


def _transaction(database: sqlite3.Connection, work: Callable[[], None]) -> None:
    database.execute("BEGIN IMMEDIATE")
    work()
    database.execute("COMMIT")


def _insert(database: sqlite3.Connection, table: str, rows: Sequence[Mapping[str, Any]]) -> None:
    if rows:
        columns = list(rows[0])
        marks = ", ".join(f":{column}" for column in columns)
        database.executemany(f"INSERT INTO {table} ({', '.join(columns)}) VALUES ({marks})", rows)


def _update(database: sqlite3.Connection, table: str, set_: str, key: str, rows: Rows) -> None:
    where = " AND ".join(f"{column} = :{column}" for column in key.split())
    database.executemany(f"UPDATE {table} SET {set_} WHERE {where}", rows)


def _enter(database: sqlite3.Connection, made: Mapping[str, Rows], share: slice) -> None:
    _update(database, "asset", "state = 1, request_id = :request_id", "id", made["asset"][share])
    _insert(database, "journal", made["REQUESTED"][share])


def _plan(database: sqlite3.Connection, made: Mapping[str, Rows], share: slice) -> None:
    _update(database, "asset", "planned_seq = :planned_seq, wanted_hash = :wanted_hash", "id", made["asset"][share])
    _insert(
        database,
        "part",
        [{**row, "state": 0, "artifact": "", "facts": "", "last_claim": 0} for row in made["part"][share]],
    )
    _insert(database, "tally", [{**row, "parts_ready": 0, "work_ready": 0.0} for row in made["tally"][share]])


def _begin(database: sqlite3.Connection, made: Mapping[str, Rows], share: slice) -> None:
    _update(database, "asset", "state = 2, fence = :fence, dispatch_id = :dispatch_id", "id", made["asset"][share])
    begun = [{**row, "outcome": None, "ended_at": None, "released_at": None} for row in made["dispatch"][share]]
    _insert(database, "dispatch", begun)
    _insert(database, "journal", made["DISPATCHED"][share])


def _accept(database: sqlite3.Connection, made: Mapping[str, Rows], share: slice) -> None:
    if share.start == 0:
        _insert(database, "artifact", made["artifact"])
    _update(
        database,
        "part",
        "state = 1, artifact = :artifact, facts = :facts, last_claim = :last_claim",
        "asset hash",
        made["part"][share],
    )
    ready = "state = 4, artifact = :artifact, artifact_hash = :artifact_hash, made_by = :made_by"
    _update(database, "asset", ready, "id", made["asset"][share])
    _update(database, "dispatch", "outcome = :outcome, ended_at = :ended_at", "asset fence", made["dispatch"][share])
    _insert(database, "asset_facts", made["asset_facts"][share])
    done = "parts_ready = :parts_ready, work_ready = :work_ready"
    _update(database, "tally", done, "book_key media asset", made["tally"][share])
    _insert(database, "journal", made["PART_ACCEPTED"][share])
    _insert(database, "journal", made["READY"][share])


def _release(database: sqlite3.Connection, made: Mapping[str, Rows], share: slice) -> None:
    _update(database, "dispatch", "released_at = :released_at", "asset fence", made["dispatch"][share])


# --- the table ---


def measure(scenes: int) -> str:
    """A line of the table."""
    tune()
    structlog.configure(wrapper_class=structlog.make_filtering_bound_logger(40))
    with tempfile.TemporaryDirectory(dir=Path.cwd(), prefix=".bench-") as name:
        folder = Path(name)
        measured = asyncio.run(life(folder, scenes))
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
        least = floor(folder, folder / "home")
    each, least_each = measured["cpu"] / scenes * 1e6, least["cpu"] / scenes * 1e6
    share = measured["per_s"] / least["per_s"]
    return (
        f"| {scenes:>7,} | {measured['per_s']:>8,.0f} | {each:>6.0f} | {least['per_s']:>7,.0f} |"
        f" {least_each:>12.0f} | {share:>5.2f} | {peak:>8.0f} |"
    )


def main() -> None:
    """Print the table, each size from a process of its own, so that each has its own peak of memory."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--scenes", type=int, nargs="*", default=[1_000, 10_000, 100_000])
    parser.add_argument("--line", type=int, help=argparse.SUPPRESS)
    asked = parser.parse_args()
    if asked.line:
        print(measure(asked.line))
        return
    print("|  scenes | assets/s | CPU µs | floor/s | floor CPU µs | share | peak MiB |")
    print("|--------:|---------:|-------:|--------:|-------------:|------:|---------:|", flush=True)
    for scenes in asked.scenes:
        subprocess.run([sys.executable, __file__, "--line", str(scenes)], check=True)


if __name__ == "__main__":
    main()
