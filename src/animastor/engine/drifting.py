"""Wait bits are pushed by whoever changes their cause; a slow rotating look makes sure of it (CONTRACT 11)."""

from __future__ import annotations

from animastor.engine.observing import Observer
from animastor.engine.ports import Storage
from animastor.engine.reasons import Reason
from animastor.engine.waking import Bell


class Drift:
    """Looks at so many assets a round, and starts anew when it has seen all."""

    def __init__(self, storage: Storage, observer: Observer, bell: Bell) -> None:
        self._storage = storage
        self._observer = observer
        self._bell = bell
        self._after = 0

    async def look(self) -> int:
        """One part of the pass; how many assets waited for nothing (`wait_drift`)."""
        mended, behind = await self._storage.recheck_waits(self._after)
        self._after = behind or 0
        if mended:
            await self._observer.recovered(Reason.WAIT_DRIFT, assets=mended)
            self._bell.ring()
        return mended
