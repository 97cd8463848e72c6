"""What a command line selects: a scope of a book, media types, a voice, a size."""

from __future__ import annotations

import re
from collections.abc import Sequence

from animastor.books.model import Book, BookHead, Chapter, Scene
from animastor.commands.errors import CommandError, Exit
from animastor.engine.ports import BookRow, Scope, ScopeKind, Storage
from animastor.media.registry import Registry, installed

SCOPE_HELP = "all, chapter:CHAPTER, scene:CHAPTER/SCENE or from:CHAPTER/SCENE; ids, or numbers counted from 1"
UNITS_HELP = f"{SCOPE_HELP}; or units:CHAPTER/SCENE/UNIT,UNIT"
LISTED = 50  # characters of ids that a sentence still lists
LEAST_SIDE, MOST_SIDE = 64, 4096  # pixels


def parse_size(text: str) -> tuple[int, int]:
    """`1280x720` as (1280, 720); both even, as H.264 with 4:2:0 wants them. Raises `CommandError`."""
    match = re.fullmatch(r"(\d{1,5})x(\d{1,5})", text.strip().lower())
    if match is None:
        raise CommandError(Exit.USAGE, "size_invalid", f"--size {text!r} is not WIDTHxHEIGHT, such as 1280x720.")
    width, height = int(match[1]), int(match[2])
    if not all(LEAST_SIDE <= side <= MOST_SIDE and side % 2 == 0 for side in (width, height)):
        raise CommandError(
            Exit.USAGE,
            "size_invalid",
            f"--size {text}: both sides must be even and between {LEAST_SIDE} and {MOST_SIDE} pixels.",
        )
    return width, height


def parse_media(text: str | None, registry: Registry) -> tuple[str, ...]:
    """`audio,video` as names of the installation; None is all of them. Raises `CommandError`."""
    if text is None:
        return registry.names
    names = [name.strip() for name in text.split(",") if name.strip()]
    unknown = [name for name in names if name not in registry]
    if unknown or not names:
        what = f"{unknown[0]!r} is no media type" if unknown else "no media type is named"
        raise CommandError(
            Exit.USAGE, "media_unknown", f"--media {text!r}: {what}; there are {', '.join(registry.names)}."
        )
    return tuple(dict.fromkeys(names))


def parse_voice(text: str, head: BookHead) -> str:
    """A narrator's voice: one of the palette, one that the book names, or a description of several words.

    Raises `CommandError` that names the voices.
    """
    from animastor.media.voices import PALETTE, PLAIN, narrator_colour

    wanted = text.strip()
    if wanted in head.voices or wanted.casefold() in PALETTE:
        return wanted
    if len(wanted.split()) > 1 or narrator_colour(wanted) != PLAIN:
        return wanted
    own = f"; the book's own are {', '.join(sorted(head.voices))}" if head.voices else ""
    raise CommandError(
        Exit.USAGE,
        "voice_unknown",
        f"--voice {text!r} is no voice: there are {', '.join(PALETTE)}{own}; or describe one in a few words.",
    )


def check_selection(scope: str, media: str | None, *, units: bool = False) -> None:
    """Raises `CommandError` for what can be no scope, or names no media type of this installation."""
    check_scope(scope, units=units)
    if media is not None:
        parse_media(media, installed())


def chosen_media(text: str | None, registry: Registry) -> tuple[str, ...]:
    """The media types that are named; none for all. Raises `CommandError`."""
    return parse_media(text, registry) if text is not None else ()


async def scope_of(storage: Storage, row: BookRow, text: str, *, units: bool = False) -> Scope:
    """A scope of a stored book. Raises `CommandError`."""
    check_scope(text, units=units)
    if text.strip() in ("", "all"):
        return Scope()
    return parse_scope(text, await storage.load_book(row.book_key), units=units)


def check_scope(text: str, *, units: bool = False) -> None:
    """Raises `CommandError` for what can be no scope of any book; `units` of a scene may be one where they can be."""
    kind, _, place = text.strip().partition(":")
    kinds = ("chapter", "scene", "from", "units") if units else ("chapter", "scene", "from")
    if (kind in ("", "all") and not place) or (kind in kinds and place and (kind != "units" or place.count("/") == 2)):
        return
    raise CommandError(Exit.USAGE, "scope_invalid", f"--scope {text!r} is not {UNITS_HELP if units else SCOPE_HELP}.")


def parse_scope(text: str, book: Book, *, units: bool = False) -> Scope:
    """A scope of this book. Raises `CommandError` that names what the book does not have."""
    check_scope(text, units=units)
    kind, _, place = text.strip().partition(":")
    if kind in ("", "all"):
        return Scope()
    if kind == "chapter":
        return Scope(ScopeKind.CHAPTER, chapter_id=chapter_of(place, book).chapter_id)
    chapter_text, _, scene_text = place.partition("/")
    chapter = chapter_of(chapter_text, book)
    scene_text, _, units_text = scene_text.partition("/") if kind == "units" else (scene_text, "", "")
    scene = scene_in(scene_text or "1", chapter, chapter_text)
    if kind == "units":
        named = tuple(
            dict.fromkeys(unit_in(one.strip(), scene, f"{chapter_text}/{scene_text}") for one in units_text.split(","))
        )
        return Scope(ScopeKind.UNITS, chapter.chapter_id, scene.scene_id, named)
    return Scope(ScopeKind.SCENE if kind == "scene" else ScopeKind.FROM_SCENE, chapter.chapter_id, scene.scene_id)


def chapter_of(text: str, book: Book) -> Chapter:
    """A chapter by its id, or its number counted from 1. Raises `CommandError`."""
    for chapter in book.chapters:
        if chapter.chapter_id == text:
            return chapter
    if text.isdigit() and 1 <= int(text) <= len(book.chapters):
        return book.chapters[int(text) - 1]
    raise unknown_place(f"The book has no chapter {text!r}", [each.chapter_id for each in book.chapters])


def scene_in(text: str, chapter: Chapter, called: str = "") -> Scene:
    """A scene of a chapter, the same way. `called`: how the chapter was named."""
    for scene in chapter.scenes:
        if scene.scene_id == text:
            return scene
    if text.isdigit() and 1 <= int(text) <= len(chapter.scenes):
        return chapter.scenes[int(text) - 1]
    raise unknown_place(
        f"Chapter {called or chapter.chapter_id} has no scene {text!r}", [each.scene_id for each in chapter.scenes]
    )


def unit_in(text: str, scene: Scene, called: str = "") -> str:
    """The id of a unit of a scene, the same way."""
    for unit in scene.units:
        if unit.unit_id == text:
            return text
    if text.isdigit() and 1 <= int(text) <= len(scene.units):
        return scene.units[int(text) - 1].unit_id
    raise unknown_place(
        f"Scene {called or scene.scene_id} has no unit {text!r}", [each.unit_id for each in scene.units]
    )


def unknown_place(what: str, ids: Sequence[str]) -> CommandError:
    """The sentence for a place that there is not; `ids`: of those that there are, in order."""
    numbers = f"a number from 1 to {len(ids)}" if len(ids) > 1 else "1"
    listed = ", ".join(ids)
    known = listed if len(listed) <= LISTED else "`animastor outline` shows them"
    message = f"{what}: name it by {numbers}, or by its id ({known})." if ids else f"{what}, nor any other."
    return CommandError(Exit.BAD_INPUT, "scope_unknown", message)
