"""What would have to be made: a book planned as the engine would plan it, and counted. Writes nothing.

What a plan waits for is put in its place: pictures by the hashes that they will have, sound by its estimated length
where it is not there yet; so the number of shots is an estimate until there is sound.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from animastor.books.model import Book, Chapter, Scene
from animastor.commands.pace import Pace
from animastor.config import Settings
from animastor.display import duration_text
from animastor.engine.planning import MERGE_SHARE
from animastor.engine.ports import AssetExport, BookRow, Scope, ScopeKind
from animastor.media.registry import Registry
from animastor.media.types import ContentSettings, Dependency, PlanInput, Planned
from animastor.protocol import MERGE

if TYPE_CHECKING:
    from animastor.app import Reading

HYPOTHETICAL = "0" * 64  # stands for the checksum of an artifact that is yet to be made
START_S = 2.5  # until the first children are at work
_NAMES = {
    ("audio", "speech"): ("stretch of speech", "stretches of speech"),
    ("audio", MERGE): ("scene's sound", "scenes' sound"),
    ("video", MERGE): ("scene's film", "scenes' film"),
    ("image", "picture"): ("picture", "pictures"),
    ("video", "shot"): ("shot", "shots"),
}


@dataclass(slots=True)
class Count:
    """Parts of one kind: how many there will be, how many are there, and the work of the others."""

    parts: int = 0
    ready: int = 0
    work: float = 0.0

    @property
    def missing(self) -> int:
        """How many are to be made."""
        return self.parts - self.ready

    def add(self, work: float, *, ready: bool) -> None:
        """One more."""
        self.parts += 1
        self.ready += ready
        self.work += 0.0 if ready else work


@dataclass(frozen=True, slots=True)
class Forecast:
    """Counts by (media type, kind of part), dependencies first, merges behind the parts that they join."""

    counts: Mapping[tuple[str, str], Count]

    @property
    def missing(self) -> int:
        """How many parts are to be made."""
        return sum(count.missing for count in self.counts.values())

    def seconds(self, settings: Settings) -> float:
        """How long that takes with so many children, at the pace of what was made here before."""
        if not self.missing:
            return 0.0
        pace = Pace.of(settings.home)
        work = sum(count.work * pace.cost(media) for (media, _), count in self.counts.items())
        return START_S + work / settings.jobs

    def time_text(self, settings: Settings) -> str:
        """How long that takes, in words; that it is a guess where something of it was never made here."""
        pace = Pace.of(settings.home)
        guess = any(one.missing and not pace.knows(media) for (media, _), one in self.counts.items())
        about = f"about {duration_text(self.seconds(settings))}"
        return f"{about} (a guess: some of it was never made here)" if guess else about

    def text(self, settings: Settings) -> str:
        """The same in words: `6 pictures and 3 shots to be made, in about 8 s`."""
        told = [
            f"{count.missing} {names[count.missing > 1]}"
            for key, count in self.counts.items()
            if count.missing and key[1] != MERGE
            for names in [_NAMES.get(key, (f"{key[0]} part", f"{key[0]} parts"))]
        ]
        if not told:
            return "nothing has to be made for it" if not self.missing else "only joining again has to be done for it"
        what = f"{', '.join(told[:-1])} and {told[-1]}" if len(told) > 1 else told[0]
        return f"{what} to be made, in {self.time_text(settings)}"


@dataclass(slots=True)
class _Plans:
    registry: Registry
    book: Book
    settings: ContentSettings
    there: frozenset[str]
    assets: Mapping[tuple[str, str], Mapping[str, AssetExport]]
    counts: dict[tuple[str, str], Count] = field(default_factory=dict)

    def scene(self, chapter: Chapter, scene: Scene, media: tuple[str, ...]) -> None:
        known: dict[str, Dependency] = {}
        stored = self.assets.get((chapter.chapter_id, scene.scene_id), {})
        for name in self.registry.names:
            if name not in media and name not in stored:
                continue
            plan = self.registry[name].plan(PlanInput(self.book.head, scene, self.settings, dependencies=known))
            there = isinstance(plan, Planned) and self._is_there(name, plan, stored.get(name))
            known[name] = Dependency("ready", stored[name].facts) if there else _hypothetical(name, scene)
            if name in media and isinstance(plan, Planned):
                self._count(name, plan, all_there=there)

    def _is_there(self, name: str, plan: Planned, asset: AssetExport | None) -> bool:
        """Whether the asset stands and is of this very plan."""
        if asset is None or not asset.current:
            return False
        whole = [plan.wanted_hash] if self.registry[name].merges and plan.parts else []
        return all(each in self.there for each in (*whole, *(part.hash for part in plan.parts)))

    def _count(self, name: str, plan: Planned, *, all_there: bool) -> None:
        for part in plan.parts:
            self._counted(name, part.kind).add(part.work, ready=all_there or part.hash in self.there)
        if self.registry[name].merges and plan.parts:
            work = MERGE_SHARE * sum(part.work for part in plan.parts)
            self._counted(name, MERGE).add(work, ready=all_there or plan.wanted_hash in self.there)

    def _counted(self, name: str, kind: str) -> Count:
        return self.counts.setdefault((name, kind), Count())


def _hypothetical(media: str, scene: Scene) -> Dependency:
    """A dependency as if it were there: a picture for each unit; sound is absent, so that lengths are estimated."""
    if media != "image":
        return Dependency("absent")
    units = {unit.unit_id: {"artifact": HYPOTHETICAL, "width": 0, "height": 0} for unit in scene.units}
    return Dependency("ready", {"units": units})


async def forecast(
    opened: Reading,
    book: Book,
    row: BookRow | None,
    settings: ContentSettings,
    scope: Scope = Scope(),  # noqa: B008 - frozen
    media: tuple[str, ...] = (),
) -> Forecast:
    """What of a book is to be made under these settings. `row`: the stored book; its finished parts count."""
    there, assets = frozenset[str](), {}
    if row is not None:
        there = await opened.storage.ready_hashes(row.book_key)
        rows = await opened.storage.export_rows(row.book_key, Scope())
        assets = {(each.chapter_id, each.scene_id): each.media for each in rows}
    return await asyncio.to_thread(count, opened.registry, book, settings, scope, media, there, assets)


def count(
    registry: Registry,
    book: Book,
    settings: ContentSettings,
    scope: Scope,
    media: tuple[str, ...] = (),
    there: frozenset[str] = frozenset(),
    assets: Mapping[tuple[str, str], Mapping[str, AssetExport]] | None = None,
) -> Forecast:
    """The same, given what is there. Pure. No media types: all."""
    plans = _Plans(registry, book, settings, there, assets or {})
    begun = False
    for chapter, scene in book.scenes():
        begun = begun or scope.kind is not ScopeKind.FROM_SCENE or _is(scope, chapter, scene)
        if begun and _within(scope, chapter, scene):
            plans.scene(chapter, scene, media or registry.names)
    order = {name: place for place, name in enumerate(registry.names)}
    return Forecast(dict(sorted(plans.counts.items(), key=lambda one: (order[one[0][0]], one[0][1] == MERGE))))


def _is(scope: Scope, chapter: Chapter, scene: Scene) -> bool:
    return (chapter.chapter_id, scene.scene_id) == (scope.chapter_id, scope.scene_id)


def _within(scope: Scope, chapter: Chapter, scene: Scene) -> bool:
    if scope.kind is ScopeKind.CHAPTER:
        return chapter.chapter_id == scope.chapter_id
    return scope.kind is not ScopeKind.SCENE or _is(scope, chapter, scene)
