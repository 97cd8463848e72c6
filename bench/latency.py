"""How soon: results that arrive one by one, and one asset's way through an idle system, on PostgreSQL and Valkey.

    python bench/latency.py [--rate 2500] [--senders 200] [--seconds 10] [--trips 100]

The first line is an open loop: each sender delivers a result at its time, whether its last one was answered or not; the
answer comes after bytes were looked for, and everything that follows was committed and released (`engine.results`).
Milliseconds from the time at which a result was due to its answer; `behind` is how long after the last result was due
the last answer came.

The others are whole trips: scheduler, hub, worker loop, everything that `serve` has, with a backend that has its result
at once. A request for one asset is opened while nothing else is going on; milliseconds from its commit to the commit
that makes its asset READY, without a merge step and with one. Below each stands its floor of the same run: as many
empty statements, rows inserted and committed, and empty scripts, one after the other and with as long a rest between.
"""

from __future__ import annotations

import argparse
import asyncio
import secrets
import tempfile
import time
from collections.abc import AsyncIterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path

import asyncpg
import structlog

from animastor.app import Role, compose_engine, compose_worker
from animastor.books.model import SceneId
from animastor.clock import SystemClock
from animastor.config import Settings
from animastor.coordination.redis import RedisCoordination
from animastor.coordination.redis.link import connect
from animastor.engine.engine import Engine
from animastor.engine.ports import Accepted, NewRequest, Opened, PartResult, Scope, ScopeKind
from animastor.engine.reasons import Reason
from animastor.hub.local import LocalHub
from animastor.media.audio import AUDIO, ENGLISH
from animastor.media.image import IMAGE
from animastor.media.registry import Registry
from animastor.media.types import ContentSettings, Facts, Structure
from animastor.protocol import MERGE, Pair, Ticket, Uploaded, Worker
from animastor.storage.postgres import PostgresDatabase
from animastor.storage.sql import SqlStorage, open_storage
from animastor.stores import artifact_store, coordination_limits
from animastor.tuning import tune
from animastor.workers.backends import Backends, CpuBackend
from animastor.workers.workdir import Workdir
from engine import InstantRunner, book_of
from filled import fill
from lifecycle import PICTURE, Begun, postgresql_valkey, settle, start
from servers import postgres, valkey


def share(taken: Sequence[float], part: float) -> float:
    """A quantile, in milliseconds."""
    return sorted(taken)[min(len(taken) - 1, int(len(taken) * part))] * 1e3


def settings_in(folder: Path) -> Settings:
    """A home there, on a disk that is never called full."""
    return Settings(home=folder / "home", disk_low_bytes=0, disk_low_fraction=0.0)


class Agreeing:
    """A byte check that finds in every file what was ordered, pictures and sound alike."""

    async def check(self, _media: str, _kind: str, structure: Structure, _path: Path) -> tuple[Facts, str | None]:
        """Facts as ordered."""
        width, height = structure.get("size", (0, 0))
        rate = structure.get("sample_rate", 24_000)
        return Facts(duration=2.0, samples=2 * rate, sample_rate=rate, width=width, height=height, frames=1), None


# --- results that arrive one by one ---


