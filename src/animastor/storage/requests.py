"""Requests: opened once per idempotency key, superseding earlier ones, listed, closed (CONTRACT 10)."""

# ruff: noqa: S608 - fragments of this package are put together, nothing from outside

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import replace
from typing import Any, Final

import orjson
from sqlalchemy import Connection

from animastor.engine.ports import NewRequest, Opened, RequestRow, Scope, ScopeKind
from animastor.engine.states import RequestState
from animastor.media.registry import Registry
from animastor.protocol import BookKey
from animastor.storage import numbers
from animastor.storage.assets import ensure_assets
from animastor.storage.entering import enter
from animastor.storage.locking import lock_book, lock_request
from animastor.storage.rows import Statement, fetch, scalar, tell
from animastor.storage.sweeping import SWEEP_AGAIN
from animastor.storage.windows import BEFORE_ALL, placed, stand, standings

UNFINISHED: Final = "r.state IN ('preparing', 'open', 'paused')"
KEY_KEPT_S: Final = 7 * 86_400  # CONTRACT 10
_COLUMNS: Final = (
    "r.id, r.book_key, r.scope, r.chapter_id, r.scene_id, r.unit_ids, r.media, r.state, r.kind, r.created_at,"
    " r.chapter_key, r.scene_key, r.progress_floor, r.reach"
)
_BY_KEY = Statement(
    "request_by_key",
    "The request that was opened with an idempotency key lately.",
    f"""
    SELECT {_COLUMNS} FROM request r
    WHERE r.workspace = :workspace AND r.idempotency_key = :key AND r.created_at >= {{now}} - {KEY_KEPT_S}
    """,
)
_FORGET_KEY = Statement(
    "forget_request_key", "An older request gives its idempotency key back: it keeps its own number with it.",
    """
    UPDATE request SET idempotency_key = idempotency_key || ' ' || CAST(id AS text)
    WHERE workspace = :workspace AND idempotency_key = :key
    """,
)  # fmt: skip
_BY_ID = Statement("request_by_id", "A request.", f"SELECT {_COLUMNS} FROM request r WHERE r.id = :id")
_BOOKS_AT_WORK = Statement(
    "books_at_work",
    "How many books have unfinished requests.",
    "SELECT count(DISTINCT r.book_key) FROM request r WHERE r.state IN ('preparing', 'open', 'paused')",
)
_LIST = Statement("requests", "All requests.", f"SELECT {_COLUMNS} FROM request r ORDER BY r.id")
_LIST_OPEN = Statement(
    "open_requests", "Unfinished requests.", f"SELECT {_COLUMNS} FROM request r WHERE {UNFINISHED} ORDER BY r.id"
)
_OF_BOOK = Statement(
    "requests_of_book",
    "Unfinished requests of a book.",
    f"SELECT {_COLUMNS} FROM request r WHERE {UNFINISHED} AND r.book_key = :book ORDER BY r.id",
)
_PLACE = Statement(
    "scope_place",
    "The keys of a chapter and scene by their ids.",
    """
    SELECT c.chapter_key, s.scene_key FROM chapter c
    LEFT JOIN scene s ON s.chapter_key = c.chapter_key AND s.scene_id = :scene
    WHERE c.book_key = :book AND c.chapter_id = :chapter
    """,
)
_SCENE_PLACE = Statement(
    "scene_place",
    "The keys of a scene whose chapter is not named.",
    """
    SELECT s.chapter_key, s.scene_key FROM scene s WHERE s.book_key = :book AND s.scene_id = :scene
    ORDER BY s.scene_key
    """,
)
_INSERT = Statement(
    "open_request",
    "A new request, to be entered.",
    """
    INSERT INTO request (id, workspace, book_key, scope, chapter_key, scene_key, chapter_id, scene_id, unit_ids, media,
        state, kind, priority, rebuild, idempotency_key, cursor_order, cursor_asset, position, horizon,
        accept_charge, created_at)
    SELECT n.id, n.workspace, n.book_key, n.scope, n.chapter_key, n.scene_key, n.chapter_id, n.scene_id, n.unit_ids,
        n.media, 'preparing', n.kind, n.priority, n.rebuild, n.idempotency_key, n.start, 0, n.start, -n.start,
        n.accept_charge, {now}
    FROM {new} AS n
    """,
    new={
        "id": int, "workspace": str, "book_key": int, "scope": str, "chapter_key": int, "scene_key": int,
        "chapter_id": str, "scene_id": str, "unit_ids": str, "media": str, "kind": str, "priority": int,
        "rebuild": int, "idempotency_key": str, "start": int, "accept_charge": int,
    },
)  # fmt: skip
_INSERT_MEDIA = Statement(
    "open_request_media",
    "The media types of a new request.",
    """
    INSERT INTO request_media (request_id, media, rebuild)
    SELECT CAST(:id AS bigint), m.media, m.rebuild FROM {media} AS m
    """,
    media={"media": str, "rebuild": int},
)
_CLOSE = Statement(
    "close_request",
    "Ends a request that has not ended; what it alone covered is to be swept.",
    f"""
    UPDATE request AS r SET state = :state, ended_at = {{now}}, sweeping = {SWEEP_AGAIN}
    WHERE r.id = :id AND {UNFINISHED}
    RETURNING id
    """,
)
_RESUME = Statement(
    "resume_requests",
    "Requests that were paused are entered further.",
    f"""
    UPDATE request SET state = 'preparing', sweeping = {SWEEP_AGAIN} FROM {{requests}} AS one
    WHERE request.id = one.request_id AND request.state = 'paused' RETURNING id
    """,
    requests={"request_id": int},
)
_WORKSPACE_OF = Statement(
    "workspace_of", "The workspace and switched-off media types of a book.",
    "SELECT b.workspace, b.disabled FROM book b WHERE b.book_key = :book AND b.deleted_at IS NULL",
)  # fmt: skip
_CONTENT = Statement(
    "content_of_scene", "The content of a scene.", "SELECT s.content FROM scene s WHERE s.scene_key = :scene"
)


