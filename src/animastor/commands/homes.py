"""Getting at a home: to look at it, or to drive it; and what a person is told when that is not possible."""

from __future__ import annotations

import errno
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path

from animastor.app import DATABASE, Reading, reading
from animastor.commands.errors import CommandError, Exit
from animastor.config import Settings
from animastor.engine.home import HomeLock

_FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)


@contextmanager
def home_errors(home: Path) -> Iterator[None]:
    """Turns what a file system refuses into a sentence. Raises `CommandError`."""
    try:
        yield
    except OSError as error:
        raise disk_error(home, error) from error


def disk_error(home: Path, error: OSError) -> CommandError:
    """The sentence for an error of the file system."""
    if error.errno in _FULL:
        return CommandError(
            Exit.DISK_FULL, "disk_full", f"The disk of {home} is full: free some space and run the same command again."
        )
    where = error.filename or home
    return CommandError(Exit.HOME, "home_unusable", f"{where} cannot be used: {error.strerror or error}.")


@asynccontextmanager
async def looking(settings: Settings) -> AsyncIterator[Reading]:
    """A home to look at. Raises `CommandError` when there is none."""
    if not (settings.home / DATABASE).exists():
        raise CommandError(
            Exit.HOME, "home_missing", f"There is no home in {settings.home}: `animastor make SOURCE` makes one."
        )
    async with reading(settings, writable=False) as opened:
        yield opened


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
