"""Fleet budgets delay retries, and only retries; a worker that fails at everything rests (CONTRACT 9)."""

from __future__ import annotations

from collections import Counter

from coordination_world import INFRASTRUCTURE, TRANSIENT, World, job, worker

from animastor.coordination import Limits
from animastor.coordination.budgets import Budget
from animastor.engine.ports import JobState
from animastor.engine.reasons import Reason
from animastor.protocol import BookKey, FailureType
from virtual_clock import now

SPEAKER = worker("w1", 1000)
ONE, TWO = BookKey(1), BookKey(2)
MANY = {"audio": 10_000}
CALM = Limits(min_quota=MANY, breaker_failures=10_000, quarantine_failures=10_000)


def failed(world: World, jobs: int, *, book: int = 1, failure: FailureType = TRANSIENT, first: int = 0) -> None:
    """So many jobs of a book that have failed and may be retried from now on."""
    for asset in range(first, first + jobs):
        world.entered(asset, f"d{asset}", book=book)
    for claim in world.claims(SPEAKER, jobs):
        world.settle(claim, SPEAKER, failure, requeue_at=world.clock.now())


def test_fifty_retries_of_a_type_are_let_through_in_five_minutes():
    world = World(CALM)
    failed(world, 60)
    assert len(world.claims(SPEAKER, 100)) == 50
    assert Counter(status.state for status in world.jobs()) == {JobState.CLAIMED: 50, JobState.DELAYED: 10}
    world.passes(299.9)
    assert world.claims(SPEAKER, 100) == []
    world.passes(0.1)
    assert len(world.claims(SPEAKER, 100)) == 10


def test_a_hundred_retries_of_all_types_together_are_let_through_in_a_minute():
    world = World(CALM)
    failed(world, 50, failure=TRANSIENT)
    failed(world, 50, failure=INFRASTRUCTURE, first=100)
    failed(world, 10, failure=FailureType.PERMANENT, first=200)
    assert len(world.claims(SPEAKER, 200)) == 100
    world.passes(60.0)
    assert len(world.claims(SPEAKER, 200)) == 10


def test_a_first_attempt_never_waits_for_a_budget():
    world = World(CALM)
    failed(world, 60)
    world.claims(SPEAKER, 100)
    for asset in range(200, 300):
        world.entered(asset, f"n{asset}")
    assert len(world.claims(SPEAKER, 100)) == 100


def test_work_that_is_handed_back_never_waits_for_a_budget():
    world = World(CALM)
    failed(world, 60)
    retries = world.claims(SPEAKER, 100)
    for claim in retries:
        world.hand_back(claim, SPEAKER)
    assert len(world.claims(SPEAKER, 100)) == 50


def test_a_delayed_job_that_is_a_retry_asks_when_its_time_comes():
    world = World(Limits(budget_per_type=1))
    world.admit(1, "d1")
    due = world.clock.now() + 5.0
    world.enqueue(*(job(1, "d1", part, not_before=due, retry_of=TRANSIENT) for part in ("p1", "p2")))
    world.passes(5.0)
    assert len(world.claims(SPEAKER, 9)) == 1


def test_a_retry_that_was_admitted_has_paid_and_is_queued_at_once():
    world = World(Limits(budget_per_type=1))
    assert world.admit(1, "d1", retrying=[TRANSIENT]) is Reason.GRANTED
    world.enqueue(job(1, "d1", retry_of=TRANSIENT))
    assert len(world.claims(SPEAKER)) == 1


def test_no_book_gets_more_than_half_while_another_has_retries():
    world = World(CALM)
    for asset in range(120):
        world.entered(asset, f"d{asset}", book=asset % 2 + 1)
    for claim in world.claims(SPEAKER, 120):
        world.settle(claim, SPEAKER, TRANSIENT, requeue_at=world.clock.now())
    books = Counter(claim.job.book_key for claim in world.claims(SPEAKER, 200))
    assert books == {1: 25, 2: 25}


def test_a_book_alone_may_use_all_of_it():
    world = World(CALM)
    failed(world, 60, book=1)
    assert len(world.claims(SPEAKER, 200)) == 50


def test_a_book_may_use_all_of_it_once_the_other_one_has_not_asked_for_the_whole_period():
    world = World(Limits(min_quota=MANY, budget_per_type=4))
    failed(world, 1, book=2)
    assert len(world.claims(SPEAKER, 9)) == 1
    world.passes(300.0)
    failed(world, 4, book=1, first=10)
    assert len(world.claims(SPEAKER, 9)) == 4


def test_a_retry_whose_admission_is_repeated_is_granted_again_and_pays_once():
    world = World(Limits(min_quota=MANY, budget_per_type=2))
    for _ in range(3):
        assert world.admit(1, "d1", retrying=[TRANSIENT]) is Reason.GRANTED
    assert world.admit(2, "d2", retrying=[TRANSIENT]) is Reason.GRANTED
    assert world.admit(3, "d3", retrying=[TRANSIENT]) is Reason.BACKOFF


