"""What one media type does to those of its scene that read it, when it is confirmed, rests, fails or comes back."""

from __future__ import annotations

from world import ALL, Driver, book, chapter, scene, unit

from animastor.engine.ports import Scope
from animastor.engine.states import RequestState, State
from animastor.protocol import FailureType
from animastor.storage.sql import SqlStorage


def _tale(text: str = "words", prompt: str = "wish", style: str = "") -> object:
    return book(chapter("1", scene("s", unit("u", text, prompt))), style=style)


async def _save(driver: Driver, **about: str) -> int:
    return await driver.save(_tale(**about))  # type: ignore[arg-type]


async def test_a_clip_that_waited_for_a_picture_not_looked_at_goes_on_when_it_is_confirmed(
    driver: Driver, storage: SqlStorage
) -> None:
    key = await _save(driver)
    await driver.request(key, media=("picture",), kind="first")  # type: ignore[arg-type]
    await driver.run()
    await _save(driver, style="another head")
    await driver.request(key, media=ALL, kind="all")  # type: ignore[arg-type]
    (sound,) = await driver.start("sound")
    await driver.finish(sound)
    assert await driver.start("clip") == [], "the picture may have to be made again"
    await driver.replan()
    (clip,) = await driver.start("clip")
    await driver.finish(clip)
    assert (await driver.states(key))["s", "clip"] is State.READY  # type: ignore[arg-type]


async def test_a_clip_at_work_fails_with_its_picture_once_it_is_planned_again(
    driver: Driver, storage: SqlStorage
) -> None:
    key = await _save(driver)
    await driver.request(key)  # type: ignore[arg-type]
    for media in ("sound", "picture"):
        (work,) = await driver.start(media)
        await driver.finish(work)
    (clip,) = await driver.start("clip")
    await _save(driver, prompt="another wish")
    rows = [row for row in await storage.unplanned(10) if row.media == "picture"]
    await storage.store_plans(await driver.plans(rows))
    (picture,) = await driver.start("picture")
    await storage.count_failures([driver.failure(picture, picture.missing[0], failure=FailureType.PERMANENT)])
    assert (await driver.states(key))["s", "clip"] is State.GENERATING  # type: ignore[arg-type]
    stored = {one.asset: one for one in await driver.replan()}
    assert stored[clip.asset].state is State.FAILED
    assert stored[clip.asset].ended is not None
    (row,) = await storage.export_rows(key, Scope())  # type: ignore[arg-type]
    assert row.media["clip"].error == "the picture of this scene could not be made"


async def test_a_clip_that_waited_for_a_sound_goes_on_without_it_when_that_is_cancelled(
    driver: Driver, storage: SqlStorage
) -> None:
    key = await _save(driver)
    sound = await driver.request(key, media=("sound",), kind="sound")  # type: ignore[arg-type]
    await driver.request(key, media=("picture", "clip"), kind="film")  # type: ignore[arg-type]
    (picture,) = await driver.start("picture")
    await driver.finish(picture)
    assert await driver.start("clip") == []
    await storage.close_request(sound.request.request_id, RequestState.CANCELLED)
    while await storage.sweep_uncovered(sound.request.request_id, 10):
        pass
    assert len(await driver.start("clip")) == 1


async def test_a_clip_that_waited_for_a_sound_goes_on_without_it_when_that_turns_out_stale_and_nobody_wants_it(
    driver: Driver,
) -> None:
    key = await _save(driver)
    await driver.request(key, media=("sound", "picture"), kind="first")  # type: ignore[arg-type]
    await driver.run()
    await _save(driver, text="other words")
    await driver.request(key, media=("picture", "clip"), kind="film")  # type: ignore[arg-type]
    (picture,) = [one for one in await driver.replan_only("picture") if one.state is State.READY]
    assert picture.missing == ()
    assert await driver.start("clip") == [], "the sound may still stand"
    await driver.replan()
    assert (await driver.states(key))["s", "sound"] is State.DIRTY  # type: ignore[arg-type]
    assert len(await driver.start("clip")) == 1


async def test_a_clip_that_failed_with_its_picture_comes_back_when_an_edit_changes_the_picture(
    driver: Driver, storage: SqlStorage
) -> None:
    key = await _save(driver)
    await driver.request(key)  # type: ignore[arg-type]
    (picture,) = await driver.start("picture")
    await storage.count_failures([driver.failure(picture, picture.missing[0], failure=FailureType.PERMANENT)])
    assert (await driver.states(key))["s", "clip"] is State.FAILED  # type: ignore[arg-type]
    await _save(driver, prompt="another wish")
    await driver.replan()
    states = await driver.states(key)  # type: ignore[arg-type]
    assert (states["s", "picture"], states["s", "clip"]) == (State.PENDING, State.PENDING)
    await driver.run()
    assert set((await driver.states(key)).values()) == {State.READY}  # type: ignore[arg-type]


async def test_equal_bytes_made_again_restore_the_clip_without_work(driver: Driver, storage: SqlStorage) -> None:
    key = await _save(driver)
    await driver.request(key)  # type: ignore[arg-type]
    await driver.run()
    await _save(driver, prompt="another wish")
    await driver.replan()
    await driver.request(key)  # type: ignore[arg-type]
    (picture,) = await driver.start("picture")
    old = (await storage.export_rows(key, Scope()))[0].media["picture"].facts["units"]["u"]  # type: ignore[arg-type]
    result = driver.result(picture, picture.missing[0])
    from dataclasses import replace

    same = replace(result, uploaded=replace(result.uploaded, checksum=old))
    (answer,) = await storage.accept([same])
    assert answer.ready
    made = len(driver.made)
    await driver.run()
    assert (await driver.states(key))["s", "clip"] is State.READY  # type: ignore[arg-type]
    assert len(driver.made) == made
