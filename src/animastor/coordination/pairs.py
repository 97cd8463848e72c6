"""What is kept for each pair (media type, lane): its breaker, and which leases, permits and jobs belong to it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from animastor.coordination.breaker import Breaker
from animastor.coordination.limits import Limits
from animastor.protocol import AssetId, JobId, Pair

if TYPE_CHECKING:
    from animastor.coordination.entries import Entry
    from animastor.coordination.leases import LeaseRecord


class PairRecord:
    """A pair's breaker and the index of what is its own."""

    __slots__ = ("breaker", "jobs", "leases", "pair", "permits")

    def __init__(self, pair: Pair, limits: Limits) -> None:
        self.pair = pair
        self.breaker = Breaker(limits)
        self.leases: dict[AssetId, LeaseRecord] = {}
        self.permits: dict[AssetId, LeaseRecord] = {}
        self.jobs: dict[JobId, Entry] = {}


class Pairs:
    """All pairs that were ever named, and which profiles make each media type.

    A profile belongs to a media type once a job of that media type named it (merges are not counted: a worker's
    capacity to merge says nothing about how much it can make). Until then the least quota holds.
    """

    def __init__(self, limits: Limits) -> None:
        self._limits = limits
        self._records: dict[tuple[str, str], PairRecord] = {}
        self._profiles: dict[str, set[str]] = {}

    def of(self, pair: Pair) -> PairRecord:
        """The record of a pair."""
        return self.at(pair.media, pair.lane)

    def at(self, media: str, lane: str) -> PairRecord:
        """The record of a pair, by its two names."""
        record = self._records.get((media, lane))
        if record is None:
            record = self._records[media, lane] = PairRecord(Pair(media, lane), self._limits)
        return record

    def profiles(self, media: str) -> set[str]:
        """The profiles that make a media type, as far as jobs have named them; to be added to."""
        found = self._profiles.get(media)
        if found is None:
            found = self._profiles[media] = set()
        return found
