"""What a place for backups can do, for writing and for reading one; a folder and an archive are such places."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager
from pathlib import Path
from typing import Protocol, TypeAlias

from animastor.storage.backups.manifest import Manifest

Taken: TypeAlias = AsyncIterator[Path | None]


class BackupTarget(Protocol):
    """Where a backup is written. Until `finish`, whatever backup was there before is still the one that is there."""

    def tables(self) -> Path:
        """An empty folder for the files of the tables."""
        ...

    async def holds(self, checksum: str, suffix: str) -> bool:
        """Whether an artifact is in it already, whole."""
        ...

    async def add(self, path: Path, checksum: str, suffix: str) -> bool:
        """Take an artifact in; False when the file does not have these bytes. Raises `OSError`."""
        ...

    async def finish(self, manifest: Manifest) -> None:
        """Everything is in: from now on this is the backup."""
        ...

    def close(self) -> None:
        """Remove what is of no use without `finish`."""
        ...


class BackupSource(Protocol):
    """Where a backup is read from."""

    manifest: Manifest

    def tables(self) -> Path:
        """The folder of the files of the tables. Raises `BackupError`."""
        ...

    def take(self, checksum: str, suffix: str) -> AbstractAsyncContextManager[Path | None]:
        """A file with an artifact's bytes, checked by whoever stores it; None when it is not in the backup."""
        ...

    def close(self) -> None:
        """Remove what was unpacked."""
        ...
