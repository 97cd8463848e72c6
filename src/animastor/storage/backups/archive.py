"""A backup in one file: a plain tar, as artifacts do not compress. It gets its name when it is finished."""

from __future__ import annotations

import asyncio
import glob
import io
import os
import shutil
import tarfile
import tempfile
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import BinaryIO, Final

from animastor.flushing import flush
from animastor.storage.backups.alone import hold_alone
from animastor.storage.backups.manifest import MANIFEST, BackupError, Manifest
from animastor.storage.backups.tables import sha256_of

ENDING: Final = ".tar"
TABLES: Final = "tables"


class ArchiveTarget:
    """A new archive. One that was interrupted begins anew; an earlier one of this name stays until it is finished.

    Raises `BackupError` when it cannot be begun, and while another backup is being taken into it.
    """

    def __init__(self, path: Path) -> None:
        if path.is_dir():
            raise BackupError(f"there is a folder {path}: name another file")
        self._path = path
        path.parent.mkdir(parents=True, exist_ok=True)
        self._part = path.with_name(f".{path.name}.part")
        self._file = _held_alone(self._part, path)
        self._file.truncate()
        for left in path.parent.glob(f".{glob.escape(path.name)}-*"):  # of one that was killed
            shutil.rmtree(left, ignore_errors=True)
        self._tables = Path(tempfile.mkdtemp(prefix=f".{path.name}-", dir=path.parent))
        self._tar = tarfile.open(fileobj=self._file, mode="w")  # noqa: SIM115 - closed by `finish` and `close`
        self._held: set[str] = set()
        self._appending = asyncio.Lock()

    def tables(self) -> Path:
        """A folder beside the archive."""
        return self._tables

    async def holds(self, checksum: str, suffix: str) -> bool:
        """Whether it was added."""
        return f"{checksum}{suffix}" in self._held

    async def add(self, path: Path, checksum: str, suffix: str) -> bool:
        """Append a file."""
        if await asyncio.to_thread(sha256_of, path) != checksum:
            return False
        async with self._appending:
            await asyncio.to_thread(self._tar.add, path, f"artifacts/{checksum}{suffix}")
        self._held.add(f"{checksum}{suffix}")
        return True

    async def finish(self, manifest: Manifest) -> None:
        """Append tables and manifest, flush all of it to the disk, and give the archive its name."""
        for path in sorted(self._tables.iterdir()):
            self._tar.add(path, f"{TABLES}/{path.name}")
        data = manifest.encoded()
        entry = tarfile.TarInfo(MANIFEST)
        entry.size = len(data)
        self._tar.addfile(entry, io.BytesIO(data))
        self._tar.close()
        self._file.flush()
        flush(self._part)
        self._part.replace(self._path)
        self._file.close()

    def close(self) -> None:
        """Remove the tables, and an archive that was not finished."""
        if not self._file.closed:  # else it has its name, and another one may have begun
            self._tar.close()
            self._part.unlink(missing_ok=True)
            self._file.close()
        shutil.rmtree(self._tables, ignore_errors=True)


def _held_alone(part: Path, path: Path) -> BinaryIO:
    """The unfinished archive, locked. One that has just got its name is no unfinished one any more."""
    while True:
        file = os.fdopen(os.open(part, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o666), "r+b")
        try:
            hold_alone(file.fileno(), path)
            if os.path.samestat(os.fstat(file.fileno()), part.stat()):
                return file
        except FileNotFoundError:
            pass
        except BackupError:
            file.close()
            raise
        file.close()


class ArchiveSource:
    """A finished archive; what is needed of it is unpacked into `scratch`. Raises `BackupError`."""

    def __init__(self, path: Path, scratch: Path) -> None:
        try:
            self._tar = tarfile.open(path, "r:")  # noqa: SIM115 - closed by `close`
            self._entries = {entry.name: entry for entry in self._tar if entry.isfile()}
        except tarfile.TarError as error:
            raise BackupError(f"the file {path} is no backup, or is cut off") from error
        self._path, self._scratch = path, scratch
        self._reading = asyncio.Lock()
        if MANIFEST not in self._entries:
            self._tar.close()
            raise BackupError(f"the file {path} is no backup, or is cut off")
        self.manifest = Manifest.decoded(self._read(MANIFEST))

    def tables(self) -> Path:
        """Unpack the tables."""
        folder = self._scratch / TABLES
        folder.mkdir(parents=True, exist_ok=True)
        for each in self.manifest.tables:
            name = f"{each.name}.jsonl.gz"
            self._unpack(f"{TABLES}/{name}", folder / name)
        return folder

    @asynccontextmanager
    async def take(self, checksum: str, suffix: str) -> AsyncIterator[Path | None]:
        """Unpack one artifact while it is needed."""
        name = f"artifacts/{checksum}{suffix}"
        if name not in self._entries:
            yield None
            return
        self._scratch.mkdir(parents=True, exist_ok=True)
        path = self._scratch / f"{checksum}{suffix}"
        try:
            async with self._reading:
                await asyncio.to_thread(self._unpack, name, path)
            yield path
        finally:
            path.unlink(missing_ok=True)

    def close(self) -> None:
        """Remove what was unpacked."""
        self._tar.close()
        shutil.rmtree(self._scratch, ignore_errors=True)

    def _read(self, name: str) -> bytes:
        file = self._tar.extractfile(self._entries[name])
        assert file is not None, "it is a file"
        with file:
            return file.read()

    def _unpack(self, name: str, target: Path) -> None:
        if name not in self._entries:
            raise BackupError(f"the backup is damaged: {name} is not in it")
        file = self._tar.extractfile(self._entries[name])
        assert file is not None, "it is a file"
        with file, target.open("wb") as out:
            shutil.copyfileobj(file, out, 1 << 20)
