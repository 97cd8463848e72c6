"""Reading books back: lists, whole books, what plans read of them, and what exports need."""

# ruff: noqa: S608 - fragments of this package are put together, nothing from outside

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from typing import Any, Final

import orjson
from sqlalchemy import Connection

from animastor.books.codec import chapter_from_json, head_from_json, scene_from_json
from animastor.books.model import Book, Cover, Scene
from animastor.engine.ports import AssetExport, BookContext, BookRow, SceneExport, ScenePlace, Scope, ScopeKind
from animastor.engine.states import State
from animastor.media.types import ContentSettings, Profile
from animastor.protocol import BookKey
from animastor.storage.coverage import in_scope
from animastor.storage.requests import scope_keys
from animastor.storage.rows import Statement, fetch

_BOOK_COLUMNS: Final = """
    b.book_key, b.book_id, b.title, b.language, b.source, b.source_key, b.source_sha256, b.revision,
    (SELECT count(*) FROM scene s WHERE s.book_key = b.book_key) AS scenes
"""
_BOOKS = Statement(
    "books", "All books.", f"SELECT {_BOOK_COLUMNS} FROM book b WHERE b.deleted_at IS NULL ORDER BY b.book_key"
)
_BOOK_BY_ID = Statement(
    "book_by_id", "A book by its id.",
    f"SELECT {_BOOK_COLUMNS} FROM book b WHERE b.workspace = 'default' AND b.book_id = :id",
)  # fmt: skip
_BOOK_BY_SOURCE = Statement(
    "book_by_source", "A book by where it came from.",
    f"""
    SELECT {_BOOK_COLUMNS} FROM book b WHERE b.workspace = 'default' AND b.source_key = :source
    ORDER BY b.book_key LIMIT 1
    """,
)  # fmt: skip
_CONTEXTS = Statement(
    "book_contexts",
    "What all plans of books read.",
    """
    SELECT b.book_key, b.book_id, b.revision, b.head, b.settings, b.disabled, b.layers
    FROM {books} AS one JOIN book b ON b.book_key = one.book
    """,
    books={"book": int},
)
_HEAD = Statement(
    "whole_book", "The head and cover of a book.",
    """
    SELECT b.head, b.kind, c.media_type, c.data FROM book b LEFT JOIN book_cover c ON c.book_key = b.book_key
    WHERE b.book_key = :book
    """,
)  # fmt: skip
_CHAPTERS = Statement(
    "whole_chapters", "The chapters of a book.",
    "SELECT c.chapter_key, c.content FROM chapter c WHERE c.book_key = :book ORDER BY c.position",
)  # fmt: skip
_SCENES = Statement(
    "whole_scenes", "The scenes of a book.",
    "SELECT s.chapter_key, s.content FROM scene s WHERE s.book_key = :book ORDER BY s.position",
)  # fmt: skip
_OUTLINE = Statement(
    "outline",
    "The scenes of a book by name, in reading order.",
    """
    SELECT c.chapter_id, s.scene_id, c.number,
           row_number() OVER (PARTITION BY s.chapter_key ORDER BY s.position) AS scene_number
    FROM scene s JOIN (
        SELECT n.chapter_key, n.chapter_id, row_number() OVER (ORDER BY n.position) AS number
        FROM chapter n WHERE n.book_key = :book
    ) AS c ON c.chapter_key = s.chapter_key
    WHERE s.book_key = :book ORDER BY s.position
    """,
)
_EXPORT_SCENES = Statement(
    "export_scenes",
    "The scenes of a scope in reading order, with their chapters.",
    """
    SELECT s.scene_key, s.scene_id, s.content, c.chapter_key, c.chapter_id
    FROM scene s JOIN chapter c ON c.chapter_key = s.chapter_key
    WHERE s.book_key = :book AND (:chapter = 0 OR s.chapter_key = :chapter) AND (:scene = 0 OR s.scene_key = :scene)
      AND (:first = 0 OR s.position >= (SELECT f.position FROM scene f WHERE f.scene_key = :first))
    ORDER BY s.position
    """,
)
# A version of `asset` is there: its file, or what is known of it where its parts are all there is.
MADE: Final = """CASE WHEN EXISTS (SELECT 1 FROM artifact x WHERE x.checksum = asset.artifact) OR (
    asset.artifact = '' AND EXISTS (SELECT 1 FROM asset_facts x WHERE x.asset = asset.id)) THEN 1 ELSE 0 END"""
_EXPORT_ASSETS = Statement(
    "export_assets",
    "The assets of a scope, with their artifacts and facts.",
    f"""
    SELECT asset.scene_key, asset.media, asset.state, asset.plan_seq, asset.planned_seq, asset.wanted_hash,
           asset.artifact_hash, asset.artifact, asset.error, asset.reason, f.facts, x.suffix, {MADE} AS made
    FROM scene s JOIN asset ON asset.scene_key = s.scene_key
    LEFT JOIN asset_facts f ON f.asset = asset.id
    LEFT JOIN artifact x ON x.checksum = asset.artifact
    WHERE s.book_key = :book AND (:chapter = 0 OR s.chapter_key = :chapter) AND (:scene = 0 OR s.scene_key = :scene)
      AND (:first = 0 OR s.position >= (SELECT f.position FROM scene f WHERE f.scene_key = :first))
    """,
)


