"""The rows of a database as files that either kind of database can be made from.

All tables are read in one transaction, on one snapshot: SQLite's readers and PostgreSQL's REPEATABLE READ give the
same. A file is gzipped JSON lines: a head with the columns, then a row a line. Left out are the keys that sign
tickets: so a backup holds no secrets, and what was claimed of the old life is worth nothing in the new one.
"""

# ruff: noqa: S608 - names come from the database's own catalogue, and are quoted

from __future__ import annotations

import gzip
from base64 import b64decode, b64encode
from collections.abc import Iterator, Mapping, Sequence
from hashlib import file_digest
from pathlib import Path
from typing import IO, Any, Final

import orjson
from sqlalchemy import Connection, LargeBinary, bindparam, inspect, text

from animastor.storage import numbers, versions
from animastor.storage.backups.manifest import BackupError, Manifest, TableFile
from animastor.storage.rows import SQLITE, now
from animastor.storage.sentinel import UNNUMBERED

PAGE: Final = 2_000  # rows of a statement; of an insert a tenth
LEFT_OUT: Final = frozenset({"alembic_version", "ticket_key"})
_KEYS: Final[Mapping[str, Sequence[str]]] = {"part": ("asset", "hash")}  # of tables without a primary key
_LEVEL: Final = 3  # of compression: more costs time and saves little


def dump(connection: Connection, folder: Path) -> Manifest:
    """Write every table into a folder that is there, replacing what a former try has left in it."""
    held = versions.numbers(connection) or {}
    files = tuple(_dump_table(connection, name, folder / f"{name}.jsonl.gz") for name in table_names(connection))
    return Manifest(held["schema"], held["planner"], held["layout"], now(connection), files)


def load(connection: Connection, manifest: Manifest, folder: Path, *, replace: bool, store: int = UNNUMBERED) -> None:
    """Make the database what the files say, and begin a new era. One transaction, for an empty database or `replace`.

    `store`: the number of the artifact store that the artifacts were put into. Raises `BackupError` when there is data
    already, or a file is not what it was.
    """
    installation = (versions.numbers(connection) or {}).get("installation", 0)
    _require_room(connection, manifest, replace=replace)
    for each in manifest.tables:
        _load_table(connection, each, folder)
    if connection.dialect.name != SQLITE:
        _go_on_counting(connection, [each.name for each in manifest.tables])
    numbers.raise_era(connection)
    numbers.move_to_artifact_store(connection, store)
    numbers.rename_installation(connection, installation)
    if manifest.schema < versions.SCHEMA:
        versions.migrate(connection)


def table_names(connection: Connection) -> list[str]:
    """The tables that a backup holds."""
    return sorted(set(inspect(connection).get_table_names()) - LEFT_OUT)


def rows_of(path: Path) -> Iterator[dict[str, Any]]:
    """The rows of a table's file, by column."""
    with gzip.open(path, "rb") as file:
        columns, decoders = _head(file)
        for line in file:
            yield {
                name: decode(value) if decode and value is not None else value
                for name, decode, value in zip(columns, decoders, orjson.loads(line), strict=True)
            }


def _dump_table(connection: Connection, name: str, path: Path) -> TableFile:
    columns = inspect(connection).get_columns(name)
    binary = [isinstance(column["type"], LargeBinary) for column in columns]
    head = {"table": name, "columns": [c["name"] for c in columns], "bytes": binary}
    rows = 0
    with gzip.open(path, "wb", compresslevel=_LEVEL) as file:
        file.write(orjson.dumps(head) + b"\n")
        for page in _pages(connection, name, [column["name"] for column in columns]):
            file.writelines(orjson.dumps(_told(row, binary)) + b"\n" for row in page)
            rows += len(page)
    return TableFile(name, rows, sha256_of(path))


def _told(row: Sequence[Any], binary: Sequence[bool]) -> list[Any]:
    if any(binary):
        return [b64encode(one).decode() if isinstance(one, bytes) else one for one in row]
    return list(row)


