"""The round trip of one asset on an idle system: from the commit of its request to the commit of READY.

    python bench/roundtrip.py [--requests 200] [--stores sqlite postgresql]

A client asks; a replica that did nothing before hears of it, plans, admits, begins and enters; its worker claims, makes
at once and delivers; the result is checked (by a checker that believes), accepted, and the asset completed; where parts
are merged, the merge is one more job. Nothing polls: the client's wake, the queue's bell and the results' own events
carry it. With PostgreSQL and Valkey client and replica have connections of their own, and fsync is on.
"""

from __future__ import annotations

import argparse
import asyncio
import secrets
import statistics
import tempfile
import time
from collections.abc import AsyncIterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import Any

from animastor.app import Role, compose_engine, compose_worker
from animastor.clock import SystemClock
from animastor.config import Settings
from animastor.coordination.memory import MemoryCoordination
from animastor.coordination.redis import RedisCoordination
from animastor.engine.engine import Engine
from animastor.engine.ports import Accepted, Coordination, Entered, NewRequest, PartResult, Scope, ScopeKind
from animastor.hub.local import LocalHub
from animastor.media.registry import Registry
from animastor.media.types import ContentSettings, MediaType, PartPlan, PlanInput, Planned
from animastor.protocol import MERGE, BookKey
from animastor.storage.postgres import PostgresDatabase
from animastor.storage.sql import SqlStorage, open_home, open_shared
from animastor.stores import artifact_store, coordination_limits
from animastor.tuning import tune
from animastor.workers.backends import Backends, CpuBackend
from animastor.workers.workdir import Workdir
from engine import Believing, InstantRunner, book_of
from servers import postgres, valkey


def _plan(name: str, *, merged: bool) -> Any:
    def plan(wanted: PlanInput) -> Planned:
        unit = wanted.scene.units[0].unit_id
        part = PartPlan(f"{name}", f"{name}-{unit}", (unit,), {"unit": unit}, (), "instant", 1.0, 1.0)
        return Planned((part,), {"parts": [part.hash]} if merged else {}, f"{name}-whole-{unit}")

    return plan


def _type(name: str, *, merged: bool) -> MediaType:
    return MediaType(
        name=name,
        plan=_plan(name, merged=merged),
        check=lambda structure, facts: None,
        facts_of=lambda parts, whole: {},
        suffixes={name: ".x", MERGE: ".y"},
        merges=merged,
    )


REGISTRY = Registry([_type("picture", merged=False), _type("sound", merged=True)])


class Watched(SqlStorage):
    """Storage that notes when what it committed was a request, or READY."""

    asked: float = 0.0
    ready: asyncio.Event
    ready_at: float = 0.0

    async def enter(self, request_id: int, limit: int) -> Entered:
        """Enter, and note when that was committed."""
        answer = await super().enter(request_id, limit)
        self.asked = time.perf_counter()
        return answer

    async def accept(self, results_: Sequence[PartResult]) -> Sequence[Accepted]:
        """Accept, and note when an asset became READY."""
        answers = await super().accept(results_)
        if any(answer.ready for answer in answers):
            self.ready_at = time.perf_counter()
            self.ready.set()
        return answers


@asynccontextmanager
async def embedded(folder: Path) -> AsyncIterator[tuple[Watched, Coordination, Watched, Coordination]]:
    """SQLite and memory: client and replica are one."""
    clock = SystemClock()
    opened = await open_home(folder / "bench.db", REGISTRY, clock, writable=True)
    storage = Watched(opened._db, REGISTRY)
    coordination = MemoryCoordination(clock, coordination_limits(REGISTRY, Settings()))
    yield storage, coordination, storage, coordination
    await storage.close()


