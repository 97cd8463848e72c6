"""One run: a world is put together, lives through a storm of faults, and then has to come to rest."""

from __future__ import annotations

import asyncio
from collections.abc import Collection
from contextvars import Context
from dataclasses import replace
from random import Random
from typing import Any

from animastor.coordination import Limits
from animastor.engine.alarms import Alarm
from animastor.engine.config import EngineConfig
from animastor.engine.examining import look_at_artifacts
from animastor.engine.losses import give_up
from animastor.engine.ports import Scope, Selection
from animastor.engine.replaying import Replayed, replay
from animastor.protocol import FailureType
from animastor.storage import journal

from .coordinating import MEMORY, Coordinator, Kind
from .dice import Dice, Extremes
from .media import MEDIA, REGISTRY, RUN
from .network import Wire
from .oracle import Oracle, Place
from .people import People
from .scheduling import Broken, NothingHappensError, SimClock, SimLoop
from .servers import Process, Server, told
from .sizes import size_of
from .stores import Scratch, Shelf
from .watching import Watch
from .workers import SimWorker

RATES = {  # how likely at each decision, for a seed that neither likes nor dislikes the fault
    "database slow": 0.004,
    "database away": 0.0004,
    "database away before commit": 0.001,
    "database away after commit": 0.001,
    "commit repeated": 0.02,
    "member at fault": 0.006,
    "coordination slow": 0.003,
    "coordination away": 0.001,
    "coordination's answer lost": 0.001,
    "artifacts slow": 0.01,
    "message lost": 0.02,
    "message doubled": 0.03,
    "message late": 0.03,
    "answer lost": 0.02,
    "answer late": 0.03,
    "backend transient": 0.15,
    "backend infrastructure": 0.1,
    "backend permanent": 0.1,
    "backend misconfigured": 0.03,
    "backend orchestration": 0.02,
    "paid call unanswered": 0.06,
    "backend spoils": 0.12,
    "backend empty": 0.03,
    "backend hangs": 0.025,
    "backend slow": 0.08,
    "backend slow to stop": 0.3,
    "backend fails again": 0.2,
    "worker stalls": 0.06,
}
EVENTS = {  # what befalls nodes and stores: weights among each other
    "server crash": 4.0,
    "worker crash": 4.0,
    "server freeze": 2.0,
    "server slow": 4.0,
    "worker freeze": 2.0,
    "worker drained": 2.0,
    "profile ill": 3.0,
    "outage": 3.0,
    "credentials expired": 1.5,
    "store emptied": 2.0,
    "store away": 1.0,
    "artifacts away": 1.5,
    "artifact lost": 2.0,
    "artifact damaged": 2.0,
    "disk low": 1.0,
    "time jumps": 1.0,
    "new version installed": 1.5,
    "database upgraded": 2.0,
}
FLEET_ONLY = {
    "new version installed",
    "database upgraded",
    "worker crash",
    "worker freeze",
    "store emptied",
    "store away",
    "server freeze",
}
IS_TIGHT = 0.3  # how many seeds have limits that a few failures reach
TIGHT: dict[str, Any] = {
    "breaker_failures": 2,
    "budget_per_type": 2,
    "budget_type_period": 20.0,
    "budget_all": 2,
    "budget_all_period": 10.0,
    "quarantine_failures": 1,
    "quarantine_first": 20.0,
    "quarantine_longest": 80.0,
}
AILMENTS = ("backend transient", "backend infrastructure", "backend fails again")
SETTLES_IN = 500.0  # virtual seconds
OPENS_BY = 450  # steps after which there is a storm also where no backend has been given anything yet
FULL_LOOK = 500  # steps
LANES = ("system", "far")


