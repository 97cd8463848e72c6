"""Where a worker's temporary files are: a folder for each claim, in a folder for each run, under one root.

The folder *is* the journal: it is made before anything in it, its name carries the claim, and backends write nowhere
else (CONTRACT 13). A run holds a lock on its folder, which the kernel frees however the process ends; so the next
start knows which folders belong to nobody, takes over the results that were finished but not delivered, and removes
the rest.
"""

from __future__ import annotations

import fcntl
import os
import shutil
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from animastor.protocol import Claim
from animastor.trips import Trips
from animastor.workers import receipts
from animastor.workers.receipts import Receipt

_LOCK = ".lock"
_SCRATCH = "scratch"


class Workdir:
    """The folder of this run, under `root`. `instance` names the run and must be new."""

    def __init__(self, root: Path, instance: str) -> None:
        """Raises `OSError` when the folder cannot be made."""
        self._root = root
        self._own = root / instance
        self._lock = self._made()
        self._removals: Trips[Path, None] = Trips(_remove)

    @property
    def scratch(self) -> Path:
        """A folder for what belongs to no claim: logs of children, temporary files of libraries."""
        return self._own / _SCRATCH

    def folder(self, claim: Claim) -> Path:
        """The name of a claim's folder; it is made by who first writes to it."""
        return self._own / f"{claim.job.job_id}-{claim.claim_no:x}"

    async def remove(self, folder: Path) -> None:
        """Remove a claim's folder. What a dying process still writes there goes at the end of the run."""
        await self._removals(folder)

    def take_over(self) -> tuple[Receipt, ...]:
        """Clean up after runs that are over; their finished, undelivered results are moved to this run.

        Raises `OSError` when the root cannot be read.
        """
        found: list[Receipt] = []
        for run in sorted(self._root.iterdir()):
            if run == self._own or not run.is_dir() or (lock := _lock_of(run)) is None:
                continue
            try:
                found += self._adopt(run)
                shutil.rmtree(run, ignore_errors=True)
            finally:
                os.close(lock)
        return tuple(found)

    def close(self) -> None:
        """End the run: everything goes but finished results that were not delivered, which the next start delivers."""
        undelivered = False
        for left in self._own.iterdir():
            if left.is_dir() and receipts.read(left) is not None:
                undelivered = True
            elif left.is_dir():
                shutil.rmtree(left, ignore_errors=True)
        if not undelivered:
            shutil.rmtree(self._own, ignore_errors=True)
        os.close(self._lock)

    def _made(self) -> int:
        """Make the folder and lock it; again if another start took it for a dead run's in between."""
        while True:
            self._own.mkdir(parents=True, exist_ok=True)
            with suppress(FileNotFoundError):
                lock = os.open(self._own / _LOCK, os.O_CREAT | os.O_RDWR, 0o600)
                fcntl.flock(lock, fcntl.LOCK_EX)
                if os.fstat(lock).st_nlink:
                    return lock
                os.close(lock)

    def _adopt(self, run: Path) -> list[Receipt]:
        found: list[Receipt] = []
        for left in sorted(run.iterdir()):
            if left.is_dir() and receipts.read(left) is not None:
                ours = self._own / left.name
                with suppress(OSError):  # the same claim from two runs: once is enough
                    left.rename(ours)
                    receipt = receipts.read(ours)
                    found += [receipt] if receipt is not None else []
        return found


def _remove(folders: Sequence[Path]) -> list[Exception | None]:
    for folder in folders:
        try:
            with os.scandir(folder) as left:
                for each in left:
                    Path(each).unlink()
            folder.rmdir()
        except FileNotFoundError:
            continue
        except OSError:
            shutil.rmtree(folder, ignore_errors=True)
    return [None] * len(folders)


def _lock_of(run: Path) -> int | None:
    """The lock of a run that is over, held by us now; None while the run lives."""
    try:
        lock = os.open(run / _LOCK, os.O_CREAT | os.O_RDWR, 0o600)
    except FileNotFoundError:  # somebody else has just cleaned it up
        return None
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        os.close(lock)
        return None
    return lock
