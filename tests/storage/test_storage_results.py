"""Results: accepted by hash, once, in whatever order they come, and never in the name of an older dispatch."""

from __future__ import annotations

from world import Driver, Work, book, chapter, scene, unit, with_text

from animastor.books.model import Book
from animastor.engine.ports import Begin, Ended, PartResult, RollBack
from animastor.engine.reasons import Reason
from animastor.engine.states import RequestState, State
from animastor.protocol import FailureType
from animastor.storage.sql import SqlStorage


def _tale(*texts: str) -> Book:
    return book(chapter("1", scene("s", *(unit(f"u{n}", text) for n, text in enumerate(texts)))))


async def _started(driver: Driver, *texts: str) -> tuple[int, Work]:
    key = await driver.save(_tale(*texts))
    await driver.request(key, media=("sound",))
    (work,) = await driver.start("sound")
    return key, work


async def test_the_last_part_gives_the_merge_with_the_parts_in_order(driver: Driver, storage: SqlStorage) -> None:
    _, work = await _started(driver, "one", "two", "three")
    one, two, three = (driver.result(work, source) for source in work.missing)
    answers = [*await storage.accept([three]), *await storage.accept([one, two])]
    assert [answer.reason for answer in answers] == [Reason.ACCEPTED] * 3
    merge = answers[-1].merge
    assert merge is not None
    assert merge.inputs == tuple(result.uploaded.checksum for result in (one, two, three))
    assert (answers[-1].current, answers[-1].fence) == (work.dispatch_id, work.fence)


async def test_the_same_result_again_gives_the_same_answer(driver: Driver, storage: SqlStorage) -> None:
    _, work = await _started(driver, "one")
    result = driver.result(work, work.missing[0])
    (first,) = await storage.accept([result])
    again, inside = await storage.accept([result, result])
    assert again.reason is inside.reason is Reason.ALREADY_ACCEPTED
    assert again.merge == inside.merge == first.merge
    assert first.merge is not None
    merged = driver.result(work, first.merge)
    (ready,) = await storage.accept([merged])
    assert ready.ready
    assert ready.ended == Ended(work.asset, work.dispatch_id)
    (repeated,) = await storage.accept([merged])
    assert repeated.reason is Reason.ALREADY_ACCEPTED
    assert repeated.ended == ready.ended, "so that its release is repeated too"


async def test_equal_results_in_one_batch_count_once(driver: Driver, storage: SqlStorage) -> None:
    _, work = await _started(driver, "one")
    first, second = await storage.accept([driver.result(work, work.missing[0], salt) for salt in ("", "other bytes")])
    assert (first.reason, second.reason) == (Reason.ACCEPTED, Reason.ALREADY_ACCEPTED)
    (order,) = await storage.part_orders([(work.asset, work.missing[0].hash)])
    assert order is not None
    assert order.artifact == driver.result(work, work.missing[0]).uploaded.checksum


async def test_an_unknown_part_is_refused(driver: Driver, storage: SqlStorage) -> None:
    _, work = await _started(driver, "one")
    known = driver.result(work, work.missing[0])
    unknown = PartResult(
        known.asset, "0" * 64, known.kind, known.dispatch_id, known.fence, known.claim_no, known.uploaded
    )
    (answer,) = await storage.accept([unknown])
    assert answer.reason is Reason.UNKNOWN_PART


async def test_a_late_result_of_an_older_dispatch_completes_the_current_one(
    driver: Driver, storage: SqlStorage
) -> None:
    key, old = await _started(driver, "one", "two")
    await storage.accept([driver.result(old, old.missing[0])])
    await storage.roll_back([RollBack(old.asset, old.dispatch_id, Reason.LOST_BOTH)])
    (new,) = await driver.start("sound")
    assert [source.hash for source in new.missing] == [old.missing[1].hash], "nothing accepted is made again"
    (late,) = await storage.accept([driver.result(old, old.missing[1])])
    assert late.reason is Reason.LATE_ACCEPT
    assert (late.current, late.fence) == (new.dispatch_id, new.fence)
    assert late.merge is not None
    (ready,) = await storage.accept([driver.result(new, late.merge)])
    assert ready.ended == Ended(new.asset, new.dispatch_id)
    assert (await driver.states(key))["s", "sound"] is State.READY  # type: ignore[arg-type]


