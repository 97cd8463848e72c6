"""Commits whose answer was lost: what is repeated recognises its own effect, and gives the answer that was lost."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack
from typing import Any

import pytest
from sqlalchemy import Connection, text
from world import REGISTRY, Driver, Time, book, in_transaction, large_book, migrated, with_text

from animastor.engine.ports import RollBack, StorageUnavailableError
from animastor.engine.reasons import Reason
from animastor.engine.states import RequestState, State
from animastor.protocol import FailureType
from animastor.storage.database import Core, Database, P, R
from animastor.storage.postgres import PostgresDatabase
from animastor.storage.sql import SqlStorage
from wire import Wire, wired


class Twice:
    """A database of which the first answer of each write is lost: it is committed, and then asked for again."""

    def __init__(self, inner: Database) -> None:
        self._inner = inner
        self.writable = True

    async def read(self, core: Core[P, R], *args: P.args, **kwargs: P.kwargs) -> R:
        return await self._inner.read(core, *args, **kwargs)

    async def glance(self, core: Core[P, R], *args: P.args, **kwargs: P.kwargs) -> R:
        return await self._inner.glance(core, *args, **kwargs)

    async def write(self, core: Core[P, R], *args: P.args, **kwargs: P.kwargs) -> R:
        await self._inner.write(core, *args, **kwargs)
        return await self._inner.write(core, *args, **kwargs)

    async def aside(self, call: Callable[P, R], *args: P.args, **kwargs: P.kwargs) -> R:
        return await self._inner.aside(call, *args, **kwargs)

    async def close(self) -> None:
        await self._inner.close()


async def _life(storage: SqlStorage, time: Time) -> list[Any]:
    """A life with a bit of everything; what was answered on the way, and what came of it."""
    driver = Driver(storage, time)
    told: list[Any] = []
    key = await driver.save(book())
    opened = await driver.request(key)
    told.append(opened.superseded)
    works = await driver.start("sound")
    told.append([(work.dispatch_id, work.fence, work.missing) for work in works])
    failure = driver.failure(works[0], works[0].missing[0], failure=FailureType.TRANSIENT)
    (counted,) = await storage.count_failures([failure])
    told.append((counted.reason in (Reason.COUNTED, Reason.STALE_CLAIM), counted.lost))
    told.append(await storage.roll_back([RollBack(works[1].asset, works[1].dispatch_id, Reason.FORCED)]))
    for work in (works[0], works[2]):
        answers = await driver.finish(work)
        told.append([(one.merge, one.ended, one.ready, one.replan) for one in answers])
    await driver.save(with_text(book(), "tale-1-a", "other words"))
    await driver.run()
    second = await driver.request(key, media=("picture",), kind="again")
    told.append(await storage.close_request(second.request.request_id, RequestState.CANCELLED) in (True, False))
    told.append((await storage.progress(opened.request.request_id)).request.state)
    told.append(sorted((await driver.states(key)).items()))
    told.append(sorted(Counter(driver.made).items()))
    rows = sorted(await storage.journal(limit=10_000), key=lambda row: row.asset or 0)
    told.append([(row.asset, row.type, row.state, row.reason, row.dispatch_id) for row in rows])
    return told


async def test_a_life_of_which_each_first_answer_is_lost_is_the_same_life(
    database: Database, storage: SqlStorage, time: Time
) -> None:
    calm = await _life(SqlStorage(migrated(Time()), REGISTRY), Time())
    assert await _life(SqlStorage(Twice(database), REGISTRY), time) == calm


@pytest.fixture
async def wire(postgres_url: str) -> AsyncIterator[Wire]:
    async with wired(postgres_url) as made:
        yield made


def _outcomes(connection: Connection) -> list[int]:
    sql = "SELECT count(*) FROM dispatch GROUP BY asset, fence, id HAVING count(*) > 1 OR min(outcome) IS NULL"
    return [int(row[0]) for row in connection.execute(text(sql))]


@pytest.mark.parametrize("database", ["postgresql"], indirect=True)
@pytest.mark.parametrize("every", [1, 3])
async def test_connections_that_break_before_the_answer_of_a_commit_change_nothing(
    database: Database, wire: Wire, time: Time, every: int
) -> None:
    """`every` 1: each transaction's first commit is unheard; the repetition's is heard."""
    wire.lose = (lambda: wire.commits % 2 == 1) if every == 1 else (lambda: wire.commits % every == 0)

    async def at_once(seconds: float) -> None:
        return None

    broken = PostgresDatabase(wire.url, connections=1, sleep=at_once)
    storage = SqlStorage(broken, REGISTRY)
    driver = Driver(storage, time)
    key = await driver.save(large_book(5, name="tale"))
    opened = await driver.request(key)
    await driver.run()
    assert set((await driver.states(key)).values()) == {State.READY}
    assert (await storage.progress(opened.request.request_id)).request.state is RequestState.DONE
    assert max(Counter(driver.made).values()) == 1
    await broken.close()
    assert await database.read(_outcomes) == []
    assert wire.lost > 20


@pytest.mark.parametrize("database", ["postgresql"], indirect=True)
async def test_a_server_that_stops_answering_is_left_after_a_while(database: Database, postgres_url: str) -> None:
    waits: list[float] = []

    async def sleep(seconds: float) -> None:
        waits.append(seconds)

    hasty = PostgresDatabase(postgres_url, statement_s=0.05, sleep=sleep)
    with pytest.raises(StorageUnavailableError, match="statement timeout"):
        await hasty.read(lambda held: held.execute(text("SELECT pg_sleep(10)")).all())
    assert len(waits) == 7
    assert await hasty.read(lambda held: held.execute(text("SELECT 1")).scalar_one()) == 1
    await hasty.close()


@pytest.mark.parametrize("database", ["postgresql"], indirect=True)
async def test_rows_that_a_stopped_process_holds_are_free_again(
    database: Database, driver: Driver, postgres_url: str
) -> None:
    await driver.save(book())
    stopped = PostgresDatabase(postgres_url, idle_s=2.0)  # the lock is asked for within that, also on a busy machine
    lock = text("SELECT scene_key FROM scene ORDER BY scene_key FOR UPDATE")
    async with in_transaction(stopped) as (connection, _):
        await connection.execute(lock)
        held = await database.write(lambda held: len(held.execute(lock).all()))
        assert held == 3
        await connection.invalidate()
    await stopped.close()


@pytest.mark.parametrize("database", ["postgresql"], indirect=True)
async def test_more_calls_than_connections_wait_for_one_and_too_long_a_wait_is_said(
    database: Database, postgres_url: str
) -> None:
    patient, hasty = (PostgresDatabase(postgres_url, connections=2, pool_s=seconds) for seconds in (100.0, 0.5))
    waited = await asyncio.gather(*(patient.read(lambda held: held.execute(text("SELECT 1")).all()) for _ in range(20)))
    assert len(waited) == 20
    async with hasty._connections.one(), hasty._connections.one():
        with pytest.raises(StorageUnavailableError, match="all 2 connections to the database were in use"):
            await hasty.read(lambda held: held.execute(text("SELECT 1")).all())
    await patient.close()
    await hasty.close()


@pytest.mark.parametrize("database", ["postgresql"], indirect=True)
async def test_connections_that_ended_while_nobody_used_them_cost_no_attempt(
    database: Database, postgres_url: str
) -> None:
    """As after a restart of the server: all that wait in the pool are dead."""
    waits: list[float] = []

    async def sleep(seconds: float) -> None:
        waits.append(seconds)

    pooled = PostgresDatabase(postgres_url, connections=8, sleep=sleep)
    async with AsyncExitStack() as stack:  # all at once, so that each has one of its own
        held = [await stack.enter_async_context(pooled._connections.one()) for _ in range(8)]
        pids = {(await each.execute(text("SELECT pg_backend_pid()"))).scalar_one() for each in held}
        drivers = [(await each.get_raw_connection()).driver_connection for each in held]
    assert len(pids) == 8
    ended = text("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid = ANY(:pids)")
    await database.write(lambda held: held.execute(ended, {"pids": list(pids)}).all())
    async with asyncio.timeout(100):
        while not all(driver is not None and driver.is_closed() for driver in drivers):  # noqa: ASYNC110 - nothing tells
            await asyncio.sleep(0.005)
    assert await pooled.read(lambda held: held.execute(text("SELECT pg_backend_pid()")).scalar_one()) not in pids
    assert await pooled.glance(lambda held: held.execute(text("SELECT 1")).scalar_one()) == 1
    assert waits == []
    await pooled.close()
