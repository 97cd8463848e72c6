"""The errand of `animastor export`: finished files again, of what is there."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from animastor.app import Driving
from animastor.commands import messages
from animastor.commands.damage import DamageError
from animastor.commands.errors import CommandError, Exit
from animastor.commands.exporting import IncompleteError, Wanted, exported
from animastor.commands.importing import stored_book
from animastor.commands.messages import Tell
from animastor.commands.selection import parse_scope
from animastor.engine.ports import Scope


@dataclass(frozen=True, slots=True)
class Exporting:
    """What `animastor export` was asked for."""

    book: str
    out: str
    kinds: tuple[str, ...]
    scope: str = ""
    allow_missing: bool = False


async def write(drive: Driving, told: Mapping[str, Any], tell: Tell) -> None:
    """Write the files. Raises `CommandError`."""
    asked = Exporting(**told)
    storage = drive.reading.storage
    row = await stored_book(storage, asked.book)
    scope = Scope() if asked.scope in ("", "all") else parse_scope(asked.scope, await storage.load_book(row.book_key))
    wanted = Wanted(tuple(asked.kinds), Path(asked.out), scope, allow_missing=asked.allow_missing)
    await drive.engine.planned()
    try:
        done = await exported(drive, row, wanted, tell)
    except IncompleteError as incomplete:
        for path in incomplete.done.made:
            tell(messages.note(f"{path.name} was written.", event="file", path=str(path), made=True))
        raise
    except DamageError as damage:
        await storage.bytes_missing([damage.checksum])
        drive.engine.wake()
        message = f"{damage}: `animastor make` makes it again."
        raise CommandError(Exit.INCOMPLETE, "artifact_damaged", message) from damage
    tell(messages.result(**done.told()))
