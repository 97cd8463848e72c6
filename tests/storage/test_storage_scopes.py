"""What an edit does to the scopes of open requests: nothing is busy that none covers, nothing is begun that is off."""

from __future__ import annotations

import pytest
from sqlalchemy import Connection, text
from world import Driver, Time, book, chapter, scene

from animastor.books.model import Book
from animastor.engine.ports import Begin, Scope, ScopeKind
from animastor.engine.states import RequestState, State
from animastor.protocol import BookKey, FailureType
from animastor.storage.database import Database
from animastor.storage.sql import SqlStorage

CHAPTER_ONE = Scope(ScopeKind.CHAPTER, "1")
FROM_B = Scope(ScopeKind.FROM_SCENE, "1", "b")


def _book(one: str, two: str, **head: object) -> Book:
    return book(*(chapter(n, *map(scene, names)) for n, names in (("1", one), ("2", two)) if names), **head)


async def _sweep(storage: SqlStorage) -> None:
    for request in await storage.uncovered():
        while await storage.sweep_uncovered(request, 100):
            pass


async def _uncovered(database: Database) -> list[int]:
    """Busy assets whose request has ended."""

    def read(connection: Connection) -> list[int]:
        sql = (
            "SELECT a.id FROM asset a LEFT JOIN request r ON r.id = a.request_id"
            " WHERE a.state IN (1, 2) AND (r.id IS NULL OR r.state NOT IN ('preparing', 'open', 'paused'))"
        )
        return [row.id for row in connection.execute(text(sql))]

    return await database.read(read)


async def _busy(driver: Driver, key: BookKey) -> set[str]:
    busy = (State.PENDING, State.GENERATING)
    return {name for (name, _), state in (await driver.states(key)).items() if state in busy}


@pytest.mark.parametrize(
    ("scope", "edited", "busy"),
    [
        (CHAPTER_ONE, ("a", "bc"), {"a"}),  # b has gone into the other chapter
        (CHAPTER_ONE, ("", "c"), set()),  # the chapter has gone
        (FROM_B, ("a", "c"), set()),  # the scene that it began with has gone
        (FROM_B, ("ba", "c"), {"a", "b", "c"}),  # it stands before the others now
        (FROM_B, ("a", "cb"), {"b"}),  # it stands behind them
    ],
)
async def test_what_an_edit_takes_out_of_a_scope_rests_and_what_comes_in_is_entered(
    driver: Driver, storage: SqlStorage, database: Database, scope: Scope, edited: tuple[str, str], busy: set[str]
) -> None:
    key = await driver.save(_book("ab", "c"))
    opened = await driver.request(key, ("sound",), scope)
    await driver.start("sound", limit=1)
    await driver.save(_book(*edited))
    while not (await storage.enter(opened.request.request_id, 100)).done:
        pass
    await _sweep(storage)
    assert await _busy(driver, key) == busy
    await driver.run(("sound",))
    await storage.finish_requests()
    await _sweep(storage)
    assert not await _uncovered(database)


async def test_a_request_that_an_edit_left_nothing_to_do_is_done(driver: Driver, storage: SqlStorage) -> None:
    key = await driver.save(_book("ab", "c"))
    opened = await driver.request(key, ("sound",), CHAPTER_ONE)
    await driver.save(_book("", "c"))
    while not (await storage.enter(opened.request.request_id, 100)).done:
        pass
    assert [row.state for row in await storage.finish_requests()] == [RequestState.DONE]
    assert (await storage.progress(opened.request.request_id)).fraction == 1.0


async def test_a_layer_that_was_switched_off_begins_nothing_even_before_it_is_swept(
    driver: Driver, storage: SqlStorage
) -> None:
    key = await driver.save(_book("ab", "c"))
    await driver.request(key, ("sound", "picture"))
    await driver.save(_book("ab", "c", layer_config={"picture_enabled": False}))
    assert await driver.start("picture") == []
    assert len(await driver.start("sound")) == 3


async def test_a_scene_that_left_the_scope_is_not_begun_even_before_it_is_swept(
    driver: Driver, storage: SqlStorage
) -> None:
    key = await driver.save(_book("ab", "c"))
    await driver.request(key, ("sound",), CHAPTER_ONE)
    rows, _ = await driver.plan_due("sound")
    await driver.save(_book("a", "bc"))
    begun = await storage.begin([Begin(row.asset, driver.next_id(), row.plan_seq) for row in rows])
    assert [one.begun for one in begun] == [True, False]


async def test_a_new_scene_does_not_start_what_failed_again(driver: Driver, storage: SqlStorage) -> None:
    key = await driver.save(_book("ab", ""))
    opened = await driver.request(key, ("sound",))
    works = await driver.start("sound")
    failed = [driver.failure(work, work.missing[0], failure=FailureType.PERMANENT) for work in works]
    await storage.count_failures(failed)
    await driver.save(_book("nab", ""))
    assert (await storage.enter(opened.request.request_id, 100)).entered == 1
    states = await driver.states(key)
    assert {name: states[name, "sound"] for name in "nab"} == {
        "n": State.PENDING,
        "a": State.FAILED,
        "b": State.FAILED,
    }


@pytest.mark.parametrize("database", ["in_place", "threads"], indirect=True)
async def test_asking_again_ends_the_back_off_of_what_waits(driver: Driver, storage: SqlStorage, time: Time) -> None:
    key = await driver.save(_book("a", ""))
    await driver.request(key, ("sound",))
    (work,) = await driver.start("sound")
    ended = None
    while ended is None:  # until it waits for longer than a slot may be held
        failure = driver.failure(work, work.missing[0], failure=FailureType.INFRASTRUCTURE, jitter=0.999)
        (counted,) = await storage.count_failures([failure])
        ended = counted.ended
    assert await driver.start("sound") == []
    await driver.request(key, ("sound",))
    (again,) = await driver.start("sound")
    assert again.missing[0].retry_of is None
    assert again.missing[0].not_before <= time.now
