"""Collecting artifacts that nothing has used for a week: marked, bytes deleted, row deleted (CONTRACT 11)."""

from __future__ import annotations

from animastor.engine.ports import ArtifactStore, Storage


class Collector:
    """Deletes what storage marked. A crash in between leaves marked rows, which the next round is given again."""

    def __init__(self, storage: Storage, artifacts: ArtifactStore, batch: int) -> None:
        self._storage = storage
        self._artifacts = artifacts
        self._batch = batch

    async def collect(self) -> int:
        """One batch; how many artifacts were deleted."""
        marked = await self._storage.collectable(self._batch)
        for checksum, suffix in marked:
            await self._artifacts.delete(checksum, suffix)
        if marked:
            await self._storage.collected([checksum for checksum, _ in marked])
        return len(marked)
