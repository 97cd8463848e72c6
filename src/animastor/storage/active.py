"""GENERATING assets, as keeper and reconciliation see them: with what is missing of each."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from sqlalchemy import Connection

from animastor.engine.ports import Active
from animastor.protocol import AssetId, BookKey, DispatchId
from animastor.storage.parts import missing_sources
from animastor.storage.rows import Statement, fetch

# ruff: noqa: S608 - fragments of this package are put together, nothing from outside

_COLUMNS: Final = """
    a.id, a.book_key, b.book_id, c.chapter_id, s.scene_id, a.media, a.lane, a.dispatch_id, a.fence,
    CASE r.state WHEN 'paused' THEN 1 ELSE 0 END AS held
"""
_JOINS: Final = """
    JOIN scene s ON s.scene_key = a.scene_key
    JOIN chapter c ON c.chapter_key = a.chapter_key
    JOIN book b ON b.book_key = a.book_key
    LEFT JOIN request r ON r.id = a.request_id
"""
_ACTIVE = Statement(
    "active",
    "GENERATING assets behind an id.",
    f"""
    SELECT {_COLUMNS} FROM asset a {_JOINS}
    WHERE a.state = {{GENERATING}} AND a.id > :after ORDER BY a.id LIMIT :limit
    """,
)
_ACTIVE_OF = Statement(
    "active_of",
    "Those of some assets that are GENERATING.",
    f"""
    SELECT {_COLUMNS} FROM {{assets}} AS one
    JOIN asset a ON a.id = one.asset AND a.state = {{still_GENERATING}} {_JOINS}
    ORDER BY a.id
    """,
    assets={"asset": int},
)


def active(connection: Connection, after: int, limit: int) -> list[Active]:
    """GENERATING assets by id, behind `after`."""
    return _with_missing(connection, fetch(connection, _ACTIVE, after=after, limit=limit))


def active_of(connection: Connection, assets: Sequence[AssetId]) -> list[Active]:
    """Those of `assets` that are GENERATING, by id."""
    return _with_missing(connection, fetch(connection, _ACTIVE_OF, assets=sorted(set(assets))))


def _with_missing(connection: Connection, rows: Sequence[Any]) -> list[Active]:
    missing = missing_sources(connection, [row.id for row in rows]) if rows else {}
    return [
        Active(
            asset=AssetId(row.id),
            book_key=BookKey(row.book_key),
            book_id=row.book_id,
            chapter_id=row.chapter_id,
            scene_id=row.scene_id,
            media=row.media,
            lane=row.lane,
            dispatch_id=DispatchId(row.dispatch_id),
            fence=row.fence,
            missing=missing.get(row.id, ()),
            held=bool(row.held),
        )
        for row in rows
    ]
