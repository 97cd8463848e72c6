"""Silent and overdue claims (CONTRACT 6, 7, 11): what a sweep ends, and what the hub's own absence excuses."""

from __future__ import annotations

import pytest
from coordination_world import World, job, worker

from animastor.engine.ports import Enqueued, JobState
from animastor.engine.reasons import Reason
from animastor.protocol import Answer
from virtual_clock import now

SPEAKER, OTHER = worker("w1"), worker("w2")


def test_a_claim_that_no_heartbeat_lists_for_thirty_seconds_goes_back_to_the_queue_at_once():
    world = World()
    world.entered(1, "d1")
    claim = world.claim(SPEAKER)
    world.passes(29.9)
    assert world.sweep() == []
    world.passes(0.1)
    lost = world.sweep()
    assert [(one.claim_no, one.worker, one.reason, one.requeued) for one in lost] == [
        (claim.claim_no, SPEAKER.key, Reason.WORKER_SILENT, True)
    ]
    assert [status.state for status in world.jobs()] == [JobState.QUEUED]
    assert world.sweep() == []


def test_who_is_about_to_be_swept_is_told_before_and_stays_until_then():
    world = World()
    for asset in (1, 2):
        world.entered(asset, f"d{asset}")
    first, second = world.claims(SPEAKER, 2)
    world.passes(29.9)
    assert now(world.store.silent(10)) == []
    world.beat(SPEAKER, second)
    world.passes(0.1)
    (told,) = now(world.store.silent(10))
    assert (told.job_id, told.claim_no, told.worker) == (first.job.job_id, first.claim_no, SPEAKER.key)
    assert [lost.claim_no for lost in world.sweep()] == [first.claim_no]


def test_heartbeats_that_list_it_keep_a_claim():
    world = World()
    world.entered(1, "d1")
    claim = world.claim(SPEAKER)
    for _ in range(10):
        world.passes(25.0)
        assert world.beat(SPEAKER, claim) is Answer.CONTINUE
        assert world.sweep() == []


def test_heartbeats_that_list_another_claim_do_not():
    world = World()
    for asset in (1, 2):
        world.entered(asset, f"d{asset}")
    first, second = world.claims(SPEAKER, 2)
    world.passes(25.0)
    world.beat(SPEAKER, first)
    world.passes(5.0)
    assert [lost.claim_no for lost in world.sweep()] == [second.claim_no]


def test_the_silent_worker_does_not_get_it_again_while_another_is_able():
    world = World()
    now(world.store.register(OTHER))
    world.entered(1, "d1")
    world.claim(SPEAKER)
    world.passes(30.0)
    world.sweep()
    assert world.claims(SPEAKER) == []
    assert world.claim(OTHER).job.asset == 1


def test_it_does_when_no_other_is_able():
    world = World()
    world.entered(1, "d1")
    world.claim(SPEAKER)
    world.passes(30.0)
    world.sweep()
    assert world.claim(SPEAKER).job.asset == 1


def test_it_does_again_when_the_other_was_not_seen_for_a_minute():
    world = World()
    now(world.store.register(OTHER))
    world.entered(1, "d1")
    world.claim(SPEAKER)
    world.passes(30.0)
    world.sweep()
    world.passes(30.0)
    assert world.claim(SPEAKER).job.asset == 1


def test_what_a_silent_worker_had_is_served_first():
    world = World()
    world.admit(1, "d1")
    for part in ("p1", "p2"):
        world.enqueue(job(1, "d1", part))
    world.claim(SPEAKER)
    world.passes(30.0)
    world.sweep()
    assert world.claim(OTHER).job.input_hash == "p1"


def test_a_silent_claim_that_is_marked_stop_is_dropped():
    world = World()
    order = world.entered(1, "d1")
    world.claim(SPEAKER)
    world.discard_jobs(order.job_id)
    world.passes(30.0)
    assert [lost.requeued for lost in world.sweep()] == [False]
    assert world.jobs() == []


def test_a_silent_claim_of_a_released_dispatch_is_dropped():
    world = World()
    world.entered(1, "d1")
    world.claim(SPEAKER)
    world.release(1, "d1")
    world.passes(30.0)
    assert [lost.requeued for lost in world.sweep()] == [False]
    assert world.jobs() == []


def test_a_claim_that_was_swept_is_stale_and_its_worker_is_told_to_stop():
    world = World()
    world.entered(1, "d1")
    claim = world.claim(SPEAKER)
    world.passes(30.0)
    world.sweep()
    assert world.beat(SPEAKER, claim) is Answer.STOP
    assert not world.settle(claim, SPEAKER).present
    second = world.claim(OTHER)
    assert not world.settle(claim, SPEAKER).present
    assert world.settle(second, OTHER).present


