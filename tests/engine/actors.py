"""Engines that stop themselves at any step, and workers that then find another one."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

from stage import Stage

from animastor.engine.engine import Engine
from animastor.engine.errors import EngineStoppedError
from animastor.protocol import FailureType, Ticket, Uploaded


class Port:
    """A port of which every call is a place where its engine may be stopped: before it, or after it."""

    def __init__(self, port: object, step: Callable[[], None]) -> None:
        self._port = port
        self._step = step

    def __getattr__(self, name: str) -> Any:
        call = getattr(self._port, name)
        if not asyncio.iscoroutinefunction(call):
            return call

        async def stoppable(*args: Any, **kwargs: Any) -> Any:
            self._step()
            await asyncio.sleep(0)
            answer = await call(*args, **kwargs)
            self._step()
            await asyncio.sleep(0)
            return answer

        return stoppable


class Actor:
    """An engine that stops itself at its n-th step."""

    def __init__(self, stage: Stage, name: str, stop_at: int | None) -> None:
        self.steps = 0
        self._stop_at = stop_at
        storage, coordination = stage.storage, stage.coordination
        stage.storage, stage.coordination = Port(storage, self._step), Port(coordination, self._step)  # type: ignore[assignment]
        self.engine: Engine = stage.engine(name)
        stage.storage, stage.coordination = storage, coordination
        self.alive = True

    def _step(self) -> None:
        self.steps += 1
        if self.steps == self._stop_at:
            self.alive = False
            asyncio.ensure_future(self.engine.stop())  # noqa: RUF006 - the loop of the test keeps it


class AnyResults:
    """Delivers to an engine that is alive, as a worker does that finds another replica."""

    def __init__(self, actors: list[Actor]) -> None:
        self._actors = actors

    async def finish(self, ticket: Ticket, uploaded: Uploaded, first: Awaitable[None]) -> Any:
        await first
        return await self._any(lambda engine: engine.results.finish(ticket, uploaded))

    async def fail(self, ticket: Ticket, failure: FailureType, code: str, message: str) -> Any:
        return await self._any(lambda engine: engine.results.fail(ticket, failure, code, message))

    async def _any(self, call: Callable[[Engine], Awaitable[Any]]) -> Any:
        for actor in self._actors:
            if actor.alive:
                return await call(actor.engine)
        raise EngineStoppedError
