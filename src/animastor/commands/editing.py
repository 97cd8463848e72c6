"""`animastor edit`: new content from a file or for single fields; first what that will have made again.

The same preparing is done twice: by the command, to show and ask, and by whoever drives the home, to save. In between
the book must not have been edited otherwise: its revision is compared in the transaction that saves.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from animastor.app import Driving, Reading
from animastor.books.fields import FieldError, split_field, with_field, with_scene, with_unit_field
from animastor.books.model import Book, BookHead
from animastor.commands import messages
from animastor.commands.errors import CommandError, Exit
from animastor.commands.importing import fingerprint, stored_book
from animastor.commands.known_values import CHECKED, require_known
from animastor.commands.messages import Tell
from animastor.commands.naming import called
from animastor.commands.selection import chapter_of, scene_in, unit_in
from animastor.engine.ports import BookRow, RevisionError, Scope, ScopeKind, Storage, Touched

CHARACTERS = "characters/"


@dataclass(frozen=True, slots=True)
class Editing:
    """What `animastor edit` was asked for: `source` (absolute, or empty), or `sets` of PLACE.FIELD=VALUE.

    `revision`: of the book that was looked at.
    """

    book: str
    revision: int
    source: str = ""
    sets: tuple[str, ...] = ()


async def new_content(storage: Storage, row: BookRow, asked: Editing) -> Book:
    """The whole book as the edit would have it. Raises `BookError` and `CommandError`."""
    stored = await storage.load_book(row.book_key)
    if asked.source:
        return await asyncio.to_thread(_from_file, stored, Path(asked.source))
    for one in asked.sets:
        stored = _with_field(stored, one)
    return stored


def _from_file(stored: Book, source: Path) -> Book:
    from animastor.books.align import align
    from animastor.books.importers import load

    loaded = load(source)
    if loaded.source == "vbook" and loaded.head.book_id != stored.head.book_id:
        message = f"{source.name} is another book ({loaded.head.book_id}): `animastor import` brings it in."
        raise CommandError(Exit.BAD_INPUT, "other_book", message)
    aligned = align(stored, loaded)
    return replace(aligned, head=replace(aligned.head, book_id=stored.head.book_id))


def _with_field(book: Book, text: str) -> Book:
    place, field, value = _split(text)
    try:
        require_known(book.head, field, value)
        if place == "book":
            return replace(book, head=with_field(book.head, field, value))
        if place.startswith(CHARACTERS):
            return _with_character(book, place.removeprefix(CHARACTERS), field, value)
        return _with_place(book, place.split("/"), field, value)
    except FieldError as error:
        raise _refused(text, error) from error


def _split(text: str) -> tuple[str, str, str]:
    try:
        return split_field(text)
    except FieldError as error:
        raise _refused(text, error) from error


def _refused(text: str, error: FieldError) -> CommandError:
    return CommandError(Exit.USAGE, "field_invalid", f"--set {text!r}: {error}.")


def check_sets(sets: Sequence[str]) -> None:
    """Raises `CommandError` for what can be no field of any book."""
    for one in sets:
        _split(one)


def _with_character(book: Book, name: str, field: str, value: str) -> Book:
    known = [one.id for one in book.head.characters]
    if name not in known:
        others = f": it has {', '.join(known)}" if known else ", nor any other"
        raise CommandError(Exit.BAD_INPUT, "place_unknown", f"The book has no character {name!r}{others}.")
    changed = tuple(with_field(one, field, value) if one.id == name else one for one in book.head.characters)
    return replace(book, head=replace(book.head, characters=changed))


def _with_place(book: Book, names: Sequence[str], field: str, value: str) -> Book:
    try:
        chapter = chapter_of(names[0], book)
    except CommandError as error:
        also = f"{error.message.rstrip('.')}; what is no chapter is named `book` or `{CHARACTERS}ID`."
        raise CommandError(error.exit_code, error.reason, also) from error
    if len(names) == 1:
        changed = with_field(chapter, field, value)
        return replace(book, chapters=tuple(changed if one is chapter else one for one in book.chapters))
    scene = scene_in(names[1], chapter, names[0])
    if len(names) == 2:
        return with_scene(book, chapter.chapter_id, with_field(scene, field, value))
    return with_scene(
        book, chapter.chapter_id, with_unit_field(scene, unit_in(names[2], scene, "/".join(names[:2])), field, value)
    )


async def touched_by(opened: Reading, row: BookRow, asked: Editing) -> Touched:
    """What an edit would touch. Of a few units or scenes only these are read, however long the book is."""
    quick = await _touched_scenes(opened.storage, row, asked)
    if quick is not None:
        return quick
    return await opened.storage.touched(row.book_key, await new_content(opened.storage, row, asked))


async def _touched_scenes(storage: Storage, row: BookRow, asked: Editing) -> Touched | None:
    """The same where every place is named by ids, CHAPTER/SCENE or CHAPTER/SCENE/UNIT; None: the long way."""
    places = [(place.split("/"), field, value) for place, field, value in map(_split, asked.sets)]
    if asked.source or not all(len(names) in (2, 3) and names[0] != "characters" for names, _, _ in places):
        return None
    scenes, before = {}, {}
    head = await _head_for(storage, row, [field for _, field, _ in places])
    for names, field, value in places:
        key = (names[0], names[1])
        if key not in scenes:
            try:
                found = await storage.stored_scene(row.book_key, Scope(ScopeKind.SCENE, *key))
            except LookupError:
                return None  # numbers, or a name that the long way reports
            scenes[key] = before[key] = found
        scene = scenes[key].scene
        try:
            if head is not None:
                require_known(head, field, value)
            if len(names) == 3:
                if names[2] not in [unit.unit_id for unit in scene.units]:
                    return None
                scene = with_unit_field(scene, names[2], field, value)
            else:
                scene = with_field(scene, field, value)
        except FieldError as error:
            raise _refused(f"{'/'.join(names)}.{field}={value}", error) from error
        scenes[key] = replace(scenes[key], scene=scene)
    changed = tuple(one for key, one in scenes.items() if one.scene != before[key].scene)
    return Touched(changed=changed, scenes=row.scenes)


async def _head_for(storage: Storage, row: BookRow, fields: Sequence[str]) -> BookHead | None:
    """The book's head, when the value of one of these fields must name something in it."""
    if CHECKED.isdisjoint(fields):
        return None
    return (await storage.contexts([row.book_key]))[0].head


