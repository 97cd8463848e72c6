"""The breaker of a pair (CONTRACT 9): what opens it, what a test is, what closes it. Nothing else moves it."""

from __future__ import annotations

import pytest
from coordination_world import AUDIO, INFRASTRUCTURE, TRANSIENT, World, job, worker

from animastor.coordination import Limits
from animastor.engine.ports import Circuit, CircuitChange, Verdict
from animastor.engine.reasons import Reason
from animastor.protocol import FailureType, Pair
from virtual_clock import now

SPEAKER = worker("w1", 100, merge=4)
CLOSED, OPEN, HALF_OPEN = Circuit.CLOSED, Circuit.OPEN, Circuit.HALF_OPEN


def opened(limits: Limits | None = None) -> World:
    """A world whose breaker has just opened, with nothing in work."""
    world = World(limits)
    for asset in range(5):
        world.fail(SPEAKER, asset)
    assert world.circuit is OPEN
    return world


def half_open(limits: Limits | None = None) -> World:
    """A world that has cooled, with the dispatch t1 of asset 101 as its test."""
    world = opened(limits)
    world.passes(60.0)
    assert world.admit(101, "t1") is Reason.GRANTED
    world.enqueue(job(101, "t1"))
    return world


def test_five_failures_open_it():
    world = World()
    answers = [world.fail(SPEAKER, asset).circuit for asset in range(5)]
    assert answers == [None, None, None, None, CircuitChange(AUDIO, CLOSED, OPEN, "failures")]


@pytest.mark.parametrize("failure", [TRANSIENT, INFRASTRUCTURE])
def test_transient_and_infrastructure_failures_count(failure: FailureType):
    world = World()
    for asset in range(5):
        world.fail(SPEAKER, asset, failure=failure)
    assert world.circuit is OPEN


@pytest.mark.parametrize("failure", [FailureType.PERMANENT, FailureType.MISCONFIGURED, FailureType.ORCHESTRATION])
def test_other_failures_do_not_count(failure: FailureType):
    world = World()
    for asset in range(9):
        world.fail(SPEAKER, asset, failure=failure)
    assert world.circuit is CLOSED


def test_a_success_between_them_starts_the_count_anew():
    world = World()
    for asset in range(4):
        world.fail(SPEAKER, asset)
    world.entered(50, "d50")
    world.settle(world.claim(SPEAKER), SPEAKER)
    for asset in range(4):
        world.fail(SPEAKER, asset)
    assert world.circuit is CLOSED
    world.fail(SPEAKER, 60)
    assert world.circuit is OPEN


def test_failures_longer_ago_than_two_minutes_do_not_count():
    world = World()
    for asset in range(4):
        world.fail(SPEAKER, asset)
    world.passes(121.0)
    world.fail(SPEAKER, 9)
    assert world.circuit is CLOSED


def test_failures_within_two_minutes_do():
    world = World()
    for asset in range(4):
        world.fail(SPEAKER, asset)
    world.passes(120.0)
    world.fail(SPEAKER, 9)
    assert world.circuit is OPEN


def test_one_book_alone_does_not_open_it_while_another_has_work_there():
    world = World()
    world.entered(99, "other", book=2)
    assert world.claim(SPEAKER).job.book_key == 2
    for asset in range(9):
        world.fail(SPEAKER, asset, book=1)
    assert world.circuit is CLOSED
    world.fail(SPEAKER, 20, book=2)
    assert world.circuit is OPEN


def test_work_of_another_book_in_another_pair_does_not_matter():
    world = World()
    world.entered(99, "other", book=2, pair=Pair("image", "system"), profile="storyboard")
    for asset in range(5):
        world.fail(SPEAKER, asset, book=1)
    assert world.circuit is OPEN


