"""Claims that a sweep ended: counted against their part, and dropped where that was one too many (CONTRACT 6, 9)."""

from __future__ import annotations

from collections.abc import Sequence
from random import Random

from animastor.engine.alarms import sentence_of
from animastor.engine.batching import Fault, in_halves
from animastor.engine.completing import Successors
from animastor.engine.failing import Failing
from animastor.engine.observing import Observer
from animastor.engine.ports import Coordination, Counted, LostClaim, PartFailure, Storage, Verdict
from animastor.engine.reasons import Reason
from animastor.protocol import AssetId, FailureType, JobId

MESSAGES = {
    Reason.WORKER_SILENT: "the worker fell silent",
    Reason.JOB_TIMEOUT: "the job made no progress for too long and its worker did not end it",
}


class Sweeper:
    """Ends silent and overdue claims. The coordination store queues their jobs again by itself, at once."""

    def __init__(
        self,
        *,
        storage: Storage,
        coordination: Coordination,
        successors: Successors,
        failing: Failing,
        observer: Observer,
        rng: Random,
        batch: int,
    ) -> None:
        self._storage = storage
        self._coordination = coordination
        self._successors = successors
        self._failing = failing
        self._observer = observer
        self._rng = rng
        self._batch = batch

    async def sweep(self) -> int:
        """One sweep; how many claims it ended."""
        await self._settle_accepted()
        lost = await self._coordination.sweep()
        if lost:
            await self._observer.swept(lost)
            await self._count([one for one in lost if one.requeued])  # whoever was told to stop need not be heard of
        return len(lost)

    async def _settle_accepted(self) -> None:
        """Settle silent claims whose results are in, say: whoever took them in has died since, or stands still.

        Queued again, such a job could be begun before anybody found that it is not wanted any more.
        """
        silent = await self._coordination.silent(self._batch)
        if not silent:
            return
        missing = await self._storage.missing_of([(one.asset, one.input_hash) for one in silent])
        over = [
            Verdict(one.job_id, one.claim_no, one.worker, called_backend=False, counted=False)
            for one in silent
            if (one.asset, one.input_hash) not in missing
        ]
        if over:
            await self._coordination.settle(over)

    async def _count(self, lost: Sequence[LostClaim]) -> None:
        failures = [_failure(one, self._rng.random()) for one in lost]
        over: set[JobId] = set()
        ended = []
        faults: list[tuple[AssetId, str]] = []
        for one, counted in zip(lost, await in_halves(self._storage.count_failures, failures), strict=True):
            if isinstance(counted, Counted):
                ended.append(counted.ended)
                if counted.lost or counted.held:
                    over.add(one.job.job_id)
            elif isinstance(counted, Fault):
                faults.append((one.job.asset, sentence_of(counted.error)))
        await self._coordination.discard_jobs(sorted(over))
        await self._failing.fail(faults)
        await self._successors.release_and_wake(ended)


def _failure(one: LostClaim, jitter: float) -> PartFailure:
    silent = one.reason is Reason.WORKER_SILENT
    return PartFailure(
        one.job.asset,
        one.job.input_hash,
        one.job.kind,
        one.claim_no,
        FailureType.INFRASTRUCTURE if silent else FailureType.TRANSIENT,
        Reason.WORKER_VANISHED if silent else one.reason,
        MESSAGES.get(one.reason, "the claim was ended by a sweep"),
        one.worker,
        jitter,
    )
