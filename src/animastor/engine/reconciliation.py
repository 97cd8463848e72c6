"""Reconciliation: at start and every 60 s, what a crash or a disk may have left behind (CONTRACT 11).

Each step is isolated. Of all replicas one does a round, and none the next one before it is time: so what a round may
read in a second is what the installation reads. As steps are repeatable, two at once would do no harm.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Awaitable

from animastor.engine.collecting import Collector
from animastor.engine.config import EngineConfig
from animastor.engine.deleting import Deletion
from animastor.engine.drifting import Drift
from animastor.engine.eras import Eras
from animastor.engine.examining import DAMAGED, DELETIONS, INTERRUPTED, MISSING, PREPARING, SWEEPING, WAIT_DRIFT
from animastor.engine.gate import Gate
from animastor.engine.isolating import Isolation
from animastor.engine.presence import Presence
from animastor.engine.pruning import Pruning
from animastor.engine.recovering import Recovery
from animastor.engine.requests import Requests
from animastor.engine.turns import Turn, Turns
from animastor.engine.verifying import Verification
from animastor.protocol import Clock

NAME = "reconciliation"  # its turn
COLLECTED = "collected"  # what nothing uses went: nothing was wrong with it
REST = 0.9  # of the time between two rounds: so long no other replica begins one


class Reconciliation:
    """Runs the steps in turn."""

    def __init__(
        self,
        *,
        eras: Eras,
        recovery: Recovery,
        requests: Requests,
        presence: Presence,
        verification: Verification,
        collector: Collector,
        deletion: Deletion,
        drift: Drift,
        pruning: Pruning,
        gate: Gate,
        isolation: Isolation,
        turns: Turns,
        clock: Clock,
        config: EngineConfig,
    ) -> None:
        self._eras = eras
        self._recovery = recovery
        self._requests = requests
        self._looks = (
            ("looking for artifacts", MISSING, presence.look),
            ("verifying artifacts", DAMAGED, verification.look),
            ("collecting artifacts", COLLECTED, collector.collect),
        )
        self._deletion = deletion
        self._drift = drift
        self._pruning = pruning
        self._gate = gate
        self._isolation = isolation
        self._turns = turns
        self._clock = clock
        self._config = config
        self._resting: Turn | None = None
        self.looked = asyncio.Event()  # the first round is over
        self.mended: Counter[str] = Counter()  # what was put right since the start, by the names of findings

    async def start(self) -> None:
        """Before the first tick. In a new era without a window, every attempt that the database knows is over."""
        if await self._eras.check() and not self._gate.in_window:
            await self._count(INTERRUPTED, self._recovery.restart())

    async def run(self) -> None:
        """Reconcile now and then for ever. Raises `StorageUnavailableError`."""
        try:
            while True:
                await self.reconcile()
                self.looked.set()
                await self._clock.sleep(self._config.reconcile_s)
        finally:
            await self._end_rest()  # another one may begin at once

    async def reconcile(self) -> None:
        """One round."""
        await self._isolation.step("reconciling", self._in_turn())

    async def _in_turn(self) -> None:
        """Raises `TurnLostError` and `CoordinationUnavailableError`: the rest is another's, or the next round's."""
        await self._end_rest()
        turn = await self._turns.take([NAME])
        if not turn.has(NAME):
            return
        self._resting = turn
        try:
            await self._steps(turn)
        finally:
            await turn.rest(REST * self._config.reconcile_s)

    async def _end_rest(self) -> None:
        if self._resting is not None:
            await self._resting.end()
            self._resting = None

    async def _steps(self, turn: Turn) -> None:
        await self._isolation.step("entering requests", self._count(PREPARING, self._requests.resume_preparing()))
        await turn.check()
        await self._isolation.step("sweeping cancelled requests", self._count(SWEEPING, self._requests.resume_sweeps()))
        await turn.check()
        await self._isolation.step("finishing deletions", self._count(DELETIONS, self._deletion.resume()))
        await turn.check()
        await self._isolation.step("looking at what waits", self._count(WAIT_DRIFT, self._drift.look()))
        await turn.check()
        await self._isolation.step("pruning the journal", self._pruning.look())
        if await self._gate.look() is not None:
            return
        for name, found, step in self._looks:
            await turn.check()
            await self._isolation.step(name, self._count(found, step()))

    async def _count(self, name: str, step: Awaitable[int]) -> None:
        self.mended[name] += await step
