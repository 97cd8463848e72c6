"""The errand of `animastor make`: import, request, watch until it has ended, export."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from animastor.app import Driving
from animastor.commands import messages
from animastor.commands.asking import Ended, ask, outcome_of
from animastor.commands.damage import DamageError
from animastor.commands.errors import CommandError, Exit
from animastor.commands.exporting import Done, IncompleteError, Wanted, exported, kinds_of
from animastor.commands.importing import keep, prepare, wishes_of
from animastor.commands.messages import Tell
from animastor.commands.selection import parse_media, parse_scope
from animastor.engine.ports import BookRow, NewRequest, Scope
from animastor.engine.requests import RequestEvent

ROUNDS = 3  # finished parts that are found damaged by the export are made again so often


@dataclass(frozen=True, slots=True)
class Making:
    """What `animastor make` was asked for; paths are absolute, as the holder may stand elsewhere."""

    source: str
    out: str
    key: str  # idempotency key, new for each invocation
    media: str | None = None
    scope: str = ""
    voice: str | None = None
    size: tuple[int, int] | None = None
    keep: bool = False
    allow_missing: bool = False


async def make(drive: Driving, told: Mapping[str, Any], tell: Tell) -> None:
    """Make what is missing of a source, then its files."""
    asked = Making(**told)
    opened = drive.reading
    media = parse_media(asked.media, opened.registry)
    prepared = await prepare(opened.storage, Path(asked.source))
    scope = parse_scope(asked.scope, await prepared.whole(opened.storage)) if asked.scope != "all" else Scope()
    wishes = wishes_of(asked.voice, asked.size, keep=asked.keep)
    row = (await keep(opened, prepared, wishes, tell)).row
    await drive.engine.edited()
    await drive.engine.looked()  # what was lost or damaged is known, and made again
    last, done, worked = await _made(drive, row, asked, media, scope, tell)
    tell(
        messages.result(
            worked=worked,
            **outcome_of(last),
            **done.told(),
        )
    )


async def _made(
    drive: Driving, row: BookRow, asked: Making, media: tuple[str, ...], scope: Scope, tell: Tell
) -> tuple[RequestEvent, Done, bool]:
    """Make and export; what the export finds damaged is made again. And whether anything had to be made."""
    wanted = Wanted(kinds_of(media), Path(asked.out), scope, allow_missing=asked.allow_missing)
    for rounds in range(ROUNDS):
        key = f"{asked.key}-{rounds}" if rounds else asked.key
        ended = await ask(drive, NewRequest(row.book_key, scope, media, idempotency_key=key), tell)
        try:
            return ended.last, await _exported(drive, row, wanted, ended, tell), ended.worked or rounds > 0
        except DamageError as damage:
            await drive.reading.storage.bytes_missing([damage.checksum])
            drive.engine.wake()
            tell(messages.note(f"{damage}: it is made again.", event="alarm", reason="artifact_damaged"))
    raise CommandError(Exit.HOME, "artifacts_damaged", "Finished parts are damaged again and again: check the disk.")


async def _exported(drive: Driving, row: BookRow, wanted: Wanted, ended: Ended, tell: Tell) -> Done:
    """Export; after failures an incomplete film is said, not raised, so that the failures are what is reported."""
    try:
        return await exported(drive, row, wanted, tell)
    except IncompleteError as error:
        if not any(one.failed for one in ended.last.progress.media):
            if ended.cancelled:
                raise error.after_cancel() from error
            raise
        tell(messages.note(error.message))
        return error.done
