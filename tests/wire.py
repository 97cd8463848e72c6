"""A wire to a PostgreSQL server that loses the answers of commits: the server has committed, the client never hears.

It looks for nothing but `COMMIT` as asyncpg sends it, passes it on, waits for the server's word, and cuts the
connection instead of telling.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from urllib.parse import parse_qs, urlsplit

COMMIT = b"COMMIT;\x00"
COMMITTED = b"COMMIT\x00Z\x00\x00\x00\x05I"  # the command is complete, and the session idle


@dataclass
class Wire:
    """`lose` is asked at each commit whether its answer is lost; `commits` and `lost` are counted."""

    upstream: str
    lose: Callable[[], bool] = lambda: False
    commits: int = 0
    lost: int = 0
    url: str = ""
    _cut: set[asyncio.StreamWriter] = field(default_factory=set)
    _carrying: set[asyncio.Task[None]] = field(default_factory=set)

    async def connected(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Carry one connection until either side ends it."""
        task = asyncio.create_task(self._carry(reader, writer))
        self._carrying.add(task)
        task.add_done_callback(self._carrying.discard)
        await asyncio.wait({task})

    async def close(self) -> None:
        """End all connections."""
        for task in self._carrying:
            task.cancel()
        if self._carrying:
            await asyncio.wait(set(self._carrying))

    async def _carry(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            answers, questions = await _open(self.upstream)
        except OSError:
            await _closed(writer)
            return
        back = asyncio.create_task(self._answers(answers, writer))
        try:
            with suppress(OSError):
                await self._questions(reader, questions, writer)
        finally:
            back.cancel()
            await asyncio.wait({back})
            await _closed(questions)
            await _closed(writer)
            self._cut.discard(writer)

    async def _questions(
        self, reader: asyncio.StreamReader, questions: asyncio.StreamWriter, writer: asyncio.StreamWriter
    ) -> None:
        while data := await reader.read(65_536):
            if data.endswith(COMMIT):
                self.commits += 1
                if self.lose():
                    self._cut.add(writer)
            questions.write(data)
            await questions.drain()

    async def _answers(self, answers: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with suppress(OSError):
            while data := await answers.read(65_536):
                if writer in self._cut and data.endswith(COMMITTED):
                    self.lost += 1
                    break
                writer.write(data)
                await writer.drain()
        writer.close()


async def _closed(writer: asyncio.StreamWriter) -> None:
    writer.close()
    with suppress(OSError):
        await writer.wait_closed()


async def _open(url: str) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
    parts = urlsplit(url)
    folder = parse_qs(parts.query).get("host", [""])[0]
    if folder.startswith("/"):
        return await asyncio.open_unix_connection(f"{folder}/.s.PGSQL.{parts.port or 5432}")
    return await asyncio.open_connection(parts.hostname, parts.port or 5432)


@asynccontextmanager
async def wired(url: str, lose: Callable[[], bool] = lambda: False) -> AsyncIterator[Wire]:
    """A wire in front of the server of a URL (SQLAlchemy's); `Wire.url` is the way through it."""
    wire = Wire(url, lose)
    server = await asyncio.start_server(wire.connected, "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]
    parts = urlsplit(url)
    user = parts.netloc.rpartition("@")[0] or "postgres"
    wire.url = f"{parts.scheme}://{user}@127.0.0.1:{port}{parts.path}"
    try:
        yield wire
    finally:
        server.close()
        await wire.close()
        await server.wait_closed()
