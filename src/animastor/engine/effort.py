"""What finished work has cost: busy seconds of workers and the work done in them, per media type. For the time left."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Spent:
    """Busy seconds (from claim to result, over all workers) and the work that they did, in the media type's units."""

    seconds: float = 0.0
    work: float = 0.0

    def since(self, before: Spent | None) -> Spent:
        """What came after an earlier look."""
        return self if before is None else Spent(self.seconds - before.seconds, self.work - before.work)


class Effort:
    """Sums what each finished job, merges included, has cost."""

    def __init__(self) -> None:
        self._seconds: dict[str, float] = {}
        self._work: dict[str, float] = {}

    def add(self, media: str, seconds: float, work: float) -> None:
        """A job of this media type kept a worker busy for so long and did so much."""
        self._seconds[media] = self._seconds.get(media, 0.0) + max(0.0, seconds)
        self._work[media] = self._work.get(media, 0.0) + work

    @property
    def spent(self) -> Mapping[str, Spent]:
        """What was spent so far, by media type."""
        return {media: Spent(seconds, self._work[media]) for media, seconds in self._seconds.items()}
