"""A million assets on PostgreSQL: a tick with nothing to do, and the walk through what is due, cost what they find."""

from __future__ import annotations

from collections.abc import Iterator
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType
from typing import Any, Final

import pytest
from sqlalchemy import Connection, text

import coordination_servers
from animastor.clock import SystemClock
from animastor.coordination.limits import Limits
from animastor.coordination.redis import RedisCoordination
from animastor.storage import due, versions
from animastor.storage.postgres import PostgresDatabase
from postgres_server import PostgresServer

ASSETS: Final = 1_000_000
BOOKS: Final = 1_000
BUFFERS: Final = 10  # for each returned row
GOAL_MS: Final = 2.0  # of a tick with nothing to do (docs/performance.md)
FLOOR_MS: Final = 0.71  # of what it sends without anything in it, where that was measured
PAIR: Final = {"media": "sound", "lane": "system"}
DUE_200: Final = "UPDATE asset SET state = 1 WHERE id IN (SELECT 6 * i FROM generate_series(0, 199) AS g (i))"


@pytest.fixture(scope="module")
def bench() -> ModuleType:
    """bench/tick.py."""
    spec = spec_from_file_location("tick_bench", Path(__file__).parents[2] / "bench" / "tick.py")
    assert spec is not None
    assert spec.loader is not None
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def url(postgres: PostgresServer) -> str:
    """A database of its own."""
    return postgres.database("million")


@pytest.fixture
def valkey() -> Iterator[Path]:
    try:
        with coordination_servers.serving("valkey") as socket:
            yield socket
    except coordination_servers.NoServerError as error:
        pytest.skip(str(error))


async def _vacuum(database: PostgresDatabase) -> None:
    """As it is most of the time: autovacuum sees to it."""
    async with database._engine.connect() as connection:
        await connection.execution_options(isolation_level="AUTOCOMMIT")
        await connection.execute(text("VACUUM ANALYZE asset"))


def _explained(connection: Connection, *, after: int, each: int, generic: bool) -> dict[str, Any]:
    mode = "force_generic_plan" if generic else "force_custom_plan"
    connection.execute(text(f"SET LOCAL plan_cache_mode = {mode}"))
    sql = f"EXPLAIN (ANALYZE, BUFFERS, FORMAT JSON) {due.DUE_WALK.text_for('postgresql')}"
    given = {**PAIR, "after": after, "until": due._LAST_KEY, "each": each, "limit": 200, "weights": "[]"}
    plan: dict[str, Any] = connection.execute(text(sql), given).scalar_one()[0]["Plan"]
    return plan


async def _walk_is_cheap(database: PostgresDatabase) -> None:
    for generic in (False, True):
        for each in (1, 200):
            plan = await database.write(_explained, after=0, each=each, generic=generic)
            touched, rows = plan["Shared Hit Blocks"] + plan["Shared Read Blocks"], plan["Actual Rows"]
            assert rows == 200
            assert touched <= BUFFERS * rows, f"{touched} buffers for {rows} rows, {generic=} {each=}"


@pytest.mark.slow
async def test_a_tick_with_nothing_to_do_then_a_walk_through_200_due(bench: ModuleType, url: str, valkey: Path) -> None:
    """The best of many ticks is compared, and with a floor: other processes of the machine make them slow."""
    database = PostgresDatabase(url)
    await database.write(versions.migrate)
    await database.write(bench.fill, ASSETS, BOOKS)
    await _vacuum(database)
    link = bench.RedisLink(bench.connect(f"unix://{valkey}"))
    store = RedisCoordination(link, SystemClock(), Limits.of(bench.REGISTRY), window=False)
    async with bench.idle(database, store) as engine:
        taken, _ = await bench.timed(engine.scheduler.tick, 300)
        floor, _ = await bench.timed(lambda: bench._floor(database, link, bench.EMPTY), 300)
    print(f"a tick takes {taken[0]:.2f} ms, its floor {floor[0]:.2f} ms")
    assert taken[0] <= GOAL_MS * max(1.0, floor[0] / FLOOR_MS)
    await link.close()
    await database.write(lambda held: held.execute(text(DUE_200)) and None)
    await _vacuum(database)
    await _walk_is_cheap(database)
    await database.close()


@pytest.mark.slow
async def test_a_walk_through_a_million_due(bench: ModuleType, url: str) -> None:
    database = PostgresDatabase(url)
    await database.write(versions.migrate)
    await database.write(lambda held: held.execute(text("TRUNCATE asset, request, request_media")) and None)
    await database.write(bench.fill, ASSETS, BOOKS, bench.ALL_DUE)
    await _vacuum(database)
    await _walk_is_cheap(database)
    await database.close()
