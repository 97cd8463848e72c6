"""The rows of assets: one for each scene and registered media type."""

from __future__ import annotations

from typing import Final

from sqlalchemy import Connection

from animastor.media.registry import Registry
from animastor.storage import numbers
from animastor.storage.rows import Statement, fetch, scalar, tell

CHUNK: Final = 20_000  # scenes of one statement

_ADD = Statement(
    "add_assets",
    "Assets of scenes; ids follow the order of scenes and, within one, of media types: dependencies first.",
    """
    INSERT INTO asset (id, workspace, book_key, chapter_key, scene_key, media, reading_order, state)
    SELECT CAST(:first AS bigint) + s.nth * CAST(:types AS bigint) + m.nth, b.workspace, sc.book_key, sc.chapter_key,
           sc.scene_key, m.media, sc.position, {NEW}
    FROM {scenes} AS s
    JOIN scene sc ON sc.scene_key = s.scene
    JOIN book b ON b.book_key = sc.book_key
    CROSS JOIN {media} AS m
    """,
    scenes={"nth": int, "scene": int},
    media={"nth": int, "media": str},
)
_WITHOUT = Statement(
    "scenes_without",
    "Scenes of a book that have no asset of a media type.",
    """
    SELECT s.scene_key FROM scene s WHERE s.book_key = :book
      AND NOT EXISTS (SELECT 1 FROM asset a WHERE a.scene_key = s.scene_key AND a.media = :media)
    ORDER BY s.position
    """,
)
_ANY = Statement(
    "any_scene_without",
    "Whether the first scene of a book lacks an asset of a media type.",
    """
    SELECT CASE WHEN EXISTS (
        SELECT 1 FROM scene s WHERE s.scene_key = (SELECT min(f.scene_key) FROM scene f WHERE f.book_key = :book)
        AND NOT EXISTS (SELECT 1 FROM asset a WHERE a.scene_key = s.scene_key AND a.media = :media)
    ) THEN 1 ELSE 0 END
    """,
)


def add_assets(connection: Connection, media: tuple[str, ...], scenes: list[int]) -> None:
    """Make the assets of these scenes (in reading order) for these media types."""
    for start in range(0, len(scenes), CHUNK):
        chunk = scenes[start : start + CHUNK]
        first = numbers.take(connection, "asset", len(chunk) * len(media))
        tell(
            connection,
            _ADD,
            first=first,
            types=len(media),
            scenes=list(enumerate(chunk)),
            media=list(enumerate(media)),
        )


def ensure_assets(connection: Connection, registry: Registry, book_key: int) -> None:
    """A media type that was installed after a book was imported gets its assets."""
    for media in registry.names:
        if scalar(connection, _ANY, book=book_key, media=media):
            scenes = [row.scene_key for row in fetch(connection, _WITHOUT, book=book_key, media=media)]
            add_assets(connection, (media,), scenes)
