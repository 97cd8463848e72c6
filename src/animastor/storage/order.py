"""Reading order as sparse numbers, so that an insertion moves nobody else. Pure."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from itertools import pairwise
from typing import Final

GAP: Final = 2**20  # between neighbours of a first import


def place(stored: Sequence[int | None]) -> list[int]:
    """Positions for scenes in their new order; `stored` has each one's present position, or None for a new one.

    As many as possible keep theirs; the others take places between their neighbours. Where a gap is used up, all are
    numbered anew.
    """
    kept = _longest_rising(stored)
    if not kept:
        return _anew(len(stored))
    positions: list[int] = [0] * len(stored)
    for index in kept:
        positions[index] = stored[index] or 0
    bounds = [-1, *kept, len(stored)]
    for left, right in pairwise(bounds):
        count = right - left - 1
        if not count:
            continue
        low = positions[left] if left >= 0 else positions[right] - GAP * (count + 1)
        high = positions[right] if right < len(stored) else low + GAP * (count + 1)
        step = (high - low) // (count + 1)
        if step < 1 or low < -(2**62) or high > 2**62:
            return _anew(len(stored))
        for nth in range(count):
            positions[left + 1 + nth] = low + step * (nth + 1)
    return positions


def _anew(count: int) -> list[int]:
    return [GAP * (nth + 1) for nth in range(count)]


def _longest_rising(stored: Sequence[int | None]) -> list[int]:
    """The indexes of a longest strictly rising subsequence of those that have a position."""
    tails: list[int] = []  # the smallest last value of a rising subsequence of each length
    ends: list[int] = []  # where it stands
    before: dict[int, int] = {}
    for index, value in enumerate(stored):
        if value is None:
            continue
        length = bisect_left(tails, value)
        before[index] = ends[length - 1] if length else -1
        if length == len(tails):
            tails.append(value)
            ends.append(index)
        else:
            tails[length], ends[length] = value, index
    chain: list[int] = []
    index = ends[-1] if ends else -1
    while index >= 0:
        chain.append(index)
        index = before[index]
    return chain[::-1]
