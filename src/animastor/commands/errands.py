"""The errands of the command line: make, import, export; done by whoever drives the home, told message by message.

An errand is started with a message (what the command line said) and yields messages (notes, progress, its result).
So it is the same errand whether this process drives the home or hands it to the one that does (CONTRACT 11).
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping
from contextlib import aclosing
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import orjson

from animastor.app import Driving
from animastor.books.errors import BookError
from animastor.commands import exporting
from animastor.commands.errors import CommandError, Exit
from animastor.commands.exporting import Done, Wanted, kinds_of
from animastor.commands.homes import disk_error
from animastor.commands.importing import Imported, Wishes, import_book, stored_book
from animastor.commands.selection import parse_media, parse_scope
from animastor.engine.errors import EngineError
from animastor.engine.home import Message
from animastor.engine.ports import BookRow, NewRequest, Scope
from animastor.engine.requests import RequestEvent
from animastor.engine.states import RequestState

Tell = Callable[[Message], None]
Errand = Callable[[Driving, Mapping[str, Any], Tell], Awaitable[None]]

MAKE, IMPORT, EXPORT = "errand:make", "errand:import", "errand:export"


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

    @property
    def wishes(self) -> Wishes:
        """The settings that were named."""
        return Wishes(self.voice, tuple(self.size) if self.size else None, self.keep)  # type: ignore[arg-type]


@dataclass(frozen=True, slots=True)
class Importing:
    """What `animastor import` was asked for."""

    source: str
    voice: str | None = None
    size: tuple[int, int] | None = None


@dataclass(frozen=True, slots=True)
class Exporting:
    """What `animastor export` was asked for."""

    book: str
    out: str
    kinds: tuple[str, ...]
    scope: str = ""
    allow_missing: bool = False


def errands(drive: Driving) -> Mapping[str, Callable[[Message], AsyncGenerator[Message, None]]]:
    """The errands as the holder of a home offers them to other commands."""
    known: dict[str, Errand] = {MAKE: _make, IMPORT: _import, EXPORT: _export}
    return {name: lambda message, errand=errand: run(drive, errand, message) for name, errand in known.items()}  # type: ignore[misc]


async def run(drive: Driving, errand: Errand, message: Message) -> AsyncGenerator[Message, None]:
    """The messages of an errand; an expected failure is the last of them."""
    told: asyncio.Queue[Message | None] = asyncio.Queue()

    async def work() -> None:
        try:
            await errand(drive, message["asked"], told.put_nowait)
        except CommandError as error:
            told.put_nowait(_failed(error))
        except BookError as error:
            told.put_nowait(_failed(CommandError(Exit.BAD_INPUT, error.reason, error.message)))
        except OSError as error:
            told.put_nowait(_failed(disk_error(drive.reading.settings.home, error)))
        finally:
            told.put_nowait(None)

    working = asyncio.ensure_future(work())
    try:
        while (said := await told.get()) is not None:
            yield said
        await working
    finally:
        working.cancel()
        await asyncio.gather(working, return_exceptions=True)


def errand_message(name: str, asked: Making | Importing | Exporting) -> Message:
    """The message that starts an errand."""
    return {"command": name, "asked": orjson.loads(orjson.dumps(asdict(asked)))}


def _failed(error: CommandError) -> Message:
    return {"failed": {"code": int(error.exit_code), "reason": error.reason, "message": error.message}}


def _note(message: str, **fields: Any) -> Message:
    return {"note": message, "fields": fields}


# --- make -----------------------------------------------------------------------------------------------------------


async def _make(drive: Driving, told: Mapping[str, Any], tell: Tell) -> None:
    asked = Making(**told)
    opened = drive.reading
    imported = await import_book(opened.storage, opened.registry, Path(asked.source), asked.wishes)
    tell(imported_note(imported))
    media = parse_media(asked.media, opened.registry) if asked.media else opened.registry.names
    scope = await _scope(drive, imported.row, asked.scope)
    last = await _request(drive, NewRequest(imported.row.book_key, scope, media, idempotency_key=asked.key), tell)
    wanted = Wanted(kinds_of(media), Path(asked.out), scope, allow_missing=asked.allow_missing)
    failed = sum(one.failed for one in last.progress.media)
    done = await _exported(drive, imported.row, wanted, tell, refuse=not failed)
    tell(_made(last, done))


async def _request(drive: Driving, new: NewRequest, tell: Tell) -> RequestEvent:
    """Open a request and tell its progress to its end. Raises `CommandError`."""
    requests = drive.engine.requests
    try:
        opening = await requests.open(new)
    except EngineError as error:
        raise CommandError(Exit.USAGE, "nothing_to_do", f"{error}.") from error
    if opening.added:
        tell(_note(f"Also making {', '.join(opening.added)}, which {', '.join(new.media)} needs."))
    if opening.superseded:
        tell(_note("An earlier, unfinished make of this book was for something else: it ends here."))
    async with aclosing(requests.events(opening.request.request_id)) as events:  # type: ignore[type-var]
        async for event in events:
            last = event
            tell({"progress": orjson.loads(orjson.dumps(event))})
    if last.progress.request.state in (RequestState.CANCELLED, RequestState.SUPERSEDED):
        state = last.progress.request.state.value
        raise CommandError(Exit.FAILURES, f"request_{state}", f"This make was {state} by another command.")
    return last


async def _exported(drive: Driving, row: BookRow, wanted: Wanted, tell: Tell, *, refuse: bool) -> Done:
    """Export; after failures an incomplete film is said, not raised, so that the failures are what is reported."""
    try:
        return await exporting.export(
            drive.reading,
            drive.children,
            drive.scratch,
            row,
            wanted,
            lambda name, share: tell({"exporting": [name, share]}),
        )
    except CommandError as error:
        if refuse or error.exit_code is not Exit.INCOMPLETE:
            raise
        tell(_note(error.message))
        return Done()


def _made(last: RequestEvent, done: Done) -> Message:
    media = last.progress.media
    return {
        "result": {
            "failed": {one.media: one.failed for one in media if one.failed},
            "parts": {one.media: one.parts_ready for one in media},
            "made": [str(path) for path in done.made],
            "unchanged": [str(path) for path in done.unchanged],
            "gaps": list(done.gaps),
        }
    }


# --- import and export ----------------------------------------------------------------------------------------------


async def _import(drive: Driving, told: Mapping[str, Any], tell: Tell) -> None:
    asked = Importing(**told)
    size = tuple(asked.size) if asked.size else None
    opened = drive.reading
    wishes = Wishes(asked.voice, size)  # type: ignore[arg-type]
    imported = await import_book(opened.storage, opened.registry, Path(asked.source), wishes)
    drive.engine.wake()
    tell(imported_note(imported))
    tell({"result": {"book": imported.row.book_id}})


async def _export(drive: Driving, told: Mapping[str, Any], tell: Tell) -> None:
    asked = Exporting(**told)
    row = await stored_book(drive.reading.storage, asked.book)
    scope = await _scope(drive, row, asked.scope)
    wanted = Wanted(tuple(asked.kinds), Path(asked.out), scope, allow_missing=asked.allow_missing)
    done = await _exported(drive, row, wanted, tell, refuse=True)
    tell(
        {
            "result": {
                "made": [str(path) for path in done.made],
                "unchanged": [str(path) for path in done.unchanged],
                "gaps": list(done.gaps),
            }
        }
    )


async def _scope(drive: Driving, row: BookRow, text: str) -> Scope:
    if text in ("", "all"):
        return Scope()
    return parse_scope(text, await drive.reading.storage.load_book(row.book_key))


def imported_note(imported: Imported) -> Message:
    """What importing did, in one sentence."""
    row, saved = imported.row, imported.saved
    name = f"{row.title or row.book_id} ({row.book_id})"
    changes = [
        f"{count} {what}"
        for count, what in ((saved.added, "new"), (saved.changed, "changed"), (saved.removed, "gone"))
        if count
    ]
    if imported.settings_before is not None:
        changes.append(_settings_text(imported))
    what = ", ".join(changes) if changes else "unchanged"
    return _note(f"{name}: {row.scenes} scenes, {what}.", book=row.book_id, scenes=row.scenes)


def _settings_text(imported: Imported) -> str:
    before, now = imported.settings_before, imported.settings
    assert before is not None
    told = []
    if (before.width, before.height) != (now.width, now.height):
        told.append(f"size {before.width}x{before.height} → {now.width}x{now.height}")
    if before.narrator != now.narrator:
        told.append(f"narrator {before.narrator or 'of the book'} → {now.narrator or 'of the book'}")
    if before.profiles != now.profiles:
        told.append("a backend has a new revision")
    return ", ".join(told) + ": what depends on it is made again (--keep would have kept it)"