async def test_a_late_result_while_nobody_generates_is_kept_and_starts_nothing(
    driver: Driver, storage: SqlStorage
) -> None:
    key, work = await _started(driver, "one")
    (request,) = await storage.requests()
    await storage.close_request(request.request_id, request.state.CANCELLED)
    assert list(await storage.sweep_uncovered(request.request_id, 100)) == [Ended(work.asset, work.dispatch_id)]
    (late,) = await storage.accept([driver.result(work, work.missing[0])])
    assert (late.reason, late.merge, late.current) == (Reason.LATE_ACCEPT, None, None)
    await driver.replan()
    assert (await driver.states(key))["s", "sound"] is State.DIRTY  # type: ignore[arg-type]


async def test_a_late_picture_restores_what_was_cancelled_without_work(driver: Driver, storage: SqlStorage) -> None:
    key = await driver.save(_tale("one"))
    await driver.request(key, media=("picture",))
    (work,) = await driver.start("picture")
    (request,) = await storage.requests()
    await storage.close_request(request.request_id, request.state.CANCELLED)
    await storage.sweep_uncovered(request.request_id, 100)
    await storage.accept([driver.result(work, work.missing[0])])
    await driver.replan()
    assert (await driver.states(key))["s", "picture"] is State.READY


async def test_a_result_that_is_no_longer_wanted_is_kept_for_the_undo(driver: Driver, storage: SqlStorage) -> None:
    key, work = await _started(driver, "one", "two")
    await driver.save(with_text(_tale("one", "two"), "u0", "changed"))
    stored = await driver.replan()
    (sound,) = [one for one in stored if one.asset == work.asset]
    assert ("chunk", work.missing[0].hash) in sound.dropped
    assert {kind for kind, _ in sound.dropped} == {"chunk", "merge"}
    assert len(sound.missing) == 2
    (answer,) = await storage.accept([driver.result(work, work.missing[0])])
    assert answer.reason is Reason.STALE_PART
    await driver.save(_tale("one", "two"))
    await driver.replan()
    (active,) = await storage.active(0, 10)
    assert [source.hash for source in active.missing] == [work.missing[1].hash]
    assert (await driver.states(key))["s", "sound"] is State.GENERATING  # type: ignore[arg-type]


async def test_a_merge_that_loses_against_an_edit_is_planned_again(driver: Driver, storage: SqlStorage) -> None:
    key, work = await _started(driver, "one")
    (answer,) = await storage.accept([driver.result(work, work.missing[0])])
    assert answer.merge is not None
    await driver.save(with_text(_tale("one"), "u0", "changed"))
    (lost,) = await storage.accept([driver.result(work, answer.merge)])
    assert lost.reason is Reason.STALE_VERSION
    assert lost.replan
    assert (await driver.states(key))["s", "sound"] is State.GENERATING  # type: ignore[arg-type]
    await driver.save(_tale("one"))
    await driver.replan()
    assert (await driver.states(key))["s", "sound"] is State.READY, "its bytes were kept"  # type: ignore[arg-type]


async def test_a_merge_that_nobody_wants_is_stale(driver: Driver, storage: SqlStorage) -> None:
    _, work = await _started(driver, "one")
    (answer,) = await storage.accept([driver.result(work, work.missing[0])])
    assert answer.merge is not None
    await driver.save(with_text(_tale("one"), "u0", "changed"))
    await driver.replan()
    (stale,) = await storage.accept([driver.result(work, answer.merge)])
    assert stale.reason is Reason.STALE_PART


async def test_beginning_again_gives_the_same_fence_and_another_id_does_not_begin(
    driver: Driver, storage: SqlStorage
) -> None:
    key = await driver.save(_tale("one"))
    await driver.request(key, media=("sound",))
    ((row,), _) = await driver.plan_due("sound")
    begin = Begin(row.asset, driver.next_id(), row.plan_seq)
    (first,) = await storage.begin([begin])
    (again,) = await storage.begin([begin])
    (other,) = await storage.begin([Begin(row.asset, driver.next_id(), row.plan_seq)])
    assert first == again
    assert first.begun
    assert not other.begun


