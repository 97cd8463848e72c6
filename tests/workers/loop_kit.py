"""A worker loop in virtual time: real hub, tickets and coordination; only the children and the engine stand in."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from pathlib import Path
from random import Random
from typing import Any

from animastor.coordination.memory import MemoryCoordination
from animastor.engine.ports import Active, Candidate, JobSource, StorageUnavailableError, Verdict
from animastor.engine.reasons import Reason
from animastor.hub.local import LocalHub
from animastor.media.registry import Registry
from animastor.media.types import MediaType, Planned
from animastor.protocol import (
    MERGE,
    AssetId,
    BookKey,
    DispatchId,
    FailureType,
    Job,
    Ticket,
    Uploaded,
    Worker,
    job_id,
)
from animastor.workers.backend import BackendError, Produced, Progress
from animastor.workers.backends import Backends, CpuBackend
from animastor.workers.loop import WorkerLoop
from animastor.workers.work import Limits, Work
from animastor.workers.workdir import Workdir
from virtual_clock import VirtualClock

MEDIA = Registry(
    [
        MediaType(
            name=name,
            plan=lambda _: Planned((), {}, ""),
            check=lambda _structure, _facts: None,
            facts_of=lambda _parts, _merged: {},
            suffixes={"chunk": ".txt", MERGE: ".txt"},
        )
        for name in ("audio", "image")
    ]
)


class Keys:
    """The part of the database that the hub needs, in memory."""

    def __init__(self, clock: VirtualClock) -> None:
        self.clock = clock
        self.keys: dict[str, tuple[bytes, float]] = {}
        self.reads = 0
        self.woken: list[str] = []
        self.wanted: list[Job] = []
        self.made: set[tuple[AssetId, str]] = set()
        self.away = False

    async def ticket_keys(self) -> tuple[float, Mapping[str, tuple[bytes, float]]]:
        self.reads += 1
        return self.clock.now(), dict(self.keys)

    async def add_ticket_key(self, key_id: str, secret: bytes) -> None:
        self.keys[key_id] = (secret, self.clock.now())

    async def artifact_suffix(self, checksums: Sequence[str]) -> Mapping[str, str]:
        return dict.fromkeys((checksum for checksum in checksums if checksum != "unknown"), ".txt")

    async def clear_no_worker(self, profiles: Sequence[str]) -> int:
        self.woken += profiles
        return len(profiles)

    async def wanted_of(self, keys: Sequence[tuple[AssetId, str]]) -> frozenset[tuple[AssetId, str]]:
        if self.away:
            raise StorageUnavailableError("it is away")
        return frozenset(keys) - self.made

    async def active_of(self, assets: Sequence[AssetId]) -> Sequence[Active]:
        return [_active(job) for job in self.wanted if job.asset in assets]


def _active(job: Job) -> Active:
    """The asset of a job, of which just that is missing."""
    source = JobSource(job.input_hash, job.kind, job.params, job.inputs, job.profile, 0.0, None)
    place = (job.asset, job.book_key, job.book, job.chapter_id, job.scene_id, job.media, job.lane)
    return Active(*place, job.dispatch_id, job.fence, (source,))


class Shelf:
    """An artifact store whose checksums are the texts themselves. Files stay where they are, as with the real one."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.where = str(folder)
        self.away = 0  # so many calls fail
        self.reason: Reason | None = None  # what it says of itself
        self.put_at: list[Path] = []

    async def put(self, source: Path, suffix: str) -> tuple[str, int]:
        if self.away:
            self.away -= 1
            raise OSError("the store is away")
        self.put_at.append(source)
        text = source.read_text()
        (self.folder / f"{text}{suffix}").write_text(text)
        return text, len(text)

    async def path(self, checksum: str, suffix: str) -> Path | None:
        path = self.folder / f"{checksum}{suffix}"
        return path if path.exists() else None

    async def delete(self, checksum: str, suffix: str) -> None:
        (self.folder / f"{checksum}{suffix}").unlink(missing_ok=True)

    async def check(self) -> Reason | None:
        return self.reason


class Engine:
    """Takes results as the engine does as far as claims go: it settles them."""

    def __init__(self, coordination: MemoryCoordination, clock: VirtualClock) -> None:
        self.coordination, self.clock = coordination, clock
        self.finished: list[tuple[float, Ticket, Uploaded]] = []
        self.failed: list[tuple[Ticket, FailureType, str, str]] = []
        self.answers: list[Reason | Exception] = []  # for the next calls; then ACCEPTED

    async def finish(self, ticket: Ticket, uploaded: Uploaded, first: Awaitable[None]) -> Reason:
        await first
        answer = self.answers.pop(0) if self.answers else Reason.ACCEPTED
        if isinstance(answer, Exception):
            raise answer
        if answer is Reason.ACCEPTED:
            self.finished.append((self.clock.now(), ticket, uploaded))
            await self.coordination.settle([Verdict(ticket.job_id, ticket.claim_no, ticket.worker)])
        return answer

    async def fail(self, ticket: Ticket, failure: FailureType, code: str, message: str) -> Reason:
        self.failed.append((ticket, failure, code, message))
        again = 0.0 if failure is FailureType.MISCONFIGURED else None
        await self.coordination.settle(
            [Verdict(ticket.job_id, ticket.claim_no, ticket.worker, failure, counted=False, requeue_at=again)]
        )
        return Reason.COUNTED


