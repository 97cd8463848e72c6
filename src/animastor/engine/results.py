"""What workers deliver: results and failures, checked one by one and written in natural batches (CONTRACT 7, 9).

The order is: bytes checked → database → successor (merge) entered → claim settled → ended dispatches released →
answered. Each step may be repeated: a worker that got no answer delivers again and gets the same one.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Sequence
from dataclasses import dataclass
from random import Random
from typing import Any

from animastor.engine.alarms import sentence_of
from animastor.engine.batching import Batcher, Fault, in_halves
from animastor.engine.checking import Inspector
from animastor.engine.completing import Outcome, Successors
from animastor.engine.effort import Effort
from animastor.engine.failing import Failing
from animastor.engine.orders import Orders
from animastor.engine.ports import (
    Accepted,
    Counted,
    PartFailure,
    PartOrder,
    PartResult,
    Storage,
    Verdict,
)
from animastor.engine.reasons import Reason
from animastor.protocol import MERGE, AssetId, Clock, FailureType, Ticket, Uploaded

_IN_VAIN = frozenset({Reason.UNKNOWN_PART, Reason.ALREADY_ACCEPTED})  # no part names these bytes by this result
CORRUPT_LIMIT = 2  # corrupt bytes are transient so often, then permanent


@dataclass(frozen=True, slots=True)
class _Look:
    """A result with what its bytes are. `order`: None when nobody ordered it; `wrong`: why they are of no use."""

    uploaded: Uploaded
    order: PartOrder | None
    wrong: str | None = None
    gone: bool = False


@dataclass(frozen=True, slots=True)
class _Result:
    ticket: Ticket
    uploaded: Uploaded
    work: float


@dataclass(frozen=True, slots=True)
class _Failure:
    ticket: Ticket
    failure: FailureType
    code: str
    message: str


@dataclass(frozen=True, slots=True)
class _Taken:
    """The word for a delivery that the database has taken in, and what is still to be done about it."""

    reason: Reason
    outcome: Outcome | None


class Results:
    """Takes results and failures for tickets that the hub has verified. Works while `run` is running."""

    def __init__(
        self,
        *,
        storage: Storage,
        inspector: Inspector,
        successors: Successors,
        failing: Failing,
        effort: Effort,
        ordered: Orders,
        clock: Clock,
        rng: Random,
        limit: int,
    ) -> None:
        self._storage = storage
        self._inspector = inspector
        self._successors = successors
        self._failing = failing
        self._effort = effort
        self._ordered = ordered
        self._clock = clock
        self._rng = rng
        self._orders: Batcher[tuple[AssetId, str], PartOrder | None] = Batcher(storage.part_orders, limit)
        self._results: Batcher[_Result, _Taken] = Batcher(self._accept, limit)
        self._failures: Batcher[_Failure, _Taken] = Batcher(self._count, limit)
        self._outcomes: Batcher[Outcome, None] = Batcher(self._follow, limit)

    @property
    def loops(self) -> tuple[Batcher[Any, Any], ...]:
        """What has to run for calls to be answered. While one batch is followed up, the next is written."""
        return self._orders, self._results, self._failures, self._outcomes

    async def finish(self, ticket: Ticket, uploaded: Uploaded, first: Awaitable[None] | None = None) -> Reason:
        """A result whose bytes are in the artifact store. The answer is the contract's word.

        `first` is done beside the look at the bytes, and before the result is taken in. Raises what it raises, and
        `ArtifactStoreUnavailableError`, `StorageUnavailableError` or `EngineStoppedError`: nothing was decided, the
        same call may be repeated.
        """
        looked = self._look_at(ticket, uploaded)
        look = await looked if first is None else (await asyncio.gather(looked, first))[0]
        order, uploaded = look.order, look.uploaded
        if look.gone:
            return Reason.ARTIFACT_GONE
        if order is not None and look.wrong is not None:
            await self._storage.uploaded_in_vain(uploaded)
            return await self._corrupt(ticket, order, look.wrong)
        taken = await self._results(_Result(ticket, uploaded, order.work if order is not None else 0.0))
        if taken.reason in _IN_VAIN:
            await self._storage.uploaded_in_vain(uploaded)
        return await self._answer(taken)

    async def _look_at(self, ticket: Ticket, uploaded: Uploaded) -> _Look:
        order = self._ordered.take(ticket.asset, ticket.input_hash)
        if order is None:
            order = await self._orders((ticket.asset, ticket.input_hash))
        if order is None or order.artifact is not None:
            return _Look(uploaded, order)
        inspected = await self._inspector.inspect(order, uploaded)
        if inspected is None:
            return _Look(uploaded, order, gone=True)
        facts, wrong = inspected
        known = Uploaded(uploaded.checksum, uploaded.size, uploaded.suffix, facts, uploaded.notes)
        return _Look(known, order, wrong)

    async def fail(self, ticket: Ticket, failure: FailureType, code: str, message: str) -> Reason:
        """A failure. The answer is the contract's word: `counted`, `stale_claim`, `misconfigured`, `bad_input`.

        Raises as `finish` does.
        """
        if failure is FailureType.MISCONFIGURED:
            return await self._successors.hand_back(ticket, code, message)
        if failure is FailureType.ORCHESTRATION:
            self._failing.report([(ticket.asset, f"{code}: {message}")])
        if code in (Reason.BAD_INPUT, Reason.ARTIFACT_MISSING):
            if bad := await self._unusable(ticket):
                return await self._withdraw(ticket, bad)
            failure = FailureType.TRANSIENT
        return await self._answer(await self._failures(_Failure(ticket, failure, code, message)))

    async def _answer(self, taken: _Taken) -> Reason:
        """The word for it, once everything that follows has been done."""
        if taken.outcome is not None:
            await self._outcomes(taken.outcome)
        return taken.reason

    async def _corrupt(self, ticket: Ticket, order: PartOrder, wrong: str) -> Reason:
        lasting = order.corrupt >= CORRUPT_LIMIT
        failure = FailureType.PERMANENT if lasting else FailureType.TRANSIENT
        await self._answer(await self._failures(_Failure(ticket, failure, Reason.CORRUPT_ARTIFACT, wrong)))
        return Reason.CORRUPT_ARTIFACT

    async def _unusable(self, ticket: Ticket) -> Sequence[tuple[str, str]]:
        """What a job has rightly called bad: a merge's parts that do not decode here, another's spoiled inputs."""
        if ticket.kind == MERGE:
            return await self._inspector.undecodable(ticket.asset)
        return await self._inspector.spoiled(ticket.asset, ticket.input_hash)

    async def _withdraw(self, ticket: Ticket, bad: Sequence[tuple[str, str]]) -> Reason:
        """What is of no use here either is made again; the job that found it is over, uncounted.

        The bytes are given up everywhere: else the same ones would be taken over again from another asset.
        """
        await self._storage.withdraw(ticket.asset, [checksum for checksum, _ in bad])
        await self._inspector.give_up(bad)
        verdict = Verdict(ticket.job_id, ticket.claim_no, ticket.worker, called_backend=False, counted=False)
        await self._outcomes(Outcome(verdict, ticket.asset, replan=True))
        return Reason.BAD_INPUT

    async def _accept(self, batch: Sequence[_Result]) -> Sequence[_Taken]:
        results = [_part_result(one) for one in batch]
        taken: list[_Taken] = []
        faults: list[tuple[AssetId, str]] = []
        for one, accepted in zip(batch, await in_halves(self._storage.accept, results), strict=True):
            if isinstance(accepted, Fault):
                faults.append((one.ticket.asset, sentence_of(accepted.error)))
                taken.append(_Taken(Reason.ORCHESTRATION, Outcome(_success(one.ticket), one.ticket.asset)))
            elif accepted.reason is Reason.ARTIFACT_GONE:  # to be uploaded again: the claim goes on
                taken.append(_Taken(accepted.reason, None))
            else:
                taken.append(_Taken(accepted.reason, _after_result(one.ticket, accepted)))
                self._measure(one, accepted)
        await self._failing.fail(faults)
        return taken

    def _measure(self, one: _Result, accepted: Accepted) -> None:
        if accepted.reason in (Reason.ACCEPTED, Reason.LATE_ACCEPT):
            self._effort.add(one.ticket.media, self._clock.now() - one.ticket.issued_at, one.work)

    async def _count(self, batch: Sequence[_Failure]) -> Sequence[_Taken]:
        failures = [_part_failure(one, self._rng.random()) for one in batch]
        taken: list[_Taken] = []
        faults: list[tuple[AssetId, str]] = []
        for one, counted in zip(batch, await in_halves(self._storage.count_failures, failures), strict=True):
            if isinstance(counted, Fault):
                faults.append((one.ticket.asset, sentence_of(counted.error)))
                taken.append(_Taken(Reason.ORCHESTRATION, Outcome(_verdict(one, None), one.ticket.asset)))
            else:
                taken.append(_Taken(counted.reason, _after_failure(one, counted)))
        await self._failing.fail(faults)
        return taken

    async def _follow(self, batch: Sequence[Outcome]) -> Sequence[None]:
        await self._successors.follow(batch)
        return [None] * len(batch)


def _part_result(one: _Result) -> PartResult:
    ticket = one.ticket
    return PartResult(
        ticket.asset,
        ticket.input_hash,
        ticket.kind,
        ticket.dispatch_id,
        ticket.fence,
        ticket.claim_no,
        one.uploaded,
    )


def _part_failure(one: _Failure, jitter: float) -> PartFailure:
    ticket = one.ticket
    return PartFailure(
        ticket.asset,
        ticket.input_hash,
        ticket.kind,
        ticket.claim_no,
        one.failure,
        one.code,
        one.message[:2000],
        ticket.worker,
        jitter,
    )


def _success(ticket: Ticket) -> Verdict:
    return Verdict(ticket.job_id, ticket.claim_no, ticket.worker, called_backend=ticket.kind != MERGE)


def _verdict(one: _Failure, requeue_at: float | None) -> Verdict:
    ticket = one.ticket
    return Verdict(
        ticket.job_id,
        ticket.claim_no,
        ticket.worker,
        one.failure,
        called_backend=ticket.kind != MERGE,
        requeue_at=requeue_at,
    )


def _after_result(ticket: Ticket, accepted: Accepted) -> Outcome:
    made = accepted.reason in (Reason.ACCEPTED, Reason.LATE_ACCEPT, Reason.ALREADY_ACCEPTED)
    return Outcome(
        _success(ticket),
        ticket.asset,
        merge=accepted.merge,
        current=accepted.current,
        fence=accepted.fence,
        ended=accepted.ended,
        replan=accepted.replan,
        repeated=accepted.reason is Reason.ALREADY_ACCEPTED,
        supersedes=made,
    )


def _after_failure(one: _Failure, counted: Counted) -> Outcome:
    over = counted.lost or counted.held or counted.ended is not None
    return Outcome(
        _verdict(one, None if over else counted.not_before),
        one.ticket.asset,
        merge=counted.merge,
        current=counted.current,
        fence=counted.fence,
        ended=counted.ended,
        retried=counted.reason is Reason.COUNTED and not over,
    )
