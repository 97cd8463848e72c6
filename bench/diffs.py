"""How long the diff of an edit takes of a long book of which everything is made.

    python bench/diffs.py [--scenes 5000]

`touched`: until it is known which scenes are touched; `first`: until the first of them are counted by kind; `all`:
until all are. Milliseconds of the clock, the best of 5 (of the whole book 1), and the CPU milliseconds of that run.
"""

from __future__ import annotations

import argparse
import asyncio
import tempfile
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace
from pathlib import Path

from sqlalchemy import text

from animastor.books.model import (
    Book,
    BookHead,
    BookId,
    Chapter,
    ChapterId,
    Character,
    Scene,
    SceneId,
    Unit,
    UnitId,
    UnitImage,
)
from animastor.clock import SystemClock
from animastor.engine.diffing import Differ
from animastor.engine.planning import Planner
from animastor.engine.ports import BookRow, NewRequest, Scope, Touched
from animastor.media.registry import Registry, installed
from animastor.media.types import ContentSettings
from animastor.protocol import Pair
from animastor.storage.sql import SqlStorage, open_home

UNITS, PER_CHAPTER = 6, 50
MADE = ("audio", "image")


def long_book(scenes: int) -> Book:
    """A book of so many scenes of six units, in English, with one character in all of them."""
    made = [
        Scene(
            SceneId(f"s{n}"),
            tuple(
                Unit(
                    UnitId(f"u{n}-{k}"),
                    f"Anna walked down the long road {n} and saw house {k} there.",
                    image=UnitImage(shot="wide", prompt=f"a road {n} {k}"),
                )
                for k in range(UNITS)
            ),
            participants=("anna",),
        )
        for n in range(scenes)
    ]
    chapters = tuple(
        Chapter(ChapterId(f"c{at // PER_CHAPTER}"), tuple(made[at : at + PER_CHAPTER]))
        for at in range(0, scenes, PER_CHAPTER)
    )
    anna = Character("anna", "Anna", appearance="tall")
    return Book(BookHead(BookId("long"), title="Long", language="en", characters=(anna,)), chapters)


async def make(storage: SqlStorage, registry: Registry, book: Book) -> BookRow:
    """Save the book and give it its sound and pictures, as rows."""
    settings = ContentSettings(profiles=registry.profiles)
    saved = await storage.save_book(book, settings=settings, source="", source_key="", source_sha256="")
    opened = await storage.open_request(NewRequest(saved.book_key, Scope(), registry.names, "bench"))
    while not (await storage.enter(opened.request.request_id, 1000)).done:
        pass
    planner = Planner(storage, registry)
    for media in MADE:
        while rows := (await storage.due(Pair(media, "system"), 200, 200, 0)).rows:
            await storage.store_plans((await planner.plan(rows)).plans)
            done = text("UPDATE asset SET waits = 64 WHERE state = 1 AND waits = 0 AND planned_seq = plan_seq")
            await storage._db.write(lambda connection, done=done: connection.execute(done).close())
    for sql in (
        "UPDATE part SET state = 1, artifact = substr(hash, 1, 64)",
        "UPDATE asset SET state = 4, waits = 0, artifact_hash = wanted_hash WHERE media <> 'video'",
    ):
        await storage._db.write(lambda connection, sql=sql: connection.execute(text(sql)).close())
    (row,) = await storage.books()
    return row


@dataclass(frozen=True)
class Took:
    """Milliseconds of one run."""

    touched: float
    first: float
    all: float
    cpu: float
    scenes: int
    parts: int


async def run(storage: SqlStorage, registry: Registry, row: BookRow, touch: Callable[[], Awaitable[Touched]]) -> Took:
    """One diff, from the question to the last count."""
    began, cpu, first, last = time.perf_counter(), time.process_time(), 0.0, None
    touched = await touch()
    known = time.perf_counter() - began
    async for diff in Differ(storage, registry).diff(row.book_key, touched):
        first = first or (time.perf_counter() - began if diff.scenes else 0.0)
        last = diff
    assert last is not None, "there is a count"
    took = time.perf_counter() - began
    return Took(known * 1e3, first * 1e3, took * 1e3, (time.process_time() - cpu) * 1e3, last.of, last.parts)


def edits(storage: SqlStorage, row: BookRow, book: Book) -> dict[str, Callable[[], Awaitable[Touched]]]:
    """One chapter of other words, and another passport of who is everywhere."""
    first = book.chapters[0]
    words = tuple(replace(s, units=(replace(s.units[0], text="Other words."), *s.units[1:])) for s in first.scenes)
    chapter = replace(book, chapters=(replace(first, scenes=words), *book.chapters[1:]))
    passport = replace(book, head=replace(book.head, characters=(Character("anna", "Anna", appearance="short"),)))
    return {
        "50 scenes": lambda: storage.touched(row.book_key, chapter),
        "a passport": lambda: storage.touched(row.book_key, passport),
    }


async def measure(scenes: int) -> None:
    """Print the table."""
    registry = installed()
    with tempfile.TemporaryDirectory() as folder:
        storage = await open_home(Path(folder) / "animastor.db", registry, SystemClock(), writable=True)
        book = long_book(scenes)
        row = await make(storage, registry, book)
        print(f"{'edit':<12}{'scenes':>8}{'parts':>8}{'touched':>9}{'first':>8}{'all':>8}{'CPU':>8}")
        for name, touch in edits(storage, row, book).items():
            runs = [await run(storage, registry, row, touch) for _ in range(5 if name == "50 scenes" else 1)]
            best = min(runs, key=lambda one: one.all)
            figures = f"{best.touched:>9.0f}{best.first:>8.0f}{best.all:>8.0f}{best.cpu:>8.0f}"
            print(f"{name:<12}{best.scenes:>8}{best.parts:>8}{figures}")
        await storage.close()


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--scenes", type=int, default=5000)
    asyncio.run(measure(parser.parse_args().scenes))
