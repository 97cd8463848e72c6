"""The numbers of a database (schema, planner, layout), and making or migrating one (CONTRACT 11, versions).

Alembic is imported only when there is something to migrate: opening a current database is quick.
"""

from __future__ import annotations

from pathlib import Path
from typing import Final

from sqlalchemy import Connection, inspect, text

SCHEMA: Final = 3  # the newest migration; raised with each
PLANNER: Final = 1  # raised when plans of the same content come out differently
LAYOUT: Final = 1  # of the folder of a home and of the artifact store
MIGRATING: Final = 0x616E696D6173746F  # the lock that a migration holds, by this program's name

MIGRATIONS: Final = Path(__file__).parent / "migrations"


class VersionError(Exception):
    """Raised for a database that this program must not use; the text says what to do."""


class OldSchemaError(VersionError):
    """Raised for a database of an older program: migrate it."""


class NewerError(VersionError):
    """Raised for a database that a newer program has made."""


def numbers(connection: Connection) -> dict[str, int] | None:
    """The stored numbers by name, or None for an empty database."""
    if not inspect(connection).has_table("meta"):
        return None
    return {row.name: row.value for row in connection.execute(text("SELECT name, value FROM meta"))}


def check(connection: Connection) -> bool:
    """Whether the database is of this program's schema and layout; False when it is empty.

    Raises `OldSchemaError` or `NewerError`.
    """
    stored = numbers(connection)
    if stored is None:
        return False
    for name, own in (("schema", SCHEMA), ("layout", LAYOUT)):
        held = stored.get(name, 0)
        if held > own:
            raise NewerError(f"this home has {name} {held}, this program knows {own}: install a newer Animastor")
        if held < own:
            raise OldSchemaError(
                f"this home has {name} {held}, this program needs {own}: `animastor make` migrates an embedded home"
                " after a backup copy; for a server run `animastor upgrade`"
            )
    return True


def migrate(connection: Connection, schema: int = SCHEMA) -> None:
    """Bring the database of this connection to a schema, the newest one, from an older one or nothing.

    Of several processes that do so at once, one does; the others find it done.
    """
    if connection.dialect.name == "postgresql":
        connection.execute(text("SELECT pg_advisory_xact_lock(:key)"), {"key": MIGRATING})
    from alembic import command
    from alembic.config import Config

    config = Config()
    config.set_main_option("script_location", str(MIGRATIONS))
    config.attributes["connection"] = connection
    if connection.dialect.name == "postgresql":  # tables may be rewritten: that takes what it takes
        connection.execute(text("SET LOCAL statement_timeout = 0"))
    command.upgrade(config, f"{schema:04d}")
    connection.execute(text("UPDATE meta SET value = :value WHERE name = 'schema'"), {"value": schema})
    connection.execute(text("UPDATE meta SET value = :value WHERE name = 'layout'"), {"value": LAYOUT})


def upgrade(connection: Connection) -> tuple[int, int]:
    """Bring a database to this program's schema and planner, while no process works on it; which it had before.

    Raises `NewerError`, and `LookupError` for an empty database.
    """
    held = numbers(connection)
    if held is None:
        raise LookupError("there is nothing here yet")
    try:
        check(connection)
    except OldSchemaError:
        migrate(connection)
    raise_planner(connection)
    return held.get("schema", 0), held.get("planner", 0)


def raise_planner(connection: Connection) -> None:
    """Say that this program plans from now on; what an older one planned is planned again (equal plans cost nothing).

    For the holder of an embedded home, and `upgrade`. Raises `NewerError` when a newer program has planned here.
    """
    held = (numbers(connection) or {}).get("planner", 0)
    if held > PLANNER:
        raise NewerError(f"this home has planner {held}, this program knows {PLANNER}: install a newer Animastor")
    if held < PLANNER:
        connection.execute(text("UPDATE asset SET plan_seq = plan_seq + 1"))
        connection.execute(text("UPDATE meta SET value = :value WHERE name = 'planner'"), {"value": PLANNER})


def planner_is_current(connection: Connection) -> bool:
    """Whether the stored plans are this program's."""
    return (numbers(connection) or {}).get("planner", 0) == PLANNER
