"""Entering a request: its assets become PENDING, chunk by chunk in reading order (CONTRACT 10).

A chunk locks the request's row, looks that it is unfinished, and moves its cursor, in the transaction that moves the
assets. What is READY stays so; a READY asset that an edit may have touched is found by replanning.
"""

# ruff: noqa: S608 - fragments of this package are put together, nothing from outside

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import orjson
from sqlalchemy import Connection

from animastor.engine.ports import Entered
from animastor.engine.reasons import JournalType, Reason
from animastor.engine.states import RequestState, State, Wait
from animastor.media.registry import Registry
from animastor.storage import dependants, journal
from animastor.storage.coverage import COVERED_BY, EXCLUDED, in_scope
from animastor.storage.holding import hold
from animastor.storage.locking import lock_request, lock_scenes_of
from animastor.storage.rollback import forget_attempts
from animastor.storage.rows import Statement, fetch, tell
from animastor.storage.takes import raise_takes
from animastor.storage.whole import Gathering, changed, gather

RETRY = "retry"  # the kind of a request that enters only what failed
CHUNK = 1000  # the most assets of one transaction

_CURSOR = Statement(
    "enter_cursor",
    "Where entering stands.",
    "SELECT r.state, r.cursor_order, r.cursor_asset, r.rebuild, r.unit_ids, r.kind, r.accept_charge"
    " FROM request r WHERE r.id = :id",
)
_CHUNK = Gathering(
    "enter_chunk",
    "The next assets of a request's scope, in reading order.",
    f"""
    SELECT asset.id, asset.state, asset.reading_order, asset.planned_seq, asset.scene_key, asset.media, asset.request_id
    FROM asset JOIN request r ON r.id = :id AND r.book_key = asset.book_key
    WHERE asset.book_key = r.book_key AND (asset.reading_order, asset.id) > (:after_order, :after_asset)
      AND EXISTS (SELECT 1 FROM request_media rm WHERE rm.request_id = r.id AND rm.media = asset.media)
      AND {in_scope("r")} AND NOT {EXCLUDED}
    ORDER BY asset.reading_order, asset.id LIMIT :limit
    """,
)
_ENTER = Statement(
    "enter",
    "NEW, DIRTY and FAILED → PENDING.",
    f"""
    UPDATE asset SET state = {{PENDING}}, waits = 0, due_at = NULL, reason = '', error = '', request_id = {COVERED_BY}
    FROM {{assets}} AS one
    WHERE asset.id = one.asset AND asset.state IN ({{still_NEW}}, {{still_DIRTY}}, {{still_FAILED}})
    RETURNING asset.id
    """,
    assets={"asset": int},
)
_AT_ONCE = Statement(
    "end_back_off",
    "What waits before it is tried again need not wait any longer.",
    """
    UPDATE asset SET waits = waits & ~{WAIT_BACKOFF}, due_at = NULL FROM {assets} AS one
    WHERE asset.id = one.asset AND asset.state = {still_PENDING} AND asset.due_at IS NOT NULL
    """,
    assets={"asset": int},
)
_CARRY = Statement(
    "carry_again",
    "What is PENDING or GENERATING already carries the request that lets it run soonest.",
    f"""
    UPDATE asset SET request_id = {COVERED_BY} FROM {{assets}} AS one
    WHERE asset.id = one.asset AND asset.state IN ({{still_PENDING}}, {{still_GENERATING}}) AND {COVERED_BY} IS NOT NULL
      AND asset.request_id <> {COVERED_BY}
    """,
    assets={"asset": int},
)
_WAIT = Statement(
    "enter_waits",
    "What was just entered waits for what is on its way in its scene: it need not be planned before.",
    """
    UPDATE asset SET waits = waits | w.bits
    FROM (
        SELECT d.of_asset, CAST(sum(d.bit) AS bigint) AS bits FROM (
            SELECT DISTINCT n.of_asset, n.bit FROM {needs} AS n
            JOIN asset a ON a.id = n.of_asset
            JOIN asset o ON o.scene_key = a.scene_key AND o.media = n.need
                AND o.state IN ({still_PENDING}, {still_GENERATING})
        ) AS d GROUP BY d.of_asset
    ) AS w
    WHERE asset.id = w.of_asset AND asset.state = {still_PENDING}
    """,
    needs={"of_asset": int, "need": str, "bit": int},
)
_RESTING_BESIDE = Statement(
    "resting_beside",
    "Assets of scenes that rest, and are no failures.",
    """
    SELECT asset.id, asset.state, asset.reading_order, asset.planned_seq, asset.scene_key, asset.media, asset.request_id
    FROM {needs} AS n JOIN asset ON asset.scene_key = n.scene AND asset.media = n.need
    WHERE asset.state IN ({NEW}, {DIRTY})
    """,
    needs={"scene": int, "need": str},
)
_REQUIRED_AT_REST = Statement(
    "required_at_rest",
    "What rests although it is covered, and something that is on its way waits for it.",
    f"""
    SELECT DISTINCT asset.id, asset.state, asset.planned_seq, asset.scene_key, asset.media
    FROM {{waiting}} AS w JOIN asset reader ON reader.id = w.asset AND reader.state = {{PENDING}}
        JOIN asset ON asset.scene_key = reader.scene_key AND asset.media = w.need
    WHERE w.bit = {{WAIT_REQUIRES}} AND asset.state IN ({{NEW}}, {{DIRTY}}) AND {COVERED_BY} IS NOT NULL
    """,
    waiting={"asset": int, "need": str, "bit": int},
)
_ADVANCE = Statement(
    "enter_advance",
    "Moves the cursor; the request is open when it has passed the scope. Charges are accepted for what it found by"
    " then: nobody has seen what fails later, and is met when an edit has it entered again.",
    """
    UPDATE request SET cursor_order = :order, cursor_asset = :asset, state = :state,
        accept_charge = CASE WHEN :state = 'open' THEN 0 ELSE accept_charge END
    WHERE id = :id AND state = 'preparing'
    """,
)


