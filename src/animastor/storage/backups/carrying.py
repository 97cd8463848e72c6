"""Carrying artifacts into a backup and out of one: each is checked on the way, and what is there already stays.

`told` is called with (how many of all, bytes so far). Some travel at once, as a store may be far away.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Final

from animastor.engine.ports import ArtifactStore
from animastor.storage.backups.manifest import ARTIFACT_TABLE
from animastor.storage.backups.places import BackupSource, BackupTarget
from animastor.storage.backups.tables import rows_of

AT_ONCE: Final = 8
Told = Callable[[int, int], Awaitable[None]]


@dataclass(frozen=True, slots=True)
class Named:
    """An artifact that a database names. One that is being collected may be gone: nothing uses it."""

    checksum: str
    suffix: str
    size: int
    collecting: bool


@dataclass(frozen=True, slots=True)
class Carried:
    """How many artifacts there were and their bytes; `absent` were not there, or not with the right bytes."""

    artifacts: int
    size: int
    absent: tuple[str, ...]  # checksums, without those that were being collected
    unused: tuple[str, ...]  # absent, but nothing needs them


async def carry_in(tables: Path, store: ArtifactStore, target: BackupTarget, told: Told) -> Carried:
    """Copy every artifact that dumped tables name. Raises `ArtifactStoreUnavailableError`, `OSError`."""

    async def one(named: Named) -> bool:
        if await target.holds(named.checksum, named.suffix):
            return True
        path = await store.path(named.checksum, named.suffix)
        return path is not None and await target.add(path, named.checksum, named.suffix)

    return await _all(tables, one, told)


async def carry_out(tables: Path, source: BackupSource, store: ArtifactStore, told: Told) -> Carried:
    """Put every artifact that the tables of a backup name into a store. Raises as `carry_in`."""

    async def one(named: Named) -> bool:
        if await store.whole(named.checksum, named.suffix):
            return True
        async with source.take(named.checksum, named.suffix) as path:
            if path is None:
                return False
            stored, _ = await store.put(path, named.suffix)
        if stored != named.checksum:
            await store.delete(stored, named.suffix)
        return stored == named.checksum

    return await _all(tables, one, told)


async def _all(tables: Path, one: Callable[[Named], Awaitable[bool]], told: Told) -> Carried:
    seen, size = 0, 0
    absent, unused = list[str](), list[str]()
    rows = _named(tables)
    while some := list(islice(rows, AT_ONCE)):
        there = await _gathered([one(named) for named in some])
        for named, found in zip(some, there, strict=True):
            if not found:
                (unused if named.collecting else absent).append(named.checksum)
            size += named.size * found
        seen += len(some)
        await told(seen, size)
    return Carried(seen - len(absent) - len(unused), size, tuple(absent), tuple(unused))


async def _gathered(calls: Sequence[Awaitable[bool]]) -> Sequence[bool]:
    """All answers; the first error is raised when all have ended, so that nothing is written any more."""
    answers = await asyncio.gather(*calls, return_exceptions=True)
    for answer in answers:
        if isinstance(answer, BaseException):
            raise answer
    return [bool(answer) for answer in answers]


def _named(tables: Path) -> Iterator[Named]:
    for row in rows_of(tables / f"{ARTIFACT_TABLE}.jsonl.gz"):
        yield Named(row["checksum"], row["suffix"], row["size"], bool(row["collecting"]))
