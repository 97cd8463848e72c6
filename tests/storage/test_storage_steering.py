"""Pausing, resuming, priorities, positions and windows: what may start, in which order, under which request."""

from __future__ import annotations

import pytest
from sqlalchemy import Connection, text
from world import LANE, Driver, book, chapter, scene, unit

from animastor.books.model import Book
from animastor.engine.ports import Scope, ScopeKind, Steer
from animastor.engine.states import RequestState, State, Wait
from animastor.protocol import BookKey, Pair
from animastor.storage.database import Database
from animastor.storage.requests import ScopeError
from animastor.storage.sql import SqlStorage

SOUND = ("sound",)


def _tale(*names: str, name: str = "tale") -> Book:
    scenes = [scene(one, unit(f"{name}-{one}-u")) for one in names or ("a", "b", "c", "d", "e")]
    return book(chapter("1", *scenes[:2]), chapter("2", *scenes[2:]), name=name)


def _at(chapter_id: str, scene_id: str) -> Scope:
    return Scope(ScopeKind.SCENE, chapter_id, scene_id)


async def _settle(storage: SqlStorage) -> None:
    for row in await storage.preparing():
        while not (await storage.enter(row.request_id, 1000)).done:
            pass
    for request in await storage.uncovered():
        while await storage.sweep_uncovered(request, 100):
            pass


async def _steer(storage: SqlStorage, key: BookKey, **how: object) -> None:
    await storage.steer(Steer(key, **how))  # type: ignore[arg-type]
    await _settle(storage)


async def _due(storage: SqlStorage, *, each: int = 100) -> list[str]:
    walk = await storage.due(Pair("sound", LANE), 100, each, 0)
    return [row.scene_id for row in walk.rows]


async def _waits(database: Database) -> set[int]:
    def read(connection: Connection) -> set[int]:
        return {row.waits for row in connection.execute(text("SELECT waits FROM asset WHERE state = 1"))}

    return await database.read(read)


async def test_a_paused_request_lets_nothing_start_until_it_is_resumed(
    driver: Driver, storage: SqlStorage, database: Database
) -> None:
    key = await driver.save(_tale())
    await driver.request(key, SOUND)
    await _steer(storage, key, paused=True)
    assert await _due(storage) == []
    assert await _waits(database) == {int(Wait.PAUSED)}
    assert not await storage.finish_requests()
    await _steer(storage, key, paused=False)
    assert await _due(storage) == ["a", "b", "c", "d", "e"]
    await driver.run(SOUND)
    assert (await storage.requests(open_only=False))[0].state is RequestState.DONE


async def test_nothing_begins_under_a_request_that_was_paused_after_it_was_found_due(
    driver: Driver, storage: SqlStorage
) -> None:
    key = await driver.save(_tale())
    await driver.request(key, SOUND)
    await driver.plan_due("sound")
    await storage.steer(Steer(key, paused=True))  # and nothing is swept yet
    assert await driver.start("sound") == []


async def test_a_request_that_is_paused_while_it_is_entered_is_entered_further_when_resumed(
    driver: Driver, storage: SqlStorage
) -> None:
    key = await driver.save(_tale())
    opened = await driver.open(key, SOUND)
    await storage.enter(opened.request.request_id, 2)
    await storage.steer(Steer(key, paused=True))
    assert (await storage.enter(opened.request.request_id, 2)).state is RequestState.PAUSED
    await _settle(storage)
    assert await _due(storage) == []
    await _steer(storage, key, paused=False)
    assert await _due(storage) == ["a", "b", "c", "d", "e"]


async def test_what_was_running_when_it_was_paused_is_accepted_and_then_held(
    driver: Driver, storage: SqlStorage
) -> None:
    key = await driver.save(_tale())
    await driver.request(key, SOUND)
    (work,) = await driver.start("sound", limit=1)
    await _steer(storage, key, paused=True)
    (active,) = await storage.active(0, 10)
    assert active.held
    await driver.finish(work)
    assert (await driver.states(key))["a", "sound"] is State.READY


async def test_what_another_request_covers_runs_under_that_one_meanwhile(driver: Driver, storage: SqlStorage) -> None:
    key = await driver.save(_tale())
    first = await driver.request(key, SOUND)
    await driver.request(key, SOUND, Scope(ScopeKind.CHAPTER, "2"), kind="read")
    await _steer(storage, key, requests=(first.request.request_id,), paused=True)
    assert await _due(storage) == ["c", "d", "e"]


async def test_making_the_same_again_resumes_what_was_paused(driver: Driver, storage: SqlStorage) -> None:
    key = await driver.save(_tale())
    first = await driver.request(key, SOUND)
    await _steer(storage, key, paused=True)
    again = await driver.request(key, SOUND)
    assert (again.superseded, again.resumed) == ((), (first.request.request_id,))
    await _settle(storage)
    await driver.run(SOUND)
    assert {row.state for row in await storage.requests(open_only=False)} == {RequestState.DONE}


