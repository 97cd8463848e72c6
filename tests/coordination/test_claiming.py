"""Claiming, heartbeats and settling (CONTRACT 5, 6, 7, 9, 12)."""

from __future__ import annotations

import asyncio
import gc
from collections.abc import Sequence
from datetime import timedelta
from types import FunctionType, ModuleType

from coordination_world import INFRASTRUCTURE, TRANSIENT, World, job, worker

from animastor.coordination import MemoryCoordination
from animastor.coordination.entries import Entry
from animastor.coordination.fleet import Known
from animastor.coordination.leases import LeaseRecord
from animastor.engine.ports import JobState
from animastor.engine.reasons import Reason
from animastor.protocol import ERA_BITS, Answer, Claim, FailureType, Pair, Worker
from virtual_clock import now

SPEAKER, OTHER = worker("w1"), worker("w2")


def test_claim_numbers_grow_and_start_behind_the_era():
    world = World(era=7)
    for asset in (1, 2):
        world.entered(asset, f"d{asset}")
    numbers = [claim.claim_no for claim in world.claims(SPEAKER, 2)]
    assert numbers == [(7 << ERA_BITS) + 1, (7 << ERA_BITS) + 2]
    now(world.store.set_era(8))
    world.entered(3, "d3")
    assert world.claim(SPEAKER).claim_no == (8 << ERA_BITS) + 1


def test_an_older_era_is_ignored():
    world = World(era=7)
    now(world.store.set_era(6))
    assert now(world.store.era()) == 7


def test_books_are_served_in_turn_however_long_their_queues_are():
    world = World()
    world.admit(1, "d1", book=1)
    for part in range(6):
        world.enqueue(job(1, "d1", f"p{part}", book=1))
    world.admit(2, "d2", book=2)
    for part in range(2):
        world.enqueue(job(2, "d2", f"p{part}", book=2))
    world.admit(3, "d3", book=3)
    world.enqueue(job(3, "d3", "p0", book=3))
    order = [(claim.job.book_key, claim.job.input_hash) for claim in world.claims(SPEAKER, 9)]
    assert order == [
        (1, "p0"), (2, "p0"), (3, "p0"),
        (1, "p1"), (2, "p1"),
        (1, "p2"), (1, "p3"), (1, "p4"), (1, "p5"),
    ]  # fmt: skip


def test_the_turn_of_the_books_goes_on_from_claim_to_claim():
    world = World()
    for book in (1, 2, 3):
        world.admit(book, f"d{book}", book=book)
        for part in range(2):
            world.enqueue(job(book, f"d{book}", f"p{part}", book=book))
    assert [world.claim(SPEAKER).job.book_key for _ in range(6)] == [1, 2, 3, 1, 2, 3]


def test_the_limit_is_by_profile():
    world = World()
    for asset in range(4):
        world.entered(asset, f"s{asset}")
    for asset in range(4, 6):
        world.admit(asset, f"m{asset}")
        world.enqueue(job(asset, f"m{asset}", kind="merge"))
    claims = world.claim_all(SPEAKER, {"speech": 3, "merge": 1, "unknown": 5, "none": 0})
    assert sorted(claim.job.profile for claim in claims) == ["merge", "speech", "speech", "speech"]


def test_a_worker_gets_only_jobs_of_its_lanes():
    world = World()
    world.entered(1, "d1", pair=Pair("audio", "alice"))
    assert world.claims(SPEAKER) == []
    assert world.claim(worker("w3", lanes=("bob", "alice"))).job.asset == 1


def test_a_worker_of_two_lanes_does_not_starve_the_second():
    world = World()
    both = worker("w3", lanes=("alice", "bob"))
    for asset in range(8):
        world.entered(asset, f"d{asset}", pair=Pair("audio", "alice" if asset < 6 else "bob"))
    assert [world.claim(both).job.lane for _ in range(4)] == ["alice", "bob", "alice", "bob"]


def test_a_claimed_job_is_not_claimed_again():
    world = World()
    world.entered(1, "d1")
    assert len(world.claims(SPEAKER, 5)) == 1
    assert world.claims(OTHER, 5) == []


def test_a_heartbeat_is_heard_only_from_the_worker_that_holds_the_claim():
    world = World()
    world.entered(1, "d1")
    claim = world.claim(SPEAKER)
    assert world.beat(SPEAKER, claim) is Answer.CONTINUE
    assert world.beat(OTHER, claim) is Answer.STOP
    assert world.beat(SPEAKER, Claim(claim.job, claim.claim_no - 1)) is Answer.STOP


def test_a_verdict_counts_only_from_the_present_claim_of_its_worker():
    world = World()
    world.entered(1, "d1")
    claim = world.claim(SPEAKER)
    assert not world.settle(claim, OTHER).present
    assert not world.settle(Claim(claim.job, claim.claim_no + 1), SPEAKER).present
    assert world.settle(claim, SPEAKER).present


