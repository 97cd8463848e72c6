"""The artifact store as a folder: immutable bytes under their SHA-256, written whole or not at all (CONTRACT 11).

A file is linked (or copied) to a temporary name in the same tree, flushed to the disk, and renamed; then its folder is
flushed. So what stands under a checksum is whole after any crash. A sentinel file tells a store that is there from a
mount that is not: without it nothing is believed to be missing.

Files are taken in by a thread, in natural batches: a folder that got several files is flushed once.
"""

from __future__ import annotations

import asyncio
import errno
import os
import secrets
import shutil
import time
import uuid
from collections import OrderedDict
from collections.abc import Sequence
from contextlib import suppress
from hashlib import sha256
from pathlib import Path

from animastor.engine.ports import ArtifactStoreUnavailableError, StorageFullError
from animastor.engine.reasons import Reason
from animastor.flushing import flush
from animastor.storage.failures import Fate, fate_of
from animastor.storage.sentinel import (
    SENTINEL,
    UNNUMBERED,
    WrongStoreError,
    new_sentinel,
    number_in,
    require_number,
)
from animastor.trips import Trips

_BLOCK = 1 << 20
FRESH_S = 5.0  # bytes that were put no longer ago than this are there: an upload is followed by its delivery
MOST_FRESH = 1_000
_MACHINE = f"{uuid.getnode():x}"  # several may share a folder, and have the same process ids


