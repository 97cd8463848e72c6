"""Workers: the real loop, with a disk that outlives crashes and backends whose fate the dice decide."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

from animastor.engine.reasons import Reason
from animastor.protocol import Claim, FailureType, Worker
from animastor.workers.backend import BackendError, Produced, Progress
from animastor.workers.backends import Backends, CpuBackend
from animastor.workers.failures import no_progress
from animastor.workers.loop import WorkerLoop
from animastor.workers.receipts import Receipt
from animastor.workers.work import Work

from .media import FUNCTIONS, PROFILES, SPOILED, made
from .scheduling import NODE, Node, SimClock
from .stores import SimFile

if TYPE_CHECKING:
    from .servers import Process, Server
    from .world import World

SECONDS = (0.1, 0.5, 2.0, 4.0, 8.0, 20.0)
FATES = {
    "backend transient": FailureType.TRANSIENT,
    "backend infrastructure": FailureType.INFRASTRUCTURE,
    "backend permanent": FailureType.PERMANENT,
    "backend misconfigured": FailureType.MISCONFIGURED,
    "backend orchestration": FailureType.ORCHESTRATION,
}
# of what was tried before; a part that is given up may still come from whom it was first given to
AGAIN = (*(FailureType.INFRASTRUCTURE,) * 5, FailureType.PERMANENT)
HANGS = 8  # looks of a hanging backend whether the storm is over, and with it what ails it
PAID = ("draw", "shoot")  # what backends do for money


class Folder:
    """The folder of a claim on a worker's disk."""

    def __init__(self, claim: Claim) -> None:
        self.claim = claim
        self.receipt: Receipt | None = None


class SimWorkdir:
    """One run's folders on a disk that outlives it: what of `workers.workdir.Workdir` the loop uses."""

    def __init__(self, disk: list[Folder]) -> None:
        self._disk = disk
        self._earlier = list(disk)

    def folder(self, claim: Claim) -> Folder:
        """A folder, not made yet."""
        return Folder(claim)

    async def remove(self, folder: Folder) -> None:
        """Remove a folder."""
        await asyncio.sleep(0)
        if folder in self._disk:
            self._disk.remove(folder)

    def take_over(self) -> tuple[Receipt, ...]:
        """The finished results of earlier runs; the rest goes."""
        self._disk[:] = [folder for folder in self._disk if folder.receipt is not None or folder not in self._earlier]
        return tuple(folder.receipt for folder in self._disk if folder.receipt is not None)


class SimRunner:
    """Has work done, as children would: slowly, and not always well."""

    def __init__(self, world: World, count: int, disk: list[Folder]) -> None:
        self._world, self.count, self._disk = world, count, disk
        self._children = asyncio.Semaphore(count)

    async def run(self, work: Work, progress: Progress) -> Produced:
        """The finished file. Raises `BackendError`."""
        async with self._children:
            try:
                return await self._work(work, progress)
            except asyncio.CancelledError:
                if self._world.dice.strikes("backend slow to stop", work.order.kind):
                    await asyncio.sleep(self._world.dice.seconds("slow to stop", (1.0, 4.0, 20.0)))
                raise

    async def _work(self, work: Work, progress: Progress) -> Produced:
        claim, folder, dice = work.claim, work.folder, self._world.dice
        assert claim is not None
        assert isinstance(folder, Folder)
        number = self._world.oracle.started(claim)
        self._disk.append(folder)
        await self._take_time(work, progress)
        if (failure := self._world.outages.get(claim.job.profile)) is not None:
            raise BackendError(failure, "outage", "simulated: nothing works")
        if self._is_stubborn(claim):
            raise BackendError(dice.pick("again", AGAIN), "made_up", "simulated: it fails always")
        if self._world.oracle.was_tried(claim) and dice.strikes("backend fails again", claim.job.kind):
            raise BackendError(dice.pick("again", AGAIN), "made_up", "simulated: it fails again")
        for fate, failure in FATES.items():
            if dice.strikes(fate, claim.job.kind):
                raise BackendError(failure, "made_up", f"simulated: {fate}")
        if claim.job.kind in PAID and dice.strikes("paid call unanswered", claim.job.kind):
            self._world.oracle.charged(claim)
            raise BackendError(FailureType.PERMANENT, Reason.UNCERTAIN, "simulated: it may have been paid")
        content = self._content(work)
        if dice.strikes("backend empty", claim.job.kind):
            content = b""
        elif dice.strikes("backend spoils", claim.job.kind):
            content += SPOILED.encode()
        elif self._world.salted and claim.job.kind != "merge":
            content += b"#%d" % number
        self._world.oracle.produced(claim, content)
        self._stall(claim)
        file: Any = SimFile(content, folder)
        folder.receipt = Receipt(claim, file)
        await asyncio.sleep(0)
        return Produced(file)

    def _is_stubborn(self, claim: Claim) -> bool:
        world = self._world
        here = world.dice.on and claim.job.kind == "draw" and claim.job.scene_id == world.stubborn
        return here and world.dice.comes("stubborn scene", claim.job.kind)

    def _stall(self, claim: Claim) -> None:
        """The machine stands still with its finished result, for so long that others may be given the job."""
        node = NODE.get()
        if self._world.fleet and node is not None and self._world.dice.strikes("worker stalls", claim.job.kind):
            self._world.loop.freeze(node, self._world.dice.seconds("stall", (35.0, 50.0)))

    def _content(self, work: Work) -> bytes:
        try:
            inputs = [file.read() for file in work.order.files()]  # type: ignore[attr-defined]
        except FileNotFoundError as error:
            raise BackendError(FailureType.TRANSIENT, "bad_input", str(error)) from error
        if any(not one or one.endswith(SPOILED.encode()) for one in inputs):
            raise BackendError(FailureType.TRANSIENT, "bad_input", "simulated: an input does not decode")
        return made(work.order.kind, work.order.structure, inputs)

    async def _take_time(self, work: Work, progress: Progress) -> None:
        dice = self._world.dice
        if work.profile in self._world.outages:
            return
        if dice.strikes("backend hangs", work.order.kind):
            for _ in range(HANGS):
                await asyncio.sleep(work.limits.idle_s / HANGS)
                if not dice.on:
                    break
            raise no_progress(work.limits.idle_s)
        left = dice.seconds("work", SECONDS) if dice.on else 0.3
        if dice.strikes("backend slow", work.order.kind):
            left += dice.seconds("slow work", (30.0, 90.0))
        told = 0.0
        while left > 0 and (dice.on or not told):
            await asyncio.sleep(min(left, 10.0))
            left -= 10.0
            told += 0.05
            progress(min(told, 1.0))