def test_a_settled_job_is_over():
    world = World()
    world.entered(1, "d1")
    world.settle(world.claim(SPEAKER), SPEAKER)
    assert world.jobs() == []
    assert world.lease(1) is not None  # its end is the release


def test_a_failed_job_is_delayed_until_its_time():
    world = World()
    world.entered(1, "d1")
    due = world.clock.now() + 12.0
    world.settle(world.claim(SPEAKER), SPEAKER, TRANSIENT, requeue_at=due)
    status = world.jobs()[0]
    assert (status.state, status.live, status.due_at) == (JobState.DELAYED, True, due)
    world.passes(11.9)
    assert world.claims(SPEAKER) == []
    world.passes(0.1)
    assert world.claim(SPEAKER).job.asset == 1


def test_a_job_may_be_entered_with_a_delay():
    world = World()
    world.admit(1, "d1")
    world.enqueue(job(1, "d1", not_before=world.clock.now() + 5.0))
    assert world.claims(SPEAKER) == []
    world.passes(5.0)
    assert world.sweep() == []
    assert [status.state for status in world.jobs()] == [JobState.QUEUED]


def test_each_delayed_job_has_its_own_time():
    world = World()
    world.admit(1, "d1")
    for delay in (5.0, 7.0, 6.0):
        world.enqueue(job(1, "d1", f"after {delay:g}", not_before=world.clock.now() + delay))
    world.passes(4.0)
    order = []
    for _ in range(4):
        order.append([claim.job.input_hash for claim in world.claims(SPEAKER, 9)])
        world.passes(1.0)
    assert order == [[], ["after 5"], ["after 6"], ["after 7"]]


def test_work_that_is_handed_back_is_first_in_the_queue_of_its_book():
    world = World()
    world.admit(1, "d1")
    for part in ("p1", "p2", "p3"):
        world.enqueue(job(1, "d1", part))
    world.hand_back(world.claim(SPEAKER), SPEAKER)
    assert world.claim(OTHER).job.input_hash == "p1"


def test_an_infrastructure_failure_goes_to_another_worker_when_there_is_one():
    world = World()
    now(world.store.register(OTHER))
    world.entered(1, "d1")
    world.settle(world.claim(SPEAKER), SPEAKER, INFRASTRUCTURE, requeue_at=world.clock.now())
    assert world.claims(SPEAKER) == []
    assert world.claim(OTHER).job.asset == 1


def test_it_goes_to_the_same_worker_when_there_is_no_other():
    world = World()
    world.entered(1, "d1")
    world.settle(world.claim(SPEAKER), SPEAKER, INFRASTRUCTURE, requeue_at=world.clock.now())
    assert world.claim(SPEAKER).job.asset == 1


def test_a_worker_that_may_not_have_one_job_gets_the_next():
    world = World()
    now(world.store.register(OTHER))
    world.admit(1, "d1")
    world.enqueue(job(1, "d1", "p1"), job(1, "d1", "p2"))
    world.settle(world.claim(SPEAKER), SPEAKER, FailureType.MISCONFIGURED, counted=False, requeue_at=0.0)
    assert world.claim(SPEAKER).job.input_hash == "p2"
    assert world.claim(OTHER).job.input_hash == "p1"


def test_registering_names_the_profiles_that_nobody_served():
    world = World()
    assert now(world.store.register(SPEAKER)) == ("speech",)
    assert now(world.store.register(SPEAKER)) == ()
    assert now(world.store.register(worker("w3", piper=1))) == ("piper",)
    assert now(world.store.register(worker("w4", lanes=("other",)))) == ("speech",)
    world.passes(60.0)
    assert now(world.store.register(OTHER)) == ("speech",)


def test_the_last_heartbeats_of_a_worker_that_left_do_not_bring_it_back():
    world = World()
    world.entered(1, "d1")
    claim = world.claim(SPEAKER)
    now(world.store.deregister(SPEAKER))
    assert world.beat(SPEAKER, claim) is Answer.CONTINUE
    assert world.pair().profiles == frozenset()
    world.claims(SPEAKER)
    assert world.pair().profiles == {"speech"}


def test_a_worker_that_left_and_claims_again_is_kept_able_by_its_heartbeats():
    world = World()
    now(world.store.deregister(SPEAKER))
    world.entered(1, "d1")
    claim = world.claim(SPEAKER)
    world.passes(50.0)
    world.beat(SPEAKER, claim)
    world.passes(50.0)
    assert world.pair().profiles == {"speech"}


