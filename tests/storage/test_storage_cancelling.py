"""Cancelling a part of what is asked for: an exclusion is written, what it covers rests, nothing else is touched."""

from __future__ import annotations

import pytest
from world import ALL, Driver, book, chapter, scene

from animastor.books.model import Book
from animastor.engine.ports import Cancel, Cancelled, Scope, ScopeKind
from animastor.engine.states import RequestState, State
from animastor.protocol import BookKey
from animastor.storage import sweeping
from animastor.storage.requests import ScopeError
from animastor.storage.sql import SqlStorage

CHAPTER_TWO = Scope(ScopeKind.CHAPTER, "2")


def _two_chapters() -> Book:
    return book(chapter("1", scene("a"), scene("b")), chapter("2", scene("c"), scene("d")))


async def _busy(driver: Driver, key: BookKey) -> set[tuple[str, str]]:
    busy = (State.PENDING, State.GENERATING)
    return {name for name, state in (await driver.states(key)).items() if state in busy}


async def _sweep(storage: SqlStorage) -> int:
    """Sweep everything; how many dispatches ended."""
    ended = 0
    for request in await storage.uncovered():
        while some := await storage.sweep_uncovered(request, 2):
            ended += len(some)
    return ended


async def test_a_cancelled_media_type_takes_along_what_requires_it_and_nothing_else(
    driver: Driver, storage: SqlStorage
) -> None:
    key = await driver.save(_two_chapters())
    opened = await driver.request(key)
    pictures, sounds = await driver.start("picture"), await driver.start("sound")
    cancelled = await storage.cancel(Cancel(key, media=("picture",)))
    assert cancelled == Cancelled(narrowed=(opened.request.request_id,))
    assert await _sweep(storage) == len(pictures), "only pictures were stopped"
    assert {media for _, media in await _busy(driver, key)} == {"sound"}
    for work in sounds:
        await driver.finish(work)
    await driver.run()
    assert (await storage.requests(open_only=False))[0].state is RequestState.DONE


@pytest.mark.parametrize(
    ("scope", "left"),
    [
        (CHAPTER_TWO, {"a", "b"}),
        (Scope(ScopeKind.SCENE, "1", "b"), {"a", "c", "d"}),
        (Scope(ScopeKind.FROM_SCENE, "1", "b"), {"a"}),
    ],
)
async def test_a_cancelled_scope_rests_and_the_request_goes_on_without_it(
    driver: Driver, storage: SqlStorage, scope: Scope, left: set[str]
) -> None:
    key = await driver.save(_two_chapters())
    await driver.request(key, media=("sound",))
    (begun,) = await driver.start("sound", limit=1)
    assert len((await storage.cancel(Cancel(key, scope=scope))).narrowed) == 1
    await _sweep(storage)
    assert {name for name, _ in await _busy(driver, key)} == left
    await driver.finish(begun)
    assert await driver.run(("sound",)) == len(left - {"a"})
    assert {name for (name, _), state in (await driver.states(key)).items() if state is State.READY} == left


async def test_a_request_of_which_nothing_is_left_is_closed(driver: Driver, storage: SqlStorage) -> None:
    key = await driver.save(_two_chapters())
    opened = await driver.request(key, media=("sound",), scope=CHAPTER_TWO)
    assert await storage.cancel(Cancel(key, scope=Scope(ScopeKind.FROM_SCENE, "1", "b"))) == Cancelled(
        closed=(opened.request.request_id,)
    )
    await _sweep(storage)
    assert await _busy(driver, key) == set()
    assert await storage.requests() == []


async def test_cancelling_again_changes_nothing_and_never_touches_a_newer_request(
    driver: Driver, storage: SqlStorage
) -> None:
    key = await driver.save(_two_chapters())
    first = await driver.request(key, media=("sound",))
    of = Cancel(key, requests=(first.request.request_id,))
    assert (await storage.cancel(of)).closed == (first.request.request_id,)
    await _sweep(storage)
    await driver.request(key, media=("sound",))
    assert await storage.cancel(of) == Cancelled()
    assert await _sweep(storage) == 0
    assert len(await _busy(driver, key)) == 4
    narrower = Cancel(key, scope=CHAPTER_TWO)
    await storage.cancel(narrower)
    await _sweep(storage)
    before = await _busy(driver, key)
    await storage.cancel(narrower)
    assert await _sweep(storage) == 0
    assert await _busy(driver, key) == before