def test_merges_cache_hits_and_uncounted_failures_never_feed_it():
    world = World()
    for number in range(9):
        world.admit(number, f"m{number}")
        world.enqueue(job(number, f"m{number}", kind="merge"))
        world.settle(world.claim(SPEAKER, profile="merge"), SPEAKER, TRANSIENT)
        world.entered(100 + number, f"c{number}")
        world.settle(world.claim(SPEAKER), SPEAKER, TRANSIENT, called_backend=False)
        world.entered(200 + number, f"u{number}")
        world.settle(world.claim(SPEAKER), SPEAKER, TRANSIENT, counted=False)
        for asset, dispatch in ((number, "m"), (100 + number, "c"), (200 + number, "u")):
            world.release(asset, f"{dispatch}{number}")
    assert world.circuit is CLOSED


def test_a_merge_that_works_is_no_success_between_failures():
    world = World()
    for asset in range(4):
        world.fail(SPEAKER, asset)
    world.admit(50, "m")
    world.enqueue(job(50, "m", kind="merge"))
    world.settle(world.claim(SPEAKER, profile="merge"), SPEAKER)
    world.fail(SPEAKER, 9)
    assert world.circuit is OPEN


def test_a_stale_verdict_does_not_feed_it():
    world = World()
    order = world.entered(1, "d1")
    claim = world.claim(SPEAKER)
    stale = Verdict(order.job_id, claim.claim_no + 1, SPEAKER.key, TRANSIENT)
    assert [settled.present for settled in now(world.store.settle([stale] * 9))] == [False] * 9
    assert world.circuit is CLOSED


def test_while_it_is_open_nothing_of_the_pair_is_admitted_or_claimed():
    world = World()
    world.entered(50, "before")
    world.enqueue(job(50, "before", "all", kind="merge"))
    held = world.claims(SPEAKER)[0]
    for asset in range(5):
        world.fail(SPEAKER, asset)
    world.hand_back(held, SPEAKER)
    assert world.admit(60, "d60") is Reason.CIRCUIT_OPEN
    assert world.claims(SPEAKER, 9) == []
    assert world.claims(SPEAKER, 9, profile="merge") == []
    assert world.pair().circuit_left == pytest.approx(60.0)
    world.passes(59.9)
    assert world.admit(60, "d60") is Reason.CIRCUIT_OPEN
    assert world.claims(SPEAKER, 9) == []


def test_another_pair_goes_on():
    world = opened()
    image = Pair("image", "system")
    world.entered(1, "d1", pair=image, profile="storyboard")
    assert world.claim(worker("w2", storyboard=1), profile="storyboard").job.media == "image"
    assert world.admit(2, "d2", pair=Pair("audio", "other")) is Reason.GRANTED


def test_once_it_has_cooled_the_next_admission_is_a_test():
    world = opened()
    world.passes(60.0)
    assert world.circuit is OPEN  # time alone moves nothing
    answer = world.admission(101, "t1")
    assert answer.granted
    assert answer.circuit == CircuitChange(AUDIO, OPEN, HALF_OPEN, "half_open_test")
    assert [lease.permit for lease in world.leases()] == [True]
    assert world.admission(102, "t2").circuit is None


def test_there_are_two_permits():
    world = half_open()
    assert world.admit(102, "t2") is Reason.GRANTED
    assert world.admit(103, "t3") is Reason.HALF_OPEN_LIMIT


def test_a_permit_is_gone_with_its_lease():
    world = half_open()
    world.admit(102, "t2")
    world.release(101, "t1")
    assert world.admit(103, "t3") is Reason.GRANTED
    world.passes(15.0)  # the leases of t2 and t3 run out
    assert world.admit(104, "t4") is Reason.GRANTED
    assert world.circuit is HALF_OPEN


@pytest.mark.parametrize("reason", ["duplicate", "backpressure", "backoff"])
def test_a_permit_is_given_back_when_a_later_check_refuses(reason: str):
    world = World(Limits(min_quota={"audio": 2}, budget_per_type=1))
    world.admit(1, "spends", retrying=[TRANSIENT])
    world.release(1, "spends")
    world.entered(50, "before")
    for asset in range(5):
        world.fail(SPEAKER, asset) if asset else world.settle(world.claim(SPEAKER), SPEAKER, TRANSIENT)
    world.passes(50.0)
    world.grant(50, "before")
    world.passes(10.0)
    if reason == "backpressure":
        world.grant(51, "another")
    candidate = {"duplicate": (50, ()), "backpressure": (101, ()), "backoff": (101, (TRANSIENT,))}[reason]
    for number in range(5):
        assert world.admit(candidate[0], f"r{number}", retrying=candidate[1]) is Reason(reason)
    assert world.circuit is OPEN
    world.release(50, "before")
    assert world.admit(102, "t1") is Reason.GRANTED
    assert world.circuit is HALF_OPEN


