"""How fast the truth alone is: whole lives of assets in batches, against a floor that writes the same rows blindly.

    python bench/storage.py [--scenes 1000,10000,100000] [--batch 200]

One media type with one part and no merge; each asset goes requested → planned → begun → accepted → released, on a file
with synchronous=FULL. The floor inserts and updates the same rows of the same tables in the same transactions, from
values that it has beforehand, with plain `executemany` and no condition, no journal lookup, no decision.
"""

from __future__ import annotations

import argparse
import asyncio
import cProfile
import pstats
import resource
import sqlite3
import tempfile
import time
from collections.abc import Iterator
from hashlib import sha256
from itertools import islice
from pathlib import Path

from animastor.books.model import Book, BookHead, BookId, Chapter, ChapterId, Scene, SceneId, Unit, UnitId
from animastor.engine.ports import Begin, NewRequest, PartResult, PartRow, Scope, StorePlan
from animastor.media.registry import Registry
from animastor.media.types import Facts, MediaType, PlanInput, Planned
from animastor.protocol import DispatchId, Pair, Uploaded
from animastor.storage.database import SqliteDatabase
from animastor.storage.sql import SqlStorage, open_storage
from filled import PROMPT

FACTS = Facts(width=1280, height=720, codec="png")


def _unused(wanted: PlanInput) -> Planned:
    raise NotImplementedError  # plans are made by `plan_of`, which costs next to nothing


PICTURE = MediaType(
    "picture",
    _unused,
    lambda structure, facts: None,
    lambda parts, merged: {"units": {part.plan.unit_ids[0]: part.artifact for part in parts}},
    {"picture": ".png"},
    merges=False,
)
REGISTRY = Registry([PICTURE])
PAIR = Pair("picture", "system")


def large_book(scenes: int) -> Book:
    """Small scenes of one unit, 100 to a chapter."""
    made = [Scene(SceneId(f"s{n}"), (Unit(UnitId(f"u{n}"), f"The words of unit {n}."),)) for n in range(scenes)]
    chapters = [Chapter(ChapterId(f"c{n}"), tuple(made[n : n + 100])) for n in range(0, scenes, 100)]
    return Book(BookHead(BookId(f"large{scenes}"), title="Large"), tuple(chapters))


def plan_of(asset: int, plan_seq: int) -> StorePlan:
    """A plan of one picture with parameters of a usual size."""
    hash_ = sha256(f"part {asset}".encode()).hexdigest()
    part = PartRow(hash_, "picture", (f"u{asset}",), {"prompt": PROMPT, "seed": asset}, (), "storyboard", 0.0, 1.0)
    return StorePlan(asset, plan_seq, sha256(hash_.encode()).hexdigest(), (part,))  # type: ignore[arg-type]


async def lives(storage: SqlStorage, batch: int) -> tuple[int, dict[str, float]]:
    """Work everything off; how many assets, and the seconds of each step."""
    spent = dict.fromkeys(("due", "store_plans", "begin", "accept", "release"), 0.0)
    done = 0

    async def timed(step: str, call: object) -> object:
        start = time.perf_counter()
        answer = await call  # type: ignore[misc]
        spent[step] += time.perf_counter() - start
        return answer

    while True:
        walk = await timed("due", storage.due(PAIR, batch, batch, 0))
        if not walk.rows:  # type: ignore[attr-defined]
            return done, spent
        rows = walk.rows  # type: ignore[attr-defined]
        plans = [plan_of(row.asset, row.plan_seq) for row in rows]
        stored = await timed("store_plans", storage.store_plans(plans))
        begins = [Begin(row.asset, DispatchId(f"{row.asset:032x}"), row.plan_seq) for row in rows]
        begun = await timed("begin", storage.begin(begins))
        results = [
            PartResult(
                one.asset, plan.missing[0].hash, "picture", one.dispatch_id, one.fence, 1,
                Uploaded(sha256(f"bytes {one.asset}".encode()).hexdigest(), 100_000, ".png", FACTS),
            )
            for one, plan in zip(begun, stored, strict=True)  # type: ignore[call-overload]
        ]  # fmt: skip
        accepted = await timed("accept", storage.accept(results))
        await timed("release", storage.mark_released([one.ended for one in accepted if one.ended]))  # type: ignore[attr-defined]
        done += len(rows)


async def run(scenes: int, batch: int, path: Path, *, profile: bool) -> None:
    """Import, enter, work off; print a row."""
    database = SqliteDatabase(path, time.time)
    storage = await open_storage(database, REGISTRY, create=True)
    book = large_book(scenes)
    start = time.perf_counter()
    saved = await storage.save_book(book, settings=None, source="", source_key="", source_sha256="")
    imported = time.perf_counter() - start
    opened = await storage.open_request(NewRequest(saved.book_key, Scope(), ("picture",), f"k{scenes}"))
    start = time.perf_counter()
    while not (await storage.enter(opened.request.request_id, 1000)).done:
        pass
    entered = time.perf_counter() - start
    profiler = cProfile.Profile()
    if profile:
        database._writing.submit(profiler.enable).result()
    cpu, start = time.process_time(), time.perf_counter()
    done, spent = await lives(storage, batch)
    wall, used = time.perf_counter() - start + entered, time.process_time() - cpu
    if profile:
        database._writing.submit(profiler.disable).result()
        pstats.Stats(profiler).sort_stats("tottime").print_stats(35)
    start = time.perf_counter()
    await storage.progress(opened.request.request_id)
    looked = time.perf_counter() - start
    await storage.finish_requests()
    await storage.close()
    steps = " ".join(f"{name} {seconds / done * 1e6:5.1f}" for name, seconds in {"enter": entered, **spent}.items())
    size = (await asyncio.to_thread(path.stat)).st_size / 2**20
    rss = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(
        f"| {scenes:7} | {done / wall:8.0f} | {floor(scenes, batch, path):8.0f} | {imported:6.2f} | {looked * 1e3:6.1f}"
        f" | {used / done * 1e6:6.1f} | {size:6.0f} | {rss:5.0f} | {steps} |",
        flush=True,
    )


