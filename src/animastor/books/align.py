"""Importing a changed source again: the incoming book with the ids, and the borders, of the stored one (CONTRACT 1).

Units are matched by the longest common subsequence of their texts, and between matches their sentences; a sentence
that was changed in place stays in its unit. Units and scenes keep the borders they had, so that an inserted sentence
makes one unit new and moves nothing else. Headings and scene breaks are always those of the incoming book.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from animastor.books import lcs
from animastor.books.align_scenes import rebuild
from animastor.books.align_units import Placed, Standing, continued, flatten, repack
from animastor.books.identifiers import Names, plain
from animastor.books.model import Book, BookHead, Character

VBOOK = "vbook"  # a source with ids of its own


TEXT = "text"  # a source that cannot say its language: it is guessed


def align(stored: Book, incoming: Book) -> Book:
    """The incoming book with the stored book's ids on what is the same, or was changed in place.

    A vbook keeps its own ids and is returned as it is. What a text file or an EPUB cannot say (pictures, voices,
    places, passports) is taken over from the stored book. The result of aligning the same source again is equal.
    """
    if incoming.source == VBOOK:
        return incoming
    old, new = flatten(stored), flatten(incoming)
    placed = _placed(old, new, incoming.head.language)
    names = Names(_ids(stored))
    chapters = rebuild(stored, incoming, placed, names)
    head = _head(stored.head, incoming.head, {item.unit.speaker for item in placed})
    if incoming.source == TEXT and stored.head.language:  # a guess must not change every voice after an edit
        head = replace(head, language=stored.head.language)
    return replace(incoming, head=head, chapters=chapters, cover=incoming.cover or stored.cover)


def source_key(book: Book, path: Path) -> str:
    """What a source is known by when its book id is not: the EPUB identifier, else the file's name (CONTRACT 1).

    The book id comes first: look for a stored book of the same id before one of the same key.
    """
    return f"epub:{book.head.identifier}" if book.head.identifier else f"file:{path.name}"


def _placed(old: Sequence[Standing], new: Sequence[Standing], language: str) -> list[Placed]:
    """The units of the result in order, each with the stored unit that it continues."""
    placed: list[Placed] = []
    at_old = at_new = 0
    for i, j in (*_pairs(old, new), (len(old), len(new))):
        placed.extend(repack(old, range(at_old, i), new[at_new:j], language))
        if j < len(new):
            unit = continued(old[i].unit, new[j].unit)
            placed.append(Placed(unit, i, new[j], new[j].chapter_start, new[j].hard))
        at_old, at_new = i + 1, j + 1
    return placed


def _pairs(old: Sequence[Standing], new: Sequence[Standing]) -> list[lcs.Pair]:
    """The units that are the same, ascending: by the text, and headings with the text that follows them.

    Headings are numbered anew when a chapter is inserted, so they do not decide what is the same.
    """
    left = [at for at, item in enumerate(old) if not item.is_heading]
    right = [at for at, item in enumerate(new) if not item.is_heading]
    same = lcs.common([plain(old[at].unit.text) for at in left], [plain(new[at].unit.text) for at in right])
    pairs: list[lcs.Pair] = []
    for i, j in ((left[i], right[j]) for i, j in same):
        before = pairs[-1] if pairs else (-1, -1)
        headings: list[lcs.Pair] = []
        x, y = i - 1, j - 1
        while x > before[0] and y > before[1] and old[x].is_heading and new[y].is_heading:
            headings.append((x, y))
            x, y = x - 1, y - 1
        pairs.extend(reversed(headings))
        pairs.append((i, j))
    return pairs


def _ids(book: Book) -> list[str]:
    """Every id of a book."""
    found: list[str] = [chapter.chapter_id for chapter in book.chapters]
    for _, scene in book.scenes():
        found.append(scene.scene_id)
        found.extend(unit.unit_id for unit in scene.units)
    return found


def _head(stored: BookHead, incoming: BookHead, speaking: set[str]) -> BookHead:
    """The stored head with what the source says anew: its title, author, language, identifier and speakers."""
    known = {character.id for character in stored.characters}
    kept = [item for item in stored.characters if _is_described(item) or item.id in speaking]
    added = [item for item in incoming.characters if item.id not in known and item.id in speaking]
    return replace(
        stored,
        title=incoming.title or stored.title,
        author=incoming.author or stored.author,
        language=incoming.language or stored.language,
        identifier=incoming.identifier or stored.identifier,
        characters=(*kept, *added),
    )


def _is_described(character: Character) -> bool:
    """Whether somebody said more of a character than a text does."""
    return character != Character(character.id, character.name)