class SimWorker:
    """A machine that works; one run after the other lives on it."""

    def __init__(self, world: World, name: str, lanes: tuple[str, ...]) -> None:
        self._world, self.name, self.lanes = world, name, lanes
        self.disk: list[Folder] = []
        self._lives = 0
        self.node: Node | None = None
        self.loop: WorkerLoop | None = None
        self.slots = 2
        self._backends: Backends | None = None

    @property
    def key(self) -> str:
        """What servers know its run by."""
        return f"wrk/{self.name}.{self._lives}"

    @property
    def has_stopped(self) -> bool:
        """Whether it leaves a backend alone for long, which said that it is misconfigured."""
        return self._backends is not None and any(self._backends.is_stopped(profile) for profile in PROFILES)

    def start(self, server: Server, *, inside: Process | None = None) -> None:
        """A new run, if none lives; `inside` a server's process when embedded."""
        if self.node is not None:
            return
        self._lives += 1
        self.slots = self._world.dice.pick("slots", (1, 1, 2, 3))
        node = self.node = inside if inside is not None else Node(f"{self.name}.{self._lives}")
        self._world.loop.create_task(self._live(node, server, inside), context=node.context.copy())

    async def _live(self, node: Node, server: Server, inside: Process | None) -> None:
        world = self._world
        clock = SimClock(world.loop, node)
        ill = world.ill
        backends = self._backends = Backends(
            [
                CpuBackend(profile, functions, lambda profile=profile: ill.get((self.name, profile)))  # type: ignore[misc]
                for profile, functions in FUNCTIONS.items()
            ],
            clock,
        )
        hub: Any = inside.hub if inside is not None else world.wire(server)
        workdir: Any = SimWorkdir(self.disk)
        me = Worker("wrk", f"{self.name}.{self._lives}", backends.capacity(self.slots), self.lanes)
        runner = SimRunner(world, self.slots, self.disk)
        loop = self.loop = WorkerLoop(
            hub, me, runner, backends, clock=clock, workdir=workdir, random=world.dice.stream("delivery")
        )
        world.watch.worker(me)
        await loop.run()
        if self.node is node:
            self.node = self.loop = None
            world.restart_later(self)

    def crash(self) -> None:
        """The run is gone with its memory; its disk stays."""
        node, self.node, self.loop = self.node, None, None
        if node is not None:
            self._world.loop.kill(node)
            self._world.oracle.worker_gone(f"wrk/{node.name}")

    def drain(self) -> None:
        """The run is asked to end in order."""
        if self.loop is not None:
            self.loop.stop()