async def test_scenes_ahead_of_the_reader_come_first_and_those_behind_last(driver: Driver, storage: SqlStorage) -> None:
    key = await driver.save(_tale())
    await driver.request(key, SOUND)
    await _steer(storage, key, position=_at("2", "d"))
    assert await _due(storage) == ["d", "e", "a", "b", "c"]
    await _steer(storage, key, position=_at("1", "b"))
    assert await _due(storage) == ["b", "c", "d", "e", "a"]
    await _steer(storage, key, now=_at("2", "e"))
    assert await _due(storage) == ["e", "b", "c", "d", "a"]


async def test_a_window_covers_the_scene_of_the_reader_and_so_many_behind_it(
    driver: Driver, storage: SqlStorage, database: Database
) -> None:
    key = await driver.save(_tale())
    opened = await driver.request(key, SOUND, kind="read", ahead=1)
    assert await _due(storage) == ["a", "b"]
    assert int(Wait.WINDOW) in await _waits(database)
    await _steer(storage, key, position=_at("2", "c"))
    assert await _due(storage) == ["c", "d"]
    await driver.run(SOUND)
    assert (await driver.states(key))["a", "sound"] is State.PENDING
    assert not await storage.finish_requests(), "it is idle"
    assert (await storage.progress(opened.request.request_id)).idle
    await _steer(storage, key, ahead=0)
    await driver.run(SOUND)
    assert (await storage.requests(open_only=False))[0].state is RequestState.DONE


async def test_a_make_has_no_window(driver: Driver, storage: SqlStorage) -> None:
    key = await driver.save(_tale())
    await driver.request(key, SOUND, ahead=1)
    assert await _due(storage) == ["a", "b", "c", "d", "e"]


async def test_a_scene_beyond_one_window_runs_under_the_request_that_lets_it(
    driver: Driver, storage: SqlStorage
) -> None:
    key = await driver.save(_tale())
    await driver.request(key, SOUND, kind="read", ahead=1, priority=1)
    await driver.request(key, SOUND, Scope(ScopeKind.CHAPTER, "2"), kind="other")
    assert await _due(storage) == ["a", "b", "c", "d", "e"]


@pytest.mark.parametrize(
    ("edited", "due"),
    [
        (("a", "b", "new", "c", "d", "e"), ["b", "new"]),  # one stands in between
        (("a", "c", "d", "e"), ["c", "d"]),  # the reader's own scene has left
        (("c", "d", "e", "a", "b"), ["b"]),  # it stands at the end
    ],
)
async def test_an_edit_takes_the_window_along(
    driver: Driver, storage: SqlStorage, edited: tuple[str, ...], due: list[str]
) -> None:
    key = await driver.save(_tale())
    await driver.request(key, SOUND, kind="read", ahead=1, position=_at("1", "b"))
    assert await _due(storage) == ["b", "c"]
    await driver.save(_tale(*edited))
    await _settle(storage)
    assert await _due(storage) == due


@pytest.mark.parametrize("ahead", [0, 5])
async def test_a_scene_that_moves_past_the_reader_is_ahead_of_it(
    driver: Driver, storage: SqlStorage, ahead: int
) -> None:
    key = await driver.save(_tale())
    await driver.request(key, SOUND, kind="read", ahead=ahead, position=_at("2", "d"))
    behind = ["a", "b", "c"] if not ahead else []
    assert await _due(storage) == ["d", "e", *behind]
    await driver.save(_tale("b", "c", "d", "e", "a"))
    await _settle(storage)
    assert await _due(storage) == ["d", "e", "a", *behind[1:]]


async def test_a_book_of_higher_priority_is_served_more_often(driver: Driver, storage: SqlStorage) -> None:
    keys = [await driver.save(_tale(name=name)) for name in ("one", "two", "three")]
    for key in keys:
        await driver.request(key, SOUND)
    await _steer(storage, keys[1], priority=1)
    await _steer(storage, keys[2], priority=-1)
    walk = await storage.due(Pair("sound", LANE), 7, 2, 0)
    assert [row.book_key for row in walk.rows].count(keys[1]) == 4
    assert [row.book_key for row in walk.rows].count(keys[0]) == 2
    assert [row.book_key for row in walk.rows].count(keys[2]) == 1


async def test_steering_again_changes_nothing(driver: Driver, storage: SqlStorage) -> None:
    key = await driver.save(_tale())
    opened = await driver.request(key, SOUND)
    how = Steer(key, position=_at("2", "d"), priority=1, paused=True)
    assert await storage.steer(how) == [opened.request.request_id]
    assert await storage.steer(how) == []
    with pytest.raises(ScopeError, match="no scene 'z'"):
        await storage.steer(Steer(key, position=_at("1", "z")))
