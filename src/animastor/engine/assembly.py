"""How the parts of an engine are put together. Each is given exactly what it uses."""

from __future__ import annotations

import secrets
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from random import Random

from animastor.engine.alarms import Report
from animastor.engine.checking import Inspector
from animastor.engine.collecting import Collector
from animastor.engine.completing import Successors
from animastor.engine.config import EngineConfig
from animastor.engine.deleting import Deletion
from animastor.engine.dispatching import Dispatcher
from animastor.engine.drifting import Drift
from animastor.engine.effort import Effort
from animastor.engine.entering import Entrance
from animastor.engine.eras import Eras
from animastor.engine.failing import Failing
from animastor.engine.gate import Gate
from animastor.engine.isolating import Isolation
from animastor.engine.jobs import Jobs
from animastor.engine.keeper import Keeper
from animastor.engine.looking import Lookout
from animastor.engine.observing import Observer
from animastor.engine.orders import Orders
from animastor.engine.pausing import Pauses
from animastor.engine.planning import Planner
from animastor.engine.ports import ArtifactStore, Checker, Coordination, Storage
from animastor.engine.presence import Presence
from animastor.engine.pruning import Pruning
from animastor.engine.reaching import Reach
from animastor.engine.reconciliation import Reconciliation
from animastor.engine.recovering import Recovery
from animastor.engine.releasing import Releaser
from animastor.engine.replanning import Replanner
from animastor.engine.requests import Requests
from animastor.engine.results import Results
from animastor.engine.scheduling import Scheduler
from animastor.engine.sweeping import Sweeper
from animastor.engine.taking import Takes
from animastor.engine.turns import Turns
from animastor.engine.verifying import Verification
from animastor.engine.waking import Bell, Changes
from animastor.media.registry import Registry
from animastor.protocol import Clock


@dataclass(frozen=True, slots=True)
class World:
    """Everything that an engine is given from outside."""

    storage: Storage
    coordination: Coordination
    artifacts: ArtifactStore
    checker: Checker
    registry: Registry
    clock: Clock
    config: EngineConfig
    new_dispatch_id: Callable[[], str]
    rng: Random
    report: Report


class Core:
    """What several parts of one engine share."""

    def __init__(self, world: World) -> None:
        storage, coordination, clock = world.storage, world.coordination, world.clock
        self.bell = Bell(clock)
        self.changes = Changes(clock)
        self.effort = Effort()
        self.observer = Observer(storage, clock)
        self.reach = Reach(world.report)
        self.turns = Turns(coordination, clock, self.reach, partial(secrets.token_hex, 8))
        self.releaser = Releaser(storage, coordination, self.reach)
        self.failing = Failing(storage, self.releaser, world.report)
        self.gate = Gate(
            artifacts=world.artifacts,
            clock=clock,
            observer=self.observer,
            report=world.report,
            fresh_s=world.config.gate_s,
        )
        self.isolation = Isolation(self.gate, self.reach, world.report)
        self.orders = Orders()
        self.jobs = Jobs(storage, world.registry, self.orders)
        self.planner = Planner(storage, world.registry)
        self.lookout = _lookout(world, self)
        self.entrance = _entrance(world, self)
        self.replanner = _replanner(world, self)
        self.successors = Successors(
            coordination=coordination,
            reach=self.reach,
            jobs=self.jobs,
            entrance=self.entrance,
            releaser=self.releaser,
            replanner=self.replanner,
            observer=self.observer,
            bell=self.bell,
            changes=self.changes,
        )
        self.pauses = Pauses(
            storage=storage, coordination=coordination, successors=self.successors, batch=world.config.batch
        )


def _entrance(world: World, core: Core) -> Entrance:
    return Entrance(
        storage=world.storage,
        coordination=world.coordination,
        releaser=core.releaser,
        observer=core.observer,
        reach=core.reach,
        report=world.report,
        backoff_s=world.config.enqueue_backoff_s,
        batch=world.config.batch,
    )


def _lookout(world: World, core: Core) -> Lookout:
    return Lookout(
        storage=world.storage,
        planner=core.planner,
        jobs=core.jobs,
        failing=core.failing,
        clock=world.clock,
        bell=core.bell,
        report=world.report,
        new_dispatch_id=world.new_dispatch_id,
    )


def _replanner(world: World, core: Core) -> Replanner:
    return Replanner(
        storage=world.storage,
        coordination=world.coordination,
        planner=core.planner,
        jobs=core.jobs,
        entrance=core.entrance,
        releaser=core.releaser,
        failing=core.failing,
        turns=core.turns,
        bell=core.bell,
        batch=world.config.batch,
    )


