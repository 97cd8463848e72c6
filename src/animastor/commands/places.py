"""Where in a book: a scene as people name it, found in the book's outline without reading the book."""

from __future__ import annotations

from collections.abc import Sequence

from animastor.commands.errors import CommandError, Exit
from animastor.engine.ports import BookRow, Storage

Place = tuple[str, str]  # chapter id, scene id
SHOWN = 5


async def scene_of(storage: Storage, row: BookRow, text: str) -> Place:
    """`CHAPTER/SCENE` (ids, or numbers from 1), a scene's id, or its number in the book. Raises `CommandError`."""
    outline = await storage.outline(row.book_key)
    chapter_text, slash, scene_text = text.strip().partition("/")
    if slash:
        return _within(outline, row, chapter_text, scene_text)
    found = [place for place in outline if place[1] == chapter_text]
    if not found and _number(chapter_text, len(outline)):
        found = [outline[int(chapter_text) - 1]]
    if len(found) > 1:
        told = " or ".join("/".join(place) for place in found[:SHOWN])
        raise _unknown(f"There are {len(found)} scenes {chapter_text!r} in {row.book_id}: name {told}")
    if not found:
        raise _unknown(f"There is no scene {chapter_text!r} in {row.book_id}: name one of {_some(outline)}")
    return found[0]


def _within(outline: Sequence[Place], row: BookRow, chapter_text: str, scene_text: str) -> Place:
    chapters = list(dict.fromkeys(chapter for chapter, _ in outline))
    chapter = _pick(chapters, chapter_text)
    if chapter is None:
        raise _unknown(f"There is no chapter {chapter_text!r} in {row.book_id}: name one of {_few(chapters)}")
    scenes = [scene for of, scene in outline if of == chapter]
    scene = _pick(scenes, scene_text)
    if scene is None:
        raise _unknown(f"There is no scene {scene_text!r} in chapter {chapter}: name one of {_few(scenes)}")
    return chapter, scene


def _pick(ids: Sequence[str], text: str) -> str | None:
    if text in ids:
        return text
    return ids[int(text) - 1] if _number(text, len(ids)) else None


def _number(text: str, most: int) -> bool:
    return text.isascii() and text.isdigit() and 1 <= int(text) <= most


def _few(ids: Sequence[str]) -> str:
    more = ", …" if len(ids) > SHOWN else ""
    return f"{', '.join(ids[:SHOWN])}{more}, or a number from 1 to {len(ids)}"


def _some(outline: Sequence[Place]) -> str:
    return _few(["/".join(place) for place in outline]) if outline else "none: it has no scenes"


def _unknown(what: str) -> CommandError:
    return CommandError(Exit.BAD_INPUT, "scope_unknown", f"{what}.")
