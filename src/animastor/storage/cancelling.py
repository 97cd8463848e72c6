"""Cancelling: requests are closed, or what they cover is narrowed by an exclusion (CONTRACT 10).

One small durable transaction, the only tombstone there is. What rests because of it is found by the sweep (`sweeping`).
"""

# ruff: noqa: S608 - fragments of this package are put together, nothing from outside

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from typing import Any

from sqlalchemy import Connection

from animastor.engine.ports import Cancel, Cancelled, Scope, ScopeKind
from animastor.engine.reasons import JournalType, Reason
from animastor.engine.states import RequestState
from animastor.media.registry import Registry
from animastor.storage import journal
from animastor.storage.coverage import EXCLUDED, in_scope
from animastor.storage.locking import lock_book, lock_request
from animastor.storage.requests import close, scope_keys, unfinished_of
from animastor.storage.rows import Statement, fetch, tell
from animastor.storage.sweeping import sweep_later

_EXCLUDE = Statement(
    "exclude",
    "Requests no longer cover some media types in a scope; the same again changes nothing.",
    """
    INSERT INTO request_exclusion (request_id, scope, chapter_key, scene_key, media)
    SELECT one.request_id, :scope, CAST(:chapter AS bigint), CAST(:scene AS bigint), rm.media
    FROM {requests} AS one
    JOIN request_media rm ON rm.request_id = one.request_id
    JOIN {media} AS m ON m.media = rm.media
    WHERE NOT EXISTS (
        SELECT 1 FROM request_exclusion x
        WHERE x.request_id = one.request_id AND x.media = rm.media AND x.scope = :scope
          AND x.chapter_key = :chapter AND x.scene_key = :scene
    )
    """,
    requests={"request_id": int},
    media={"media": str},
)
_EMPTY = Statement(
    "empty_requests",
    "Those of some requests that cover nothing any more.",
    f"""
    SELECT r.id FROM {{requests}} AS one JOIN request r ON r.id = one.request_id
    WHERE NOT EXISTS (
        SELECT 1 FROM asset JOIN request_media rm ON rm.request_id = r.id AND rm.media = asset.media
        WHERE asset.book_key = r.book_key AND {in_scope("r")} AND NOT {EXCLUDED}
    )
    ORDER BY r.id
    """,
    requests={"request_id": int},
)


def cancel(connection: Connection, registry: Registry, of: Cancel) -> Cancelled:
    """Close or narrow the unfinished requests of a book. Raises `ScopeError`; `ValueError` for units.

    A request that covers nothing any more is closed. Repeating it finds nothing to do.
    """
    if of.scope.kind is ScopeKind.UNITS:
        raise ValueError("units of one scene are made together: name the scene")
    lock_book(connection, of.book_key)
    chosen = [
        one.request_id
        for one in unfinished_of(connection, of.book_key)
        if of.requests is None or one.request_id in of.requests
    ]
    for request_id in chosen:
        lock_request(connection, request_id)
    if of.media or of.scope.kind is not ScopeKind.WHOLE_BOOK:
        return exclude(connection, registry, of.book_key, chosen, of.scope, of.media or registry.names)
    closed = [one for one in chosen if close(connection, one, RequestState.CANCELLED)]
    _journal(connection, of.book_key, closed, ended=True)
    return Cancelled(closed=tuple(closed))


def exclude(
    connection: Connection,
    registry: Registry,
    book_key: int,
    requests: Sequence[int],
    scope: Scope,
    media: Collection[str],
) -> Cancelled:
    """Requests no longer cover these media types in a scope, nor those that require them. Raises `ScopeError`."""
    chapter, scene = scope_keys(connection, book_key, scope)
    off = sorted({*media, *(name for one in media if one in registry for name in registry.requiring(one))})
    given = {"scope": scope.kind.value, "chapter": chapter, "scene": scene}
    tell(connection, _EXCLUDE, requests=list(requests), media=off, **given)
    empty = [row.id for row in fetch(connection, _EMPTY, requests=list(requests))]
    closed = [one for one in empty if close(connection, one, RequestState.CANCELLED)]
    narrowed = tuple(one for one in requests if one not in closed)
    sweep_later(connection, narrowed)
    _journal(connection, book_key, closed, ended=True)
    _journal(connection, book_key, narrowed, ended=False, media=off, **given)
    return Cancelled(closed=tuple(closed), narrowed=narrowed)


def _journal(connection: Connection, book_key: int, requests: Iterable[int], **about: Any) -> None:
    told = [(None, None, journal.details(book=book_key, request=one, **about)) for one in requests]
    journal.record(connection, JournalType.STEERED, None, Reason.CANCELLED, told)
