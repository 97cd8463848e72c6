"""The composition root: the one place where real things are put together (DESIGN, layout).

`Reading` opens a home to look at it. `Driving` is a home with everything that works on it: engine, coordination,
worker and hub, in this process; whoever makes one holds the home's lock.
"""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from random import Random

from animastor.clock import SystemClock
from animastor.config import Settings
from animastor.coordination.limits import Limits
from animastor.coordination.memory import MemoryCoordination
from animastor.engine.alarms import Alarm
from animastor.engine.config import EngineConfig
from animastor.engine.engine import Engine
from animastor.engine.ports import ArtifactStore, Checker, Coordination, Storage
from animastor.hub.local import LocalHub
from animastor.media.registry import Registry, installed
from animastor.protocol import Clock, Hub, Worker
from animastor.room import Room, WatchedRunner, WatchedStore
from animastor.storage.folder import FolderStore
from animastor.storage.sql import SqlStorage, open_home
from animastor.tuning import tune
from animastor.workers.backends import Backends, cpu_backends
from animastor.workers.checking import ChildChecker
from animastor.workers.children import Children
from animastor.workers.loop import WorkerLoop
from animastor.workers.work import Runner
from animastor.workers.workdir import Workdir

DATABASE = "animastor.db"
ARTIFACTS = "artifacts"
WORK = "work"
CHECKERS = 1  # children that only look at bytes; they start when there is something to look at
LANE = "system"
DAY_S = 86_400.0


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
    children: Children
    jobs: WatchedRunner
    backends: Backends
    room: Room
    scratch: Path
    exporting: asyncio.Lock = field(default_factory=asyncio.Lock)  # held by the one export that is being written


def artifact_store(settings: Settings, *, create: bool) -> FolderStore:
    """The folder of artifacts of a home."""
    return FolderStore(
        settings.home / ARTIFACTS,
        low_fraction=settings.disk_low_fraction,
        low_bytes=settings.disk_low_bytes,
        create=create,
    )


@asynccontextmanager
async def reading(settings: Settings, *, writable: bool) -> AsyncIterator[Reading]:
    """Open a home's stores. `writable` makes and migrates them; only the holder of the home's lock may."""
    clock, registry = SystemClock(), installed()
    storage = await open_home(
        settings.home / DATABASE, registry, clock, writable=writable, kept_s=settings.keep_unused_days * DAY_S
    )
    try:
        yield Reading(settings, storage, artifact_store(settings, create=writable), registry, clock)
    finally:
        await storage.close()


def coordination_limits(registry: Registry, settings: Settings) -> Limits:
    """The limits of a coordination store, by the settings and the declarations of this installation."""
    return Limits.of(registry, lease_ttl=settings.lease_ttl_s, silence=settings.silent_s, keeper=settings.keeper_s)


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
) -> Engine:
    """An engine with the settings of this installation."""
    config = EngineConfig(
        tick_s=settings.tick_s,
        keeper_s=settings.keeper_s,
        reconcile_s=settings.reconcile_s,
        lanes=(LANE,),
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
async def driving(opened: Reading, report: Callable[[Alarm], None]) -> AsyncIterator[Driving]:
    """Everything that works on a home, started; stopped in order at the end, with no child left.

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
        artifacts = WatchedStore(opened.artifacts, settings.home / ARTIFACTS, room)
        coordination = MemoryCoordination(clock, coordination_limits(registry, settings))
        engine = compose_engine(
            storage=opened.storage,
            coordination=coordination,
            artifacts=artifacts,
            checker=ChildChecker(checkers, registry, workdir.scratch),
            registry=registry,
            clock=clock,
            settings=settings,
            report=report,
        )
        hub = LocalHub(coordination, engine.results, artifacts, opened.storage, media=registry, clock=clock)
        backends = Backends(cpu_backends(piper=settings.piper, piper_voices=settings.piper_voices), clock)
        loop = compose_worker(hub, jobs, backends, clock=clock, workdir=workdir, instance=instance, settings=settings)
        await engine.start()
        stack.push_async_callback(engine.stop)
        serving = asyncio.create_task(loop.run(), name="worker")
        stack.push_async_callback(_end_worker, loop, serving)
        yield Driving(opened, engine, children, jobs, backends, room, workdir.scratch)


async def _end_worker(loop: WorkerLoop, serving: asyncio.Task[None]) -> None:
    loop.stop()
    await asyncio.wait({serving})
    if not serving.cancelled():
        serving.result()
