"""Ids that are remembered for a fixed time after they were last marked: released dispatches, workers that left."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence


class Marks:
    """A set of ids whose members leave by themselves. Forgetting costs as much as there is to forget."""

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds
        self._until: dict[str, float] = {}
        self._batches: deque[tuple[float, Sequence[str]]] = deque()

    def add(self, ids: Sequence[str], now: float) -> None:
        """Mark ids, or mark them again from now on."""
        until = now + self._seconds
        self._until.update(dict.fromkeys(ids, until))
        self._batches.append((until, ids))

    def remove(self, marked: str) -> None:
        """Forget an id at once."""
        self._until.pop(marked, None)

    def __contains__(self, marked: str) -> bool:
        return marked in self._until

    def __len__(self) -> int:
        return len(self._until)

    def expire(self, now: float) -> None:
        """Forget what was last marked too long ago; to be called before asking."""
        while self._batches and self._batches[0][0] <= now:
            for marked in self._batches.popleft()[1]:
                if self._until.get(marked, now + 1) <= now:
                    del self._until[marked]
