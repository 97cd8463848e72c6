"""Real time, for the composition root. Tests use a virtual clock with the same two methods (`protocol.Clock`)."""

from __future__ import annotations

import asyncio
import time


class SystemClock:
    """Seconds since the epoch that never step: wall time is read once, after that only monotonic time is added.

    So a corrected wall clock neither ends nor prolongs a lease. While a machine is suspended this clock stands still.
    """

    def __init__(self) -> None:
        self._base = time.time() - time.monotonic()

    def now(self) -> float:
        """Seconds since the epoch."""
        return self._base + time.monotonic()

    async def sleep(self, seconds: float) -> None:
        """Return after so many seconds; at once, but not before other tasks had their turn, when not positive."""
        await asyncio.sleep(max(0.0, seconds))
