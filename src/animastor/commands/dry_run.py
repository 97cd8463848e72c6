"""`make --dry-run`: what would be made, what is there already, how long it would take. Writes nothing.

Everything is planned as the engine would plan it. What a plan waits for is put in its place: pictures by the hashes
they will have, sound by its estimated length; so the numbers of shots are estimates where nothing was made yet.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from contextlib import AsyncExitStack
from dataclasses import dataclass, field
from pathlib import Path

from rich.console import Console
from rich.table import Table

from animastor.app import DATABASE, Reading, reading
from animastor.books.align import align, source_key
from animastor.books.importers import load
from animastor.books.model import Book, Chapter, Scene
from animastor.commands.errors import Exit
from animastor.commands.importing import Wishes
from animastor.commands.selection import parse_media, parse_scope
from animastor.config import Settings
from animastor.display import Display, duration_text
from animastor.engine.estimate import TYPICAL
from animastor.engine.ports import BookRow, Scope, ScopeKind
from animastor.media.registry import Registry, installed
from animastor.media.types import ContentSettings, Dependency, PlanInput, Planned

HYPOTHETICAL = "0" * 64  # stands for the checksum of an artifact that is yet to be made


@dataclass(frozen=True, slots=True)
class Rehearsal:
    """What `make --dry-run` was asked for."""

    source: Path
    media: str | None
    scope: str
    voice: str | None
    size: tuple[int, int] | None
    keep: bool


@dataclass(slots=True)
class _Count:
    parts: int = 0
    ready: int = 0
    work: float = 0.0  # of the parts that are not there

    def add(self, work: float, *, ready: bool) -> None:
        self.parts += 1
        self.ready += ready
        self.work += 0.0 if ready else work


@dataclass(slots=True)
class _Plan:
    """All plans of a book, counted."""

    registry: Registry
    book: Book
    settings: ContentSettings
    there: frozenset[str]
    counts: dict[tuple[str, str], _Count] = field(default_factory=dict)

    def scene(self, scene: Scene, media: tuple[str, ...]) -> None:
        known: dict[str, Dependency] = {}
        for name in media:
            wanted = PlanInput(self.book.head, scene, self.settings, dependencies=known)
            plan = self.registry[name].plan(wanted)
            if isinstance(plan, Planned):
                for part in plan.parts:
                    count = self.counts.setdefault((name, part.kind), _Count())
                    count.add(part.work, ready=part.hash in self.there)
            known[name] = _hypothetical(name, scene)


def _hypothetical(media: str, scene: Scene) -> Dependency:
    """A dependency as if it were there: a picture for each unit; sound is absent, so that lengths are estimated."""
    if media != "image":
        return Dependency("absent")
    units = {unit.unit_id: {"artifact": HYPOTHETICAL, "width": 0, "height": 0} for unit in scene.units}
    return Dependency("ready", {"units": units})


async def rehearse(settings: Settings, asked: Rehearsal, display: Display) -> int:
    """Say what `make` would do. Raises `BookError` and `CommandError`."""
    registry = installed()
    book = await asyncio.to_thread(load, asked.source)
    media = registry.closed(parse_media(asked.media, registry)) if asked.media else registry.names
    async with AsyncExitStack() as stack:
        row, stored, there = None, ContentSettings(profiles=registry.profiles), frozenset[str]()
        if (settings.home / DATABASE).exists():
            opened = await stack.enter_async_context(reading(settings, writable=False))
            row = await _row_of(opened, book, asked.source)
            if row is not None:
                book = await asyncio.to_thread(align, await opened.storage.load_book(row.book_key), book)
                (context,) = await opened.storage.contexts([row.book_key])
                stored = context.settings
                there = await opened.storage.ready_hashes(row.book_key)
    wanted = Wishes(asked.voice, asked.size, asked.keep).applied(stored, registry)
    plan = _Plan(registry, book, wanted, there)
    scope = parse_scope(asked.scope, book)
    await asyncio.to_thread(_plan_all, plan, scope, media)
    _say(plan, settings.jobs, display)
    return Exit.OK


async def _row_of(opened: Reading, book: Book, source: Path) -> BookRow | None:
    found = await opened.storage.find_book(book_id=book.head.book_id)
    return found or await opened.storage.find_book(source_key=source_key(book, source))


def _plan_all(plan: _Plan, scope: Scope, media: tuple[str, ...]) -> None:
    begun = False
    for chapter, scene in plan.book.scenes():
        begun = begun or scope.kind is not ScopeKind.FROM_SCENE or _is(scope, chapter, scene)
        if begun and _within(scope, chapter, scene):
            plan.scene(scene, media)


def _is(scope: Scope, chapter: Chapter, scene: Scene) -> bool:
    return (chapter.chapter_id, scene.scene_id) == (scope.chapter_id, scope.scene_id)


def _within(scope: Scope, chapter: Chapter, scene: Scene) -> bool:
    if scope.kind is ScopeKind.CHAPTER:
        return chapter.chapter_id == scope.chapter_id
    return scope.kind is not ScopeKind.SCENE or _is(scope, chapter, scene)


def expected_seconds(counts: Mapping[tuple[str, str], _Count], jobs: int) -> float:
    """How long the missing parts take with so many at once, by the typical cost of a unit of their work."""
    return sum(count.work * TYPICAL.get(media, 0.0) for (media, _), count in counts.items()) / jobs


def _say(plan: _Plan, jobs: int, display: Display) -> None:
    seconds = expected_seconds(plan.counts, jobs)
    parts = {f"{media}.{kind}": [count.parts, count.ready] for (media, kind), count in plan.counts.items()}
    missing = sum(count.parts - count.ready for count in plan.counts.values())
    title = plan.book.head.title or plan.book.head.book_id
    if missing == 0:
        display.note(f"{title}: every part is there; nothing would be made.", parts=parts, seconds=0)
        return
    sentence = f"{title}: {missing} parts would be made, in about {duration_text(max(1, seconds))}."
    display.note(sentence, parts=parts, seconds=round(seconds, 1))
    if display.wants_tables:
        table = Table(box=None, pad_edge=False, padding=(0, 2), header_style="dim")
        for name in ("", "parts", "there", "to make"):
            table.add_column(name, justify="left" if not name else "right")
        for (media, kind), count in plan.counts.items():
            table.add_row(f"  {media} ({kind})", str(count.parts), str(count.ready), str(count.parts - count.ready))
        Console().print(table)
