"""Statements: one text for SQLite and PostgreSQL, and the only place where the two differ.

A `Statement` is written once. Between braces stand the few things that have two faces:

- a row source by its name: a batch travels as one JSON parameter, and is a table within the statement
  (`json_each` on SQLite, `jsonb_array_elements` on PostgreSQL);
- `{now}`: the database's time in seconds since the epoch (on SQLite the writer's injected clock);
- `{for_update}`, `{for_share}`: row locks (nothing on SQLite, where one writer has the whole database);
- `{PENDING}`, `{PART_READY}`, `{WAIT_BACKOFF}` and so on: the small integers of `engine.states`, as literals,
  because a partial index is found only by literals (STORAGE, the due set);
- `{still_PENDING}` and so on: the same number where rows are found by their keys and their state is only checked. No
  partial index is found by it: PostgreSQL may believe one to be empty that has filled since it looked.
"""

# ruff: noqa: S608 - fragments of this package are put together, nothing from outside

from __future__ import annotations

import re
import sqlite3
from collections import namedtuple
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from itertools import count
from typing import Any, Final, TypeAlias, cast

import orjson
from sqlalchemy import AdaptedConnection, Connection, TextClause, text

from animastor.engine.states import PartState, State, Wait
from animastor.storage.telling import catch_up, talk_on

Column: TypeAlias = type[int] | type[str] | type[float]
Columns: TypeAlias = Mapping[str, Column]

SQLITE: Final = "sqlite"
_COUNT: Final = count(1)
_PARAMETER: Final = re.compile(r"(?<!:):([a-z_]+)")
_CASTS: Final[Mapping[Column, str]] = {int: "bigint", str: "text", float: "double precision"}
_NUMBERS: Final[Mapping[str, str]] = {
    **{state.name: str(int(state)) for state in State},
    **{f"PART_{state.name}": str(int(state)) for state in PartState},
    **{f"WAIT_{wait.name}": str(int(wait)) for wait in Wait},
    **{f"still_{state.name}": f"(SELECT {int(state)})" for state in State},
}
STATES: Final = tuple(State)  # by their number, quicker than the enum's own look-up
_FACES: Final[Mapping[str, Mapping[str, str]]] = {
    SQLITE: {"now": ":now", "for_update": "", "for_share": ""},
    "postgresql": {
        "now": "CAST(extract(epoch FROM now()) AS double precision)",
        "for_update": "FOR UPDATE",
        "for_share": "FOR SHARE",
    },
}


class Statement:
    """A named statement. `sources` declares its row sources: name, then columns in the order of the batch's tuples.

    A source of one column takes a flat batch. Everything else in the text is a bound parameter (`:name`).
    """

    def __init__(self, name: str, description: str, sql: str, **sources: Columns) -> None:
        self.name = name
        self.description = description
        self.sources = sources
        self._sql = sql
        self._rendered: dict[str, tuple[TextClause, bool]] = {}
        self._shape: Callable[[Any], Any] | None = None
        self._silent: str | None = None
        self._numbered: tuple[str, Sequence[str]] | None = None
        self.told_as: Final = f"{name}_{next(_COUNT)}"  # its name on servers that have prepared it, and no other's

    def on(self, dialect: str) -> tuple[TextClause, bool]:
        """The statement for a database, and whether it needs the time as a parameter."""
        known = self._rendered.get(dialect)
        if known is None:
            faces = {name: _source(name, columns, dialect) for name, columns in self.sources.items()}
            sql = self._sql.format_map({**_NUMBERS, **_FACES[dialect], **faces})
            known = self._rendered[dialect] = (text(sql), ":now" in sql)
        return known

    def numbered(self) -> tuple[str, Sequence[str]]:
        """The statement for PostgreSQL with numbered parameters, and their names in order."""
        if self._numbered is None:
            names: list[str] = []

            def number(found: re.Match[str]) -> str:
                if found[1] not in names:
                    names.append(found[1])
                return f"${names.index(found[1]) + 1}"

            self._numbered = (_PARAMETER.sub(number, self.text_for("postgresql")), names)
        return self._numbered

    def named(self, rows: Sequence[Any], names: Iterable[str]) -> list[Any]:
        """Plain rows of a driver as tuples with names. Columns keep their names for ever."""
        if self._shape is None:
            self._shape = shape_of(list(names))
        return list(map(self._shape, rows))

    def silent(self) -> str:
        """The statement on SQLite without its RETURNING."""
        if self._silent is None:
            sql = self.text_for(SQLITE)
            self._silent = sql[: sql.rindex("RETURNING")]
        return self._silent

    def text_for(self, dialect: str) -> str:
        """The rendered text, for plans and for people."""
        return self.on(dialect)[0].text


def shape_of(names: Sequence[str]) -> Callable[[Any], Any]:
    """What makes a tuple with these names of a sequence of values."""
    return partial(tuple.__new__, namedtuple("Row", names, rename=True))


def _source(name: str, columns: Columns, dialect: str) -> str:
    if dialect == SQLITE:
        return f"(SELECT {_listed_sqlite(columns)} FROM json_each(:{name}) AS j)"
    alone = len(columns) == 1
    (first, *_) = columns.values()
    kind = "array" if not alone else "string" if first is str else "number"
    # The condition is always true. PostgreSQL takes it for so rare that it expects one row, and looks up the rows of
    # a batch by their keys; expecting 100, it may read a table or an index instead that its statistics call empty.
    return (
        f"(SELECT {_listed_postgres(columns)} FROM jsonb_array_elements(CAST(:{name} AS jsonb)) AS j(value)"
        f" WHERE jsonb_typeof(j.value) = '{kind}')"
    )


