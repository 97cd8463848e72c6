"""Whether there is room: a disk that is found full is told to whoever runs the command, at once.

The worker would try again and again, as a fleet's worker should; a person at a terminal wants to know, free some space
and run the same command again. So the two places where a job's bytes are written are watched here: the work folder
(by the failures of children) and the artifact store.
"""

from __future__ import annotations

import asyncio
import errno
import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from animastor.engine.ports import ArtifactStore, StorageFullError
from animastor.engine.reasons import Reason
from animastor.workers.backend import BackendError, Produced, Progress
from animastor.workers.failures import DISK_FULL
from animastor.workers.work import Runner, Work


@dataclass(frozen=True, slots=True)
class Full:
    """A place whose disk is full."""

    place: str
    error: OSError


class Room:
    """Remembers the first place that was found full."""

    def __init__(self) -> None:
        self._found: asyncio.Future[Full] = asyncio.get_running_loop().create_future()

    def full(self, place: str) -> None:
        """This place has no room left."""
        if not self._found.done():
            self._found.set_result(Full(place, OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), place)))

    async def wait(self) -> Full:
        """Return when a place was found full."""
        return await asyncio.shield(self._found)


class WatchedRunner(Runner):
    """Runs work by another runner; a job that found no room in `place` is told."""

    def __init__(self, runner: Runner, place: Path, room: Room) -> None:
        self._runner = runner
        self._place = place
        self._room = room
        self._running = 0

    @property
    def count(self) -> int:
        """How many pieces of work run at once."""
        return self._runner.count

    @property
    def busy(self) -> bool:
        """Whether any work is being done."""
        return self._running > 0

    async def run(self, work: Work, progress: Progress) -> Produced:
        """Run it. Raises as the other runner does."""
        self._running += 1
        try:
            return await self._runner.run(work, progress)
        except BackendError as error:
            if error.code == DISK_FULL:
                self._room.full(str(self._place))
            raise
        finally:
            self._running -= 1


class WatchedStore(ArtifactStore):
    """An artifact store; when it has no room for an artifact, that is told."""

    def __init__(self, store: ArtifactStore, room: Room) -> None:
        self._store = store
        self._room = room

    @property
    def where(self) -> str:
        """Where the store is, for people."""
        return self._store.where

    async def put(self, source: Path, suffix: str) -> tuple[str, int]:
        """Take a finished file in."""
        try:
            return await self._store.put(source, suffix)
        except StorageFullError:
            self._room.full(self._store.where)
            raise

    async def path(self, checksum: str, suffix: str) -> Path | None:
        """The file with these bytes."""
        return await self._store.path(checksum, suffix)

    async def missing(self, artifacts: Sequence[tuple[str, str]]) -> Sequence[tuple[str, str]]:
        """Those of whose bytes there are none."""
        return await self._store.missing(artifacts)

    async def whole(self, checksum: str, suffix: str) -> bool | None:
        """Whether the bytes are the right ones."""
        return await self._store.whole(checksum, suffix)

    async def delete(self, checksum: str, suffix: str) -> None:
        """Remove the bytes."""
        await self._store.delete(checksum, suffix)

    async def check(self) -> Reason | None:
        """Why nothing may start, or None."""
        return await self._store.check()
