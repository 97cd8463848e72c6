"""A whole world for the engine: the real storage, coordination and hub; only bytes and backends are doubles."""

from __future__ import annotations

import asyncio
import sqlite3
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import timedelta
from hashlib import sha256
from pathlib import Path
from random import Random
from typing import Any

from sqlalchemy import Connection
from toys import PROFILES, REGISTRY, content_of

from animastor.books.model import Book
from animastor.coordination import Limits, MemoryCoordination
from animastor.engine.alarms import Alarm
from animastor.engine.config import EngineConfig
from animastor.engine.engine import Engine
from animastor.engine.errors import EngineStoppedError
from animastor.engine.ports import (
    ArtifactStoreUnavailableError,
    Checker,
    JournalRow,
    NewRequest,
    RequestProgress,
    Scope,
    StorageUnavailableError,
)
from animastor.engine.reasons import Reason
from animastor.engine.requests import ENDED, OpenedRequest
from animastor.hub.local import LocalHub
from animastor.media.registry import Registry
from animastor.media.types import ContentSettings, Facts, Structure
from animastor.protocol import Answer, BookKey, Claim, FailureType, Running, Uploaded, Worker
from animastor.storage.database import InPlaceDatabase
from animastor.storage.sql import SqlStorage, open_storage
from virtual_clock import VirtualClock

MEDIA = ("voice", "sketch", "clip")
HEARTBEAT_S = 5.0
WHOLE = Scope()


class Bytes:
    """The artifact store: bytes by checksum, in memory. `away` makes it unreadable, `low` its disk nearly full."""

    def __init__(self) -> None:
        self.content: dict[str, bytes] = {}
        self.away = False
        self.low = False

    def keep(self, content: bytes) -> str:
        """Put bytes in; their checksum."""
        if self.away:
            raise ArtifactStoreUnavailableError
        checksum = sha256(content).hexdigest()
        self.content[checksum] = content
        return checksum

    @property
    def where(self) -> str:
        """Nowhere."""
        return "memory"

    async def put(self, source: Path, suffix: str) -> tuple[str, int]:
        """Workers of these tests have no files."""
        raise NotImplementedError

    async def path(self, checksum: str, suffix: str) -> Path | None:
        """A path that names the checksum."""
        if self.away:
            raise ArtifactStoreUnavailableError
        return Path(checksum) if checksum in self.content else None

    async def missing(self, artifacts: Sequence[tuple[str, str]]) -> list[tuple[str, str]]:
        """Those that are not there."""
        return [one for one in artifacts if await self.path(*one) is None]

    async def whole(self, checksum: str, suffix: str) -> bool | None:
        """Whether the bytes are right."""
        if await self.path(checksum, suffix) is None:
            return None
        return sha256(self.content[checksum]).hexdigest() == checksum

    async def delete(self, checksum: str, suffix: str) -> None:
        """Remove bytes."""
        self.content.pop(checksum, None)

    async def check(self) -> Reason | None:
        """How the store is."""
        if self.away:
            return Reason.ARTIFACT_STORE_UNAVAILABLE
        return Reason.DISK_LOW if self.low else None


class ToyChecker:
    """Knows what parts must be, byte for byte. A merge is believed here; the invariants check it with its inputs."""

    def __init__(self, stored: Bytes) -> None:
        self._stored = stored
        self.checked: Counter[str] = Counter()

    async def check(self, media: str, kind: str, structure: Structure, path: Path) -> tuple[Facts, str | None]:
        """Right or wrong."""
        self.checked[kind] += 1
        content = self._stored.content[str(path)]
        right = content.startswith(kind.encode() + b"|") and not content.endswith(b"spoiled")
        facts = Facts(codec="right" if right else "wrong", duration=1.0)
        return facts, REGISTRY[media].check(structure, facts)


@dataclass
class Fate:
    """What becomes of a claimed job: it takes `seconds`, then succeeds, or fails in one of many ways."""

    seconds: float = 1.0
    failure: FailureType | None = None
    code: str = "made_up"
    spoiled: bool = False  # the bytes are not as ordered
    silent: bool = False  # no heartbeat, no result
    twice: bool = False  # delivers the result a second time
    late: float = 0.0  # delivers only so long after it was done, without heartbeats


Choose = Callable[[Claim, int], Fate]


