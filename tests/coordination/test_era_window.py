"""A store that has lost what it knew (CONTRACT 11): nothing begins for 40 s, and what runs becomes known again."""

from __future__ import annotations

import asyncio
from datetime import timedelta

from coordination_world import World, job, worker

from animastor.engine.ports import Enqueued, JobState, Renewal
from animastor.engine.reasons import Reason
from animastor.protocol import ERA_BITS, Answer, Claim
from virtual_clock import now

SPEAKER, OTHER = worker("w1"), worker("w2")


def lost_while_running() -> tuple[World, Claim]:
    """A store that was emptied while asset 1 was being made; the next era has just begun."""
    world = World(window=True)
    world.passes(40.0)
    world.entered(1, "d1")
    claim = world.claim(SPEAKER)
    world.store.lose()
    assert now(world.store.era()) is None
    assert world.beat(SPEAKER, claim) is Answer.CONTINUE
    now(world.store.set_era(2))
    now(world.store.serving())
    return world, claim


def test_without_an_era_nothing_begins():
    world = World(era=None)
    assert now(world.store.era()) is None
    assert world.admit(1, "d1") is Reason.ERA_WINDOW
    assert world.enqueue(job(1, "d1")) is Enqueued.NO_ACTIVE_DISPATCH
    assert world.claims(SPEAKER) == []
    now(world.store.set_era(1))
    world.entered(1, "d1")
    assert world.claims(SPEAKER)


def test_for_forty_seconds_nothing_is_admitted_or_entered():
    world = World(window=True)
    assert world.admit(1, "d1") is Reason.ERA_WINDOW
    assert world.grant(1, "d1") is Renewal.NO_JOB
    world.passes(39.9)
    assert world.admit(1, "d1") is Reason.ERA_WINDOW
    assert world.enqueue(job(1, "d1")) is Enqueued.NO_ACTIVE_DISPATCH
    world.passes(0.1)
    world.entered(1, "d1")


def test_an_era_that_only_grows_opens_no_window():
    world = World(window=True)
    world.passes(40.0)
    now(world.store.set_era(9))
    assert world.admit(1, "d1") is Reason.GRANTED


def test_what_runs_becomes_known_again_and_is_settled():
    world, claim = lost_while_running()
    now(world.store.reregister([(claim, SPEAKER.key)]))
    assert world.beat(SPEAKER, claim) is Answer.CONTINUE
    assert world.renew(1, "d1") is Renewal.REATTACHED
    assert world.settle(claim, SPEAKER).present
    assert world.jobs() == []


def test_not_even_a_dispatch_that_has_its_lease_again_enters_or_claims_anything_in_the_window():
    world, claim = lost_while_running()
    now(world.store.reregister([(claim, SPEAKER.key)]))
    assert world.renew(1, "d1") is Renewal.REATTACHED
    assert world.enqueue(job(1, "d1", "p2")) is Enqueued.NO_ACTIVE_DISPATCH
    world.hand_back(claim, SPEAKER)
    world.passes(39.9)
    assert world.claims(OTHER, 9) == []
    world.passes(0.1)
    assert [claim.job.input_hash for claim in world.claims(OTHER, 9)] == ["p1"]


def test_what_runs_gets_the_label_that_it_is_registered_with():
    world, claim = lost_while_running()
    relabelled = Claim(job(1, "d2", fence=2), claim.claim_no)
    now(world.store.reregister([(relabelled, SPEAKER.key)]))
    settled = world.settle(claim, SPEAKER)
    assert (settled.dispatch_id, settled.fence) == ("d2", 2)


def test_a_claim_that_is_known_stays_as_it_is():
    world = World()
    world.entered(1, "d1")
    claim = world.claim(SPEAKER)
    now(world.store.reregister([(Claim(job(1, "d9", fence=9), 1), OTHER.key), (claim, SPEAKER.key)]))
    settled = world.settle(claim, SPEAKER)
    assert (settled.present, settled.dispatch_id) == (True, "d1")


def test_a_known_job_that_waits_keeps_its_label_when_its_claim_turns_up():
    world = World()
    order = job(1, "d2", fence=2)
    world.admit(1, "d2")
    world.enqueue(order)
    old = Claim(job(1, "d1"), 5)
    now(world.store.reregister([(old, SPEAKER.key)]))
    assert world.claims(OTHER) == []
    settled = world.settle(old, SPEAKER)
    assert (settled.present, settled.dispatch_id) == (True, "d2")


def test_a_delayed_job_can_be_adopted_by_its_old_claim():
    world = World()
    world.admit(1, "d2")
    world.enqueue(job(1, "d2", not_before=world.clock.now() + 50.0))
    now(world.store.reregister([(Claim(job(1, "d1"), 5), SPEAKER.key)]))
    world.passes(20.0)
    world.beat(SPEAKER, Claim(job(1, "d1"), 5))
    world.passes(29.9)
    world.beat(SPEAKER, Claim(job(1, "d1"), 5))
    world.passes(20.0)
    assert world.claims(OTHER) == []
    assert [status.state for status in world.jobs()] == [JobState.CLAIMED]


def test_nobody_is_given_up_in_the_window_and_who_stays_silent_through_it_is_swept_after_it():
    world, claim = lost_while_running()
    now(world.store.reregister([(claim, SPEAKER.key)]))
    world.passes(39.9)
    assert world.sweep() == []
    world.passes(0.1)
    assert [lost.claim_no for lost in world.sweep()] == [claim.claim_no]


def test_an_unknown_claim_goes_on_in_the_window_and_is_stopped_after_it():
    world, claim = lost_while_running()
    world.passes(39.0)
    assert world.beat(SPEAKER, claim) is Answer.CONTINUE
    world.passes(1.0)
    assert world.beat(SPEAKER, claim) is Answer.STOP


def test_claim_numbers_of_the_next_era_are_greater():
    world, claim = lost_while_running()
    world.passes(40.0)
    world.entered(2, "d2")
    assert world.claim(OTHER).claim_no == (2 << ERA_BITS) + 1 > claim.claim_no


def test_a_heartbeat_makes_a_worker_known_again():
    world, claim = lost_while_running()
    assert world.pair().profiles == {"speech"}
    assert world.beat(SPEAKER, claim) is Answer.CONTINUE


def test_a_claim_that_waits_through_the_window_gets_what_is_entered_after_it():
    world = World(era=None, window=True)

    async def main() -> None:
        waiting = asyncio.ensure_future(world.store.claim(SPEAKER, {"speech": 1}, timedelta(seconds=90)))
        await world.clock.advance(5.0)
        await world.store.set_era(1)
        await world.clock.advance(40.0)
        world.entered(1, "d1")
        assert [claim.job.asset for claim in await waiting] == [1]
        assert world.clock.elapsed == 45.0

    world.clock.run(main())


def test_delayed_jobs_do_not_move_in_the_window():
    world = World(window=True)
    now(world.store.reregister([(Claim(job(1, "d1"), 5), SPEAKER.key)]))
    world.settle(Claim(job(1, "d1"), 5), SPEAKER, requeue_at=world.clock.now() + 10.0, counted=False)
    world.passes(20.0)
    world.sweep()
    assert [status.state for status in world.jobs()] == [JobState.DELAYED]
    world.passes(20.0)
    world.sweep()
    assert [status.state for status in world.jobs()] == [JobState.QUEUED]
