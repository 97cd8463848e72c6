"""A home with real parts (SQLite file, folder of artifacts, hub, worker loops, child processes) and planned trouble.

Time is virtual and stands still while a child works, so that the contract's own timings pass in milliseconds; it runs
on while a child is stopped.
"""

from __future__ import annotations

import asyncio
import json
import os
import signal
from collections import Counter, defaultdict
from collections.abc import AsyncIterator, Awaitable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from datetime import timedelta
from enum import Enum
from itertools import pairwise
from pathlib import Path
from random import Random
from typing import Any

from invariants import rows
from stage import Stage
from troubled_backends import FAILS, FATE, PID

from animastor.books.model import Book, BookHead, BookId, Chapter, ChapterId, Scene, SceneId, Unit, UnitId
from animastor.engine.engine import Engine
from animastor.engine.ports import Circuit, Selection
from animastor.engine.reasons import JournalType
from animastor.media.audio import AUDIO, SAMPLE_RATE, SPEECH
from animastor.media.hashing import digest
from animastor.media.registry import Registry
from animastor.media.types import Facts, Structure
from animastor.protocol import MERGE, Answer, BookKey, Claim, Hub, Running, Worker, job_id
from animastor.storage.folder import FolderStore
from animastor.storage.sql import open_home
from animastor.workers.backend import Produced, Progress
from animastor.workers.backends import Backends, CpuBackend
from animastor.workers.children import Children
from animastor.workers.loop import WorkerLoop
from animastor.workers.work import Work
from animastor.workers.workdir import Workdir
from virtual_clock import VirtualClock

HERE = Path(__file__).parent
PROFILES = ("hibari", MERGE)
PATIENCE = timedelta(seconds=90)  # of a job without progress; the contract's half hour would only be longer
MOST_OF_ONE = 5  # troubles of one part: fewer than would lose it


class Fate(Enum):
    """What befalls a speech child in the middle of its work."""

    KILLED = "killed"
    STOPPED = "stopped"  # for good: its worker ends it when nothing has moved for long enough
    FAILS = FAILS
    CUT_OFF = "cut off"  # stopped, and its worker not heard of; when that has cost it the job, both go on
    ASKED_AGAIN = "asked again"  # stopped; its request is cancelled and made again at once; then it goes on


def told_book(name: str, scenes: int, units: int) -> Book:
    """A book of English sentences, each another one."""
    return Book(
        BookHead(BookId(name), language="en"),
        (
            Chapter(
                ChapterId("ch"),
                tuple(
                    Scene(
                        SceneId(f"sc-{s}"),
                        tuple(
                            Unit(UnitId(f"{name}-{s}-{u}"), f"In {name}, this is sentence {u} of scene {s}.")
                            for u in range(units)
                        ),
                    )
                    for s in range(scenes)
                ),
            ),
        ),
    )


class Shelf(FolderStore):
    """The folder of artifacts, which can be looked into."""

    def __init__(self, root: Path) -> None:
        super().__init__(root, low_fraction=0.0, low_bytes=0, create=True)
        self.root = root

    @property
    def content(self) -> Mapping[str, bytes]:
        """All bytes by checksum."""
        return {path.stem: path.read_bytes() for path in self.root.glob("??/*")}


class Ear:
    """Says how long what was ordered would sound. That the bytes are right, the invariants find out."""

    def __init__(self) -> None:
        self._samples: dict[str, int] = {}

    async def check(self, media: str, kind: str, structure: Structure, _path: Path) -> tuple[Facts, str | None]:
        """The facts of right bytes."""
        if kind == MERGE:
            samples = sum(self._samples[part] for part in structure["parts"])
        else:
            samples = round((0.07 * len(structure["text"]) + structure["pause"]) * SAMPLE_RATE)
            self._samples[digest(structure)] = samples
        facts = Facts(samples=samples, sample_rate=SAMPLE_RATE, duration=samples / SAMPLE_RATE)
        return facts, AUDIO.check(structure, facts)