class FolderStore:
    """`engine.ports.ArtifactStore` on a file system.

    A full disk raises `StorageFullError`; every method may raise other `OSError`s of the file system. Nothing
    half-written stays under a checksum. The thresholds say when `check` answers DISK_LOW.
    """

    def __init__(
        self,
        root: Path,
        *,
        low_fraction: float = 0.02,
        low_bytes: int = 2 * 1024**3,
        create: bool = False,
        links: bool = True,
    ) -> None:
        """`create`: make the folder and its sentinel when the folder is not there at all.

        `links`: a file on the same disk is linked, not copied; a backup wants bytes of its own.
        """
        self._root = root
        self._expected = UNNUMBERED
        self._links = links
        self._just_put: OrderedDict[str, float] = OrderedDict()  # checksum -> when its bytes were seen or written
        self._puts: Trips[tuple[Path, str], tuple[str, int]] = Trips(self._put_all)
        self._temporary = root / "tmp"
        self._low_fraction = low_fraction
        self._low_bytes = low_bytes
        if create and not root.exists():
            _create(root)
        self._remove_left_overs()

    @property
    def where(self) -> str:
        """The folder."""
        return str(self._root)

    async def number(self) -> int:
        """The number of the store. Raises `ArtifactStoreUnavailableError`."""
        return self._require_sentinel()

    def expect(self, number: int) -> None:
        """Be the store with this number, or none."""
        self._expected = number

    async def holds_artifacts(self) -> bool:
        """Whether there is any artifact."""
        return await asyncio.to_thread(lambda: any(self._root.glob("??/*")))

    async def put(self, source: Path, suffix: str) -> tuple[str, int]:
        """Take a finished file in: (checksum, size). The source stays where it is, and must not be written any more."""
        answer = await self._puts((source, suffix))
        self._just_put[answer[0]] = time.monotonic()
        if len(self._just_put) > MOST_FRESH:
            self._just_put.popitem(last=False)
        return answer

    async def path(self, checksum: str, suffix: str) -> Path | None:
        """The file with these bytes, or None when it is positively absent. What was put just now is not looked for.

        Raises `ArtifactStoreUnavailableError` when the sentinel cannot be read.
        """
        place = self._place(checksum, suffix)
        if self._is_fresh(checksum) or place.exists():
            return place
        self._require_sentinel()
        return None

    async def missing(self, artifacts: Sequence[tuple[str, str]]) -> list[tuple[str, str]]:
        """Those whose file is positively absent. Raises `ArtifactStoreUnavailableError`."""
        return [one for one in artifacts if not self._is_fresh(one[0]) and await self.path(*one) is None]

    async def whole(self, checksum: str, suffix: str) -> bool | None:
        """Whether the file has the right bytes; None when it is positively absent."""
        try:
            return (await asyncio.to_thread(_digest, self._place(checksum, suffix)))[0] == checksum
        except FileNotFoundError:
            self._require_sentinel()
            return None

    async def delete(self, checksum: str, suffix: str) -> None:
        """Remove the bytes; absent is fine. Raises `ArtifactStoreUnavailableError`."""
        self._require_sentinel()
        self._just_put.pop(checksum, None)
        self._place(checksum, suffix).unlink(missing_ok=True)

    async def check(self) -> Reason | None:
        """ARTIFACT_STORE_UNAVAILABLE, DISK_LOW, or None when all is well. Raises `WrongStoreError`."""
        try:
            self._require_sentinel()
            usage = shutil.disk_usage(self._root)
        except WrongStoreError:
            raise
        except (ArtifactStoreUnavailableError, OSError):
            return Reason.ARTIFACT_STORE_UNAVAILABLE
        if usage.free < self._low_bytes or usage.free < self._low_fraction * usage.total:
            return Reason.DISK_LOW
        return None

    def _is_fresh(self, checksum: str) -> bool:
        """Whether these bytes were seen or written by this process just now."""
        at = self._just_put.get(checksum)
        return at is not None and time.monotonic() - at < FRESH_S

    def _place(self, checksum: str, suffix: str) -> Path:
        return self._root / f"{checksum[:2]}{os.sep}{checksum}{suffix}"  # one step: each costs its parsing

    def _require_sentinel(self) -> int:
        """The number of the store. Raises `ArtifactStoreUnavailableError`."""
        try:
            found = number_in((self._root / SENTINEL).read_text(errors="replace"))
        except (FileNotFoundError, NotADirectoryError) as error:
            raise ArtifactStoreUnavailableError(
                f"the artifact store {self._root} cannot be read (its file {SENTINEL} is not there); "
                "is the disk mounted?"
            ) from error
        except OSError as error:
            raise ArtifactStoreUnavailableError(
                f"the artifact store {self._root} cannot be read (its file {SENTINEL}: {error.strerror})"
            ) from error
        require_number(self.where, found, self._expected)
        return found

    def _put_all(self, files: Sequence[tuple[Path, str]]) -> list[tuple[str, int] | Exception]:
        """Take files in, each with its own answer; then flush the folders that they came into."""
        self._require_sentinel()
        answers: list[tuple[str, int] | Exception] = []
        fresh: dict[Path, list[int]] = {}  # folder -> which files came into it
        seen: set[Path] = set()
        for number, (source, suffix) in enumerate(files):
            try:
                answer, folder = self._put(source, suffix, seen)
            except OSError as error:
                answers.append(self._told(error))
                continue
            answers.append(answer)
            if folder is not None:
                fresh.setdefault(folder, []).append(number)
        for folder, numbers in fresh.items():
            try:
                flush(folder)
            except OSError as error:
                for number in numbers:
                    answers[number] = self._told(error)
        return answers

    def _told(self, error: OSError) -> Exception:
        if fate_of(error) is not Fate.FULL:
            return error
        full = StorageFullError(f"no space is left for artifacts in {self._root}: free some")
        full.__cause__ = error
        return full

    def _put(self, source: Path, suffix: str, seen: set[Path]) -> tuple[tuple[str, int], Path | None]:
        """Take a file in; the folder that is to be flushed before it counts, if it was not there already.

        `seen`: what was read back on this trip, once.
        """
        given = checksum, _ = _digest(source)
        place = self._place(checksum, suffix)
        if place in seen or (place.exists() and _digest(place) == given):
            seen.add(place)
            return given, None
        if not place.parent.exists():
            place.parent.mkdir(exist_ok=True)
            flush(self._root)
        waiting = self._into_tree(source)
        try:
            flush(waiting)
            waiting.replace(place)
        except BaseException:
            waiting.unlink(missing_ok=True)
            raise
        return given, place.parent

    def _into_tree(self, source: Path) -> Path:
        """The file under a temporary name of this process, in this tree: a link, or a copy from another disk."""
        self._temporary.mkdir(exist_ok=True)
        waiting = self._temporary / f"{os.getpid()}-{_MACHINE}-{secrets.token_hex(8)}"
        if self._links:
            with suppress(OSError):
                os.link(source, waiting)
                return waiting
        try:
            shutil.copyfile(source, waiting)
        except BaseException:
            waiting.unlink(missing_ok=True)
            raise
        return waiting

    def _remove_left_overs(self) -> None:
        """Remove temporary files of processes of this machine that are gone; those of others are theirs."""
        with suppress(FileNotFoundError, NotADirectoryError):
            for each in self._temporary.iterdir():
                pid, _, rest = each.name.partition("-")
                if rest.partition("-")[0] == _MACHINE and not _alive(pid):
                    each.unlink(missing_ok=True)


def _create(root: Path) -> None:
    """Make an empty store beside its place and move it there: with its sentinel, or not at all.

    Of several processes that do so at once, one makes it, and the others find it made.
    """
    root.parent.mkdir(parents=True, exist_ok=True)
    new = root.with_name(f".{root.name}-{secrets.token_hex(8)}")
    (new / "tmp").mkdir(parents=True)
    (new / SENTINEL).write_text(new_sentinel())
    flush(new / SENTINEL)
    flush(new)
    try:
        new.rename(root)
    except OSError as error:
        shutil.rmtree(new, ignore_errors=True)
        if error.errno not in (errno.ENOTEMPTY, errno.EEXIST):
            raise
    flush(root.parent)


def _digest(path: Path) -> tuple[str, int]:
    digest, size = sha256(), 0
    file = os.open(path, os.O_RDONLY)
    try:
        while block := os.read(file, _BLOCK):
            digest.update(block)
            size += len(block)
            if len(block) < _BLOCK:
                break  # a file gives less than was asked for only at its end
    finally:
        os.close(file)
    return digest.hexdigest(), size


def _alive(pid: str) -> bool:
    try:
        os.kill(int(pid), 0)
    except (ValueError, ProcessLookupError):
        return False
    except PermissionError:
        return True
    return True