async def test_scenes_that_enter_a_cancelled_chapter_later_are_not_made(driver: Driver, storage: SqlStorage) -> None:
    key = await driver.save(_two_chapters())
    await driver.request(key, media=("sound",))
    await storage.cancel(Cancel(key, scope=CHAPTER_TWO))
    await driver.save(book(chapter("1", scene("a")), chapter("2", scene("c"), scene("new"), scene("d"), scene("b"))))
    await _sweep(storage)
    await driver.run(("sound",))
    assert {name for (name, _), state in (await driver.states(key)).items() if state is State.READY} == {"a"}


async def test_what_another_request_covers_goes_on_under_it(driver: Driver, storage: SqlStorage) -> None:
    key = await driver.save(_two_chapters())
    first = await driver.request(key, media=("sound",))
    await driver.request(key, media=("sound",), scope=CHAPTER_TWO, kind="read")
    works = await driver.start("sound")
    await storage.cancel(Cancel(key, requests=(first.request.request_id,)))
    assert await _sweep(storage) == 2
    assert {name for name, _ in await _busy(driver, key)} == {"c", "d"}
    assert len(works) == 4


async def test_a_cancel_during_a_sweep_is_swept_as_well(driver: Driver, storage: SqlStorage) -> None:
    key = await driver.save(_two_chapters())
    await driver.request(key, media=ALL)
    await driver.start("sound")
    await storage.cancel(Cancel(key, media=("sound",)))
    (request,) = await storage.uncovered()
    assert len(await storage.sweep_uncovered(request, 2)) == 2, "it is not over"
    await storage.cancel(Cancel(key, media=("picture",)))
    await _sweep(storage)
    assert await _busy(driver, key) == set()


@pytest.mark.parametrize("another", [False, True], ids=["alone", "behind_another_sweep"])
async def test_the_end_of_a_sweep_leaves_a_cancel_that_came_after_its_last_look(
    driver: Driver, storage: SqlStorage, another: bool
) -> None:
    key = await driver.save(_two_chapters())
    await driver.request(key, media=ALL)
    await storage.cancel(Cancel(key, media=("sound",)))
    (request,) = await storage.uncovered()
    begun = await storage._db.read(sweeping.mark, request)
    assert begun is not None
    if another:
        await _sweep(storage)
    await storage.cancel(Cancel(key, media=("picture",)))
    await storage._db.write(sweeping.over, request, begun[1])
    await _sweep(storage)
    assert await _busy(driver, key) == set()


async def test_what_cannot_be_cancelled_is_said(driver: Driver, storage: SqlStorage) -> None:
    key = await driver.save(_two_chapters())
    with pytest.raises(ScopeError, match="no chapter '9'"):
        await storage.cancel(Cancel(key, scope=Scope(ScopeKind.CHAPTER, "9")))
    with pytest.raises(ValueError, match="name the scene"):
        await storage.cancel(Cancel(key, scope=Scope(ScopeKind.UNITS, "1", "a", ("a-u1",))))


async def test_a_scene_that_moves_into_what_was_cancelled_rests_as_well(driver: Driver, storage: SqlStorage) -> None:
    key = await driver.save(_two_chapters())
    await driver.request(key, media=("sound",))
    await storage.cancel(Cancel(key, scope=CHAPTER_TWO))
    await _sweep(storage)
    assert {name for name, _ in await _busy(driver, key)} == {"a", "b"}
    await driver.save(book(chapter("1", scene("a")), chapter("2", scene("b"), scene("c"), scene("d"))))
    await _sweep(storage)
    assert {name for name, _ in await _busy(driver, key)} == {"a"}
