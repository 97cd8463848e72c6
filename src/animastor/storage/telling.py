"""PostgreSQL in few messages: what needs no answer travels with what comes next (no such thing on SQLite).

Each message costs a way to the server and back. A statement whose rows nobody looks at is *told*: it waits here as
text, `EXECUTE name('…')` of a prepared statement, until an answer is needed or the transaction ends. So the beginning
of a transaction travels with its locks, and the writes at its end with its commit. The server runs them in the order
in which they were told, each on a snapshot of its own, as if they had come one by one.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final, Protocol, cast

from sqlalchemy import Connection

LONG: Final = 1 << 20  # characters of a message that waits no longer
COMMIT: Final = "COMMIT;"
_KEY: Final = "talk"  # in what SQLAlchemy keeps for each connection of the driver


class Driver(Protocol):
    """What of asyncpg's connection is used."""

    async def execute(self, query: str) -> str:
        """Send statements without parameters as one message."""
        ...

    async def fetch(self, query: str, *args: Any) -> Sequence[Any]:
        """The rows of a statement."""
        ...


class Talk:
    """What was told on a connection and is not sent yet, and which statements its server has prepared."""

    def __init__(self) -> None:
        self._opening: str | None = None
        self._ending = COMMIT
        self._told: list[str] = []
        self._length = 0
        self._sent = False
        self._new: set[str] = set()
        self._known: set[str] = set()
        self._unsure = False

    @property
    def is_long(self) -> bool:
        """Whether what was told should not wait any longer."""
        return self._length > LONG

    @property
    def unsure(self) -> bool:
        """Whether a message failed that prepared something: nobody knows which names the server has now."""
        return self._unsure

    def begin(self, opening: str | None) -> None:
        """A transaction begins so with the first message; None: there is none. What is left of a failed one goes."""
        self._opening, self._told, self._length, self._sent = opening, [opening] if opening else [], 0, False
        self._ending = COMMIT
        self._new.clear()

    def need_not_last(self) -> None:
        """The server need not have flushed this transaction when it answers."""
        self._ending = f"SET LOCAL synchronous_commit = off;\n{COMMIT}"

    def tell(self, name: str, sql: str, args: Sequence[object]) -> None:
        """Run a statement no later than the next answer. `name` is the same for the same text alone."""
        if name not in self._known and name not in self._new:
            self._told.append(f"PREPARE {name} AS {sql}")
            self._new.add(name)
        call = f"EXECUTE {name}({', '.join(map(literal, args))})" if args else f"EXECUTE {name}"
        self._told.append(call)
        self._length += len(call)

    async def ask(self, driver: Driver, sql: str, args: Sequence[object]) -> Sequence[Any]:
        """The rows of a statement, which comes after all that was told."""
        await self.send(driver)
        return await driver.fetch(sql, *args)

    async def send(self, driver: Driver) -> None:
        """Send what was told, if anything was."""
        if self._told:
            message, self._told, self._length = ";\n".join(self._told), [], 0
            self._unsure, self._sent = bool(self._new), True
            await driver.execute(message)
            self._known |= self._new
            self._new.clear()
            self._unsure = False

    async def end(self, driver: Driver) -> None:
        """Send what was told last, and commit with it. A transaction in which nothing happened never began."""
        if self._opening is not None:
            if not self._sent and len(self._told) == 1:
                return
            self._told.append(self._ending)
        await self.send(driver)


def talk_on(info: dict[Any, Any]) -> Talk:
    """The talk of a connection, by what SQLAlchemy keeps for it."""
    talk = info.get(_KEY)
    if talk is None:
        talk = info[_KEY] = Talk()
    return cast("Talk", talk)


def catch_up(connection: Connection, *_: object) -> None:
    """Send what was told before SQLAlchemy itself executes something on this connection."""
    held: Any = connection.connection.dbapi_connection
    held.run_async(talk_on(connection.info).send)


def literal(value: object) -> str:
    """A value as PostgreSQL reads it, with `standard_conforming_strings`; the statement says of which type it is."""
    if value is None:
        return "NULL"
    if isinstance(value, bytes):
        return f"'\\x{value.hex()}'"
    if isinstance(value, bool):
        return f"'{int(value)}'"
    return "'" + str(value).replace("'", "''") + "'"
