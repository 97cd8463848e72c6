"""Wait bits that outlived their cause are found; those that are right are left alone."""

from __future__ import annotations

import pytest
from sqlalchemy import Connection, text
from world import ALL, Driver, book, chapter, scene

from animastor.engine.ports import RollBack, Steer
from animastor.engine.reasons import Reason
from animastor.engine.states import RequestState, State
from animastor.storage import drift
from animastor.storage.database import Database
from animastor.storage.sql import SqlStorage


async def _set(database: Database, waits: int, media: str) -> None:
    def write(connection: Connection) -> None:
        connection.execute(
            text("UPDATE asset SET waits = :waits WHERE media = :media"), {"waits": waits, "media": media}
        )

    await database.write(write)


async def test_what_waits_for_what_is_on_its_way_is_left_alone(driver: Driver, storage: SqlStorage) -> None:
    await driver.request(await driver.save(book()))
    assert await storage.recheck_waits(0) == (0, None)
    for media in ALL:
        for work in await driver.start(media):
            assert (await storage.recheck_waits(0))[0] == 0
            await driver.finish(work)
            assert (await storage.recheck_waits(0))[0] == 0


@pytest.mark.parametrize("bits", [1, 2, 3, 8, 9])
async def test_what_waits_for_nothing_is_planned_again_and_made(
    driver: Driver, storage: SqlStorage, database: Database, bits: int
) -> None:
    key = await driver.save(book(chapter("1", scene("a"))))
    await driver.request(key)
    for media in ("sound", "picture"):
        for work in await driver.start(media):
            await driver.finish(work)
    await _set(database, bits, "clip")
    assert await driver.start("clip") == []
    assert await storage.recheck_waits(0) == (1, None)
    await driver.run()
    assert set((await driver.states(key)).values()) == {State.READY}


@pytest.mark.parametrize("bits", [4, 32, 36])
async def test_what_is_held_although_its_request_lets_it_start_is_found(
    driver: Driver, storage: SqlStorage, database: Database, bits: int
) -> None:
    key = await driver.save(book(chapter("1", scene("a"))))
    await driver.request(key, ("sound",))
    await _set(database, bits, "sound")
    assert await driver.start("sound") == []
    assert await storage.recheck_waits(0) == (1, None)
    assert len(await driver.start("sound")) == 1


async def test_what_a_paused_request_holds_is_left_alone(driver: Driver, storage: SqlStorage) -> None:
    key = await driver.save(book())
    await driver.request(key)
    await storage.steer(Steer(key, paused=True))
    assert await storage.recheck_waits(0) == (0, None), "it is about to be swept"
    for request in await storage.uncovered():
        while await storage.sweep_uncovered(request, 100):
            pass
    assert await storage.recheck_waits(0) == (0, None)


async def test_the_look_goes_on_where_it_stopped(
    driver: Driver, storage: SqlStorage, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(drift, "SPAN", 4)
    await driver.save(book())
    behind, seen = 0, []
    while behind is not None:
        _, behind = await storage.recheck_waits(behind)
        seen.append(behind)
    assert seen == [4, 8, None]


async def test_what_a_sweep_will_reach_is_left_to_it(driver: Driver, storage: SqlStorage) -> None:
    key = await driver.save(book(chapter("1", scene("a"))))
    opened = await driver.request(key)
    (drawing,) = await driver.start("picture")
    await storage.close_request(opened.request.request_id, RequestState.CANCELLED)
    await storage.roll_back([RollBack(drawing.asset, drawing.dispatch_id, Reason.LOST_BOTH)])
    assert await storage.recheck_waits(0) == (0, None), "the clip waits for the picture, until the sweep lets both rest"
    while await storage.sweep_uncovered(opened.request.request_id, 200):
        pass
    assert set((await driver.states(key)).values()) == {State.DIRTY}
