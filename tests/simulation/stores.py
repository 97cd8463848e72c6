"""The shared stores of the simulated world, and how a node reaches them: late, not at all, or without an answer.

Between a node and a store lies a way: before an operation and behind it anything else may happen. The operations
themselves are the real ones, and atomic.
"""

from __future__ import annotations

import asyncio
import io
import sqlite3
from collections.abc import Callable, Sequence
from hashlib import sha256
from typing import Any, TypeVar

from animastor.engine.ports import (
    ArtifactStoreUnavailableError,
    StorageUnavailableError,
)
from animastor.engine.reasons import Reason
from animastor.media.types import Facts, Structure
from animastor.storage.database import InPlaceDatabase
from animastor.storage.sql import SqlStorage, open_storage
from animastor.storage.transacting import typed_errors
from animastor.storage.whole import UnsureError

from .dice import Dice
from .media import REGISTRY, facts_of
from .scheduling import NODE
from .watching import TRIGGERS, Watch

R = TypeVar("R")
SLOW = (0.01, 0.05, 0.3, 2.0, 8.0)


class Scratch:
    """A database in memory that one run after the other begins with, as if it were new.

    Opening one costs as much as 200 steps, and as many again until SQLite has prepared each statement for it.
    """

    _spare: list[Scratch] = []  # noqa: RUF012 - those of this process that nobody uses

    def __init__(self) -> None:
        self.database = InPlaceDatabase(lambda: 0.0)
        at_once(open_storage(self.database, REGISTRY, create=True))
        raw = self.database._connection.connection.driver_connection
        assert isinstance(raw, sqlite3.Connection)
        self.raw = raw
        tables = self.raw.execute("SELECT name FROM sqlite_master WHERE type = 'table'").fetchall()
        self._new = {name: self.raw.execute(f"SELECT * FROM {name}").fetchall() for (name,) in tables}
        self.raw.executescript(TRIGGERS)

    @classmethod
    def take(cls, clock: Callable[[], float]) -> Scratch:
        """One that holds nothing but what a new one holds."""
        found = cls._spare.pop() if cls._spare else cls()
        found.database._clock = clock
        return found

    def run(self, core: Callable[..., R], *args: Any, **kwargs: Any) -> R:
        """Run a storage function as one transaction, as `storage.transacting` does, but begun and ended by the driver:
        what SQLAlchemy does for that takes as long as the statements."""
        connection = self.database._connection
        connection.info["now"] = self.database._clock()
        with typed_errors("a database in memory"):
            try:
                return self._once(core, *args, **kwargs)
            except UnsureError:
                connection.info["careful"] = True
                try:
                    return self._once(core, *args, **kwargs)
                finally:
                    del connection.info["careful"]

    def _once(self, core: Callable[..., R], *args: Any, **kwargs: Any) -> R:
        self.raw.execute("BEGIN IMMEDIATE")
        try:
            answer = core(self.database._connection, *args, **kwargs)
        except BaseException:
            self.raw.execute("ROLLBACK")
            raise
        self.raw.execute("COMMIT")
        return answer

    def give_back(self) -> None:
        """Nobody uses it any more."""
        if self.raw.in_transaction:  # its run ended in the middle of something
            self.database._connection.close()
            self.database._engine.dispose()
            return
        self.raw.execute("BEGIN")
        for name, rows in self._new.items():
            self.raw.execute(f"DELETE FROM {name}")
            if rows:
                self.raw.executemany(f"INSERT INTO {name} VALUES ({', '.join('?' * len(rows[0]))})", rows)
        self.raw.execute("DELETE FROM sim_log")
        self.raw.execute("COMMIT")
        self._spare.append(self)


def at_once(operation: Any) -> Any:
    """What an operation that never waits gives."""
    try:
        operation.send(None)
    except StopIteration as done:
        return done.value
    raise AssertionError("the operation waited")


class Way:
    """The way between a node and a store: it takes a moment, and sometimes long."""

    def __init__(self, dice: Dice, slow: str) -> None:
        self._dice, self._slow = dice, slow

    async def go(self) -> None:
        """One way."""
        if (node := NODE.get()) is not None and node.slow_s:
            await asyncio.sleep(node.slow_s * 2 * self._dice.stream("slow node").random())
        elif self._dice.strikes(self._slow):
            await asyncio.sleep(self._dice.seconds(self._slow, SLOW))
        else:
            await asyncio.sleep(0)


class NodeDatabase:
    """The one database, as a node reaches it. `animastor.storage.database.Database`."""

    writable = True

    def __init__(self, shared: Scratch, watch: Watch, dice: Dice) -> None:
        self._shared, self._watch, self._dice = shared, watch, dice
        self._way = Way(dice, "database slow")

    async def read(self, core: Any, *args: Any, **kwargs: Any) -> Any:
        """Run a function that only reads."""
        await self._way.go()
        if self._dice.strikes("database away"):
            raise StorageUnavailableError("simulated: the database does not answer")
        answer = self._shared.run(core, *args, **kwargs)
        await self._way.go()
        return answer

    glance = read

    async def write(self, core: Any, *args: Any, **kwargs: Any) -> Any:
        """Run a function and commit; the answer may be lost, and then it is asked for again, or never."""
        await self._way.go()
        if self._dice.strikes("database away before commit", core.__name__):
            raise StorageUnavailableError("simulated: the database does not answer")
        answer = self._run(core, *args, **kwargs)
        await self._way.go()
        if self._dice.strikes("commit repeated", core.__name__):
            answer = self._run(core, *args, **kwargs)
            await self._way.go()
        if self._dice.strikes("database away after commit", core.__name__):
            raise StorageUnavailableError("simulated: the database does not answer any more")
        return answer

    def _run(self, core: Any, *args: Any, **kwargs: Any) -> Any:
        answer = self._shared.run(core, *args, **kwargs)
        self._watch.committed(core.__name__)
        return answer

    async def aside(self, call: Any, *args: Any, **kwargs: Any) -> Any:
        """Run a function."""
        return call(*args, **kwargs)

    async def close(self) -> None:
        """The shared one stays."""


