"""Every number of the coordination store in one place, with the contract's defaults."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from animastor.engine.ports import VANISHED_LIMIT
from animastor.media.types import MediaType


def _contract_quotas() -> Mapping[str, int]:
    return {"audio": 8, "image": 4, "video": 2}


@dataclass(frozen=True, slots=True)
class Limits:
    """Times in seconds, the rest counts. Sources: CONTRACT 5 (admission), 6 (leases), 7 and 11 (era), 9 (failures).

    `min_quota` and `lease_ttls` are by media type, and come from the declarations through `Limits.of`; a media type
    that is not named gets `least_quota` and `lease_ttl`. Raises `ValueError` when a lease could run out between two
    passes of the keeper although its job is alive.
    """

    lease_ttl: float = 60.0
    admission_ttl: float = 15.0  # from admit to enqueue, which pins the lease to its full TTL
    silence: float = 30.0  # a claim that no heartbeat listed for so long is silent
    keeper: float = 10.0  # between two passes of the keeper
    released_for: float = 120.0  # how long the id of a released dispatch is refused
    serving_for: float = 10.0  # a `serving` mark older than this means that no server was there
    able_for: float = 60.0  # a worker that was not seen for so long is not able
    forget_worker_after: float = 600.0  # … and is forgotten; not shorter than the longest quarantine
    era_window: float = 40.0

    min_quota: Mapping[str, int] = field(default_factory=_contract_quotas)
    lease_ttls: Mapping[str, float] = field(default_factory=dict)
    least_quota: int = 2

    breaker_failures: int = 5
    breaker_period: float = 120.0
    breaker_cool: float = 60.0
    permits: int = 2

    budget_per_type: int = 50
    budget_type_period: float = 300.0
    budget_all: int = 100
    budget_all_period: float = 60.0

    quarantine_failures: int = 20  # more than so many …
    quarantine_period: float = 60.0  # … within this time
    quarantine_first: float = 60.0  # doubling …
    quarantine_longest: float = 600.0  # … up to this

    vanished_limit: int = VANISHED_LIMIT  # a job whose claims were lost so often …
    vanished_pause: float = 5.0  # … is not given to the next worker before the database has counted that
    timeout_grace: float = 60.0  # the worker enforces a job's limits, the sweep so much later
    hard_factor: float = 4.0  # × `timeout_s`: the hard limit of a job that does report progress

    def __post_init__(self) -> None:
        shortest = min((self.lease_ttl, *self.lease_ttls.values()))
        if 2 * self.keeper + self.silence >= shortest:
            raise ValueError(
                f"2 × keeper ({self.keeper:g} s) + silence ({self.silence:g} s) must be less than the shortest lease "
                f"TTL ({shortest:g} s), or the lease of a job that is alive could run out: raise the TTL"
            )

    @classmethod
    def of(
        cls,
        types: Iterable[MediaType],
        *,
        lease_ttl: float = 60.0,
        silence: float = 30.0,
        keeper: float = 10.0,
        era_window: float = 40.0,
    ) -> Limits:
        """The defaults and these settings, with the least quotas and lease TTLs that the media types declare."""
        declared = tuple(types)
        return cls(
            lease_ttl=lease_ttl,
            silence=silence,
            keeper=keeper,
            era_window=era_window,
            min_quota={media.name: media.min_quota for media in declared},
            lease_ttls={media.name: media.lease_ttl.total_seconds() for media in declared if media.lease_ttl},
        )

    def ttl_of(self, media: str) -> float:
        """The full lease TTL of a media type."""
        return self.lease_ttls.get(media, self.lease_ttl)

    def quota_of(self, media: str, capacity: int) -> int:
        """The quota of a pair: twice its live capacity, and never less than its least (CONTRACT 6)."""
        return max(2 * capacity, self.min_quota.get(media, self.least_quota))
