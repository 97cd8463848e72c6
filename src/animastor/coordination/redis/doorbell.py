"""Hears the bells that are rung in other processes and rings those of this one; and the other way round."""

from __future__ import annotations

import asyncio
import contextlib
import random
from collections.abc import Callable, Mapping

from redis.exceptions import RedisClusterException, RedisError

from animastor.coordination.redis.link import Client

LOOK_EVERY = 10.0  # seconds between two looks whether the connection still lives
LONGEST_PAUSE = 1.0
UNHEARD = (RedisError, RedisClusterException, OSError)


class Doorbell:
    """Listens on channels, from `start` to `close`; `bells` says what each of them rings here. `client` has two
    connections: one listens, one rings.

    Not hearing a ring costs a tick, no more: whoever waits looks again by itself. After every (re)connection each bell
    rings once, for what nobody could hear meanwhile.
    """

    def __init__(self, client: Client, me: str, bells: Mapping[str, Callable[[], None]]) -> None:
        self._client = client
        self._me = me
        self._bells = {channel.encode(): ring for channel, ring in bells.items()}
        self._listening: asyncio.Task[None] | None = None
        self._owed: set[str] = set()  # channels on which a ring is still to be sent
        self._ringing: asyncio.Task[None] | None = None

    def start(self) -> None:
        """Begin to listen; again is harmless. Within a running loop."""
        if self._listening is None or self._listening.done():
            self._listening = asyncio.ensure_future(self._listen())

    def ring(self, channel: str) -> None:
        """Ring in other processes soon, or never. Many rings at once are as one. Within a running loop."""
        self._owed.add(channel)
        if self._ringing is None or self._ringing.done():
            self._ringing = asyncio.ensure_future(self._send())

    async def _send(self) -> None:
        while self._owed:
            channel = self._owed.pop()
            with contextlib.suppress(*UNHEARD):
                await self._client.publish(channel, self._me)

    async def _listen(self) -> None:
        while True:
            with contextlib.suppress(*UNHEARD):
                await self._hear()
            await asyncio.sleep(random.uniform(0.0, LONGEST_PAUSE))

    async def _hear(self) -> None:
        await self._client.initialize()  # a cluster knows its servers only then
        async with self._client.pubsub() as subscribed:
            await subscribed.subscribe(*self._bells)
            while True:
                message = await subscribed.get_message(timeout=LOOK_EVERY)
                if message is not None and message["data"] != self._me.encode():
                    self._bells[message["channel"]]()

    async def close(self) -> None:
        """Send what is owed, and stop listening."""
        if self._ringing is not None:
            await self._ringing
        if self._listening is not None:
            self._listening.cancel()
            await asyncio.gather(self._listening, return_exceptions=True)
        await self._client.aclose()
