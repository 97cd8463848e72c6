"""Journal ids are given before commits, and many writers commit in any order: who reads on misses no row."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from random import Random

import pytest
from sqlalchemy import Connection, text
from world import Driver, book, in_transaction

from animastor.engine.ports import JournalRow
from animastor.engine.reasons import JournalType
from animastor.protocol import AssetId
from animastor.storage import journal
from animastor.storage.database import Database
from animastor.storage.postgres import PostgresDatabase
from animastor.storage.sql import SqlStorage
from animastor.storage.telling import catch_up

on_postgresql = pytest.mark.parametrize("database", ["postgresql"], indirect=True)


def _row(asset: int) -> JournalRow:
    return JournalRow(at=1.0, asset=AssetId(asset), type=JournalType.SKIPPED, state=None, reason="said")


def _observe(connection: Connection, rows: Sequence[JournalRow]) -> None:
    journal.observe(connection, rows)
    catch_up(connection)  # in the middle of a transaction nothing waits to be sent


async def _assets(storage: SqlStorage, after: int = 0) -> list[int | None]:
    return [row.asset for row in await storage.journal(after=after)]


@on_postgresql
async def test_row_is_not_shown_before_one_with_a_lower_id_that_is_still_being_written(
    database: Database, storage: SqlStorage
) -> None:
    assert isinstance(database, PostgresDatabase)
    await storage.observe([_row(1)])
    async with in_transaction(database) as (slow, transaction):
        await slow.run_sync(_observe, [_row(2)])
        await storage.observe([_row(3)])
        assert await _assets(storage) == [1]
        assert await storage.journal(asset=AssetId(3)) == []
        await transaction.commit()
    assert await _assets(storage) == [1, 2, 3]
    assert await _assets(storage, after=(await storage.journal())[0].row_id) == [2, 3]


@on_postgresql
async def test_row_that_was_taken_back_hides_no_later_one(database: Database, storage: SqlStorage) -> None:
    assert isinstance(database, PostgresDatabase)
    async with in_transaction(database) as (slow, transaction):
        await slow.run_sync(_observe, [_row(1)])
        await storage.observe([_row(2)])
        assert await _assets(storage) == []
        await transaction.rollback()
    assert await _assets(storage) == [2]


@on_postgresql
async def test_reader_who_follows_many_writers_gets_each_row_once_and_in_order(
    database: Database, storage: SqlStorage
) -> None:
    assert isinstance(database, PostgresDatabase)
    random = Random(5)
    seen: list[JournalRow] = []
    writing = True

    async def write(asset: int) -> None:
        for _ in range(15):
            async with in_transaction(database) as (connection, transaction):
                for _ in range(random.randrange(1, 4)):
                    await connection.run_sync(_observe, [_row(asset)] * random.randrange(1, 4))
                    await connection.execute(text(f"SELECT pg_sleep({random.random() / 200})"))
                await (transaction.rollback() if random.random() < 0.2 else transaction.commit())

    async def follow() -> None:
        over, rows = False, list[JournalRow]()
        while rows or not over:
            over = not writing  # before the question: an empty answer from before the last commit is not the end
            rows = list(await storage.journal(after=seen[-1].row_id if seen else 0, limit=7))
            seen.extend(rows)

    following = asyncio.create_task(follow())
    await asyncio.gather(*(write(asset) for asset in range(6)))
    writing = False
    await following
    assert [row.row_id for row in seen] == await database.read(_ids)
    assert len(seen) > 200


def _ids(connection: Connection) -> list[int]:
    return [row.id for row in connection.execute(text("SELECT id FROM journal ORDER BY id"))]


async def test_everything_that_was_written_before_the_question_is_in_the_answer(
    driver: Driver, storage: SqlStorage
) -> None:
    key = await driver.save(book())
    await driver.request(key)
    requested = [row.asset for row in await storage.journal() if row.type is JournalType.REQUESTED]
    assert len(requested) == 9
    await driver.run()
    types = [row.type for row in await storage.journal(limit=1000)]
    assert types.count(JournalType.DISPATCHED) == 9
    assert types.count(JournalType.READY) == 9