def test_a_result_of_a_swept_claim_is_settled_once_its_ticket_made_it_known_again():
    world = World()
    world.entered(1, "d1")
    claim = world.claim(SPEAKER)
    world.passes(30.0)
    world.sweep()
    now(world.store.reregister([(claim, SPEAKER.key)]))
    assert world.claims(OTHER) == []
    assert world.settle(claim, SPEAKER).present
    assert world.jobs() == []


def test_silence_counts_only_while_a_server_was_there():
    world = World()
    world.entered(1, "d1")
    claim = world.claim(SPEAKER)
    world.clock.jump(300.0)  # no server
    assert world.sweep() == []
    now(world.store.serving())
    world.passes(29.9)
    assert world.sweep() == []
    world.passes(0.1)
    assert [lost.claim_no for lost in world.sweep()] == [claim.claim_no]


def test_a_server_that_comes_back_first_starts_every_silence_anew():
    world = World()
    world.entered(1, "d1")
    world.claim(SPEAKER)
    world.clock.jump(10.1)
    now(world.store.serving())
    world.passes(20.0)
    assert world.sweep() == []
    world.passes(10.0)
    assert len(world.sweep()) == 1


def test_a_server_that_was_away_for_ten_seconds_changes_nothing():
    world = World()
    world.entered(1, "d1")
    world.claim(SPEAKER)
    for _ in range(3):
        world.clock.jump(10.0)
        now(world.store.serving())
    assert len(world.sweep()) == 1


@pytest.mark.parametrize("progressing", [True, False])
def test_a_job_without_progress_is_ended_a_minute_after_its_worker_should_have(progressing: bool):
    world = World()
    world.admit(1, "d1")
    world.enqueue(job(1, "d1", timeout_s=100.0))
    claim = world.claim(SPEAKER)
    seconds = 0.0
    lost = []
    while not lost:
        world.passes(10.0)
        seconds += 10.0
        world.beat(SPEAKER, claim, seconds if progressing else 1.0)
        lost = list(world.sweep())
    assert [(one.reason, one.requeued) for one in lost] == [(Reason.JOB_TIMEOUT, True)]
    assert seconds == (460.0 if progressing else 170.0)  # 4 × 100 + 60, and 10 (one step forward) + 100 + 60
    assert world.beat(SPEAKER, claim) is Answer.STOP


def test_a_job_that_reports_progress_may_run_for_hours():
    world = World()
    world.admit(1, "d1")
    world.enqueue(job(1, "d1", timeout_s=3600.0))
    claim = world.claim(SPEAKER)
    for step in range(1, 4 * 3600 // 20):
        world.passes(20.0)
        assert world.beat(SPEAKER, claim, float(step)) is Answer.CONTINUE
        assert world.sweep() == []


def test_a_claim_that_goes_back_starts_its_time_anew():
    world = World()
    world.admit(1, "d1")
    world.enqueue(job(1, "d1", timeout_s=60.0))
    first = world.claim(SPEAKER)
    for _ in range(11):
        world.passes(10.0)
        world.beat(SPEAKER, first)
    world.hand_back(first, SPEAKER)
    second = world.claim(OTHER)
    for _ in range(11):
        world.passes(10.0)
        world.beat(OTHER, second)
        assert world.sweep() == []
    world.passes(10.0)
    world.beat(OTHER, second)
    assert [lost.claim_no for lost in world.sweep()] == [second.claim_no]


def test_after_everything_has_ended_nothing_is_left():
    world = World()
    for asset in range(6):
        world.entered(asset, f"d{asset}")
    claims = world.claims(SPEAKER, 4)
    world.settle(claims[0], SPEAKER)
    for asset in range(6):
        world.release(asset, f"d{asset}")
    world.passes(30.0)
    world.sweep()
    assert world.jobs() == []
    assert world.leases() == []
    assert world.pair().leases == 0


def test_a_job_that_was_swept_can_be_entered_by_the_next_dispatch():
    world = World()
    world.entered(1, "d1")
    world.claim(SPEAKER)
    world.passes(60.0)
    world.admit(1, "d2")
    world.sweep()
    assert world.enqueue(job(1, "d2", fence=2)) is Enqueued.RELABELLED
    assert world.claim(OTHER).job.fence == 2


def test_a_job_that_was_lost_three_times_is_not_given_away_before_the_database_could_count_that():
    world = World()
    world.entered(1, "d1")
    for _ in range(3):
        assert world.claim(SPEAKER).job.asset == 1
        world.passes(30.0)
        assert [one.requeued for one in world.sweep()] == [True]
    assert [status.state for status in world.jobs()] == [JobState.DELAYED]
    assert world.claims(SPEAKER) == []
    world.passes(5.0)
    assert world.claim(SPEAKER).job.asset == 1