class Wire:
    """A hub that cannot be reached while the wire is cut."""

    def __init__(self, hub: Hub) -> None:
        self._hub = hub
        self.cut = False
        self.stopped: Counter[str] = Counter()  # jobs that were told to stop

    def __getattr__(self, name: str) -> Any:
        async def call(*args: Any, **kwargs: Any) -> Any:
            self._require()
            answer = await getattr(self._hub, name)(*args, **kwargs)
            self._require()
            return answer

        return call

    async def heartbeat(self, worker: Worker, running: Sequence[Running]) -> Sequence[Answer]:
        """Told by the hub."""
        self._require()
        answers = await self._hub.heartbeat(worker, running)
        self.stopped.update(one.job_id for one, answer in zip(running, answers, strict=True) if answer is Answer.STOP)
        return answers

    def _require(self) -> None:
        if self.cut:
            raise ConnectionError("the wire is cut")


@dataclass(eq=False)
class Trouble:
    """A fate on its way: what it befalls, and how to end it."""

    fate: Fate
    work: Work
    clock: VirtualClock
    wire: Wire
    pid: int = 0
    holds: bool = False  # whether virtual time waits for this work
    over: bool = False

    def hold(self) -> None:
        """Virtual time waits for the child."""
        if not self.holds and not self.over:
            self.holds = True
            self.clock.busy += 1

    def let_go(self) -> None:
        """Virtual time goes on."""
        if self.holds:
            self.holds = False
            self.clock.busy -= 1

    def strike(self) -> None:
        """The child has begun: its fate comes."""
        self.pid = int((self.work.folder / PID).read_text())
        if self.fate is Fate.KILLED:
            os.kill(self.pid, signal.SIGKILL)
        elif self.fate is not Fate.FAILS:
            os.kill(self.pid, signal.SIGSTOP)
            self.wire.cut = self.fate is Fate.CUT_OFF
            self.let_go()

    def relent(self) -> None:
        """A stopped child goes on, if it is still there, and its worker is heard of again."""
        self.wire.cut = False
        if not self.over:
            self.hold()
            (self.work.folder / FATE).unlink()
            os.kill(self.pid, signal.SIGCONT)

    def end(self) -> None:
        """The work is over, one way or the other."""
        self.over = True
        self.let_go()


@dataclass
class Plan:
    """Which runs get into trouble: all of the first ones, then some, as the dice say, until all fates have come.

    The part that has trouble first has it again and again.
    """

    dice: Random
    first: list[Fate]
    unlucky: list[Fate]
    later: list[Fate]
    parts: int  # how many there are to make
    dealt: list[Fate] = field(default_factory=list)
    of_hash: defaultdict[str, list[Fate]] = field(default_factory=lambda: defaultdict(list))

    def deal(self, input_hash: str, *, may_be_cut_off: bool, closed: bool, made: int) -> Fate | None:
        """The fate of a run, or None. `closed`: the breaker is; `made`: how many parts there are already."""
        fate = self._draw(input_hash, may_be_cut_off=may_be_cut_off, closed=closed, made=made)
        if fate is not None:
            self.dealt.append(fate)
            self.of_hash[input_hash].append(fate)
        return fate

    def _draw(self, input_hash: str, *, may_be_cut_off: bool, closed: bool, made: int) -> Fate | None:
        if len(self.of_hash[input_hash]) >= MOST_OF_ONE:
            return None
        if self.first:
            return self.first.pop()
        if self.unlucky and input_hash == next(iter(self.of_hash)):
            return self.unlucky.pop()
        pressing = self.parts - made <= 2 * len(self.later) + 4
        if not (pressing or self.dice.random() < 0.5):
            return None
        fate = self._fitting(may_be_cut_off=may_be_cut_off, closed=closed)
        if fate is not None:
            self.later.remove(fate)
        return fate

    def _fitting(self, *, may_be_cut_off: bool, closed: bool) -> Fate | None:
        """Cut off whom you can, first of all; what is asked again must be let in at once, so it comes last."""
        if may_be_cut_off and Fate.CUT_OFF in self.later:
            return Fate.CUT_OFF
        soon = [fate for fate in self.later if fate not in (Fate.CUT_OFF, Fate.ASKED_AGAIN)]
        if soon:
            return soon[0]
        return Fate.ASKED_AGAIN if closed and self.later and not self.unlucky else None


