"""The way to the server: scripts by SHA, bounded retries with jitter, one clear error when it cannot be reached."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Awaitable, Callable, Coroutine, Sequence
from contextlib import nullcontext
from typing import Any, Protocol

from redis.asyncio import BlockingConnectionPool, Redis, RedisCluster
from redis.asyncio.retry import Retry
from redis.backoff import NoBackoff
from redis.exceptions import (
    ClusterError,
    MovedError,
    NoScriptError,
    OutOfMemoryError,
    ReadOnlyError,
    RedisClusterException,
    TryAgainError,
)
from redis.exceptions import (
    ConnectionError as RedisConnectionError,
)
from redis.exceptions import (
    TimeoutError as RedisTimeoutError,
)

from animastor.coordination.redis.scripts import Script
from animastor.coordination.redis.server import OLDEST, Server, server_of
from animastor.engine.ports import CoordinationUnavailableError

PASSING = (
    RedisConnectionError,
    RedisTimeoutError,
    ReadOnlyError,
    TryAgainError,
    MovedError,
    ClusterError,
    RedisClusterException,
    OSError,
)
CLUSTER = "+cluster"  # in the scheme of a URL: ask that server for the others

ATTEMPTS = 6
FIRST_PAUSE, LONGEST_PAUSE = 0.05, 1.0  # seconds, doubling; the pause is a random part of it (full jitter)
CONNECTIONS = 16  # at once; whoever needs one more waits for it
CONNECT_TIMEOUT, ANSWER_TIMEOUT = 2.0, 5.0  # seconds

Abandoned = Callable[[bytes], Coroutine[Any, Any, None]]


class Link(Protocol):
    """Runs scripts, each call one atomic step."""

    async def run(self, script: Script, keys: Sequence[str], args: Sequence[Any], lost: Abandoned | None = None) -> Any:
        """The script's answer. `lost` gets it when the caller is cancelled meanwhile: what was given is not lost.

        Raises `CoordinationUnavailableError`.
        """
        ...

    async def close(self) -> None:
        """Let the connections go."""
        ...


Client = Redis | RedisCluster


def connect(url: str, connections: int = CONNECTIONS) -> Client:
    """A client that has at most so many connections to a server: `redis://`, `rediss://`, `unix://`; of a cluster
    that has several, `redis+cluster://`, `rediss+cluster://` and one of them. Nothing is sent before the first call.

    One of a single server waits for a free connection; at a cluster `RedisLink` does.
    """
    options: dict[str, Any] = {
        "max_connections": connections,
        "socket_connect_timeout": CONNECT_TIMEOUT,
        "socket_timeout": ANSWER_TIMEOUT,
        "health_check_interval": 15,
        "retry": Retry(NoBackoff(), 0),  # `RedisLink` repeats, and says how often
    }
    scheme, _, rest = url.partition("://")
    if scheme.endswith(CLUSTER):
        return RedisCluster.from_url(f"{scheme.removesuffix(CLUSTER)}://{rest}", **options)
    return Redis.from_pool(BlockingConnectionPool.from_url(url, timeout=ANSWER_TIMEOUT, **options))


class RedisLink:
    """`Link` over a client of redis-py: calls by SHA, loads a script that the server does not know, repeats a call
    whose connection failed. Every script may be repeated: what it did, it does not do again, or its answer is kept.
    """

    def __init__(self, client: Client, *, attempts: int = ATTEMPTS) -> None:
        self._client = client
        self._room = asyncio.Semaphore(CONNECTIONS) if isinstance(client, RedisCluster) else nullcontext()
        self._execute: Callable[..., Awaitable[Any]] = client.execute_command
        self._attempts = attempts
        self._server: Server | None = None
        self._behind: set[asyncio.Task[None]] = set()

    async def run(self, script: Script, keys: Sequence[str], args: Sequence[Any], lost: Abandoned | None = None) -> Any:
        """The script's answer. `lost` gets it when the caller is cancelled meanwhile.

        Raises `CoordinationUnavailableError` when the server cannot be reached, or cannot write.
        """
        if lost is None:
            return await self._run(script, keys, args)
        call = asyncio.ensure_future(self._run(script, keys, args))
        try:
            return await asyncio.shield(call)
        except asyncio.CancelledError:
            behind = asyncio.ensure_future(_hand_over(call, lost))
            self._behind.add(behind)
            behind.add_done_callback(self._behind.discard)
            raise

    async def _run(self, script: Script, keys: Sequence[str], args: Sequence[Any]) -> Any:
        pause = FIRST_PAUSE
        for attempt in range(1, self._attempts + 1):
            try:
                return await self._call(script, keys, args)
            except OutOfMemoryError as error:
                raise CoordinationUnavailableError(
                    f"the coordination store is full ({error}); give it more memory, and the policy `noeviction`"
                ) from error
            except PASSING as error:
                if attempt == self._attempts:
                    raise CoordinationUnavailableError(
                        f"the coordination store cannot be reached: {error or type(error).__name__} "
                        f"({attempt} attempts at `{script.name}`); is Redis running, and is its URL right?"
                    ) from error
            await asyncio.sleep(random.uniform(0.0, pause))
            pause = min(2 * pause, LONGEST_PAUSE)
        raise AssertionError("the last attempt returns or raises")

    async def _call(self, script: Script, keys: Sequence[str], args: Sequence[Any]) -> Any:
        async with self._room:
            if self._server is None:
                await self._meet()
            try:
                return await self._execute("EVALSHA", script.sha, len(keys), *keys, *args)
            except NoScriptError:
                return await self._execute("EVAL", script.text, len(keys), *keys, *args)

    async def _meet(self) -> None:
        """Before the first call. Raises `CoordinationUnavailableError` for a server that is too old."""
        server = await server_of(self._execute)
        if server.too_old:
            raise CoordinationUnavailableError(
                f"the coordination store is {server.name} {server.version}: Animastor needs Redis "
                f"{'.'.join(map(str, OLDEST))} or newer, or Valkey"
            )
        self._server = server

    async def close(self) -> None:
        """Let what was abandoned be handed over, and the connections go."""
        await asyncio.gather(*self._behind, return_exceptions=True)
        await self._client.aclose()


async def _hand_over(call: asyncio.Future[Any], lost: Abandoned) -> None:
    try:
        await lost(await call)
    except CoordinationUnavailableError:
        return  # then its silence tells: a sweep finds it