class Bench:
    """Children that take the virtual time which each job's `seconds` say, or fail as its `fails` says."""

    def __init__(self, count: int, clock: VirtualClock) -> None:
        self._count, self._clock = count, clock
        self._slots = asyncio.Semaphore(count)
        self.running: set[str] = set()
        self.most = 0
        self.began: list[str] = []
        self.ended: list[str] = []
        self.limits: list[Limits] = []

    @property
    def count(self) -> int:
        return self._count

    async def run(self, work: Work, progress: Progress) -> Produced:
        told = work.order.structure
        self.limits.append(work.limits)
        async with self._slots:
            self.began.append(told["text"])
            self.running.add(told["text"])
            self.most = max(self.most, len(self.running))
            try:
                for step in range(1, 11):
                    await self._clock.sleep(told.get("seconds", 1.0) / 10)
                    progress(step / 10)
            except asyncio.CancelledError:
                self.ended.append(told["text"])
                raise
            finally:
                self.running.discard(told["text"])
        if "fails" in told:
            rest = float(told.get("retry_after_s", 0.0))
            raise BackendError(FailureType(told["fails"]), "told", "as it was told", retry_after_s=rest)
        work.folder.mkdir(parents=True)
        path = work.folder / "made.txt"
        path.write_text(told["text"])
        return Produced(path, {"note": told["text"]})


class World:
    """Everything around one worker loop. `ill` maps profiles to why they cannot work."""

    def __init__(self, clock: VirtualClock, root: Path, *, count: int = 2) -> None:
        self.clock, self.count = clock, count
        self.coordination = MemoryCoordination(clock)
        self.engine = Engine(self.coordination, clock)
        self.keys = Keys(clock)
        (root / "shelf").mkdir()
        self.shelf = Shelf(root / "shelf")
        self.hub = LocalHub(self.coordination, self.engine, self.shelf, self.keys, media=MEDIA, clock=clock)
        self.ill: dict[str, str] = {}
        self.bench = Bench(count, clock)
        self.root = root
        self._jobs = self._dispatches = 0

    def loop(self, hub: Any = None, instance: str = "one") -> WorkerLoop:
        """A loop over this world, with its own work directory."""
        backends = Backends([self._backend(name) for name in (MERGE, "voice", "brush")], self.clock)
        self.workdir = Workdir(self.root / "work", instance)
        worker = Worker("local", instance, backends.capacity(self.count))
        return WorkerLoop(
            hub or self.hub, worker, self.bench, backends, clock=self.clock, workdir=self.workdir, random=Random(1)
        )

    def _backend(self, profile: str) -> CpuBackend:
        return CpuBackend(profile, {"audio": "a:b", "image": "c:d"}, lambda: self.ill.get(profile))

    async def enter(self, count: int, profile: str = "voice", **structure: Any) -> list[Job]:
        """Put the jobs of one dispatch into the queue."""
        if await self.coordination.era() is None:
            await self.coordination.set_era(1)
        self._dispatches += 1
        jobs = [self._job(profile, structure) for _ in range(count)]
        first = jobs[0]
        candidate = Candidate(first.asset, first.book_key, first.pair, first.dispatch_id)
        (granted,) = await self.coordination.admit([candidate])
        assert granted.granted, granted
        await self.coordination.enqueue(jobs)
        self.keys.wanted += jobs
        return jobs

    def _job(self, profile: str, structure: Mapping[str, Any]) -> Job:
        self._jobs += 1
        kind = MERGE if profile == MERGE else "chunk"
        hash_ = f"hash-{self._jobs}"
        return Job(
            job_id=job_id(kind, self._dispatches, hash_),
            media="audio" if profile == "voice" else "image",
            kind=kind,
            asset=AssetId(self._dispatches),
            book_key=BookKey(1),
            book="b",
            chapter_id="c",
            scene_id="s",
            dispatch_id=DispatchId(f"dispatch-{self._dispatches}"),
            fence=1,
            input_hash=hash_,
            params={"text": f"{profile}-{self._jobs}", **structure},
            inputs=tuple(structure.get("inputs", ())),
            timeout_s=1800.0,
            profile=profile,
            lane="system",
        )

    @property
    def made(self) -> list[str]:
        """The texts of what was accepted, in order."""
        return [uploaded.checksum for _, _, uploaded in self.engine.finished]


async def settled(clock: VirtualClock, condition: Callable[[], bool], seconds: float = 600.0) -> None:
    """Let virtual time pass until something holds."""
    for _ in range(int(seconds * 20)):
        if condition():
            return
        await clock.sleep(0.05)
    raise AssertionError("it never came to hold")
