"""Dispatches whose request is paused: running jobs finish and are kept, nothing else of them starts (CONTRACT 10)."""

from __future__ import annotations

from collections.abc import Sequence

from animastor.engine.completing import Successors
from animastor.engine.ports import Active, Coordination, JobState, RollBack, Selection, Storage
from animastor.engine.reasons import Reason
from animastor.protocol import AssetId, BookKey


class Pauses:
    """Holds back what is GENERATING under a paused request. May be repeated, by any replica."""

    def __init__(self, *, storage: Storage, coordination: Coordination, successors: Successors, batch: int) -> None:
        self._storage = storage
        self._coordination = coordination
        self._successors = successors
        self._batch = batch

    async def of_book(self, book_key: BookKey) -> Sequence[Active]:
        """The GENERATING assets of a book."""
        found: list[Active] = []
        after = AssetId(0)
        while actives := await self._storage.active(after, self._batch):
            after = actives[-1].asset
            found += [one for one in actives if one.book_key == book_key]
        return found

    async def hold_back(self, actives: Sequence[Active]) -> int:
        """Of these, those that are held: their jobs that do not run are dropped; how many run nothing and ended."""
        held = [one for one in actives if one.held]
        if not held:
            return 0
        jobs = await self._coordination.jobs(Selection(dispatches=[one.dispatch_id for one in held]))
        running = {job.dispatch_id for job in jobs if job.state is JobState.CLAIMED and job.live}
        waiting = [job.job_id for job in jobs if job.dispatch_id in running and job.state is not JobState.CLAIMED]
        if waiting:
            await self._coordination.discard_jobs(sorted(waiting))
        idle = [one for one in held if one.dispatch_id not in running]
        ended = await self._storage.roll_back([RollBack(one.asset, one.dispatch_id, Reason.PAUSED) for one in idle])
        await self._successors.release_and_wake(ended)
        return sum(one is not None for one in ended)
