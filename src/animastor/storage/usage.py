"""What the artifacts of an installation are of, and which of them nothing uses any more."""

from __future__ import annotations

from typing import Final

from sqlalchemy import Connection

from animastor.engine.ports import Unused, Usage
from animastor.storage.artifacts import used
from animastor.storage.rows import Statement, fetch

MOST: Final = 100_000  # unused artifacts that are looked at

_USAGE = Statement(
    "usage",
    "Artifacts by book, media type and kind; wanted ones, and takes that are kept. A shared one counts in each.",
    """
    SELECT b.book_id, k.media, k.kind, k.wanted, count(*) AS files, sum(f.size) AS bytes FROM (
        SELECT a.book_key, a.media, p.kind, max(p.wanted) AS wanted, p.artifact
        FROM part p JOIN asset a ON a.id = p.asset WHERE p.state = {PART_READY}
        GROUP BY a.book_key, a.media, p.kind, p.artifact
    ) AS k
    JOIN book b ON b.book_key = k.book_key JOIN artifact f ON f.checksum = k.artifact
    GROUP BY b.book_key, b.book_id, k.media, k.kind, k.wanted ORDER BY b.book_key, k.media, k.kind, k.wanted DESC
    """,
)
_ALL = Statement("usage_all", "All artifacts.",
    "SELECT count(*) AS files, COALESCE(sum(f.size), 0) AS bytes FROM artifact f WHERE f.collecting = 0")  # fmt: skip
_UNUSED = Statement(
    "usage_unused",
    "Artifacts that nothing may use any more, those first that have been so for longest.",
    """
    SELECT f.checksum, f.size, f.unused_since FROM artifact f
    WHERE f.unused_since IS NOT NULL AND f.collecting = 0 ORDER BY f.unused_since, f.checksum LIMIT :limit
    """,
)
_HELD = Statement("usage_held", "Until when a backup has everything kept.",
    "SELECT m.value FROM meta m WHERE m.name = 'collect_from' AND m.value > {now}")  # fmt: skip


def usage(connection: Connection) -> list[Usage]:
    """What is used, by book, media type and kind."""
    return [
        Usage(row.book_id, row.media, row.kind, bool(row.wanted), row.files, int(row.bytes))
        for row in fetch(connection, _USAGE)
    ]


def total(connection: Connection) -> tuple[int, int]:
    """How many artifacts there are, and their bytes; each counts once."""
    (row,) = fetch(connection, _ALL)
    return row.files, int(row.bytes)


def unused(connection: Connection, kept_s: float) -> list[Unused]:
    """What would be collected, and from when on. Scans all parts: a read of its own."""
    rows = fetch(connection, _UNUSED, limit=MOST)
    kept = used(connection, [row.checksum for row in rows]) if rows else {}
    until = max((float(row.value) for row in fetch(connection, _HELD)), default=0.0)
    due = [(row, row.unused_since + kept_s) for row in rows if row.checksum not in kept]
    return [Unused(row.checksum, row.size, max(at, until), held=at < until) for row, at in due]
