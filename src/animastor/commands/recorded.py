"""Which finished files are as they were when they were written, and what they were made of."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from animastor.storage.sql import SqlStorage


async def is_current(storage: SqlStorage, target: Path, key: str) -> bool:
    """Whether a file was made of what `key` stands for, and it and the subtitles beside it are as they were."""
    if not await _is_untouched(storage, target, key):
        return False
    beside = subtitles_beside(target)
    noted = await storage.export_record(str(beside.absolute()))
    return beside == target or noted is None or await _is_untouched(storage, beside, noted[0])


async def record(storage: SqlStorage, files: Sequence[Path], key: str) -> None:
    """Remember files that have just been written."""
    for file in files:
        size, modified_ns = seen(file) or (0, 0)
        await storage.record_export(str(file.absolute()), key, size, modified_ns)


def seen(file: Path) -> tuple[int, int] | None:
    """The size of a file and when it was written, in ns; None when it is not there."""
    try:
        found = file.stat()
    except OSError:
        return None
    return found.st_size, found.st_mtime_ns


def subtitles_beside(target: Path) -> Path:
    """Where the subtitles of a film lie."""
    return target.with_suffix(".vtt")


async def _is_untouched(storage: SqlStorage, file: Path, key: str) -> bool:
    noted, now = await storage.export_record(str(file.absolute())), seen(file)
    return now is not None and noted == (key, *now)
