"""A small world to store: media types that need no programs, books of any size, and a driver that works them off."""

from __future__ import annotations

import sqlite3
from collections.abc import AsyncIterator, Iterable, Mapping, Sequence
from contextlib import asynccontextmanager, closing
from dataclasses import dataclass, field, replace
from functools import cache
from hashlib import sha256
from itertools import count
from pathlib import Path
from typing import Any

from sqlalchemy import Connection, text
from sqlalchemy.ext.asyncio import AsyncConnection

from animastor.books.codec import scene_from_json
from animastor.books.model import Book, BookHead, BookId, Chapter, ChapterId, Scene, SceneId, Unit, UnitId
from animastor.engine.ports import (
    Accepted,
    Begin,
    Begun,
    Gift,
    JobSource,
    NewRequest,
    Opened,
    PartFailure,
    PartResult,
    PartRow,
    PlanRow,
    PlanStored,
    Scope,
    StorePlan,
    TakeRow,
)
from animastor.engine.states import State
from animastor.media.giving import is_outdated, with_given
from animastor.media.hashing import digest
from animastor.media.registry import Registry
from animastor.media.types import (
    ContentSettings,
    Facts,
    MadePart,
    MediaType,
    PartPlan,
    PlanInput,
    Planned,
    Structure,
    Waiting,
)
from animastor.protocol import MERGE, AssetId, BookKey, DispatchId, FailureType, Pair, Uploaded
from animastor.storage import versions
from animastor.storage.database import InPlaceDatabase
from animastor.storage.postgres import PostgresDatabase
from animastor.storage.sql import SqlStorage

LANE = "system"


def plan_sound(wanted: PlanInput) -> Planned:
    """A chunk for each unit with text, merged."""
    return _planned(
        "sound", [_part("chunk", u, wanted, [u.text, wanted.head.narrator_voice]) for u in _spoken(wanted)], wanted
    )


def plan_picture(wanted: PlanInput) -> Planned:
    """A picture for each unit, without a merge."""
    return _planned("picture", [_part("picture", u, wanted, [u.image.prompt]) for u in wanted.scene.units], wanted)


def plan_clip(wanted: PlanInput) -> Planned | Waiting:
    """One shot from all pictures, as long as the sound."""
    picture, sound = wanted.dependencies["picture"], wanted.dependencies["sound"]
    if picture.status != "ready":
        return Waiting(("picture",))
    if sound.status == "awaited":
        return Waiting(("sound",))
    shown = sorted(picture.facts["units"].items())
    length = sound.facts.get("duration", 1.0) if sound.status == "ready" else 1.0
    structure = {"kind": "shot", "pictures": shown, "length": length}
    units = tuple(unit.unit_id for unit in wanted.scene.units)
    part = PartPlan(
        "shot", digest(structure), units, structure, tuple(sum_ for _, sum_ in shown), "motion", length, 1.0
    )
    return _planned("clip", [part], wanted)


def _spoken(wanted: PlanInput) -> list[Unit]:
    return [unit for unit in wanted.scene.units if unit.text]


def _part(kind: str, unit: Unit, wanted: PlanInput, about: list[str]) -> PartPlan:
    structure = {"kind": kind, "about": about, "unit": unit.unit_id, "take": wanted.takes.get(unit.unit_id, 0)}
    return PartPlan(kind, digest(structure), (unit.unit_id,), structure, (), kind, 1.0, float(len(about[0]) + 1))


def _planned(name: str, made: list[PartPlan], wanted: PlanInput) -> Planned:
    parts = with_given(made, wanted.previous)
    merge = {"kind": "merge", "media": name, "parts": [part.hash for part in parts]}
    return Planned(parts, merge, digest(merge))


def _sound_facts(parts: Sequence[MadePart], merged: Facts | None) -> dict[str, Any]:
    return {"duration": float(len(parts)), "parts": [part.artifact for part in parts]}


def _picture_facts(parts: Sequence[MadePart], merged: Facts | None) -> dict[str, Any]:
    return {"units": {unit: part.artifact for part in parts for unit in part.plan.unit_ids}}


