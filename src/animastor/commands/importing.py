"""Bringing a source into a home: read, aligned with what is stored, saved as one edit (CONTRACT 1, 10).

In two steps, so that everything that the command line names (scope, voice) is looked up before anything is written.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any

from animastor.books.errors import BookError, Reason
from animastor.books.model import Book, BookHead
from animastor.commands import messages
from animastor.commands.errors import CommandError, Exit
from animastor.commands.messages import Tell
from animastor.commands.naming import called, scenes_text
from animastor.commands.selection import parse_voice
from animastor.engine.home import Message
from animastor.engine.ports import BookRow, SavedBook, Storage
from animastor.media.registry import Registry
from animastor.media.types import ContentSettings

if TYPE_CHECKING:
    from animastor.app import Driving, Reading

_BLOCK = 1 << 20


@dataclass(frozen=True, slots=True)
class Importing:
    """What `animastor import` was asked for."""

    source: str
    voice: str | None = None
    size: tuple[int, int] | None = None
    keep: bool = False


@dataclass(frozen=True, slots=True)
class Wishes:
    """What the command line says of the settings that determine bytes; None leaves what is stored as it is."""

    voice: str | None = None
    size: tuple[int, int] | None = None
    keep: bool = False

    def applied(self, settings: ContentSettings, registry: Registry) -> ContentSettings:
        """The settings with these wishes; the profiles of this installation, unless the stored ones are kept."""
        if self.keep:
            return settings
        width, height = self.size or (settings.width, settings.height)
        narrator = settings.narrator if self.voice is None else self.voice
        return replace(settings, width=width, height=height, narrator=narrator, profiles=registry.profiles)

    def for_new_book(self, registry: Registry) -> ContentSettings:
        """The settings of a book that is not stored yet: there is nothing to keep."""
        return replace(self, keep=False).applied(ContentSettings(), registry)


@dataclass(frozen=True, slots=True)
class Prepared:
    """A source that was read. `row`: the stored book that it is a version of; `book` None: the very same bytes."""

    source: Path
    mark: str
    key: str
    row: BookRow | None
    book: Book | None

    async def whole(self, storage: Storage) -> Book:
        """The book as it will be."""
        if self.book is not None:
            return self.book
        assert self.row is not None, "the same bytes are of a stored book"
        return await storage.load_book(self.row.book_key)

    async def head(self, storage: Storage) -> BookHead:
        """Its head alone."""
        if self.book is not None:
            return self.book.head
        assert self.row is not None, "the same bytes are of a stored book"
        return (await storage.contexts([self.row.book_key]))[0].head


@dataclass(frozen=True, slots=True)
class Imported:
    """A book that is in the home now. `settings_before`: those before, when this command changed them."""

    row: BookRow
    saved: SavedBook
    settings: ContentSettings
    settings_before: ContentSettings | None = None


def require_source(source: Path) -> None:
    """Raises `BookError` for a source that is not there or not readable: before a home is made for it."""
    if not source.exists():
        raise BookError(Reason.SOURCE_MISSING, f"{source} does not exist.")
    if not os.access(source, os.R_OK):
        raise BookError(Reason.SOURCE_UNREADABLE, f"{source} cannot be read: permission denied.")


def fingerprint(source: Path) -> str:
    """The SHA-256 of a source's bytes (of a folder: all its files with their names) and of the way they are read.

    Raises `BookError` when it cannot be read.
    """
    from animastor.books.formats import IMPORT_FORMAT

    digest = sha256(f"import {IMPORT_FORMAT}\0".encode())
    try:
        for name, path in _files(source):
            digest.update(f"{name}\0{path.stat().st_size}\0".encode())
            with path.open("rb") as file:
                while block := file.read(_BLOCK):
                    digest.update(block)
    except OSError as error:
        raise BookError(Reason.SOURCE_UNREADABLE, f"{source} cannot be read: {error.strerror}.") from error
    return digest.hexdigest()


def _files(source: Path) -> Iterator[tuple[str, Path]]:
    require_source(source)
    if source.is_dir():
        for path in sorted(source.rglob("*")):
            if path.is_file():
                yield path.relative_to(source).as_posix(), path
    else:
        yield source.name, source


async def prepare(storage: Storage | None, source: Path) -> Prepared:
    """Read a source and find the stored book that it is a version of. Writes nothing. Raises `BookError`."""
    mark = await asyncio.to_thread(fingerprint, source)
    rows = [] if storage is None else await storage.books()
    same = next((row for row in rows if row.source_sha256 == mark), None)
    if same is not None:
        return Prepared(source, mark, same.source_key, same, None)
    from animastor.books.align import align, source_key
    from animastor.books.importers import load

    book = await asyncio.to_thread(load, source)
    key = source_key(book, source)
    if storage is None:
        return Prepared(source, mark, key, None, book)
    row = await storage.find_book(book_id=book.head.book_id) or await storage.find_book(source_key=key)
    if row is not None:
        book = await asyncio.to_thread(align, await storage.load_book(row.book_key), book)
        if book.head.book_id != row.book_id:  # it brings an id of its own: another book in a file of the same name
            row = None
    return Prepared(source, mark, key, row, book)


async def save(storage: Storage, registry: Registry, prepared: Prepared, wishes: Wishes) -> Imported:
    """Save what was prepared, and the wishes. Raises `StorageUnavailableError`."""
    row, saved = await _saved(storage, registry, prepared, wishes)
    (context,) = await storage.contexts([row.book_key])
    wanted = wishes.applied(context.settings, registry)
    if wanted == context.settings:
        return Imported(row, saved, wanted)
    changed = await storage.save_settings(row.book_key, wanted)
    return Imported(row, replace(saved, revision=changed.revision, unchanged=False), wanted, context.settings)


async def _saved(storage: Storage, registry: Registry, prepared: Prepared, wishes: Wishes) -> tuple[BookRow, SavedBook]:
    row, book = prepared.row, prepared.book
    if book is None:
        assert row is not None, "the same bytes are of a stored book"
        return row, SavedBook(row.book_key, row.revision, 0, 0, 0, unchanged=True)
    settings = None if row is not None else wishes.for_new_book(registry)
    saved = await storage.save_book(
        book,
        settings=settings,
        source=str(prepared.source.absolute()),
        source_key=prepared.key,
        source_sha256=prepared.mark,
    )
    found = await storage.find_book(book_id=book.head.book_id)
    assert found is not None, "it was saved just now"
    return found, saved


async def stored_book(storage: Storage, name: str) -> BookRow:
    """The book with this id, or the only one when `name` is empty. Raises `CommandError`."""
    rows = await storage.books()
    known = ", ".join(row.book_id for row in rows) or "none yet"
    if name:
        rows = [row for row in rows if name in (row.book_id, row.source_key)]
    if len(rows) == 1:
        return rows[0]
    what = f"There is no book {name!r} in this home" if name else "Name a book: there is not exactly one in this home"
    raise CommandError(Exit.BAD_INPUT, "book_unknown", f"{what}; it has: {known}.")


async def bring(drive: Driving, told: Mapping[str, Any], tell: Tell) -> None:
    """The errand of `animastor import`."""
    asked = Importing(**told)
    prepared = await prepare(drive.reading.storage, Path(asked.source))
    wishes = wishes_of(asked.voice, asked.size, keep=asked.keep)
    imported = await keep(drive.reading, prepared, wishes, tell)
    await drive.engine.edited()
    await drive.engine.planned()  # so that `status` tells what the edit really touched
    tell(messages.result(book=imported.row.book_id))


def wishes_of(voice: str | None, size: Any, *, keep: bool) -> Wishes:
    """Wishes as a message carries them."""
    return Wishes(voice, (int(size[0]), int(size[1])) if size else None, keep)


async def keep(opened: Reading, prepared: Prepared, wishes: Wishes, tell: Tell) -> Imported:
    """Look the wishes up, save what was prepared, and tell what it was. Raises `CommandError`."""
    if wishes.voice:
        wishes = replace(wishes, voice=parse_voice(wishes.voice, await prepared.head(opened.storage)))
    cost = await _cost(opened, prepared, wishes)
    imported = await save(opened.storage, opened.registry, prepared, wishes)
    tell(imported_note(imported))
    if prepared.row is not None and (text := kept_text(imported.settings, wishes)):
        tell(messages.note(text, event="settings"))
    if imported.settings_before is not None:
        tell(messages.note(settings_text(imported.settings_before, imported.settings, cost), event="settings"))
    return imported


async def _cost(opened: Reading, prepared: Prepared, wishes: Wishes) -> str:
    """What other settings of a stored book will cost, in words; empty when they stay."""
    if prepared.row is None:
        return ""
    (context,) = await opened.storage.contexts([prepared.row.book_key])
    wanted = wishes.applied(context.settings, opened.registry)
    if wanted == context.settings:
        return ""
    from animastor.commands.forecast import forecast

    found = await forecast(opened, await prepared.whole(opened.storage), prepared.row, wanted)
    return found.text(opened.settings)


def imported_note(imported: Imported) -> Message:
    """What importing did, in one sentence."""
    row, saved = imported.row, imported.saved
    counts = ((saved.added, "new"), (saved.changed, "changed"), (saved.removed, "gone"))
    what = ", ".join(f"{count} {how}" for count, how in counts if count) or "unchanged"
    return messages.note(
        f"{called(row)}: {scenes_text(row.scenes)}, {what}.",
        event="book",
        book=row.book_id,
        title=row.title,
        scenes=row.scenes,
        added=saved.added,
        changed=saved.changed,
        removed=saved.removed,
    )


def settings_text(before: ContentSettings, now: ContentSettings, cost: str) -> str:
    """What changed in the settings that determine bytes, and what that costs."""
    told = [f"{name} {old} → {new}" for name, old, new in _differences(before, now)]
    if before.profiles != now.profiles:
        told.append("a backend has a new revision")
    return f"Changed: {', '.join(told)}; {cost} (--keep keeps what is stored)."


def kept_text(stored: ContentSettings, wishes: Wishes) -> str:
    """What --keep held against the voice and the size that were named beside it, and how to change them; or nothing."""
    if not wishes.keep:
        return ""
    width, height = wishes.size or (stored.width, stored.height)
    narrator = stored.narrator if wishes.voice is None else wishes.voice
    named = replace(stored, width=width, height=height, narrator=narrator)
    told = [f"{name} {old}, not {new}" for name, old, new in _differences(stored, named)]
    how = f"Leave out --keep to change {'it' if len(told) == 1 else 'them'}."
    return f"Kept as stored: {'; '.join(told)}. {how}" if told else ""


def _differences(one: ContentSettings, other: ContentSettings) -> Iterator[tuple[str, str, str]]:
    """In which of the settings that a person names they differ, in words."""
    if (one.width, one.height) != (other.width, other.height):
        yield "size", f"{one.width}x{one.height}", f"{other.width}x{other.height}"
    if one.narrator != other.narrator:
        yield "narrator", one.narrator or "of the book", other.narrator or "of the book"
