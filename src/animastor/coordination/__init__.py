"""Leases, quotas, breakers, budgets and the job queue: disposable, never the truth (DESIGN, two kinds of state)."""

from animastor.coordination.limits import Limits
from animastor.coordination.memory import MemoryCoordination

__all__ = ["Limits", "MemoryCoordination"]