@dataclass
class Crew:
    """Workers that do what `fate` says of (claim, how often this job was started before)."""

    stage: Stage
    fate: Choose = lambda claim, times: Fate()
    started: Counter[str] = field(default_factory=Counter)  # by job id
    by_hash: Counter[str] = field(default_factory=Counter)  # by (kind, hash)
    stopped: Counter[str] = field(default_factory=Counter)  # told to stop, by job id
    running: int = 0

    async def work(self, hub: LocalHub, worker: Worker) -> None:
        """Claim and do for ever."""
        async with asyncio.TaskGroup() as hands:
            free, known = dict(worker.profiles), False
            while True:
                wanted = {name: slots for name, slots in free.items() if slots}
                try:
                    if not known:
                        await hub.register(worker)
                        known = True
                    claims = await hub.claim(worker, wanted, timedelta(seconds=30))
                except ArtifactStoreUnavailableError:
                    await self.stage.clock.sleep(1.0)
                    continue
                for claim in claims:
                    free[claim.job.profile] -= 1
                    hands.create_task(self._do(hub, worker, claim, free))
                if not any(free.values()):
                    await self.stage.clock.sleep(0.5)

    async def _do(self, hub: LocalHub, worker: Worker, claim: Claim, free: dict[str, int]) -> None:
        fate = self.fate(claim, self.started[claim.job.job_id])
        self.started[claim.job.job_id] += 1
        self.by_hash[claim.job.input_hash] += 1
        self.running += 1
        try:
            await self._live(hub, worker, claim, fate)
        finally:
            self.running -= 1
            free[claim.job.profile] += 1

    async def _live(self, hub: LocalHub, worker: Worker, claim: Claim, fate: Fate) -> None:
        clock = self.stage.clock
        if fate.silent:
            await clock.sleep(120.0)
            return
        left = fate.seconds
        while left > 0:
            step = min(left, HEARTBEAT_S)
            await clock.sleep(step)
            left -= step
            (answer,) = await hub.heartbeat(worker, [Running(claim.job.job_id, claim.claim_no, fate.seconds - left)])
            if answer is Answer.STOP:
                self.stopped[claim.job.job_id] += 1
                await hub.hand_back(worker, [claim])
                return
        await clock.sleep(fate.late)
        await self._deliver(hub, worker, claim, fate)

    async def _deliver(self, hub: LocalHub, worker: Worker, claim: Claim, fate: Fate) -> None:
        for _ in range(2 if fate.twice else 1):
            while not await self._is_answered(hub, claim, fate):
                await self.stage.clock.sleep(1.0)
                await hub.heartbeat(worker, [Running(claim.job.job_id, claim.claim_no, fate.seconds)])

    async def _is_answered(self, hub: LocalHub, claim: Claim, fate: Fate) -> bool:
        try:
            return await self._tell(hub, claim, fate) != Reason.ARTIFACT_GONE
        except (EngineStoppedError, ArtifactStoreUnavailableError, StorageUnavailableError):
            return False

    async def _tell(self, hub: LocalHub, claim: Claim, fate: Fate) -> str:
        if fate.failure is not None:
            return await hub.fail(claim, fate.failure, fate.code, f"made to fail: {fate.code}")
        job = claim.job
        inputs = [self.stage.bytes.content.get(one, b"gone") for one in job.inputs]
        content = content_of(job.kind, job.params, inputs) + (b"spoiled" if fate.spoiled else b"")
        return await hub.finish(claim, Uploaded(self.stage.bytes.keep(content), len(content), ".x"))


_SCHEMA: list[str] = []


async def _schema() -> Sequence[str]:
    """The statements that make an empty database: migrating for each test would take most of its time."""
    if not _SCHEMA:
        database = InPlaceDatabase(lambda: 0.0)
        await open_storage(database, REGISTRY, create=True)
        raw = database._connection.connection.driver_connection
        assert isinstance(raw, sqlite3.Connection)
        _SCHEMA.extend(line for line in raw.iterdump() if line not in ("BEGIN TRANSACTION;", "COMMIT;"))
        await database.close()
    return _SCHEMA


def _copy_schema(connection: Connection, schema: Sequence[str]) -> None:
    for statement in schema:
        connection.exec_driver_sql(statement)


class _Wrong:
    """A clock that tells another time, and runs as it should."""

    def __init__(self, clock: VirtualClock, by: float) -> None:
        self._clock = clock
        self._by = by

    def now(self) -> float:
        return self._clock.now() + self._by

    async def sleep(self, seconds: float) -> None:
        await self._clock.sleep(seconds)


