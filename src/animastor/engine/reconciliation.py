"""Reconciliation: at start and every 60 s, what a crash or a disk may have left behind (CONTRACT 11).

Each step is isolated. Steps are repeatable, so two replicas at once do no harm.
"""

from __future__ import annotations

import asyncio

from animastor.engine.collecting import Collector
from animastor.engine.config import EngineConfig
from animastor.engine.drifting import Drift
from animastor.engine.eras import Eras
from animastor.engine.gate import Gate
from animastor.engine.isolating import Isolation
from animastor.engine.presence import Presence
from animastor.engine.pruning import Pruning
from animastor.engine.recovering import Recovery
from animastor.engine.requests import Requests
from animastor.engine.verifying import Verification
from animastor.protocol import Clock


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
        drift: Drift,
        pruning: Pruning,
        gate: Gate,
        isolation: Isolation,
        clock: Clock,
        config: EngineConfig,
    ) -> None:
        self._eras = eras
        self._recovery = recovery
        self._requests = requests
        self._presence = presence
        self._verification = verification
        self._collector = collector
        self._drift = drift
        self._pruning = pruning
        self._gate = gate
        self._isolation = isolation
        self._clock = clock
        self._config = config
        self.looked = asyncio.Event()  # the first round is over

    async def start(self) -> None:
        """Before the first tick. In a new era without a window, every attempt that the database knows is over."""
        if await self._eras.check() and not self._gate.in_window:
            await self._recovery.restart()

    async def run(self) -> None:
        """Reconcile now and then for ever. Raises `StorageUnavailableError`."""
        while True:
            await self.reconcile()
            self.looked.set()
            await self._clock.sleep(self._config.reconcile_s)

    async def reconcile(self) -> None:
        """One round."""
        await self._isolation.step("entering requests", self._requests.resume_preparing())
        await self._isolation.step("sweeping cancelled requests", self._requests.resume_sweeps())
        await self._isolation.step("looking at what waits", self._drift.look())
        await self._isolation.step("pruning the journal", self._pruning.look())
        if await self._gate.look() is None:
            await self._isolation.step("looking for artifacts", self._presence.look())
            await self._isolation.step("verifying artifacts", self._verification.look())
            await self._isolation.step("collecting artifacts", self._collector.collect())
