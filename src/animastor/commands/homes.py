"""Getting at a home: to look at it, or to drive it; and what a person is told when that is not possible."""

from __future__ import annotations

import errno
import os
import shutil
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager, suppress
from pathlib import Path
from tempfile import TemporaryFile

from animastor.app import Reading, reading
from animastor.commands.errors import CommandError, Exit
from animastor.config import Settings
from animastor.engine.home import HomeLock
from animastor.engine.ports import StorageFullError, StorageUnavailableError
from animastor.storage.versions import VersionError
from animastor.stores import ARTIFACTS, DATABASE, PackageMissingError, restore_interrupted

PROBE = 64 * 1024  # bytes that there is room for on a disk that is not full
EMPTY = 4096  # bytes of a database without any table
_FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
_DENIED = (errno.EACCES, errno.EPERM, errno.EROFS)


@contextmanager
def home_errors(home: Path) -> Iterator[None]:
    """Turns what a file system refuses into a sentence. Raises `CommandError`."""
    try:
        yield
    except OSError as error:
        raise disk_error(home, error) from error


def disk_error(place: Path | str, error: OSError) -> CommandError:
    """The sentence for an error of the file system at or below a place."""
    where = error.filename or place
    if error.errno in _FULL:
        return CommandError(
            Exit.DISK_FULL, "disk_full", f"The disk of {place} is full: free some space and run the same command again."
        )
    why = "it is no folder" if error.errno in (errno.EEXIST, errno.ENOTDIR) else error.strerror or error
    if error.errno in _DENIED:
        why = f"{why} (whoever runs Animastor has to be able to read and write there)"
    return CommandError(Exit.HOME, "home_unusable", f"{where} cannot be used: {why}.")


@asynccontextmanager
async def looking(settings: Settings) -> AsyncIterator[Reading]:
    """A home to look at. Raises `CommandError` when there is none, or it cannot be read."""
    require_home(settings)
    async with opening(settings, writable=False) as opened:
        yield opened


@asynccontextmanager
async def opening(settings: Settings, *, writable: bool, asks: bool = False) -> AsyncIterator[Reading]:
    """The stores, as `app.reading` opens them, and their errors as sentences. Raises `CommandError`."""
    try:
        with home_errors(settings.home):
            async with reading(settings, writable=writable, asks=asks) as opened:
                yield opened
    except LookupError as error:
        raise _nothing_there(settings) from error
    except PackageMissingError as error:
        raise CommandError(Exit.MISSING_TOOL, "package_missing", sentence(error)) from error
    except (StorageUnavailableError, VersionError) as error:
        raise database_error(settings, error) from error


def database_error(settings: Settings, error: Exception) -> CommandError:
    """The sentence for a database that cannot be used. SQLite does not always say that it is for want of room."""
    if isinstance(error, StorageFullError):
        return CommandError(Exit.DISK_FULL, "disk_full", sentence(error))
    if isinstance(error, StorageUnavailableError) and not settings.distributed:
        try:
            with TemporaryFile(dir=settings.home) as probe:
                probe.write(bytes(PROBE))
        except OSError as refused:
            refused.filename = None  # the probe has a name that nobody knows
            return disk_error(settings.home, refused)
    return CommandError(Exit.HOME, "database_unavailable", sentence(error))


def require_home(settings: Settings) -> None:
    """Raises `CommandError` when there is no home, for commands that make none."""
    if settings.distributed or has_database(settings):
        return
    with home_errors(settings.home):
        interrupted = restore_interrupted(settings)
    if not interrupted:
        raise _nothing_there(settings)


def has_database(settings: Settings) -> bool:
    """Whether a home is there. Raises `CommandError` where that cannot be seen."""
    with home_errors(settings.home):
        return (settings.home / DATABASE).exists()


def lost_database(settings: Settings) -> bool:
    """Whether a home holds finished parts, and nothing that knows of them any more."""
    database = settings.home / DATABASE
    if settings.distributed or (database.exists() and database.stat().st_size > EMPTY):
        return False
    return not restore_interrupted(settings) and any((settings.home / ARTIFACTS).glob("??/*"))


def _nothing_there(settings: Settings) -> CommandError:
    if lost_database(settings):
        message = (
            f"{settings.home} holds finished parts, but no database ({DATABASE}): bring it back with "
            "`animastor restore`, or `animastor make SOURCE` makes everything anew."
        )
        return CommandError(Exit.HOME, "database_missing", message)
    what = "nothing in the database" if settings.distributed else "no home in"
    makes = "makes one" if not settings.distributed else "begins"
    return CommandError(
        Exit.HOME, "home_missing", f"There is {what} {settings.place}: `animastor make SOURCE` {makes}."
    )


def sentence(error: Exception) -> str:
    """The text of an error as a sentence."""
    text = str(error).rstrip(".")
    return f"{text[:1].upper()}{text[1:]}."


@contextmanager
def locked(settings: Settings) -> Iterator[HomeLock | None]:
    """The lock of a home, or None when another process drives it."""
    lock = HomeLock(settings.home)
    with home_errors(settings.home):
        taken = lock.acquire()
    try:
        yield lock if taken else None
    finally:
        lock.release()


class NewHome:
    """A home that this command is about to make; it goes again when `useless` is set. Look before the lock makes it."""

    def __init__(self, home: Path) -> None:
        self._home = home
        self._missing = [each for each in (home, *home.parents) if not os.path.lexists(each)]
        self.useless = False

    @contextmanager
    def removed_when_useless(self, lock: HomeLock | None) -> Iterator[None]:
        """Removed at the end, with the folders around it that were made for it, if it was made for nothing."""
        try:
            yield
        finally:
            if lock is not None and self.useless and self._missing:
                shutil.rmtree(self._home, ignore_errors=True)
                for above in self._missing[1:]:
                    with suppress(OSError):
                        above.rmdir()
