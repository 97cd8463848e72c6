"""Bringing a source into a home: read, aligned with what is stored, saved as one edit (CONTRACT 1, 10)."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from dataclasses import dataclass, replace
from hashlib import sha256
from pathlib import Path

from animastor.books.align import align, source_key
from animastor.books.errors import BookError, Reason
from animastor.books.importers import IMPORT_FORMAT, load
from animastor.books.model import Book
from animastor.commands.errors import CommandError, Exit
from animastor.engine.ports import BookRow, SavedBook, Storage
from animastor.media.registry import Registry
from animastor.media.types import ContentSettings

_BLOCK = 1 << 20


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


@dataclass(frozen=True, slots=True)
class Imported:
    """A book that is in the home now. `settings_changed`: those before, when this command changed them."""

    row: BookRow
    saved: SavedBook
    settings: ContentSettings
    settings_before: ContentSettings | None = None


def fingerprint(source: Path) -> str:
    """The SHA-256 of a source's bytes (of a folder: all its files with their names) and of the way they are read.

    Raises `BookError` when it cannot be read.
    """
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
    if not source.exists():
        raise BookError(Reason.SOURCE_MISSING, f"{source} does not exist.")
    if source.is_dir():
        for path in sorted(source.rglob("*")):
            if path.is_file():
                yield path.relative_to(source).as_posix(), path
    else:
        yield source.name, source


async def import_book(storage: Storage, registry: Registry, source: Path, wishes: Wishes) -> Imported:
    """Import a source, or find that it is there already. Raises `BookError`, and `StorageUnavailableError`."""
    mark = await asyncio.to_thread(fingerprint, source)
    stored = next((row for row in await storage.books() if row.source_sha256 == mark), None)
    if stored is not None:
        saved = SavedBook(stored.book_key, stored.revision, 0, 0, 0, unchanged=True)
    else:
        stored, saved = await _save(storage, registry, source, mark, wishes)
    return await _with_settings(storage, registry, stored, saved, wishes)


async def _save(
    storage: Storage, registry: Registry, source: Path, mark: str, wishes: Wishes
) -> tuple[BookRow, SavedBook]:
    book = await asyncio.to_thread(load, source)
    key = source_key(book, source)
    before = await storage.find_book(book_id=book.head.book_id) or await storage.find_book(source_key=key)
    if before is not None:
        held = await storage.load_book(before.book_key)
        book = await asyncio.to_thread(align, held, book)
    settings = None if before is not None else wishes.applied(ContentSettings(), registry)
    saved = await storage.save_book(
        book, settings=settings, source=str(source.absolute()), source_key=key, source_sha256=mark
    )
    row = await storage.find_book(book_id=book.head.book_id)
    assert row is not None, "it was saved just now"
    return row, saved


async def _with_settings(
    storage: Storage, registry: Registry, row: BookRow, saved: SavedBook, wishes: Wishes
) -> Imported:
    (context,) = await storage.contexts([row.book_key])
    wanted = wishes.applied(context.settings, registry)
    if wanted == context.settings:
        return Imported(row, saved, wanted)
    changed = await storage.save_settings(row.book_key, wanted)
    return Imported(row, replace(saved, revision=changed.revision, unchanged=False), wanted, context.settings)


async def stored_book(storage: Storage, name: str) -> BookRow:
    """The book with this id, or the only one when `name` is empty. Raises `CommandError`."""
    rows = await storage.books()
    if name:
        rows = [row for row in rows if name in (row.book_id, row.source_key)]
    if len(rows) == 1:
        return rows[0]
    known = ", ".join(row.book_id for row in await storage.books()) or "none"
    what = f"There is no book {name!r} in this home" if name else "This home has several books, or none: name one"
    raise CommandError(Exit.BAD_INPUT, "book_unknown", f"{what}. Its books: {known}.")


def loaded(source: Path) -> Book:
    """The book of a source alone, without a home. Raises `BookError`."""
    return load(source)
