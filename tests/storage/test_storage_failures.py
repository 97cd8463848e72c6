"""Failures: counted against the part, from the present claim only, and what becomes of the asset."""

from __future__ import annotations

from dataclasses import replace

import pytest
from world import PICTURE, SOUND, Driver, Time, Work, book, chapter, scene, unit

from animastor.engine.backoff import backoff_s
from animastor.engine.ports import Ended, RollBack, Scope
from animastor.engine.reasons import JournalType, Reason
from animastor.engine.states import State, Wait
from animastor.protocol import DispatchId, FailureType
from animastor.storage.sql import SqlStorage

SQLITE = pytest.mark.parametrize("database", ["in_place", "threads"], indirect=True)


async def _one_sound(driver: Driver, *texts: str) -> tuple[int, Work]:
    units = [unit(f"u{n}", text) for n, text in enumerate(texts or ("one",))]
    key = await driver.save(book(chapter("1", scene("s", *units))))
    await driver.request(key, media=("sound",))
    (work,) = await driver.start("sound")
    return key, work


@pytest.mark.parametrize(("attempts", "ceiling"), [(1, 2.0), (2, 4.0), (5, 32.0), (9, 300.0), (1000, 300.0)])
def test_back_off_doubles_from_two_seconds_to_five_minutes_with_full_jitter(attempts: int, ceiling: float) -> None:
    assert backoff_s(attempts, 0.0) == 0.0
    assert backoff_s(attempts, 0.5) == ceiling / 2
    assert backoff_s(attempts, 0.999) < ceiling


async def test_a_failure_is_counted_once_and_one_of_an_older_claim_never(driver: Driver, storage: SqlStorage) -> None:
    _, work = await _one_sound(driver)
    old = driver.failure(work, work.missing[0])
    new = driver.failure(work, work.missing[0])
    (counted,) = await storage.count_failures([new])
    assert counted.reason is Reason.COUNTED
    assert not counted.lost
    assert (counted.current, counted.fence) == (work.dispatch_id, work.fence)
    for again in (new, old):
        (answer,) = await storage.count_failures([again])
        assert answer.reason is Reason.STALE_CLAIM
    ((active,),) = [await storage.active(0, 10)]
    assert active.missing[0].retry_of is FailureType.TRANSIENT
    assert active.missing[0].not_before == pytest.approx(counted.not_before)


async def test_what_may_have_been_paid_for_is_given_up_also_when_its_worker_was_taken_for_dead_before(
    driver: Driver, storage: SqlStorage
) -> None:
    """Whoever was silent for too long is counted by a sweep; what it says later must not be lost (CONTRACT 9)."""
    key, work = await _one_sound(driver)
    silent = driver.failure(work, work.missing[0], failure=FailureType.INFRASTRUCTURE)
    later = driver.failure(work, work.missing[0])
    paid = replace(silent, failure=FailureType.PERMANENT, code=Reason.UNCERTAIN)
    await storage.count_failures([silent])
    await storage.count_failures([later])
    first, same = await storage.count_failures([paid, replace(later, claim_no=later.claim_no + 1)])
    assert (first.reason, first.lost, first.ended) == (Reason.COUNTED, True, Ended(work.asset, work.dispatch_id))
    assert (same.reason, same.lost) == (Reason.STALE_CLAIM, True)
    await storage.mark_released([Ended(work.asset, work.dispatch_id)])
    await driver.request(key, media=("sound",), accept_charge=True)
    assert len((await driver.start("sound"))[0].missing) == 1
    (again,) = await storage.count_failures([paid])  # its answer was lost: told once more, long after it was accepted
    assert (again.reason, again.lost) == (Reason.STALE_CLAIM, False)


