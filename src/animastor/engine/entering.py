"""Entering jobs into the queue, for dispatches that have begun; refused ones are rolled back (CONTRACT 5)."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterable, Sequence

from animastor.engine.alarms import Alarm, Report, sentence_of
from animastor.engine.observing import Observer
from animastor.engine.ports import (
    Coordination,
    CoordinationUnavailableError,
    Enqueued,
    RollBack,
    Storage,
    StorageUnavailableError,
)
from animastor.engine.reaching import Reach
from animastor.engine.reasons import Reason
from animastor.engine.releasing import Releaser
from animastor.protocol import AssetId, DispatchId, Job, JobId

REMEMBERED = 20_000


class Entrance:
    """Enqueues jobs, and says which dispatches were refused."""

    def __init__(
        self,
        *,
        storage: Storage,
        coordination: Coordination,
        releaser: Releaser,
        observer: Observer,
        reach: Reach,
        report: Report,
        backoff_s: float,
        batch: int,
    ) -> None:
        self._storage = storage
        self._coordination = coordination
        self._releaser = releaser
        self._observer = observer
        self._reach = reach
        self._report = report
        self._backoff_s = backoff_s
        self._batch = batch
        self._doubtful: OrderedDict[JobId, None] = OrderedDict()

    def doubt(self, jobs: Iterable[JobId]) -> None:
        """These were made, or given up, just now, or may have been: whoever read that they are missing, asks again."""
        for job in jobs:
            self._doubtful[job] = None
            self._doubtful.move_to_end(job)
        while len(self._doubtful) > REMEMBERED:
            self._doubtful.popitem(last=False)

    async def enter(self, jobs: Sequence[Job]) -> list[Job]:
        """Enqueue jobs; gives those that were refused because their dispatch holds no lease (any more)."""
        refused: list[Job] = []
        for start in range(0, len(jobs), self._batch):
            batch = await self._still_missing(jobs[start : start + self._batch])
            answers = await self._coordination.enqueue(batch)
            await self._drop_what_came(batch)
            refused += [
                job for job, answer in zip(batch, answers, strict=True) if answer is Enqueued.NO_ACTIVE_DISPATCH
            ]
            await self._observer.relabelled(
                job for job, answer in zip(batch, answers, strict=True) if answer is Enqueued.RELABELLED
            )
        return refused

    async def _drop_what_came(self, entered: Sequence[Job]) -> None:
        """What was made or given up while it was on its way into the queue, goes out again."""
        missing = {job.job_id for job in await self._still_missing(entered)}
        if gone := [job.job_id for job in entered if job.job_id not in missing]:
            await self._coordination.discard_jobs(gone)

    async def _still_missing(self, jobs: Sequence[Job]) -> Sequence[Job]:
        """Without the doubtful ones that the database does not call missing, under their dispatch, by now."""
        asked: set[JobId] = set()
        while doubtful := [job for job in jobs if job.job_id in self._doubtful and job.job_id not in asked]:
            asked.update(job.job_id for job in doubtful)
            actives = await self._storage.active_of(sorted({job.asset for job in doubtful}))
            missing = {(one.dispatch_id, source.hash) for one in actives for source in one.missing}
            gone = {job.job_id for job in doubtful if (job.dispatch_id, job.input_hash) not in missing}
            jobs = [job for job in jobs if job.job_id not in gone]
        return jobs

    async def enter_or_roll_back(self, jobs: Sequence[Job]) -> set[DispatchId]:
        """Enqueue the first jobs of dispatches; those refused or failed are rolled back (`enqueue_failed`)."""
        try:
            refused = await self.enter(jobs)
        except StorageUnavailableError:
            raise
        except CoordinationUnavailableError as error:
            self._reach.lost(error)
            refused = list(jobs)
        except Exception as error:  # noqa: BLE001 - the dispatches are rolled back and the cause reported
            self._report(Alarm(Reason.ENQUEUE_FAILED, sentence_of(error)))
            refused = list(jobs)
        dispatches: dict[DispatchId, AssetId] = {job.dispatch_id: job.asset for job in refused}
        if dispatches:
            ended = await self._storage.roll_back(
                [
                    RollBack(asset, dispatch, Reason.ENQUEUE_FAILED, delay_s=self._backoff_s)
                    for dispatch, asset in dispatches.items()
                ]
            )
            await self._releaser.release(ended)
        return set(dispatches)
