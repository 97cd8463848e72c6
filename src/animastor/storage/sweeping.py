"""After a request has changed: what it does not cover any more rests, the rest carries what lets it run soonest.

A cancel, a supersession, an exclusion, a pause, another priority, window or position first changes the request, in a
small durable transaction that marks it to be swept (CONTRACT 10). Then the busy assets of its book are looked at, in
batches; each is compared with the requests as they are in the transaction that moves it. Repeating a sweep finds
nothing. One that was interrupted is resumed, as the mark stands until a sweep that began after the change is over.
"""

# ruff: noqa: S608 - fragments of this package are put together, nothing from outside

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from sqlalchemy import Connection

from animastor.engine.ports import Ended
from animastor.engine.reasons import JournalType, Reason
from animastor.engine.states import Outcome, RequestState, State
from animastor.media.registry import Registry
from animastor.storage import dependants, ends, journal
from animastor.storage.coverage import COVERED_BY, HELD, HOLDS, RANK
from animastor.storage.holding import hold
from animastor.storage.locking import lock_assets
from animastor.storage.rows import Statement, fetch, tell
from animastor.storage.whole import Gathering, gather

SPAN: Final = 2000  # assets of one look
SWEEP_AGAIN: Final = "abs(sweeping) % 30000 + 1"
"""The mark of the next sweep of a row of `request`. While it is to come, `sweeping` is this; when it is over, the same
below 0: a process that began an earlier sweep and stood still would end a later one if marks came again.
"""

_MARK = Statement(
    "sweep_mark", "What a sweep of a request begins with.",
    "SELECT r.book_key, r.sweeping FROM request r WHERE r.id = :id AND r.sweeping > 0",
)  # fmt: skip
_LOOK = Gathering(
    "sweep_look",
    "The next busy assets of a book, and whether something else holds for them than is stored.",
    f"""
    SELECT c.id, c.media, CASE
        WHEN c.request_id <> COALESCE(c.by_request, 0) THEN 1
        WHEN c.state = {{PENDING}} AND (c.waits & {HOLDS}) <> (
            SELECT {HELD} FROM request r JOIN asset ON asset.id = c.id WHERE r.id = c.by_request) THEN 1
        WHEN c.state = {{PENDING}} AND c.rank <> (
            SELECT {RANK} FROM request r JOIN asset ON asset.id = c.id WHERE r.id = c.by_request) THEN 1
        ELSE 0 END AS wrong
    FROM (
        SELECT asset.id, asset.media, asset.request_id, asset.state, asset.waits, asset.rank, {COVERED_BY} AS by_request
        FROM asset WHERE asset.book_key = :book AND asset.state IN ({{PENDING}}, {{GENERATING}})
          AND (asset.media, asset.id) > (:media, :after)
        ORDER BY asset.media, asset.id LIMIT :limit
    ) AS c ORDER BY c.media, c.id
    """,
)
_BEFORE = Statement(
    "swept_before",
    "Busy assets with the requests that they carry, and the one that covers them now.",
    f"""
    SELECT asset.id, asset.state, asset.scene_key, asset.media, asset.dispatch_id, r.state AS request_state,
        {COVERED_BY} AS by_request
    FROM {{assets}} AS one JOIN asset ON asset.id = one.asset
        AND asset.state IN ({{still_PENDING}}, {{still_GENERATING}})
    LEFT JOIN request r ON r.id = asset.request_id ORDER BY asset.id
    """,
    assets={"asset": int},
)
_CARRY = Statement(
    "carry",
    "Carried by the request that covers it; or by none, and then DIRTY.",
    """
    UPDATE asset SET request_id = c.by_request, reason = CASE WHEN c.by_request = 0 THEN '' ELSE asset.reason END,
        state = CASE WHEN c.by_request = 0 THEN {DIRTY} ELSE asset.state END,
        waits = CASE WHEN c.by_request = 0 THEN 0 ELSE asset.waits END,
        due_at = CASE WHEN c.by_request = 0 THEN NULL ELSE asset.due_at END
    FROM {carried} AS c WHERE asset.id = c.asset AND asset.state IN ({still_PENDING}, {still_GENERATING})
    """,
    carried={"asset": int, "by_request": int},
)
_SWEPT = Statement(
    "swept",
    "The sweep is over, unless the request has changed since it began.",
    "UPDATE request SET sweeping = -sweeping WHERE id = :id AND sweeping = :mark",
)
_TO_SWEEP = Statement(
    "to_sweep", "Requests whose sweep is not over.", "SELECT r.id FROM request r WHERE r.sweeping > 0 ORDER BY r.id"
)
_TO_BE_SWEPT = Statement(
    "sweep_later",
    "What these requests cover, and how, is to be looked at.",
    f"UPDATE request SET sweeping = {SWEEP_AGAIN} FROM {{requests}} AS one WHERE request.id = one.request_id",
    requests={"request_id": int},
)

