"""Answers that come whole: in one step of SQLite, however many rows they have.

A thread that takes rows one by one gives the interpreter away at each of them, and has to win it back from a busy
event loop: with a full queue that, and not the database, was most of the time that a batch took. So the statements of
an asset's life are asked in one of two ways: `gather` has all rows put into one JSON text by the database, `changed`
does not ask which rows were changed where their number says that all of them were.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final, TypeVar

import orjson
from sqlalchemy import Connection

from animastor.storage.rows import SQLITE, Columns, Statement, driver, fetch, given, shape_of

Key = TypeVar("Key")

_FLOATS: Final = frozenset({"estimate_s", "work"})  # columns of that type, never null: JSON would keep 15 of 17 digits


class UnsureError(Exception):
    """Raised within a transaction in which not all rows were changed: to be taken back and run again, asking which."""


class Gathering(Statement):
    """A SELECT whose rows are taken in one step."""

    def __init__(self, name: str, description: str, sql: str, **sources: Columns) -> None:
        super().__init__(name, description, sql, **sources)
        self._packed: tuple[str, Callable[[Any], Any]] | None = None

    def packed(self, connection: Connection, values: dict[str, object]) -> tuple[str, Callable[[Any], Any]]:
        """The statement that gives one text, on SQLite, and what makes a row of each of its lists."""
        if self._packed is None:
            sql = self.text_for(SQLITE)
            cursor = driver(connection).execute(f"SELECT * FROM ({sql}) LIMIT 0", values)  # noqa: S608 - ours
            names = [column[0] for column in cursor.description]
            listed = ", ".join(map(_member, names))
            self._packed = (f"SELECT json_group_array(json_array({listed})) FROM ({sql})", shape_of(names))  # noqa: S608
        return self._packed


def _member(name: str) -> str:
    return f"json(printf('%!.17g', \"{name}\"))" if name in _FLOATS else f'"{name}"'


def gather(connection: Connection, statement: Gathering, **values: object) -> Sequence[Any]:
    """All rows of a SELECT, as `fetch` gives them."""
    if connection.dialect.name != SQLITE:
        return fetch(connection, statement, **values)
    asked = given(connection, statement, values)
    sql, shape = statement.packed(connection, asked)
    ((rows,),) = driver(connection).execute(sql, asked)
    return list(map(shape, orjson.loads(rows)))


def changed(connection: Connection, statement: Statement, keys: Sequence[Key], **values: object) -> Sequence[Key]:
    """The keys of the rows that a statement changes, one for each member of its batch; mostly all of `keys`.

    The statement must return that key first of each row it changes. Raises `UnsureError` when it was not asked to, and
    changed less; whoever runs transactions runs this one again then (`transacting`).
    """
    if connection.dialect.name == SQLITE and not connection.info.get("careful"):
        cursor = driver(connection).execute(statement.silent(), given(connection, statement, values))
        if cursor.rowcount != len(keys):
            raise UnsureError(statement.name)
        return keys
    rows = fetch(connection, statement, **values)
    width = len(keys[0]) if keys and isinstance(keys[0], tuple) else 1
    keys_of: list[Any] = [row[0] if width == 1 else tuple(row[:width]) for row in rows]
    return keys_of