def floor(scenes: int, batch: int, made: Path) -> float:
    """Assets per second of writing the rows that the run left, in its transactions, without any logic."""
    with tempfile.TemporaryDirectory(dir=made.parent) as folder:
        path = Path(folder) / "floor.db"
        with sqlite3.connect(made) as source, sqlite3.connect(path, isolation_level=None) as target:
            for (sql,) in source.execute("SELECT sql FROM sqlite_master WHERE sql IS NOT NULL"):
                target.execute(sql)
            for pragma in (
                "journal_mode = WAL",
                "synchronous = FULL",
                "wal_autocheckpoint = 4000",
                "cache_size = -32768",
            ):
                target.execute(f"PRAGMA {pragma}")
            _copy(source, target, "SELECT * FROM asset", "asset", 10**9)
            target.execute(
                "UPDATE asset SET state = 0, planned_seq = 0, fence = 0, wanted_hash = '', artifact_hash = ''"
            )
            start = time.perf_counter()
            for first in range(1, scenes + 1, batch):
                _write_batch(source, target, range(first, min(first + batch, scenes + 1)))
            seconds = time.perf_counter() - start - _read_cost(source, scenes, batch)
        return scenes / seconds


_TABLES = {"part": 1, "tally": 1, "dispatch": 2, "artifact": 3, "asset_facts": 3}
_STEPS = ("state = 1", "planned_seq = 1, wanted_hash = 'x'", "state = 2, fence = 1", "state = 4, artifact_hash = 'x'")


def _write_batch(source: sqlite3.Connection, target: sqlite3.Connection, assets: range) -> None:
    given = [(asset,) for asset in assets]
    for step, change in enumerate(_STEPS):
        target.execute("BEGIN IMMEDIATE")
        target.executemany(f"UPDATE asset SET {change} WHERE id = ?", given)
        for table, when in _TABLES.items():
            if when == step:
                _insert(target, table, _rows(source, table, assets))
        if step == 3:
            target.executemany("UPDATE part SET state = 1, artifact = 'x' WHERE asset = ?", given)
            target.executemany(
                "UPDATE tally SET parts_ready = 1 WHERE book_key = 1 AND media = 'picture' AND asset = ?", given
            )
            target.executemany("UPDATE dispatch SET outcome = 'success' WHERE asset = ? AND fence = 1", given)
        for _ in range((1, 0, 1, 2)[step]):
            target.executemany(
                "INSERT INTO journal (asset, type, state, dispatch_id) VALUES (?, 'READY', 4, 'd')", given
            )
        target.execute("COMMIT")
    target.execute("BEGIN IMMEDIATE")
    target.executemany("UPDATE dispatch SET released_at = 1 WHERE asset = ? AND fence = 1", given)
    target.execute("COMMIT")


def _rows(source: sqlite3.Connection, table: str, assets: range) -> list[tuple[object, ...]]:
    if table == "artifact":
        query = "SELECT x.* FROM part p JOIN artifact x ON x.checksum = p.artifact WHERE p.asset BETWEEN ? AND ?"
    else:
        query = f"SELECT * FROM {table} WHERE asset BETWEEN ? AND ?"
        if table == "tally":
            query += " AND book_key = 1 AND media = 'picture'"
    return source.execute(query, (assets[0], assets[-1])).fetchall()


def _read_cost(source: sqlite3.Connection, scenes: int, batch: int) -> float:
    start = time.perf_counter()
    for first in range(1, scenes + 1, batch):
        for table in _TABLES:
            _rows(source, table, range(first, min(first + batch, scenes + 1)))
    return time.perf_counter() - start


def _insert(target: sqlite3.Connection, table: str, rows: list[tuple[object, ...]]) -> None:
    if rows:
        target.executemany(f"INSERT INTO {table} VALUES ({', '.join('?' * len(rows[0]))})", rows)


def _copy(source: sqlite3.Connection, target: sqlite3.Connection, query: str, table: str, limit: int) -> None:
    target.execute("BEGIN")
    rows: Iterator[tuple[object, ...]] = source.execute(query)
    while chunk := list(islice(rows, min(limit, 10_000))):
        _insert(target, table, chunk)
    target.execute("COMMIT")


def main() -> None:
    """Print the table."""
    options = argparse.ArgumentParser()
    options.add_argument("--scenes", default="1000,10000,100000")
    options.add_argument("--batch", type=int, default=200)
    options.add_argument("--profile", action="store_true")
    given = options.parse_args()
    print("| scenes | assets/s | floor/s | import s | progress ms | CPU µs | MiB | RSS MiB | µs per asset and step |")
    print("|---|---|---|---|---|---|---|---|---|")
    for scenes in map(int, given.scenes.split(",")):
        with tempfile.TemporaryDirectory(dir=".", prefix=".bench-") as folder:
            asyncio.run(run(scenes, given.batch, Path(folder) / "home.db", profile=given.profile))


if __name__ == "__main__":
    main()
