"""Which bytes are used, which are missing, and which are collected."""

from __future__ import annotations

import pytest
from sqlalchemy import Connection, text
from world import REGISTRY, Driver, Time, book, chapter, scene, unit, with_text

from animastor.engine.ports import Scope
from animastor.engine.reasons import Reason
from animastor.engine.states import State
from animastor.storage import artifacts
from animastor.storage.database import Database
from animastor.storage.sql import SqlStorage, open_storage

DAY = 86_400.0


async def _all(storage: SqlStorage) -> dict[str, str]:
    return {checksum: suffix for checksum, suffix, _ in await storage.artifacts_after("", 1000)}


async def test_bytes_that_are_missing_make_their_ready_asset_dirty(driver: Driver, storage: SqlStorage) -> None:
    key = await driver.save(book())
    await driver.request(key)
    await driver.run()
    (row, *_) = await storage.export_rows(key, Scope())
    merged = row.media["sound"].artifact
    assert merged is not None
    assert await storage.bytes_missing([merged]) == 1
    assert (await driver.states(key))["sc-0", "sound"] is State.DIRTY
    made = len(driver.made)
    await driver.request(key)
    await driver.run()
    assert len(driver.made) == made + 1, "only the merge"
    assert await storage.bytes_missing([merged + "no"]) == 0


async def test_a_missing_picture_makes_the_whole_set_dirty_and_a_missing_chunk_nothing(
    driver: Driver, storage: SqlStorage
) -> None:
    key = await driver.save(book())
    await driver.request(key)
    await driver.run()
    (row, *_) = await storage.export_rows(key, Scope())
    picture = row.media["picture"].facts["units"]["tale-0-a"]
    chunk = row.media["sound"].facts["parts"][0]
    assert await storage.bytes_missing([chunk]) == 0
    assert await storage.bytes_missing([picture]) == 1
    await driver.request(key)
    made = len(driver.made)
    await driver.run()
    assert len(driver.made) == made + 1
    assert set((await driver.states(key)).values()) == {State.READY}


@pytest.mark.parametrize("database", ["in_place", "threads"], indirect=True)
async def test_what_nothing_uses_is_collected_after_seven_days_and_not_before(
    driver: Driver, storage: SqlStorage, time: Time
) -> None:
    both = book(chapter("1", scene("a"), scene("b")))
    key = await driver.save(both)
    await driver.request(key)
    await driver.run()
    everything = await _all(storage)
    await driver.save(book(chapter("1", scene("a"))))
    time.now += 6 * DAY
    assert await storage.collectable(100) == []
    time.now += 2 * DAY
    marked = await storage.collectable(100)
    assert len(marked) == len(everything) / 2
    assert await storage.collectable(100) == marked, "an interrupted collection goes on"
    await storage.collected([checksum for checksum, _ in marked])
    assert await storage.collectable(100) == []
    assert len(await _all(storage)) == len(everything) / 2
    await driver.save(both)
    await driver.request(key)
    assert await driver.run() > 0, "it has to be made again"


@pytest.mark.parametrize("database", ["in_place", "threads"], indirect=True)
async def test_what_is_used_again_before_it_is_marked_is_not_collected(
    driver: Driver, storage: SqlStorage, time: Time
) -> None:
    key = await driver.save(book())
    await driver.request(key)
    await driver.run()
    await driver.save(with_text(book(), "tale-1-a", "other"))
    await driver.request(key)
    await driver.run()
    time.now += 8 * DAY
    await driver.save(book())
    await driver.replan()
    assert await storage.collectable(100) == []
    time.now += 8 * DAY
    assert len(await storage.collectable(100)) == 1, "the merge; the chunk is kept as a take"
    assert set((await driver.states(key)).values()) == {State.READY}


@pytest.mark.parametrize("database", ["in_place", "threads"], indirect=True)
async def test_bytes_being_collected_cannot_be_taken_into_use(driver: Driver, storage: SqlStorage, time: Time) -> None:
    key = await driver.save(book())
    await driver.request(key)
    await driver.run()
    await driver.save(with_text(book(), "tale-1-a", "other"))
    await driver.request(key)
    await driver.run()
    time.now += 8 * DAY
    marked = dict(await storage.collectable(100))
    assert len(marked) == 1, "the merge; the chunk is kept as a take"
    await driver.save(book())
    await driver.replan()
    assert (await driver.states(key))["sc-1", "sound"] is State.DIRTY, "its bytes are on their way out"
    await driver.request(key)
    (work,) = await driver.start("sound")
    (answer,) = await storage.accept([driver.result(work, work.missing[0])])
    assert answer.reason is Reason.ARTIFACT_GONE
    await storage.collected(marked)
    (answer,) = await storage.accept([driver.result(work, work.missing[0])])
    assert answer.reason is Reason.ACCEPTED


@pytest.mark.parametrize("database", ["in_place", "threads"], indirect=True)
async def test_an_artifact_that_was_shown_while_its_asset_was_not_made_again_is_collected_later(
    driver: Driver, storage: SqlStorage, time: Time
) -> None:
    key = await driver.save(book())
    await driver.request(key)
    await driver.run()
    (row, *_) = await storage.export_rows(key, Scope())
    last = row.media["sound"].artifact
    await driver.save(with_text(book(), "tale-0-a", "other"))
    await driver.replan()
    time.now += 8 * DAY
    assert await storage.collectable(100) == [], "the asset shows its last artifact"
    await driver.request(key)
    await driver.run()
    time.now += 8 * DAY
    assert [checksum for checksum, _ in await storage.collectable(100)] == [last]


@pytest.mark.parametrize("database", ["in_place", "threads"], indirect=True)
async def test_a_result_that_nobody_wants_any_more_may_be_collected_like_any_other(
    driver: Driver, storage: SqlStorage, database: Database
) -> None:
    key = await driver.save(book())
    await driver.request(key, ("sound",))
    (work, *_) = await driver.start("sound")
    await driver.save(with_text(book(), "tale-0-a", "other"))
    await driver.replan()
    late = driver.result(work, work.missing[0])
    (answer,) = await storage.accept([late])
    assert answer.reason is Reason.STALE_PART
    assert await _unused(database) == {late.uploaded.checksum}


async def _unused(database: Database) -> set[str]:
    def read(connection: Connection) -> set[str]:
        sql = text("SELECT checksum FROM artifact WHERE unused_since IS NOT NULL")
        return {row.checksum for row in connection.execute(sql)}

    return await database.read(read)


@pytest.mark.parametrize("database", ["in_place"], indirect=True)
async def test_how_long_unused_artifacts_are_kept_is_a_setting(database: Database, time: Time) -> None:
    storage = await open_storage(database, REGISTRY, create=True, kept_s=DAY)
    driver = Driver(storage, time)
    await driver.request(await driver.save(book()))
    await driver.run()
    await driver.save(book(chapter("1", scene("a"))))
    time.now += 2 * DAY
    assert await storage.collectable(100) != []


async def test_what_is_wanted_is_told_from_what_is_only_shown(
    driver: Driver, storage: SqlStorage, database: Database
) -> None:
    key = await driver.save(book(chapter("1", scene("a", unit("a-1")))))
    await driver.request(key, ("sound",))
    await driver.run(("sound",))
    everything = await _all(storage)
    assert await database.read(artifacts.used, everything) == dict.fromkeys(everything, False)
    await driver.save(book(chapter("1", scene("a", unit("a-1", "other")))))
    await driver.replan()
    assert await database.read(artifacts.used, everything) == dict.fromkeys(everything, True)
