"""A backup in a folder. Taken again into the same folder, it copies only what is new, and then removes what is old."""

from __future__ import annotations

import asyncio
import os
import secrets
import shutil
from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager, suppress
from dataclasses import replace
from pathlib import Path

from animastor.flushing import flush
from animastor.storage.backups.alone import hold_alone
from animastor.storage.backups.manifest import ARTIFACT_TABLE, MANIFEST, BackupError, Manifest
from animastor.storage.backups.tables import rows_of
from animastor.storage.folder import FolderStore

BEGUN = "animastor-backup-begun"  # says that the folder is for backups, before there is one
ARTIFACTS = "artifacts"
TABLES = "tables-"


class FolderTarget:
    """A folder that is empty, or has a backup, or the beginnings of one. Raises `BackupError` for any other, and while
    another backup is being taken into it.
    """

    def __init__(self, root: Path) -> None:
        self._root = root
        root.mkdir(parents=True, exist_ok=True)
        self._lock = os.open(root, os.O_RDONLY | os.O_CLOEXEC)
        try:
            hold_alone(self._lock, root)
            self._begin(root)
        except BaseException:
            os.close(self._lock)
            raise

    def _begin(self, root: Path) -> None:
        if any(root.iterdir()) and not any((root / name).exists() for name in (BEGUN, MANIFEST)):
            raise BackupError(f"the folder {root} holds other things: name a new folder, or one with a backup")
        (root / BEGUN).touch()
        self._store = FolderStore(root / ARTIFACTS, low_fraction=0, low_bytes=0, create=True, links=False)
        self._tables = root / f"{TABLES}{secrets.token_hex(4)}"

    def tables(self) -> Path:
        """A new folder beside that of the backup before."""
        self._tables.mkdir()
        return self._tables

    async def holds(self, checksum: str, suffix: str) -> bool:
        """Whether the file is there with the right bytes, all of which are read."""
        return bool(await self._store.whole(checksum, suffix))

    async def add(self, path: Path, checksum: str, suffix: str) -> bool:
        """Take a file in, flushed to the disk."""
        stored, _ = await self._store.put(path, suffix)
        if stored != checksum:
            await self._store.delete(stored, suffix)
        return stored == checksum

    async def finish(self, manifest: Manifest) -> None:
        """Flush the tables and write the manifest in one step; then remove what no backup names any more."""
        new = self._root / f".{MANIFEST}"
        new.write_bytes(replace(manifest, folder=self._tables.name).encoded())
        for path in (*self._tables.iterdir(), self._tables, new):
            flush(path)
        new.replace(self._root / MANIFEST)
        flush(self._root)
        (self._root / BEGUN).unlink(missing_ok=True)
        named = {row["checksum"] for row in rows_of(self._tables / f"{ARTIFACT_TABLE}.jsonl.gz")}
        _remove(each for each in self._root.glob(f"{TABLES}*") if each != self._tables)
        _remove(each for each in (self._root / ARTIFACTS).glob("??/*") if each.name.partition(".")[0] not in named)

    def close(self) -> None:
        """Tables without a manifest are of no use; artifacts are, for the next try."""
        os.close(self._lock)
        if not _names(self._root, self._tables.name):
            _remove([self._tables])


class FolderSource:
    """A folder with a backup, of which artifacts are copied into `scratch` one by one.

    Raises `BackupError` when there is none, or it was never finished.
    """

    def __init__(self, root: Path, scratch: Path) -> None:
        if not (root / MANIFEST).exists():
            begun = (root / BEGUN).exists()
            why = "was begun and never finished: run `animastor backup` again" if begun else "holds no backup"
            raise BackupError(f"the folder {root} {why}")
        self._root, self._scratch = root, scratch
        self.manifest = Manifest.decoded((root / MANIFEST).read_bytes())
        self._store = FolderStore(root / ARTIFACTS, low_fraction=0, low_bytes=0)

    def tables(self) -> Path:
        """The folder that the manifest names."""
        return self._root / self.manifest.folder

    @asynccontextmanager
    async def take(self, checksum: str, suffix: str) -> AsyncIterator[Path | None]:
        """A copy: whoever takes it in may make it a file of its own, and nobody else's."""
        held = await self._store.path(checksum, suffix)
        if held is None:
            yield None
            return
        self._scratch.mkdir(parents=True, exist_ok=True)
        path = self._scratch / held.name
        try:
            await asyncio.to_thread(shutil.copyfile, held, path)
            yield path
        finally:
            path.unlink(missing_ok=True)

    def close(self) -> None:
        """Remove what was copied."""
        shutil.rmtree(self._scratch, ignore_errors=True)


def _names(root: Path, folder: str) -> bool:
    with suppress(OSError, BackupError):
        return Manifest.decoded((root / MANIFEST).read_bytes()).folder == folder
    return False


def _remove(paths: Iterable[Path]) -> None:
    for path in paths:
        if path.is_dir():
            shutil.rmtree(path, ignore_errors=True)
        else:
            path.unlink(missing_ok=True)
