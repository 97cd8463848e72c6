"""What keeps assets from starting before anything is taken for them: asked by dispatching, and told by `explain`."""

from __future__ import annotations

from collections.abc import Collection, Iterable

from animastor.engine.ports import Circuit, PairStatus
from animastor.engine.reasons import Reason


def kept_out(status: PairStatus) -> Reason | None:
    """Why a pair is not asked what is due: no able worker at all, a breaker that has not cooled, no free slot."""
    if not status.profiles:
        return Reason.NO_WORKER
    if status.circuit is Circuit.OPEN and status.circuit_left > 0:
        return Reason.CIRCUIT_OPEN
    return Reason.BACKPRESSURE if status.free <= 0 else None


def is_served(wanted: Iterable[str], profiles: Collection[str]) -> bool:
    """Whether at least one of the jobs that an asset lacks, by their profiles, is one that somebody could do."""
    return any(profile in profiles for profile in wanted)