def test_half_also_holds_in_admission():
    world = World(Limits(min_quota=MANY, budget_per_type=10))
    world.admit(0, "other", book=2, retrying=[TRANSIENT])
    answers = [world.admit(asset, f"d{asset}", book=1, retrying=[TRANSIENT]) for asset in range(1, 8)]
    assert answers == [Reason.GRANTED] * 5 + [Reason.BACKOFF] * 2
    assert world.admit(9, "d9", book=2, retrying=[TRANSIENT]) is Reason.GRANTED


def test_a_book_that_was_refused_counts_as_having_retries():
    budget = Budget(4, 60.0)
    for _ in range(4):
        budget.ask(ONE, 0.0)
        assert budget.allows(ONE, 0.0)
        budget.spend(ONE, 0.0)
    budget.ask(TWO, 30.0)
    assert not budget.allows(TWO, 30.0)
    for _ in range(2):
        budget.ask(ONE, 60.0)
        assert budget.allows(ONE, 60.0)
        budget.spend(ONE, 60.0)
    assert not budget.allows(ONE, 60.0)
    assert budget.allows(TWO, 60.0)
    budget.ask(ONE, 90.0)
    assert budget.allows(ONE, 90.0)  # the other has not asked for a whole period


def test_a_discarded_retry_gives_its_place_to_the_next():
    world = World(CALM)
    failed(world, 60)
    delayed = [status.job_id for status in world.jobs()]
    world.discard_jobs(*delayed[:20])
    assert len(world.claims(SPEAKER, 100)) == 40
    world.release(20, "d20")
    assert world.jobs(dispatches=["d20"])[0].stopping


def test_retries_held_back_by_a_budget_go_with_their_dispatch():
    world = World(CALM)
    failed(world, 60)
    world.claims(SPEAKER, 100)
    waiting = [status for status in world.jobs() if status.state is JobState.DELAYED]
    for status in waiting:
        assert world.release(status.asset, status.dispatch_id)
    world.passes(600.0)
    assert world.claims(SPEAKER, 100) == []


# --- quarantine ---

WORKER, ABLE = worker("w2", 1000), worker("w3", 10)


def failures(world: World, count: int, *, first: int) -> None:
    for asset in range(first, first + count):
        world.entered(asset, f"q{asset}")
    for claim in world.claims(WORKER, count):
        world.settle(claim, WORKER, TRANSIENT)


def gets_work(world: World, asset: int) -> bool:
    dispatch = f"g{next(world.numbers)}"
    world.entered(asset, dispatch)
    claims = world.claims(WORKER)
    for claim in claims:
        world.hand_back(claim, WORKER)
    world.release(asset, dispatch)
    return bool(claims)


QUIET = Limits(min_quota=MANY, breaker_failures=10_000)


def test_more_than_twenty_failures_in_a_minute_end_a_workers_claims_for_a_minute():
    world = World(QUIET)
    failures(world, 20, first=0)
    assert gets_work(world, 900)
    failures(world, 1, first=100)
    assert not gets_work(world, 901)
    world.passes(59.9)
    assert not gets_work(world, 902)
    world.passes(0.1)
    assert gets_work(world, 903)


def test_twenty_one_failures_over_more_than_a_minute_do_not():
    world = World(QUIET)
    failures(world, 10, first=0)
    world.passes(61.0)
    failures(world, 11, first=100)
    assert gets_work(world, 900)


def test_each_quarantine_is_twice_as_long_up_to_ten_minutes():
    world = World(QUIET)
    lengths = []
    for round_ in range(6):
        failures(world, 21, first=1000 * round_)
        began = world.clock.elapsed
        while not gets_work(world, 1000 * round_ + 999):
            world.passes(10.0)
        lengths.append(world.clock.elapsed - began)
    assert lengths == [60.0, 120.0, 240.0, 480.0, 600.0, 600.0]


def test_a_success_makes_the_next_quarantine_a_short_one():
    world = World(QUIET)
    failures(world, 21, first=0)
    world.passes(60.0)
    world.entered(500, "d500")
    world.settle(world.claim(WORKER), WORKER)
    failures(world, 21, first=1000)
    world.passes(60.0)
    assert gets_work(world, 1999)


def test_a_worker_in_quarantine_is_not_able():
    world = World(QUIET)
    now(world.store.register(ABLE))
    failures(world, 21, first=0)
    assert world.pair().quota == 10_000
    quota = World(Limits(breaker_failures=10_000, min_quota={"audio": 100}))
    now(quota.store.register(ABLE))
    now(quota.store.register(WORKER))
    failures(quota, 21, first=0)
    assert quota.pair().quota == 100
    quota.passes(59.0)
    quota.claims(WORKER)
    quota.passes(1.0)
    assert quota.pair().quota == 2000


def test_uncounted_failures_quarantine_nobody():
    world = World(QUIET)
    for asset in range(30):
        world.entered(asset, f"u{asset}")
    for claim in world.claims(WORKER, 30):
        world.settle(claim, WORKER, FailureType.MISCONFIGURED, counted=False)
    assert gets_work(world, 900)
