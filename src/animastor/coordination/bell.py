"""Wakes claims that wait, on any clock: a virtual one must be able to pass the whole wait without real time."""

from __future__ import annotations

import asyncio

from animastor.protocol import Clock


class Bell:
    """Whoever waits returns when the bell rings or the time is over, whichever is first. Missing a ring is harmless
    only for those who look again after each wait, as a claim does."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._waiting: dict[asyncio.Future[None], None] = {}  # in order, so that a run replays
        self.rings = 0  # so far: who looks before waiting sees whether it rang meanwhile

    def ring(self) -> None:
        """Wake everyone who waits now."""
        self.rings += 1
        for waiter in self._waiting:
            if not waiter.done():
                waiter.set_result(None)
        self._waiting.clear()

    async def wait(self, seconds: float) -> None:
        """Return at the next ring, and at the latest after so many seconds of the clock."""
        waiter: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._waiting[waiter] = None
        sleeper = asyncio.ensure_future(self._clock.sleep(seconds))
        try:
            await asyncio.wait((waiter, sleeper), return_when=asyncio.FIRST_COMPLETED)
        finally:
            self._waiting.pop(waiter, None)
            waiter.cancel()
            sleeper.cancel()
