"""Local copies of artifacts that live elsewhere: whole or not at all, checked when they come, bounded in size.

A copy is a file under its SHA-256. It is checked when it comes in, and once by each process that finds it there. What
was used longest ago goes first when there are too many; what was handed out in the last hours stays, as somebody may
be reading it. Several processes may share the folder: a copy that another one removed is fetched again.
"""

from __future__ import annotations

import os
import secrets
import shutil
import threading
import time
from collections.abc import Callable, Iterable
from contextlib import suppress
from hashlib import file_digest, sha256
from pathlib import Path
from typing import Final

SPARED_S: Final = 6 * 3600.0  # the longest that a job or an export reads its inputs
LOOKS: Final = 20  # the folder is looked through each time that a share of 1/LOOKS of the limit has come in


class Copies:
    """A folder of copies of at most about `limit` bytes. All methods may be called from any thread."""

    def __init__(self, root: Path, limit: int, *, now: Callable[[], float] = time.time) -> None:
        self._root = root
        self._limit = limit
        self._now = now
        self._come = limit  # bytes since the folder was looked through; so the first copy has it looked through
        self._checked: set[str] = set()
        self._guard = threading.Lock()

    @property
    def root(self) -> Path:
        """The folder; made when the first copy comes."""
        return self._root

    def find(self, checksum: str, suffix: str) -> Path | None:
        """The copy of these bytes, or None. One that has rotted is removed."""
        place = self._place(checksum, suffix)
        try:
            if checksum not in self._checked:
                if _digest(place) != checksum:
                    place.unlink(missing_ok=True)
                    return None
                self._checked.add(checksum)
            now = self._now()
            os.utime(place, (now, now))
        except OSError:
            self._checked.discard(checksum)
            return None
        return place

    def keep(self, checksum: str, suffix: str, blocks: Iterable[bytes]) -> Path | None:
        """Write a copy; None when the blocks are not these bytes. Raises `OSError`."""
        waiting, digest, size = self._waiting(), sha256(), 0
        try:
            with waiting.open("wb") as file:
                for block in blocks:
                    digest.update(block)
                    size += len(block)
                    file.write(block)
            if digest.hexdigest() != checksum:
                return None
            return self._enter(waiting, checksum, suffix, size)
        finally:
            waiting.unlink(missing_ok=True)

    def adopt(self, source: Path, checksum: str, suffix: str) -> None:
        """Take a file with these bytes in as a copy, by a link; where that is not possible, it is fetched when used."""
        waiting = self._waiting()
        with suppress(OSError):
            os.link(source, waiting)
            self._enter(waiting, checksum, suffix, waiting.stat().st_size)
        waiting.unlink(missing_ok=True)

    def drop(self, checksum: str, suffix: str) -> None:
        """Remove a copy; absent is fine."""
        self._checked.discard(checksum)
        self._place(checksum, suffix).unlink(missing_ok=True)

    def free(self) -> tuple[int, int]:
        """(free, total) bytes of the disk of the copies. Raises `OSError`."""
        there = next(each for each in (self._root, *self._root.absolute().parents) if each.exists())
        usage = shutil.disk_usage(there)
        return usage.free, usage.total

    def _place(self, checksum: str, suffix: str) -> Path:
        return self._root / checksum[:2] / f"{checksum}{suffix}"

    def _waiting(self) -> Path:
        folder = self._root / "tmp"
        folder.mkdir(parents=True, exist_ok=True)
        return folder / f"{os.getpid()}-{secrets.token_hex(8)}"

    def _enter(self, waiting: Path, checksum: str, suffix: str, size: int) -> Path:
        place = self._place(checksum, suffix)
        place.parent.mkdir(exist_ok=True)
        now = self._now()
        os.utime(waiting, (now, now))
        waiting.replace(place)
        self._checked.add(checksum)
        with self._guard:
            self._come += size
            if self._come * LOOKS > self._limit:
                self._come = 0
                self._make_room()
        return place

    def _make_room(self) -> None:
        """Remove what was used longest ago until the rest fits; also what killed processes have left behind."""
        spared = self._now() - SPARED_S
        found: list[tuple[float, int, Path]] = []
        for path in (*self._root.glob("??/*"), *self._root.glob("tmp/*")):
            with suppress(FileNotFoundError):
                stat = path.stat()
                found.append((stat.st_mtime, stat.st_size, path))
        left = sum(size for _, size, _ in found)
        for used, size, path in sorted(found):
            if used >= spared:
                return
            if left > self._limit or path.parent.name == "tmp":
                path.unlink(missing_ok=True)
                left -= size


def _digest(path: Path) -> str:
    with path.open("rb") as file:
        return file_digest(file, "sha256").hexdigest()