async def test_a_part_is_lost_at_its_limit_and_the_asset_fails_with_the_last_error(
    driver: Driver, storage: SqlStorage
) -> None:
    key, work = await _one_sound(driver)
    for attempt in range(SOUND.retry_limit):
        (counted,) = await storage.count_failures([driver.failure(work, work.missing[0], jitter=0.1)])
        assert counted.lost is (attempt == SOUND.retry_limit - 1)
    assert counted.ended == Ended(work.asset, work.dispatch_id)
    (row,) = await storage.export_rows(key, Scope())  # type: ignore[arg-type]
    assert row.media["sound"].state is State.FAILED
    assert row.media["sound"].error == "chunk: it broke (attempts: 3)"
    assert await storage.finish_requests()


async def test_infrastructure_has_three_times_the_limit_of_its_own(driver: Driver, storage: SqlStorage) -> None:
    _, work = await _one_sound(driver)
    for attempt in range(3 * SOUND.retry_limit):
        failure = driver.failure(work, work.missing[0], failure=FailureType.INFRASTRUCTURE, jitter=0.0)
        (counted,) = await storage.count_failures([failure])
        assert counted.lost is (attempt == 3 * SOUND.retry_limit - 1)


@pytest.mark.parametrize("failure", [FailureType.PERMANENT, FailureType.ORCHESTRATION])
async def test_what_is_permanent_is_lost_at_once(driver: Driver, storage: SqlStorage, failure: FailureType) -> None:
    _, work = await _one_sound(driver)
    (counted,) = await storage.count_failures([driver.failure(work, work.missing[0], failure=failure)])
    assert counted.lost
    assert counted.ended is not None


async def test_a_job_whose_worker_vanished_three_times_is_poison(driver: Driver, storage: SqlStorage) -> None:
    _, work = await _one_sound(driver)
    lost = []
    for _ in range(3):
        failure = driver.failure(
            work, work.missing[0], failure=FailureType.INFRASTRUCTURE, code="worker_vanished", jitter=0.0
        )
        (counted,) = await storage.count_failures([failure])
        lost.append(counted.lost)
    assert lost == [False, False, True]
    assert Reason.POISON in {row.reason for row in await storage.journal()}


async def test_other_parts_go_on_while_one_is_lost_and_the_asset_fails_with_the_last(
    driver: Driver, storage: SqlStorage
) -> None:
    key, work = await _one_sound(driver, "one", "two")
    first, second = work.missing
    (counted,) = await storage.count_failures([driver.failure(work, first, failure=FailureType.PERMANENT)])
    assert counted.lost
    assert counted.ended is None
    (answer,) = await storage.accept([driver.result(work, second)])
    assert answer.reason is Reason.ACCEPTED
    assert answer.merge is None
    assert answer.ended == Ended(work.asset, work.dispatch_id)
    assert (await driver.states(key))["s", "sound"] is State.FAILED  # type: ignore[arg-type]


async def test_a_long_back_off_gives_the_slot_back_until_it_is_over(driver: Driver, storage: SqlStorage) -> None:
    key, work = await _one_sound(driver)
    for _ in range(2):
        (counted,) = await storage.count_failures(
            [driver.failure(work, work.missing[0], failure=FailureType.INFRASTRUCTURE, jitter=0.0)]
        )
    assert counted.ended is None
    for _ in range(4):
        (counted,) = await storage.count_failures(
            [driver.failure(work, work.missing[0], failure=FailureType.INFRASTRUCTURE, jitter=0.99)]
        )
        if counted.ended is not None:
            break
    assert counted.ended == Ended(work.asset, work.dispatch_id)
    assert (await driver.states(key))["s", "sound"] is State.PENDING  # type: ignore[arg-type]
    assert (await driver.plan_due("sound"))[0] == []
    assert await storage.wake_later() == pytest.approx(counted.not_before)


@SQLITE
async def test_what_waited_for_retry_is_due_when_its_time_comes(
    driver: Driver, storage: SqlStorage, time: Time
) -> None:
    _, work = await _one_sound(driver)
    (ended,) = await storage.roll_back([RollBack(work.asset, work.dispatch_id, Reason.ENQUEUE_FAILED, delay_s=2.0)])
    assert ended == Ended(work.asset, work.dispatch_id)
    assert await storage.wake_later() == time.now + 2.0
    assert await driver.start("sound") == []
    time.now += 2.0
    assert await storage.wake_later() is None
    (again,) = await driver.start("sound")
    assert again.fence == work.fence + 1


