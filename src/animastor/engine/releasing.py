"""What follows the end of a dispatch: the coordination store lets go of it, and that is written down (CONTRACT 8)."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Sequence

from animastor.engine.ports import Coordination, CoordinationUnavailableError, Ended, Storage
from animastor.engine.reaching import Reach

BATCH = 500  # of one transaction


class Releaser:
    """Releases ended dispatches. May be repeated, by any replica, and may find nothing.

    That they were released is written down by `run`, in natural batches: nobody waits for it. A crash in between
    leaves it to the keeper, and so does a coordination store that is away.
    """

    def __init__(self, storage: Storage, coordination: Coordination, reach: Reach) -> None:
        self._storage = storage
        self._coordination = coordination
        self._reach = reach
        self._released: list[Ended] = []
        self._some = asyncio.Event()

    async def run(self) -> None:
        """Write down what was released, until cancelled. Raises `StorageUnavailableError`."""
        while True:
            await self._some.wait()
            batch, self._released = self._released[:BATCH], self._released[BATCH:]
            if not self._released:
                self._some.clear()
            await self._storage.mark_released(batch)

    async def release(self, ended: Iterable[Ended | None]) -> int:
        """Release those that are given; how many. None while the coordination store is away."""
        batch = [one for one in ended if one is not None]
        if not batch or not await self._let_go(batch):
            return 0
        self._released += batch
        self._some.set()
        return len(batch)

    async def release_unreleased(self, limit: int) -> int:
        """Release what ended and was never marked released: the keeper's part."""
        return await self.release(await self._storage.unreleased(limit))

    async def require_released(self, limit: int) -> None:
        """Return when whatever had ended is released, so that nothing of it is claimed any more.

        Raises `CoordinationUnavailableError`.
        """
        while ended := await self._storage.unreleased(limit):
            await self._coordination.release(ended)
            await self._storage.mark_released(ended)

    async def never_begun(self, ended: Iterable[Ended]) -> None:
        """Give back what an admission took for a candidate that never became a dispatch: it has no row to mark."""
        if batch := list(ended):
            await self._let_go(batch)  # else the lease of an admission is over by itself in 15 s

    async def _let_go(self, batch: Sequence[Ended]) -> bool:
        if self._reach.away:
            return False
        try:
            await self._coordination.release(batch)
        except CoordinationUnavailableError as error:
            self._reach.lost(error)
            return False
        return True
