"""Collecting artifacts that nothing has used for a week: marked, bytes deleted, row deleted (CONTRACT 11)."""

from __future__ import annotations

from animastor.engine.ports import ArtifactStore, Storage


class Collector:
    """Deletes what storage marked. A crash in between leaves marked rows, which the next round is given again.

    A row goes a round after its bytes: until then a result whose bytes were looked at before they were deleted finds
    it marked, and is told to upload again.
    """

    def __init__(self, storage: Storage, artifacts: ArtifactStore, batch: int) -> None:
        self._storage = storage
        self._artifacts = artifacts
        self._batch = batch
        self._deleted: frozenset[str] = frozenset()  # in the round before

    async def collect_all(self, *, at_once: bool = False) -> int:
        """Delete the bytes of everything that may be collected now; how many. Their rows go with later rounds.

        `at_once`: of whatever nothing uses, however short the time.
        """
        gone, after = 0, ""
        while marked := await self._storage.collectable(self._batch, after=after, at_once=at_once):
            for checksum, suffix in marked:
                await self._artifacts.delete(checksum, suffix)
            after = marked[-1][0]
            gone += sum(checksum not in self._deleted for checksum, _ in marked)
            self._deleted |= {checksum for checksum, _ in marked}
        return gone

    async def collect(self) -> int:
        """One batch; how many artifacts are gone for good."""
        marked = await self._storage.collectable(self._batch)
        gone = [checksum for checksum, _ in marked if checksum in self._deleted]
        left = [one for one in marked if one[0] not in self._deleted]
        for checksum, suffix in left:
            await self._artifacts.delete(checksum, suffix)
        self._deleted = frozenset(checksum for checksum, _ in left)
        if gone:  # whoever has uploaded them again meanwhile, in vain so far, is welcome now
            await self._storage.collected(gone)
        return len(gone)
