"""The journal of one book, page by page: its rows with the places that they are about."""

# ruff: noqa: S608 - fragments of this package are put together, nothing from outside

from __future__ import annotations

from sqlalchemy import Connection

from animastor.engine.ports import JournalEntry, JournalOf, Scope, ScopeKind
from animastor.storage import journal
from animastor.storage.requests import scope_keys
from animastor.storage.rows import Statement, fetch

_OF_BOOK = """
    j.asset IS NULL AND (j.details = '' OR j.details = :about OR j.details NOT LIKE '{{"book"%') AND :whole = 1
    OR a.book_key = :book AND (:scene = 0 OR a.scene_key = :scene) AND (:media = '' OR a.media = :media)
"""
_READ_BOOK = f"""
    SELECT {journal.COLUMNS}, c.chapter_id, s.scene_id, a.media FROM journal j
    LEFT JOIN asset a ON a.id = j.asset
    LEFT JOIN scene s ON s.scene_key = a.scene_key
    LEFT JOIN chapter c ON c.chapter_key = a.chapter_key
    WHERE j.id > :after AND j.id < :before AND ({_OF_BOOK})
"""
_BOOK_FORTH = Statement(
    "journal_book",
    "Rows of a book behind an id, and those of the whole home, oldest first.",
    f"{_READ_BOOK} ORDER BY j.id LIMIT :limit",
)
_BOOK_BACK = Statement(
    "journal_book_back",
    "The last rows of a book before an id, newest first.",
    f"{_READ_BOOK} ORDER BY j.id DESC LIMIT :limit",
)


def read_book(
    connection: Connection, of: JournalOf, after: int, before: int | None, until: int, limit: int
) -> list[JournalEntry]:
    """Rows of a book, oldest first: the first ones behind `after`, or, with `before`, the last ones in front of it.

    None above `until`, a `journal.horizon`.

    Rows of the whole home (breakers, repairs) are among them unless a scene or media type is named. Raises
    `ScopeError`.
    """
    place = Scope(ScopeKind.SCENE, of.chapter_id, of.scene_id) if of.scene_id else Scope()
    _, scene = scope_keys(connection, of.book_key, place)
    given = {
        "book": of.book_key, "about": journal.details(book=of.book_key), "scene": scene, "media": of.media,
        "whole": int(not scene and not of.media), "after": after, "limit": limit,
        "before": until + 1 if before is None else min(before, until + 1),
    }  # fmt: skip
    rows = fetch(connection, _BOOK_FORTH if before is None else _BOOK_BACK, **given)
    entries = [
        JournalEntry(journal.row_from(row), row.chapter_id or "", row.scene_id or "", row.media or "") for row in rows
    ]
    return entries if before is None else entries[::-1]
