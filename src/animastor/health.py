"""What a process that serves says of itself over HTTP: `/healthz` (it runs) and `/readyz` (it can do its work).

Small on purpose: one answer for each connection, no body is read. People's and workers' calls come elsewhere.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager, suppress
from http import HTTPStatus

import orjson

HEAD_BYTES = 8192
HEAD_S, CHECK_S = 5.0, 2.0  # for the question to arrive; for each of what is looked at to answer
OK = "ok"

Check = Callable[[], Awaitable[str]]


class AddressError(Exception):
    """Raised for an address that cannot be listened at; the text is a sentence without its full stop."""


def parse_address(text: str) -> tuple[str, int]:
    """`host:port`, `:port` (every address of this machine) or `[v6]:port`. Raises `AddressError`."""
    host, colon, port = text.rpartition(":")
    if not colon or not port.isascii() or not port.isdigit() or int(port) > 65535:
        raise AddressError(f"{text!r} is no address: write host:port, such as 127.0.0.1:8080")
    return host.removeprefix("[").removesuffix("]"), int(port)


class Health:
    """Answers `/healthz` and `/readyz`. `checks` by name: each says `ok`, or in a few words what is wrong."""

    def __init__(self, checks: Mapping[str, Check]) -> None:
        self.checks = checks
        self.draining = False

    @asynccontextmanager
    async def listening(self, host: str, port: int) -> AsyncIterator[tuple[str, int]]:
        """Listen; the address that it became. Raises `AddressError`."""
        try:
            server = await asyncio.start_server(self._serve, host or None, port, limit=HEAD_BYTES)
        except OSError as error:
            raise AddressError(f"{host}:{port} cannot be listened at: {error.strerror or error}") from error
        try:
            bound = server.sockets[0].getsockname()
            yield bound[0], bound[1]
        finally:
            server.close()

    async def report(self) -> tuple[HTTPStatus, Mapping[str, str]]:
        """What `/readyz` answers."""
        told = dict(zip(self.checks, await asyncio.gather(*map(_asked, self.checks.values())), strict=True))
        if self.draining:
            told["process"] = "draining"
        ready = all(word == OK for word in told.values())
        return HTTPStatus.OK if ready else HTTPStatus.SERVICE_UNAVAILABLE, told

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with suppress(OSError, TimeoutError, asyncio.IncompleteReadError, asyncio.LimitOverrunError):
            async with asyncio.timeout(HEAD_S):
                head = await reader.readuntil(b"\r\n\r\n")
            status, told = await self._answer(head.split(b"\r\n", 1)[0].decode("latin-1").split(" "))
            body = orjson.dumps(told)
            writer.write(
                f"HTTP/1.1 {status.value} {status.phrase}\r\nContent-Type: application/json\r\n"
                f"Content-Length: {len(body)}\r\nCache-Control: no-store\r\nConnection: close\r\n\r\n".encode()
            )
            if not head.startswith(b"HEAD "):
                writer.write(body)
            await writer.drain()
        writer.close()

    async def _answer(self, line: list[str]) -> tuple[HTTPStatus, Mapping[str, str]]:
        method, path = (line[0], line[1].partition("?")[0]) if len(line) == 3 else ("", "")
        if not method:
            return HTTPStatus.BAD_REQUEST, {"error": "bad_request"}
        if path not in ("/healthz", "/readyz"):
            return HTTPStatus.NOT_FOUND, {"error": "not_found"}
        if method not in ("GET", "HEAD"):
            return HTTPStatus.METHOD_NOT_ALLOWED, {"error": "method_not_allowed"}
        return (HTTPStatus.OK, {"process": OK}) if path == "/healthz" else await self.report()


async def _asked(check: Check) -> str:
    try:
        async with asyncio.timeout(CHECK_S):
            return await check()
    except TimeoutError:
        return f"no answer within {CHECK_S:g} s"
    except Exception as error:  # noqa: BLE001 - said to whoever asks
        return type(error).__name__
