"""Entering, re-labelling and discarding jobs (CONTRACT 5, 7)."""

from __future__ import annotations

from dataclasses import replace

import pytest
from coordination_world import AUDIO, INFRASTRUCTURE, World, job, worker

from animastor.engine.ports import Enqueued, JobState, Renewal
from animastor.protocol import Answer, Claim, DispatchId, Pair

SPEAKER, OTHER = worker("w1"), worker("w2")


def taken_over(world: World, old: str = "d1", new: str = "d2") -> None:
    """The lease of asset 1 goes from one dispatch to the next."""
    world.passes(60.0)
    world.admit(1, new)


def test_discarding_a_job_that_is_named_twice_discards_it_once():
    world = World()
    world.entered(1, "d1", "p1")
    (status,) = world.jobs()
    assert world.discard_jobs(status.job_id, status.job_id) == 1
    assert world.jobs() == []


def test_a_job_whose_dispatch_holds_no_lease_is_refused_and_not_stored():
    world = World()
    assert world.enqueue(job(1, "d1")) is Enqueued.NO_ACTIVE_DISPATCH
    world.admit(1, "d1")
    assert world.enqueue(job(1, "d2")) is Enqueued.NO_ACTIVE_DISPATCH
    world.passes(15.0)
    assert world.enqueue(job(1, "d1")) is Enqueued.NO_ACTIVE_DISPATCH
    assert world.jobs() == []


@pytest.mark.parametrize("window", [False, True])
def test_a_job_that_is_refused_wakes_no_claim_that_waits(window: bool):
    world = World()
    if window:
        world.store.lose()
    heard = world.store._bell.rings
    assert world.enqueue(job(1, "d1")) is Enqueued.NO_ACTIVE_DISPATCH
    assert world.store._bell.rings == heard


def test_a_dispatch_with_a_live_job_and_no_lease_gets_the_lease_in_the_same_step():
    world = World()
    world.entered(1, "d1", "p1")
    world.passes(60.0)
    assert world.enqueue(job(1, "d1", "p2")) is Enqueued.STORED
    lease = world.lease(1)
    assert lease is not None
    assert lease.remaining == 60.0


def test_it_does_not_get_the_lease_when_another_dispatch_holds_it():
    world = World()
    world.entered(1, "d1", "p1")
    taken_over(world)
    assert world.enqueue(job(1, "d1", "p2")) is Enqueued.NO_ACTIVE_DISPATCH


def test_a_queued_job_is_adopted_by_the_next_dispatch():
    world = World()
    world.entered(1, "d1")
    taken_over(world)
    assert world.enqueue(job(1, "d2", fence=2)) is Enqueued.RELABELLED
    assert [(status.dispatch_id, status.fence) for status in world.jobs()] == [("d2", 2)]
    assert world.jobs(dispatches=["d1"]) == []
    assert world.claim(SPEAKER).job.dispatch_id == "d2"
    assert world.claims(SPEAKER) == []


def test_a_delayed_job_is_adopted_with_its_delay():
    world = World()
    world.admit(1, "d1")
    world.enqueue(job(1, "d1", not_before=world.clock.now() + 100.0))
    taken_over(world)
    assert world.enqueue(job(1, "d2", fence=2)) is Enqueued.RELABELLED
    assert [status.state for status in world.jobs(dispatches=["d2"])] == [JobState.DELAYED]
    assert world.claims(SPEAKER) == []


def test_a_running_job_is_adopted_and_settled_in_the_name_of_the_new_dispatch():
    world = World()
    world.entered(1, "d1")
    claim = world.claim(SPEAKER)
    taken_over(world)
    assert world.enqueue(job(1, "d2", fence=2)) is Enqueued.RELABELLED
    assert world.beat(SPEAKER, claim) is Answer.CONTINUE
    assert world.release(1, "d1") is False  # nothing carries its label any more
    assert world.beat(SPEAKER, claim) is Answer.CONTINUE
    settled = world.settle(claim, SPEAKER)
    assert (settled.present, settled.dispatch_id, settled.fence) == (True, DispatchId("d2"), 2)


def test_relabelling_lifts_a_stop_that_no_heartbeat_has_carried():
    world = World()
    order = world.entered(1, "d1")
    claim = world.claim(SPEAKER)
    world.release(1, "d1")
    world.admit(1, "d2")
    assert world.enqueue(replace(order, dispatch_id=DispatchId("d2"), fence=2)) is Enqueued.RELABELLED
    assert world.beat(SPEAKER, claim) is Answer.CONTINUE
    assert [status.live for status in world.jobs()] == [True]


def stopped_and_held(world: World) -> Claim:
    """A claim was told to stop, and the same job was entered again by the next dispatch."""
    world.entered(1, "d1")
    claim = world.claim(SPEAKER)
    world.release(1, "d1")
    assert world.beat(SPEAKER, claim) is Answer.STOP
    world.admit(1, "d2")
    assert world.enqueue(job(1, "d2", fence=2)) is Enqueued.HELD
    return claim


