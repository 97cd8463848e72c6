"""PostgreSQL over asyncpg: the same storage functions, run by `run_sync`, repeated when they lose against others.

A transaction whose fate is not its own fault is repeated with the same arguments, and never taken back by another
one: storage functions recognise what they did before (`engine.ports.Storage`), so a commit whose answer was lost is
answered as if it had been heard.

Nothing lasts for ever: a statement, a wait for a lock, a wait for a connection, and a transaction whose process does
nothing (one that was stopped, or whose machine is gone) each have a limit, after which the server ends them. So rows
that somebody locked and left are free again after `IDLE_S`.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from typing import Final, TypeVar

from sqlalchemy import Connection, event, make_url
from sqlalchemy.ext.asyncio import AsyncConnection, create_async_engine
from sqlalchemy.pool import NullPool

from animastor.storage.connections import Connections, driver_of
from animastor.storage.database import Core, P, R
from animastor.storage.failures import Fate, fate_of, typed
from animastor.storage.telling import Talk, catch_up, talk_on

Sleep = Callable[[float], Awaitable[None]]
T = TypeVar("T")

ATTEMPTS: Final = 8
PAUSE_S: Final = 0.1  # doubled with each attempt to reconnect: about 12 s in all
CONNECTIONS: Final = 8  # of one process at most
POOL_S: Final = 30.0  # for a free connection
CONNECT_S: Final = 5.0  # for a new one
STATEMENT_S: Final = 60.0  # the longest is the coarse update of an edit: half a second for 300,000 assets
LOCK_S: Final = 10.0  # for a row that another transaction holds; then the transaction is run again
IDLE_S: Final = 15.0  # between two statements of a transaction: what is pure is done before it begins
WRITING: Final = "BEGIN"
READING: Final = "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY"  # one state for all statements
GONE_S: Final = 10.0  # beyond a statement's time: a server that has not answered then is not there
STATEMENTS: Final = 512  # kept prepared for each connection: all that there are
SESSION: Final[Mapping[str, str]] = {
    # Statements find their rows by keys that are given, or walk an index. So a plan that reads a whole table is wrong,
    # even where the statistics of a table that has grown since make it look cheap; and one plan suits all parameters.
    "enable_seqscan": "off",
    "plan_cache_mode": "force_generic_plan",
    "jit": "off",
    "standard_conforming_strings": "on",  # as everywhere; `telling.literal` is for no other
}


class PostgresDatabase:
    """A PostgreSQL database at a URL (`postgresql://…`). Its password is never shown.

    `connections` is how many transactions this process runs at once; more wait for a free connection. `statement_s`,
    `lock_s` and `idle_s` are the limits that the server holds.
    """

    writable: Final = True

    def __init__(
        self,
        url: str,
        *,
        connections: int = CONNECTIONS,
        statement_s: float = STATEMENT_S,
        lock_s: float = LOCK_S,
        idle_s: float = IDLE_S,
        pool_s: float = POOL_S,
        sleep: Sleep = asyncio.sleep,
    ) -> None:
        limits = {
            "statement_timeout": statement_s,
            "lock_timeout": lock_s,
            "idle_in_transaction_session_timeout": idle_s,
        }
        session = {name: str(round(1000 * seconds)) for name, seconds in limits.items()}
        self._engine = create_async_engine(
            make_url(url).set(drivername="postgresql+asyncpg"),
            poolclass=NullPool,  # `Connections` keeps them
            connect_args={
                "timeout": CONNECT_S,
                "command_timeout": statement_s + GONE_S,
                "server_settings": {**SESSION, **session, "application_name": "animastor"},
                "statement_cache_size": STATEMENTS,
            },
            isolation_level="AUTOCOMMIT",  # transactions are begun and ended by us, on the driver's own connection
        )
        event.listen(self._engine.sync_engine, "before_cursor_execute", catch_up)
        self._connections = Connections(self._engine, connections, pool_s)
        self._sleep = sleep
        self._where = self._engine.url.render_as_string(hide_password=True)

    async def read(self, core: Core[P, R], *args: P.args, **kwargs: P.kwargs) -> R:
        """Run a function that only reads."""
        return await self._repeat(lambda held: core(held, *args, **kwargs), READING)

    async def glance(self, core: Core[P, R], *args: P.args, **kwargs: P.kwargs) -> R:
        """Run a function that needs no snapshot for all of its statements: a round trip for each, and no more."""
        return await self._repeat(lambda held: core(held, *args, **kwargs), None)

    async def write(self, core: Core[P, R], *args: P.args, **kwargs: P.kwargs) -> R:
        """Run a function and commit."""
        return await self._repeat(lambda held: core(held, *args, **kwargs), WRITING)

    async def aside(self, call: Callable[P, R], *args: P.args, **kwargs: P.kwargs) -> R:
        """Run a function on another thread."""
        return await asyncio.to_thread(call, *args, **kwargs)

    async def close(self) -> None:
        """End all connections."""
        await self._connections.close()
        await self._engine.dispose()

    async def _repeat(self, call: Callable[[Connection], T], begin: str | None) -> T:
        pause, attempt = PAUSE_S, 1
        while True:
            try:
                return await self._once(call, begin)
            except Exception as error:
                fate = fate_of(error)
                if fate is Fate.MEMBER:
                    raise
                if attempt == ATTEMPTS or fate in (Fate.FULL, Fate.UNAVAILABLE):
                    raise typed(fate, self._where, error) from error
                if fate is Fate.RECONNECT:
                    await self._sleep(pause)
                    pause *= 2
            attempt += 1

    async def _once(self, call: Callable[[Connection], T], begin: str | None) -> T:
        """Run a function within a transaction that begins so; None: its one statement needs none."""
        async with self._connections.one() as connection:
            raw = await driver_of(connection)
            talk = _talk(connection)
            try:
                talk.begin(begin)
                answer = await connection.run_sync(call)
                await talk.end(raw)
            except BaseException as error:
                await _leave(connection, talk, error)
                raise
            return answer


def _talk(connection: AsyncConnection) -> Talk:
    assert connection.sync_connection is not None, "it is open"
    return talk_on(connection.sync_connection.info)


async def _leave(connection: AsyncConnection, talk: Talk, error: BaseException) -> None:
    """Take a transaction back; a connection that may not answer is left, and the server takes it back.

    Raises `ConnectionResetError` when the connection had ended, whatever the driver made of that.
    """
    raw = await driver_of(connection)
    if raw.is_closed():
        await connection.invalidate(error)
        raise ConnectionResetError(f"the connection has ended: {error}") from error
    if not isinstance(error, Exception) or fate_of(error) is Fate.RECONNECT or talk.unsure:
        await connection.invalidate(error)
    elif raw.is_in_transaction():
        await raw.execute("ROLLBACK")
