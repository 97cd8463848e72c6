"""PENDING → GENERATING: an admitted candidate whose plan still stands becomes a dispatch (CONTRACT 5, begin)."""

# ruff: noqa: S608 - fragments of this package are put together, nothing from outside

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeAlias

from sqlalchemy import Connection

from animastor.engine.ports import Begin, Begun
from animastor.engine.reasons import JournalType
from animastor.engine.states import State
from animastor.storage import journal
from animastor.storage.coverage import CARRIED
from animastor.storage.locking import lock_assets
from animastor.storage.rows import SQLITE, Statement, fetch, tell
from animastor.storage.whole import Gathering, changed, gather

_BEGIN = Statement(
    "begin",
    "PENDING, carried by an open request, nothing waited for, plan current → GENERATING with the next fence.",
    f"""
    UPDATE asset SET state = {{GENERATING}}, fence = fence + 1, dispatch_id = b.dispatch, due_at = NULL, reason = ''
    FROM {{begins}} AS b
    WHERE asset.id = b.asset AND asset.state = {{still_PENDING}} AND asset.waits = 0
      AND asset.plan_seq = b.seq AND asset.planned_seq = b.seq AND asset.wanted_hash <> '' AND {CARRIED}
    RETURNING asset.id, asset.fence, asset.dispatch_id, asset.request_id
    """,
    begins={"asset": int, "dispatch": str, "seq": int},
)
_BEGUN = Gathering(
    "begun",
    "Those of a batch that have begun: just now, or before, when the call is a repetition.",
    """
    SELECT a.id, a.fence, a.dispatch_id, a.request_id FROM {begins} AS b
    JOIN asset a ON a.id = b.asset AND a.state = {still_GENERATING} AND a.dispatch_id = b.dispatch
    """,
    begins={"asset": int, "dispatch": str, "seq": int},
)
_DISPATCH = Statement(
    "write_dispatches",
    "The rows of new dispatches.",
    """
    INSERT INTO dispatch (asset, fence, id, request_id, begun_at)
    SELECT d.asset, d.fence, d.id, d.request_id, {now} FROM {dispatches} AS d
    """,
    dispatches={"asset": int, "fence": int, "id": str, "request_id": int},
)

_Given: TypeAlias = tuple[int, str, int]  # asset, dispatch, the plan's number


def begin(connection: Connection, begins: Sequence[Begin]) -> list[Begun]:
    """Begin dispatches. One that fails the condition never was a dispatch: no row, no outcome."""
    lock_assets(connection, (one.asset for one in begins))
    rows = {one.asset: (one.asset, one.dispatch_id, one.plan_seq) for one in begins}
    given = list(rows.values())
    new, begun = _begin(connection, given) if given else (frozenset(), ())
    fences = {(row.id, row.dispatch_id): row.fence for row in begun}
    if new:
        dispatches = [(row.id, row.fence, row.dispatch_id, row.request_id) for row in begun if row.id in new]
        tell(connection, _DISPATCH, dispatches=dispatches)
        members = [(row.id, row.dispatch_id, "") for row in begun if row.id in new]
        journal.record(connection, JournalType.DISPATCHED, State.GENERATING, "", members)
    return [
        Begun(one.asset, one.dispatch_id, True, fences[one.asset, one.dispatch_id])
        if (one.asset, one.dispatch_id) in fences
        else Begun(one.asset, one.dispatch_id, False)
        for one in begins
    ]


def _begin(connection: Connection, given: Sequence[_Given]) -> tuple[frozenset[int], Sequence[Any]]:
    """The assets that begin now, and the rows of all that have begun."""
    if connection.dialect.name == SQLITE:
        new = frozenset(changed(connection, _BEGIN, [asset for asset, *_ in given], begins=given))
        return new, gather(connection, _BEGUN, begins=given)
    now = fetch(connection, _BEGIN, begins=given)
    new = frozenset(row.id for row in now)
    rest = [one for one in given if one[0] not in new]
    return new, [*now, *(gather(connection, _BEGUN, begins=rest) if rest else ())]
