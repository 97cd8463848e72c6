"""`animastor backup`: the database at one point, then the artifacts that it names, while work goes on.

Nothing that drives the home is needed, and nothing is held up: whoever writes the database is asked to collect no
artifact meanwhile, which is all. So a backup taken in the middle of a run is one of that moment.
"""

from __future__ import annotations

import shutil
import time
from contextlib import closing
from dataclasses import replace
from pathlib import Path

from animastor.commands.errands import errand_message
from animastor.commands.errors import CommandError, Exit
from animastor.commands.holding import Holding, hold_collecting
from animastor.commands.homes import home_errors, looking, sentence
from animastor.commands.results import took
from animastor.config import Settings
from animastor.display import Display, size_text
from animastor.engine.ports import ArtifactStoreUnavailableError
from animastor.storage.backups.archive import ENDING, ArchiveTarget
from animastor.storage.backups.carrying import carry_in
from animastor.storage.backups.folder import FolderTarget
from animastor.storage.backups.manifest import BackupError, Manifest
from animastor.storage.backups.places import BackupTarget
from animastor.stores import artifact_store

HOLD_S = 6 * 3600.0  # nothing is collected for so long after a backup was last seen at work
_PACKED = (".zip", ".gz", ".tgz", ".bz2", ".xz", ".zst", ".7z", ".rar")  # files, to whoever names one so
RENEW_S = 3600.0


async def back_up(settings: Settings, target: Path, display: Display) -> int:
    """Take a backup into a folder, or into one file when its name ends with `.tar`. Raises `CommandError`."""
    began = time.monotonic()
    async with looking(settings):  # refuses what is no home, or not this program's
        pass
    try:
        with home_errors(target), closing(_target(target)) as place:
            manifest = await _taken(settings, place, display)
    except BackupError as error:
        raise CommandError(Exit.HOME, "backup_failed", sentence(error)) from error
    except ArtifactStoreUnavailableError as error:
        raise CommandError(Exit.HOME, "artifact_store_unavailable", sentence(error)) from error
    display.close()
    rows = sum(table.rows for table in manifest.tables)
    lost = len(manifest.absent)
    code = Exit.FAILURES if lost else Exit.OK
    display.note(
        f"{target} holds the database ({rows} rows) and {manifest.artifacts} finished parts "
        f"({size_text(manifest.size)}), taken in {took(time.monotonic() - began)}."
        + (
            f" {lost} more {'was' if lost == 1 else 'were'} not there or damaged: `animastor doctor` tells."
            if lost
            else ""
        ),
        event="failures" if lost else "done",
        artifacts=manifest.artifacts,
        bytes=manifest.size,
        rows=rows,
        absent=list(manifest.absent),
        exit_code=int(code),
    )
    return code


def _target(path: Path) -> BackupTarget:
    if path.suffix in _PACKED and not path.is_dir():
        raise BackupError(
            f"the backup {path} cannot be made: it is a folder, or one file whose name ends with {ENDING}"
        )
    return ArchiveTarget(path) if path.suffix == ENDING else FolderTarget(path)


async def _taken(settings: Settings, place: BackupTarget, display: Display) -> Manifest:
    message, held_at = errand_message(Holding(HOLD_S)), time.monotonic()
    await hold_collecting(settings, message, HOLD_S)
    tables = place.tables()
    async with looking(settings) as opened:
        manifest = await opened.storage.dump(tables)
        number = await opened.storage.artifact_store()
    total = next(table.rows for table in manifest.tables if table.name == "artifact")
    scratch = settings.home / "backup"
    store = artifact_store(settings, create=False, copies=scratch)
    store.expect(number)

    async def told(seen: int, _size: int) -> None:
        nonlocal held_at
        display.exporting("backup", seen / max(1, total))
        shutil.rmtree(scratch, ignore_errors=True)
        if time.monotonic() - held_at >= RENEW_S:
            held_at = time.monotonic()
            await hold_collecting(settings, message, HOLD_S)

    carried = await carry_in(tables, store, place, told)
    manifest = replace(manifest, artifacts=carried.artifacts, size=carried.size, absent=carried.absent)
    await place.finish(manifest)
    return manifest
