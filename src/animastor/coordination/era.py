"""The era that a store holds (CONTRACT 11), its window, and the claim numbers that start behind it. Pure."""

from __future__ import annotations

from animastor.protocol import ERA_BITS


class Era:
    """No era: the store has lost what it knew. While it is closed nothing is admitted, entered, claimed or requeued."""

    def __init__(self, window: float) -> None:
        self._window = window
        self._opens_at = float("inf")
        self.number: int | None = None
        self.claims = 0  # given in this era

    def set(self, era: int, now: float, *, window: bool) -> None:
        """Take the era of the database; the window begins when there was none."""
        if self.number is None:
            self._opens_at = now + (self._window if window else 0.0)
        elif era <= self.number:
            return
        self.number = era
        self.claims = 0

    def closed(self, now: float) -> bool:
        """Whether nothing may begin."""
        return now < self._opens_at

    def closed_until(self, now: float) -> float:
        """When that is over; 0 when it is. Infinite without an era."""
        return self._opens_at if self.closed(now) else 0.0

    def next_claim(self) -> int:
        """A claim number greater than all before it, of earlier eras too. Only with an era."""
        assert self.number is not None
        self.claims += 1
        return self.number << ERA_BITS | self.claims
