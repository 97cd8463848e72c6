"""The same tests on SQLite in place, on a SQLite file with its threads, and on a real PostgreSQL from a wheel."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from pathlib import Path

import pytest
from sqlalchemy import Connection
from world import REGISTRY, Driver, Time, empty, migrated, migrated_file

import postgres_server
from animastor.storage import versions
from animastor.storage.database import Database, SqliteDatabase
from animastor.storage.postgres import PostgresDatabase
from animastor.storage.sql import SqlStorage, open_storage
from s3_server import Bucket, S3Server, serving

KINDS = ("in_place", "threads", "postgresql")


def _migrate(connection: Connection) -> None:
    if not versions.check(connection):
        versions.migrate(connection)


async def _prepare(url: str) -> None:
    database = PostgresDatabase(url, connections=1)
    await database.write(_migrate)
    await database.close()


@pytest.fixture(scope="session")
def postgres_url() -> Iterator[str]:
    """The address of a migrated PostgreSQL database; skips, with the reason, where the wheel's server cannot start."""
    with ExitStack() as stack:
        try:
            server = stack.enter_context(postgres_server.serving())
        except postgres_server.NoServerError as error:
            pytest.skip(str(error))
        url = server.database("storage")
        with ThreadPoolExecutor(1) as aside:  # this thread may have a loop running
            aside.submit(lambda: asyncio.run(_prepare(url))).result()
        yield url


@pytest.fixture(scope="session")
def s3_server() -> Iterator[S3Server]:
    """A server that speaks S3."""
    with serving() as server:
        yield server


@pytest.fixture
def bucket(s3_server: S3Server, monkeypatch: pytest.MonkeyPatch) -> Bucket:
    """An empty bucket; the environment says how to get at it."""
    for name, value in s3_server.environment.items():
        monkeypatch.setenv(name, value)
    return s3_server.bucket()


@pytest.fixture
def time() -> Time:
    """The clock of the SQLite databases."""
    return Time()


@pytest.fixture(params=KINDS)
async def database(request: pytest.FixtureRequest, time: Time, tmp_path: Path) -> AsyncIterator[Database]:
    """An empty database of each kind."""
    made: Database
    if request.param == "in_place":
        made = migrated(time)
    elif request.param == "threads":
        migrated_file(tmp_path / "home.db")
        made = SqliteDatabase(tmp_path / "home.db", time)
    else:
        made = PostgresDatabase(request.getfixturevalue("postgres_url"))
        await made.write(empty)
    yield made
    await made.close()


@pytest.fixture
async def storage(database: Database) -> SqlStorage:
    """Storage over each kind of database."""
    return await open_storage(database, REGISTRY, create=True)


@pytest.fixture
def driver(storage: SqlStorage, time: Time) -> Driver:
    """Something that works the storage off."""
    return Driver(storage, time)
