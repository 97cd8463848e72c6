"""A plan that waits is stored while what it waits for comes, or turns out to rest: it never waits for ever."""

from __future__ import annotations

import pytest
from sqlalchemy import Connection, text
from world import Driver, book, chapter, scene

from animastor.engine.ports import Scope
from animastor.engine.reasons import Reason
from animastor.engine.states import State
from animastor.protocol import AssetId
from animastor.storage.database import Database
from animastor.storage.sql import SqlStorage

TALE = (chapter("1", scene("a")),)


async def _asset(database: Database, media: str) -> AssetId:
    def read(connection: Connection) -> AssetId:
        found = connection.execute(text("SELECT id FROM asset WHERE media = :media"), {"media": media}).scalar_one()
        return AssetId(found)

    return await database.read(read)


@pytest.mark.parametrize("together", [True, False])
async def test_a_picture_that_is_found_to_be_as_it_was_is_not_waited_for(
    driver: Driver, storage: SqlStorage, database: Database, together: bool
) -> None:
    key = await driver.save(book(*TALE))
    await driver.request(key)
    for media in ("sound", "picture"):
        for work in await driver.start(media):
            await driver.finish(work)
    (clip,) = await driver.start("clip")
    await driver.save(book(*TALE, author="somebody"))
    rows = await storage.plan_rows([await _asset(database, "picture"), clip.asset])
    picture_plan, clip_plan = await driver.plans(rows)
    assert clip_plan.waiting_on == ("picture",), "nobody has looked at the picture yet"
    batches = [[picture_plan, clip_plan]] if together else [[picture_plan], [clip_plan]]
    stored = [one for batch in batches for one in await storage.store_plans(batch)]
    assert stored[-1].reason is Reason.WAITING_ON
    await driver.run()
    assert set((await driver.states(key)).values()) == {State.READY}


@pytest.mark.parametrize("together", [True, False])
async def test_sound_that_nobody_asks_for_any_more_is_not_waited_for(
    driver: Driver, storage: SqlStorage, database: Database, together: bool
) -> None:
    key = await driver.save(book(*TALE))
    await driver.request(key, ("sound", "picture"))
    await driver.run()
    await driver.request(key, ("picture", "clip"), Scope())
    (clip,) = await driver.start("clip")
    await driver.save(book(*TALE, narrator_voice="another"))
    await storage.store_plans(await driver.plans(await storage.plan_rows([await _asset(database, "picture")])))
    rows = await storage.plan_rows([await _asset(database, "sound"), clip.asset])
    sound_plan, clip_plan = await driver.plans(rows)
    assert clip_plan.waiting_on == ("sound",)
    batches = [[sound_plan, clip_plan]] if together else [[sound_plan], [clip_plan]]
    for batch in batches:
        await storage.store_plans(batch)
    await driver.run()
    states = await driver.states(key)
    assert (states["a", "sound"], states["a", "clip"]) == (State.DIRTY, State.READY)