def test_a_stop_that_was_carried_is_final_and_the_new_job_waits():
    world = World()
    claim = stopped_and_held(world)
    assert world.claims(OTHER) == []
    assert world.beat(SPEAKER, claim) is Answer.STOP
    assert world.enqueue(job(1, "d2", fence=2)) is Enqueued.HELD
    states = {status.dispatch_id: (status.state, status.live, status.stopping) for status in world.jobs()}
    assert states == {"d1": (JobState.CLAIMED, False, True), "d2": (JobState.DELAYED, True, False)}


def test_a_job_that_waits_for_a_stopped_claim_keeps_its_dispatch_alive():
    world = World()
    stopped_and_held(world)
    assert world.renew(1, "d2") is Renewal.RENEWED


def test_the_waiting_job_is_claimed_once_the_stopped_claim_is_settled():
    world = World()
    claim = stopped_and_held(world)
    settled = world.settle(claim, SPEAKER)
    assert (settled.present, settled.dispatch_id, settled.fence) == (True, DispatchId("d1"), 1)
    assert world.claim(OTHER).job.dispatch_id == "d2"
    assert world.claims(OTHER) == []


def test_the_waiting_job_is_claimed_once_the_stopped_claim_is_silent():
    world = World()
    claim = stopped_and_held(world)
    world.passes(29.0)
    assert world.sweep() == []
    assert world.claims(OTHER) == []
    world.passes(1.0)
    assert [(lost.claim_no, lost.requeued) for lost in world.sweep()] == [(claim.claim_no, False)]
    assert world.claim(OTHER).job.dispatch_id == "d2"


def test_the_waiting_job_goes_with_its_dispatch():
    world = World()
    claim = stopped_and_held(world)
    assert world.release(1, "d2") is True
    assert world.settle(claim, SPEAKER).present
    assert world.jobs() == []


def test_the_waiting_job_can_be_discarded_and_entered_again():
    world = World()
    claim = stopped_and_held(world)
    assert world.discard_jobs(claim.job.job_id) == 1
    assert world.renew(1, "d2") is Renewal.UNCHANGED
    assert world.enqueue(job(1, "d2", fence=2)) is Enqueued.HELD
    world.settle(claim, SPEAKER)
    assert world.claim(OTHER).job.dispatch_id == "d2"


def test_a_failure_of_the_stopped_claim_delays_the_waiting_job():
    world = World()
    claim = stopped_and_held(world)
    world.settle(claim, SPEAKER, INFRASTRUCTURE, requeue_at=world.clock.now() + 8.0)
    assert world.claims(OTHER) == []
    world.passes(8.0)
    assert world.claim(OTHER).job.dispatch_id == "d2"


def test_a_job_with_another_profile_is_found_under_that_one():
    world = World()
    world.entered(1, "d1")
    assert world.enqueue(job(1, "d1", profile="piper")) is Enqueued.RELABELLED
    assert world.claims(SPEAKER) == []
    assert world.claim(worker("w3", piper=1), profile="piper").job.profile == "piper"


def test_a_job_that_moves_to_another_lane_leaves_the_old_one():
    world = World()
    world.entered(1, "d1")
    world.enqueue(job(1, "d1", pair=Pair("audio", "other")))
    assert world.jobs(pair=AUDIO) == []
    assert world.claims(SPEAKER) == []
    assert world.claim(worker("w3", lanes=("other",))).job.lane == "other"


def test_discarding_drops_what_waits_and_stops_what_runs_and_counts_each_once():
    world = World()
    for asset in (1, 2):
        world.entered(asset, f"d{asset}")
    claim = world.claim(SPEAKER)
    world.admit(3, "d3")
    world.enqueue(job(3, "d3", not_before=world.clock.now() + 60.0))
    assert world.discard_jobs(*(status.job_id for status in world.jobs())) == 3
    assert world.discard_jobs(claim.job.job_id) == 0
    assert world.beat(SPEAKER, claim) is Answer.STOP
    assert [status.stopping for status in world.jobs()] == [True]
    world.settle(claim, SPEAKER)
    assert world.jobs() == []


@pytest.mark.parametrize(
    ("of", "left"),
    [
        ({}, set()),
        ({"book_key": 1}, {3}),
        ({"pair": AUDIO}, {3}),
        ({"assets": [1]}, {2, 3}),
        ({"dispatches": ["d2", "d3"]}, {1}),
        ({"book_key": 2, "pair": AUDIO}, {1, 2, 3}),
    ],
)
def test_discarding_is_by_exact_book_pair_asset_and_dispatch(of: dict[str, object], left: set[int]):
    world = World()
    world.entered(1, "d1")
    world.entered(2, "d2")
    world.entered(3, "d3", book=2, pair=Pair("image", "system"))
    assert {status.asset for status in world.jobs(**of)} == {1, 2, 3} - left
    assert world.discard(**of) == 3 - len(left)
    assert {status.asset for status in world.jobs()} == left


def test_a_job_shows_where_it_is():
    world = World()
    world.entered(1, "d1", "p1")
    status = world.jobs()[0]
    assert (status.state, status.live, status.claim_no, status.worker) == (JobState.QUEUED, True, 0, "")
    claim = world.claim(SPEAKER)
    world.beat(SPEAKER, claim, 0.5)
    status = world.jobs()[0]
    assert (status.state, status.live, status.progress) == (JobState.CLAIMED, True, 0.5)
    assert (status.claim_no, status.worker) == (claim.claim_no, SPEAKER.key)
