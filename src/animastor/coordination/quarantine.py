"""The quarantine of one worker (CONTRACT 9): one that fails at everything gets no claims for a while. Pure."""

from __future__ import annotations

from collections import deque

from animastor.coordination.limits import Limits


class Quarantine:
    """Counts the failures of a worker. Each quarantine is twice as long as the one before, until a success."""

    __slots__ = ("_failures", "_level", "_limits", "until")

    def __init__(self, limits: Limits) -> None:
        self._limits = limits
        self._failures: deque[float] = deque()
        self._level = 0
        self.until = 0.0

    def holds(self, now: float) -> bool:
        """Whether the worker gets nothing now."""
        return now < self.until

    def failed(self, now: float) -> bool:
        """Count a failure. True: the worker is quarantined from now on."""
        self._failures.append(now)
        while now - self._failures[0] > self._limits.quarantine_period:
            self._failures.popleft()
        if len(self._failures) <= self._limits.quarantine_failures or self.holds(now):
            return False
        length = min(self._limits.quarantine_first * 2**self._level, self._limits.quarantine_longest)
        self.until = now + length
        self._level += 1
        self._failures.clear()
        return True

    def succeeded(self) -> None:
        """The next quarantine is a short one again; one that holds goes on."""
        self._level = 0
