"""How loops wait: for an event, or for so many seconds of the injected clock, whichever comes first."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager

from animastor.protocol import Clock


class Bell:
    """Wakes the one loop that waits on it. A ring before the wait is not lost; many are as one."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._event = asyncio.Event()

    def ring(self) -> None:
        """End the present wait, or the next one at once."""
        self._event.set()

    async def wait(self, seconds: float) -> bool:
        """Return when rung (True) or after so many seconds (False). Always lets other tasks run first."""
        await asyncio.sleep(0)
        if not self._event.is_set():
            rung = asyncio.ensure_future(self._event.wait())
            slept = asyncio.ensure_future(self._clock.sleep(seconds))
            try:
                await asyncio.wait((rung, slept), return_when=asyncio.FIRST_COMPLETED)
            finally:
                rung.cancel()
                slept.cancel()
        was_rung = self._event.is_set()
        self._event.clear()
        return was_rung


class Changes:
    """Tells everyone who watches that something a person can see has changed."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._watchers: dict[Bell, None] = {}  # in order, so that a run replays

    def happened(self) -> None:
        """Wake all watchers."""
        for bell in self._watchers:
            bell.ring()

    @contextmanager
    def watching(self) -> Iterator[Bell]:
        """A bell that rings at each change while the block runs."""
        bell = Bell(self._clock)
        self._watchers[bell] = None
        try:
            yield bell
        finally:
            self._watchers.pop(bell, None)
