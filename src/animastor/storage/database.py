"""Where transactions run: on SQLite in threads of its own or in place, on PostgreSQL over asyncpg.

The storage functions are plain functions over a connection; a `Database` runs one of them as one transaction. On
SQLite a writing transaction begins with BEGIN IMMEDIATE, always: one that reads first would fail with "database is
locked" as soon as it writes, and no busy timeout applies to that (STORAGE, shape).
"""

from __future__ import annotations

import asyncio
import sqlite3
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from functools import partial
from pathlib import Path
from typing import Any, Concatenate, Final, ParamSpec, Protocol, TypeVar

from sqlalchemy import Connection, Engine, create_engine, event
from sqlalchemy.pool import NullPool, StaticPool

from animastor.engine.ports import StorageUnavailableError
from animastor.storage.transacting import Now, transact, typed_errors
from animastor.storage.writing import Writer

P = ParamSpec("P")
R = TypeVar("R")
Core = Callable[Concatenate[Connection, P], R]

READERS: Final = 2
BUSY_MS: Final = 10_000
_PRAGMAS: Final = (
    "PRAGMA journal_mode = WAL",
    "PRAGMA synchronous = FULL",
    f"PRAGMA busy_timeout = {BUSY_MS}",
    "PRAGMA wal_autocheckpoint = 4000",  # pages: pages written often reach the file once for many commits
    "PRAGMA journal_size_limit = 67108864",
    "PRAGMA temp_store = MEMORY",
)


class Database(Protocol):
    """Runs storage functions, each as one transaction."""

    async def read(self, core: Core[P, R], *args: P.args, **kwargs: P.kwargs) -> R:
        """Run a function that only reads, on one snapshot."""
        ...

    async def glance(self, core: Core[P, R], *args: P.args, **kwargs: P.kwargs) -> R:
        """Run a function that reads, each statement on a snapshot of its own: no transaction is begun and ended."""
        ...

    async def write(self, core: Core[P, R], *args: P.args, **kwargs: P.kwargs) -> R:
        """Run a function and commit. Raises `StorageUnavailableError` when the database cannot answer."""
        ...

    async def aside(self, call: Callable[P, R], *args: P.args, **kwargs: P.kwargs) -> R:
        """Run a long pure function where it holds up neither the loop nor a transaction."""
        ...

    @property
    def writable(self) -> bool:
        """Whether this process may write."""
        ...

    async def close(self) -> None:
        """End all connections."""
        ...


def sqlite_engine(path: str, *, cache_kib: int, shared: bool = False) -> Engine:
    """An engine whose transactions are begun by us (`BEGIN IMMEDIATE` unless the connection is a reader's)."""
    engine = create_engine(
        f"sqlite:///{path}",
        poolclass=StaticPool if shared else NullPool,
        connect_args={"isolation_level": None, "check_same_thread": False, "cached_statements": 512},
    )

    @event.listens_for(engine, "connect")
    def configure(connection: Any, _record: object) -> None:
        for pragma in (*_PRAGMAS, f"PRAGMA cache_size = -{cache_kib}"):
            connection.execute(pragma)

    @event.listens_for(engine, "begin")
    def begin(connection: Connection) -> None:
        connection.exec_driver_sql("BEGIN" if connection.info.get("reader") else "BEGIN IMMEDIATE")

    return engine


class InPlaceDatabase:
    """SQLite in the calling thread, in memory unless a path is given: no threads, so that a run replays exactly."""

    writable: Final = True

    def __init__(self, clock: Now, path: str = ":memory:") -> None:
        self._clock = clock
        self._where = path
        self._engine = sqlite_engine(path, cache_kib=16_384, shared=True)
        with typed_errors(path):
            self._connection = self._engine.connect()

    async def read(self, core: Core[P, R], *args: P.args, **kwargs: P.kwargs) -> R:
        """Run a function that only reads."""
        return self.run(core, *args, **kwargs)

    async def glance(self, core: Core[P, R], *args: P.args, **kwargs: P.kwargs) -> R:
        """As `read`."""
        return self.run(core, *args, **kwargs)

    async def write(self, core: Core[P, R], *args: P.args, **kwargs: P.kwargs) -> R:
        """Run a function and commit."""
        return self.run(core, *args, **kwargs)

    async def aside(self, call: Callable[P, R], *args: P.args, **kwargs: P.kwargs) -> R:
        """Run a function here and now."""
        return call(*args, **kwargs)

    def run(self, core: Core[P, R], *args: P.args, **kwargs: P.kwargs) -> R:
        """The same, without an event loop."""
        return transact(self._connection, self._clock, self._where, lambda held: core(held, *args, **kwargs))

    async def close(self) -> None:
        """End the connection."""
        self._connection.close()
        self._engine.dispose()