def results(world: World, core: Core) -> Results:
    """What the hub delivers to."""
    return Results(
        storage=world.storage,
        inspector=Inspector(world.storage, world.artifacts, world.checker, core.gate, world.registry),
        successors=core.successors,
        failing=core.failing,
        effort=core.effort,
        ordered=core.orders,
        clock=world.clock,
        rng=world.rng,
        limit=world.config.results_batch,
    )


def requests(world: World, core: Core) -> Requests:
    """What people ask through."""
    return Requests(
        storage=world.storage,
        registry=world.registry,
        successors=core.successors,
        pauses=core.pauses,
        replanner=core.replanner,
        effort=core.effort,
        clock=world.clock,
        bell=core.bell,
        changes=core.changes,
        config=world.config,
    )


def scheduler(world: World, core: Core, repairs: Repairs) -> Scheduler:
    """The tick."""
    dispatcher = Dispatcher(
        storage=world.storage,
        coordination=world.coordination,
        lookout=core.lookout,
        jobs=core.jobs,
        entrance=core.entrance,
        releaser=core.releaser,
        failing=core.failing,
        observer=core.observer,
        batch=world.config.batch,
    )
    return Scheduler(
        storage=world.storage,
        coordination=world.coordination,
        registry=world.registry,
        dispatcher=dispatcher,
        replanner=core.replanner,
        successors=core.successors,
        eras=repairs.eras,
        gate=core.gate,
        isolation=core.isolation,
        turns=core.turns,
        clock=world.clock,
        bell=core.bell,
        changes=core.changes,
        config=world.config,
    )


class Repairs:
    """What keeper and reconciliation share."""

    def __init__(self, world: World, core: Core) -> None:
        self.eras = Eras(
            storage=world.storage,
            coordination=world.coordination,
            gate=core.gate,
            reach=core.reach,
            observer=core.observer,
            window_s=world.config.era_window_s,
        )
        self.recovery = Recovery(
            storage=world.storage,
            coordination=world.coordination,
            jobs=core.jobs,
            entrance=core.entrance,
            successors=core.successors,
            observer=core.observer,
            batch=world.config.batch,
        )
        self.collector = Collector(world.storage, world.artifacts, world.config.batch)
        self.presence = Presence(
            storage=world.storage,
            artifacts=world.artifacts,
            observer=core.observer,
            report=world.report,
            batch=world.config.batch,
        )
        self.verification = Verification(
            storage=world.storage,
            artifacts=world.artifacts,
            observer=core.observer,
            report=world.report,
            clock=world.clock,
            rng=world.rng,
        )


def keeper(world: World, core: Core, repairs: Repairs) -> Keeper:
    """The keeper."""
    sweeper = Sweeper(
        storage=world.storage,
        coordination=world.coordination,
        successors=core.successors,
        failing=core.failing,
        observer=core.observer,
        rng=world.rng,
        batch=world.config.batch,
    )
    return Keeper(
        storage=world.storage,
        coordination=world.coordination,
        registry=world.registry,
        sweeper=sweeper,
        releaser=core.releaser,
        recovery=repairs.recovery,
        replanner=core.replanner,
        pauses=core.pauses,
        eras=repairs.eras,
        gate=core.gate,
        isolation=core.isolation,
        clock=world.clock,
        config=world.config,
    )


def takes(world: World, core: Core) -> Takes:
    """What chooses, pins and supplies."""
    return Takes(
        storage=world.storage,
        artifacts=world.artifacts,
        checker=world.checker,
        planner=core.planner,
        bell=core.bell,
    )


def deletion(world: World, core: Core, asking: Requests, collector: Collector) -> Deletion:
    """What deletes."""
    return Deletion(storage=world.storage, requests=asking, successors=core.successors, collector=collector)


def reconciliation(world: World, core: Core, repairs: Repairs, asking: Requests, deleting: Deletion) -> Reconciliation:
    """Reconciliation."""
    return Reconciliation(
        eras=repairs.eras,
        recovery=repairs.recovery,
        requests=asking,
        presence=repairs.presence,
        verification=repairs.verification,
        collector=repairs.collector,
        deletion=deleting,
        drift=Drift(world.storage, core.observer, core.bell),
        pruning=Pruning(world.storage),
        gate=core.gate,
        isolation=core.isolation,
        turns=core.turns,
        clock=world.clock,
        config=world.config,
    )
