"""Hears the bell that scripts ring in other processes, and rings the one of this process."""

from __future__ import annotations

import asyncio
import contextlib
import random
from collections.abc import Callable

from redis.asyncio import Redis
from redis.exceptions import RedisError

LOOK_EVERY = 10.0  # seconds between two looks whether the connection still lives
LONGEST_PAUSE = 1.0


class Doorbell:
    """Listens on a channel, from `start` to `close`. Not hearing a ring costs a tick, no more: whoever waits looks
    again by itself. After every (re)connection it rings once, for what nobody could hear meanwhile.
    """

    def __init__(self, client: Redis, channel: str, me: str, ring: Callable[[], None]) -> None:
        self._client = client
        self._channel = channel
        self._me = me.encode()
        self._ring = ring
        self._listening: asyncio.Task[None] | None = None

    def start(self) -> None:
        """Begin to listen; again is harmless."""
        if self._listening is None or self._listening.done():
            self._listening = asyncio.ensure_future(self._listen())

    async def _listen(self) -> None:
        while True:
            with contextlib.suppress(RedisError, OSError):
                await self._hear()
            await asyncio.sleep(random.uniform(0.0, LONGEST_PAUSE))

    async def _hear(self) -> None:
        async with self._client.pubsub() as subscribed:
            await subscribed.subscribe(self._channel)
            while True:
                message = await subscribed.get_message(timeout=LOOK_EVERY)
                if message is not None and message["data"] != self._me:
                    self._ring()

    async def close(self) -> None:
        """Stop listening."""
        if self._listening is not None:
            self._listening.cancel()
            await asyncio.gather(self._listening, return_exceptions=True)
        await self._client.aclose()