class ScopeError(LookupError):
    """Raised for a request whose book, chapter, scene or unit is not there."""


def request_row(row: Any) -> RequestRow:
    """A stored request."""
    return RequestRow(
        request_id=row.id,
        book_key=BookKey(row.book_key),
        scope=Scope(ScopeKind(row.scope), row.chapter_id, row.scene_id, tuple(orjson.loads(row.unit_ids or "[]"))),
        media=tuple(row.media.split()),
        state=RequestState(row.state),
        kind=row.kind,
        created_at=row.created_at,
    )


def open_request(connection: Connection, registry: Registry, new: NewRequest, entry: int = 0) -> Opened:
    """Open a request, or give the first one with its key. Raises `ScopeError` for a place that is not there.

    A new one's first chunk, of at most `entry` assets, is entered at once: what is small is open when it is there.
    """
    lock_book(connection, new.book_key)
    books = fetch(connection, _WORKSPACE_OF, book=new.book_key)
    if not books:
        raise ScopeError(f"there is no book {new.book_key}")
    workspace, disabled = books[0].workspace, books[0].disabled.split()
    key = f"{new.book_key}/{new.idempotency_key}"  # it belongs to its book
    known = fetch(connection, _BY_KEY, workspace=workspace, key=key)
    if known:
        return Opened(request_row(known[0]))
    chapter_key, scene_key = scope_keys(connection, new.book_key, new.scope)
    _require_units(connection, scene_key, new.scope)
    ensure_assets(connection, registry, new.book_key)
    media = enabled(registry, new.media, disabled)
    superseded, resumed = _supersede(connection, new, media)
    tell(connection, _FORGET_KEY, workspace=workspace, key=key)
    request_id = numbers.take(connection, "request")
    row = (
        request_id, workspace, new.book_key, new.scope.kind.value, chapter_key, scene_key, new.scope.chapter_id,
        new.scope.scene_id, orjson.dumps(new.scope.unit_ids).decode(), " ".join(media), new.kind, new.priority,
        int(new.rebuild), key, BEFORE_ALL, int(new.accept_charge),
    )  # fmt: skip
    tell(connection, _INSERT, new=[row])
    rebuilt = [(one, int(new.rebuild and one in (new.named or media))) for one in media]
    tell(connection, _INSERT_MEDIA, id=request_id, media=rebuilt)
    _take_position(connection, new, request_id)
    if entry:
        enter(connection, registry, request_id, entry)
    return Opened(request(connection, request_id), superseded, resumed)


def enabled(registry: Registry, media: Iterable[str], disabled: Collection[str]) -> tuple[str, ...]:
    """The media types that may be entered: not switched off, and requiring nothing that is."""
    out = {*disabled, *(name for off in disabled if off in registry for name in registry.requiring(off))}
    return tuple(name for name in media if name not in out)


