"""The wire between a worker and the hub: messages and answers may be lost, doubled, late, and overtake one another."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import timedelta
from itertools import count
from typing import TYPE_CHECKING, Any

from animastor.protocol import Claim, Running, Worker

from .servers import Process, Server

if TYPE_CHECKING:
    from .world import World

LATE = (0.1, 1.0, 6.0, 35.0)
PATIENCE = 20.0  # seconds after which a worker takes a call for lost
_SENT = count()


class Wire:
    """`protocol.Hub` for one worker. It stays with one server until that does not answer."""

    def __init__(self, world: World, server: Server) -> None:
        self._world, self._server = world, server
        self._sent = 0
        self._newest = 0  # of what has arrived

    async def register(self, worker: Worker) -> None:
        """Make the worker known."""
        await self._call("register", worker)

    async def claim(self, worker: Worker, limit: Mapping[str, int], wait: timedelta) -> Sequence[Claim]:
        """Jobs, as they come out of a message."""
        claims = await self._call("claim", worker, limit, wait, patience=PATIENCE + wait.total_seconds())
        return [replace(claim) for claim in claims]

    async def heartbeat(self, worker: Worker, running: Sequence[Running]) -> Any:
        """Say what runs."""
        return await self._call("heartbeat", worker, running)

    async def fetch(self, claim: Claim, checksum: str) -> Any:
        """An input."""
        return await self._call("fetch", claim, checksum)

    async def upload(self, claim: Claim, path: Any) -> Any:
        """Send a file."""
        return await self._call("upload", claim, path)

    async def finish(self, claim: Claim, uploaded: Any) -> str:
        """Deliver a result."""
        answer: str = await self._call("finish", claim, uploaded)
        self._world.oracle.answered(claim, uploaded, answer)
        return answer

    async def fail(self, claim: Claim, failure: Any, code: str, message: str) -> str:
        """Report a failure."""
        answer: str = await self._call("fail", claim, failure, code, message)
        self._world.oracle.failed(claim, code, answer)
        return answer

    async def hand_back(self, worker: Worker, claims: Sequence[Claim]) -> None:
        """Give claims back."""
        await self._call("hand_back", worker, claims)

    async def goodbye(self, worker: Worker) -> None:
        """The worker ends."""
        await self._call("goodbye", worker)

    async def _call(self, name: str, *args: Any, patience: float = PATIENCE) -> Any:
        try:
            return await self._send(name, *args, patience=patience)
        except ConnectionError:
            if self._world.dice.stream("other server").random() < 0.3:
                self._server = self._world.dice.pick("other server", self._world.servers)
            raise

    async def _send(self, name: str, *args: Any, patience: float) -> Any:
        dice, world = self._world.dice, self._world
        self._sent += 1
        number, server = self._sent, self._server

        async def arrive(process: Process) -> Any:
            if number < self._newest:
                dice.came["message overtaken"] += 1
            self._newest = max(self._newest, number)
            answer = await getattr(process.hub, name)(*args)
            if name == "claim":
                world.watch.given_out(answer)
            return answer

        if dice.strikes("message doubled", name):
            late = dice.seconds("doubled", LATE)
            world.loop.outside(late, world.post, server, arrive)
        if dice.strikes("message lost", name):
            await asyncio.sleep(patience)
            raise ConnectionError("simulated: the message was lost")
        if dice.strikes("message late", name):
            late = dice.seconds("late", LATE)
            if late >= patience:  # it arrives when nobody waits for its answer any more
                world.loop.outside(late, world.post, server, arrive)
                await asyncio.sleep(patience)
                raise ConnectionError("simulated: the message did not arrive in time")
            await asyncio.sleep(late)
        answer = await server.call(arrive, patience)
        if dice.strikes("answer lost", name):
            await asyncio.sleep(patience)
            raise ConnectionError("simulated: the answer was lost")
        if dice.strikes("answer late", name):
            await asyncio.sleep(min(patience, dice.seconds("late", LATE)))
        return answer
