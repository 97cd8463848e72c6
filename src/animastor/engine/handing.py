"""What an engine does that does not schedule: those that do are woken by what it brought about."""

from __future__ import annotations

from animastor.engine.isolating import Isolation
from animastor.engine.ports import Coordination
from animastor.engine.replanning import Replanner
from animastor.engine.waking import Bell

DAY_S = 86_400.0  # nothing comes by itself


class Handing:
    """Waits for the bell of its engine. A wake that is lost costs the others one tick."""

    def __init__(self, coordination: Coordination, replanner: Replanner, isolation: Isolation, bell: Bell) -> None:
        self._coordination = coordination
        self._replanner = replanner
        self._isolation = isolation
        self._bell = bell

    async def run(self) -> None:
        """Hand over until cancelled. Raises `StorageUnavailableError`."""
        while True:
            await self._bell.wait(DAY_S)
            await self._isolation.step("replanning", self._replanner.replan_asked())
            self._coordination.wake()
