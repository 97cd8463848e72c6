"""What a command line selects: a scope of a book, media types, a size."""

from __future__ import annotations

import re

from animastor.books.model import Book, Chapter
from animastor.commands.errors import CommandError, Exit
from animastor.engine.ports import Scope, ScopeKind
from animastor.media.registry import Registry

SCOPE_HELP = "all, chapter:CHAPTER, scene:CHAPTER/SCENE or from:CHAPTER/SCENE; ids, or numbers counted from 1"
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


def parse_media(text: str, registry: Registry) -> tuple[str, ...]:
    """`audio,video` as names of the installation. Raises `CommandError`."""
    names = [name.strip() for name in text.split(",") if name.strip()]
    unknown = [name for name in names if name not in registry]
    if unknown or not names:
        what = f"{unknown[0]!r} is no media type" if unknown else "no media type is named"
        raise CommandError(
            Exit.USAGE, "media_unknown", f"--media {text!r}: {what}; there are {', '.join(registry.names)}."
        )
    return tuple(dict.fromkeys(names))


def parse_scope(text: str, book: Book) -> Scope:
    """A scope of this book. Raises `CommandError` that names what the book does not have."""
    kind, _, place = text.strip().partition(":")
    if kind in ("", "all") and not place:
        return Scope()
    if kind == "chapter" and place:
        return Scope(ScopeKind.CHAPTER, chapter_id=_chapter(place, book).chapter_id)
    if kind in ("scene", "from") and place:
        chapter_text, _, scene_text = place.partition("/")
        chapter = _chapter(chapter_text, book)
        scene_id = _scene(scene_text or "1", chapter)
        scope = ScopeKind.SCENE if kind == "scene" else ScopeKind.FROM_SCENE
        return Scope(scope, chapter_id=chapter.chapter_id, scene_id=scene_id)
    raise CommandError(Exit.USAGE, "scope_invalid", f"--scope {text!r} is not {SCOPE_HELP}.")


def _chapter(text: str, book: Book) -> Chapter:
    for chapter in book.chapters:
        if chapter.chapter_id == text:
            return chapter
    if text.isdigit() and 1 <= int(text) <= len(book.chapters):
        return book.chapters[int(text) - 1]
    raise CommandError(
        Exit.BAD_INPUT,
        "scope_unknown",
        f"The book has no chapter {text!r}; it has {len(book.chapters)}, counted from 1.",
    )


def _scene(text: str, chapter: Chapter) -> str:
    for scene in chapter.scenes:
        if scene.scene_id == text:
            return scene.scene_id
    if text.isdigit() and 1 <= int(text) <= len(chapter.scenes):
        return chapter.scenes[int(text) - 1].scene_id
    raise CommandError(
        Exit.BAD_INPUT,
        "scope_unknown",
        f"Chapter {chapter.chapter_id} has no scene {text!r}; it has {len(chapter.scenes)}, counted from 1.",
    )
