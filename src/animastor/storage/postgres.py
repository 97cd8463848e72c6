"""PostgreSQL over asyncpg: the same storage functions, run by `run_sync`, repeated when they lose against others."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Final, TypeVar

from sqlalchemy import Connection
from sqlalchemy.ext.asyncio import create_async_engine

from animastor.storage.database import Core, P, R
from animastor.storage.failures import Fate, fate_of, typed

Sleep = Callable[[float], Awaitable[None]]
T = TypeVar("T")

ATTEMPTS: Final = 8
PAUSE_S: Final = 0.1  # doubled with each attempt to reconnect: about 12 s in all


class PostgresDatabase:
    """A PostgreSQL database. `url` as SQLAlchemy's, with the driver `postgresql+asyncpg`.

    A transaction that fails by deadlock, serialization or a lost connection is repeated with the same arguments, so
    an acknowledgement that was lost is asked for again and never reversed.
    """

    writable: Final = True

    def __init__(self, url: str, *, connections: int = 8, sleep: Sleep = asyncio.sleep) -> None:
        self._engine = create_async_engine(url, pool_size=connections, max_overflow=0, pool_pre_ping=False)
        self._sleep = sleep
        self._where = self._engine.url.render_as_string(hide_password=True)

    async def read(self, core: Core[P, R], *args: P.args, **kwargs: P.kwargs) -> R:
        """Run a function that only reads."""
        return await self._repeat(lambda held: core(held, *args, **kwargs), repeatable_read=True)

    async def write(self, core: Core[P, R], *args: P.args, **kwargs: P.kwargs) -> R:
        """Run a function and commit."""
        return await self._repeat(lambda held: core(held, *args, **kwargs), repeatable_read=False)

    async def aside(self, call: Callable[P, R], *args: P.args, **kwargs: P.kwargs) -> R:
        """Run a function on another thread."""
        return await asyncio.to_thread(call, *args, **kwargs)

    async def close(self) -> None:
        """End all connections."""
        await self._engine.dispose()

    async def _repeat(self, call: Callable[[Connection], T], *, repeatable_read: bool) -> T:
        pause, attempt = PAUSE_S, 1
        while True:
            try:
                return await self._once(call, repeatable_read=repeatable_read)
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

    async def _once(self, call: Callable[[Connection], T], *, repeatable_read: bool) -> T:
        async with self._engine.connect() as connection:
            if repeatable_read:  # several statements of one answer see one state
                await connection.execution_options(isolation_level="REPEATABLE READ", postgresql_readonly=True)
            async with connection.begin():
                return await connection.run_sync(call)
