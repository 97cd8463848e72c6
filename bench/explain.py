"""How soon `explain` answers while a large book is being made, embedded.

    python bench/explain.py [--scenes 5000] [--units 9] [--asks 40]

The composition root of `make` with a backend that takes two tenths of a second for each picture and shot, 200 at once.
Asked are the assets of scenes from the first to the last, in the loop and on the database that make the book, and the
book as a whole; and, as a floor, a read of nothing from the same place: what the loop and the machine let one wait.
Milliseconds by wall clock: the median, the 99th of a hundred, and the worst.
"""

from __future__ import annotations

import argparse
import asyncio
import secrets
import tempfile
import time
from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path
from statistics import median

import structlog

from animastor.app import compose_engine, compose_worker
from animastor.books.model import Book, BookHead, BookId, Chapter, ChapterId, Scene, SceneId, Unit, UnitId
from animastor.clock import SystemClock
from animastor.config import Settings
from animastor.coordination.memory import MemoryCoordination
from animastor.engine.ports import NewRequest, Scope
from animastor.hub.local import LocalHub
from animastor.media.audio import AUDIO
from animastor.media.image import IMAGE
from animastor.media.registry import Registry
from animastor.media.types import ContentSettings
from animastor.media.video import VIDEO
from animastor.storage.sql import open_home
from animastor.stores import DATABASE, artifact_store, coordination_limits
from animastor.workers.backend import Produced, Progress
from animastor.workers.backends import Backends, CpuBackend
from animastor.workers.work import Work
from animastor.workers.workdir import Workdir
from engine import Believing, InstantRunner

TARGET_MS = 50.0
WORK_S = 0.2
WARM_S = 12.0  # of making before anything is asked


class SlowRunner(InstantRunner):
    """Every order's result is the same small file, after a while."""

    async def run(self, work: Work, progress: Progress) -> Produced:
        """The one result."""
        await asyncio.sleep(WORK_S)
        return await super().run(work, progress)


def book_of(scenes: int, units: int) -> Book:
    """A book of such scenes, 100 to a chapter."""
    made = [
        Scene(SceneId(f"sc-{n}"), tuple(Unit(UnitId(f"iu-{n}-{k}"), f"Sentence {k} of {n}.") for k in range(units)))
        for n in range(scenes)
    ]
    chapters = tuple(
        Chapter(ChapterId(f"ch-{n}"), tuple(made[n : n + 100]), title=f"Chapter {n}") for n in range(0, scenes, 100)
    )
    return Book(BookHead(BookId("bench"), title="Bench", language="en"), chapters)


async def measure(folder: Path, scenes: int, units: int, asks: int) -> None:
    """Make the book, ask meanwhile, print the table."""
    settings = Settings(home=folder / "home", disk_low_bytes=0, disk_low_fraction=0.0)
    clock, registry = SystemClock(), Registry([AUDIO, IMAGE, VIDEO])
    storage = await open_home(settings.home / DATABASE, registry, clock, writable=True)
    workdir = Workdir(settings.home / "work", secrets.token_hex(4))
    artifacts = artifact_store(settings, create=True)
    coordination = MemoryCoordination(clock, coordination_limits(registry, settings))
    engine = compose_engine(
        storage=storage, coordination=coordination, artifacts=artifacts, checker=Believing(), registry=registry,
        clock=clock, settings=settings, report=print,
    )  # fmt: skip
    hub = LocalHub(coordination, engine.results, artifacts, storage, media=registry, clock=clock)
    backends = Backends(
        [
            CpuBackend("storyboard", {"image": "slow:run"}, lambda: None),
            CpuBackend("motion", {"video": "x:y"}, lambda: None),
        ],
        clock,
    )
    loop = compose_worker(
        hub, SlowRunner(settings.home), backends, clock=clock, workdir=workdir, instance="bench", settings=settings
    )
    book = book_of(scenes, units)
    saved = await storage.save_book(
        book, settings=ContentSettings(), source="bench", source_key="bench", source_sha256="bench"
    )
    await engine.start()
    serving = asyncio.create_task(loop.run())
    await engine.requests.open(NewRequest(saved.book_key, Scope(), ("image", "video"), "bench"))
    await asyncio.sleep(WARM_S)
    explain = engine.explainer
    print(f"{scenes} scenes of {units} units in the making, SQLite; the goal is {TARGET_MS:.0f} ms")
    print(f"{'asked':26} {'median':>8} {'99 %':>8} {'worst':>8}")
    places = [(chapter.chapter_id, scene.scene_id) for chapter, scene in book.scenes()]
    for media in ("image", "video"):
        chosen = [places[number * (scenes - 1) // (asks - 1)] for number in range(asks)]
        await _row(
            f"{media} of a scene", [lambda p=place, m=media: explain.scene(saved.book_key, *p, m) for place in chosen]
        )
    await _row("a read of nothing (floor)", [lambda: storage.artifact_suffix(())] * asks)
    await _row("the whole book", [lambda: explain.book(saved.book_key)] * asks)
    loop.stop()
    serving.cancel()
    await asyncio.gather(serving, return_exceptions=True)
    await engine.stop()
    workdir.close()
    await storage.close()


async def _row(name: str, asked: Sequence[Callable[[], Awaitable[object]]]) -> None:
    took = []
    for ask in asked:
        began = time.perf_counter()
        await ask()
        took.append(1000 * (time.perf_counter() - began))
        await asyncio.sleep(0.02)
    took.sort()
    print(f"{name:26} {median(took):8.1f} {took[int(0.99 * (len(took) - 1))]:8.1f} {took[-1]:8.1f}")


def main() -> None:
    """Read the command line and measure."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--scenes", type=int, default=5000)
    parser.add_argument("--units", type=int, default=9)
    parser.add_argument("--asks", type=int, default=40)
    given = parser.parse_args()
    structlog.configure(logger_factory=structlog.ReturnLoggerFactory())
    with tempfile.TemporaryDirectory() as folder:
        asyncio.run(measure(Path(folder), given.scenes, given.units, given.asks))


if __name__ == "__main__":
    main()
