"""Rebuilding: takes of exactly the units that were named are raised, once, and what is pinned or given stays."""

from __future__ import annotations

from collections import Counter

import pytest
from sqlalchemy import Connection, text
from world import ALL, Driver, book, chapter, gift_of, scene, unit

from animastor.books.model import Book
from animastor.engine.ports import KeptPart, NewRequest, Scope, ScopeKind
from animastor.engine.states import RequestState, State
from animastor.protocol import BookKey
from animastor.storage.database import Database
from animastor.storage.requests import ScopeError
from animastor.storage.sql import SqlStorage

UNIT = Scope(ScopeKind.UNITS, "1", "a", ("a2",))


def _tale() -> Book:
    return book(chapter("1", scene("a", unit("a1"), unit("a2")), scene("b", unit("b1"))), chapter("2", scene("c")))


async def _made(driver: Driver) -> BookKey:
    key = await driver.save(_tale())
    await driver.request(key)
    await driver.run()
    driver.made.clear()
    return key


async def _rebuild(driver: Driver, key: BookKey, scope: Scope, *media: str, needs: tuple[str, ...] = ()) -> None:
    await driver.request(key, (*media, *needs), scope, kind="regenerate", rebuild=True, named=media)
    await driver.run()


async def _kinds(driver: Driver, database: Database) -> Counter[str]:
    """What was made, by kind of part."""

    def read(connection: Connection) -> dict[str, str]:
        return {row.hash: row.kind for row in connection.execute(text("SELECT hash, kind FROM part"))}

    kinds = await database.read(read)
    return Counter(kinds[one] for one in driver.made)


async def _set(database: Database, sql: str) -> None:
    await database.write(lambda connection: connection.execute(text(sql)).close())


@pytest.mark.parametrize(
    ("scope", "media", "made"),
    [
        (UNIT, ("sound",), {"chunk": 1, "merge": 1}),
        (Scope(ScopeKind.SCENE, "1", "a"), ("sound",), {"chunk": 2, "merge": 1}),
        (Scope(ScopeKind.CHAPTER, "1"), ("sound",), {"chunk": 3, "merge": 2}),
        (Scope(), ("picture",), {"picture": 4}),
    ],
)
async def test_a_rebuild_makes_exactly_the_parts_of_its_units_again(
    driver: Driver, database: Database, scope: Scope, media: tuple[str, ...], made: dict[str, int]
) -> None:
    key = await _made(driver)
    await _rebuild(driver, key, scope, *media)
    assert await _kinds(driver, database) == made


async def test_what_only_comes_along_as_required_is_not_made_again(driver: Driver, database: Database) -> None:
    key = await _made(driver)
    await _rebuild(driver, key, Scope(), "clip", needs=("picture",))
    assert "picture" not in await _kinds(driver, database)


async def test_a_request_without_rebuild_finds_nothing_to_do(driver: Driver) -> None:
    key = await _made(driver)
    await driver.request(key, ALL, UNIT, kind="regenerate")
    await driver.run()
    assert driver.made == []


async def test_takes_are_raised_once_however_entering_is_cut_and_the_request_is_repeated(
    driver: Driver, storage: SqlStorage, database: Database
) -> None:
    key = await _made(driver)
    new = NewRequest(key, Scope(), ("sound",), "again", kind="regenerate", rebuild=True)
    for _ in range(2):
        opened = await storage.open_request(new)
        while not (await storage.enter(opened.request.request_id, 1)).done:
            pass
    takes = await database.read(lambda held: held.execute(text("SELECT DISTINCT take FROM unit_take")).fetchall())
    assert [row[0] for row in takes] == [1]
    await driver.run()
    assert (await storage.requests(open_only=False))[-1].state is RequestState.DONE


async def test_a_rebuild_after_an_earlier_take_was_chosen_makes_a_new_one(driver: Driver, database: Database) -> None:
    key = await _made(driver)
    await _rebuild(driver, key, UNIT, "picture")
    await _set(database, "UPDATE unit_take SET take = 0")
    await _rebuild(driver, key, UNIT, "picture")
    assert len(set(driver.made)) == len(driver.made) == 2
    takes = await database.read(lambda held: held.execute(text("SELECT take, highest FROM unit_take")).fetchall())
    assert [tuple(row) for row in takes] == [(2, 2)]


async def test_pinned_and_given_parts_are_left_alone_and_named(
    driver: Driver, storage: SqlStorage, database: Database
) -> None:
    key = await _made(driver)
    for unit_id, supplied in (("a1", False), ("b1", True)):
        (made,) = [one for one in await storage.takes_of(key, unit_id) or () if one.kind == "picture"]
        assert await storage.give(gift_of(made, supplied=supplied))
    await driver.run(("picture",))
    opened = await driver.request(key, ("picture",), Scope(ScopeKind.CHAPTER, "1"), kind="regenerate", rebuild=True)
    assert list(await storage.kept_parts(opened.request)) == [
        KeptPart("1", "a", "picture", ("a1",), given=False),
        KeptPart("1", "b", "picture", ("b1",), given=True),
    ]
    await driver.run(("picture",))
    assert await _kinds(driver, database) == {"picture": 1}
    assert {state for (_, media), state in (await driver.states(key)).items() if media == "picture"} == {State.READY}


async def test_what_is_in_work_goes_on_as_the_other_take(driver: Driver, storage: SqlStorage) -> None:
    key = await driver.save(_tale())
    await driver.request(key, ("sound",))
    (work, *_) = await driver.start("sound")
    await driver.request(key, ("sound",), UNIT, kind="regenerate", rebuild=True)
    (stored,) = await driver.replan()
    assert (stored.asset, stored.state, stored.dispatch_id) == (work.asset, State.GENERATING, work.dispatch_id)
    assert len(stored.missing) == 2
    assert [kind for kind, _ in stored.dropped] == ["chunk", "merge"]


async def test_units_that_are_not_there_are_named(driver: Driver) -> None:
    key = await driver.save(_tale())
    with pytest.raises(ScopeError, match="no unit 'a9' in scene 'a'"):
        await driver.request(key, ("sound",), Scope(ScopeKind.UNITS, "1", "a", ("a1", "a9")))
