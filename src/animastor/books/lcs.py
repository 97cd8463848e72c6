"""The longest common subsequence of two sequences, and the pairing of what differs between its members.

Bit-parallel (after Hyyrö 2004): a row of the table is one integer, so that two novels compare in a fraction of a
second. Beyond `EXACT` cells the sequences are first divided at members that occur once in both.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Callable, Hashable, Iterator, Sequence
from typing import TypeAlias

Pair: TypeAlias = tuple[int, int]

EXACT = 4 * 10**8  # cells of the table: 20,000 by 20,000; its bits take 50 MB
SIMILAR = 64 * 64  # pairs of members whose likeness is compared


def common(a: Sequence[Hashable], b: Sequence[Hashable]) -> list[Pair]:
    """The index pairs of a longest common subsequence, ascending; exact up to `EXACT` cells apart from equal ends."""
    start, end = 0, 0
    shorter = min(len(a), len(b))
    while start < shorter and a[start] == b[start]:
        start += 1
    while end < shorter - start and a[-1 - end] == b[-1 - end]:
        end += 1
    pairs = [(at, at) for at in range(start)]
    middle = _middle(a[start : len(a) - end], b[start : len(b) - end])
    pairs.extend((i + start, j + start) for i, j in middle)
    pairs.extend((len(a) - at, len(b) - at) for at in range(end, 0, -1))
    return pairs


def gaps(pairs: Sequence[Pair], len_a: int, len_b: int) -> Iterator[tuple[range, range]]:
    """The stretches between pairs, as ranges of both sequences; those that are empty on both sides are left out."""
    i = j = 0
    for next_i, next_j in (*pairs, (len_a, len_b)):
        if next_i > i or next_j > j:
            yield range(i, next_i), range(j, next_j)
        i, j = next_i + 1, next_j + 1


def by_position(a: range, b: range, likeness: Callable[[int, int], float]) -> list[Pair]:
    """Pairs between two stretches that have nothing in common: each with each where they are of one length.

    Of unequal lengths, as many as possible in order, the most alike together; beyond `SIMILAR` from their starts.
    """
    if len(a) == len(b) or not a or not b or len(a) * len(b) > SIMILAR:
        return list(zip(a, b, strict=False))
    best: list[list[float]] = [[0.0] * (len(b) + 1) for _ in range(len(a) + 1)]
    for i in range(len(a)):
        for j in range(len(b)):
            paired = best[i][j] + 1 + likeness(a[i], b[j])
            best[i + 1][j + 1] = max(paired, best[i][j + 1], best[i + 1][j])
    return _trace(best, a, b)


def _trace(best: Sequence[Sequence[float]], a: range, b: range) -> list[Pair]:
    """The pairs that the best sum is made of."""
    i, j = len(a), len(b)
    pairs: list[Pair] = []
    while i and j:
        if best[i][j] == best[i - 1][j]:
            i -= 1
        elif best[i][j] == best[i][j - 1]:
            j -= 1
        else:
            i, j = i - 1, j - 1
            pairs.append((a[i], b[j]))
    return pairs[::-1]


def _middle(a: Sequence[Hashable], b: Sequence[Hashable]) -> list[Pair]:
    if not a or not b:
        return []
    if len(a) * len(b) <= EXACT:
        return _exact(a, b)
    anchors = _anchors(a, b) or [(len(a) // 2, len(b) // 2)]
    pairs: list[Pair] = []
    i = j = 0
    for next_i, next_j in (*anchors, (len(a), len(b))):
        pairs.extend((x + i, y + j) for x, y in common(a[i:next_i], b[j:next_j]))
        i, j = next_i, next_j
    return pairs


def _exact(a: Sequence[Hashable], b: Sequence[Hashable]) -> list[Pair]:
    """The subsequence by a table whose rows are integers: a zero bit is where the length grows."""
    masks: dict[Hashable, int] = {}
    for at, member in enumerate(b):
        masks[member] = masks.get(member, 0) | 1 << at
    full = (1 << len(b)) - 1
    row = full
    rows = [row]
    for member in a:
        matches = row & masks.get(member, 0)
        row = ((row + matches) | (row - matches)) & full
        rows.append(row)
    pairs: list[Pair] = []
    i, j = len(a), len(b)
    while i and j:
        if rows[i] >> (j - 1) & 1:
            j -= 1
        elif not rows[i - 1] >> (j - 1) & 1:
            i -= 1
        else:
            i, j = i - 1, j - 1
            pairs.append((i, j))
    return pairs[::-1]


def _anchors(a: Sequence[Hashable], b: Sequence[Hashable]) -> list[Pair]:
    """The longest ascending run of members that occur exactly once in each sequence."""
    once_a, once_b = Counter(a), Counter(b)
    place = {member: at for at, member in enumerate(b) if once_b[member] == 1}
    found = [(at, place[member]) for at, member in enumerate(a) if once_a[member] == 1 and member in place]
    tails: list[int] = []
    ends: list[int] = []
    before: list[int] = []
    for at, (_, j) in enumerate(found):
        rank = bisect_left(tails, j)
        tails[rank : rank + 1] = [j]
        ends[rank : rank + 1] = [at]
        before.append(ends[rank - 1] if rank else -1)
    run: list[Pair] = []
    at = ends[-1] if ends else -1
    while at >= 0:
        run.append(found[at])
        at = before[at]
    return run[::-1]
