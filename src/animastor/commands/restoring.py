"""`animastor restore`: a home, or shared stores, as a backup has them (docs/recovery.md).

Artifacts go first, which change nothing; the database comes last, in one step. So a restore that is interrupted
leaves what was there before, and the next one finds the artifacts there. A new era begins, and the keys that signed
tickets are not restored: what workers of the old life deliver is refused.
"""

from __future__ import annotations

import shutil
import time
from contextlib import AsyncExitStack, closing
from pathlib import Path

from animastor.clock import SystemClock
from animastor.commands.errors import CommandError, Exit
from animastor.commands.homes import database_error, has_database, home_errors, locked, opening, sentence
from animastor.commands.results import took
from animastor.config import Settings
from animastor.display import Display, size_text
from animastor.engine.ports import ArtifactStoreUnavailableError, CoordinationUnavailableError, StorageUnavailableError
from animastor.media.registry import installed
from animastor.storage.backups import tables
from animastor.storage.backups.archive import ArchiveSource
from animastor.storage.backups.carrying import Carried, carry_out
from animastor.storage.backups.folder import FolderSource
from animastor.storage.backups.manifest import BackupError, Manifest
from animastor.storage.backups.places import BackupSource
from animastor.stores import (
    PackageMissingError,
    artifact_store,
    coordination_of,
    installation_of,
    restoring,
)


async def restore(settings: Settings, source: Path, display: Display, *, replace: bool) -> int:
    """Restore a folder or an archive. What is there is only replaced when told. Raises `CommandError`."""
    began = time.monotonic()
    scratch = settings.home / "restore"
    try:
        with home_errors(settings.home), closing(_source(source, scratch / "unpacked")) as backup:
            carried = await _restored(settings, backup, scratch, display, replace=replace)
    except BackupError as error:
        raise CommandError(Exit.HOME, "restore_failed", sentence(error)) from error
    except ArtifactStoreUnavailableError as error:
        raise CommandError(Exit.HOME, "artifact_store_unavailable", sentence(error)) from error
    except PackageMissingError as error:
        raise CommandError(Exit.MISSING_TOOL, "package_missing", sentence(error)) from error
    except StorageUnavailableError as error:
        raise database_error(settings, error) from error
    except CoordinationUnavailableError as error:
        raise CommandError(Exit.HOME, "coordination_unavailable", sentence(error)) from error
    finally:
        shutil.rmtree(scratch, ignore_errors=True)
    display.close()
    lost = len(carried.absent)
    display.note(
        f"{settings.place} is as it was on {_day(backup.manifest)}: {carried.artifacts} finished parts "
        f"({size_text(carried.size)}), in {took(time.monotonic() - began)}."
        + (f" Not in the backup: {lost} more; `animastor make` makes again what is needed." if lost else ""),
        event="done",
        artifacts=carried.artifacts,
        bytes=carried.size,
        absent=list(carried.absent),
        exit_code=0,
    )
    return Exit.OK


def _source(path: Path, scratch: Path) -> BackupSource:
    if not path.exists():
        raise BackupError(f"there is no backup at {path}")
    return FolderSource(path, scratch) if path.is_dir() else ArchiveSource(path, scratch)


async def _restored(
    settings: Settings, backup: BackupSource, scratch: Path, display: Display, *, replace: bool
) -> Carried:
    with locked(settings) as lock:
        if lock is None:
            message = f"Another process is working on {settings.home}: let it end, then restore."
            raise CommandError(Exit.HOME, "home_held", message)
        _require_free(settings, replace=replace)
        await _require_unused(settings)
        files, total = backup.tables(), _artifacts_of(backup.manifest)
        store = artifact_store(settings, create=True, copies=scratch / "copies")

        async def told(seen: int, _size: int) -> None:
            display.exporting("restore", seen / max(1, total))
            shutil.rmtree(scratch / "copies", ignore_errors=True)

        carried = await carry_out(files, backup, store, told)
        async with restoring(settings, SystemClock()) as database:
            number = await store.number()
            await database.write(tables.load, backup.manifest, files, replace=replace, store=number)
        async with opening(settings, writable=True) as opened:
            if gone := [*carried.absent, *carried.unused]:
                await opened.storage.bytes_missing(gone)
        return carried


def _require_free(settings: Settings, *, replace: bool) -> None:
    """Of a home; whether a shared database is free, is looked at in the transaction that loads it."""
    if not settings.distributed and has_database(settings) and not replace:
        message = f"{settings.home} is a home already: name another with --home, or add --replace to replace it."
        raise CommandError(Exit.HOME, "home_has_data", message)


async def _require_unused(settings: Settings) -> None:
    """Raises `CommandError` while the coordination store belongs to processes of the old life."""
    installation = await installation_of(settings) if settings.distributed else None
    if installation is None:
        return
    async with AsyncExitStack() as stack:
        coordination = await coordination_of(settings, installed(), SystemClock(), stack, installation)
        if await coordination.era() is not None:
            message = (
                "The coordination store knows what was there before: stop every `animastor serve` and empty it "
                "(FLUSHDB), then restore."
            )
            raise CommandError(Exit.HOME, "coordination_in_use", message)


def _artifacts_of(manifest: Manifest) -> int:
    return next(table.rows for table in manifest.tables if table.name == "artifact")


def _day(manifest: Manifest) -> str:
    return time.strftime("%Y-%m-%d at %H:%M:%S", time.localtime(manifest.taken_at))