async def test_other_parts_may_go_on_while_one_is_long_delayed(driver: Driver, storage: SqlStorage) -> None:
    _, work = await _one_sound(driver, "one", "two")
    for _ in range(6):
        failure = driver.failure(work, work.missing[0], failure=FailureType.INFRASTRUCTURE, jitter=0.99)
        (counted,) = await storage.count_failures([failure])
    assert counted.not_before > 0
    assert counted.ended is None, "the second part is at work"


async def test_what_requires_a_failed_asset_fails_and_is_lifted_when_that_is_asked_for_again(
    driver: Driver, storage: SqlStorage
) -> None:
    key = await driver.save(book(chapter("1", scene("s", unit("u")))))
    await driver.request(key)
    (work,) = await driver.start("picture")
    await storage.count_failures([driver.failure(work, work.missing[0], failure=FailureType.PERMANENT)])
    states = await driver.states(key)
    assert (states["s", "picture"], states["s", "clip"]) == (State.FAILED, State.FAILED)
    (row,) = await storage.export_rows(key, Scope())
    assert "picture" in row.media["clip"].error
    await driver.run()
    (done,) = await storage.requests(open_only=False)
    assert done.state.value == "done_with_failures"
    await driver.request(key, media=("picture",), kind="more")
    assert (await driver.states(key))["s", "clip"] is State.DIRTY, "not covered, so it rests"
    await driver.request(key)
    await driver.run()
    assert set((await driver.states(key)).values()) == {State.READY}


async def test_what_follows_a_failed_asset_goes_on_without_it(driver: Driver, storage: SqlStorage) -> None:
    key = await driver.save(book(chapter("1", scene("s", unit("u")))))
    await driver.request(key)
    (sound,) = await driver.start("sound")
    (picture,) = await driver.start("picture")
    await driver.finish(picture)
    assert await driver.start("clip") == []
    await storage.count_failures([driver.failure(sound, sound.missing[0], failure=FailureType.PERMANENT)])
    (clip,) = await driver.start("clip")
    await driver.finish(clip)
    assert (await driver.states(key))["s", "clip"] is State.READY


async def test_a_late_failure_of_a_ready_asset_is_told_and_changes_nothing(driver: Driver, storage: SqlStorage) -> None:
    key, work = await _one_sound(driver)
    await driver.finish(work)
    (answer,) = await storage.count_failures([driver.failure(work, work.missing[0])])
    assert answer.reason is Reason.STALE_CLAIM
    assert (await driver.states(key))["s", "sound"] is State.READY  # type: ignore[arg-type]
    told = (await storage.journal(limit=1000))[-1]
    assert (told.type, told.state, told.asset) == (JournalType.PART_REFUSED, State.READY, work.asset)
    assert (told.details["code"], told.details["message"]) == ("broken", "it broke")


async def test_a_merge_has_attempts_of_its_own(driver: Driver, storage: SqlStorage) -> None:
    key, work = await _one_sound(driver)
    (answer,) = await storage.accept([driver.result(work, work.missing[0])])
    assert answer.merge is not None
    for _ in range(SOUND.retry_limit):
        (counted,) = await storage.count_failures([driver.failure(work, answer.merge, jitter=0.0)])
    assert counted.lost
    assert (await driver.states(key))["s", "sound"] is State.FAILED  # type: ignore[arg-type]


async def test_a_part_that_does_not_decode_is_withdrawn_and_counts_an_attempt(
    driver: Driver, storage: SqlStorage
) -> None:
    _, work = await _one_sound(driver, "one", "two")
    answers = await storage.accept([driver.result(work, source) for source in work.missing])
    merge = answers[-1].merge
    assert merge is not None
    await storage.withdraw(work.asset, [merge.inputs[0]])
    (active,) = await storage.active_of([work.asset])
    assert [source.hash for source in active.missing] == [work.missing[0].hash]
    assert active.missing[0].retry_of is FailureType.TRANSIENT