def test_only_jobs_of_permit_holders_are_claimed():
    world = World()
    world.entered(50, "before")
    held = world.claim(SPEAKER)
    for asset in range(5):
        world.fail(SPEAKER, asset)
    world.hand_back(held, SPEAKER)
    world.passes(60.0)
    world.entered(101, "t1", book=2)
    assert [claim.job.dispatch_id for claim in world.claims(SPEAKER, 9)] == ["t1"]


def test_a_success_of_a_permit_holder_closes_it():
    world = half_open()
    settled = world.settle(world.claim(SPEAKER), SPEAKER)
    assert settled.circuit == CircuitChange(AUDIO, HALF_OPEN, CLOSED, "test_success")
    assert [lease.permit for lease in world.leases()] == [False]
    assert world.admit(102, "d2") is Reason.GRANTED
    for asset in range(110, 114):
        world.fail(SPEAKER, asset)
    assert world.circuit is CLOSED  # it counts from nothing


def test_a_failure_of_a_permit_holder_opens_it_again_for_a_whole_cooling():
    world = half_open()
    world.passes(5.0)
    settled = world.settle(world.claim(SPEAKER), SPEAKER, TRANSIENT)
    assert settled.circuit == CircuitChange(AUDIO, HALF_OPEN, OPEN, "test_failure")
    assert [lease.permit for lease in world.leases()] == [False]
    world.passes(59.9)
    assert world.admit(102, "t2") is Reason.CIRCUIT_OPEN
    world.passes(0.1)
    assert world.admit(102, "t2") is Reason.GRANTED


def test_a_permanent_failure_of_a_test_says_nothing():
    world = half_open()
    assert world.settle(world.claim(SPEAKER), SPEAKER, FailureType.PERMANENT).circuit is None
    assert world.circuit is HALF_OPEN


@pytest.mark.parametrize("failure", [None, TRANSIENT])
def test_verdicts_of_others_do_not_count_while_it_is_tested(failure: FailureType | None):
    world = World()
    world.entered(50, "before")
    running = world.claim(SPEAKER)
    for asset in range(5):
        world.fail(SPEAKER, asset)
    world.passes(60.0)
    world.admit(101, "t1")
    assert world.settle(running, SPEAKER, failure).circuit is None
    assert world.circuit is HALF_OPEN


def test_verdicts_that_arrive_while_it_is_open_move_nothing():
    world = World()
    for asset in (50, 51):
        world.entered(asset, f"before-{asset}")
    running = world.claims(SPEAKER, 2)
    for asset in range(5):
        world.fail(SPEAKER, asset)
    left = world.pair().circuit_left
    world.passes(30.0)
    assert world.settle(running[0], SPEAKER).circuit is None
    assert world.settle(running[1], SPEAKER, TRANSIENT).circuit is None
    assert (world.circuit, world.pair().circuit_left) == (OPEN, pytest.approx(left - 30.0))


def test_a_lease_that_is_granted_again_has_no_permit():
    world = half_open()
    claim = world.claim(SPEAKER)
    world.passes(60.0)
    world.renew(101, "t1")
    assert [lease.permit for lease in world.leases()] == [False]
    assert world.settle(claim, SPEAKER).circuit is None
    assert world.circuit is HALF_OPEN


def test_a_job_that_a_test_has_adopted_counts_for_the_test():
    world = World()
    world.entered(50, "before")
    running = world.claim(SPEAKER)
    for asset in range(5):
        world.fail(SPEAKER, asset)
    world.passes(60.0)
    world.release(50, "before")
    world.admit(50, "t1")
    world.enqueue(job(50, "t1", fence=2))
    change = world.settle(running, SPEAKER).circuit
    assert change is not None
    assert change.after is CLOSED
