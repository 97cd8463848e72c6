"""Starting assets: due → plan → (nothing to make: restored) → admit → begin → enqueue, batch by batch (CONTRACT 5).

Whatever is refused on the way gives back what was taken for it, so that each exit leaves the asset READY, PENDING,
FAILED, or GENERATING with a lease.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from animastor.engine.alarms import sentence_of
from animastor.engine.batching import Fault, in_halves
from animastor.engine.entering import Entrance
from animastor.engine.failing import Failing
from animastor.engine.jobs import Jobs, Place
from animastor.engine.observing import Observer
from animastor.engine.planning import Planner
from animastor.engine.ports import (
    Begin,
    Begun,
    Candidate,
    Circuit,
    Coordination,
    Ended,
    JobSource,
    PairStatus,
    PlanRow,
    PlanStored,
    Storage,
)
from animastor.engine.reasons import Reason
from animastor.engine.releasing import Releaser
from animastor.engine.states import State, Wait
from animastor.protocol import DispatchId, Job, Pair

TESTS = 2  # what may start while a breaker is not closed: its half-open permits (CONTRACT 9)


@dataclass(frozen=True, slots=True)
class Round:
    """What a round for a pair did: assets looked at, started, and moved without work (restored, failed, waiting)."""

    seen: int = 0
    started: int = 0
    moved: int = 0

    def __add__(self, other: Round) -> Round:
        return Round(self.seen + other.seen, self.started + other.started, self.moved + other.moved)


@dataclass(frozen=True, slots=True)
class _Start:
    """An asset on its way to being GENERATING."""

    place: Place
    plan_seq: int
    dispatch_id: DispatchId
    missing: Sequence[JobSource]

    @property
    def ended(self) -> Ended:
        return Ended(self.place.asset, self.dispatch_id)


class Dispatcher:
    """Starts what is due. One cursor per pair says which book was served last."""

    def __init__(
        self,
        *,
        storage: Storage,
        coordination: Coordination,
        planner: Planner,
        jobs: Jobs,
        entrance: Entrance,
        releaser: Releaser,
        failing: Failing,
        observer: Observer,
        new_dispatch_id: Callable[[], str],
        batch: int,
    ) -> None:
        self._storage = storage
        self._coordination = coordination
        self._planner = planner
        self._jobs = jobs
        self._entrance = entrance
        self._releaser = releaser
        self._failing = failing
        self._observer = observer
        self._new_dispatch_id = new_dispatch_id
        self._batch = batch
        self._after: dict[Pair, int] = {}

    async def dispatch(self, status: PairStatus, books: int) -> Round:
        """Fill the free slots of a pair; `books` is how many share them. Ends when a round starts and moves nothing."""
        free = status.free if status.circuit is Circuit.CLOSED else min(status.free, TESTS)
        limit, total = free, Round()
        while free > 0:
            done = await self._round(status, free, min(limit, self._batch), books)
            total += done
            free -= done.started
            if not (done.started or done.moved):
                break
            # what needs no work takes no slot: look at more of it at a time
            limit = free if done.started else min(self._batch, max(free, 2 * limit))
        return total

    async def _round(self, status: PairStatus, room: int, limit: int, books: int) -> Round:
        each = max(1, -(-limit // max(1, books)))
        walk = await self._storage.due(status.pair, limit, each, self._after.get(status.pair, 0))
        self._after[status.pair] = walk.last_book
        if not walk.rows:
            return Round()
        starts, moved = await self._plan(walk.rows)
        able = await self._able(starts, status.profiles)
        started = await self._begin(await self._admit(able[:room]))
        return Round(len(walk.rows), started, moved + len(starts) - len(able))

    async def _plan(self, rows: Sequence[PlanRow]) -> tuple[list[_Start], int]:
        """Store the plans of due assets; those with something to make, and how many were moved without work."""
        planned = await self._planner.plan(rows)
        by_asset = {row.asset: row for row in rows}
        faults = [(fault.row.asset, fault.message) for fault in planned.faults]
        starts: list[_Start] = []
        moved = len(faults)
        for plan, stored in zip(planned.plans, await in_halves(self._storage.store_plans, planned.plans), strict=True):
            if isinstance(stored, Fault):
                faults.append((plan.asset, sentence_of(stored.error)))
                moved += 1
                continue
            row = by_asset[stored.asset]
            if _may_start(stored):
                place = self._jobs.remember(row, planned.books[row.book_key].book_id)
                starts.append(_Start(place, row.plan_seq, DispatchId(self._new_dispatch_id()), stored.missing))
            elif stored.reason is not Reason.STALE_PLAN:
                moved += 1
        await self._failing.fail(faults)
        return starts, moved

    async def _able(self, starts: Sequence[_Start], profiles: frozenset[str]) -> list[_Start]:
        """Those with at least one job that somebody could do; the others wait for a worker (`no_worker`)."""
        able: list[_Start] = []
        alone: list[_Start] = []
        for start in starts:
            served = any(source.profile in profiles for source in start.missing)
            (able if served else alone).append(start)
        if alone:
            assets = [start.place.asset for start in alone]
            await self._storage.set_waits(assets, Wait.NO_WORKER, Reason.NO_WORKER)
        return able

    async def _admit(self, starts: Sequence[_Start]) -> list[_Start]:
        if not starts:
            return []
        admissions = await self._coordination.admit([_candidate(start) for start in starts])
        answers = list(zip(starts, admissions, strict=True))
        await self._observer.circuits(admission.circuit for admission in admissions)
        await self._observer.skipped(
            (start.place.asset, answer.reason) for start, answer in answers if not answer.granted
        )
        return [start for start, answer in answers if answer.granted]

    async def _begin(self, admitted: Sequence[_Start]) -> int:
        """PENDING → GENERATING, and the jobs into the queue; how many started."""
        begins = [Begin(start.place.asset, start.dispatch_id, start.plan_seq) for start in admitted]
        jobs: list[Job] = []
        never: list[Ended] = []
        faults = []
        for start, begun in zip(admitted, await in_halves(self._storage.begin, begins), strict=True):
            if isinstance(begun, Begun) and begun.begun:
                jobs += (self._jobs.make(start.place, one, start.dispatch_id, begun.fence) for one in start.missing)
            else:
                never.append(start.ended)
                if isinstance(begun, Fault):
                    faults.append((start.place.asset, sentence_of(begun.error)))
        await self._releaser.never_begun(never)
        await self._failing.fail(faults)
        refused = await self._entrance.enter_or_roll_back(jobs) if jobs else set()
        self._observer.started(start.place.asset for start in admitted)
        return len(begins) - len(never) - len(refused)


def _may_start(stored: PlanStored) -> bool:
    return stored.reason is Reason.GRANTED and stored.state is State.PENDING and bool(stored.missing)


def _candidate(start: _Start) -> Candidate:
    retrying = frozenset(source.retry_of for source in start.missing if source.retry_of is not None)
    return Candidate(start.place.asset, start.place.book_key, start.place.pair, start.dispatch_id, retrying)
