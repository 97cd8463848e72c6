"""The era: a number of the database with a copy in the coordination store; raised when that is gone (CONTRACT 11)."""

from __future__ import annotations

from animastor.engine.gate import Gate
from animastor.engine.observing import Observer
from animastor.engine.ports import Coordination, Storage
from animastor.engine.reaching import Reach
from animastor.engine.reasons import Reason


class Eras:
    """Notices a coordination store that has lost everything. Where nothing ever began, nobody is waited for."""

    def __init__(
        self,
        *,
        storage: Storage,
        coordination: Coordination,
        gate: Gate,
        reach: Reach,
        observer: Observer,
        window_s: float,
    ) -> None:
        self._storage = storage
        self._coordination = coordination
        self._gate = gate
        self._reach = reach
        self._observer = observer
        self._window_s = window_s

    async def present(self) -> None:
        """Say that a server is there (workers' silence counts only then), and look whether the copy is."""
        era = await self._coordination.serving()
        self._reach.back()
        if era is None:
            await self.check()

    async def check(self) -> bool:
        """Whether the copy was missing; then a new era has begun, with its window where one is configured."""
        if await self._coordination.era() is not None:
            return False
        window_s = 0.0 if await self._storage.untouched() else self._window_s
        era = await self._storage.raise_era()
        if window_s > 0:
            self._gate.hold(window_s)
        await self._coordination.set_era(era, window=window_s > 0)
        await self._observer.recovered(Reason.ERA_WINDOW, era=era, window_s=window_s)
        return True