def _fine(structure: Structure, facts: Facts) -> str | None:
    return None


SOUND = MediaType("sound", plan_sound, _fine, _sound_facts, {"chunk": ".wav", "merge": ".flac"}, retry_limit=3)
PICTURE = MediaType("picture", plan_picture, _fine, _picture_facts, {"picture": ".png"}, merges=False, retry_limit=3)
CLIP = MediaType(
    "clip", plan_clip, _fine, _sound_facts, {"shot": ".mp4", "merge": ".mp4"}, requires=("picture",),
    follows=("sound",), retry_limit=2,
)  # fmt: skip
REGISTRY = Registry([SOUND, PICTURE, CLIP])
ALL = ("sound", "picture", "clip")


@dataclass
class Time:
    """A clock that a test moves."""

    now: float = 1_000_000.0

    def __call__(self) -> float:
        return self.now


def unit(name: str, text: str = "", prompt: str = "") -> Unit:
    """A unit whose text and picture say something of their own."""
    return Unit(
        UnitId(name), text or f"text of {name}", image=replace(Unit(UnitId(name), "").image, prompt=prompt or name)
    )


def scene(name: str, *units: Unit) -> Scene:
    """A scene; with one unit when none is given."""
    return Scene(SceneId(name), units or (unit(f"{name}-u1"),))


def chapter(name: str, *scenes: Scene) -> Chapter:
    """A chapter."""
    return Chapter(ChapterId(name), scenes, title=name.title())


def book(*chapters: Chapter, name: str = "tale", **head: Any) -> Book:
    """A book; with one chapter of three scenes when none is given."""
    scenes = [scene(f"sc-{n}", unit(f"{name}-{n}-a"), unit(f"{name}-{n}-b")) for n in range(3)]
    return Book(BookHead(BookId(name), title=name, **head), chapters or (chapter("ch-1", *scenes),))


def large_book(scenes: int, name: str = "large", units: int = 1) -> Book:
    """A book of many small scenes, 100 to a chapter."""
    made = [scene(f"s{n}", *(unit(f"{name}{n}-{k}") for k in range(units))) for n in range(scenes)]
    chapters = [chapter(f"c{n}", *made[n : n + 100]) for n in range(0, scenes, 100)]
    return book(*chapters, name=name)


def with_text(old: Book, unit_id: str, text: str) -> Book:
    """The book with another text of one unit."""

    def edit(one: Unit) -> Unit:
        return replace(one, text=text) if one.unit_id == unit_id else one

    return Book(
        old.head,
        tuple(
            replace(c, scenes=tuple(replace(s, units=tuple(map(edit, s.units))) for s in c.scenes))
            for c in old.chapters
        ),
    )


def store_plan(row: PlanRow, head: BookHead, registry: Registry = REGISTRY) -> StorePlan:
    """What an engine stores for a row."""
    media = registry[row.media]
    planned = media.plan(
        PlanInput(head, scene_from_json(row.scene), ContentSettings(), row.takes, row.dependencies, row.previous)
    )
    if isinstance(planned, Waiting):
        return StorePlan(row.asset, row.plan_seq, waiting_on=planned.on)
    merge = None
    if media.merges and planned.parts:
        merge = PartRow(planned.wanted_hash, MERGE, (), planned.merge, (), MERGE, 0.0, 1.0)
    parts = tuple(
        PartRow(
            p.hash,
            p.kind,
            p.unit_ids,
            p.structure,
            p.inputs,
            p.profile,
            p.estimate_s,
            p.work,
            p.own_hash,
            is_outdated(p),
        )
        for p in planned.parts
    )
    return StorePlan(row.asset, row.plan_seq, planned.wanted_hash, parts, merge)


def uploaded(source: JobSource, salt: str = "") -> Uploaded:
    """Bytes made for a job: their checksum follows from its hash."""
    return Uploaded(sha256(f"{source.hash}{salt}".encode()).hexdigest(), 100, ".bin", Facts(duration=1.0, codec="x"))