Cursor = tuple[str, int]  # media type, asset
START: Final[Cursor] = ("", 0)


@dataclass(frozen=True, slots=True)
class Found:
    """A look: what is not as it should be, and where to go on behind (None: all were seen)."""

    assets: Sequence[int]
    behind: Cursor | None


def sweep_later(connection: Connection, requests: Collection[int]) -> None:
    """These requests have changed in this transaction."""
    if requests:
        tell(connection, _TO_BE_SWEPT, requests=sorted(requests))


def mark(connection: Connection, request_id: int) -> tuple[int, int] | None:
    """The book of a request that is to be swept, and the mark of its last change; None when it is not."""
    rows = fetch(connection, _MARK, id=request_id)
    return (rows[0].book_key, rows[0].sweeping) if rows else None


def look(connection: Connection, book_key: int, behind: Cursor) -> Found:
    """Look at the next busy assets of a book. Only reads."""
    media, after = behind
    rows = gather(connection, _LOOK, book=book_key, media=media, after=after, limit=SPAN)
    return Found([row.id for row in rows if row.wrong], (rows[-1].media, rows[-1].id) if len(rows) == SPAN else None)


def settle(connection: Connection, registry: Registry, assets: Sequence[int]) -> list[Ended]:
    """Let these rest, or carry what covers them now; the dispatches that ended."""
    lock_assets(connection, assets)
    rows = fetch(connection, _BEFORE, assets=sorted(assets))
    tell(connection, _CARRY, carried=[(row.id, row.by_request or 0) for row in rows])
    hold(connection, [row.id for row in rows if row.by_request])
    return _let_rest(connection, registry, [row for row in rows if not row.by_request])


def _let_rest(connection: Connection, registry: Registry, rows: Sequence[Any]) -> list[Ended]:
    running = [(row.id, row.dispatch_id, _why(row)) for row in rows if row.state == State.GENERATING]
    ended = ends.end(connection, Outcome.CANCELLED, running)
    for why in (Reason.CANCELLED, Reason.SUPERSEDED):
        told = [(row.id, _dispatch(ended, row.id), "") for row in rows if _why(row) is why]
        journal.record(connection, JournalType.CANCELLED, State.DIRTY, why, told)
    dependants.raise_followers(connection, registry, [(row.scene_key, row.media) for row in rows])
    return list(ended.values())


def _dispatch(ended: Mapping[int, Ended], asset: int) -> str | None:
    return ended[asset].dispatch_id if asset in ended else None


def _why(row: Any) -> Reason:
    return Reason.SUPERSEDED if row.request_state == RequestState.SUPERSEDED else Reason.CANCELLED


def over(connection: Connection, request_id: int, mark_: int) -> None:
    """All was looked at since the request had this mark."""
    tell(connection, _SWEPT, id=request_id, mark=mark_)


def to_sweep(connection: Connection) -> list[int]:
    """Requests that ended or changed and whose sweep was not finished."""
    return [row.id for row in fetch(connection, _TO_SWEEP)]
