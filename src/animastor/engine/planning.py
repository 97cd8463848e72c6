"""Plans: from what the database says of an asset to what it wants (CONTRACT 4).

The media types' `plan` functions are pure; this module feeds them and turns their answers into what is stored. It
compares nothing and decides nothing: that happens inside the statement that stores the plan.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Hashable, Sequence
from dataclasses import dataclass, field
from typing import Generic, TypeVar

from animastor.books.codec import scene_from_json
from animastor.books.model import Scene
from animastor.engine.alarms import sentence_of
from animastor.engine.ports import BookContext, PartRow, PlanRow, Storage, StorePlan
from animastor.media.giving import is_outdated
from animastor.media.registry import Registry
from animastor.media.types import MediaType, PartPlan, PlanInput, Planned, Waiting
from animastor.protocol import MERGE, BookKey

MERGE_SHARE = 0.1  # the effort of a merge against that of its parts, for progress and the time left

Key = TypeVar("Key", bound=Hashable)
Value = TypeVar("Value")


class Recent(Generic[Key, Value]):
    """The last so many values by key."""

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._values: OrderedDict[Key, Value] = OrderedDict()

    def get(self, key: Key) -> Value | None:
        """The value, which is now the most recent one, or None."""
        if key not in self._values:
            return None
        self._values.move_to_end(key)
        return self._values[key]

    def put(self, key: Key, value: Value) -> None:
        """Keep a value; the least recent one may go."""
        self._values[key] = value
        while len(self._values) > self._limit:
            self._values.popitem(last=False)


@dataclass(frozen=True, slots=True)
class PlanFault:
    """A plan that raised: its asset alone is FAILED (`orchestration`)."""

    row: PlanRow
    message: str


@dataclass(slots=True)
class Plans:
    """What planning a batch gave. `books` are the contexts that were read. Rows that moved on meanwhile are absent."""

    plans: list[StorePlan] = field(default_factory=list)
    faults: list[PlanFault] = field(default_factory=list)
    books: dict[BookKey, BookContext] = field(default_factory=dict)


class Planner:
    """Plans batches of assets; keeps the contexts of books and the scenes that it decoded last."""

    def __init__(self, storage: Storage, registry: Registry, *, books: int = 256, scenes: int = 2000) -> None:
        self._storage = storage
        self._registry = registry
        self._contexts: Recent[BookKey, BookContext] = Recent(books)
        self._scenes: Recent[tuple[BookKey, int, str], Scene] = Recent(scenes)

    async def plan(self, rows: Sequence[PlanRow]) -> Plans:
        """Plan each row. A row whose book has another revision by now is left out: it is read again at the next tick.

        A plan that raises becomes a `PlanFault`; never does it reach another row.
        """
        plans = Plans(books=await self._books(rows))
        for row in rows:
            context = plans.books.get(row.book_key)
            if context is None or context.revision != row.revision:
                continue
            try:
                plans.plans.append(store_plan(row, self._registry[row.media], self._plan_input(row, context)))
            except Exception as error:  # noqa: BLE001 - reported by the caller as this asset's failure
                plans.faults.append(PlanFault(row, sentence_of(error)))
        return plans

    async def planned(self, row: PlanRow) -> Planned | Waiting | None:
        """What one asset wants, not stored; None when its book has another revision by now. May raise what plans do."""
        context = (await self._books([row])).get(row.book_key)
        if context is None or context.revision != row.revision:
            return None
        return self._registry[row.media].plan(self._plan_input(row, context))

    async def _books(self, rows: Sequence[PlanRow]) -> dict[BookKey, BookContext]:
        wanted = {row.book_key: row.revision for row in rows}
        books: dict[BookKey, BookContext] = {}
        for key, revision in wanted.items():
            known = self._contexts.get(key)
            if known is not None and known.revision == revision:
                books[key] = known
        unknown = wanted.keys() - books.keys()
        if unknown:
            for context in await self._storage.contexts(unknown):
                self._contexts.put(context.book_key, context)
                books[context.book_key] = context
        return books

    def _plan_input(self, row: PlanRow, context: BookContext) -> PlanInput:
        return PlanInput(
            head=context.head,
            scene=self._scene(row),
            settings=context.settings,
            takes=row.takes,
            dependencies=row.dependencies,
            previous=row.previous,
        )

    def _scene(self, row: PlanRow) -> Scene:
        key = (row.book_key, row.revision, row.scene_id)
        scene = self._scenes.get(key)
        if scene is None:
            scene = scene_from_json(row.scene)
            self._scenes.put(key, scene)
        return scene


def store_plan(row: PlanRow, media: MediaType, wanted: PlanInput) -> StorePlan:
    """The plan of one asset, as it is stored. Pure, as the media type's own planning is."""
    plan = media.plan(wanted)
    if isinstance(plan, Waiting):
        return StorePlan(row.asset, row.plan_seq, waiting_on=plan.on)
    parts = tuple(map(_part_row, plan.parts))
    merge = _merge_row(plan) if media.merges and parts else None
    return StorePlan(row.asset, row.plan_seq, wanted_hash=plan.wanted_hash, parts=parts, merge=merge)


def wanting_nothing(row: PlanRow) -> StorePlan:
    """What is stored for a resting asset whose plan raises: it waits for itself, until its content changes.

    No wait bit belongs to that, so a request makes it due, planned again, and FAILED if it still raises.
    """
    return StorePlan(row.asset, row.plan_seq, waiting_on=(row.media,))


def _part_row(part: PartPlan) -> PartRow:
    return PartRow(
        part.hash,
        part.kind,
        part.unit_ids,
        part.structure,
        part.inputs,
        part.profile,
        part.estimate_s,
        part.work,
        part.own_hash,
        is_outdated(part),
    )


def _merge_row(plan: Planned) -> PartRow:
    return PartRow(
        hash=plan.wanted_hash,
        kind=MERGE,
        unit_ids=(),
        params=plan.merge,
        inputs=(),
        profile=MERGE,
        estimate_s=sum(part.estimate_s for part in plan.parts),
        work=MERGE_SHARE * sum(part.work for part in plan.parts),
    )
