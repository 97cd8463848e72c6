"""The end of a dispatch: exactly once, by one conditional statement, in the transaction that moves its asset."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from sqlalchemy import Connection

from animastor.engine.ports import Ended
from animastor.engine.states import Outcome
from animastor.protocol import AssetId, DispatchId
from animastor.storage.rows import Statement, fetch, need_not_last, scalar, tell
from animastor.storage.whole import changed

_END = Statement(
    "end_dispatches",
    "Sets the outcome where there is none yet.",
    """
    UPDATE dispatch SET outcome = :outcome, reason = e.why, ended_at = {now}
    FROM {ends} AS e
    WHERE dispatch.asset = e.of_asset AND dispatch.id = e.of_dispatch AND dispatch.outcome IS NULL
    RETURNING dispatch.asset, dispatch.id
    """,
    ends={"of_asset": int, "of_dispatch": str, "why": str},
)
_UNRELEASED = Statement(
    "unreleased",
    "Ended dispatches whose lease, slot and jobs may still be there.",
    """
    SELECT d.asset, d.id FROM dispatch d WHERE d.outcome IS NOT NULL AND d.released_at IS NULL
    ORDER BY d.asset, d.fence LIMIT :limit
    """,
)
_ANY = Statement(
    "any_dispatch", "Whether a dispatch ever began.", "SELECT 1 AS one WHERE EXISTS (SELECT 1 FROM dispatch)"
)
_LOCK = Statement(
    "lock_dispatches",
    "Locks dispatches in key order.",
    """
    SELECT d.asset FROM dispatch d
    WHERE (d.asset, d.id) IN (SELECT e.of_asset, e.of_dispatch FROM {ends} AS e)
    ORDER BY d.asset, d.fence {for_update}
    """,
    ends={"of_asset": int, "of_dispatch": str},
)
_RELEASED = Statement(
    "mark_released",
    "Says that an ended dispatch was released.",
    """
    UPDATE dispatch SET released_at = COALESCE(dispatch.released_at, {now})
    FROM {ends} AS e
    WHERE dispatch.asset = e.of_asset AND dispatch.id = e.of_dispatch AND dispatch.outcome IS NOT NULL
    """,
    ends={"of_asset": int, "of_dispatch": str},
)

End = tuple[int, str, str]  # asset, dispatch, reason


def untouched(connection: Connection) -> bool:
    """Whether no dispatch ever began."""
    return scalar(connection, _ANY) is None


def end(connection: Connection, outcome: Outcome, ends: Iterable[End]) -> dict[int, Ended]:
    """End dispatches; by asset those that had no outcome yet. Raises `ValueError` for any other word than the three."""
    word = Outcome(outcome).value
    given = [one for one in ends if one[1]]
    rows = changed(connection, _END, [one[:2] for one in given], outcome=word, ends=given) if given else ()
    return {asset: Ended(AssetId(asset), DispatchId(dispatch)) for asset, dispatch in rows}


def end_moved(connection: Connection, outcome: Outcome, ends: Sequence[End]) -> dict[int, Ended]:
    """End the dispatches of assets that this transaction has moved out of GENERATING: so none had an outcome, and
    nobody asks.
    """
    if ends:
        tell(connection, _END, outcome=Outcome(outcome).value, ends=ends)
    return {asset: Ended(AssetId(asset), DispatchId(dispatch)) for asset, dispatch, _ in ends}


def unreleased(connection: Connection, limit: int) -> list[Ended]:
    """Dispatches with an outcome that were not released."""
    return [Ended(AssetId(row.asset), DispatchId(row.id)) for row in fetch(connection, _UNRELEASED, limit=limit)]


def mark_released(connection: Connection, ended: Sequence[Ended]) -> None:
    """Their release has been done."""
    ends = sorted({(one.asset, one.dispatch_id) for one in ended})
    if ends:
        if connection.dialect.name != "sqlite":
            tell(connection, _LOCK, ends=ends)
        tell(connection, _RELEASED, ends=ends)
        need_not_last(connection)  # what is not marked is released again
