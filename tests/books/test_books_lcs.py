"""The longest common subsequence is longest, and differing members are paired where they stand."""

from __future__ import annotations

import time
from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from animastor.books import lcs

sequences = st.text("abc", max_size=12) | st.text("abcdefgh", max_size=20)


def longest(a: str, b: str) -> int:
    row = [0] * (len(b) + 1)
    for x in a:
        above = row[:]
        for j, y in enumerate(b):
            row[j + 1] = above[j] + 1 if x == y else max(above[j + 1], row[j])
    return row[-1]


@given(sequences, sequences)
def test_pairs_are_equal_ascending_and_as_many_as_possible(a: str, b: str) -> None:
    pairs = lcs.common(a, b)
    assert all(a[i] == b[j] for i, j in pairs)
    assert all(p[0] < q[0] and p[1] < q[1] for p, q in pairwise(pairs))
    assert len(pairs) == longest(a, b)


@given(sequences, sequences)
def test_gaps_and_pairs_cover_both_sequences(a: str, b: str) -> None:
    pairs = lcs.common(a, b)
    gaps = list(lcs.gaps(pairs, len(a), len(b)))
    assert sorted([i for i, _ in pairs] + [i for left, _ in gaps for i in left]) == list(range(len(a)))
    assert sorted([j for _, j in pairs] + [j for _, right in gaps for j in right]) == list(range(len(b)))


@given(st.lists(st.integers(0, 10**6), max_size=60), st.data())
def test_dividing_at_anchors_keeps_pairs_valid(members: list[int], data: st.DataObject) -> None:
    other = data.draw(st.permutations(members))
    exact, lcs.EXACT = lcs.EXACT, 1
    try:
        pairs = lcs.common(members, other)
    finally:
        lcs.EXACT = exact
    assert all(members[i] == other[j] for i, j in pairs)
    assert all(p[0] < q[0] and p[1] < q[1] for p, q in pairwise(pairs))


def test_equally_long_stretches_are_paired_one_by_one() -> None:
    assert lcs.by_position(range(2, 4), range(5, 7), lambda _i, _j: 0.0) == [(2, 5), (3, 6)]


def test_of_unequal_stretches_the_alike_are_paired_in_order() -> None:
    alike = {(0, 1)}
    assert lcs.by_position(range(1), range(2), lambda i, j: float((i, j) in alike)) == [(0, 1)]


def test_a_long_novel_compares_quickly() -> None:
    old = [f"sentence {n % 9000}" for n in range(10_000)]
    new = [s if n % 100 else f"changed {n}" for n, s in enumerate(old)]
    began = time.process_time()
    assert len(lcs.common(old, new)) == 9_900
    assert time.process_time() - began < 3
