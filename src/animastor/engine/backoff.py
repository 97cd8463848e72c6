"""How long a failed part waits before it is tried again. Pure."""

from __future__ import annotations

from typing import Final

FIRST_S: Final = 2.0
LONGEST_S: Final = 300.0


def backoff_s(attempts: int, jitter: float) -> float:
    """Seconds to wait after so many attempts: exponential from 2 s to 5 min, with full jitter (CONTRACT 9).

    `jitter` is a draw from [0, 1): the wait lies anywhere between nothing and the ceiling of this attempt, so that
    what failed together is not tried together.
    """
    doublings = min(max(attempts, 1) - 1, 30)
    return jitter * min(LONGEST_S, FIRST_S * 2.0**doublings)
