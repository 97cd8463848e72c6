"""The circuit breaker of one pair (CONTRACT 9). Pure: time, permits and the books at work are passed in.

CLOSED → OPEN after failures in a row; OPEN → HALF_OPEN by an admission once it has cooled; HALF_OPEN → CLOSED or OPEN
by the verdict of a permit holder. Nothing else moves it. Permits are no state of the breaker: a permit is a mark on a
lease, so it is gone with the lease.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Collection

from animastor.coordination.limits import Limits
from animastor.engine.ports import Circuit
from animastor.engine.reasons import Reason
from animastor.protocol import BookKey


class Breaker:
    """Counts failures without a success between them, and says what may be admitted and claimed."""

    __slots__ = ("_failures", "_limits", "opened_at", "state")

    def __init__(self, limits: Limits) -> None:
        self._limits = limits
        self.state = Circuit.CLOSED
        self.opened_at = 0.0
        self._failures: deque[tuple[float, BookKey]] = deque()

    @property
    def cooled_at(self) -> float:
        """When an open breaker lets a test through; 0 when it is not open."""
        return self.opened_at + self._limits.breaker_cool if self.state is Circuit.OPEN else 0.0

    def refusal(self, now: float, permits: int) -> Reason | None:
        """Why nothing may be admitted now, with so many permits out; None when something may."""
        if self.state is Circuit.CLOSED:
            return None
        if self.state is Circuit.OPEN:
            return Reason.CIRCUIT_OPEN if now < self.cooled_at else None
        return Reason.HALF_OPEN_LIMIT if permits >= self._limits.permits else None

    def begin_test(self) -> bool:
        """A test was admitted. True: it moved the breaker to HALF_OPEN."""
        moved = self.state is Circuit.OPEN
        self.state = Circuit.HALF_OPEN
        return moved

    def succeeded(self, *, permit: bool) -> bool:
        """A backend call worked. True: it closed the breaker."""
        if self.state is Circuit.CLOSED:
            self._failures.clear()
            return False
        if self.state is Circuit.OPEN or not permit:
            return False
        self.state = Circuit.CLOSED
        self._failures.clear()
        return True

    def failed(self, now: float, book: BookKey, at_work: Callable[[], Collection[BookKey]], *, permit: bool) -> bool:
        """A backend call failed (transient or infrastructure). True: it opened the breaker.

        `at_work` gives the books that have work in the pair; when they are two, the failures must be of two.
        """
        if self.state is Circuit.OPEN or (self.state is Circuit.HALF_OPEN and not permit):
            return False
        if self.state is Circuit.CLOSED and not self._enough(now, book, at_work):
            return False
        self.state = Circuit.OPEN
        self.opened_at = now
        self._failures.clear()
        return True

    def _enough(self, now: float, book: BookKey, at_work: Callable[[], Collection[BookKey]]) -> bool:
        self._failures.append((now, book))
        while now - self._failures[0][0] > self._limits.breaker_period:
            self._failures.popleft()
        if len(self._failures) < self._limits.breaker_failures:
            return False
        return len({failed for _, failed in self._failures}) > 1 or len({book, *at_work()}) == 1