def reachable(start: object, kinds: tuple[type, ...]) -> list[object]:
    """What an object holds of these kinds, however deep."""
    seen: dict[int, object] = {}
    todo = [start]
    while todo:
        one = todo.pop()
        if id(one) not in seen and not isinstance(one, (type, FunctionType, ModuleType)):
            seen[id(one)] = one
            todo.extend(gc.get_referents(one))
    return [one for one in seen.values() if isinstance(one, kinds)]


def kept(world: World) -> Sequence[object]:
    """What a store holds of jobs, leases and workers."""
    if isinstance(world.store, MemoryCoordination):
        return reachable(world.store, (Entry, LeaseRecord, Known))
    small = ("", ":profiles", ":timeouts", ":once", ":fleet")  # a few members, or a lifetime
    return [name for name in world.store.names() if name.partition("\0")[0] not in small]


def test_nothing_is_kept_of_lives_that_are_over():
    world = World()
    for asset in range(500):
        world.entered(asset, f"d{asset}", book=asset)
        claim = world.claim(SPEAKER)
        world.settle(claim, SPEAKER, TRANSIENT if asset % 50 == 0 else None)
        world.release(asset, f"d{asset}")
        world.passes(0.1)
    world.passes(700.0)
    world.sweep()
    assert kept(world) == []
    assert world.pair().profiles == frozenset()
    assert world.admit(1, "d1") is Reason.GRANTED  # its mark is gone too


# --- waiting ---


def world_task(world: World, by: Worker, seconds: float) -> asyncio.Task[tuple[Sequence[Claim], float]]:
    """A claim that waits, as a task: its claims, and the second in which it had them."""

    async def waiting() -> tuple[Sequence[Claim], float]:
        claims = await world.store.claim(by, {"speech": 1}, timedelta(seconds=seconds))
        return claims, world.clock.elapsed

    return asyncio.ensure_future(waiting())


def test_a_waiting_claim_gets_a_job_in_the_moment_it_is_entered():
    world = World()

    async def main() -> None:
        waiting = world_task(world, SPEAKER, 30.0)
        await world.clock.advance(7.0)
        world.entered(1, "d1")
        claims, at = await waiting
        assert [claim.job.asset for claim in claims] == [1]
        assert at == 7.0

    world.clock.run(main())


def test_a_waiting_claim_gets_a_delayed_job_when_its_time_comes():
    world = World()

    async def main() -> None:
        world.admit(1, "d1")
        world.enqueue(job(1, "d1", not_before=world.clock.now() + 9.0))
        claims, at = await world_task(world, SPEAKER, 30.0)
        assert [claim.job.asset for claim in claims] == [1]
        assert at == 9.0

    world.clock.run(main())


def test_a_waiting_claim_ends_empty_handed_when_its_time_is_over():
    world = World()

    async def main() -> None:
        claims, at = await world_task(world, SPEAKER, 30.0)
        assert claims == []
        assert at == 30.0

    world.clock.run(main())


def test_a_waiting_claim_is_a_heartbeat_however_long_it_waits():
    world = World()

    async def main() -> None:
        waiting = world_task(world, SPEAKER, 600.0)
        await world.clock.advance(599.0)
        assert world.pair().profiles == {"speech"}
        await waiting

    world.clock.run(main())


def test_a_waiting_claim_ends_when_its_worker_says_goodbye():
    world = World()

    async def main() -> None:
        waiting = world_task(world, SPEAKER, 30.0)
        await world.clock.advance(3.0)
        await world.store.deregister(SPEAKER)
        assert await waiting == ([], 3.0)
        assert world.pair().profiles == frozenset()

    world.clock.run(main())


def test_one_job_is_given_to_one_of_many_that_wait():
    world = World()

    async def main() -> None:
        waiting = [world_task(world, worker(f"w{number}"), 20.0) for number in range(5)]
        await world.clock.advance(1.0)
        world.entered(1, "d1")
        got = [await one for one in waiting]
        assert sorted(len(claims) for claims, _ in got) == [0, 0, 0, 0, 1]

    world.clock.run(main())


def test_a_waiting_claim_that_is_given_up_takes_nothing():
    world = World()

    async def main() -> None:
        waiting = world_task(world, SPEAKER, 30.0)
        await world.clock.advance(1.0)
        waiting.cancel()
        await world.clock.advance(1.0)
        world.entered(1, "d1")
        await world.clock.advance(1.0)
        assert [status.state for status in world.jobs()] == [JobState.QUEUED]

    world.clock.run(main())


def test_who_listens_hears_that_something_may_start_now():
    heard: list[str] = []
    world = World()
    world.store.listen(lambda: heard.append("one"))
    world.store.listen(lambda: heard.append("other"))
    assert heard == []
    world.store.wake()
    assert heard == ["one", "other"]
