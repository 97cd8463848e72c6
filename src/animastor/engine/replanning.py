"""Planning again what an edit, a finished dependency or a lost job may have changed (CONTRACT 4).

Most of it is one comparison inside storage: READY with another wanted hash becomes DIRTY, what is there again is
restored. A GENERATING asset goes on: jobs newly wanted are entered, those no longer wanted dropped.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence

from animastor.engine.alarms import sentence_of
from animastor.engine.batching import Fault, in_halves
from animastor.engine.entering import Entrance
from animastor.engine.failing import Failing
from animastor.engine.jobs import Jobs
from animastor.engine.planning import PlanFault, Planner, wanting_nothing
from animastor.engine.ports import BookContext, Coordination, JobStatus, PlanRow, PlanStored, Selection, Storage
from animastor.engine.reasons import Reason
from animastor.engine.releasing import Releaser
from animastor.engine.states import State
from animastor.engine.turns import Turn, Turns
from animastor.engine.waking import Bell
from animastor.protocol import AssetId, Job, JobId, job_id


class Replanner:
    """Replans what is unplanned, and the assets that somebody asked it to look at again."""

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
        turns: Turns,
        bell: Bell,
        batch: int,
    ) -> None:
        self._storage = storage
        self._coordination = coordination
        self._planner = planner
        self._jobs = jobs
        self._entrance = entrance
        self._releaser = releaser
        self._failing = failing
        self._turns = turns
        self._bell = bell
        self._batch = batch
        self._asked: set[AssetId] = set()

    @property
    def asked(self) -> bool:
        """Whether somebody asked for assets that were not looked at again yet."""
        return bool(self._asked)

    def ask(self, assets: Iterable[AssetId]) -> None:
        """Look at these again at the next tick, even if their plan is current: a job of theirs may be missing."""
        before = len(self._asked)
        self._asked.update(assets)
        if len(self._asked) > before:
            self._bell.ring()

    async def replan(self, *, unplanned: bool = True) -> int:
        """One batch; how many assets were looked at. A full batch means that there may be more."""
        asked = sorted(self._asked)[: self._batch]
        self._asked.difference_update(asked)  # whoever asks from now on may know more than what is read next
        try:
            return await self._look_at(asked, unplanned=unplanned)
        except BaseException:
            self._asked.update(asked)
            raise

    async def replan_asked(self) -> int:
        """The same for what was asked for alone: by an engine that leaves the rest to others."""
        return await self.replan(unplanned=False) if self._asked else 0

    async def _look_at(self, asked: Sequence[AssetId], *, unplanned: bool) -> int:
        found = await self._storage.unplanned(self._batch) if unplanned else ()
        turn = await self._turns.take(["plans"] if found else [])
        try:
            rows = {row.asset: row for row in found if turn.has("plans")}
            if asked:
                rows |= {row.asset: row for row in await self._storage.plan_rows(asked)}
            if rows:
                await self._replan(list(rows.values()), turn)
        finally:
            await turn.end()
        return len(rows)

    async def _replan(self, rows: Sequence[PlanRow], turn: Turn) -> None:
        by_asset = {row.asset: row for row in rows}
        # The jobs are read before the plans are stored: what the database then calls missing and had a job in work
        # before, is being made; entering it again could make it twice.
        alive = await self._alive([row.asset for row in rows if row.state is State.GENERATING])
        planned = await self._planner.plan(rows)
        await turn.check()
        faults = list(planned.faults)
        stored: list[PlanStored] = []
        for plan, answer in zip(planned.plans, await in_halves(self._storage.store_plans, planned.plans), strict=True):
            if isinstance(answer, Fault):
                faults.append(PlanFault(by_asset[plan.asset], sentence_of(answer.error)))
            else:
                stored.append(answer)
        running = [one for one in stored if one.state is State.GENERATING and one.reason is not Reason.STALE_PLAN]
        books = {row.asset: planned.books[row.book_key] for row in rows if row.book_key in planned.books}
        await self._renew_jobs(running, by_asset, books, alive)
        await self._releaser.release(one.ended for one in stored)
        await self._settle_faults(faults)

    async def _alive(self, assets: Collection[AssetId]) -> dict[JobId, JobStatus]:
        if not assets:
            return {}
        return {job.job_id: job for job in await self._coordination.jobs(Selection(assets=assets))}

    async def _renew_jobs(
        self,
        running: Sequence[PlanStored],
        rows: Mapping[AssetId, PlanRow],
        books: Mapping[AssetId, BookContext],
        alive: Mapping[JobId, JobStatus],
    ) -> None:
        """Drop the jobs that are no longer wanted, then enter those that are wanted and not in work."""
        dropped = {job_id(kind, one.asset, hash_) for one in running for kind, hash_ in one.dropped}
        if dropped:
            self._entrance.doubt(dropped)
            await self._coordination.discard_jobs(sorted(dropped))
        jobs: list[Job] = []
        held = await self._held([one.asset for one in running if one.missing])
        for one in running:
            if one.asset in held:
                continue
            place = self._jobs.remember(rows[one.asset], books[one.asset])
            assert one.dispatch_id is not None, "a GENERATING asset has a dispatch"
            for source in one.missing:
                job = self._jobs.make(place, source, one.dispatch_id, one.fence)
                if not _goes_on(alive.get(job.job_id), job):
                    jobs.append(job)
        # Another replica may have replanned the same, and had it made since this one read that it is missing.
        self._entrance.doubt(job.job_id for job in jobs)
        # A refused one has lost its lease; the keeper completes or rolls back what has neither lease nor job.
        await self._entrance.enter(jobs)

    async def _held(self, assets: Sequence[AssetId]) -> frozenset[AssetId]:
        """Those whose request is paused: nothing more of them is entered."""
        actives = await self._storage.active_of(assets) if assets else ()
        return frozenset(one.asset for one in actives if one.held)

    async def _settle_faults(self, faults: Sequence[PlanFault]) -> None:
        """FAILED where the table of states allows it; a resting asset wants nothing until its content changes."""
        moving = [one for one in faults if one.row.state in (State.PENDING, State.GENERATING)]
        await self._failing.fail((one.row.asset, one.message) for one in moving)
        resting = [one for one in faults if one.row.state not in (State.PENDING, State.GENERATING)]
        self._failing.report((one.row.asset, one.message) for one in resting)
        if resting:
            await self._storage.store_plans([wanting_nothing(one.row) for one in resting])


def _goes_on(status: JobStatus | None, job: Job) -> bool:
    """Whether a job in work needs nothing: alive, not told to stop, and labelled with the current dispatch."""
    return (
        status is not None
        and status.live
        and not status.stopping
        and status.dispatch_id == job.dispatch_id
        and status.fence == job.fence
    )
