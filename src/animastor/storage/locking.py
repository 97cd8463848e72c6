"""The order in which rows are locked: requests, then scenes, each in key order (STORAGE, lock in key order).

A transaction that changes an asset's state, or reads one to decide about another, holds the rows of the scenes
concerned. So every asset, part and dispatch of a scene is guarded by its scene, and no two batches can deadlock.
Requests are held in share, so that none closes while an asset becomes PENDING under it. On SQLite one writer has the
whole database, and nothing is asked.
"""

from __future__ import annotations

from collections.abc import Iterable

from sqlalchemy import Connection

from animastor.storage.rows import Statement, locks_rows, tell

_GUARD = Statement(
    "guard_assets",
    "Holds the unfinished requests of the books of some assets, so that none of them ends meanwhile; then locks the"
    " scenes of the assets. The count is asked before any scene is looked at.",
    """
    WITH held AS MATERIALIZED (
        SELECT r.id FROM request r
        WHERE r.book_key IN (SELECT a.book_key FROM {assets} AS one JOIN asset a ON a.id = one.asset)
          AND r.state IN ('preparing', 'open', 'paused')
        ORDER BY r.id {for_share}
    )
    SELECT s.scene_key FROM scene s
    WHERE (SELECT count(*) FROM held) >= 0
      AND s.scene_key IN (SELECT a.scene_key FROM {assets} AS one JOIN asset a ON a.id = one.asset)
    ORDER BY s.scene_key {for_update}
    """,
    assets={"asset": int},
)
_LOCK_SCENES = Statement(
    "lock_scenes",
    "Locks the scenes of some assets.",
    """
    SELECT s.scene_key FROM scene s
    WHERE s.scene_key IN (SELECT a.scene_key FROM {assets} AS one JOIN asset a ON a.id = one.asset)
    ORDER BY s.scene_key {for_update}
    """,
    assets={"asset": int},
)
_SHARE_BOOK_REQUESTS = Statement(
    "share_book_requests",
    "Holds the unfinished requests of a book.",
    """
    SELECT r.id FROM request r WHERE r.book_key = :book AND r.state IN ('preparing', 'open', 'paused')
    ORDER BY r.id {for_update}
    """,
)
_LOCK_BOOK_SCENES = Statement(
    "lock_book_scenes",
    "Locks all scenes of a book.",
    "SELECT s.scene_key FROM scene s WHERE s.book_key = :book ORDER BY s.scene_key {for_update}",
)
_LOCK_REQUEST = Statement(
    "lock_request", "Locks a request.", "SELECT r.id FROM request r WHERE r.id = :id {for_update}"
)
_LOCK_BOOK = Statement(
    "lock_book", "Locks a book's row: its edits and requests come one after the other.",
    "SELECT b.book_key FROM book b WHERE b.book_key = :book {for_update}",
)  # fmt: skip


def lock_assets(connection: Connection, assets: Iterable[int]) -> None:
    """Lock what guards these assets, before anything of them is read or changed."""
    if locks_rows(connection):
        tell(connection, _GUARD, assets=sorted(set(assets)))


def lock_scenes_of(connection: Connection, assets: Iterable[int]) -> None:
    """The same where the request itself is held already."""
    if locks_rows(connection):
        tell(connection, _LOCK_SCENES, assets=sorted(set(assets)))


def lock_request(connection: Connection, request_id: int) -> None:
    """Lock a request, before its scenes."""
    if locks_rows(connection):
        tell(connection, _LOCK_REQUEST, id=request_id)


def lock_book(connection: Connection, book_key: int) -> None:
    """Lock a book's row."""
    if locks_rows(connection):
        tell(connection, _LOCK_BOOK, book=book_key)


def lock_whole_book(connection: Connection, book_key: int) -> None:
    """Lock a book's unfinished requests and all its scenes: for an edit."""
    if locks_rows(connection):
        tell(connection, _SHARE_BOOK_REQUESTS, book=book_key)
        tell(connection, _LOCK_BOOK_SCENES, book=book_key)
