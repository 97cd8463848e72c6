"""Starting assets: due → plan → (nothing to make: restored) → admit → begin → enqueue, batch by batch (CONTRACT 5).

Whatever is refused on the way gives back what was taken for it, so that each exit leaves the asset READY, PENDING,
FAILED, or GENERATING with a lease.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from animastor.engine.alarms import sentence_of
from animastor.engine.batching import Fault, in_halves
from animastor.engine.entering import Entrance
from animastor.engine.failing import Failing
from animastor.engine.jobs import Jobs
from animastor.engine.looking import Lookout, Start
from animastor.engine.observing import Observer
from animastor.engine.ports import (
    Begin,
    Begun,
    Candidate,
    Circuit,
    Coordination,
    Ended,
    PairStatus,
    Storage,
)
from animastor.engine.reasons import Reason
from animastor.engine.releasing import Releaser
from animastor.engine.starting import is_served
from animastor.engine.states import Wait
from animastor.engine.turns import Turn, TurnLostError
from animastor.protocol import Job

TESTS = 2  # what may start while a breaker is not closed: its half-open permits (CONTRACT 9)


@dataclass(frozen=True, slots=True)
class Round:
    """What a round for a pair did: assets looked at, started, and moved without work (restored, failed, waiting).

    `last`: all that was due has started, so that there is nothing to look at once more.
    """

    seen: int = 0
    started: int = 0
    moved: int = 0
    last: bool = False

    def __add__(self, other: Round) -> Round:
        return Round(self.seen + other.seen, self.started + other.started, self.moved + other.moved, other.last)


class Dispatcher:
    """Starts what is due."""

    def __init__(
        self,
        *,
        storage: Storage,
        coordination: Coordination,
        lookout: Lookout,
        jobs: Jobs,
        entrance: Entrance,
        releaser: Releaser,
        failing: Failing,
        observer: Observer,
        batch: int,
    ) -> None:
        self._storage = storage
        self._coordination = coordination
        self._lookout = lookout
        self._jobs = jobs
        self._entrance = entrance
        self._releaser = releaser
        self._failing = failing
        self._observer = observer
        self._batch = batch

    async def dispatch(self, status: PairStatus, books: int, turn: Turn) -> Round:
        """Fill the free slots of a pair; `books` is how many share them. Ends when nothing more is due, or may start.

        Raises `TurnLostError` when another engine fills them now; what has begun by then is entered all the same.
        """
        free = status.free if status.circuit is Circuit.CLOSED else min(status.free, TESTS)
        limit, total = free, Round()
        while free > 0:
            done = await self._round(status, free, min(limit, self._batch), books, turn)
            total += done
            free -= done.started
            if done.last or not (done.started or done.moved):
                break
            # what needs no work takes no slot: look at more of it at a time
            limit = free if done.started else min(self._batch, max(free, 2 * limit))
        return total

    async def _round(self, status: PairStatus, room: int, limit: int, books: int, turn: Turn) -> Round:
        await turn.check()
        look = await self._lookout.next(status.pair, limit, books)
        self._lookout.ahead(status.pair, limit, books, look)
        able = await self._able(look.starts, status.profiles)
        await turn.check()
        admitted = await self._admit(able[:room])
        if not await turn.is_ours():
            await self._releaser.never_begun([start.ended for start in admitted])
            raise TurnLostError
        started = await self._begin(admitted)
        last = look.whole and started == look.seen
        return Round(look.seen, started, look.moved + len(look.starts) - len(able), last)

    async def _able(self, starts: Sequence[Start], profiles: frozenset[str]) -> list[Start]:
        """Those with at least one job that somebody could do; the others wait for a worker (`no_worker`)."""
        able: list[Start] = []
        alone: list[Start] = []
        for start in starts:
            served = is_served((source.profile for source in start.missing), profiles)
            (able if served else alone).append(start)
        if alone:
            assets = [start.place.asset for start in alone]
            await self._storage.set_waits(assets, Wait.NO_WORKER, Reason.NO_WORKER)
        return able

    async def _admit(self, starts: Sequence[Start]) -> list[Start]:
        if not starts:
            return []
        admissions = await self._coordination.admit([_candidate(start) for start in starts])
        answers = list(zip(starts, admissions, strict=True))
        await self._observer.circuits(admission.circuit for admission in admissions)
        await self._observer.skipped(
            (start.place.asset, answer.reason) for start, answer in answers if not answer.granted
        )
        return [start for start, answer in answers if answer.granted]

    async def _begin(self, admitted: Sequence[Start]) -> int:
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


def _candidate(start: Start) -> Candidate:
    retrying = frozenset(source.retry_of for source in start.missing if source.retry_of is not None)
    return Candidate(start.place.asset, start.place.book_key, start.place.pair, start.dispatch_id, retrying)
