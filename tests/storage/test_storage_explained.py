"""What is stored of a scene for `explain`, and the reasons that admission gave, told once each."""

from __future__ import annotations

import pytest
from world import Driver, book

from animastor.engine.reasons import JournalType, Reason
from animastor.engine.states import PartState, Standing, State, Wait
from animastor.storage.requests import ScopeError
from animastor.storage.sql import SqlStorage


async def test_a_scene_is_told_with_the_bits_and_parts_that_decide(driver: Driver, storage: SqlStorage) -> None:
    key = await driver.save(book())
    opened = await driver.request(key)
    (work, *_) = await driver.start("picture")
    await storage.accept([driver.result(work, work.missing[0])])
    await storage.count_failures([driver.failure(work, work.missing[1], message="no answer")])
    detail = await storage.scene_detail(key, "ch-1", "sc-0")
    assert (detail.place, detail.book_id, set(detail.assets)) == ("1/1", "tale", {"sound", "picture", "clip"})
    picture, clip, sound = (detail.assets[name] for name in ("picture", "clip", "sound"))
    assert picture.state is State.GENERATING
    assert picture.dispatch_id == work.dispatch_id
    assert picture.begun_at > 0
    assert [part.state for part in picture.parts] == [PartState.READY, PartState.MISSING]
    assert (picture.parts[1].tries, picture.parts[1].message) == (1, "no answer")
    assert picture.parts[1].not_before > detail.now
    assert clip.waits & Wait.REQUIRES
    assert (picture.seen_as, sound.seen_as) == ("awaited", "awaited")
    assert all(one.carried and one.request_id == opened.request.request_id for one in detail.assets.values())


async def test_how_many_are_due_before_it_is_counted_in_reading_order(driver: Driver, storage: SqlStorage) -> None:
    key = await driver.save(book())
    await driver.request(key, ["sound"])
    ahead = [(await storage.scene_detail(key, "ch-1", f"sc-{n}")).assets["sound"].ahead for n in range(3)]
    assert ahead == [0, 1, 2]


async def test_a_scene_that_is_not_there_is_refused(driver: Driver, storage: SqlStorage) -> None:
    key = await driver.save(book())
    with pytest.raises(ScopeError):
        await storage.scene_detail(key, "ch-1", "sc-10")
    assert await storage.outline(key) == [("ch-1", f"sc-{n}", f"1/{n + 1}") for n in range(3)]


async def test_a_book_is_counted_by_media_type_and_state_with_the_first_scene_of_each(
    driver: Driver, storage: SqlStorage
) -> None:
    key = await driver.save(book())
    await driver.request(key, ["sound"])
    await driver.start("sound", limit=1)
    counts = {(one.media, one.standing): (one.assets, one.scene_id) for one in await storage.media_counts(key)}
    assert counts["sound", Standing.IN_WORK] == (1, "sc-0")
    assert counts["sound", Standing.WAITING] == (2, "sc-1")
    assert counts["clip", Standing.MISSING] == (3, "sc-0")


async def test_a_reason_is_journalled_when_it_changes_and_only_then(driver: Driver, storage: SqlStorage) -> None:
    key = await driver.save(book())
    await driver.request(key, ["sound"])
    for reason in (Reason.BACKPRESSURE, Reason.BACKPRESSURE, Reason.BACKOFF, Reason.BACKOFF):
        rows, _ = await driver.plan_due("sound")
        asset = rows[0].asset
        await storage.skip([(asset, reason)])
    await driver.plan_due("sound")
    skipped = [row.reason for row in await storage.journal(asset=asset) if row.type is JournalType.SKIPPED]
    assert skipped == [Reason.BACKPRESSURE, Reason.BACKOFF]
    assert (await storage.scene_detail(key, "ch-1", "sc-0")).assets["sound"].reason == Reason.BACKOFF