class Stage:
    """Everything that one test needs, on one virtual clock."""

    def __init__(
        self,
        registry: Registry = REGISTRY,
        *,
        limits: Limits | None = None,
        window: bool = False,
        profiles: Sequence[str] = PROFILES,
    ) -> None:
        self.clock = VirtualClock()
        self.wrong_by = 0.0  # seconds, of the engine's own clock
        self.profiles = profiles
        self.registry = registry
        self.limits = limits or Limits.of(registry)
        self.bytes = Bytes()
        self.checker: Checker = ToyChecker(self.bytes)
        self.coordination = MemoryCoordination(self.clock, self.limits, window=window)
        self.config = EngineConfig(era_window_s=40.0 if window else 0.0)
        self.alarms: list[Alarm] = []
        self.database: InPlaceDatabase
        self.storage: SqlStorage
        self.largest_quota = 64
        self.crew = Crew(self)
        self._ids = 0

    async def open(self) -> None:
        """Make the database."""
        self.database = InPlaceDatabase(self.clock.now)
        await self.database.write(_copy_schema, await _schema())
        self.storage = await open_storage(self.database, self.registry, create=False)

    def engine(self, name: str = "e") -> Engine:
        """An engine on this stage."""

        def new_id() -> str:
            self._ids += 1
            return f"{name}{self._ids:031x}"

        return Engine(
            storage=self.storage,
            coordination=self.coordination,
            artifacts=self.bytes,
            checker=self.checker,
            registry=self.registry,
            clock=_Wrong(self.clock, self.wrong_by),
            config=self.config,
            new_dispatch_id=new_id,
            rng=Random(name),
            report=self.alarms.append,
        )

    def hub(self, engine: Engine) -> LocalHub:
        """A hub that delivers to an engine."""
        return LocalHub(
            self.coordination, engine.results, self.bytes, self.storage, media=self.registry, clock=self.clock
        )

    @asynccontextmanager
    async def playing(self, engine: Engine | None = None, *, slots: int = 4, workers: int = 1) -> AsyncIterator[Engine]:
        """An engine and its workers at work while the block runs."""
        engine = engine or self.engine()
        await engine.start()
        hub = self.hub(engine)
        crew = [
            asyncio.create_task(self.crew.work(hub, Worker("wrk", str(n), dict.fromkeys(self.profiles, slots))))
            for n in range(workers)
        ]
        try:
            yield engine
        finally:
            for task in crew:
                task.cancel()
            ended = await asyncio.gather(*crew, return_exceptions=True)
            await engine.stop()
            for error in ended:
                if isinstance(error, Exception):
                    raise error

    @asynccontextmanager
    async def beside(self, work: Coroutine[Any, Any, None]) -> AsyncIterator[None]:
        """Something else at work while the block runs."""
        task = asyncio.create_task(work)
        try:
            yield
        finally:
            task.cancel()
            (ended,) = await asyncio.gather(task, return_exceptions=True)
            if isinstance(ended, Exception):
                raise ended

    async def save(self, made: Book, settings: ContentSettings | None = None) -> BookKey:
        """Import a book, or edit it."""
        saved = await self.storage.save_book(
            made,
            settings=settings or ContentSettings(),
            source="",
            source_key=made.head.book_id,
            source_sha256=sha256(repr(made).encode()).hexdigest(),
        )
        return saved.book_key

    async def ask(
        self, engine: Engine, book_key: BookKey, media: Sequence[str] = MEDIA, **more: object
    ) -> OpenedRequest:
        """Open a `make` request."""
        self._ids += 1
        new = NewRequest(
            book_key=book_key,
            scope=more.pop("scope", Scope()),  # type: ignore[arg-type]
            media=tuple(media),
            idempotency_key=str(more.pop("key", f"key-{self._ids}")),
            **more,  # type: ignore[arg-type]
        )
        return await engine.requests.open(new)

    async def until_ended(self, request_id: int, seconds: float = 7200.0) -> RequestProgress:
        """Wait until a request has ended, and a little more for what follows its end."""
        until = self.clock.now() + seconds
        while True:
            progress = await self.storage.progress(request_id)
            if progress.request.state in ENDED:
                await self.clock.sleep(30.0)
                return progress
            assert self.clock.now() < until, f"the request does not end: {progress}"
            await self.clock.sleep(1.0)

    async def journal(self) -> list[JournalRow]:
        """The whole journal."""
        rows: list[JournalRow] = []
        while page := await self.storage.journal(after=rows[-1].row_id if rows else 0, limit=1000):
            rows.extend(page)
        return rows

    def run(self, play: Callable[[Stage], Awaitable[None]]) -> None:
        """Run a test on this stage's clock."""

        async def main() -> None:
            await self.open()
            try:
                await play(self)
            finally:
                await self.storage.close()

        self.clock.run(main())
