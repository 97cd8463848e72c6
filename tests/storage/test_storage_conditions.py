"""Conditions inside the statements that act: each refuses what has become wrong since it was read (CONTRACT 4, 8)."""

from __future__ import annotations

from collections.abc import Sequence

from sqlalchemy import Connection, text
from world import LANE, Driver, book, chapter, scene, unit

from animastor.engine.ports import Begin, Ended, RollBack
from animastor.engine.reasons import Reason
from animastor.engine.states import Outcome, State, Wait
from animastor.protocol import Pair
from animastor.storage import ends, versions
from animastor.storage.sql import SqlStorage


async def test_what_was_edited_after_it_was_planned_does_not_begin(driver: Driver, storage: SqlStorage) -> None:
    key = await driver.save(book(chapter("1", scene("a"))))
    await driver.request(key, media=("sound",))
    (row,), (planned,) = await driver.plan_due("sound")
    assert planned.missing
    await driver.save(book(chapter("1", scene("a", unit("a-u1", "other")))))
    (begun,) = await storage.begin([Begin(row.asset, driver.next_id(), row.plan_seq)])
    assert not begun.begun
    (again,) = await driver.start("sound")
    assert again.missing != planned.missing


async def test_a_plan_made_before_an_edit_is_not_stored(driver: Driver, storage: SqlStorage) -> None:
    key = await driver.save(book(chapter("1", scene("a"))))
    await driver.request(key, media=("sound",))
    rows, _ = await driver.plan_due("sound")
    old = await driver.plans(rows)
    await driver.save(book(chapter("1", scene("a", unit("a-u1", "other")))))
    assert [one.reason for one in await storage.store_plans(old)] == [Reason.STALE_PLAN]


async def test_a_dispatch_ends_once_and_keeps_its_first_outcome(driver: Driver, storage: SqlStorage) -> None:
    key = await driver.save(book(chapter("1", scene("a"))))
    await driver.request(key, media=("sound",))
    (work,) = await driver.start("sound")
    await storage.roll_back([RollBack(work.asset, work.dispatch_id, Reason.RESTART)])

    def again(connection: Connection) -> dict[int, Ended]:
        return ends.end(connection, Outcome.SUCCESS, [(work.asset, work.dispatch_id, "")])

    def outcomes(connection: Connection) -> Sequence[object]:
        return [tuple(row) for row in connection.execute(text("SELECT outcome, reason FROM dispatch"))]

    assert await storage._db.write(again) == {}
    assert await storage._db.read(outcomes) == [("cancelled", "restart")]
    assert (await driver.states(key))["a", "sound"] is State.PENDING


async def test_an_attempt_that_is_over_takes_nothing_back_of_the_one_that_is_current(
    driver: Driver, storage: SqlStorage
) -> None:
    key = await driver.save(book(chapter("1", scene("a"))))
    await driver.request(key, media=("sound",))
    (late,) = await driver.start("sound")
    await storage.roll_back([RollBack(late.asset, late.dispatch_id, Reason.RESTART)])
    (current,) = await driver.start("sound")
    assert list(await storage.roll_back([RollBack(late.asset, late.dispatch_id, Reason.LOST_BOTH)])) == [None]
    assert [one.dispatch_id for one in await storage.active_of([current.asset])] == [current.dispatch_id]


async def test_what_comes_late_while_there_is_no_worker_leaves_nothing_to_wait_for(
    driver: Driver, storage: SqlStorage
) -> None:
    key = await driver.save(book(chapter("1", scene("a"))))
    await driver.request(key, media=("picture",))
    (work,) = await driver.start("picture")
    await storage.roll_back([RollBack(work.asset, work.dispatch_id, Reason.NO_WORKER, wait=Wait.NO_WORKER)])
    assert not (await driver.plan_due("picture"))[0], "it waits for a worker"
    await storage.accept([driver.result(work, source) for source in work.missing])
    await driver.plan_due("picture")
    assert (await driver.states(key))["a", "picture"] is State.READY


async def test_an_edit_of_what_waits_for_a_worker_lets_it_be_planned_again(driver: Driver, storage: SqlStorage) -> None:
    key = await driver.save(book(chapter("1", scene("a"))))
    await driver.request(key, media=("picture",))
    (work,) = await driver.start("picture")
    await storage.roll_back([RollBack(work.asset, work.dispatch_id, Reason.NO_WORKER, wait=Wait.NO_WORKER)])
    assert await storage.clear_no_worker(["of others"]) == 0
    await driver.save(book(chapter("1", scene("a", unit("a-u1", prompt="other")))))
    assert await storage.clear_no_worker(["of others"]) == 1, "what it lacks now, only its next plan will tell"


async def test_plans_of_another_version_of_the_planner_are_not_stored(driver: Driver, storage: SqlStorage) -> None:
    key = await driver.save(book(chapter("1", scene("a"))))
    await driver.request(key, media=("picture",))
    other = SqlStorage(storage._db, storage._registry, planner=versions.PLANNER + 1)
    plans = await driver.plans((await storage.due(Pair("picture", LANE), 10, 10, 0)).rows)
    assert [one.reason for one in await other.store_plans(plans)] == [Reason.STALE_PLAN]
    assert [one.reason for one in await storage.store_plans(plans)] == [Reason.GRANTED]


async def test_a_late_result_completes_the_current_dispatch_and_not_its_own(
    driver: Driver, storage: SqlStorage
) -> None:
    key = await driver.save(book(chapter("1", scene("a"))))
    await driver.request(key, media=("picture",))
    (late,) = await driver.start("picture")
    await storage.roll_back([RollBack(late.asset, late.dispatch_id, Reason.RESTART)])
    (current,) = await driver.start("picture")
    answers = await storage.accept([driver.result(late, source) for source in late.missing])
    assert answers[-1].ended == Ended(current.asset, current.dispatch_id)

    def outcomes(connection: Connection) -> Sequence[object]:
        return [tuple(row) for row in connection.execute(text("SELECT id, outcome FROM dispatch ORDER BY fence"))]

    expected = [(late.dispatch_id, "cancelled"), (current.dispatch_id, "success")]
    assert await storage._db.read(outcomes) == expected