async def test_nothing_begins_with_an_old_plan_or_without_an_open_request(driver: Driver, storage: SqlStorage) -> None:
    key = await driver.save(_tale("one"))
    await driver.request(key, media=("sound",))
    ((row,), _) = await driver.plan_due("sound")
    await driver.save(_tale("other"))
    (begun,) = await storage.begin([Begin(row.asset, driver.next_id(), row.plan_seq)])
    assert not begun.begun
    ((row,), _) = await driver.plan_due("sound")
    (request,) = await storage.requests()
    await storage.close_request(request.request_id, request.state.CANCELLED)
    (begun,) = await storage.begin([Begin(row.asset, driver.next_id(), row.plan_seq)])
    assert not begun.begun


async def test_a_plan_made_from_what_no_longer_stands_is_not_stored(driver: Driver, storage: SqlStorage) -> None:
    key = await driver.save(_tale("one"))
    await driver.request(key, media=("sound",))
    walk = await storage.due(*_pair())
    plans = await driver.plans(walk.rows)
    await driver.save(_tale("other"))
    (stored,) = await storage.store_plans(plans)
    assert stored.reason is Reason.STALE_PLAN
    assert (await storage.part_orders([(plans[0].asset, plans[0].parts[0].hash)]))[0] is None


async def test_a_part_is_missing_until_it_is_made_or_given_up_or_gone(driver: Driver, storage: SqlStorage) -> None:
    left_out, kept = scene("t", unit("t0")), scene("s", *(unit(f"u{n}") for n in range(3)))
    key = await driver.save(book(chapter("1", kept, left_out)))
    await driver.request(key, media=("sound",))
    whole, gone = await driver.start("sound")
    made, lost, left = whole.missing
    keys = [(whole.asset, one.hash) for one in whole.missing] + [(gone.asset, gone.missing[0].hash)]
    assert await storage.missing_of(keys) == set(keys)
    await storage.accept([driver.result(whole, made)])
    await storage.count_failures([driver.failure(whole, lost, failure=FailureType.PERMANENT)])
    await driver.save(book(chapter("1", kept)))
    assert await storage.missing_of(keys) == await storage.wanted_of(keys) == {(whole.asset, left.hash)}


async def test_a_missing_part_is_wanted_while_its_asset_is_being_made(driver: Driver, storage: SqlStorage) -> None:
    key = await driver.save(book(chapter("1", scene("s", unit("u0"), unit("u1")))))
    opened = await driver.request(key, media=("sound",))
    (work,) = await driver.start("sound")
    first, _ = keys = [(work.asset, one.hash) for one in work.missing]
    assert await storage.wanted_of(keys) == set(keys)
    await driver.save(book(chapter("1", scene("s", unit("u0")))))
    await driver.replan()
    assert await storage.wanted_of(keys) == {first}, "the edit took the second one away"
    await storage.close_request(opened.request.request_id, RequestState.CANCELLED)
    while await storage.sweep_uncovered(opened.request.request_id, 200):
        pass
    assert await storage.wanted_of(keys) == set(), "nobody asks for it any more"
    assert await storage.missing_of(keys) >= {first}


async def test_a_removed_scene_ends_its_dispatch_and_its_late_result_is_unknown(
    driver: Driver, storage: SqlStorage
) -> None:
    key = await driver.save(book(chapter("1", scene("s", unit("u0")), scene("t", unit("t0")))))
    await driver.request(key, media=("sound",))
    works = await driver.start("sound")
    await driver.save(book(chapter("1", scene("t", unit("t0")))))
    gone = works[0]
    assert Ended(gone.asset, gone.dispatch_id) in await storage.unreleased(10)
    (answer,) = await storage.accept([driver.result(gone, gone.missing[0])])
    assert answer.reason is Reason.UNKNOWN_PART
    assert await storage.active_of([gone.asset]) == []


def _pair() -> tuple[object, int, int, int]:
    from animastor.protocol import Pair

    return Pair("sound", "system"), 10, 10, 0
