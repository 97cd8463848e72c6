"""Renewing, granting, releasing (CONTRACT 6, 8)."""

from __future__ import annotations

from coordination_world import World, job, worker

from animastor.coordination import Limits
from animastor.engine.ports import Enqueued, Renewal
from animastor.engine.reasons import Reason
from animastor.protocol import Answer, Claim, DispatchId
from virtual_clock import now

SPEAKER = worker("w1")


def remaining(world: World, asset: int) -> float:
    lease = world.lease(asset)
    assert lease is not None
    return lease.remaining


def test_renewing_pins_the_lease_again_and_never_accumulates():
    world = World()
    world.entered(1, "d1")
    for _ in range(5):
        world.passes(10.0)
        assert world.renew(1, "d1") is Renewal.RENEWED
        assert world.renew(1, "d1") is Renewal.RENEWED
        assert remaining(world, 1) == 60.0


def test_a_lease_without_a_live_job_is_not_renewed_but_runs_on():
    world = World()
    world.admit(1, "d1")
    world.passes(5.0)
    assert world.renew(1, "d1") is Renewal.UNCHANGED
    assert remaining(world, 1) == 10.0


def test_a_dispatch_with_neither_lease_nor_live_job_gets_nothing():
    world = World()
    assert world.renew(1, "d1") is Renewal.NO_JOB
    assert world.lease(1) is None


def test_a_lost_lease_of_a_live_job_is_granted_again_even_above_the_quota():
    world = World(Limits(min_quota={"audio": 1}))
    world.entered(1, "d1")
    world.passes(60.0)
    world.admit(2, "d2")
    assert world.renew(1, "d1") is Renewal.REATTACHED
    assert {lease.asset for lease in world.leases()} == {1, 2}
    assert world.pair().free == 0


def test_another_dispatch_that_holds_the_asset_wins():
    world = World()
    world.entered(1, "d1")
    world.passes(60.0)
    world.admit(1, "d2")
    assert world.renew(1, "d1") is Renewal.LOST
    assert world.grant(1, "d1") is Renewal.LOST
    assert [lease.dispatch_id for lease in world.leases()] == ["d2"]


def test_a_delayed_job_keeps_its_lease_alive():
    world = World()
    world.admit(1, "d1")
    world.enqueue(job(1, "d1", not_before=world.clock.now() + 25.0))
    world.passes(20.0)
    assert world.renew(1, "d1") is Renewal.RENEWED


def test_a_running_job_keeps_its_lease_alive_until_it_is_marked_stop():
    world = World()
    order = world.entered(1, "d1")
    world.claim(SPEAKER)
    assert world.renew(1, "d1") is Renewal.RENEWED
    world.discard_jobs(order.job_id)
    assert world.renew(1, "d1") is Renewal.UNCHANGED


def test_a_silent_claim_is_live_until_a_sweep_has_dealt_with_it():
    world = World()
    world.entered(1, "d1")
    claim = world.claim(SPEAKER)
    world.passes(100.0)
    assert world.renew(1, "d1") is Renewal.REATTACHED
    assert [lost.claim_no for lost in world.sweep()] == [claim.claim_no]
    assert world.renew(1, "d1") is Renewal.RENEWED  # it is queued again


def test_a_merge_that_is_about_to_be_entered_may_have_its_lease_granted_again():
    world = World()
    assert world.grant(1, "d1") is Renewal.REATTACHED
    assert world.enqueue(job(1, "d1", kind="merge")) is Enqueued.STORED
    assert world.grant(1, "d1") is Renewal.RENEWED


def test_releasing_frees_lease_slot_and_jobs_and_may_be_repeated():
    world = World(Limits(min_quota={"audio": 1}))
    world.entered(1, "d1")
    assert world.release(1, "d1") is True
    assert world.leases() == []
    assert world.jobs() == []
    assert world.pair().free == 1
    assert world.release(1, "d1") is False


def test_releasing_a_dispatch_that_lost_its_asset_touches_only_its_own_jobs():
    world = World()
    world.entered(1, "d1", "old")
    world.passes(60.0)
    world.entered(1, "d2", "new")
    assert world.release(1, "d1") is True
    assert [status.dispatch_id for status in world.jobs()] == ["d2"]
    assert [lease.dispatch_id for lease in world.leases()] == ["d2"]


def test_releasing_tells_running_jobs_to_stop():
    world = World()
    world.entered(1, "d1")
    claim = world.claim(SPEAKER)
    world.release(1, "d1")
    assert world.beat(SPEAKER, claim) is Answer.STOP


def test_a_slow_replica_cannot_revive_what_was_released():
    world = World(era=1)
    order = world.entered(1, "d1")
    claim = world.claim(SPEAKER)
    world.settle(claim, SPEAKER)
    world.release(1, "d1")
    world.passes(119.0)
    assert world.admit(1, "d1") is Reason.RELEASED
    assert world.renew(1, "d1") is Renewal.LOST
    assert world.grant(1, "d1") is Renewal.LOST
    assert world.enqueue(order) is Enqueued.NO_ACTIVE_DISPATCH
    now(world.store.reregister([(claim, SPEAKER.key)]))
    assert world.jobs() == []


def test_releasing_again_makes_the_mark_last_from_then_on():
    world = World()
    world.release(1, "d1")
    world.passes(100.0)
    world.release(1, "d1")
    world.passes(100.0)
    assert world.admit(1, "d1") is Reason.RELEASED


def test_a_job_that_the_release_caught_running_is_gone_when_it_ends():
    world = World()
    world.entered(1, "d1")
    claim = world.claim(SPEAKER)
    world.release(1, "d1")
    settled = world.settle(claim, SPEAKER, requeue_at=0.0, counted=False)
    assert settled.present
    assert settled.dispatch_id == DispatchId("d1")
    assert world.jobs() == []


def test_an_unknown_claim_is_not_settled_twice():
    world = World()
    world.entered(1, "d1")
    claim = world.claim(SPEAKER)
    assert world.settle(claim, SPEAKER).present
    assert not world.settle(claim, SPEAKER).present
    assert not world.settle(Claim(claim.job, claim.claim_no + 1), SPEAKER).present
