"""`make --dry-run`: what would be made, what is there already, how long it would take. Writes nothing."""

from __future__ import annotations

from contextlib import AsyncExitStack
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from animastor.books.model import BookHead
from animastor.commands.errors import Exit
from animastor.commands.forecast import Forecast, count, forecast
from animastor.commands.homes import has_database, looking
from animastor.commands.importing import Prepared, Wishes, kept_text, prepare, settings_text, wishes_of
from animastor.commands.making import Making
from animastor.commands.selection import parse_media, parse_scope, parse_voice
from animastor.config import Settings
from animastor.display import Display
from animastor.media.registry import installed

if TYPE_CHECKING:
    from animastor.app import Reading


async def rehearse(settings: Settings, asked: Making, display: Display) -> int:
    """Say what `make` would do. Raises `BookError` and `CommandError`."""
    registry = installed()
    media = registry.closed(parse_media(asked.media, registry))
    wishes = wishes_of(asked.voice, asked.size, keep=asked.keep)
    async with AsyncExitStack() as stack:
        opened = None
        if settings.distributed or has_database(settings):
            opened = await stack.enter_async_context(looking(settings))
        prepared = await prepare(opened.storage if opened is not None else None, Path(asked.source))
        found, title = await _found(opened, prepared, asked, media, wishes, display)
    _say(found, title, settings, display)
    return Exit.OK


async def _found(
    opened: Reading | None,
    prepared: Prepared,
    asked: Making,
    media: tuple[str, ...],
    wishes: Wishes,
    display: Display,
) -> tuple[Forecast, str]:
    """What is to be made, and the book's title; other settings than the stored ones are said."""
    if opened is None or prepared.row is None:
        book = prepared.book
        assert book is not None, "a book that is not stored has been read"
        registry = installed()
        wishes = _with_voice(wishes, book.head)
        found = count(registry, book, wishes.for_new_book(registry), parse_scope(asked.scope, book), media)
        return found, book.head.title or book.head.book_id
    book = await prepared.whole(opened.storage)
    wishes = _with_voice(wishes, book.head)
    (context,) = await opened.storage.contexts([prepared.row.book_key])
    wanted = wishes.applied(context.settings, opened.registry)
    found = await forecast(opened, book, prepared.row, wanted, parse_scope(asked.scope, book), media)
    if text := kept_text(wanted, wishes):
        display.note(text, event="settings")
    if wanted != context.settings:
        display.note(settings_text(context.settings, wanted, found.text(opened.settings)), event="settings")
    return found, book.head.title or book.head.book_id


def _with_voice(wishes: Wishes, head: BookHead) -> Wishes:
    return replace(wishes, voice=parse_voice(wishes.voice, head)) if wishes.voice else wishes


def _say(found: Forecast, title: str, settings: Settings, display: Display) -> None:
    seconds = found.seconds(settings)
    parts = {f"{media}.{kind}": [one.parts, one.ready] for (media, kind), one in found.counts.items()}
    if not found.missing:
        sentence = f"{title}: every part is there; nothing would be made."
    else:
        many = "1 part" if found.missing == 1 else f"{found.missing} parts"
        sentence = f"{title}: {many} would be made, {_at_once(settings)}, in {found.time_text(settings)}."
    display.note(sentence, event="dry_run", parts=parts, missing=found.missing, seconds=round(seconds, 1))
    rows = [
        (f"  {media} ({kind})", str(one.parts), str(one.ready), str(one.missing))
        for (media, kind), one in found.counts.items()
    ]
    display.table(("", "parts", "there", "to make"), rows)


def _at_once(settings: Settings) -> str:
    return "one at a time" if settings.jobs == 1 else f"{settings.jobs} at once"
