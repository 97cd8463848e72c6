"""What follows a committed result or failure outside the database, in the order of CONTRACT 7.

Successor (merge) entered → claim settled → what a late result made superfluous dropped → ended dispatches released
→ watchers and the scheduler woken. Repeating all of it changes nothing.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from animastor.engine.entering import Entrance
from animastor.engine.jobs import Jobs
from animastor.engine.observing import Observer
from animastor.engine.ports import (
    Coordination,
    CoordinationUnavailableError,
    Ended,
    JobSource,
    Settled,
    Verdict,
)
from animastor.engine.reaching import Reach
from animastor.engine.reasons import Reason
from animastor.engine.releasing import Releaser
from animastor.engine.replanning import Replanner
from animastor.engine.waking import Bell, Changes
from animastor.frozen import quick
from animastor.protocol import MERGE, AssetId, DispatchId, FailureType, Job, JobId, Ticket, job_id

BATCH = 200  # of what is owed


@quick
@dataclass(frozen=True, slots=True)
class Outcome:
    """What the database made of one delivery, and what is still to be done about it.

    `supersedes`: the part is there, so whatever else works on the same job, or waited for this claim's end to do so,
    works for nothing. `retried`: the job is to be found in the queue again. `repeated`: it came before, so that the
    merge may be made by now.
    """

    verdict: Verdict
    asset: AssetId
    merge: JobSource | None = None
    current: DispatchId | None = None
    fence: int = 0
    ended: Ended | None = None
    replan: bool = False
    repeated: bool = False
    supersedes: bool = False
    retried: bool = False


class Successors:
    """Carries out what follows; used by results and by the keeper's sweeps."""

    def __init__(
        self,
        *,
        coordination: Coordination,
        reach: Reach,
        jobs: Jobs,
        entrance: Entrance,
        releaser: Releaser,
        replanner: Replanner,
        observer: Observer,
        bell: Bell,
        changes: Changes,
    ) -> None:
        self._coordination = coordination
        self._reach = reach
        self._owed: list[Outcome] = []
        self._jobs = jobs
        self._entrance = entrance
        self._releaser = releaser
        self._replanner = replanner
        self._observer = observer
        self._bell = bell
        self._changes = changes

    async def follow(self, outcomes: Sequence[Outcome]) -> None:
        """Everything after the commit, for a batch. While the coordination store is away, it is owed."""
        try:
            if not self._reach.away:
                await self.pay()
                await self._follow(outcomes)
                return
        except CoordinationUnavailableError as error:
            self._reach.lost(error)
        self._entrance.doubt(_merges_of(outcomes))
        self._owed.extend(outcomes)
        self._changes.happened()
        self._bell.ring()

    async def pay(self) -> None:
        """What is still to be done for earlier batches. Raises `CoordinationUnavailableError`: it still is.

        A process that ends owing leaves it to the keeper, which finds jobs that nobody needs, and ends silent claims.
        """
        while self._owed:
            batch, self._owed = self._owed[:BATCH], self._owed[BATCH:]
            try:
                await self._follow(batch)
            except BaseException:
                self._owed[:0] = batch
                raise

    @property
    def owes(self) -> bool:
        """Whether there is any."""
        return bool(self._owed)

    async def _follow(self, outcomes: Sequence[Outcome]) -> None:
        self._entrance.doubt(one.verdict.job_id for one in outcomes if one.supersedes)
        self._entrance.doubt(
            _merges_of(one for one in outcomes if one.repeated)
        )  # another replica may have had it made
        await self._enter_merges(outcomes)
        settled = await self._coordination.settle([one.verdict for one in outcomes])
        await self._observer.circuits(answer.circuit for answer in settled)
        await self._drop_superseded(outcomes, settled)
        await self.release_and_wake([one.ended for one in outcomes])
        self._replanner.ask(
            one.asset
            for one, answer in zip(outcomes, settled, strict=True)
            if one.replan or (one.retried and not answer.present)  # the queue has lost the job: enter it again
        )

    async def release_and_wake(self, ended: Sequence[Ended | None]) -> None:
        """Release ended dispatches; slots may be free and dependants may start now."""
        await self._releaser.release(ended)
        self._changes.happened()
        self._bell.ring()

    async def require_released(self, limit: int) -> None:
        """As `Releaser.require_released`."""
        await self._releaser.require_released(limit)

    async def hand_back(self, ticket: Ticket, code: str, message: str) -> Reason:
        """A misconfigured backend gives its job back: queued again at once, nothing counted."""
        verdict = Verdict(
            ticket.job_id,
            ticket.claim_no,
            ticket.worker,
            FailureType.MISCONFIGURED,
            called_backend=False,
            counted=False,
            requeue_at=0.0,  # whatever the time is here: a clock may be wrong by an hour
        )
        await self._coordination.settle([verdict])
        await self._observer.misconfigured(ticket, code, message)
        self._changes.happened()
        return Reason.MISCONFIGURED

    async def _enter_merges(self, outcomes: Sequence[Outcome]) -> None:
        merges = {one.asset: one for one in outcomes if one.merge is not None and one.current is not None}
        if not merges:
            return
        places = await self._jobs.places(merges)
        jobs: list[Job] = []
        for asset, place in places.items():
            one = merges[asset]
            assert one.merge is not None, "only outcomes with a merge were kept"
            assert one.current is not None, "only outcomes of a current dispatch were kept"
            jobs.append(self._jobs.make(place, one.merge, one.current, one.fence))
        # A refused one has lost its lease: the keeper grants it again and enters the merge (`grant`).
        await self._entrance.enter(jobs)

    async def _drop_superseded(self, outcomes: Sequence[Outcome], settled: Sequence[Settled]) -> None:
        superseded = {
            one.verdict.job_id
            for one, answer in zip(outcomes, settled, strict=True)
            if one.supersedes and (not answer.present or answer.dispatch_id != one.current)
        }
        if superseded:
            await self._coordination.discard_jobs(sorted(superseded))


def _merges_of(outcomes: Iterable[Outcome]) -> Iterator[JobId]:
    return (job_id(MERGE, one.asset, one.merge.hash) for one in outcomes if one.merge is not None)