def gift_of(take: TakeRow, *, supplied: bool = False) -> Gift:
    """A take that shall stay where it is: pinned, or as if it had been supplied."""
    return Gift(
        take.asset, take.kind, 0, take.unit_ids, take.artifact, take.suffix, take.size, take.facts, take.params,
        take.hash, supplied,
    )  # fmt: skip


@cache
def _template() -> sqlite3.Connection:
    """A migrated empty database; copying it is quicker than migrating again."""
    database = InPlaceDatabase(Time())
    database.run(versions.migrate)
    copy = sqlite3.connect(":memory:", check_same_thread=False)
    raw = database._connection.connection.driver_connection
    assert isinstance(raw, sqlite3.Connection)
    raw.backup(copy)
    database._connection.close()
    database._engine.dispose()
    return copy


def migrated(time: Time) -> InPlaceDatabase:
    """A migrated empty database in place."""
    database = InPlaceDatabase(time)
    raw = database._connection.connection.driver_connection
    assert isinstance(raw, sqlite3.Connection)
    _template().backup(raw)
    return database


def migrated_file(path: Path) -> None:
    """A migrated empty database in a file."""
    with closing(sqlite3.connect(path)) as raw:
        _template().backup(raw)


def empty(connection: Connection) -> None:
    """Leave nothing in a PostgreSQL database but its tables and versions."""
    names = text(
        "SELECT tablename FROM pg_tables WHERE schemaname = 'public' AND tablename NOT IN ('alembic_version', 'meta')"
    )
    tables = ", ".join(f'"{row.tablename}"' for row in connection.execute(names))
    connection.execute(text(f"TRUNCATE {tables} RESTART IDENTITY"))
    connection.execute(text("UPDATE meta SET value = 0 WHERE name NOT IN ('schema', 'planner', 'layout')"))
    connection.execute(text("DELETE FROM meta WHERE name = 'artifact_store'"))


@dataclass
class Work:
    """An asset in work: its dispatch, and the jobs that are missing."""

    asset: AssetId
    dispatch_id: DispatchId
    fence: int
    missing: tuple[JobSource, ...]