async def one_by_one(rate: int, senders: int, seconds: float) -> str:
    """A line about the open loop."""
    async with AsyncExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(dir=".", prefix=".bench-")))
        stores = await stack.enter_async_context(postgresql_valkey())
        count = int(rate * seconds) // 200 * 200
        await stores.database.write(fill, 2 * count, count, 1)
        await settle(stores)
        await stores.coordination.set_era(1)
        worker = Worker("bench", "1", {"storyboard": 1_000_000}, ("lane-0",))
        await stores.coordination.register(worker)
        batches = [await start(stores, Pair("picture", "lane-0"), worker) for _ in range(count // 200)]
        settings, clock = settings_in(folder), SystemClock()
        artifacts = artifact_store(settings, create=True)
        (folder / "made.png").write_bytes(b"the same picture every time")
        checksum, size = await artifacts.put(folder / "made.png", ".png")
        engine = compose_engine(
            storage=stores.storage,
            coordination=stores.coordination,
            artifacts=artifacts,
            checker=Agreeing(),
            registry=Registry([PICTURE]),
            clock=clock,
            settings=settings,
            report=print,
            role=Role.WORKER,  # nothing is dispatched meanwhile
        )
        await engine.start()
        stack.push_async_callback(engine.stop)
        tickets = [ticket for batch in batches for ticket in tickets_of(batch, clock.now())]
        answers, behind = await delivered(engine, tickets, Uploaded(checksum, size, ".png"), rate, senders)
        return (
            f"| results one by one, {rate:,}/s from {senders} senders | {share(answers, 0.5):.1f}"
            f" | {share(answers, 0.95):.1f} | {share(answers, 0.99):.1f}"
            f" | {len(answers):,} results, behind {behind * 1e3:.0f} |"
        )


def tickets_of(batch: Begun, now: float) -> list[Ticket]:
    """Tickets for the claims of a batch."""
    return [
        Ticket(
            verdict.job_id, one.asset, one.claim_no, one.dispatch_id, one.fence, one.hash, one.kind, "picture",
            verdict.worker, now,
        )
        for one, verdict in zip(batch.results, batch.verdicts, strict=True)
    ]  # fmt: skip


async def delivered(
    engine: Engine, tickets: Sequence[Ticket], uploaded: Uploaded, rate: int, senders: int
) -> tuple[list[float], float]:
    """Seconds to each answer, and how long after the last was due the last one came."""
    began = time.perf_counter() + 0.1
    answers: list[float] = []

    async def deliver(at: float, ticket: Ticket) -> None:
        answer = await engine.results.finish(ticket, uploaded)
        assert answer is Reason.ACCEPTED, answer
        answers.append(time.perf_counter() - at)

    async def sender(number: int) -> None:
        async with asyncio.TaskGroup() as group:
            for turn in range(number, len(tickets), senders):
                at = began + turn / rate
                await asyncio.sleep(max(0.0, at - time.perf_counter()))
                group.create_task(deliver(at, tickets[turn]))

    await asyncio.gather(*map(sender, range(senders)))
    return answers, time.perf_counter() - (began + (len(tickets) - 1) / rate)


# --- one asset through an idle system ---

REST_S = 0.05  # between two trips: idle again


@dataclass(frozen=True)
class Way:
    """What one trip waits for, one after the other, as a trace of it shows (`tests/storage/test_storage_messages.py`
    holds the messages)."""

    messages: int
    commits: int
    calls: int


ALONE, MERGED = Way(messages=19, commits=2, calls=6), Way(messages=27, commits=3, calls=10)


async def floor(what: str, way: Way, count: int) -> str:
    """A line about bare messages, commits and calls, as many as a trip has."""
    async with AsyncExitStack() as stack:
        sql, kv = stack.enter_context(postgres()), stack.enter_context(valkey())
        database = await asyncpg.connect(sql.url.replace("+asyncpg", ""))
        stack.push_async_callback(database.close)
        client = connect(kv.url)
        stack.push_async_callback(client.aclose)
        await database.execute("CREATE TABLE kept (word text)")
        script = await client.script_load("return 1")
        taken: list[float] = []
        for _ in range(count):
            await asyncio.sleep(REST_S)
            began = time.perf_counter()
            for _ in range(way.messages):
                await database.fetch("SELECT 1")
            for _ in range(way.commits):
                await database.execute(
                    "BEGIN; INSERT INTO kept VALUES ('a row as long as an entry of the journal'); COMMIT"
                )
            for _ in range(way.calls):
                await client.execute_command("EVALSHA", script, 1, "{bench}", "x" * 200)  # type: ignore[no-untyped-call]
            taken.append(time.perf_counter() - began)
    return (
        f"| its floor, {what} | {share(taken, 0.5):.1f} | {share(taken, 0.95):.1f} | {share(taken, 0.99):.1f}"
        f" | {way.messages} messages, {way.commits} commits, {way.calls} calls |"
    )


@dataclass
class Commits:
    """When the last request and the last READY asset were committed."""

    asked: float = 0.0
    ready: asyncio.Event = field(default_factory=asyncio.Event)
    at: float = 0.0


class Watched(SqlStorage):
    """Storage that says when it has committed."""

    commits: Commits

    async def open_request(self, new: NewRequest, entry: int = 0) -> Opened:
        """As ever."""
        opened = await super().open_request(new, entry)
        self.commits.asked = time.perf_counter()
        return opened

    async def accept(self, results_: Sequence[PartResult]) -> Sequence[Accepted]:
        """As ever."""
        accepted = await super().accept(results_)
        if any(one.ready for one in accepted):
            self.commits.at = time.perf_counter()
            self.commits.ready.set()
        return accepted


@asynccontextmanager
async def serving(registry: Registry, profiles: dict[str, str]) -> AsyncIterator[tuple[Watched, Engine]]:
    """A whole system on both servers, with an instant backend."""
    async with AsyncExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(dir=".", prefix=".bench-")))
        sql, kv = stack.enter_context(postgres()), stack.enter_context(valkey())
        settings, clock = settings_in(folder), SystemClock()
        database = PostgresDatabase(sql.url)
        await open_storage(database, registry, create=True)
        storage = Watched(database, registry)
        storage.commits = Commits()
        stack.push_async_callback(storage.close)
        coordination = RedisCoordination.connect(kv.url, clock, coordination_limits(registry, settings))
        stack.push_async_callback(coordination.close)
        artifacts = artifact_store(settings, create=True)
        engine = compose_engine(
            storage=storage, coordination=coordination, artifacts=artifacts, checker=Agreeing(), registry=registry,
            clock=clock, settings=settings, report=print,
        )  # fmt: skip
        hub = LocalHub(coordination, engine.results, artifacts, storage, media=registry, clock=clock)
        workdir = Workdir(settings.home / "work", secrets.token_hex(4))
        stack.callback(workdir.close)
        backends = Backends(
            [CpuBackend(name, {kind: "instant:run"}, lambda: None) for name, kind in profiles.items()], clock
        )
        loop = compose_worker(
            hub,
            InstantRunner(settings.home),
            backends,
            clock=clock,
            workdir=workdir,
            instance="bench",
            settings=settings,
        )
        await engine.start()
        stack.push_async_callback(engine.stop)
        worker = asyncio.create_task(loop.run())
        yield storage, engine
        loop.stop()
        await worker