class World:
    """Everything of one seed."""

    broken = Broken

    def __init__(
        self,
        seed: int,
        *,
        without: Collection[str] = (),
        only: Collection[str] | None = None,
        steps: int | None = None,
        trace: bool = False,
        kind: Kind = MEMORY,
    ) -> None:
        shape = Random(f"{seed}/shape")
        self.seed = seed
        self.size = size = size_of(shape)
        rates = {fault: min(0.5, rate * size.eagerness * self._ailing(fault)) for fault, rate in RATES.items()}
        self.dice = Dice(seed, {**rates, **dict.fromkeys((*EVENTS, "clock wrong"), 1.0)}, without, only)
        self.loop = SimLoop(Random(f"{seed}/order"), shape.choice((1.0, 1.0, 0.3)) if "order" not in without else 0.0)
        self.fleet = shape.random() < size.fleets
        self.salted = shape.random() < 0.3
        self.lanes = LANES if self.fleet and shape.random() < 0.5 else LANES[:1]
        self.config = EngineConfig(
            era_window_s=40.0 if self.fleet else 0.0,
            tick_s=shape.choice((2.0, 10.0, 30.0)),
            no_worker_s=shape.choice((10.0, 20.0, 300.0)),
            entry_chunk=shape.choice((1, 2, 1000)),
            lanes=self.lanes,
            patient=self.fleet and shape.random() < 0.8,
        )
        self.stubborn = "s0" if shape.random() < size.stubborn else ""  # a scene
        self.budget = steps if steps is not None else shape.randint(*size.steps)
        self.installed = 1  # the version of the planner that a process has which starts now
        self.outages: dict[str, FailureType] = {}
        self.ill: dict[tuple[str, str], str] = {}
        self.oracle, self.shelf = Oracle(), Shelf()
        self.clock = SimClock(self.loop)
        self.database = Scratch.take(self.clock.now)
        raw = self.database.raw
        self.watch = Watch(raw, self.loop, self.oracle, self.shelf, far=len(self.lanes) > 1)
        if trace:
            self.watch.trace = []
        self.coordinator = Coordinator(
            kind, self.clock, self._limits(shape), window=self.fleet, seed=seed, watch=self.watch
        )
        self.watch.coordinator = self.coordinator
        if self.fleet:  # it has been at work for long: no window is open
            raw.execute("UPDATE meta SET value = 1 WHERE name = 'era'")
            self.coordinator.begin(1)
        self.servers = [Server(self, name, self.config) for name in (("A", "B") if self.fleet else ("A",))]
        if shape.random() < size.lone:
            for server in self.servers[1:]:
                server.config = replace(server.config, schedules=False)
        self.workers = self._workers(shape)
        self._ends_hard = not self.fleet or shape.random() < 0.25  # everything starts again when the storm is over
        self.people = People(self, ("one", "two", "three")[: shape.choice(size.books)], size)
        self.alarms: list[str] = []
        self._events = self.dice.stream("events")
        self._ids = self.dice.stream("ids")
        self.jitter = Extremes(f"{seed}/jitter")
        self._next_user = self._next_fault = 0
        self._next_full = FULL_LOOK
        self._storm_over: asyncio.Future[None] | None = None
        self.storm_steps = 0

    def _ailing(self, fault: str) -> float:
        return self.size.ailing if fault in AILMENTS else 1.0

    def _limits(self, shape: Random) -> Limits:
        """Often such breakers as open and close in a short life; some let a part fail again and again."""
        limits = replace(
            Limits.of(REGISTRY),
            breaker_failures=shape.choice((2, 5, 50) if self.size.ailing > 1 else (2, 3, 5)),
            breaker_cool=shape.choice((5.0, 20.0, 60.0)),
            permits=shape.choice((1, 2)),
        )
        return replace(limits, **TIGHT) if Random(f"{self.seed}/limits").random() < IS_TIGHT else limits

    def _workers(self, shape: Random) -> list[SimWorker]:
        if not self.fleet:
            return [SimWorker(self, "w", LANES[:1])]
        lanes = [LANES[:1], self.lanes[::-1]]
        return [SimWorker(self, name, lane) for name, lane in zip("wx", lanes, strict=True)]

    # --- what its inhabitants use ---

    def new_id(self) -> str:
        """128 random bits, from the seed."""
        return f"{self._ids.getrandbits(128):032x}"

    async def pause(self, seconds: float) -> None:
        """Let time pass."""
        await asyncio.sleep(seconds)

    def wire(self, server: Server) -> Wire:
        """A wire to a server."""
        return Wire(self, server)

    def post(self, server: Server, work: Any) -> None:
        """Deliver a message whose answer nobody waits for."""

        async def deliver() -> None:
            try:
                await server.call(work)
            except Exception:  # noqa: BLE001 - whoever sent it does not hear of it
                return

        self.loop.create_task(deliver(), context=Context())

    def alarm(self, process: Process, alarm: Alarm) -> None:
        """An engine raises an alarm: only for what a fault explains."""
        line = told(alarm)
        self.watch.say(f"{process} alarms: {line}")
        self.alarms.append(line)
        if alarm.reason == "orchestration" and "simulated" not in line:
            self.watch.fail(0, f"an alarm without a fault: {line}")

    def came_up(self, server: Server) -> None:
        """A server answers; embedded, its worker starts inside."""
        if not self.fleet and server.process is not None:
            self.workers[0].start(server, inside=server.process)

    def restart_later(self, one: Server | SimWorker) -> None:
        """Somebody sees to it that what ended starts again."""
        if isinstance(one, Server) and not self.fleet:
            self._end_embedded()
        away_s = self.dice.seconds("restart", (0.2, 0.5, 3.0, 20.0)) if self.dice.on else 0.5
        self.loop.outside(away_s, self._start, one)

    def _start(self, one: Server | SimWorker) -> None:
        if isinstance(one, Server):
            one.start()
        elif self.fleet:
            one.start(self.dice.pick("worker's server", self.servers))
        elif self.servers[0].up:
            assert self.servers[0].process is not None
            one.start(self.servers[0], inside=self.servers[0].process)

    def _end_embedded(self) -> None:
        """A home's one process holds its coordination and its worker."""
        self.workers[0].crash()
        self.coordinator.replace()
        self.watch.store_lost()

    # --- the storm ---

    def look(self) -> None:
        """Before a step: does something befall the world?"""
        steps = self.loop.steps
        self.dice.step = steps
        if steps >= self._next_full:
            self._next_full = steps + FULL_LOOK
            self.watch.everything()
        if self.dice.on and ((self.people.have_opened and self.oracle.runs) or steps >= OPENS_BY):
            if not self._next_fault:
                self._next_user = steps + self._every(self.size.deed_every)
                self._next_fault = steps + self._every(self.size.event_every)
            if steps >= self._next_user:
                self._next_user = steps + self._every(self.size.deed_every)
                self.people.act()
            if steps >= self._next_fault:
                self._next_fault = steps + self._every(self.size.event_every)
                self._befall()
            over = self._storm_over
            if over is not None and not over.done() and steps >= self.budget and self._has_shown_enough:
                over.set_result(None)
        self.loop.next_look = self._next_full
        if self.dice.on:
            self.loop.next_look = min(
                self._next_full,
                max(min(self._next_user, self._next_fault), steps + 1),
                max(self.budget, steps + 1),
            )

    @property
    def _has_shown_enough(self) -> bool:
        faults = sum(number for name, number in self.dice.came.items() if not name.startswith("user"))
        return self.dice.only is not None or faults >= 3

    def _every(self, mean: int) -> int:
        return 1 + int(self._events.expovariate(1 / mean))

    def _befall(self) -> None:
        weights = {
            event: weight * self.dice.moods[event]
            for event, weight in EVENTS.items()
            if self.fleet or event not in FLEET_ONLY
        }
        if not any(weights.values()):
            weights = dict.fromkeys(weights, 1.0)
        (event,) = self._events.choices(list(weights), list(weights.values()))
        getattr(self, f"_{event.replace(' ', '_')}")(event)

    def _comes(self, event: str, what: object) -> bool:
        if not self.dice.comes(event, what):
            return False
        self.watch.say(f"*** {event}: {what}")
        return True

    def _server_crash(self, event: str) -> None:
        server = self._events.choice(self.servers)
        if server.process is not None and self._comes(event, server.process):
            server.crash()
            self.restart_later(server)

    def _worker_crash(self, event: str) -> None:
        worker = self._events.choice(self.workers)
        if worker.node is not None and self._comes(event, worker.node):
            worker.crash()
            self.restart_later(worker)

    def _server_freeze(self, event: str) -> None:
        self._freeze(event, self._events.choice(self.servers).process)

    def _worker_freeze(self, event: str) -> None:
        self._freeze(event, self._events.choice(self.workers).node)

    def _freeze(self, event: str, node: Any) -> None:
        seconds = self._events.choice((2.0, 20.0, 45.0, 90.0))
        if node is not None and not node.frozen and self._comes(event, f"{node} for {seconds:g} s"):
            self.loop.freeze(node, seconds)

    def _server_slow(self, event: str) -> None:
        """What it has asked for holds no longer when it acts: another server, or somebody else, came before."""
        process = self._events.choice(self.servers).process
        way_s, seconds = self._events.choice((0.3, 2.0, 8.0)), self._events.choice((5.0, 15.0, 40.0))
        if process is not None and self._comes(event, f"{process} by {way_s:g} s a way, for {seconds:g} s"):
            process.slow_s = way_s
            self.loop.outside(seconds, setattr, process, "slow_s", 0.0)

    def _worker_drained(self, event: str) -> None:
        worker = self._events.choice(self.workers)
        if worker.loop is not None and self._comes(event, worker.node):
            worker.drain()

    def _profile_ill(self, event: str) -> None:
        workers = self.workers if self._events.random() < 0.5 else [self._events.choice(self.workers)]
        profile = self._events.choice(("speech", "drawing", "camera"))
        seconds = self._events.choice((10.0, 60.0, 400.0))
        if self._comes(event, f"{profile} of {', '.join(one.name for one in workers)} for {seconds:g} s"):
            for worker in workers:
                self.ill[worker.name, profile] = "simulated: it is ill"
                self.loop.outside(seconds, self.ill.pop, (worker.name, profile), None)

    def _outage(self, event: str) -> None:
        profile = self._events.choice(("speech", "drawing", "camera"))
        failure = self._events.choice((FailureType.TRANSIENT, FailureType.INFRASTRUCTURE))
        seconds = self._events.choice((10.0, 30.0, 60.0, 150.0))
        if self._comes(event, f"every {profile} fails for {seconds:g} s ({failure})"):
            self.outages[profile] = failure
            self.loop.outside(seconds, self.outages.pop, profile, None)

    def _credentials_expired(self, event: str) -> None:
        profile, seconds = self._events.choice(("speech", "drawing", "camera")), self._events.choice((3.0, 10.0, 40.0))
        if self._comes(event, f"of {profile} for {seconds:g} s"):
            self.outages[profile] = FailureType.MISCONFIGURED
            self.loop.outside(seconds, self.outages.pop, profile, None)

    def _store_emptied(self, event: str) -> None:
        if self._comes(event, "of everything"):
            self.coordinator.empty()
            self.watch.store_lost()

    def _store_away(self, event: str) -> None:
        seconds = self._events.choice((0.5, 5.0, 40.0))
        if self._comes(event, f"for {seconds:g} s"):
            self.coordinator.away = True
            self.loop.outside(seconds, setattr, self.coordinator, "away", False)

    def _artifacts_away(self, event: str) -> None:
        seconds = self._events.choice((1.0, 3.0, 10.0, 40.0))
        if self._comes(event, f"for {seconds:g} s"):
            self.shelf.away = True
            self.loop.outside(seconds, setattr, self.shelf, "away", False)

    def _disk_low(self, event: str) -> None:
        if self._comes(event, f"for {(seconds := self._events.choice((2.0, 5.0, 15.0))):g} s"):
            self.shelf.low = True
            self.loop.outside(seconds, setattr, self.shelf, "low", False)

    def _artifact_lost(self, event: str) -> None:
        if self.shelf.files and self._comes(event, checksum := self._events.choice(list(self.shelf.files))):
            self.shelf.excused.add(checksum)
            self.shelf.remove(checksum)

    def _artifact_damaged(self, event: str) -> None:
        if self.shelf.files and self._comes(event, checksum := self._events.choice(list(self.shelf.files))):
            self.shelf.excused.add(checksum)
            self.shelf.files[checksum].content = b"damaged~"

    def _new_version_installed(self, event: str) -> None:
        if self.installed == 1 and self._comes(event, "a newer planner"):
            self.installed = 2

    def _database_upgraded(self, event: str) -> None:
        if self.installed == 2 and not self._upgraded and self._comes(event, "to the newer planner"):
            self._upgrade()

    @property
    def _upgraded(self) -> bool:
        return bool(self.watch.rows("SELECT 1 FROM meta WHERE name = 'planner' AND value = 2"))

    def _upgrade(self) -> None:
        """What `animastor upgrade` does; processes of the older version may still be at work."""
        self.watch.rows("UPDATE asset SET plan_seq = plan_seq + 1")
        self.watch.rows("UPDATE meta SET value = 2 WHERE name = 'planner'")
        self.watch.committed("upgrade")

    def _time_jumps(self, event: str) -> None:
        seconds = self._events.choice((5.0, 20.0, 70.0, 400.0))
        if self._comes(event, f"by {seconds:g} s"):
            self.loop.jump(seconds)

    # --- one life ---

    def run(self) -> None:
        """Live. Raises `Broken` for an invariant that does not hold, and whatever else is wrong."""
        self.loop.each_step = self.look
        try:
            self.loop.run(self._live())
        finally:
            self.database.give_back()

    async def _live(self) -> None:
        self._storm_over = self.loop.create_future()
        for one in (*self.servers, *(self.workers if self.fleet else ())):
            self._start(one)
        self.people.open()
        await self._storm_over
        self.storm_steps = self.loop.steps
        await self._calm()
        await self._settle("what was asked in the storm")
        await self._make_everything()
        await self._ask_again()
        self._at_rest()

    async def _calm(self) -> None:
        """Faults stop; what is down comes up, and what is wrong is set right."""
        self.dice.on = False
        self.watch.say("*** calm")
        self.coordinator.away = self.shelf.away = self.shelf.low = False
        self.ill.clear()
        self.outages.clear()
        self.oracle.cursed.clear()
        if self.installed == 2 and not self._upgraded:
            self._upgrade()
        for server in self.servers:
            if server.process is not None:
                server.process.slow_s = 0.0
            if server.process is not None and (self._ends_hard or self._is_wrong(server.process)):
                server.crash()
                if not self.fleet:
                    self._end_embedded()
        for worker in self.workers if self.fleet else ():
            if self._ends_hard:
                worker.crash()
        self._free_workers()
        for one in (*self.servers, *(self.workers if self.fleet else ())):
            self._start(one)
        while self.people.busy:
            await self.pause(0.5)
        if self.shelf.excused:
            await self._repaired()
        for name in self.oracle.books:
            await self.people.go_on(name)

    def _is_wrong(self, process: Process) -> bool:
        return bool(process.skew or process.frozen or process.planner != self.installed)

    def _free_workers(self) -> None:
        """Somebody starts workers again that would do nothing for long."""
        for worker in self.workers if self.fleet else ():
            if self._is_stuck(worker):
                worker.crash()
                self._start(worker)

    def _is_stuck(self, worker: SimWorker) -> bool:
        """Whether a worker is frozen, in quarantine, or leaves a backend alone that said it is misconfigured."""
        frozen = worker.node is not None and worker.node.frozen
        return frozen or self.coordinator.is_quarantined(worker.key) or worker.has_stopped

    async def _repaired(self) -> None:
        """A person answers the question what to do about lost artifacts, as `doctor --repair` does."""

        async def repairing(process: Process) -> Any:
            assert process.storage is not None
            found = await look_at_artifacts(process.storage, process.shelf)
            return await give_up(process.storage, process.shelf, found.missing, found.damaged)

        await self.people.until_answered(repairing)

    async def _settle(self, what: str) -> None:
        """Every request ends in time, and so does everything that follows."""
        until = self.loop.elapsed + SETTLES_IN
        while left := self._unsettled():
            if self.loop.elapsed > until:
                self.watch.fail(7, f"{what} does not end: {left}")
            self._free_workers()
            await self.pause(1.0)

    def _unsettled(self) -> str:
        for sql in (
            "SELECT 'request', id, state FROM request WHERE state IN ('preparing', 'open') OR sweeping > 0 LIMIT 1",
            "SELECT 'asset', id, state, waits, reason FROM asset WHERE state IN (1, 2) LIMIT 1",
            "SELECT 'unplanned', id, state, plan_seq, planned_seq FROM asset WHERE planned_seq < plan_seq"
            " AND state IN (3, 4, 5) LIMIT 1",
            "SELECT 'unreleased', asset, id FROM dispatch WHERE released_at IS NULL LIMIT 1",
        ):
            if found := self.watch.rows(sql):
                return str(found[0])
        left = [*self.coordinator.seen("jobs", Selection()), *self.coordinator.seen("leases", Selection())]
        return str(left[0]) if left else ""

    async def _make_everything(self) -> None:
        """Whatever happened: who asks for everything gets it, but for what had failed before and is told only now."""
        newest = self.watch.newest_claim
        await self._ask_for_everything()
        if self.watch.rows("SELECT 1 FROM part WHERE state = 2 AND wanted = 1 AND last_claim BETWEEN 1 AND ?", newest):
            self.watch.say("a failure of the storm was told late: everything is asked for once more")
            await self._ask_for_everything()
        self._everything_is_right()

    async def _ask_for_everything(self) -> None:
        for name, shelved in self.oracle.books.items():
            if shelved.book is not None:
                await self.people.ask(name, MEDIA, Scope(), accept_charge=True)
        await self._settle("what was asked in the end")

    def _everything_is_right(self) -> None:
        for shelved in self.oracle.books.values():
            if shelved.book is None:
                continue
            found: dict[Place, Any] = {
                self.watch.place(row[0]): row
                for row in self.watch.rows(
                    "SELECT id, state, artifact, error FROM asset WHERE book_key = ?", shelved.key
                )
            }
            for place, wanted in self.oracle.expected(shelved).items():
                row = found.get(place)
                if row is None or row[1] != 4:
                    self.watch.fail(7, f"{place} was asked for, and is {row}")
                self._is_right(place, row, wanted)
        for asset, params in self.watch.rows(
            "SELECT p.asset, p.params FROM part p JOIN asset a ON a.id = p.asset"
            " WHERE p.wanted = 1 AND p.kind <> 'merge' AND a.wanted_hash <> ''"  # else there is no plan at present
        ):
            if f'"planner":{self.installed}' not in params:
                self.watch.fail(4, f"asset {asset} is planned by an older version: {params}")

    def _is_right(self, place: Place, row: Any, wanted: list[bytes] | bytes | None) -> None:
        if isinstance(wanted, list):
            parts = self.watch.rows("SELECT artifact, places FROM part WHERE asset = ? AND wanted = 1", row[0])
            ordered = sorted((at, one) for one, places in parts for at in _ordinals(places))
            got: Any = [self._text(one) for _, one in ordered]
            right = got == wanted
        else:
            got = self._text(row[2]) if row[2] else None
            right = got == wanted or (wanted is not None and got is not None and _alike(got, wanted))
        if not right:
            self.watch.fail(2, f"{place} is {got!r} and not {wanted!r}")

    def _text(self, checksum: str) -> bytes | None:
        content = self.shelf.content(checksum)
        return None if content is None else RUN.sub(b"", content)

    async def _ask_again(self) -> None:
        """11: with nothing edited and nothing lost, nothing is submitted."""
        runs, claims = self.oracle.runs, self.watch.newest_claim
        for name, shelved in self.oracle.books.items():
            if shelved.book is not None:
                await self.people.ask(name, MEDIA, Scope())
        await self._settle("what was asked again")
        hopeless = bool(self.watch.rows("SELECT 1 FROM asset WHERE state = 5"))
        if (runs, claims) != (self.oracle.runs, self.watch.newest_claim) and not hopeless:
            self.watch.fail(11, f"{self.oracle.runs - runs} jobs ran though nothing had changed")

    def _at_rest(self) -> None:
        self.watch.everything()
        self._journal_replays()
        if leases := self.coordinator.seen("leases", Selection()):
            self.watch.fail(3, f"a lease remains: {leases[0]}")
        if jobs := self.coordinator.seen("jobs", Selection()):
            self.watch.fail(3, f"a job remains: {jobs[0]}")
        if left := self.watch.rows("SELECT asset, id FROM dispatch WHERE outcome IS NULL OR released_at IS NULL"):
            self.watch.fail(3, f"a dispatch without outcome or release: {left[0]}")

    def _journal_replays(self) -> None:
        """What the journal tells of all assets is what the tables hold, and each step that it tells was allowed."""
        told, until = Replayed(), self.database.run(journal.horizon)
        while rows := self.database.run(journal.read, None, told.last_row, until, 1000):
            replay(rows, told)
        wrong = told.faults + told.differences(self.database.run(journal.standings))
        if wrong:
            self.watch.fail(16, f"the journal does not tell what is there: {wrong[0]}")


def _ordinals(places: str) -> list[int]:
    import orjson

    return [place[0] for place in orjson.loads(places or "[]")]


def _alike(got: bytes, wanted: bytes) -> bool:
    """Whether bytes are as wanted, where `*` is any length."""
    if b"*" not in wanted:
        return False
    import re

    pattern = re.escape(wanted).replace(rb"\*", rb"\d+")
    return re.fullmatch(pattern, got) is not None


__all__ = ["Broken", "NothingHappensError", "World"]