class Troublemaker:
    """A runner that has work done by real children, and lets their fates come."""

    def __init__(self, home: TroubledHome, children: Children, wire: Wire, *, may_be_cut_off: bool) -> None:
        self._home, self._children, self._wire = home, children, wire
        self._may_be_cut_off = may_be_cut_off
        self._slots = asyncio.Semaphore(children.count)

    @property
    def count(self) -> int:
        """How many pieces of work run at once."""
        return self._children.count

    async def run(self, work: Work, progress: Progress) -> Produced:
        """The work of a child, which may be disturbed."""
        async with self._slots:  # who waits for a child does not hold time up
            trouble = await self._trouble(work)
            if trouble is None:
                with self._home.clock.real():
                    return await self._children.run(work, progress)
            return await self._disturbed(work, trouble)

    async def _trouble(self, work: Work) -> Trouble | None:
        assert work.claim is not None
        job = work.claim.job
        self._home.made_again += await self._was_accepted(work.claim)
        if job.kind != SPEECH:
            return None
        made = await self._home.made()
        (pair,) = await self._home.coordination.pairs([job.pair])
        closed = pair.circuit is Circuit.CLOSED
        fate = self._home.plan.deal(job.input_hash, may_be_cut_off=self._may_be_cut_off, closed=closed, made=made)
        if fate is None:
            return None
        work.folder.mkdir(parents=True)
        (work.folder / FATE).write_text(fate.value)
        return Trouble(fate, work, self._home.clock, self._wire)

    async def _was_accepted(self, claim: Claim) -> bool:
        """Whether there is already what this claim is for, and nothing had cost the claim before it was begun."""
        job = claim.job
        (order,) = await self._home.storage.part_orders([(job.asset, job.input_hash)])
        assert order is not None
        live = await self._home.coordination.jobs(Selection(assets=[job.asset]))
        return order.artifact is not None and claim.claim_no in {one.claim_no for one in live if not one.stopping}

    async def _disturbed(self, work: Work, trouble: Trouble) -> Produced:
        struck = False

        def told(_: float) -> None:
            nonlocal struck
            if not struck:
                struck = True
                trouble.strike()
                self._home.befall(trouble)

        trouble.hold()
        try:
            return await self._children.run(work, told)
        finally:
            trouble.end()


