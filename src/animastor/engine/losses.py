"""How many artifacts may be lost before nothing is changed any more and a person is asked (CONTRACT 11)."""

from __future__ import annotations

MOST_LOST = 10  # in one cycle over all artifacts …
LARGEST_SHARE = 0.01  # … or this share of them, but a single one is always made again


def too_many(lost: int, looked: int) -> bool:
    """Whether so many lost ones among those that were looked at are more than bad luck: an emptied or failing disk."""
    return lost > min(MOST_LOST, max(1, LARGEST_SHARE * looked))