def _pages(connection: Connection, table: str, columns: Sequence[str]) -> Iterator[Sequence[Any]]:
    """All rows, by key: each page begins behind the last key of the one before."""
    quote = connection.dialect.identifier_preparer.quote
    key = _KEYS.get(table) or inspect(connection).get_pk_constraint(table)["constrained_columns"]
    places = [list(columns).index(one) for one in key]
    listed, order = ", ".join(map(quote, columns)), ", ".join(map(quote, key))
    behind = f"WHERE ({order}) > ({', '.join(f':k{n}' for n in range(len(key)))})"
    last: dict[str, Any] = {}
    while True:
        select = f"SELECT {listed} FROM {quote(table)} {behind if last else ''} ORDER BY {order} LIMIT {PAGE}"
        page = connection.execute(text(select), last).fetchall()
        if page:
            yield page
            last = {f"k{n}": page[-1][place] for n, place in enumerate(places)}
        if len(page) < PAGE:
            return


def _require_room(connection: Connection, manifest: Manifest, *, replace: bool) -> None:
    held = versions.numbers(connection)
    if manifest.schema > versions.SCHEMA or manifest.layout > versions.LAYOUT:
        raise BackupError("the backup is of a newer Animastor: install that")
    if held is None:
        versions.migrate(connection, manifest.schema)
    elif held.get("schema") != manifest.schema:
        raise BackupError(
            f"the database has schema {held.get('schema')} and the backup {manifest.schema}: restore into an empty one"
        )
    elif not replace and connection.execute(text("SELECT 1 FROM book LIMIT 1")).first() is not None:
        raise BackupError("there are books in it already: with --replace they are removed")
    for table in inspect(connection).get_table_names():
        if table in {each.name for each in manifest.tables} | (LEFT_OUT - {"alembic_version"}):
            empty = "DELETE FROM" if connection.dialect.name == SQLITE else "TRUNCATE"
            connection.execute(text(f"{empty} {connection.dialect.identifier_preparer.quote(table)}"))


def _load_table(connection: Connection, table: TableFile, folder: Path) -> None:
    path = folder / f"{table.name}.jsonl.gz"
    if not path.exists() or sha256_of(path) != table.sha256:
        raise BackupError(f"the backup is damaged: its table {table.name} is not what it was")
    quote = connection.dialect.identifier_preparer.quote
    with gzip.open(path, "rb") as file:
        columns, _ = _head(file)
    known = {column["name"]: column["type"] for column in inspect(connection).get_columns(table.name)}
    listed = ", ".join(map(quote, columns))
    binds = [bindparam(f"c{n}", type_=known[name]) for n, name in enumerate(columns)]
    values = ", ".join(f":c{n}" for n in range(len(columns)))
    insert = text(f"INSERT INTO {quote(table.name)} ({listed}) VALUES ({values})").bindparams(*binds)
    batch: list[dict[str, Any]] = []
    for row in rows_of(path):
        batch.append({f"c{n}": value for n, value in enumerate(row.values())})
        if len(batch) == PAGE // 10:
            connection.execute(insert, batch)
            batch = []
    if batch:
        connection.execute(insert, batch)


def _go_on_counting(connection: Connection, tables: Sequence[str]) -> None:
    """Let columns that number themselves go on behind what was loaded. PostgreSQL does not by itself."""
    quote = connection.dialect.identifier_preparer.quote
    for table in tables:
        for column in inspect(connection).get_columns(table):
            if column.get("identity"):
                highest = f"SELECT max({quote(column['name'])}) FROM {quote(table)}"
                connection.execute(
                    text(f"SELECT setval(pg_get_serial_sequence(:table, :name), coalesce(({highest}), 0) + 1, false)"),
                    {"table": table, "name": column["name"]},
                )


def _head(file: IO[bytes] | gzip.GzipFile) -> tuple[list[str], list[Any]]:
    head = orjson.loads(file.readline())
    return head["columns"], [b64decode if binary else None for binary in head["bytes"]]


def sha256_of(path: Path) -> str:
    """The checksum of a file."""
    with path.open("rb") as file:
        return file_digest(file, "sha256").hexdigest()