@dataclass
class Driver:
    """Works a storage off like an engine with a perfect worker; tests may take each step themselves."""

    storage: SqlStorage
    time: Time
    registry: Registry = REGISTRY
    ids: Iterable[int] = field(default_factory=lambda: count(1))
    heads: dict[tuple[BookKey, int], BookHead] = field(default_factory=dict)
    made: list[str] = field(default_factory=list)
    claims: Iterable[int] = field(default_factory=lambda: count(1))

    def next_id(self, word: str = "d") -> DispatchId:
        """A new dispatch id."""
        return DispatchId(f"{word}{next(iter(self.ids))}")

    async def save(self, saved: Book, **more: Any) -> BookKey:
        """Import or edit."""
        given = {"settings": None, "source": "test", "source_key": saved.head.book_id, "source_sha256": "", **more}
        return (await self.storage.save_book(saved, **given)).book_key

    async def request(
        self, key: BookKey, media: Sequence[str] = ALL, scope: Scope | None = None, **more: Any
    ) -> Opened:
        """Open and enter a request."""
        opened = await self.open(key, media, scope, **more)
        while not (await self.storage.enter(opened.request.request_id, 1000)).done:
            pass
        return opened

    async def open(self, key: BookKey, media: Sequence[str] = ALL, scope: Scope | None = None, **more: Any) -> Opened:
        """Open a request only."""
        given = {"idempotency_key": f"key{next(iter(self.ids))}", **more}
        return await self.storage.open_request(NewRequest(key, scope or Scope(), tuple(media), **given))

    async def plans(self, rows: Sequence[PlanRow]) -> list[StorePlan]:
        """Plan rows."""
        return [store_plan(row, await self._head(row), self.registry) for row in rows]

    async def _head(self, row: PlanRow) -> BookHead:
        key = (row.book_key, row.revision)
        if key not in self.heads:
            (context,) = await self.storage.contexts([row.book_key])
            self.heads[row.book_key, context.revision] = context.head
        return self.heads[key]

    async def replan(self) -> list[PlanStored]:
        """Replan until nothing is unplanned."""
        stored: list[PlanStored] = []
        while rows := await self.storage.unplanned(500):
            stored += await self.storage.store_plans(await self.plans(rows))
        return stored

    async def replan_only(self, media: str) -> list[PlanStored]:
        """Replan what is unplanned of one media type."""
        rows = [row for row in await self.storage.unplanned(500) if row.media == media]
        return list(await self.storage.store_plans(await self.plans(rows)))

    async def plan_due(self, media: str, limit: int = 200) -> tuple[list[PlanRow], list[PlanStored]]:
        """One round of planning what is due."""
        walk = await self.storage.due(Pair(media, LANE), limit, limit, 0)
        return list(walk.rows), list(await self.storage.store_plans(await self.plans(walk.rows)))

    async def start(self, media: str, limit: int = 200) -> list[Work]:
        """Plan and begin what is due."""
        rows, stored = await self.plan_due(media, limit)
        ready = [
            (row, one) for row, one in zip(rows, stored, strict=True) if one.state is State.PENDING and one.missing
        ]
        begins = [Begin(row.asset, self.next_id(), row.plan_seq) for row, _ in ready]
        begun: Sequence[Begun] = await self.storage.begin(begins) if begins else ()
        return [
            Work(one.asset, one.dispatch_id, one.fence, stored_.missing)
            for one, (_, stored_) in zip(begun, ready, strict=True)
            if one.begun
        ]

    def result(self, work: Work, source: JobSource, salt: str = "") -> PartResult:
        """A finished job."""
        self.made.append(source.hash)
        return PartResult(
            work.asset, source.hash, source.kind, work.dispatch_id, work.fence, self.claim(), uploaded(source, salt)
        )

    def claim(self) -> int:
        """The next claim number."""
        return next(iter(self.claims))

    def failure(self, work: Work, source: JobSource, **more: Any) -> PartFailure:
        """A failed job."""
        given: Mapping[str, Any] = {
            "claim_no": self.claim(), "failure": FailureType.TRANSIENT, "code": "broken", "message": "it broke",
            "worker": "w", "jitter": 0.5, **more,
        }  # fmt: skip
        return PartFailure(work.asset, source.hash, source.kind, **given)

    async def finish(self, work: Work, sources: Sequence[JobSource] | None = None) -> list[Accepted]:
        """Deliver these jobs (all by default), and the merges that follow."""
        answers = list(await self.storage.accept([self.result(work, s) for s in sources or work.missing]))
        merges = {one.merge.hash: one.merge for one in answers if one.merge is not None}
        for merge in merges.values():
            answers += await self.storage.accept([self.result(work, merge)])
        return answers

    async def run(self, media: Sequence[str] = ALL) -> int:
        """Work off everything that can be; how many assets were dispatched."""
        started = 0
        while True:
            for request in await self.storage.preparing():
                while not (await self.storage.enter(request.request_id, 1000)).done:
                    pass
            await self.storage.wake_later()
            moved = len(await self.replan())
            for name in media:
                works = await self.start(name)
                for work in works:
                    await self.finish(work)
                started += len(works)
                moved += len(works)
            await self.storage.mark_released(await self.storage.unreleased(1000))
            due = [(await self.plan_due(name))[1] for name in media]
            if not moved and not any(due) and not await self.storage.unplanned(1):
                await self.storage.finish_requests()
                return started

    async def states(self, key: BookKey) -> dict[tuple[str, str], State]:
        """The state of each asset by (scene id, media type)."""
        rows = await self.storage.export_rows(key, Scope())
        return {(row.scene_id, media): one.state for row in rows for media, one in row.media.items()}


@asynccontextmanager
async def in_transaction(database: PostgresDatabase) -> AsyncIterator[tuple[AsyncConnection, Any]]:
    """A connection in the middle of a transaction, which is the caller's to end."""
    async with database._engine.connect() as connection:
        raw = (await connection.get_raw_connection()).driver_connection
        assert raw is not None
        transaction = raw.transaction()
        await transaction.start()
        yield connection, transaction
