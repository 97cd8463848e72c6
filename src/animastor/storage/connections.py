"""Connections to PostgreSQL, so many at most, each kept open and ready between transactions.

SQLAlchemy's own pool makes a new `AsyncConnection` for each transaction, starts it, and cleans up after it: as much
work as three statements. Transactions here leave a connection as they found it, or give it up (`postgres._leave`).
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from sqlalchemy.ext.asyncio import AsyncConnection, AsyncEngine

from animastor.engine.ports import StorageUnavailableError


async def driver_of(connection: AsyncConnection) -> Any:
    """asyncpg's own connection."""
    raw = (await connection.get_raw_connection()).driver_connection
    assert raw is not None, "it is open"
    return raw


class Connections:
    """At most `most` at once; whoever needs one more waits for it, `patience_s` at the longest."""

    def __init__(self, engine: AsyncEngine, most: int, patience_s: float) -> None:
        self._engine = engine
        self._most = most
        self._patience_s = patience_s
        self._room = asyncio.Semaphore(most)
        self._idle: list[AsyncConnection] = []

    @asynccontextmanager
    async def one(self) -> AsyncIterator[AsyncConnection]:
        """A connection for a transaction: the one used last, which knows its statements and tables.

        Raises `StorageUnavailableError` when none was free for too long, and what opening a new one raises.
        """
        await self._enter()
        try:
            connection = await self._living()
            try:
                yield connection
            finally:
                await self._take_back(connection)
        finally:
            self._room.release()

    async def close(self) -> None:
        """End those that nobody uses."""
        while self._idle:
            await self._idle.pop().close()

    async def _living(self) -> AsyncConnection:
        """One that did not end while nobody used it, as all do when the server starts again."""
        while self._idle:
            connection = self._idle.pop()
            if not (await driver_of(connection)).is_closed():
                return connection
            await connection.close()
        return await self._engine.connect()

    async def _take_back(self, connection: AsyncConnection) -> None:
        if not connection.invalidated and connection.in_transaction():
            await connection.rollback()  # SQLAlchemy itself was used, and calls that a transaction
        if connection.invalidated:
            await connection.close()
        else:
            self._idle.append(connection)

    async def _enter(self) -> None:
        try:
            async with asyncio.timeout(self._patience_s):
                await self._room.acquire()
        except TimeoutError as error:
            raise StorageUnavailableError(
                f"all {self._most} connections to the database were in use for {self._patience_s:g} s"
            ) from error
