"""What an engine does that does not schedule: those that do are woken by what it brought about."""

from __future__ import annotations

from animastor.engine.completing import Successors
from animastor.engine.isolating import Isolation
from animastor.engine.ports import Coordination
from animastor.engine.reaching import Reach
from animastor.engine.replanning import Replanner
from animastor.engine.waking import Bell

OWING_S = 2.0  # between tries while the coordination store is away
DAY_S = 86_400.0  # nothing comes by itself


class Handing:
    """Waits for the bell of its engine. A wake that is lost costs the others one tick."""

    def __init__(
        self,
        coordination: Coordination,
        replanner: Replanner,
        successors: Successors,
        isolation: Isolation,
        reach: Reach,
        bell: Bell,
    ) -> None:
        self._coordination = coordination
        self._replanner = replanner
        self._successors = successors
        self._isolation = isolation
        self._reach = reach
        self._bell = bell

    async def run(self) -> None:
        """Hand over until cancelled. Raises `StorageUnavailableError`."""
        while True:
            await self._bell.wait(OWING_S if self._successors.owes or self._reach.away else DAY_S)
            if not await self._isolation.step("catching up", self._catch_up()):
                continue
            await self._isolation.step("replanning", self._replanner.replan_asked())
            self._coordination.wake()

    async def _catch_up(self) -> None:
        if self._reach.away:
            await self._coordination.era()
            self._reach.back()
        await self._successors.pay()