async def edit(drive: Driving, told: Mapping[str, Any], tell: Tell) -> None:
    """Save the edit in one transaction, and tell when its plans have been looked at. Raises `CommandError`."""
    asked = Editing(**told)
    storage = drive.reading.storage
    row = await stored_book(storage, asked.book)
    book = await new_content(storage, row, asked)
    source = Path(asked.source) if asked.source else None
    mark = row.source_sha256 if source is None else await asyncio.to_thread(fingerprint, source)
    try:
        saved = await storage.save_book(
            book,
            settings=None,
            source=row.source if source is None else str(source),
            source_key=row.source_key,
            source_sha256=mark,
            revision=asked.revision,
        )
    except RevisionError as error:
        message = f"{called(row)} has been edited otherwise meanwhile: look at it again."
        raise CommandError(Exit.BAD_INPUT, "revision_stale", message) from error
    await drive.engine.edited()
    await drive.engine.planned()
    asking = any(one.book_key == row.book_key for one in await storage.requests())
    then = "what is asked for takes it over" if asking else "`animastor make` makes it"
    tell(
        messages.result(
            said=f"Edited: {called(row)}; {then}.",
            book=row.book_id,
            revision=saved.revision,
            added=saved.added,
            changed=saved.changed,
            removed=saved.removed,
        )
    )
