"""Requests: once per key, entered in chunks, covering what they cover, ended when nothing is left."""

from __future__ import annotations

import pytest
from world import ALL, Driver, Time, book, chapter, large_book, scene, unit

from animastor.books.model import Book
from animastor.engine.ports import Ended, NewRequest, Scope, ScopeKind
from animastor.engine.states import RequestState, State
from animastor.storage.requests import ScopeError
from animastor.storage.sql import SqlStorage


def _two_chapters() -> Book:
    return book(chapter("1", scene("a"), scene("b")), chapter("2", scene("c"), scene("d")))


async def _covered(driver: Driver, key: int) -> set[str]:
    states = await driver.states(key)  # type: ignore[arg-type]
    return {name for (name, _), state in states.items() if state in (State.PENDING, State.GENERATING)}


@pytest.mark.parametrize(
    ("scope", "covered"),
    [
        (Scope(), "abcd"),
        (Scope(ScopeKind.CHAPTER, "2"), "cd"),
        (Scope(ScopeKind.FROM_SCENE, "1", "b"), "bcd"),
        (Scope(ScopeKind.SCENE, "1", "b"), "b"),
        (Scope(ScopeKind.SCENE, "", "c"), "c"),
        (Scope(ScopeKind.UNITS, "2", "d", ("d-u1",)), "d"),
    ],
)
async def test_a_request_covers_exactly_its_scope(driver: Driver, scope: Scope, covered: str) -> None:
    key = await driver.save(_two_chapters())
    opened = await driver.request(key, scope=scope)
    assert await _covered(driver, key) == set(covered)
    progress = await driver.storage.progress(opened.request.request_id)
    assert [one.assets for one in progress.media] == [len(covered)] * 3
    assert [one.pending for one in progress.media] == [len(covered)] * 3


async def test_a_request_is_opened_with_its_first_assets_entered(driver: Driver, storage: SqlStorage) -> None:
    key = await driver.save(_two_chapters())
    small = NewRequest(key, Scope(ScopeKind.SCENE, "1", "a"), ALL, "small")
    opened = await storage.open_request(small, 100)
    assert opened.request.state is RequestState.OPEN
    assert await _covered(driver, key) == {"a"}
    large = await storage.open_request(NewRequest(key, Scope(), ALL, "large"), 4)
    assert large.request.state is RequestState.PREPARING
    assert "b" in await _covered(driver, key)
    assert "d" not in await _covered(driver, key)
    assert (await storage.enter(large.request.request_id, 1000)).done
    assert await _covered(driver, key) == {"a", "b", "c", "d"}


async def test_a_scope_that_is_not_there_is_refused(driver: Driver) -> None:
    key = await driver.save(_two_chapters())
    for scope in (Scope(ScopeKind.CHAPTER, "9"), Scope(ScopeKind.SCENE, "1", "c"), Scope(ScopeKind.SCENE, "", "z")):
        with pytest.raises(ScopeError):
            await driver.open(key, scope=scope)


async def test_the_same_key_gives_the_first_request_again(driver: Driver) -> None:
    key = await driver.save(_two_chapters())
    first = await driver.open(key, idempotency_key="k")
    assert (await driver.open(key, media=("sound",), idempotency_key="k")).request == first.request


async def test_a_key_belongs_to_its_book(driver: Driver) -> None:
    one, other = await driver.save(_two_chapters()), await driver.save(large_book(2))
    first = await driver.open(one, idempotency_key="k")
    second = await driver.open(other, idempotency_key="k")
    assert (first.request.book_key, second.request.book_key) == (one, other)
    assert (await driver.open(one, idempotency_key="k")).request == first.request


async def test_a_key_is_kept_for_seven_days(driver: Driver, storage: SqlStorage, time: Time) -> None:
    if not hasattr(storage._db, "run"):
        return  # the clock of these databases is not the test's
    key = await driver.save(_two_chapters())
    first = await driver.open(key, idempotency_key="k")
    time.now += 7 * 86_400 - 1
    assert (await driver.open(key, idempotency_key="k")).request.request_id == first.request.request_id
    time.now += 2
    second = await driver.open(key, idempotency_key="k")
    assert second.request.request_id != first.request.request_id
    assert (await driver.open(key, idempotency_key="k")).request == second.request


async def test_entering_goes_chunk_by_chunk_and_can_be_resumed(driver: Driver, storage: SqlStorage) -> None:
    key = await driver.save(large_book(7))
    opened = await driver.open(key, media=("sound",))
    id_ = opened.request.request_id
    entered = [await storage.enter(id_, 3)]
    assert [row.request_id for row in await storage.preparing()] == [id_]
    while not entered[-1].done:
        entered.append(await storage.enter(id_, 3))
    assert [one.entered for one in entered] == [3, 3, 1]
    assert (await storage.enter(id_, 3)).done
    assert await storage.preparing() == []


