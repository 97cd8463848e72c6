"""Admission (CONTRACT 5): the order of refusals, quotas, leases, ids that are admitted again."""

from __future__ import annotations

import pytest
from coordination_world import AUDIO, TRANSIENT, World, job, worker

from animastor.coordination import Limits
from animastor.engine.ports import Enqueued
from animastor.engine.reasons import Reason
from animastor.protocol import Pair
from virtual_clock import now

LIMITS = Limits(min_quota={"audio": 2}, budget_per_type=2)


def test_an_admitted_asset_has_a_lease_of_fifteen_seconds():
    world = World()
    assert world.admit(1, "d1") is Reason.GRANTED
    lease = world.lease(1)
    assert lease is not None
    assert lease.remaining == 15.0
    world.passes(14.9)
    assert world.lease(1) is not None
    world.passes(0.1)
    assert world.lease(1) is None


def test_an_asset_with_a_live_lease_is_a_duplicate_for_any_other_dispatch():
    world = World()
    world.admit(1, "d1")
    assert world.admit(1, "d2") is Reason.DUPLICATE
    world.passes(15.0)
    assert world.admit(1, "d2") is Reason.GRANTED


def test_two_candidates_of_one_asset_in_one_batch_get_one_lease():
    world = World()
    answers = now(world.store.admit([world.candidate(1, "d1"), world.candidate(1, "d2")]))
    assert [answer.reason for answer in answers] == [Reason.GRANTED, Reason.DUPLICATE]


def test_the_same_dispatch_admitted_twice_is_one_admission():
    world = World(LIMITS)
    world.admit(1, "d1")
    world.passes(5.0)
    assert world.admit(1, "d1") is Reason.GRANTED
    assert [lease.remaining for lease in world.leases()] == [10.0]


def test_admitting_again_does_not_shorten_a_lease_that_was_pinned():
    world = World()
    world.entered(1, "d1")
    world.admit(1, "d1")
    lease = world.lease(1)
    assert lease is not None
    assert lease.remaining == 60.0


def test_a_full_quota_is_backpressure_until_a_lease_ends():
    world = World(LIMITS)
    assert [world.admit(asset, f"d{asset}") for asset in (1, 2, 3)] == [
        Reason.GRANTED,
        Reason.GRANTED,
        Reason.BACKPRESSURE,
    ]
    world.release(1, "d1")
    assert world.admit(3, "d3") is Reason.GRANTED


def test_a_quota_is_of_its_pair_alone():
    world = World(LIMITS)
    world.admit(1, "d1")
    world.admit(2, "d2")
    assert world.admit(3, "d3", pair=Pair("audio", "other")) is Reason.GRANTED
    assert world.admit(4, "d4", pair=Pair("image", "system")) is Reason.GRANTED


def test_a_holder_that_died_frees_its_slot_by_itself():
    world = World(LIMITS)
    world.admit(1, "d1")
    world.admit(2, "d2")
    world.passes(15.0)
    assert world.pair().free == 2


def test_the_least_quotas_are_eight_four_and_two():
    world = World()
    quotas = [world.pair(Pair(media, "system")).quota for media in ("audio", "image", "video", "another")]
    assert quotas == [8, 4, 2, 2]


def test_a_quota_is_twice_the_live_capacity_of_the_able_workers_of_the_lane():
    world = World()
    now(world.store.register(worker("w1", 5, storyboard=100, merge=50)))
    now(world.store.register(worker("w2", 3, lanes=("system", "other"))))
    now(world.store.register(worker("w3", 9, lanes=("other",))))
    world.entered(1, "d1")  # names the profile that makes audio
    world.enqueue(job(1, "d1", "all", kind="merge"))
    assert world.pair().quota == 16
    assert world.pair(Pair("audio", "other")).quota == 24
    assert world.pair(Pair("image", "system")).quota == 4  # no job of an image named a profile yet


def test_a_worker_that_was_not_seen_for_a_minute_counts_no_more_until_it_is_seen():
    world = World()
    one = worker("w1", 50)
    now(world.store.register(one))
    world.entered(1, "d1")
    world.passes(59.9)
    assert world.pair().quota == 100
    world.passes(0.1)
    assert world.pair().quota == 8
    assert world.pair().profiles == frozenset()
    world.claims(one)
    assert world.pair().quota == 100
    assert world.pair().profiles == {"speech"}


