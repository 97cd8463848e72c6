"""The engine's stage on other stores: a real PostgreSQL and a real Redis or Valkey, in the time of a test's clock."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, TypeVar

from sqlalchemy import Connection, text
from stage import REGISTRY, Stage

from animastor.storage import versions
from animastor.storage.postgres import PostgresDatabase
from animastor.storage.sql import open_storage
from coordination_servers import direct_store
from virtual_clock import VirtualClock

T = TypeVar("T")
BASE = "public"
# `now()` is looked for in a schema that comes before the server's own.
CLOCK = (
    "CREATE SCHEMA clock",
    "CREATE FUNCTION clock.now() RETURNS timestamptz LANGUAGE sql STABLE AS"
    " $$ SELECT to_timestamp(current_setting('clock.time')::double precision) $$",
)
SET_TIME = text("SELECT set_config('clock.time', :now, false), set_config('search_path', :path, false)")


class TimedPostgres(PostgresDatabase):
    """PostgreSQL whose `now()` is a virtual clock's; virtual time stands still while it works."""

    def __init__(self, url: str, clock: VirtualClock) -> None:
        super().__init__(url, connections=4)
        self._time = clock

    async def _once(self, call: Callable[[Connection], T], options: Mapping[str, Any]) -> T:
        def timed(connection: Connection) -> T:
            values = {"now": repr(self._time.now()), "path": f"clock,{BASE},pg_catalog"}
            connection.execute(SET_TIME, values)
            return call(connection)

        with self._time.real():
            return await super()._once(timed, options)

    async def close(self) -> None:
        """End all connections."""
        with self._time.real():
            await super().close()


def prepare(connection: Connection) -> None:
    """Make the tables, and the clock."""
    versions.migrate(connection)
    for statement in CLOCK:
        connection.execute(text(statement))


def empty(connection: Connection) -> None:
    """As it was when it had been migrated."""
    names = text(
        f"SELECT tablename FROM pg_tables WHERE schemaname = '{BASE}' AND tablename NOT IN ('alembic_version', 'meta')"
    )
    tables = ", ".join(f'"{row.tablename}"' for row in connection.execute(names))
    connection.execute(text(f"TRUNCATE {tables} RESTART IDENTITY"))
    connection.execute(text("UPDATE meta SET value = 0 WHERE name NOT IN ('schema', 'planner', 'layout')"))
    connection.execute(text("DELETE FROM meta WHERE name = 'artifact_store'"))


class ServersStage(Stage):
    """Everything that one test needs, with a database and a coordination store on real servers."""

    def __init__(self, url: str, socket: Path) -> None:
        super().__init__()
        self._url, self._socket = url, socket
        self.forget()

    def forget(self) -> None:
        """What coordination held is gone, as after a restart of its server."""
        self.coordination = direct_store(self._socket, self.clock, self.limits)

    async def open(self) -> None:
        """Empty the database."""
        self.database = TimedPostgres(self._url, self.clock)  # type: ignore[assignment]
        await self.database.write(empty)
        self.storage = await open_storage(self.database, REGISTRY, create=False)


class MemoryStage(Stage):
    """The stage of one process: SQLite, and coordination in its memory."""

    def forget(self) -> None:
        """What the process held is gone."""
        from animastor.coordination import MemoryCoordination

        self.coordination = MemoryCoordination(self.clock, self.limits)