def enter(connection: Connection, registry: Registry, request_id: int, limit: int) -> Entered:
    """Enter the next chunk of a `preparing` request; `done` at once when it is in another state, or has gone."""
    lock_request(connection, request_id)
    cursor = next(iter(fetch(connection, _CURSOR, id=request_id)), None)
    if cursor is None:  # deleted with its book by somebody else since it was listed
        return Entered(0, True, RequestState.CANCELLED)
    if cursor.state != RequestState.PREPARING:
        return Entered(0, True, RequestState(cursor.state))
    size = min(limit, CHUNK)
    rows = gather(
        connection, _CHUNK, id=request_id, after_order=cursor.cursor_order, after_asset=cursor.cursor_asset, limit=size
    )
    entered = _Entering(connection, registry, request_id, cursor).enter(rows) if rows else 0
    if cursor.rebuild and rows:
        raise_takes(connection, request_id, [row.id for row in rows], orjson.loads(cursor.unit_ids or "[]"))
    done = len(rows) < size
    order, asset = (rows[-1].reading_order, rows[-1].id) if rows else (cursor.cursor_order, cursor.cursor_asset)
    state = RequestState.OPEN if done else RequestState.PREPARING
    tell(connection, _ADVANCE, id=request_id, order=order, asset=asset, state=state.value)
    return Entered(entered, done, state)


def enter_required(connection: Connection, registry: Registry, waiting: Sequence[tuple[int, str, int]]) -> None:
    """Of plans that wait (asset, media type, its bit): what is required, covered and at rest becomes PENDING.

    A request enters what its scope holds, but a `retry` only what had failed and what that requires. An asset that an
    edit takes from READY to PENDING under it would wait for ever for what the same edit left DIRTY just before.
    """
    rows = fetch(connection, _REQUIRED_AT_REST, waiting=waiting) if waiting else ()
    if resting := sorted(row.id for row in rows):
        entered = set(changed(connection, _ENTER, resting, assets=resting))
        hold(connection, entered)
        _tell_of_entry(connection, registry, [row for row in rows if row.id in entered])


