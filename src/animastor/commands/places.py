"""Where in a book: scenes and units by the numbers that people call them, found without reading the book if possible.

`2/5` is the fifth scene of the second chapter, `2/5/1` its first unit.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from animastor.commands.errors import CommandError, Exit
from animastor.commands.selection import scope_of as find_scope
from animastor.commands.selection import unknown_place
from animastor.engine.ports import BookRow, ScenePlace, Storage

Place = tuple[str, str]  # chapter id, scene id


@dataclass(frozen=True, slots=True)
class Numbers:
    """The numbers of a book's scenes; what has left the book is called by its ids."""

    of: Mapping[Place, str]

    def scene(self, chapter_id: str, scene_id: str) -> str:
        """`2/5`."""
        return self.of.get((chapter_id, scene_id), f"{chapter_id}/{scene_id}")

    def chapter(self, chapter_id: str) -> str:
        """`2`."""
        return next((told.partition("/")[0] for (of, _), told in self.of.items() if of == chapter_id), chapter_id)


async def numbers_of(storage: Storage, row: BookRow) -> Numbers:
    """Of the book as it is now."""
    return Numbers({(one.chapter_id, one.scene_id): one.numbers for one in await storage.outline(row.book_key)})


async def unit_numbers(storage: Storage, row: BookRow) -> Mapping[str, str]:
    """`2/5/1` of each unit, by its id. Reads the book."""
    book = await storage.load_book(row.book_key)
    return {
        unit.unit_id: f"{chapter_number}/{scene_number}/{unit_number}"
        for chapter_number, chapter in enumerate(book.chapters, 1)
        for scene_number, scene in enumerate(chapter.scenes, 1)
        for unit_number, unit in enumerate(scene.units, 1)
    }


async def unit_of(storage: Storage, row: BookRow, text: str) -> str:
    """A unit's id, of `CHAPTER/SCENE/UNIT` (ids or numbers); any other text may be an id. Raises `CommandError`."""
    if "/" not in text:
        return text
    if text.count("/") != 2:
        message = f"Unit {text!r} is not CHAPTER/SCENE/UNIT, such as 1/2/3."
        raise CommandError(Exit.USAGE, "unit_invalid", message)
    found = (await find_scope(storage, row, f"units:{text}", units=True)).unit_ids
    if len(found) != 1:
        raise CommandError(Exit.USAGE, "unit_unclear", f"{text} names several units: name one.")
    return found[0]


def unit_unknown(row: BookRow, text: str) -> CommandError:
    """There is no unit of that name."""
    message = f"There is no unit {text!r} in {row.book_id}: name its id, or CHAPTER/SCENE/UNIT, such as 1/2/3."
    return CommandError(Exit.BAD_INPUT, "unit_unknown", message)


async def scene_of(storage: Storage, row: BookRow, text: str) -> Place:
    """`CHAPTER/SCENE` (ids, or numbers from 1), a scene's id, or its number in the book. Raises `CommandError`."""
    outline = await storage.outline(row.book_key)
    chapter_text, slash, scene_text = text.strip().partition("/")
    if slash:
        return _within(outline, row, chapter_text, scene_text)
    found = [one for one in outline if one.scene_id == chapter_text]
    if not found and _is_number(chapter_text) and 1 <= int(chapter_text) <= len(outline):
        found = [outline[int(chapter_text) - 1]]
    if len(found) > 1:
        raise _several(row, chapter_text, found)
    if not found:
        raise unknown_place(f"There is no scene {chapter_text!r} in {row.book_id}", [one.scene_id for one in outline])
    return found[0].chapter_id, found[0].scene_id


def _within(outline: Sequence[ScenePlace], row: BookRow, chapter_text: str, scene_text: str) -> Place:
    scenes = [one for one in outline if chapter_text in (one.chapter_id, one.numbers.partition("/")[0])]
    named = [one for one in scenes if one.chapter_id == chapter_text] or scenes  # an id before a number
    if not named:
        chapters = list(dict.fromkeys(one.chapter_id for one in outline))
        raise unknown_place(f"There is no chapter {chapter_text!r} in {row.book_id}", chapters)
    for one in named:
        if one.scene_id == scene_text:
            return one.chapter_id, one.scene_id
    if _is_number(scene_text) and 1 <= int(scene_text) <= len(named):
        one = named[int(scene_text) - 1]
        return one.chapter_id, one.scene_id
    raise unknown_place(f"There is no scene {scene_text!r} in chapter {chapter_text}", [one.scene_id for one in named])


def _several(row: BookRow, text: str, found: Sequence[ScenePlace]) -> CommandError:
    told = " or ".join(one.numbers for one in found)
    return CommandError(
        Exit.BAD_INPUT, "scope_unknown", f"There are {len(found)} scenes {text!r} in {row.book_id}: name {told}."
    )


def _is_number(text: str) -> bool:
    return text.isascii() and text.isdigit()
