"""Many writers on PostgreSQL: overlapping batches never deadlock, and no change of a neighbour is missed."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable
from random import Random

import pytest
from sqlalchemy import Connection, text
from world import REGISTRY, Driver, Time, Work, book, large_book, with_text

from animastor.engine.ports import Begin, PartFailure, RollBack
from animastor.engine.reasons import Reason
from animastor.engine.states import RequestState, State
from animastor.protocol import Pair
from animastor.storage.database import Database
from animastor.storage.postgres import PostgresDatabase
from animastor.storage.sql import SqlStorage

pytestmark = pytest.mark.parametrize("database", ["postgresql"], indirect=True)


def _deadlocks(connection: Connection) -> int:
    connection.execute(text("SELECT pg_stat_clear_snapshot()"))
    sql = text("SELECT deadlocks FROM pg_stat_database WHERE datname = current_database()")
    return int(connection.execute(sql).scalar_one())


def _count(sql: str) -> object:
    return lambda connection: connection.execute(text(sql)).scalar_one()


async def test_overlapping_batches_in_any_order_never_deadlock(
    driver: Driver, storage: SqlStorage, database: Database
) -> None:
    random = Random(7)
    key = await driver.save(large_book(120, name="tale"))
    await driver.request(key)
    before = await database.read(_deadlocks)
    works = [work for media in ("sound", "picture") for work in await driver.start(media)]

    async def results(some: list[Work]) -> None:
        random.shuffle(some)
        await storage.accept([driver.result(work, source) for work in some for source in work.missing])

    async def failures(some: list[Work]) -> None:
        random.shuffle(some)
        counted: list[PartFailure] = [driver.failure(work, work.missing[0]) for work in some]
        await storage.count_failures(counted)

    async def back(some: list[Work]) -> None:
        random.shuffle(some)
        await storage.roll_back([RollBack(w.asset, w.dispatch_id, Reason.LOST_BOTH) for w in some])

    async def replanned() -> None:
        rows = list(await storage.plan_rows([work.asset for work in works]))
        random.shuffle(rows)
        await storage.store_plans(await driver.plans(rows))

    async def edited() -> None:
        await driver.save(with_text(large_book(120, name="tale"), f"tale{random.randrange(120)}-0", "other"))

    jobs: list[Awaitable[None]] = []
    for _ in range(12):
        some = random.sample(works, 40)
        jobs += [results(list(some)), failures(list(some)), back(random.sample(works, 10)), replanned()]
    jobs += [edited(), edited()]
    await asyncio.gather(*jobs)
    assert await database.read(_deadlocks) == before
    left = await storage.active(0, 1000)
    await storage.roll_back([RollBack(one.asset, one.dispatch_id, Reason.FORCED) for one in left])
    await driver.run()
    assert set((await driver.states(key)).values()) <= {State.READY, State.PENDING, State.FAILED}


async def test_a_clip_that_is_asked_for_while_its_picture_completes_never_waits_for_ever(
    driver: Driver, storage: SqlStorage, database: Database
) -> None:
    key = await driver.save(large_book(60, name="tale"))
    await driver.request(key, media=("picture",), kind="first")
    works = await driver.start("picture")
    opened = await driver.open(key, media=("picture", "clip"), kind="second")

    async def enter() -> None:
        while not (await storage.enter(opened.request.request_id, 7)).done:
            pass

    await asyncio.gather(enter(), *(storage.accept([driver.result(w, w.missing[0])]) for w in works))
    waiting = _count(
        "SELECT count(*) FROM asset c JOIN asset p ON p.scene_key = c.scene_key AND p.media = 'picture'"
        " WHERE c.media = 'clip' AND c.state = 1 AND (c.waits & 1) <> 0 AND p.state = 4"
    )
    assert await database.read(waiting) == 0  # type: ignore[arg-type]


async def test_two_engines_begin_each_asset_once(driver: Driver, storage: SqlStorage) -> None:
    key = await driver.save(large_book(50, name="tale"))
    await driver.request(key, media=("sound",))

    async def engine(word: str) -> int:
        walk = await storage.due(Pair("sound", "system"), 50, 50, 0)
        await storage.store_plans(await driver.plans(walk.rows))
        begins = [Begin(row.asset, driver.next_id(word), row.plan_seq) for row in walk.rows]
        return sum(begun.begun for begun in await storage.begin(begins))

    assert sum(await asyncio.gather(*(engine(word) for word in "abcd"))) == 50
    assert len(await storage.active(0, 1000)) == 50


async def test_nothing_becomes_pending_under_a_request_that_is_being_closed(
    driver: Driver, storage: SqlStorage, database: Database
) -> None:
    key = await driver.save(large_book(40, name="tale"))
    for _ in range(3):
        opened = await driver.request(key, media=("sound",))
        works = await driver.start("sound")
        id_ = opened.request.request_id

        async def cancel(id_: int = id_) -> None:
            await storage.close_request(id_, RequestState.CANCELLED)
            while await storage.sweep_uncovered(id_, 10):
                pass

        backs = [storage.roll_back([RollBack(w.asset, w.dispatch_id, Reason.LOST_BOTH)]) for w in works]
        await asyncio.gather(cancel(), *backs)
        while await storage.sweep_uncovered(id_, 10):
            pass
        busy = _count("SELECT count(*) FROM asset WHERE state IN (1, 2)")
        assert await database.read(busy) == 0  # type: ignore[arg-type]


async def test_two_requests_with_one_key_are_one(driver: Driver, storage: SqlStorage) -> None:
    key = await driver.save(book())
    opened = await asyncio.gather(*(driver.open(key, idempotency_key="same") for _ in range(5)))
    assert len({one.request.request_id for one in opened}) == 1


async def test_a_server_that_cannot_be_reached_is_said_in_one_sentence(postgres_url: str, database: Database) -> None:
    from animastor.engine.ports import StorageUnavailableError

    waits: list[float] = []

    async def sleep(seconds: float) -> None:
        waits.append(seconds)

    away = PostgresDatabase("postgresql+asyncpg://x:secret@127.0.0.1:1/none", sleep=sleep)
    with pytest.raises(StorageUnavailableError) as raised:
        await SqlStorage(away, REGISTRY).books()
    await away.close()
    assert "secret" not in str(raised.value)
    assert waits == [0.1 * 2**n for n in range(7)]
    assert Time().now
