"""Retrying: what failed becomes PENDING again, with what it requires; a paid call only when that is accepted."""

from __future__ import annotations

import pytest
from sqlalchemy import Connection, text
from world import ALL, Driver, book, chapter, scene

from animastor.books.model import Book
from animastor.engine.ports import Cancel, RollBack, Scope, ScopeKind
from animastor.engine.reasons import Reason
from animastor.engine.states import State
from animastor.protocol import BookKey, FailureType
from animastor.storage.database import Database
from animastor.storage.sql import SqlStorage


def _tale() -> Book:
    return book(chapter("1", scene("a"), scene("b"), scene("c")))


async def _failed(driver: Driver, storage: SqlStorage, media: str, code: str = "broken") -> BookKey:
    """A book of which a media type failed in its first scene; the others were never asked for."""
    key = await driver.save(_tale())
    await driver.request(key, (media,), Scope(ScopeKind.SCENE, "1", "a"))
    (work,) = await driver.start(media)
    given = driver.failure(work, work.missing[0], failure=FailureType.PERMANENT, code=code)
    await storage.count_failures([given])
    await driver.run()
    assert (await driver.states(key))["a", media] is State.FAILED
    return key


async def _retry(driver: Driver, key: BookKey, media: tuple[str, ...], *, accept_charge: bool = False) -> set[str]:
    """Retry, work everything off, and say which scenes were made."""
    before = {name for name, state in (await driver.states(key)).items() if state is State.READY}
    await driver.request(key, media, kind="retry", accept_charge=accept_charge)
    await driver.run()
    after = {name for name, state in (await driver.states(key)).items() if state is State.READY}
    return {scene_id for scene_id, _ in after - before}


async def test_what_failed_is_tried_again_and_nothing_else_is_started(driver: Driver, storage: SqlStorage) -> None:
    key = await _failed(driver, storage, "sound")
    assert list(await storage.failed_media(key, Scope())) == ["sound"]
    assert list(await storage.failed_media(key, Scope(ScopeKind.SCENE, "1", "b"))) == []
    assert await _retry(driver, key, ("sound",)) == {"a"}
    assert (await driver.states(key))["b", "sound"] is State.NEW
    assert list(await storage.failed_media(key, Scope())) == []


async def test_a_second_make_tries_again_what_failed(driver: Driver, storage: SqlStorage) -> None:
    key = await _failed(driver, storage, "sound")
    await driver.request(key, ("sound",))
    await driver.run()
    states = await driver.states(key)
    assert {states[name, "sound"] for name in "abc"} == {State.READY}


async def test_what_a_failed_clip_requires_and_was_cancelled_is_entered_with_it(
    driver: Driver, storage: SqlStorage
) -> None:
    key = await driver.save(_tale())
    await driver.request(key, ALL)
    await driver.run(("sound", "picture"))
    works = await driver.start("clip")
    first = works[0]
    await storage.count_failures([driver.failure(first, first.missing[0], failure=FailureType.PERMANENT)])
    for work in works[1:]:
        await driver.finish(work)
    await driver.run()
    await storage.bytes_missing([row[0] for row in await storage.artifacts_after("", 100)])
    await driver.replan()
    assert State.DIRTY in {state for (_, media), state in (await driver.states(key)).items() if media == "picture"}
    assert await _retry(driver, key, ("picture", "clip")) == {"a"}


async def test_what_still_waits_for_something_that_was_taken_back_gets_it_from_a_retry(
    driver: Driver, storage: SqlStorage
) -> None:
    """Its request was cancelled, and not looked through yet: the retry carries it on, with what it requires."""
    key = await driver.save(_tale())
    first = await driver.request(key, ("picture", "clip"), Scope(ScopeKind.SCENE, "1", "a"))
    (work,) = await driver.start("picture")
    await storage.cancel(Cancel(key, (first.request.request_id,)))
    await storage.roll_back([RollBack(work.asset, work.dispatch_id, Reason.RESTART)])
    states = await driver.states(key)
    assert (states["a", "picture"], states["a", "clip"]) == (State.DIRTY, State.PENDING)
    await storage.mark_released(await storage.unreleased(100))
    assert await _retry(driver, key, ("picture", "clip")) == {"a"}


async def test_what_failed_because_of_a_required_asset_comes_along(driver: Driver, storage: SqlStorage) -> None:
    key = await driver.save(_tale())
    await driver.request(key, ("picture", "clip"), Scope(ScopeKind.SCENE, "1", "a"))
    (work,) = await driver.start("picture")
    await storage.count_failures([driver.failure(work, work.missing[0], failure=FailureType.PERMANENT)])
    assert list(await storage.failed_media(key, Scope())) == ["clip", "picture"]
    assert await _retry(driver, key, ("picture", "clip")) == {"a"}


@pytest.mark.parametrize("accept", [False, True])
async def test_a_paid_call_whose_answer_was_lost_is_sent_again_only_when_that_is_accepted(
    driver: Driver, storage: SqlStorage, accept: bool
) -> None:
    key = await _failed(driver, storage, "picture", code="uncertain")
    assert await _retry(driver, key, ("picture",), accept_charge=accept) == ({"a"} if accept else set())
    state = (await driver.states(key))["a", "picture"]
    assert state is (State.READY if accept else State.FAILED)
    (row,) = [one for one in await storage.export_rows(key, Scope()) if one.scene_id == "a"]
    assert accept or row.media["picture"].error == "picture: it broke (attempts: 1)"


async def test_a_charge_is_accepted_for_what_a_request_finds_until_it_is_entered_and_not_when_it_is_entered_again(
    driver: Driver, storage: SqlStorage, database: Database
) -> None:
    def accepts(connection: Connection) -> bool:
        return bool(connection.execute(text("SELECT accept_charge FROM request")).scalar_one())

    opened = await driver.open(await driver.save(_tale()), ("picture",), accept_charge=True)
    entered = await storage.enter(opened.request.request_id, 2)
    assert (entered.done, await database.read(accepts)) == (False, True)
    entered = await storage.enter(opened.request.request_id, 2)
    assert (entered.done, await database.read(accepts)) == (True, False), "nobody has seen what fails from now on"