def scope_keys(connection: Connection, book_key: int, scope: Scope) -> tuple[int, int]:
    """The keys of the chapter and scene that a scope names; 0 for what it does not. Raises `ScopeError`."""
    if scope.kind is ScopeKind.WHOLE_BOOK:
        return 0, 0
    if scope.chapter_id:
        rows = fetch(connection, _PLACE, book=book_key, chapter=scope.chapter_id, scene=scope.scene_id)
    else:
        rows = fetch(connection, _SCENE_PLACE, book=book_key, scene=scope.scene_id)
    if not rows:
        raise ScopeError(f"there is no chapter {scope.chapter_id!r} or scene {scope.scene_id!r} in this book")
    if scope.kind is ScopeKind.CHAPTER:
        return rows[0].chapter_key, 0
    if rows[0].scene_key is None:
        raise ScopeError(f"there is no scene {scope.scene_id!r} in chapter {scope.chapter_id!r}")
    return rows[0].chapter_key, rows[0].scene_key


def _require_units(connection: Connection, scene_key: int, scope: Scope) -> None:
    if scope.kind is ScopeKind.UNITS:
        stored = {unit["unit_id"] for unit in orjson.loads(scalar(connection, _CONTENT, scene=scene_key))["units"]}
        if missing := [one for one in scope.unit_ids if one not in stored]:
            raise ScopeError(f"there is no unit {missing[0]!r} in scene {scope.scene_id!r}")


def _supersede(
    connection: Connection, new: NewRequest, media: tuple[str, ...]
) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """A later `make` closes the earlier unfinished ones for something else, and resumes those for the same."""
    if new.kind != "make":
        return (), ()
    earlier = [one for one in unfinished_of(connection, new.book_key) if one.kind == "make"]
    same = [one for one in earlier if one.scope == new.scope and set(one.media) == set(media)]
    others = [one.request_id for one in earlier if one not in same]
    superseded = tuple(one for one in others if close(connection, one, RequestState.SUPERSEDED))
    paused = [one.request_id for one in same if one.state is RequestState.PAUSED]
    for one in paused:
        lock_request(connection, one)
    return superseded, tuple(row.id for row in fetch(connection, _RESUME, requests=paused))


def _take_position(connection: Connection, new: NewRequest, request_id: int) -> None:
    """Where the reader of a new request stands, and how far ahead of it the request reaches."""
    scene = scope_keys(connection, new.book_key, new.position)[1] if new.position is not None else 0
    row, was = standings(connection, new.book_key)[request_id]
    reach, position, horizon = placed(connection, new.book_key, row, new.ahead, scene)
    stood = replace(was, ahead=new.ahead, position_scene=scene, reach=reach, position=position, horizon=horizon)
    if stood != was:
        stand(connection, {request_id: stood})


def unfinished_of(connection: Connection, book_key: int) -> list[RequestRow]:
    """The unfinished requests of a book, oldest first."""
    return [request_row(row) for row in fetch(connection, _OF_BOOK, book=book_key)]


def close(connection: Connection, request_id: int, state: RequestState) -> bool:
    """End a request; False when it had ended. Afterwards nothing becomes PENDING under it any more."""
    lock_request(connection, request_id)
    return bool(fetch(connection, _CLOSE, id=request_id, state=state.value))


def request(connection: Connection, request_id: int) -> RequestRow:
    """One request. Raises `LookupError`."""
    return request_row(stored_request(connection, request_id))


def stored_request(connection: Connection, request_id: int) -> Any:
    """The same as it is stored, with the keys of its scope."""
    rows = fetch(connection, _BY_ID, id=request_id)
    if not rows:
        raise LookupError(f"there is no request {request_id}")
    return rows[0]


def books_at_work(connection: Connection) -> int:
    """How many books have unfinished requests."""
    return int(scalar(connection, _BOOKS_AT_WORK))


def requests(connection: Connection, *, open_only: bool) -> list[RequestRow]:
    """Requests, oldest first."""
    return [request_row(row) for row in fetch(connection, _LIST_OPEN if open_only else _LIST)]


def preparing(connection: Connection) -> Sequence[RequestRow]:
    """Requests that are still to be entered."""
    return [row for row in requests(connection, open_only=True) if row.state is RequestState.PREPARING]
