"""Deleting a whole book: a tombstone first, then its rows batch by batch, its own row last (CONTRACT 11).

The tombstone closes its requests and frees its name, so nothing of it starts any more, and the book may be imported
anew at once, with another key. A batch that finds attempts which are not released yet ends them and leaves its scenes
to the next round: so no row goes before its lease and its jobs are gone.
"""

# ruff: noqa: S608 - fragments of this package are put together, nothing from outside

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from sqlalchemy import Connection

from animastor.engine.ports import Deleting, Ended
from animastor.engine.reasons import JournalType, Reason
from animastor.engine.states import Outcome, RequestState
from animastor.media.registry import Registry
from animastor.protocol import AssetId, BookKey, DispatchId
from animastor.storage import ends, journal
from animastor.storage.locking import lock_assets, lock_book
from animastor.storage.purging import purge_assets
from animastor.storage.removal import drop_scenes
from animastor.storage.requests import close, unfinished_of
from animastor.storage.rows import Statement, fetch, tell
from animastor.storage.waiting import StepBack, step_back

SCENES: Final = 40  # of one batch: no transaction over 50 ms

_TOMBSTONE = Statement(
    "book_tombstone",
    "A book that is going: its name is free, and begins with a dot, as no name does.",
    """
    UPDATE book SET deleted_at = {now}, book_id = '.deleted-' || CAST(book_key AS text), source_key = ''
    WHERE book_key = :book AND deleted_at IS NULL RETURNING book_key
    """,
)
_DELETIONS = Statement(
    "deletions", "Books that are going.",
    "SELECT b.book_key FROM book b WHERE b.deleted_at IS NOT NULL ORDER BY b.book_key",
)  # fmt: skip
_SCENES = Statement(
    "scenes_to_delete", "The next scenes.",
    "SELECT s.scene_key FROM scene s WHERE s.book_key = :book ORDER BY s.scene_key LIMIT :limit",
)  # fmt: skip
_ASSETS = Statement(
    "assets_to_delete",
    "Their assets.",
    "SELECT a.id, a.scene_key FROM {scenes} AS one JOIN asset a ON a.scene_key = one.scene ORDER BY a.id",
    scenes={"scene": int},
)
_UNRELEASED = Statement(
    "unreleased_of",
    "The attempts of some assets that are not released.",
    """
    SELECT d.asset, d.id, d.outcome FROM {assets} AS one JOIN dispatch d ON d.asset = one.asset
    WHERE d.released_at IS NULL ORDER BY d.asset, d.fence
    """,
    assets={"asset": int},
)
_LEFT_BEFORE = Statement(
    "left_before",
    "Assets of a book that left it with their scenes before: the journal tells of them.",
    "SELECT j.asset FROM journal j WHERE j.type = :removed AND j.details = :about ORDER BY j.asset",
)
_FORGET = Statement(
    "forget_book_journal", "What was told of the book as a whole.",
    "DELETE FROM journal WHERE asset IS NULL AND details = :about",
)  # fmt: skip
_OF_REQUESTS: Final = "request_id IN (SELECT r.id FROM request r WHERE r.book_key = :book)"
_LAST = [
    Statement(f"delete_{table}", f"The book's rows of {table}.", f"DELETE FROM {table} WHERE {where}")
    for table, where in (
        ("request_media", _OF_REQUESTS),
        ("request_exclusion", _OF_REQUESTS),
        ("request", "book_key = :book"),
        ("chapter", "book_key = :book"),
        ("book_cover", "book_key = :book"),
        ("unit_take", "book_key = :book"),
        ("tally", "book_key = :book"),
        ("book", "book_key = :book"),
    )
]


def begin_deletion(connection: Connection, book_key: BookKey) -> tuple[int, ...]:
    """Write the tombstone and close the book's requests; those that were closed. Repeating it is harmless."""
    lock_book(connection, book_key)
    tell(connection, _TOMBSTONE, book=book_key)
    requests = [one.request_id for one in unfinished_of(connection, book_key)]
    return tuple(one for one in requests if close(connection, one, RequestState.CANCELLED))


def deletions(connection: Connection) -> list[BookKey]:
    """Books with a tombstone."""
    return [BookKey(row.book_key) for row in fetch(connection, _DELETIONS)]


def delete_some(connection: Connection, registry: Registry, book_key: BookKey) -> Deleting:
    """Delete the next batch. `ended`: attempts to be released, and marked so, before the next call."""
    scenes = [row.scene_key for row in fetch(connection, _SCENES, book=book_key, limit=SCENES)]
    if not scenes:
        return _delete_last(connection, book_key)
    rows = fetch(connection, _ASSETS, scenes=scenes)
    assets = [row.id for row in rows]
    lock_assets(connection, assets)
    held = fetch(connection, _UNRELEASED, assets=assets)
    _end(connection, registry, [row for row in held if row.outcome is None])
    busy = {row.asset for row in held}
    waiting = {row.scene_key for row in rows if row.id in busy}
    gone = [scene for scene in scenes if scene not in waiting]
    drop_scenes(connection, gone)
    return Deleting(len(gone), tuple(_ended(held)))


def _end(connection: Connection, registry: Registry, running: Sequence[Any]) -> None:
    """Attempts without an outcome are cancelled; where their asset has gone on without them, the outcome alone."""
    if not running:
        return
    step_back(connection, registry, [StepBack(row.asset, row.id, Reason.DELETED) for row in running])
    ends.end(connection, Outcome.CANCELLED, [(row.asset, row.id, Reason.DELETED) for row in running])


def _ended(held: Sequence[Any]) -> list[Ended]:
    return [Ended(AssetId(row.asset), DispatchId(row.id)) for row in held]


def _delete_last(connection: Connection, book_key: BookKey) -> Deleting:
    about = journal.details(book=book_key)
    left = [row.asset for row in fetch(connection, _LEFT_BEFORE, about=about, removed=JournalType.REMOVED.value)]
    held = fetch(connection, _UNRELEASED, assets=left) if left else ()
    if held:
        return Deleting(0, tuple(_ended(held)))
    purge_assets(connection, left, ())
    tell(connection, _FORGET, about=about)
    for statement in _LAST:
        tell(connection, statement, book=book_key)
    return Deleting(0, (), done=True)
