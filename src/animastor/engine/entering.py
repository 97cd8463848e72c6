"""Entering jobs into the queue, for dispatches that have begun; refused ones are rolled back (CONTRACT 5)."""

from __future__ import annotations

from collections.abc import Sequence

from animastor.engine.alarms import Alarm, Report, sentence_of
from animastor.engine.observing import Observer
from animastor.engine.ports import Coordination, Enqueued, RollBack, Storage, StorageUnavailableError
from animastor.engine.reasons import Reason
from animastor.engine.releasing import Releaser
from animastor.protocol import AssetId, DispatchId, Job


class Entrance:
    """Enqueues jobs, and says which dispatches were refused."""

    def __init__(
        self,
        *,
        storage: Storage,
        coordination: Coordination,
        releaser: Releaser,
        observer: Observer,
        report: Report,
        backoff_s: float,
        batch: int,
    ) -> None:
        self._storage = storage
        self._coordination = coordination
        self._releaser = releaser
        self._observer = observer
        self._report = report
        self._backoff_s = backoff_s
        self._batch = batch

    async def enter(self, jobs: Sequence[Job]) -> list[Job]:
        """Enqueue jobs; gives those that were refused because their dispatch holds no lease (any more)."""
        refused: list[Job] = []
        for start in range(0, len(jobs), self._batch):
            batch = jobs[start : start + self._batch]
            answers = await self._coordination.enqueue(batch)
            refused += [
                job for job, answer in zip(batch, answers, strict=True) if answer is Enqueued.NO_ACTIVE_DISPATCH
            ]
            await self._observer.relabelled(
                job for job, answer in zip(batch, answers, strict=True) if answer is Enqueued.RELABELLED
            )
        return refused

    async def enter_or_roll_back(self, jobs: Sequence[Job]) -> set[DispatchId]:
        """Enqueue the first jobs of dispatches; those refused or failed are rolled back (`enqueue_failed`)."""
        try:
            refused = await self.enter(jobs)
        except StorageUnavailableError:
            raise
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
