"""Each incident is played on both pairs of stores: SQLite with memory, PostgreSQL with a Redis."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

import postgres_server
from coordination_servers import NoServerError
from coordination_servers import serving as serving_redis

sys.path.insert(0, str(Path(__file__).parents[1] / "engine"))  # the stage of the engine's own tests

from stores_stage import MemoryStage, ServersStage, prepare

from animastor.storage.postgres import PostgresDatabase


async def _prepare(url: str) -> None:
    database = PostgresDatabase(url, connections=1)
    await database.write(prepare)
    await database.close()


@pytest.fixture(scope="session")
def servers() -> Iterator[tuple[str, Path]]:
    """A database URL and a socket; skips with the reason where a server does not start here."""
    try:
        with postgres_server.serving() as database, serving_redis("valkey") as socket:
            url = database.database("incidents")
            with ThreadPoolExecutor(1) as aside:  # this thread may have a loop running
                aside.submit(lambda: asyncio.run(_prepare(url))).result()
            yield url, socket
    except (postgres_server.NoServerError, NoServerError) as error:
        pytest.skip(str(error))


@pytest.fixture(params=["embedded", "servers"])
def stage(request: pytest.FixtureRequest) -> MemoryStage | ServersStage:
    """A stage of each kind."""
    if request.param == "embedded":
        return MemoryStage()
    return ServersStage(*request.getfixturevalue("servers"))
