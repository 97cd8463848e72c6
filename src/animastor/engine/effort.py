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
        self._spent: dict[str, Spent] = {}

    def add(self, media: str, seconds: float, work: float) -> None:
        """A job of this media type kept a worker busy for so long and did so much."""
        so_far = self._spent.get(media, Spent())
        self._spent[media] = Spent(so_far.seconds + max(0.0, seconds), so_far.work + work)

    @property
    def spent(self) -> Mapping[str, Spent]:
        """What was spent so far, by media type."""
        return dict(self._spent)
