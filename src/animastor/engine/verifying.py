"""Are the bytes of artifacts still the right ones? A rotating look at their checksums (CONTRACT 11).

At most 20 MB a second are read, counted from the start of the engine, so that it disturbs nobody. Processes that live
for seconds begin at a random place each time: so all bytes are looked at sooner or later, without a stored cursor.
"""

from __future__ import annotations

from random import Random

from animastor.engine.observing import Observer
from animastor.engine.ports import ArtifactStore, Storage
from animastor.engine.reasons import Reason
from animastor.protocol import Clock

RATE = 20e6  # bytes a second (CONTRACT 11)
AT_ONCE_S = 1.0  # the allowance of the first look, which comes right at the start
MOST_S = 60.0  # allowance that has not been used is not saved up beyond this
PAGE = 50


class Verification:
    """Reads as many artifacts as its allowance permits each time it is asked; damaged ones are given up."""

    def __init__(
        self, *, storage: Storage, artifacts: ArtifactStore, observer: Observer, clock: Clock, rng: Random
    ) -> None:
        self._storage = storage
        self._artifacts = artifacts
        self._observer = observer
        self._clock = clock
        self._after = f"{rng.getrandbits(256):064x}"
        self._looked_at: float | None = None
        self._left = 0.0  # bytes of the last allowance; negative when the last file was larger

    async def look(self) -> int:
        """How many assets lost damaged bytes. Raises `ArtifactStoreUnavailableError`."""
        now = self._clock.now()
        seconds = AT_ONCE_S if self._looked_at is None else now - self._looked_at
        self._looked_at = now
        self._left = min(self._left + RATE * seconds, RATE * MOST_S)
        damaged, began = list[str](), self._after
        turned = False
        while self._left > 0:
            rows = await self._storage.artifacts_after(self._after, PAGE)
            for checksum, suffix, size in rows:
                if turned and checksum > began:
                    return await self._give_up(damaged)
                self._after = checksum
                self._left -= size
                if not await self._is_whole(checksum, suffix):
                    damaged.append(checksum)
                if self._left <= 0:
                    break
            if len(rows) < PAGE and self._left > 0:
                if turned:
                    break
                self._after, turned = "", True
        return await self._give_up(damaged)

    async def _is_whole(self, checksum: str, suffix: str) -> bool:
        """Whether the bytes are right. Those that are missing are somebody else's to find."""
        try:
            if await self._artifacts.whole(checksum, suffix) is not False:
                return True
        except OSError:  # what cannot be read proves nothing
            return True
        await self._artifacts.delete(checksum, suffix)
        return False

    async def _give_up(self, damaged: list[str]) -> int:
        if not damaged:
            return 0
        assets = await self._storage.bytes_missing(damaged)
        await self._observer.recovered(Reason.CORRUPT_ARTIFACT, artifacts=len(damaged), assets=assets)
        return assets