class TroubledHome(Stage):
    """The engine's stage, with a real file, folder, hub, loops and children."""

    def __init__(self, folder: Path, plan: Plan) -> None:
        super().__init__(Registry((replace(AUDIO, job_timeout=PATIENCE),)), profiles=PROFILES)
        self.folder, self.plan = folder, plan
        self.bytes: Any = Shelf(folder / "artifacts")
        self.checker = Ear()
        self.log = folder / "backends.jsonl"
        self.made_again = 0
        self.requests: dict[BookKey, int] = {}
        self.pids: set[int] = set()
        self.wires: list[Wire] = []
        self._directing: set[asyncio.Task[None]] = set()
        self._asking = asyncio.Lock()
        self._engine: Engine

    async def open(self) -> None:
        """Make the database, in a file."""
        self.storage = await open_home(self.folder / "home.db", self.registry, self.clock, writable=True)
        self.database: Any = self.storage._db

    async def made(self) -> int:
        """How many chunks of speech there are."""

        def count(connection: Any) -> int:
            statement = "SELECT count(*) FROM part WHERE kind = 'speech' AND state = 1"
            return int(connection.exec_driver_sql(statement).scalar())

        return int(await self.database.read(count))

    def started(self) -> Counter[str]:
        """How often a child was given each hash, by the children's own log."""
        lines = [json.loads(line) for line in self.log.read_text().splitlines()]
        self.pids = {line["pid"] for line in lines}
        return Counter(line["hash"] for line in lines if line["event"] == "start")

    async def most_starts(self) -> dict[str, int]:
        """How often each hash may have been begun at most: once, and once more for whatever cost it a claim."""
        found = await rows(self, "SELECT asset, hash, kind FROM part")
        journal = await self.journal()
        swept = Counter(row.details["hash"] for row in journal if row.type is JournalType.SWEPT)
        return {
            row.hash: 1
            + sum(fate in (Fate.KILLED, Fate.STOPPED, Fate.FAILS) for fate in self.plan.of_hash[row.hash])
            + swept[row.hash]
            + sum(wire.stopped[job_id(row.kind, row.asset, row.hash)] for wire in self.wires)
            for row in found
        }

    @asynccontextmanager
    async def working(self, books: Sequence[BookKey]) -> AsyncIterator[Engine]:
        """Books are asked for, then two workers come: one with two children, one with one, whose wire can be cut."""
        self._engine = self.engine()
        await self._engine.start()
        for key in books:
            await self.make(key)
        hub = self.hub(self._engine)
        async with self._worker(hub, "near", children=2, cut=False), self._worker(hub, "far", children=1, cut=True):
            yield self._engine
            await asyncio.gather(*self._directing)
        await self._engine.stop()

    @asynccontextmanager
    async def _worker(self, hub: Hub, name: str, *, children: int, cut: bool) -> AsyncIterator[None]:
        workdir = Workdir(self.folder / "work", name)
        path = os.pathsep.join(map(str, (HERE, HERE.parent / "engine", HERE.parent)))
        pool = Children(
            children,
            workdir.scratch,
            nice=0,
            idle_s=1e9,
            environment={"PYTHONPATH": path, "ANIMASTOR_BACKEND_LOG": str(self.log)},
        )
        backends = Backends(_backends(), self.clock)
        wire = Wire(hub)
        self.wires.append(wire)
        loop = WorkerLoop(
            wire,  # type: ignore[arg-type]
            Worker("wrk", name, backends.capacity(children)),
            Troublemaker(self, pool, wire, may_be_cut_off=cut),
            backends,
            clock=self.clock,
            workdir=workdir,
            random=Random(name),
        )
        serving = asyncio.create_task(loop.run())
        try:
            yield
        finally:
            loop.stop()
            with self.clock.real():
                await asyncio.wait([serving])
            await pool.aclose()
            workdir.close()
        serving.result()

    def befall(self, trouble: Trouble) -> None:
        """A fate has come: somebody may have to see to what follows."""
        follow = {Fate.CUT_OFF: self._cut_off, Fate.ASKED_AGAIN: self._ask_again}.get(trouble.fate)
        if follow is not None:
            self._directing.add(asyncio.create_task(self._follow(follow(trouble), trouble)))

    async def _follow(self, what: Awaitable[None], trouble: Trouble) -> None:
        try:
            await what
        finally:
            trouble.relent()

    async def _cut_off(self, trouble: Trouble) -> None:
        await self._until_told(JournalType.SWEPT, trouble)
        await self.clock.sleep(20.0)

    async def _ask_again(self, trouble: Trouble) -> None:
        assert trouble.work.claim is not None
        key = trouble.work.claim.job.book_key
        async with self._asking:
            await self._engine.requests.cancel(self.requests[key])
            await self.make(key)
            await self._until_told(JournalType.RELABELLED, trouble)

    async def make(self, key: BookKey) -> None:
        """Ask for the sound of a book."""
        self.requests[key] = (await self.ask(self._engine, key, ("audio",))).request.request_id

    async def _until_told(self, type_: JournalType, trouble: Trouble) -> None:
        assert trouble.work.claim is not None
        wanted = trouble.work.claim.job.input_hash
        for _ in range(120):
            told = [row for row in await self.journal() if row.type is type_ and row.details.get("hash") == wanted]
            if told:
                return
            await self.clock.sleep(1.0)
        raise AssertionError(f"the journal never told of {type_}")


def _backends() -> Sequence[CpuBackend]:
    return [
        CpuBackend("hibari", {"audio": "troubled_backends:speak"}, lambda: None),
        CpuBackend(MERGE, {"audio": "troubled_backends:join"}, lambda: None),
    ]


def later_than_before(times: Sequence[float]) -> bool:
    """Whether each is later than the one before it."""
    return all(before < after for before, after in pairwise(times))
