"""What is due of a pair and planned, ready to be admitted; while one batch begins, the next one is looked at.

Looking ahead only stores plans, which may be done for anything that is due at any time. Whether something still may
start, the transaction decides in which it begins.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field, replace

from animastor.engine.alarms import Alarm, Report, sentence_of
from animastor.engine.batching import Fault, in_halves
from animastor.engine.failing import Failing
from animastor.engine.jobs import Jobs, Place
from animastor.engine.planning import Planner
from animastor.engine.ports import Ended, JobSource, PlanRow, PlanStored, Storage, StorageUnavailableError
from animastor.engine.reasons import Reason
from animastor.engine.states import State
from animastor.engine.waking import Bell
from animastor.protocol import AssetId, Clock, DispatchId, Pair

FRESH_S = 1.0  # what was looked at longer ago is looked at again: something more urgent may have come


@dataclass(frozen=True, slots=True)
class Start:
    """An asset on its way to being GENERATING."""

    place: Place
    plan_seq: int
    dispatch_id: DispatchId
    missing: Sequence[JobSource]

    @property
    def ended(self) -> Ended:
        """Its dispatch, to be given back."""
        return Ended(self.place.asset, self.dispatch_id)


@dataclass(frozen=True, slots=True)
class Look:
    """Assets with something to make; how many were looked at, and moved without work (restored, failed, waiting).

    `last_book`: served last by the walk; the next one starts behind it. `whole`: this is all that was due.
    """

    starts: Sequence[Start] = ()
    seen: int = 0
    moved: int = 0
    last_book: int = 0
    at: float = float("-inf")
    whole: bool = False


@dataclass(slots=True)
class _Ahead:
    """A look that was asked for ahead of its turn."""

    limit: int
    books: int
    besides: Collection[AssetId]
    look: asyncio.Future[Look] = field(default_factory=lambda: asyncio.get_running_loop().create_future())


class Lookout:
    """Looks at what is due. One cursor per pair says which book was served last. Looks ahead while `run` is running."""

    def __init__(
        self,
        *,
        storage: Storage,
        planner: Planner,
        jobs: Jobs,
        failing: Failing,
        clock: Clock,
        bell: Bell,
        report: Report,
        new_dispatch_id: Callable[[], str],
    ) -> None:
        self._storage = storage
        self._planner = planner
        self._jobs = jobs
        self._failing = failing
        self._clock = clock
        self._bell = bell
        self._report = report
        self._new_dispatch_id = new_dispatch_id
        self._after: dict[Pair, int] = {}
        self._left: dict[Pair, Look] = {}
        self._asked: dict[Pair, _Ahead] = {}
        self._some = asyncio.Event()
        self._running = False

    async def run(self) -> None:
        """Look ahead where it is asked for, until cancelled. Raises `StorageUnavailableError`."""
        self._running = True
        try:
            while True:
                await self._some.wait()
                self._some.clear()
                for pair, ahead in list(self._asked.items()):
                    if not ahead.look.done():
                        await self._look_ahead(pair, ahead)
        finally:
            self._running = False
            for ahead in self._asked.values():
                if not ahead.look.done():
                    ahead.look.set_result(Look())  # whoever waits looks for itself

    async def next(self, pair: Pair, limit: int, books: int) -> Look:
        """The next batch, of at most `limit`; `books` is how many share the slots."""
        asked = self._asked.get(pair)
        if asked is not None:
            look = await asked.look
            del self._asked[pair]
            self._left[pair] = look
        look = self._left.pop(pair, Look())
        if not look.seen or self._clock.now() - look.at > FRESH_S:
            look = await self._look(pair, limit, books, ())
        self._after[pair] = look.last_book
        if len(look.starts) > limit:
            self._left[pair] = replace(look, starts=look.starts[limit:], seen=len(look.starts) - limit, moved=0)
            look = replace(look, starts=look.starts[:limit], whole=False)
        return look

    def ahead(self, pair: Pair, limit: int, books: int, look: Look) -> None:
        """This look is about to begin; when there seems to be more of the kind, look at that meanwhile."""
        if self._running and look.seen >= limit and pair not in self._left and pair not in self._asked:
            self._asked[pair] = _Ahead(limit, books, frozenset([start.place.asset for start in look.starts]))
            self._some.set()

    async def _look_ahead(self, pair: Pair, ahead: _Ahead) -> None:
        look = Look()
        try:
            look = await self._look(pair, ahead.limit, ahead.books, ahead.besides)
        except StorageUnavailableError:
            raise
        except Exception as error:  # noqa: BLE001 - reported; the next look finds it again
            self._report(Alarm(Reason.ORCHESTRATION, f"looking ahead: {sentence_of(error)}"))
        if not ahead.look.done():
            ahead.look.set_result(look)
        if look.moved:
            self._bell.ring()

    async def _look(self, pair: Pair, limit: int, books: int, besides: Collection[AssetId]) -> Look:
        each = max(1, -(-limit // max(1, books))) + (len(besides) if books <= 1 else 0)
        walk = await self._storage.due(pair, limit, each, self._after.get(pair, 0), besides)
        starts, moved = await self._plan(walk.rows) if walk.rows else ((), 0)
        seen = len(walk.rows)
        whole = not besides and seen < each and len(starts) + moved == seen  # no book gave all that it may at a time
        return Look(starts, seen, moved, walk.last_book, self._clock.now(), whole)

    async def _plan(self, rows: Sequence[PlanRow]) -> tuple[Sequence[Start], int]:
        """Store the plans of due assets; those with something to make, and how many were moved without work."""
        planned = await self._planner.plan(rows)
        by_asset = {row.asset: row for row in rows}
        faults = [(fault.row.asset, fault.message) for fault in planned.faults]
        starts: list[Start] = []
        moved = len(faults)
        for plan, stored in zip(planned.plans, await in_halves(self._storage.store_plans, planned.plans), strict=True):
            if isinstance(stored, Fault):
                faults.append((plan.asset, sentence_of(stored.error)))
                moved += 1
                continue
            row = by_asset[stored.asset]
            if _may_start(stored):
                place = self._jobs.remember(row, planned.books[row.book_key])
                starts.append(Start(place, row.plan_seq, DispatchId(self._new_dispatch_id()), stored.missing))
            elif stored.reason is not Reason.STALE_PLAN:
                moved += 1
        await self._failing.fail(faults)
        return starts, moved


def _may_start(stored: PlanStored) -> bool:
    return stored.reason is Reason.GRANTED and stored.state is State.PENDING and bool(stored.missing)
