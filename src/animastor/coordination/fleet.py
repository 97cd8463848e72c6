"""The workers that are known, and what they can do: who is able, for which profiles, with how much capacity.

*Able* (CONTRACT, words): registered, seen within 60 s, not quarantined, serving the profile in the lane. A worker
that is drained deregisters. Answers come from one summary, made again when somebody became able or ceased to be.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection

from animastor.coordination.limits import Limits
from animastor.coordination.marks import Marks
from animastor.coordination.quarantine import Quarantine
from animastor.protocol import Worker


class Known:
    """A worker, when it was last seen, and its quarantine."""

    __slots__ = ("quarantine", "seen_at", "worker")

    def __init__(self, worker: Worker, limits: Limits, now: float) -> None:
        self.worker = worker
        self.seen_at = now
        self.quarantine = Quarantine(limits)


class Fleet:
    """Known workers by key."""

    def __init__(self, limits: Limits) -> None:
        self._limits = limits
        self._known: dict[str, Known] = {}
        self._left = Marks(limits.released_for)
        self._capacity: dict[str, Counter[str]] = {}  # lane -> profile -> jobs at once
        self._servers: dict[tuple[str, str], set[str]] = {}  # (lane, profile) -> keys of able workers
        self._good_until = float("-inf")

    def register(self, worker: Worker, now: float) -> tuple[str, ...]:
        """Make a worker known. Gives those of its profiles that no able worker of its lanes served before."""
        self._summary(now)
        served = {(lane, name) for lane in worker.lanes for name in worker.profiles if self._served(lane, name)}
        self.see(worker, now)
        return tuple(name for name in worker.profiles if any((lane, name) not in served for lane in worker.lanes))

    def deregister(self, key: str, now: float) -> None:
        """The worker left; a heartbeat of its last jobs does not make it known again."""
        if self._known.pop(key, None) is not None:
            self._stale()
        self._left.expire(now)
        self._left.add((key,), now)

    def knows(self, key: str) -> bool:
        """Whether this worker is known and has not left."""
        return key in self._known

    def see(self, worker: Worker, now: float) -> None:
        """The worker was there just now; one that is not known, or comes with other abilities, is registered."""
        known = self._known.get(worker.key)
        if known is None:
            self._left.remove(worker.key)
            self._known[worker.key] = Known(worker, self._limits, now)
            self._stale()
            return
        if known.worker is not worker and known.worker != worker:
            known.worker = worker
            self._stale()
        elif now - known.seen_at >= self._limits.able_for:
            self._stale()
        known.seen_at = now

    def see_running(self, worker: Worker, now: float) -> None:
        """A heartbeat of its jobs: the worker is there, unless it has said goodbye."""
        self._left.expire(now)
        if worker.key not in self._left:
            self.see(worker, now)

    def quarantined_until(self, key: str, now: float) -> float:
        """Until when this worker gets no claims; 0 when it may claim."""
        known = self._known.get(key)
        return known.quarantine.until if known is not None and known.quarantine.holds(now) else 0.0

    def failed(self, key: str, now: float) -> None:
        """Count a failure of a worker."""
        known = self._known.get(key)
        if known is not None and known.quarantine.failed(now):
            self._stale()

    def succeeded(self, key: str) -> None:
        """Note a success of a worker."""
        known = self._known.get(key)
        if known is not None:
            known.quarantine.succeeded()

    def capacity(self, lane: str, profiles: Collection[str], now: float) -> int:
        """How many jobs of these profiles the able workers of a lane run at once."""
        counts = self._summary(now).get(lane)
        return sum(counts[profile] for profile in profiles) if counts else 0

    def profiles(self, lane: str, now: float) -> frozenset[str]:
        """The profiles that an able worker of the lane serves."""
        counts = self._summary(now).get(lane)
        return frozenset(counts) if counts else frozenset()

    def another_able(self, lane: str, profile: str, besides: str, now: float) -> bool:
        """Whether an able worker other than this one serves the profile in the lane."""
        self._summary(now)
        return any(key != besides for key in self._servers.get((lane, profile), ()))

    def forget(self, now: float) -> None:
        """Forget workers that have not been seen for long."""
        gone = [key for key, known in self._known.items() if now - known.seen_at >= self._limits.forget_worker_after]
        for key in gone:
            del self._known[key]

    def _served(self, lane: str, profile: str) -> bool:
        return bool(self._servers.get((lane, profile)))

    def _stale(self) -> None:
        self._good_until = float("-inf")

    def _summary(self, now: float) -> dict[str, Counter[str]]:
        if now >= self._good_until:
            self._summarize(now)
        return self._capacity

    def _summarize(self, now: float) -> None:
        self._capacity = defaultdict(Counter)
        self._servers = defaultdict(set)
        self._good_until = float("inf")
        for key, known in self._known.items():
            if known.quarantine.holds(now):
                self._good_until = min(self._good_until, known.quarantine.until)
            elif now - known.seen_at < self._limits.able_for:
                self._good_until = min(self._good_until, known.seen_at + self._limits.able_for)
                self._add(key, known.worker)
        self._capacity = dict(self._capacity)

    def _add(self, key: str, worker: Worker) -> None:
        for lane in worker.lanes:
            for profile, slots in worker.profiles.items():
                if slots > 0:
                    self._capacity[lane][profile] += slots
                    self._servers[lane, profile].add(key)
