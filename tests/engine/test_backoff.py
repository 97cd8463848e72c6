"""The back-off of a failed part (CONTRACT 9): exponential from 2 s to 5 min, with full jitter."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from animastor.engine.backoff import FIRST_S, LONGEST_S, backoff_s

ALMOST_ONE = 1.0 - 2.0**-53
attempts = st.integers(min_value=0, max_value=10**6)
jitters = st.floats(min_value=0.0, max_value=ALMOST_ONE)


@pytest.mark.parametrize(
    ("after", "ceiling"),
    [(0, 2.0), (1, 2.0), (2, 4.0), (3, 8.0), (5, 32.0), (8, 256.0), (9, 300.0), (10, 300.0), (10**6, 300.0)],
)
def test_the_ceiling_doubles_from_two_seconds_to_five_minutes(after: int, ceiling: float):
    assert backoff_s(after, ALMOST_ONE) == pytest.approx(ceiling)
    assert backoff_s(after, 0.5) == ceiling / 2
    assert (FIRST_S, LONGEST_S) == (2.0, 300.0)


@given(attempts, jitters)
def test_a_wait_lies_between_nothing_and_five_minutes(after: int, jitter: float):
    assert 0.0 <= backoff_s(after, jitter) <= LONGEST_S


@given(attempts, jitters)
def test_the_same_draw_never_waits_less_after_another_attempt(after: int, jitter: float):
    assert backoff_s(after, jitter) <= backoff_s(after + 1, jitter)


@given(attempts, st.lists(jitters, min_size=2, max_size=2).map(sorted))
def test_jitter_is_full_and_proportional(after: int, draws: list[float]):
    low, high = (backoff_s(after, draw) for draw in draws)
    assert low <= high
    assert backoff_s(after, 0.0) == 0.0