async def test_a_later_make_supersedes_an_earlier_one_and_what_is_left_rests(
    driver: Driver, storage: SqlStorage
) -> None:
    key = await driver.save(_two_chapters())
    first = await driver.request(key)
    works = await driver.start("sound")
    second = await driver.request(key, media=("picture",))
    assert second.superseded == (first.request.request_id,)
    assert await storage.uncovered() == [first.request.request_id]
    ended = list(await storage.sweep_uncovered(first.request.request_id, 100))
    assert set(ended) == {Ended(work.asset, work.dispatch_id) for work in works}
    while await storage.sweep_uncovered(first.request.request_id, 100):
        pass
    assert await storage.uncovered() == []
    assert {media for (_, media), state in (await driver.states(key)).items() if state is State.PENDING} == {"picture"}
    same = await driver.request(key, media=("picture",))
    assert same.superseded == ()


async def test_cancelling_leaves_what_another_request_covers(driver: Driver, storage: SqlStorage) -> None:
    key = await driver.save(_two_chapters())
    first = await driver.request(key, media=("sound",))
    await driver.request(key, media=("sound",), scope=Scope(ScopeKind.CHAPTER, "2"), kind="read")
    (work, *_) = await driver.start("sound", limit=1)
    assert await storage.close_request(first.request.request_id, RequestState.CANCELLED)
    assert not await storage.close_request(first.request.request_id, RequestState.CANCELLED)
    assert list(await storage.sweep_uncovered(first.request.request_id, 1)) == [Ended(work.asset, work.dispatch_id)]
    while await storage.sweep_uncovered(first.request.request_id, 1):
        pass
    assert await _covered(driver, key) == {"c", "d"}
    await driver.run(("sound",))
    states = await driver.states(key)
    assert {name for (name, media), state in states.items() if state is State.READY} == {"c", "d"}
    assert states["a", "sound"] is State.DIRTY


async def test_a_request_is_not_done_while_an_edit_was_not_looked_at(driver: Driver, storage: SqlStorage) -> None:
    key = await driver.save(_two_chapters())
    await driver.request(key, media=("picture",))
    for work in await driver.start("picture"):
        await driver.finish(work)
    await driver.save(
        book(chapter("1", scene("a", unit("a-u1", prompt="new")), scene("b")), chapter("2", scene("c"), scene("d")))
    )
    assert not await storage.finish_requests()
    await driver.replan()
    assert not await storage.finish_requests()
    for work in await driver.start("picture"):
        await driver.finish(work)
    assert [row.state for row in await storage.finish_requests()] == [RequestState.DONE]


async def test_scenes_that_are_added_under_an_open_request_are_entered(driver: Driver, storage: SqlStorage) -> None:
    key = await driver.save(_two_chapters())
    opened = await driver.request(key, media=("sound",))
    await driver.save(book(chapter("1", scene("a"), scene("new"), scene("b")), chapter("2", scene("c"), scene("d"))))
    assert [row.state for row in await storage.preparing()] == [RequestState.PREPARING]
    entered = await storage.enter(opened.request.request_id, 1000)
    assert (entered.entered, entered.done) == (1, True)
    rows = await storage.export_rows(key, Scope())
    assert [row.scene_id for row in rows] == ["a", "new", "b", "c", "d"]


async def test_a_layer_that_is_switched_off_is_never_started_and_its_work_rests(
    driver: Driver, storage: SqlStorage
) -> None:
    key = await driver.save(_two_chapters())
    opened = await driver.request(key)
    await driver.start("picture", limit=1)
    off = {"layer_config": {"picture_enabled": False}}
    await driver.save(book(*_two_chapters().chapters, **off))
    assert await storage.uncovered() == [opened.request.request_id]
    while await storage.sweep_uncovered(opened.request.request_id, 100):
        pass
    busy = {media for (_, media), state in (await driver.states(key)).items() if state is State.PENDING}
    assert busy == {"sound"}, "clips require pictures"
    again = await driver.request(key, media=ALL, kind="again")
    assert again.request.media == ("sound",)
    await driver.run()
    assert (await driver.states(key))["a", "clip"] is State.DIRTY


async def test_progress_never_runs_backwards_and_is_whole_only_at_the_end(driver: Driver, storage: SqlStorage) -> None:
    key = await driver.save(_two_chapters())
    opened = await driver.request(key)
    id_ = opened.request.request_id
    seen = [(await storage.progress(id_)).fraction]
    for media in ALL:
        for work in await driver.start(media):
            await driver.finish(work)
            seen.append((await storage.progress(id_)).fraction)
    assert seen[0] == 0.0
    assert seen == sorted(seen)
    assert seen[-1] == 0.99
    await driver.save(book(*(chapter(f"n{n}", scene(f"n{n}")) for n in range(20))))
    assert (await storage.progress(id_)).fraction == 0.99
    await driver.run()
    assert (await storage.progress(id_)).fraction == 1.0


async def test_asking_again_for_what_failed_starts_its_attempts_anew(driver: Driver, storage: SqlStorage) -> None:
    from animastor.protocol import FailureType

    key = await driver.save(book(chapter("1", scene("a"))))
    await driver.request(key, media=("picture",))
    (work,) = await driver.start("picture")
    await storage.count_failures([driver.failure(work, work.missing[0], failure=FailureType.PERMANENT)])
    await storage.finish_requests()
    await driver.request(key, media=("picture",))
    (again,) = await driver.start("picture")
    assert again.missing[0].retry_of is None
    await driver.finish(again)
    assert (await driver.states(key))["a", "picture"] is State.READY
