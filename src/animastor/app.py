"""The composition root: the one place where real things are put together (DESIGN, layout); its stores are `stores`.

`Reading` opens an installation to look at it. `Driving` is one with everything that works on it in this process. Of a
home, whoever makes one holds its lock; of shared stores there may be many, each with its `Role`.
"""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from enum import Enum, auto
from pathlib import Path
from random import Random

from animastor.clock import SystemClock
from animastor.config import Settings
from animastor.engine.alarms import Alarm
from animastor.engine.config import EngineConfig
from animastor.engine.engine import Engine
from animastor.engine.ports import ArtifactStore, Checker, Coordination, Storage
from animastor.hub.local import LocalHub
from animastor.media.registry import Registry, installed
from animastor.protocol import Clock, Hub, Worker
from animastor.room import Room, WatchedRunner, WatchedStore
from animastor.storage.sql import SqlStorage
from animastor.stores import coordination_of, own_artifacts, storage_of
from animastor.tuning import tune
from animastor.workers.backends import Backends, cpu_backends
from animastor.workers.checking import ChildChecker
from animastor.workers.children import Children
from animastor.workers.loop import WorkerLoop
from animastor.workers.work import Runner
from animastor.workers.workdir import Workdir

WORK = "work"
CHECKERS = 1  # children that only look at bytes; they start when there is something to look at
LANE = "system"


class Role(Enum):
    """What a process does for an installation. The one that drives a home does all of it, as a replica does."""

    REPLICA = auto()  # schedules, keeps, reconciles and works
    WORKER = auto()  # works alone, and takes its own results in
    KEEPER = auto()  # schedules, keeps and reconciles; makes nothing, so nothing starts
    CLIENT = auto()  # asks and watches


@dataclass(frozen=True, slots=True)
class Reading:
    """A home that is looked at: its database, its artifacts, and the media types of this installation."""

    settings: Settings
    storage: SqlStorage
    artifacts: ArtifactStore
    registry: Registry
    clock: Clock


@dataclass(frozen=True, slots=True)
class Driving:
    """A home that this process drives. `children` also does exports, which are not seen by `jobs`."""

    reading: Reading
    engine: Engine
    worker: WorkerLoop
    coordination: Coordination
    children: Children
    jobs: WatchedRunner
    backends: Backends
    room: Room
    scratch: Path
    exporting: asyncio.Lock = field(default_factory=asyncio.Lock)  # held by the one export that is being written


@asynccontextmanager
async def reading(settings: Settings, *, writable: bool, asks: bool = False) -> AsyncIterator[Reading]:
    """Open the stores. `writable` makes and migrates those of a home (only the holder of its lock may), and makes
    shared ones. `asks`: for a process that only asks others, which does not say where artifacts are.
    """
    clock, registry = SystemClock(), installed()
    storage = await storage_of(settings, registry, clock, writable=writable)
    try:
        artifacts = await own_artifacts(settings, storage, makes=writable and not asks)
        yield Reading(settings, storage, artifacts, registry, clock)
    finally:
        await storage.close()


def compose_engine(
    *,
    storage: Storage,
    coordination: Coordination,
    artifacts: ArtifactStore,
    checker: Checker,
    registry: Registry,
    clock: Clock,
    settings: Settings,
    report: Callable[[Alarm], None],
    role: Role = Role.REPLICA,
) -> Engine:
    """An engine with the settings of this installation."""
    config = EngineConfig(
        tick_s=settings.tick_s,
        keeper_s=settings.keeper_s,
        reconcile_s=settings.reconcile_s,
        lanes=(LANE,),
        era_window_s=settings.era_window_s if settings.distributed else 0.0,
        patient=settings.distributed,
        schedules=role in (Role.REPLICA, Role.KEEPER),
    )
    return Engine(
        storage=storage,
        coordination=coordination,
        artifacts=artifacts,
        checker=checker,
        registry=registry,
        clock=clock,
        config=config,
        report=report,
    )


def compose_worker(
    hub: Hub,
    runner: Runner,
    backends: Backends,
    *,
    clock: Clock,
    workdir: Workdir,
    instance: str,
    settings: Settings,
) -> WorkerLoop:
    """The in-process worker: every CPU backend, with the children as its capacity."""
    worker = Worker("local", instance, backends.capacity(runner.count), (LANE,))
    return WorkerLoop(
        hub, worker, runner, backends, clock=clock, workdir=workdir, random=Random(), heartbeat_s=settings.heartbeat_s
    )


@asynccontextmanager
async def driving(
    opened: Reading, report: Callable[[Alarm], None], role: Role = Role.REPLICA
) -> AsyncIterator[Driving]:
    """Everything that works on an installation, started; stopped in order at the end, with no child left.

    Raises what the engine raises at its start, and `OSError` when the work folder cannot be made.
    """
    tune()
    settings, clock, registry = opened.settings, opened.clock, opened.registry
    instance = secrets.token_hex(8)
    async with AsyncExitStack() as stack:
        workdir = Workdir(settings.home / WORK, instance)
        stack.callback(workdir.close)
        children = Children(settings.jobs, workdir.scratch)
        stack.push_async_callback(children.aclose)
        checkers = Children(CHECKERS, workdir.scratch, nice=0)
        stack.push_async_callback(checkers.aclose)
        room = Room()
        jobs = WatchedRunner(children, settings.home / WORK, room)
        artifacts = WatchedStore(opened.artifacts, room)
        installation = await opened.storage.installation()
        coordination = await coordination_of(settings, registry, clock, stack, installation)
        engine = compose_engine(
            storage=opened.storage,
            coordination=coordination,
            artifacts=artifacts,
            checker=ChildChecker(checkers, registry, workdir.scratch),
            registry=registry,
            clock=clock,
            settings=settings,
            report=report,
            role=role,
        )
        hub = LocalHub(coordination, engine.results, artifacts, opened.storage, media=registry, clock=clock)
        backends = Backends(cpu_backends(piper=settings.piper, piper_voices=settings.piper_voices), clock)
        loop = compose_worker(hub, jobs, backends, clock=clock, workdir=workdir, instance=instance, settings=settings)
        await engine.start()
        stack.push_async_callback(engine.stop)
        if role in (Role.REPLICA, Role.WORKER):
            serving = asyncio.create_task(loop.run(), name="worker")
            stack.push_async_callback(_end_worker, loop, serving)
        yield Driving(opened, engine, loop, coordination, children, jobs, backends, room, workdir.scratch)


async def _end_worker(loop: WorkerLoop, serving: asyncio.Task[None]) -> None:
    loop.stop()
    await asyncio.wait({serving})
    if not serving.cancelled():
        serving.result()