async def test_a_part_that_is_withdrawn_again_and_again_is_given_up_at_its_limit(
    driver: Driver, storage: SqlStorage
) -> None:
    _, work = await _one_sound(driver)
    rounds = 0
    while (active := await storage.active_of([work.asset]))[0].missing and rounds < 2 * SOUND.retry_limit:
        rounds += 1
        (answer,) = await storage.accept([driver.result(work, active[0].missing[0])])
        assert answer.merge is not None
        await storage.withdraw(work.asset, [answer.merge.inputs[0]])
    assert rounds == SOUND.retry_limit


async def test_corrupt_bytes_are_counted_for_the_part(driver: Driver, storage: SqlStorage) -> None:
    _, work = await _one_sound(driver)
    await storage.count_failures([driver.failure(work, work.missing[0], code=Reason.CORRUPT_ARTIFACT, jitter=0.0)])
    (order,) = await storage.part_orders([(work.asset, work.missing[0].hash)])
    assert order is not None
    assert (order.corrupt, order.media, order.artifact) == (1, "sound", None)


async def test_failing_what_rests_is_refused_and_journalled(driver: Driver, storage: SqlStorage) -> None:
    key, work = await _one_sound(driver)
    await driver.finish(work)
    assert list(await storage.fail_assets([work.asset], Reason.ORCHESTRATION, "no")) == [None]
    assert (await driver.states(key))["s", "sound"] is State.READY  # type: ignore[arg-type]
    assert "INVALID_TRANSITION" in {row.type for row in await storage.journal()}


async def test_a_dispatch_ends_exactly_once(driver: Driver, storage: SqlStorage) -> None:
    _, work = await _one_sound(driver)
    back = RollBack(work.asset, work.dispatch_id, Reason.NO_WORKER, wait=Wait.NO_WORKER)
    (ended,) = await storage.roll_back([back])
    assert ended is not None
    assert list(await storage.roll_back([back])) == [ended], "a repetition asks for the same release"
    other = RollBack(work.asset, work.dispatch_id, Reason.LOST_BOTH)
    assert list(await storage.roll_back([other])) == [None], "already finalized"
    assert list(await storage.roll_back([RollBack(work.asset, DispatchId("x"), Reason.FORCED)])) == [None]
    assert list(await storage.unreleased(10)) == [ended]
    await storage.mark_released([ended])
    await storage.mark_released([ended])
    assert list(await storage.unreleased(10)) == []


async def test_a_forced_roll_back_starts_attempts_anew_and_another_does_not(
    driver: Driver, storage: SqlStorage
) -> None:
    _, work = await _one_sound(driver)
    await storage.count_failures([driver.failure(work, work.missing[0], jitter=0.0)])
    await storage.roll_back([RollBack(work.asset, work.dispatch_id, Reason.RESTART)])
    (work,) = await driver.start("sound")
    assert work.missing[0].retry_of is FailureType.TRANSIENT
    await storage.roll_back([RollBack(work.asset, work.dispatch_id, Reason.FORCED)])
    (work,) = await driver.start("sound")
    assert work.missing[0].retry_of is None


async def test_no_worker_is_waited_for_until_one_of_the_profile_comes(driver: Driver, storage: SqlStorage) -> None:
    key = await driver.save(book(chapter("1", scene("s", unit("u")))))
    await driver.request(key, media=("picture",))
    rows, _ = await driver.plan_due("picture")
    await storage.set_waits([rows[0].asset], Wait.NO_WORKER, Reason.NO_WORKER)
    await storage.set_waits([rows[0].asset], Wait.NO_WORKER, Reason.NO_WORKER)
    skipped = [row for row in await storage.journal() if row.type == "SKIPPED"]
    assert len(skipped) == 1, "told when it changes"
    assert await driver.start("picture") == []
    assert await storage.clear_no_worker(["chunk"]) == 0
    assert await storage.clear_no_worker([PICTURE.name]) == 1
    assert len(await driver.start("picture")) == 1