def test_a_worker_that_left_counts_no_more():
    world = World()
    one = worker("w1", 50)
    now(world.store.register(one))
    world.entered(1, "d1")
    now(world.store.deregister(one))
    assert world.pair().quota == 8
    assert world.pair().profiles == frozenset()


def test_a_retry_is_refused_when_its_budget_is_spent_and_a_first_attempt_never():
    world = World(Limits(budget_per_type=2))
    assert world.admit(1, "d1", retrying=[TRANSIENT]) is Reason.GRANTED
    assert world.admit(2, "d2", retrying=[TRANSIENT]) is Reason.GRANTED
    assert world.admit(3, "d3", retrying=[TRANSIENT]) is Reason.BACKOFF
    assert world.admit(3, "d3") is Reason.GRANTED
    world.passes(300.0)
    assert world.admit(4, "d4", retrying=[TRANSIENT]) is Reason.GRANTED


@pytest.mark.parametrize("refused", ["duplicate", "backpressure"])
def test_a_candidate_that_is_refused_earlier_takes_nothing_from_a_budget(refused: str):
    world = World(LIMITS)
    world.admit(1, "d1")
    if refused == "backpressure":
        world.admit(2, "d2")
    asset = 1 if refused == "duplicate" else 3
    for attempt in range(10):
        assert world.admit(asset, f"again-{attempt}", retrying=[TRANSIENT]) is Reason(refused)
    world.release(1, "d1")
    assert world.admit(1, "d9", retrying=[TRANSIENT]) is Reason.GRANTED


def test_the_first_reason_is_the_one_that_is_given():
    """Duplicate comes before the full quota, the full quota before the budget."""
    world = World(Limits(min_quota={"audio": 2}, budget_per_type=1))
    world.admit(1, "d1", retrying=[TRANSIENT])
    world.admit(2, "d2")
    assert world.admit(1, "d3", retrying=[TRANSIENT]) is Reason.DUPLICATE
    assert world.admit(3, "d4", retrying=[TRANSIENT]) is Reason.BACKPRESSURE
    world.release(2, "d2")
    assert world.admit(3, "d4", retrying=[TRANSIENT]) is Reason.BACKOFF


def test_a_released_dispatch_is_not_admitted_for_two_minutes():
    world = World()
    world.release(1, "d1")
    world.passes(119.9)
    assert world.admit(1, "d1") is Reason.RELEASED
    world.passes(0.1)
    assert world.admit(1, "d1") is Reason.GRANTED


def test_enqueueing_pins_the_lease_to_its_full_length():
    world = World()
    world.admit(1, "d1")
    world.passes(14.0)
    assert world.enqueue(job(1, "d1")) is Enqueued.STORED
    lease = world.lease(1)
    assert lease is not None
    assert lease.remaining == 60.0


def test_a_media_type_may_declare_another_lease_length():
    world = World(Limits(lease_ttls={"audio": 90.0}))
    world.entered(1, "d1")
    assert [lease.remaining for lease in world.leases()] == [90.0]


def test_lease_lengths_that_the_keeper_could_not_keep_are_refused_at_construction():
    with pytest.raises(ValueError, match="2 × keeper"):
        Limits(keeper=15.0)
    with pytest.raises(ValueError, match="less than the shortest lease TTL"):
        Limits(lease_ttls={"video": 50.0})
    Limits(keeper=14.9)


def test_leases_are_found_by_book_pair_asset_and_dispatch():
    world = World()
    world.admit(1, "d1", book=1)
    world.admit(2, "d2", book=2)
    world.admit(3, "d3", book=2, pair=Pair("image", "system"))

    def found(**of: object) -> set[int]:
        return {lease.asset for lease in world.leases(**of)}

    assert found() == {1, 2, 3}
    assert found(book_key=2) == {2, 3}
    assert found(pair=AUDIO) == {1, 2}
    assert found(book_key=2, pair=AUDIO) == {2}
    assert found(assets=[1, 3, 9]) == {1, 3}
    assert found(dispatches=["d2", "d9"]) == {2}
    assert found(assets=[1], dispatches=["d2"]) == set()