@asynccontextmanager
async def shared(folder: Path) -> AsyncIterator[tuple[Watched, Coordination, Watched, Coordination]]:
    """PostgreSQL and Valkey: each with connections of its own."""
    clock = SystemClock()
    with postgres() as database, valkey() as store:
        made: list[Any] = []
        for _ in range(2):
            opened = await open_shared(PostgresDatabase(database.url), REGISTRY, create=True)
            limits = coordination_limits(REGISTRY, Settings())
            made += [Watched(opened._db, REGISTRY), RedisCoordination.connect(store.url, clock, limits)]
        yield made[0], made[1], made[2], made[3]
        for one in made:
            await one.close()


STORES = {"sqlite": embedded, "postgresql": shared}


async def measure(name: str, requests: int) -> dict[str, list[float]]:
    """Milliseconds of each round trip, by media type."""
    took: dict[str, list[float]] = {media: [] for media in REGISTRY.names}
    async with AsyncExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="animastor-bench-")))
        asking, heard, working, said = await stack.enter_async_context(STORES[name](folder))
        client = await _started(stack, folder, asking, heard, Role.CLIENT) if working is not asking else None
        replica = await _started(stack, folder, working, said, Role.REPLICA)
        saved = await asking.save_book(
            book_of(requests), settings=ContentSettings(), source="b", source_key="b", source_sha256="b"
        )
        tune()
        await asyncio.sleep(1.0)
        for number in range(requests):
            for media, times in took.items():
                times.append(await _once(client or replica, asking, working, saved.book_key, number, media))
    return took


async def _once(engine: Engine, asking: Watched, working: Watched, book: BookKey, number: int, media: str) -> float:
    working.ready = asyncio.Event()
    scope = Scope(ScopeKind.SCENE, f"ch-{number // 100 * 100}", f"sc-{number}")
    await engine.requests.open(NewRequest(book, scope, (media,), secrets.token_hex(8), kind="other"))
    await working.ready.wait()
    took = 1000 * (working.ready_at - asking.asked)
    await asyncio.sleep(0.03)  # idle again
    return took


async def _started(
    stack: AsyncExitStack, folder: Path, storage: Watched, coordination: Coordination, role: Role
) -> Engine:
    clock = SystemClock()
    settings = Settings(home=folder, disk_low_bytes=0, disk_low_fraction=0.0)
    artifacts = artifact_store(settings, create=True)
    engine = compose_engine(
        storage=storage,
        coordination=coordination,
        artifacts=artifacts,
        checker=Believing(),
        registry=REGISTRY,
        clock=clock,
        settings=settings,
        report=print,
        role=role,
    )
    await engine.start()
    stack.push_async_callback(engine.stop)
    if role is Role.REPLICA:
        workdir = Workdir(folder / "work", secrets.token_hex(4))
        stack.callback(workdir.close)
        hub = LocalHub(coordination, engine.results, artifacts, storage, media=REGISTRY, clock=clock)
        functions = dict.fromkeys(REGISTRY.names, "instant:run")
        backends = Backends([CpuBackend(one, functions, lambda: None) for one in ("instant", MERGE)], clock)
        loop = compose_worker(
            hub, InstantRunner(folder), backends, clock=clock, workdir=workdir, instance="bench", settings=settings
        )
        serving = asyncio.create_task(loop.run())

        async def end() -> None:
            loop.stop()
            await serving

        stack.push_async_callback(end)
    return engine


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--requests", type=int, default=200)
    parser.add_argument("--stores", nargs="*", default=list(STORES), choices=list(STORES))
    asked = parser.parse_args()
    print(f"{'stores':<22} {'asset':<16} {'p50 ms':>8} {'p95 ms':>8} {'p99 ms':>8}")
    for name in asked.stores:
        for media, times in asyncio.run(measure(name, asked.requests)).items():
            cut = statistics.quantiles(times, n=100)
            what = "with a merge" if REGISTRY[media].merges else "without a merge"
            pair = "SQLite, memory" if name == "sqlite" else "PostgreSQL, Valkey"
            print(f"{pair:<22} {what:<16} {statistics.median(times):8.1f} {cut[94]:8.1f} {cut[98]:8.1f}")


if __name__ == "__main__":
    main()