class NodeStorage(SqlStorage):
    """The real storage; a batch may choke on one of its members."""

    def __init__(self, database: Any, dice: Dice, cursed: set[int], planner: int) -> None:
        super().__init__(database, REGISTRY, planner=planner)
        self._dice, self._cursed = dice, cursed

    def _choke(self, members: Sequence[Any]) -> None:
        for one in members:
            if one.asset in self._cursed:
                raise RuntimeError("simulated: the database chokes on this member")
        if members and self._dice.strikes("member at fault", members[0].asset):
            self._cursed.add(members[0].asset)
            self._choke(members)

    async def begin(self, begins: Any) -> Any:
        """PENDING → GENERATING."""
        self._choke(begins)
        return await super().begin(begins)

    async def accept(self, results: Any) -> Any:
        """Take results."""
        self._choke(results)
        return await super().accept(results)

    async def count_failures(self, failures: Any) -> Any:
        """Count failures."""
        self._choke(failures)
        return await super().count_failures(failures)


class SimFile:
    """A file: what of `pathlib.Path` the code under test uses."""

    def __init__(self, content: bytes, parent: Any = None) -> None:
        self.content: bytes | None = content
        self.parent = parent

    def exists(self) -> bool:
        """Whether it is there."""
        return self.content is not None

    def open(self, mode: str = "rb") -> io.BytesIO:
        """Its bytes, for reading."""
        return io.BytesIO(self.read())

    def read(self) -> bytes:
        """Its bytes. Raises `FileNotFoundError`."""
        if self.content is None:
            raise FileNotFoundError("simulated: the file is gone")
        return self.content


class Shelf:
    """The artifact store that all nodes share: files by checksum."""

    def __init__(self) -> None:
        self.files: dict[str, SimFile] = {}
        self.away = False
        self.low = False
        self.excused: set[str] = set()  # checksums whose bytes were taken away or damaged by a fault

    def remove(self, checksum: str) -> None:
        """The bytes are gone."""
        if checksum in self.files:
            self.files.pop(checksum).content = None

    def content(self, checksum: str) -> bytes | None:
        """The bytes under a checksum."""
        found = self.files.get(checksum)
        return found.content if found is not None else None


class NodeShelf:
    """The artifact store as a node reaches it. `engine.ports.ArtifactStore`."""

    def __init__(self, shelf: Shelf, dice: Dice, watch: Watch) -> None:
        self._shelf, self._watch = shelf, watch
        self._way = Way(dice, "artifacts slow")

    @property
    def where(self) -> str:
        """Nowhere."""
        return "a shelf"

    async def _go(self) -> None:
        await self._way.go()
        if self._shelf.away:
            raise ArtifactStoreUnavailableError

    async def put(self, source: Any, suffix: str) -> tuple[str, int]:
        """Take a file in."""
        await self._go()
        content = source.read()
        checksum = sha256(content).hexdigest()
        held = self._shelf.files.get(checksum)
        if held is None or held.content != content:
            self._shelf.files[checksum] = SimFile(content)
        await self._go()
        return checksum, len(content)

    async def path(self, checksum: str, suffix: str) -> Any:
        """The file, if it is there."""
        await self._go()
        return self._shelf.files.get(checksum)

    async def missing(self, artifacts: Sequence[tuple[str, str]]) -> list[tuple[str, str]]:
        """Those that are not there."""
        await self._go()
        return [one for one in artifacts if one[0] not in self._shelf.files]

    async def whole(self, checksum: str, suffix: str) -> bool | None:
        """Whether the bytes are right."""
        await self._go()
        content = self._shelf.content(checksum)
        return None if content is None else sha256(content).hexdigest() == checksum

    async def delete(self, checksum: str, suffix: str) -> None:
        """Remove bytes."""
        await self._go()
        self._watch.bytes_deleted(checksum)
        self._shelf.remove(checksum)

    async def check(self) -> Reason | None:
        """How the store is."""
        await self._way.go()
        if self._shelf.away:
            return Reason.ARTIFACT_STORE_UNAVAILABLE
        return Reason.DISK_LOW if self._shelf.low else None


class SimChecker:
    """Looks at bytes: whole or not. That they are the right ones, the oracle finds out."""

    def __init__(self, dice: Dice) -> None:
        self._way = Way(dice, "artifacts slow")

    async def check(self, media: str, kind: str, structure: Structure, path: Any) -> tuple[Facts, str | None]:
        """Whole or not."""
        await self._way.go()
        facts = facts_of(path.content or b"")
        return facts, REGISTRY[media].check(structure, facts)
