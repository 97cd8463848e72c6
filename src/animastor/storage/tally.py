"""How much of each asset's plan is done: one narrow row per asset, so that progress is a quick scan of its book.

The counts are derived from the part rows in the transaction that changes them; nothing is added up that could drift.
"""

# ruff: noqa: S608 - fragments of this package are put together, nothing from outside

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final

from sqlalchemy import Connection

from animastor.storage.rows import Statement, tell

Tally = tuple[int, str, int, int, int, int, float, float]
"""Book, media type, asset; parts, of them ready and lost (merge included); work, of it done."""

_WRITE = Statement(
    "write_tally",
    "The counts of new plans.",
    """
    INSERT INTO tally (book_key, media, asset, parts, parts_ready, parts_lost, work, work_ready)
    SELECT t.book_key, t.media, t.asset, t.parts, t.ready, t.lost, t.work, t.done FROM {rows} AS t WHERE true
    ON CONFLICT (book_key, media, asset) DO UPDATE SET parts = excluded.parts, parts_ready = excluded.parts_ready,
        parts_lost = excluded.parts_lost, work = excluded.work, work_ready = excluded.work_ready
    """,
    rows={
        "book_key": int, "media": str, "asset": int, "parts": int, "ready": int, "lost": int, "work": float,
        "done": float,
    },
)  # fmt: skip
_OF: Final = "FROM part p WHERE p.asset = tally.asset AND p.wanted = 1 AND p.state"
_REFRESH = Statement(
    "refresh_tally",
    "What is ready and lost of some assets, counted again from their parts.",
    f"""
    UPDATE tally SET parts_ready = (SELECT count(*) {_OF} = {{PART_READY}}),
        parts_lost = (SELECT count(*) {_OF} = {{PART_LOST}}),
        work_ready = (SELECT COALESCE(sum(p.work), 0) {_OF} = {{PART_READY}})
    FROM {{rows}} AS r
    WHERE tally.book_key = r.book AND tally.media = r.of_media AND tally.asset = r.of_asset
    """,
    rows={"book": int, "of_media": str, "of_asset": int},
)
_DROP = Statement(
    "drop_tally",
    "Nothing is planned of these.",
    """
    DELETE FROM tally WHERE (book_key, media, asset) IN (SELECT r.book, r.of_media, r.of_asset FROM {rows} AS r)
    """,
    rows={"book": int, "of_media": str, "of_asset": int},
)

Place = tuple[int, str, int]  # book, media type, asset


def write_tally(connection: Connection, rows: Sequence[Tally]) -> None:
    """Keep the counts of plans that were just stored."""
    if rows:
        tell(connection, _WRITE, rows=rows)


def refresh_tally(connection: Connection, places: Iterable[Place]) -> None:
    """Count again after parts came in, were lost or withdrawn."""
    if wanted := sorted(set(places)):
        tell(connection, _REFRESH, rows=wanted)


def drop_tally(connection: Connection, places: Iterable[Place]) -> None:
    """These wait for something before they can be planned."""
    if wanted := sorted(set(places)):
        tell(connection, _DROP, rows=wanted)
