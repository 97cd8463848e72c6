"""The engine: what runs, in which order it starts, and how it ends.

Given its two ports, its artifact store, clock, randomness and ids from outside, it knows no other world. Several
engines may work on one database and one coordination store; stopping one at any moment loses nothing.
"""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import Callable, Sequence
from contextlib import suppress
from math import inf
from random import Random

from animastor.ending import ended
from animastor.engine.alarms import Alarm, Report
from animastor.engine.assembly import (
    Core,
    Repairs,
    World,
    deletion,
    keeper,
    reconciliation,
    requests,
    results,
    scheduler,
    takes,
)
from animastor.engine.config import EngineConfig
from animastor.engine.errors import EngineFailedError, EngineStoppedError
from animastor.engine.explaining import Explainer
from animastor.engine.handing import Handing
from animastor.engine.patience import Loop, Patience
from animastor.engine.ports import ArtifactStore, Checker, Coordination, Storage, StorageUnavailableError
from animastor.media.registry import Registry
from animastor.protocol import Clock

_DRAWN = 256  # dispatch ids at a time


OTHERS_S = 10.0  # how long an edit waits for another process to plan it
LOOK_S = 1.0  # between two looks without an event of this engine: another one may have planned


def _unheard(alarm: Alarm) -> None:
    """Nobody listens; the journal still tells."""


class DispatchIds:
    """128 random bits in hexadecimal digits at each call. They are drawn from the system many at a time."""

    def __init__(self) -> None:
        self._drawn: list[str] = []

    def __call__(self) -> str:
        """The next one."""
        if not self._drawn:
            digits = secrets.token_hex(16 * _DRAWN)
            self._drawn = [digits[at : at + 32] for at in range(0, len(digits), 32)]
        return self._drawn.pop()


class Engine:
    """The heart. `results` is for the hub, `requests` for whoever asks; the rest runs by itself.

    `new_dispatch_id` gives 128 random bits in hexadecimal digits (else `DispatchIds`); `rng` draws jitter only.
    `report` is called with each alarm.
    """

    def __init__(
        self,
        *,
        storage: Storage,
        coordination: Coordination,
        artifacts: ArtifactStore,
        checker: Checker,
        registry: Registry,
        clock: Clock,
        config: EngineConfig | None = None,
        new_dispatch_id: Callable[[], str] | None = None,
        rng: Random | None = None,
        report: Report = _unheard,
    ) -> None:
        world = World(
            storage,
            coordination,
            artifacts,
            checker,
            registry,
            clock,
            config or EngineConfig(),
            new_dispatch_id or DispatchIds(),
            rng or Random(),
            report,
        )
        core = Core(world)
        repairs = Repairs(world, core)
        self._storage = storage
        self._coordination = coordination
        self._config = world.config
        self._isolation = core.isolation
        self._patience = Patience(storage, clock, report)
        self._clock = clock
        self._bell = core.bell
        self.changes = core.changes
        self.effort = core.effort
        self.gate = core.gate
        self.explainer = Explainer(storage=storage, registry=registry, coordination=coordination, gate=core.gate)
        self.results = results(world, core)
        self.requests = requests(world, core)
        self.scheduler = scheduler(world, core, repairs)
        self.keeper = keeper(world, core, repairs)
        self.takes = takes(world, core)
        self.collector = repairs.collector
        self.deletion = deletion(world, core, self.requests, repairs.collector)
        self.reconciliation = reconciliation(world, core, repairs, self.requests, self.deletion)
        if world.config.schedules:
            self._loops: Sequence[Loop] = (self.scheduler, self.keeper, self.reconciliation, core.lookout)
            coordination.listen(core.bell.ring)
        else:
            self._loops = (
                Handing(coordination, core.replanner, core.successors, core.isolation, core.reach, core.bell),
            )
        self._loops = (*self._loops, core.releaser, *self.results.loops)
        self._task: asyncio.Task[None] | None = None

    def wake(self) -> None:
        """Something may start now: a worker registered, bytes were given up."""
        self._bell.ring()

    async def edited(self) -> None:
        """Content changed: open requests enter what is new to them and let rest what is not theirs any more.

        Nothing is lost without this call; reconciliation would find it, a minute later.
        """
        await self.requests.resume_preparing()
        await self.requests.resume_sweeps()
        self._bell.ring()

    async def planned(self) -> None:
        """Return when what was edited has been planned again, so that the database says what is current.

        Returns as well when nothing can be planned (`gate.reason`), or those who plan do not come to it soon: what is
        not planned is not current.
        """
        until = inf if self._config.schedules else self._clock.now() + OTHERS_S
        with self.changes.watching() as bell:
            while self._may_plan and self._clock.now() < until and await self._storage.unplanned(1):
                await bell.wait(LOOK_S)

    @property
    def _may_plan(self) -> bool:
        return self.gate.reason is None and self.gate.may_plan

    async def looked(self) -> None:
        """Return when what was lost or damaged is known; at once where others look."""
        if self._config.schedules:
            await self.reconciliation.looked.wait()

    async def run(self, started: asyncio.Event | None = None) -> None:
        """Recover, then work until cancelled. Raises `EngineFailedError` when the database cannot go on.

        A patient one waits for the database instead.
        """
        try:
            if self._config.schedules:
                await self._isolation.step("beginning", self._begin())
            if started is not None:
                started.set()
            await self._loop()
        except StorageUnavailableError as error:
            raise EngineFailedError(str(error)) from error

    async def _begin(self) -> None:
        await self._coordination.serving()
        await self.reconciliation.start()

    async def _loop(self) -> None:
        """All loops; when one fails, the others end. Raises what it raised."""
        tasks = [
            asyncio.create_task(self._patience.run(loop) if self._config.patient else loop.run())
            for loop in self._loops
        ]
        try:
            done, _ = await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
            for task in done:
                task.result()
        finally:
            await ended(*tasks)

    async def start(self) -> None:
        """Run in the background; returns when recovery is over and work goes on. Raises as `run` does."""
        started = asyncio.Event()
        self._task = asyncio.create_task(self.run(started), name="engine")
        waiting = asyncio.ensure_future(started.wait())
        await asyncio.wait((self._task, waiting), return_when=asyncio.FIRST_COMPLETED)
        waiting.cancel()
        if self._task.cancelled():
            raise EngineStoppedError
        if self._task.done():
            self._task.result()

    async def stop(self) -> None:
        """End at the next await of each task; everything that is committed stays, the rest is repeated by the next.

        Whether it had failed before, `wait` tells.
        """
        if self._task is not None:
            await ended(self._task)

    async def wait(self) -> None:
        """Return when the engine was stopped; raises `EngineFailedError` when it failed."""
        if self._task is not None:
            with suppress(asyncio.CancelledError):
                await asyncio.shield(self._task)
