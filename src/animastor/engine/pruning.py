"""The journal is pruned in a slow rotating pass, and with it the dispatches of assets that are gone (CONTRACT 16)."""

from __future__ import annotations

from animastor.engine.ports import Storage


class Pruning:
    """Looks at a span of rows each time it is asked, and begins anew when it has seen all that is old."""

    def __init__(self, storage: Storage) -> None:
        self._storage = storage
        self._rows = self._dispatches = 0

    async def look(self) -> int:
        """One part of the pass; how many journal rows went."""
        gone, behind = await self._storage.prune(self._rows)
        self._rows = behind or 0
        _, behind = await self._storage.prune_dispatches(self._dispatches)
        self._dispatches = behind or 0
        return gone