_FAILED_MEDIA = Statement(
    "failed_media",
    "The media types of which something in a scope has FAILED.",
    f"""
    SELECT DISTINCT asset.media FROM {{of}} AS r
    JOIN asset ON asset.book_key = r.book AND asset.state IN ({{NEW}}, {{DIRTY}}, {{FAILED}})
      AND asset.state = {{FAILED}}
    WHERE {in_scope("r")} ORDER BY asset.media
    """,
    of={"book": int, "scope": str, "chapter_key": int, "scene_key": int},
)


def failed_media(connection: Connection, book_key: BookKey, scope: Scope) -> list[str]:
    """The media types of which something in a scope has FAILED. Raises `ScopeError`."""
    chapter, scene = scope_keys(connection, book_key, scope)
    return [row.media for row in fetch(connection, _FAILED_MEDIA, of=[(book_key, scope.kind.value, chapter, scene)])]


def books(connection: Connection) -> list[BookRow]:
    """All books, oldest first."""
    return [BookRow(*row) for row in fetch(connection, _BOOKS)]


def find_book(connection: Connection, book_id: str, source_key: str) -> BookRow | None:
    """The book with this id, or else from this source."""
    rows: Sequence[Any] = fetch(connection, _BOOK_BY_ID, id=book_id) if book_id else ()
    if not rows and source_key:
        rows = fetch(connection, _BOOK_BY_SOURCE, source=source_key)
    return BookRow(*rows[0]) if rows else None


def contexts(connection: Connection, keys: Collection[BookKey]) -> list[BookContext]:
    """What all plans of these books read."""
    return [
        BookContext(
            book_key=BookKey(row.book_key),
            book_id=row.book_id,
            revision=row.revision,
            head=head_from_json(orjson.loads(row.head)),
            settings=settings_from(row.settings),
            disabled=frozenset(row.disabled.split()),
            layers=orjson.loads(row.layers) if row.layers else {},
        )
        for row in fetch(connection, _CONTEXTS, books=sorted(keys))
    ]


def settings_from(stored: str) -> ContentSettings:
    """Settings as they were stored."""
    data = orjson.loads(stored)
    profiles = {name: Profile(**profile) for name, profile in data.pop("profiles").items()}
    return ContentSettings(**data, profiles=profiles)


def load_book(connection: Connection, book_key: BookKey) -> Book:
    """A whole book as it was saved. Raises `LookupError`."""
    heads = fetch(connection, _HEAD, book=book_key)
    if not heads:
        raise LookupError(f"there is no book {book_key}")
    head = heads[0]
    scenes: dict[int, list[Scene]] = defaultdict(list)
    for row in fetch(connection, _SCENES, book=book_key):
        scenes[row.chapter_key].append(scene_from_json(orjson.loads(row.content)))
    chapters = tuple(
        chapter_from_json(orjson.loads(row.content), tuple(scenes[row.chapter_key]))
        for row in fetch(connection, _CHAPTERS, book=book_key)
    )
    cover = Cover(head.media_type, bytes(head.data)) if head.data is not None else None
    return Book(head_from_json(orjson.loads(head.head)), chapters, cover, head.kind)


def outline(connection: Connection, book_key: BookKey) -> list[ScenePlace]:
    """Each scene's ids and numbers, in reading order; chapters without scenes count, too."""
    return [
        ScenePlace(row.chapter_id, row.scene_id, f"{row.number}/{row.scene_number}")
        for row in fetch(connection, _OUTLINE, book=book_key)
    ]


def export_rows(connection: Connection, book_key: BookKey, scope: Scope) -> list[SceneExport]:
    """The scenes of a scope with their assets, current or not. Raises `ScopeError`."""
    chapter, scene = scope_keys(connection, book_key, scope)
    given = {
        "book": book_key,
        "chapter": chapter if scope.kind is ScopeKind.CHAPTER else 0,
        "scene": scene if scope.kind in (ScopeKind.SCENE, ScopeKind.UNITS) else 0,
        "first": scene if scope.kind is ScopeKind.FROM_SCENE else 0,
    }
    media: dict[int, dict[str, AssetExport]] = defaultdict(dict)
    for row in fetch(connection, _EXPORT_ASSETS, **given):
        media[row.scene_key][row.media] = _asset_export(row)
    chapters = {row.chapter_key: orjson.loads(row.content) for row in fetch(connection, _CHAPTERS, book=book_key)}
    return [
        _scene_export(row, orjson.loads(row.content), chapters[row.chapter_key], media[row.scene_key])
        for row in fetch(connection, _EXPORT_SCENES, **given)
    ]


def _scene_export(
    row: Any, content: Mapping[str, Any], chapter: Mapping[str, Any], media: Mapping[str, AssetExport]
) -> SceneExport:
    return SceneExport(
        chapter_id=row.chapter_id,
        chapter_title=chapter.get("title", ""),
        scene_id=row.scene_id,
        title=content.get("title", ""),
        scene=content,
        media=media,
    )


def _asset_export(row: Any) -> AssetExport:
    state = State(row.state)
    planned = row.planned_seq == row.plan_seq and row.wanted_hash == row.artifact_hash
    return AssetExport(
        state=state,
        current=state is State.READY and planned,
        made=bool(row.made),
        artifact=row.artifact or None,
        suffix=row.suffix or "",
        facts=orjson.loads(row.facts) if row.facts else {},
        error=row.error or (row.reason if state is State.FAILED else ""),
    )