class _Entering:
    """One chunk of a request. A `retry` enters what FAILED, and what rests although that requires it, or something that
    is PENDING: whoever asked for that one may have taken it back since.
    """

    def __init__(self, connection: Connection, registry: Registry, request_id: int, cursor: Any) -> None:
        self._connection = connection
        self._registry = registry
        self._request_id = request_id
        self._retries = cursor.kind == RETRY
        self._accept_charge = bool(cursor.accept_charge)

    def enter(self, rows: Sequence[Any]) -> int:
        """Enter what rests and name what is on its way; how many were entered."""
        lock_scenes_of(self._connection, (row.id for row in rows))
        chosen = self._failed_with_needs(rows) if self._retries else rows
        by_id = {row.id: row for row in chosen}
        resting = sorted(row.id for row in chosen if self._may_enter(row))
        entered = changed(self._connection, _ENTER, resting, assets=resting) if resting else []
        self._name_busy([row for row in rows if row.state in (State.PENDING, State.GENERATING)])
        hold(self._connection, [*by_id, *(row.id for row in rows)])
        if entered:
            self._settle([by_id[asset] for asset in entered])
        return len(entered)

    def _failed_with_needs(self, rows: Sequence[Any]) -> Sequence[Any]:
        failed = [row for row in rows if row.state == State.FAILED]
        wanting = [row for row in rows if row.state in (State.FAILED, State.PENDING)]
        needs = {(row.scene_key, need) for row in wanting for need in self._registry.closed([row.media])}
        found = fetch(self._connection, _RESTING_BESIDE, needs=sorted(needs)) if needs else ()
        return [*failed, *found]

    def _may_enter(self, row: Any) -> bool:
        """What rests; but what failed under this very request, which is entered again after an edit, has failed."""
        if row.state == State.FAILED:
            return bool(row.request_id != self._request_id)
        return row.state in (State.NEW, State.DIRTY)

    def _name_busy(self, busy: Sequence[Any]) -> None:
        """What is on its way for another request is asked for again: its attempts are 0, and its back-off is over."""
        named = sorted(row.id for row in busy if row.request_id != self._request_id)
        if named:
            forget_attempts(self._connection, named, accept_charge=self._accept_charge)
            tell(self._connection, _AT_ONCE, assets=named)
        if busy:
            tell(self._connection, _CARRY, assets=sorted(row.id for row in busy))

    def _settle(self, rows: Sequence[Any]) -> None:
        planned = [row.id for row in rows if row.planned_seq]
        forget_attempts(self._connection, planned, accept_charge=self._accept_charge)
        _tell_of_entry(self._connection, self._registry, rows)
        left = [(row.scene_key, row.media) for row in rows if row.state == State.FAILED]
        dependants.lift_readers(self._connection, self._registry, left)


def _tell_of_entry(connection: Connection, registry: Registry, rows: Sequence[Any]) -> None:
    """These became PENDING: they wait for what is on its way in their scenes, and the journal knows."""
    if needs := sorted(_needs(registry, rows)):
        tell(connection, _WAIT, needs=needs)
    members = [(row.id, None, "") for row in rows]
    journal.record(connection, JournalType.REQUESTED, State.PENDING, Reason.REQUESTED, members)


def _needs(registry: Registry, rows: Iterable[Any]) -> Iterable[tuple[int, str, int]]:
    for row in rows:
        for need in registry[row.media].requires:
            yield row.id, need, int(Wait.REQUIRES)
        for need in registry[row.media].follows:
            yield row.id, need, int(Wait.FOLLOWS)
