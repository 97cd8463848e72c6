"""What an edit would touch, before it is made: scenes by hash, and what is there of the parts that it wants."""

from __future__ import annotations

from collections.abc import Collection, Sequence

import orjson
from sqlalchemy import Connection

from animastor.books.codec import head_to_json, scene_from_json
from animastor.books.model import Book
from animastor.engine.ports import MadeBefore, SceneEdit, Scope, Touched
from animastor.protocol import AssetId, BookKey
from animastor.storage.diff import Incoming, StoredScene, bare, compare, content_hash
from animastor.storage.parts import facts_from
from animastor.storage.requests import scope_keys
from animastor.storage.rows import Statement, fetch
from animastor.storage.whole import Gathering, gather

_HEAD = Statement("head_of", "The head of a book.", "SELECT b.head FROM book b WHERE b.book_key = :book")
_SCENES = Gathering(
    "scenes_to_touch",
    "The scenes of a book, by hash.",
    """
    SELECT s.scene_key, c.chapter_id, s.scene_id, s.position, s.content_hash
    FROM scene s JOIN chapter c ON c.chapter_key = s.chapter_key WHERE s.book_key = :book ORDER BY s.position
    """,
)
_CHAPTERS = Statement(
    "chapters_to_touch", "The chapters of a book.",
    "SELECT c.chapter_id, c.position, c.content_hash FROM chapter c WHERE c.book_key = :book ORDER BY c.position",
)  # fmt: skip
_CONTENTS = Statement(
    "contents_to_touch",
    "The content of scenes whose hash is another one: it may still be equal.",
    "SELECT s.scene_key, s.content FROM {scenes} AS one JOIN scene s ON s.scene_key = one.scene",
    scenes={"scene": int},
)
_ASSETS = Statement(
    "assets_touched",
    "The assets of scenes that were ever asked for.",
    """
    SELECT a.id, a.scene_key, a.media FROM {scenes} AS one
    JOIN asset a ON a.scene_key = one.scene AND a.state <> {NEW} ORDER BY a.id
    """,
    scenes={"scene": int},
)
_MADE = Statement(
    "made_before",
    "What is READY of some hashes, in the workspace of a book.",
    """
    SELECT h.hash, min(p.artifact || ' ' || p.facts) AS found
    FROM {hashes} AS h
    JOIN part p ON substr(p.hash, 1, 12) = substr(h.hash, 1, 12) AND p.hash = h.hash AND p.state = {PART_READY}
    WHERE p.workspace = (SELECT b.workspace FROM book b WHERE b.book_key = :book)
    GROUP BY h.hash
    """,
    hashes={"hash": str},
)
_ASKED = Statement(
    "asked_media", "The media types of a book of which anything was ever asked for.",
    "SELECT DISTINCT a.media FROM asset a WHERE a.book_key = :book AND a.state <> {NEW}",
)  # fmt: skip


def stored_scene(connection: Connection, book_key: BookKey, scope: Scope) -> SceneEdit:
    """A scene as it is stored. Raises `ScopeError`."""
    _, key = scope_keys(connection, book_key, scope)
    (row,) = fetch(connection, _CONTENTS, scenes=[key])
    return SceneEdit(scope.chapter_id, scene_from_json(orjson.loads(row.content)), key)


def stored_scenes(connection: Connection, book_key: BookKey) -> list[StoredScene]:
    """The scenes of a book, by hash."""
    return [StoredScene(*row) for row in gather(connection, _SCENES, book=book_key)]


def touched(
    connection: Connection, book_key: BookKey, book: Book, stored: Sequence[StoredScene], arriving: Sequence[Incoming]
) -> Touched:
    """What saving this version of a book would touch. `arriving` is `diff.incoming(book)`. Raises `LookupError`."""
    heads = fetch(connection, _HEAD, book=book_key)
    if not heads:
        raise LookupError(f"there is no book {book_key}")
    found = compare(stored, arriving)
    changed = _changed(connection, [(one.stored.scene_key, one.incoming) for one in found.kept if one.other_bytes])
    added = [SceneEdit(one.chapter_id, one.scene) for one, _ in found.added]
    moved = sum(one.elsewhere for one in found.kept)
    other_head = orjson.loads(heads[0].head) != orjson.loads(orjson.dumps(head_to_json(book.head)))
    kept = [SceneEdit(one.incoming.chapter_id, one.incoming.scene, one.stored.scene_key) for one in found.kept]
    return Touched(
        changed=tuple(changed),
        added=tuple(added),
        removed=len(found.removed),
        moved=moved + _other_chapters(connection, book_key, book),
        head=book.head if other_head else None,
        others=tuple(kept) if other_head else (),
        scenes=len(arriving),
    )


def _changed(connection: Connection, other: Sequence[tuple[int, Incoming]]) -> list[SceneEdit]:
    contents = {row.scene_key: row.content for row in fetch(connection, _CONTENTS, scenes=[key for key, _ in other])}
    return [
        SceneEdit(one.chapter_id, one.scene, key)
        for key, one in other
        if orjson.loads(contents[key]) != orjson.loads(one.json())
    ]


def _other_chapters(connection: Connection, book_key: BookKey, book: Book) -> int:
    """Chapters of which something else than their scenes changed: a title, their place."""
    stored = {row.chapter_id: row.content_hash for row in fetch(connection, _CHAPTERS, book=book_key)}
    return sum(stored.get(one.chapter_id) not in (None, content_hash(bare(one))) for one in book.chapters)


def asked_media(connection: Connection, book_key: BookKey) -> list[str]:
    """The media types of a book of which anything was ever asked for."""
    return [row.media for row in fetch(connection, _ASKED, book=book_key)]


def assets_touched(connection: Connection, scenes: Collection[int]) -> dict[AssetId, int]:
    """The assets of these scenes that were ever asked for, with the keys of their scenes."""
    rows = fetch(connection, _ASSETS, scenes=sorted(scenes)) if scenes else ()
    return {AssetId(row.id): row.scene_key for row in rows}


def made_before(connection: Connection, book_key: BookKey, hashes: Collection[str]) -> dict[str, MadeBefore]:
    """What is there of these hashes."""
    rows = fetch(connection, _MADE, book=book_key, hashes=sorted(hashes)) if hashes else ()
    held = ((row.hash, *row.found.split(" ", 1)) for row in rows)
    return {hash_: MadeBefore(artifact, facts_from(facts)) for hash_, artifact, facts in held}