async def trips(what: str, registry: Registry, profiles: dict[str, str], count: int) -> str:
    """A line about whole trips."""
    async with serving(registry, profiles) as (storage, engine):
        saved = await storage.save_book(
            book_of(count + 5), settings=ContentSettings(), source="bench", source_key="bench", source_sha256="bench"
        )
        taken: list[float] = []
        for number in range(count + 5):
            commits = storage.commits = Commits()
            scope = Scope(ScopeKind.SCENE, f"ch-{number // 100 * 100}", SceneId(f"sc-{number}"))
            opened = await engine.requests.open(NewRequest(saved.book_key, scope, tuple(registry.names), f"k{number}"))
            await commits.ready.wait()
            taken.append(commits.at - commits.asked)
            async for event in engine.requests.events(opened.request.request_id):
                if event.ended:
                    break
            await asyncio.sleep(REST_S)
    taken = taken[5:]
    return (
        f"| one asset, idle, {what} | {share(taken, 0.5):.1f} | {share(taken, 0.95):.1f} | {share(taken, 0.99):.1f}"
        f" | {count} trips |"
    )


async def measure(given: argparse.Namespace) -> None:
    """Print the table."""
    tune()
    structlog.configure(wrapper_class=structlog.make_filtering_bound_logger(40))
    print("| what | p50 ms | p95 ms | p99 ms | |\n|---|--:|--:|--:|---|", flush=True)
    print(await trips("without a merge", Registry([IMAGE]), {"storyboard": "image"}, given.trips), flush=True)
    print(await floor("without a merge", ALONE, given.trips), flush=True)
    speech = {ENGLISH.name: AUDIO.name, MERGE: AUDIO.name}
    print(await trips("with a merge", Registry([AUDIO]), speech, given.trips), flush=True)
    print(await floor("with a merge", MERGED, given.trips), flush=True)
    print(await one_by_one(given.rate, given.senders, given.seconds), flush=True)


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--rate", type=int, default=2500)
    parser.add_argument("--senders", type=int, default=200)
    parser.add_argument("--seconds", type=float, default=10.0)
    parser.add_argument("--trips", type=int, default=100)
    asyncio.run(measure(parser.parse_args()))


if __name__ == "__main__":
    main()
