"""Journal rows of what happened in the coordination store: written after the fact, marked `observed` (CONTRACT 16).

What admission refused is kept with the asset itself, so that a reason is told once, however many look.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterable, Sequence

from animastor.engine.ports import Circuit, CircuitChange, JournalRow, LostClaim, Storage
from animastor.engine.reasons import JournalType, Reason
from animastor.engine.states import State
from animastor.protocol import AssetId, Clock, DispatchId, Job, Ticket

CIRCUIT_ROWS = {
    Circuit.OPEN: JournalType.CIRCUIT_OPENED,
    Circuit.HALF_OPEN: JournalType.CIRCUIT_HALF_OPENED,
    Circuit.CLOSED: JournalType.CIRCUIT_CLOSED,
}
REMEMBERED = 100_000  # assets whose last reason is known
TOLD_S = 60.0  # how long it is known: storage keeps it as well, and what became of the asset meanwhile


class Observer:
    """Writes observed rows; nothing is written when there is nothing to say."""

    def __init__(self, storage: Storage, clock: Clock) -> None:
        self._storage = storage
        self._clock = clock
        self._reasons: OrderedDict[AssetId, tuple[str, float]] = OrderedDict()

    async def circuits(self, changes: Iterable[CircuitChange | None]) -> None:
        """Breakers that moved."""
        await self._write(
            self._row(None, CIRCUIT_ROWS[one.after], one.reason, pair=f"{one.pair.media}/{one.pair.lane}")
            for one in changes
            if one is not None
        )

    async def swept(self, lost: Iterable[LostClaim]) -> None:
        """Claims that a sweep ended."""
        await self._write(
            self._row(
                one.job.asset,
                JournalType.SWEPT,
                one.reason,
                one.job.dispatch_id,
                kind=one.job.kind,
                hash=one.job.input_hash,
                worker=one.worker,
                requeued=one.requeued,
            )
            for one in lost
        )

    async def relabelled(self, jobs: Iterable[Job]) -> None:
        """Running or queued jobs that a new dispatch adopted."""
        await self._write(
            self._row(
                job.asset, JournalType.RELABELLED, job.kind, job.dispatch_id, State.GENERATING, hash=job.input_hash
            )
            for job in jobs
        )

    async def misconfigured(self, ticket: Ticket, code: str, message: str) -> None:
        """A backend that is stopped on its worker; the job went back."""
        await self._write(
            [
                self._row(
                    ticket.asset,
                    JournalType.PART_FAILED,
                    Reason.MISCONFIGURED,
                    ticket.dispatch_id,
                    hash=ticket.input_hash,
                    worker=ticket.worker,
                    code=code,
                    message=message[:2000],
                )
            ]
        )

    async def recovered(self, reason: Reason, **details: int | float) -> None:
        """Something that reconciliation put right, or found wrong."""
        await self._write([self._row(None, JournalType.RECOVERED, reason, None, None, **details)])

    async def skipped(self, refused: Iterable[tuple[AssetId, str]]) -> None:
        """Assets that could not start; journalled where the reason is another one than the last time.

        Storage decides that; what was told just now, it is not asked again.
        """
        now = self._clock.now()
        news = [(asset, reason) for asset, reason in refused if not self._is_known(asset, reason, now)]
        if news:
            await self._storage.skip(news)
        for asset, reason in news:
            self._reasons[asset] = reason, now
            self._reasons.move_to_end(asset)
        while len(self._reasons) > REMEMBERED:
            self._reasons.popitem(last=False)

    def _is_known(self, asset: AssetId, reason: str, now: float) -> bool:
        before, at = self._reasons.get(asset, ("", 0.0))
        return before == reason and now - at < TOLD_S

    def started(self, assets: Iterable[AssetId]) -> None:
        """These assets started, so whatever refuses them next is news."""
        if self._reasons:
            for asset in assets:
                self._reasons.pop(asset, None)

    def _row(
        self,
        asset: AssetId | None,
        type_: JournalType,
        reason: str,
        dispatch_id: DispatchId | None = None,
        state: State | None = None,
        **details: object,
    ) -> JournalRow:
        return JournalRow(
            at=self._clock.now(),
            asset=asset,
            type=type_,
            state=state,
            reason=reason,
            dispatch_id=dispatch_id,
            actor="engine",
            observed=True,
            details=details,
        )

    async def _write(self, rows: Iterable[JournalRow]) -> None:
        batch: Sequence[JournalRow] = list(rows)
        if batch:
            await self._storage.observe(batch)