class SqliteDatabase:
    """A SQLite file: one writer thread, and reader threads with connections of their own.

    `cache_mib` is the writer's page cache. Only one process may write a file (the home lock sees to that); a
    `read_only` one never does.
    """

    def __init__(self, path: Path, clock: Now, *, cache_mib: int = 32, read_only: bool = False) -> None:
        self._clock = clock
        self._where = str(path)
        self._read_only = read_only
        self._engine = sqlite_engine(str(path), cache_kib=cache_mib * 1024)
        self._readers = sqlite_engine(str(path), cache_kib=4096)
        self._writing = ThreadPoolExecutor(1, thread_name_prefix="animastor-writer")
        self._writes = Writer(self._writing, self._writer, clock, str(path))
        self._reading = ThreadPoolExecutor(READERS, thread_name_prefix="animastor-reader")
        self._held = threading.local()
        self._all: list[Connection] = []
        self._guard = threading.Lock()

    @property
    def writable(self) -> bool:
        """Whether this process may write."""
        return not self._read_only

    async def read(self, core: Core[P, R], *args: P.args, **kwargs: P.kwargs) -> R:
        """Run a function on a reader's snapshot; it sees everything committed before the call."""
        return await self._submit(lambda held: core(held, *args, **kwargs))

    async def glance(self, core: Core[P, R], *args: P.args, **kwargs: P.kwargs) -> R:
        """As `read`."""
        return await self.read(core, *args, **kwargs)

    async def write(self, core: Core[P, R], *args: P.args, **kwargs: P.kwargs) -> R:
        """Run a function on the writer thread and commit, together with others that wait for it (`writing`)."""
        if self._read_only:
            raise StorageUnavailableError(f"the database {self._where} is open for reading only")
        return await self._writes.write(lambda held: core(held, *args, **kwargs))

    async def aside(self, call: Callable[P, R], *args: P.args, **kwargs: P.kwargs) -> R:
        """Run a function on a reader's thread."""
        return await asyncio.get_running_loop().run_in_executor(self._reading, partial(call, *args, **kwargs))

    async def backup(self, target: Path) -> None:
        """Copy the database into another file, whole and consistent."""

        def work() -> None:
            with typed_errors(self._where):
                raw = self._writer().connection.driver_connection
                assert isinstance(raw, sqlite3.Connection), "this is SQLite"
                with closing(sqlite3.connect(target)) as copy:
                    raw.backup(copy)

        await asyncio.get_running_loop().run_in_executor(self._writing, work)

    async def close(self) -> None:
        """Let running transactions end, then close all connections."""
        await asyncio.to_thread(self._shut_down)

    def _shut_down(self) -> None:
        self._writing.shutdown(wait=True)
        self._reading.shutdown(wait=True)
        for connection in self._all:
            connection.close()
        self._engine.dispose()
        self._readers.dispose()

    async def _submit(self, call: Callable[[Connection], R]) -> R:
        def work() -> R:
            with typed_errors(self._where):
                connection = self._reader()
            return transact(connection, self._clock, self._where, call)

        try:
            return await asyncio.get_running_loop().run_in_executor(self._reading, work)
        except RuntimeError as error:
            if "after shutdown" in str(error):
                raise StorageUnavailableError(f"the database {self._where} is closed") from error
            raise

    def _writer(self) -> Connection:
        return self._connection(self._engine, reader=False)

    def _reader(self) -> Connection:
        return self._connection(self._readers, reader=True)

    def _connection(self, engine: Engine, *, reader: bool) -> Connection:
        held: Connection | None = getattr(self._held, "connection", None)
        if held is None:
            held = engine.connect()
            held.info["reader"] = reader
            self._held.connection = held
            with self._guard:
                self._all.append(held)
        return held
