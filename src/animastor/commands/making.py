"""The errand of `animastor make`: import, request, watch until it has ended, export."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import aclosing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from animastor.app import Driving
from animastor.commands import messages
from animastor.commands.damage import DamageError
from animastor.commands.errors import CommandError, Exit
from animastor.commands.expecting import expected_of
from animastor.commands.exporting import Done, IncompleteError, Wanted, exported, kinds_of
from animastor.commands.importing import keep, prepare, wishes_of
from animastor.commands.messages import Tell
from animastor.commands.pace import Pace
from animastor.commands.selection import parse_media, parse_scope
from animastor.commands.standstill import Standstill
from animastor.engine.errors import EngineError
from animastor.engine.estimate import Expected
from animastor.engine.ports import BookRow, NewRequest, RequestProgress, Scope
from animastor.engine.requests import RequestEvent
from animastor.engine.states import RequestState

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
            failed={one.media: one.failed for one in last.progress.media if one.failed},
            parts={one.media: one.parts_ready for one in last.progress.media},
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
        last, worked = await _request(drive, NewRequest(row.book_key, scope, media, idempotency_key=key), tell)
        failed = sum(one.failed for one in last.progress.media)
        try:
            return last, await _exported(drive, row, wanted, tell, refuse=not failed), worked or rounds > 0
        except DamageError as damage:
            await drive.reading.storage.bytes_missing([damage.checksum])
            drive.engine.wake()
            tell(messages.note(f"{damage}: it is made again.", event="alarm", reason="artifact_damaged"))
    raise CommandError(Exit.HOME, "artifacts_damaged", "Finished parts are damaged again and again: check the disk.")


async def _request(drive: Driving, new: NewRequest, tell: Tell) -> tuple[RequestEvent, bool]:
    """Open a request and tell its progress to its end, and whether it had work. Raises `CommandError`."""
    requests, before = drive.engine.requests, drive.engine.effort.spent
    try:
        opening = await requests.open(new)
    except EngineError as error:
        raise CommandError(Exit.USAGE, "nothing_to_do", f"{error}.") from error
    if opening.added:
        tell(messages.note(f"Also making {', '.join(opening.added)}, which {', '.join(new.media)} needs."))
    if opening.disabled:
        tell(messages.note(f"Switched off in this book, and not made: {', '.join(opening.disabled)}."))
    if opening.superseded:
        tell(messages.note("An earlier, unfinished make of this book was for something else: it ends here."))
    last, worked = await _watched(drive, opening.request.request_id, await expected_of(drive.reading, new), tell)
    learned = Pace.of(drive.reading.settings.home).learned(_since(drive.engine.effort.spent, before))
    learned.keep(drive.reading.settings.home)
    state = last.progress.request.state
    if state in (RequestState.CANCELLED, RequestState.SUPERSEDED):
        raise CommandError(Exit.FAILURES, f"request_{state}", f"This make was {state} by another command.")
    return last, worked


async def _watched(
    drive: Driving, request_id: int, expected: Mapping[str, Expected], tell: Tell
) -> tuple[RequestEvent, bool]:
    """The last event of a request, and whether it had work; without, nothing is told. Raises `CommandError`."""
    standstill, busy = Standstill(drive), False
    async with aclosing(drive.engine.requests.events(request_id, expected)) as events:  # type: ignore[type-var]
        async for event in events:
            last = event
            busy = busy or _has_work(event.progress)
            if busy:
                tell(messages.progress(event))
            standstill.look(event)
    return last, busy


def _has_work(progress: RequestProgress) -> bool:
    return any(one.pending or one.generating or one.dirty for one in progress.media)


def _since(now: Mapping[str, Any], before: Mapping[str, Any]) -> dict[str, Any]:
    return {media: spent.since(before.get(media)) for media, spent in now.items()}


async def _exported(drive: Driving, row: BookRow, wanted: Wanted, tell: Tell, *, refuse: bool) -> Done:
    """Export; after failures an incomplete film is said, not raised, so that the failures are what is reported."""
    try:
        return await exported(drive, row, wanted, tell)
    except IncompleteError as error:
        if refuse:
            raise
        tell(messages.note(error.message))
        return error.done
