"""What is remembered of exports: which file was made of what, so that an unchanged one is left alone; and what is there
of a book's parts, for an estimate."""

from __future__ import annotations

from typing import Final

from sqlalchemy import Connection

from animastor.protocol import BookKey
from animastor.storage.rows import Statement, fetch, run

_RECORD = Statement(
    "record_export", "A file was exported.",
    """
    INSERT INTO export (path, content_key, size, modified_ns) VALUES (:path, :content_key, :size, :modified_ns)
    ON CONFLICT (path) DO UPDATE SET content_key = excluded.content_key, size = excluded.size,
        modified_ns = excluded.modified_ns
    """,
)  # fmt: skip
_RECORDED = Statement(
    "export_record", "What a file was made of, and how it looked then.",
    "SELECT content_key, size, modified_ns FROM export WHERE path = :path",
)  # fmt: skip
_READY: Final = Statement(
    "ready_hashes", "The hashes of a book's parts that are there.",
    """
    SELECT DISTINCT p.hash FROM asset a JOIN part p ON p.asset = a.id
    WHERE a.book_key = :book_key AND p.state = {PART_READY}
    """,
)  # fmt: skip


def record_export(connection: Connection, path: str, content_key: str, size: int, modified_ns: int) -> None:
    """Remember what a finished file was made of, and its size and time of change."""
    run(connection, _RECORD, path=path, content_key=content_key, size=size, modified_ns=modified_ns)


def export_record(connection: Connection, path: str) -> tuple[str, int, int] | None:
    """(content key, size, time of change in ns) of the file that was exported to this path, or None."""
    for content_key, size, modified_ns in fetch(connection, _RECORDED, path=path):
        return content_key, size, modified_ns
    return None


def ready_hashes(connection: Connection, book_key: BookKey) -> frozenset[str]:
    """The input hashes of all parts of a book that are there, wanted now or not."""
    return frozenset(hash_ for (hash_,) in fetch(connection, _READY, book_key=book_key))
