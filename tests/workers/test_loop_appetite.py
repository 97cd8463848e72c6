"""What a worker asks for never exceeds its room, and nobody's turn is forgotten."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from animastor.protocol import MERGE
from animastor.workers.appetite import Appetite

NAMES = ("a", "b", "c", MERGE)
SECONDS = st.dictionaries(st.sampled_from(NAMES), st.floats(0.0, 100.0))


def appetite(count: int, seconds: dict[str, float]) -> Appetite:
    """One that has seen jobs of these durations."""
    one = Appetite(count)
    for profile, took in seconds.items():
        one.took(profile, took)
    return one


@given(count=st.integers(1, 64), seconds=SECONDS, held=st.integers(0, 200), able=st.sets(st.sampled_from(NAMES)))
def test_a_claim_never_asks_for_more_than_there_is_room_for(
    count: int, seconds: dict[str, float], held: int, able: set[str]
) -> None:
    one = appetite(count, seconds)
    share = one.share(one.in_turn(sorted(able)), held)
    assert all(asked > 0 for asked in share.values())
    for profile in share:
        assert held + sum(share.values()) <= count * (2 if seconds.get(profile, 9.0) < 2.0 else 1)


@given(count=st.integers(1, 64), seconds=SECONDS, able=st.sets(st.sampled_from(NAMES), min_size=1))
def test_a_worker_with_nothing_in_hand_asks_for_something(
    count: int, seconds: dict[str, float], able: set[str]
) -> None:
    one = appetite(count, seconds)
    assert one.share(one.in_turn(sorted(able)), 0)


@given(given_=st.lists(st.sampled_from(("a", "b", "c")), max_size=20))
def test_the_one_that_was_given_last_comes_last_and_merges_first(given_: list[str]) -> None:
    one = Appetite(1)
    one.in_turn(NAMES)
    for profile in given_:
        one.given({profile: 1})
    order = one.in_turn(NAMES)
    assert order[0] == MERGE
    assert sorted(order) == sorted(NAMES)
    assert not given_ or order[-1] == given_[-1]


def test_a_profile_that_became_slow_is_not_claimed_ahead_any_more() -> None:
    one = appetite(2, {"a": 0.1})
    assert one.room("a", 2) == 2
    for _ in range(3):
        one.took("a", 10.0)
    assert one.room("a", 2) == 0
