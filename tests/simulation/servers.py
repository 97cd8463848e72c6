"""A server: an engine and its hub in one process, which may die, freeze, believe a wrong time, and start again."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Any, TypeVar

from animastor.engine.alarms import Alarm
from animastor.engine.config import EngineConfig
from animastor.engine.engine import Engine
from animastor.engine.errors import EngineFailedError, EngineStoppedError
from animastor.engine.ports import CoordinationUnavailableError
from animastor.hub.local import LocalHub

from .coordinating import NodeCoordination
from .media import PLANNER, REGISTRY
from .scheduling import Node, SimClock
from .stores import NodeDatabase, NodeShelf, NodeStorage, SimChecker

if TYPE_CHECKING:
    import asyncio

    from .world import World

T = TypeVar("T")
SKEWS = (0.0, 0.0, 0.0, 2.0, -2.0, 100.0, -100.0, 3600.0, -3600.0)


class Process(Node):
    """One life of a server."""

    def __init__(self, name: str, planner: int) -> None:
        super().__init__(name)
        self.replies: dict[asyncio.Future[Any], None] = {}
        self.engine: Engine | None = None
        self.hub: LocalHub | None = None
        self.storage: NodeStorage | None = None
        self.shelf: Any = None
        self.planner = planner
        self.context.run(PLANNER.set, {"planner": planner})


class Server:
    """A place where one process after the other lives."""

    def __init__(self, world: World, name: str, config: EngineConfig) -> None:
        self._world, self.name, self.config = world, name, config
        self._lives = 0
        self.process: Process | None = None

    @property
    def up(self) -> bool:
        """Whether somebody answers here."""
        return self.process is not None and self.process.hub is not None

    def start(self) -> None:
        """A new process, if none lives."""
        if self.process is not None:
            return
        self._lives += 1
        process = self.process = Process(f"{self.name}.{self._lives}", self._world.installed)
        if self._world.fleet and self._world.dice.on and self._lives > 1:
            process.skew = self._world.dice.pick("skew", SKEWS)
            if process.skew and not self._world.dice.comes("clock wrong", f"{process} by {process.skew:g} s"):
                process.skew = 0.0
        self._world.loop.create_task(self._live(process), context=process.context.copy())

    def crash(self) -> None:
        """The process is gone with its memory; whoever waits for its answer finds out."""
        process, self.process = self.process, None
        if process is None:
            return
        self._world.loop.kill(process)
        for reply in process.replies:
            self._world.loop.outside(self._world.dice.seconds("reset", (0.1, 1.0)), _refuse, reply)

    async def call(self, work: Callable[[Process], Awaitable[T]], patience: float = 45.0) -> T:
        """Have something done in the server's process. Raises `ConnectionError` when no answer comes, and as it did."""
        process, loop = self.process, self._world.loop
        if process is None or process.hub is None:
            await self._world.pause(0.2)
            raise ConnectionError("simulated: nobody listens there")
        reply = loop.create_future()
        process.replies[reply] = None
        task = loop.create_task(work(process), context=process.context.copy())
        task.add_done_callback(lambda done: _answer(reply, done), context=process.context.copy())
        timer = loop.call_later(patience, _refuse, reply)
        try:
            return await reply  # type: ignore[no-any-return]
        finally:
            timer.cancel()
            process.replies.pop(reply, None)

    async def _live(self, process: Process) -> None:
        world = self._world
        database = NodeDatabase(world.database, world.watch, world.dice)
        process.storage = storage = NodeStorage(database, world.dice, world.oracle.cursed, process.planner)
        coordination: Any = NodeCoordination(world.coordinator, world.watch, world.dice)
        process.shelf = shelf = NodeShelf(world.shelf, world.dice, world.watch)
        clock = SimClock(world.loop, process)
        engine = Engine(
            storage=storage,
            coordination=coordination,
            artifacts=shelf,
            checker=SimChecker(world.dice),
            registry=REGISTRY,
            clock=clock,
            config=self.config,
            new_dispatch_id=world.new_id,
            rng=world.jitter,
            report=lambda alarm: world.alarm(process, alarm),
        )
        try:
            await engine.start()
            process.engine = engine
            process.hub = LocalHub(coordination, engine.results, shelf, storage, media=REGISTRY, clock=clock)
            world.came_up(self)
            await engine.wait()
        except (EngineFailedError, EngineStoppedError, CoordinationUnavailableError):
            world.dice.came["server gave up"] += 1
        if self.process is process:
            self.crash()
            world.restart_later(self)


def told(alarm: Alarm) -> str:
    """An alarm as a line."""
    return f"{alarm.reason}: {alarm.message}"


def _answer(reply: asyncio.Future[Any], done: asyncio.Task[Any]) -> None:
    if reply.done():
        return
    if done.cancelled():
        _refuse(reply)
    elif (error := done.exception()) is not None:
        reply.set_exception(error)
    else:
        reply.set_result(done.result())


def _refuse(reply: asyncio.Future[Any]) -> None:
    if not reply.done():
        reply.set_exception(ConnectionError("simulated: no answer came"))
