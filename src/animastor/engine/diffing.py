"""What an edit will have made again, counted before it is made: by planning the touched scenes as they would be.

Only scenes that the edit touches are planned, in portions, so that the first counts come at once however long the
book is. What a plan waits for is put in its place: a picture that is to be made by a checksum that stands for it, sound
that is to be made by its estimated length. So the shots of a scene with new sound are an estimate.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from animastor.books.model import BookHead, Scene
from animastor.engine.planning import MERGE_SHARE
from animastor.engine.ports import BookContext, MadeBefore, PlanRow, SceneEdit, Storage, Touched
from animastor.media.registry import Registry
from animastor.media.types import Dependency, Facts, MadePart, PartPlan, PlanInput, Planned
from animastor.protocol import MERGE, BookKey

PORTION = 50  # scenes
HYPOTHETICAL = "0" * 64  # stands for the checksum of an artifact that is yet to be made


@dataclass(slots=True)
class Again:
    """Parts of one kind in the touched scenes: those to be made because of the edit with their work, and those kept."""

    parts: int = 0
    work: float = 0.0
    kept: int = 0


@dataclass(slots=True)
class Diff:
    """What an edit will have made again, by (media type, kind of part), after so many of its touched scenes."""

    scenes: int
    of: int
    counts: dict[tuple[str, str], Again] = field(default_factory=dict)

    @property
    def parts(self) -> int:
        """How many parts are to be made, merges included."""
        return sum(one.parts for one in self.counts.values())


@dataclass(slots=True)
class _Scene:
    """A touched scene: as it will be, its assets as they are, and what is known of its new plans."""

    scene: Scene
    rows: Mapping[str, PlanRow]
    new: bool
    known: dict[str, Dependency] = field(default_factory=dict)


class Differ:
    """Counts what edits cost. Writes nothing."""

    def __init__(self, storage: Storage, registry: Registry) -> None:
        self._storage = storage
        self._registry = registry

    async def diff(self, book_key: BookKey, touched: Touched) -> AsyncIterator[Diff]:
        """The counts after each portion of the touched scenes; the last is the whole.

        Media types of which nothing was ever asked for are not counted: nothing of them is made again.
        """
        (context,) = await self._storage.contexts([book_key])
        asked = set(await self._storage.asked_media(book_key)) - context.disabled
        scenes = touched.planned
        diff = Diff(0, len(scenes))
        yield diff
        for start in range(0, len(scenes), PORTION):
            portion = scenes[start : start + PORTION]
            await self._count(context, touched.head or context.head, portion, asked, diff)
            diff.scenes += len(portion)
            yield diff

    async def _count(
        self, context: BookContext, head: BookHead, portion: Sequence[SceneEdit], asked: set[str], diff: Diff
    ) -> None:
        assets = await self._storage.assets_touched([one.scene_key for one in portion if one.scene_key])
        rows: dict[int, dict[str, PlanRow]] = {one.scene_key: {} for one in portion}
        for row in await self._storage.plan_rows(list(assets)):
            rows[assets[row.asset]][row.media] = row
        scenes = [_Scene(one.scene, rows[one.scene_key] if one.scene_key else {}, not one.scene_key) for one in portion]
        for media in self._registry.names:
            if media in asked:
                await self._count_media(context, head, media, scenes, diff)

    async def _count_media(
        self, context: BookContext, head: BookHead, media: str, scenes: Sequence[_Scene], diff: Diff
    ) -> None:
        plans = [(one, plan) for one in scenes if (plan := self._plan(context, head, media, one)) is not None]
        hashes = {part.hash for _, plan in plans for part in plan.parts} | {plan.wanted_hash for _, plan in plans}
        made = await self._storage.made_before(context.book_key, hashes)
        for one, plan in plans:
            self._add(context, media, one, plan, made, diff)

    def _plan(self, context: BookContext, head: BookHead, media: str, one: _Scene) -> Planned | None:
        row = one.rows.get(media)
        if row is None and not one.new:
            return None  # of this scene nothing of the kind was ever asked for
        needs = {**(row.dependencies if row is not None else {}), **one.known}
        plan = self._registry[media].plan(
            PlanInput(
                head,
                one.scene,
                context.settings,
                row.takes if row is not None else {},
                needs,
                row.previous if row is not None else (),
            )
        )
        return plan if isinstance(plan, Planned) else None

    def _add(
        self,
        context: BookContext,
        media: str,
        one: _Scene,
        plan: Planned,
        made: Mapping[str, MadeBefore],
        diff: Diff,
    ) -> None:
        declared, row = self._registry[media], one.rows.get(media)
        wanted_before = {part.hash for part in row.previous} if row is not None else set[str]()
        missing = [part for part in _distinct(plan.parts) if part.hash not in made]
        again = [part for part in missing if part.hash not in wanted_before]
        for part in _distinct(plan.parts):
            count = diff.counts.setdefault((media, part.kind), Again())
            if part in again:
                count.parts, count.work = count.parts + 1, count.work + part.work
            elif part.hash in made:
                count.kept += 1
        joined = declared.merges and bool(plan.parts)
        if joined and plan.wanted_hash not in made and (again or not missing):
            count = diff.counts.setdefault((media, MERGE), Again())
            count.parts, count.work = count.parts + 1, count.work + MERGE_SHARE * sum(p.work for p in plan.parts)
        one.known[media] = self._dependency(context, media, one, plan, made, whole=not missing and (
            not joined or plan.wanted_hash in made))  # fmt: skip

    def _dependency(
        self,
        context: BookContext,
        media: str,
        one: _Scene,
        plan: Planned,
        made: Mapping[str, MadeBefore],
        *,
        whole: bool,
    ) -> Dependency:
        """The asset as it will be once it is made, for those that read it."""
        declared = self._registry[media]
        if declared.merges:
            stored = _stored(media, one)
            merged = made[plan.wanted_hash].facts if whole and plan.parts else None
            if not whole:
                return Dependency("absent", stored)
            parts = [MadePart(part, made[part.hash].artifact, made[part.hash].facts) for part in plan.parts]
            return Dependency("ready", declared.facts_of(parts, merged))
        yet = Facts(width=context.settings.width, height=context.settings.height)
        parts = [
            MadePart(part, made[part.hash].artifact, made[part.hash].facts)
            if part.hash in made
            else MadePart(part, HYPOTHETICAL, yet)
            for part in plan.parts
        ]
        return Dependency("ready", declared.facts_of(parts, None))


def _stored(media: str, one: _Scene) -> Mapping[str, object]:
    """What is known of an asset from whoever reads it."""
    for row in one.rows.values():
        if media in row.dependencies:
            return row.dependencies[media].facts
    return {}


def _distinct(parts: Iterable[PartPlan]) -> list[PartPlan]:
    return list({part.hash: part for part in parts}.values())
