"""Whole lives of assets: requested, planned, begun, made, and left alone when nothing changed."""

from __future__ import annotations

from dataclasses import replace

from world import ALL, Driver, book, chapter, scene, unit, with_text

from animastor.engine.ports import Scope, ScopeKind
from animastor.engine.reasons import Reason
from animastor.engine.states import RequestState, State
from animastor.media.types import Facts


async def test_a_requested_book_is_made_and_the_request_is_done(driver: Driver) -> None:
    key = await driver.save(book())
    opened = await driver.request(key)
    assert await driver.run() == 9
    assert set((await driver.states(key)).values()) == {State.READY}
    progress = await driver.storage.progress(opened.request.request_id)
    assert progress.request.state is RequestState.DONE
    assert progress.fraction == 1.0
    assert [one.parts_ready for one in progress.media] == [9, 6, 6]


async def test_nothing_changed_nothing_is_made_again(driver: Driver) -> None:
    key = await driver.save(book())
    await driver.request(key)
    await driver.run()
    made = len(driver.made)
    assert await driver.save(book()) == key
    await driver.request(key)
    assert await driver.run() == 0
    assert len(driver.made) == made


async def test_a_changed_text_makes_its_chunk_and_the_merge_and_what_reads_them(driver: Driver) -> None:
    key = await driver.save(book())
    await driver.request(key)
    await driver.run()
    made = len(driver.made)
    await driver.save(with_text(book(), "tale-1-a", "other words"))
    assert all(state is State.READY for state in (await driver.states(key)).values())
    await driver.replan()
    assert (await driver.states(key))["sc-1", "sound"] is State.DIRTY
    await driver.request(key)
    await driver.run()
    assert set((await driver.states(key)).values()) == {State.READY}
    assert len(driver.made) - made == 2  # the chunk and the merge; the clip's length is the same


async def test_an_undone_edit_costs_nothing(driver: Driver) -> None:
    key = await driver.save(book())
    await driver.request(key)
    await driver.run()
    await driver.save(with_text(book(), "tale-1-a", "other words"))
    await driver.request(key)
    await driver.run()
    made = len(driver.made)
    await driver.save(book())
    await driver.replan()
    assert set((await driver.states(key)).values()) == {State.READY}
    assert len(driver.made) == made


async def test_an_edit_under_an_open_request_is_made_without_asking_again(driver: Driver) -> None:
    key = await driver.save(book())
    await driver.request(key)
    works = await driver.start("sound")
    await driver.finish(works[0])
    await driver.save(with_text(book(), "tale-0-a", "other words"))
    await driver.replan()
    assert (await driver.states(key))["sc-0", "sound"] is State.PENDING
    for work in works[1:]:
        await driver.finish(work)
    await driver.run()
    assert set((await driver.states(key)).values()) == {State.READY}


async def test_the_same_book_under_another_name_takes_everything_over(driver: Driver) -> None:
    def tale(name: str) -> object:
        return book(chapter("ch", scene("a", unit("a1"), unit("a2")), scene("b", unit("b1"))), name=name)

    first = await driver.save(tale("one"))  # type: ignore[arg-type]
    await driver.request(first)
    await driver.run()
    made = len(driver.made)
    second = await driver.save(tale("two"))  # type: ignore[arg-type]
    await driver.request(second)
    assert await driver.run() == 0
    assert len(driver.made) == made
    assert set((await driver.states(second)).values()) == {State.READY}
    reasons = {row.reason for row in await driver.storage.journal(limit=1000)}
    assert Reason.REUSED in reasons


async def test_what_is_taken_over_of_two_different_takes_is_one_of_them_with_its_own_facts(driver: Driver) -> None:
    """Equal parts of two books that were made at the same time, by a backend that never gives the same bytes twice."""
    made = {"a" * 64: Facts(duration=9.0), "b" * 64: Facts(duration=1.0)}
    books = [book(chapter("ch", scene("s", unit("u"))), name=name) for name in ("one", "two", "three")]
    keys = [await driver.save(one) for one in books]
    for key in keys[:2]:
        await driver.request(key, ("picture",))
    for work, (checksum, facts) in zip(await driver.start("picture"), made.items(), strict=True):
        result = driver.result(work, work.missing[0])
        uploaded = replace(result.uploaded, checksum=checksum, facts=facts)
        await driver.storage.accept([replace(result, uploaded=uploaded)])
    await driver.request(keys[2], ("picture",))
    assert await driver.run(("picture",)) == 0
    (take,) = await driver.storage.takes_of(keys[2], "u") or ()
    assert take.facts == made[take.artifact]


async def test_a_scene_moved_to_another_chapter_keeps_what_was_made(driver: Driver) -> None:
    a, b, c = scene("a"), scene("b"), scene("c")
    key = await driver.save(book(chapter("1", a, b), chapter("2", c)))
    await driver.request(key)
    await driver.run()
    made = len(driver.made)
    await driver.save(book(chapter("1", a), chapter("2", b, c)))
    await driver.request(key, media=ALL)
    assert await driver.run() == 0
    assert len(driver.made) == made
    rows = await driver.storage.export_rows(key, Scope(ScopeKind.CHAPTER, "2"))
    assert [row.scene_id for row in rows] == ["b", "c"]
    assert all(one.current for row in rows for one in row.media.values())


async def test_a_scene_that_left_and_came_back_is_taken_over_from_what_it_left(driver: Driver) -> None:
    both = book(chapter("1", scene("a"), scene("b")))
    key = await driver.save(both)
    await driver.request(key)
    await driver.run()
    made = len(driver.made)
    await driver.save(book(chapter("1", scene("a"))))
    assert len(await driver.states(key)) == 3
    await driver.save(both)
    await driver.request(key)
    assert await driver.run() == 0
    assert len(driver.made) == made


async def test_a_scene_without_anything_to_make_is_ready_and_empty(driver: Driver) -> None:
    silent = scene("quiet")
    silent = type(silent)(silent.scene_id, ())
    key = await driver.save(book(chapter("1", silent)))
    await driver.request(key, media=("sound", "picture"))
    assert await driver.run() == 0
    (row,) = await driver.storage.export_rows(key, Scope())
    assert (row.media["sound"].state, row.media["sound"].current, row.media["sound"].artifact) == (
        State.READY,
        True,
        None,
    )
    assert row.media["sound"].facts["duration"] == 0.0


async def test_two_equal_parts_of_one_asset_are_made_once_and_stand_twice(driver: Driver) -> None:
    same = scene("s", unit("u1", "same"), unit("u1", "same"))
    key = await driver.save(book(chapter("1", same)))
    await driver.request(key, media=("sound",))
    await driver.run(("sound",))
    (row,) = await driver.storage.export_rows(key, Scope())
    assert row.media["sound"].facts["duration"] == 2.0
    assert len(driver.made) == 2
