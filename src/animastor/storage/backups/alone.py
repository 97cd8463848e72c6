"""One backup at a time into one place: a lock that the kernel frees, however the process ends."""

from __future__ import annotations

import fcntl
from pathlib import Path

from animastor.storage.backups.manifest import BackupError


def hold_alone(file: int, place: Path) -> None:
    """Lock an open file or folder until it is closed. Raises `BackupError` when another backup holds it.

    Two at once would remove or overwrite what the other has written.
    """
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError as error:
        raise BackupError(f"another backup is being taken into {place}: let it end") from error