def _listed_sqlite(columns: Columns) -> str:
    if len(columns) == 1:
        return f"j.value AS {next(iter(columns))}"
    return ", ".join(f"json_extract(j.value, '$[{n}]') AS {column}" for n, column in enumerate(columns))


def _listed_postgres(columns: Columns) -> str:
    if len(columns) == 1:
        ((column, kind),) = columns.items()
        return f"CAST(j.value #>> '{{}}' AS {_CASTS[kind]}) AS {column}"
    return ", ".join(
        f"CAST(j.value ->> {n} AS {_CASTS[kind]}) AS {column}" for n, (column, kind) in enumerate(columns.items())
    )


def encode(batch: Iterable[object]) -> str:
    """A batch as the JSON parameter of a row source. NUL characters, which no database text may hold, are dropped."""
    data = orjson.dumps(batch if isinstance(batch, list) else list(batch)).decode()
    return _without_nul(data) if "\\u0000" in data else data


def _without_nul(data: str) -> str:
    return orjson.dumps(_clean(orjson.loads(data))).decode()


def _clean(value: Any) -> Any:
    if isinstance(value, str):
        return value.replace("\0", "")
    return [_clean(one) for one in value] if isinstance(value, list) else value


class Answer:
    """The rows of a statement on PostgreSQL; all of them are there."""

    __slots__ = ("_rows",)

    def __init__(self, rows: Sequence[Any]) -> None:
        self._rows = rows

    def fetchone(self) -> Any:
        """The first row, or None."""
        return self._rows[0] if self._rows else None

    def fetchall(self) -> Sequence[Any]:
        """All rows."""
        return self._rows

    def close(self) -> None:
        """Nothing is left to be given back."""


def run(connection: Connection, statement: Statement, **values: object) -> Answer | sqlite3.Cursor:
    """Execute a statement; values named like its row sources are batches.

    The driver is called without anything in between: a statement of a batch then costs a third on SQLite, and half of
    this process's time on PostgreSQL.
    """
    dialect = connection.dialect.name
    parameters = given(connection, statement, values)
    if dialect == SQLITE:
        return driver(connection).execute(statement.text_for(SQLITE), parameters)
    sql, names = statement.numbered()
    talk, args = talk_on(connection.info), [parameters[name] for name in names]
    held = cast("AdaptedConnection", connection.connection.dbapi_connection)  # asyncpg's is one
    return Answer(held.run_async(lambda raw: talk.ask(raw, sql, args)))


def tell(connection: Connection, statement: Statement, **values: object) -> None:
    """Execute a statement whose rows nobody looks at: at once on SQLite, on PostgreSQL with what comes next."""
    if connection.dialect.name == SQLITE:
        run(connection, statement, **values).close()
        return
    parameters = given(connection, statement, values)
    sql, names = statement.numbered()
    talk = talk_on(connection.info)
    talk.tell(statement.told_as, sql, [parameters[name] for name in names])
    if talk.is_long:
        catch_up(connection)


def need_not_last(connection: Connection) -> None:
    """What this transaction writes may be lost when the server crashes right after it.

    That is harmless where it is found out again, and where whatever follows from it is written to the same database
    later: a server that has flushed a commit has flushed all that came before. Nobody waits for the disk then.
    """
    if connection.dialect.name != SQLITE:
        talk_on(connection.info).need_not_last()


def given(connection: Connection, statement: Statement, values: dict[str, object]) -> dict[str, object]:
    """The parameters of a statement: batches encoded, the time added where it needs one."""
    for name in statement.sources:
        batch = values[name]
        assert isinstance(batch, Iterable), f"{statement.name}: {name} is a batch"
        values[name] = encode(batch)
    if statement.on(connection.dialect.name)[1]:
        values["now"] = connection.info["now"]
    return values


def driver(connection: Connection) -> sqlite3.Connection:
    """SQLite's own connection."""
    held = connection.connection.driver_connection
    assert isinstance(held, sqlite3.Connection), "the connection is open, and SQLite's"
    return held


def fetch(connection: Connection, statement: Statement, **values: object) -> Sequence[Any]:
    """Execute a statement and take all its rows (plain tuples with names)."""
    answer = run(connection, statement, **values)
    rows = answer.fetchall()
    if not rows:
        return []
    names = (column[0] for column in answer.description) if isinstance(answer, sqlite3.Cursor) else rows[0].keys()
    return statement.named(rows, names)


def scalar(connection: Connection, statement: Statement, **values: object) -> Any:
    """The first column of the first row, or None."""
    row = run(connection, statement, **values).fetchone()
    return None if row is None else row[0]


_NOW = Statement("now", "The database's time.", "SELECT {now} AS at")


def now(connection: Connection) -> float:
    """The database's time in seconds since the epoch; the same all through a transaction."""
    return float(connection.info["now"] if connection.dialect.name == SQLITE else scalar(connection, _NOW))


def locks_rows(connection: Connection) -> bool:
    """Whether this database has many writers, so that rows have to be locked."""
    return connection.dialect.name != SQLITE
