"""Wait bits of PENDING assets that the engine sets, and that the passing of time or a new worker clears."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Final

from sqlalchemy import Connection

from animastor.engine.reasons import JournalType
from animastor.engine.states import State, Wait
from animastor.protocol import AssetId
from animastor.storage import journal
from animastor.storage.locking import lock_assets
from animastor.storage.rows import Statement, fetch, scalar, tell

CHUNK: Final = 1000  # assets woken in one transaction

_SET = Statement(
    "set_waits",
    "PENDING assets wait for something.",
    """
    UPDATE asset SET waits = waits | :bits, reason = :why FROM {assets} AS one
    WHERE asset.id = one.asset AND asset.state = {still_PENDING} AND (asset.waits & :bits) <> :bits
    RETURNING asset.id
    """,
    assets={"asset": int},
)
_SKIP = Statement(
    "skip",
    "What is due and could not start, where that was not known of it.",
    """
    UPDATE asset SET reason = r.why FROM {refused} AS r
    WHERE asset.id = r.asset AND asset.state = {PENDING} AND asset.waits = 0 AND asset.reason <> r.why
    RETURNING asset.id, asset.reason
    """,
    refused={"asset": int, "why": str},
)
_NEXT = Statement(
    "next_wake",
    "When the first delayed asset may start.",
    "SELECT min(a.due_at) FROM asset a WHERE a.state = {PENDING} AND a.due_at IS NOT NULL",
)
_DUE_LATER = Statement(
    "delays_over",
    "Assets whose delay is over.",
    """
    SELECT a.id FROM asset a WHERE a.state = {PENDING} AND a.due_at IS NOT NULL AND a.due_at <= {now}
    ORDER BY a.due_at LIMIT :limit
    """,
)
_WAKE = Statement(
    "wake",
    "A delay is over.",
    """
    UPDATE asset SET waits = waits & ~{WAIT_BACKOFF}, due_at = NULL FROM {assets} AS one
    WHERE asset.id = one.asset AND asset.state = {still_PENDING} AND asset.due_at IS NOT NULL AND asset.due_at <= {now}
    """,
    assets={"asset": int},
)
_FOR_WORKERS = Statement(
    "waiting_for_workers",
    "Assets that wait for a worker of one of these profiles, or of which nobody knows any more what they lack.",
    """
    SELECT a.id FROM asset a
    WHERE a.state = {PENDING} AND (a.waits & 16) <> 0 AND a.id > :after
      AND (a.planned_seq < a.plan_seq
           OR EXISTS (SELECT 1 FROM part p JOIN {profiles} AS one ON one.profile = p.profile
                      WHERE p.asset = a.id AND p.wanted = 1 AND p.state = {PART_MISSING}))
    ORDER BY a.id LIMIT :limit
    """,
    profiles={"profile": str},
)
_CLEAR_NO_WORKER = Statement(
    "clear_no_worker",
    "There is a worker now.",
    """
    UPDATE asset SET waits = waits & ~{WAIT_NO_WORKER}, reason = '' FROM {assets} AS one
    WHERE asset.id = one.asset AND asset.state = {still_PENDING} AND (asset.waits & {WAIT_NO_WORKER}) <> 0
    RETURNING asset.id
    """,
    assets={"asset": int},
)


def set_waits(connection: Connection, assets: Sequence[AssetId], wait: Wait, reason: str) -> None:
    """Set bits on PENDING assets; SKIPPED is journalled for those that did not have them."""
    lock_assets(connection, assets)
    rows = fetch(connection, _SET, assets=sorted(set(assets)), bits=int(wait), why=reason)
    journal.record(connection, JournalType.SKIPPED, State.PENDING, reason, [(row.id, None, "") for row in rows])


def skip(connection: Connection, refused: Sequence[tuple[AssetId, str]]) -> None:
    """Keep why due assets could not start; SKIPPED is journalled where the reason changes."""
    lock_assets(connection, [asset for asset, _ in refused])
    rows = fetch(connection, _SKIP, refused=[(asset, str(why)) for asset, why in sorted(dict(refused).items())])
    journal.record_each(connection, JournalType.SKIPPED, State.PENDING, [(row.id, None, row.reason) for row in rows])


def next_wake(connection: Connection) -> float | None:
    """When the next delay is over, in the database's time; None when nothing is delayed."""
    at = scalar(connection, _NEXT)
    return None if at is None else float(at)


def wake(connection: Connection) -> bool:
    """Clear the back-off bits of up to `CHUNK` assets whose delay is over; whether there were any."""
    assets = [row.id for row in fetch(connection, _DUE_LATER, limit=CHUNK)]
    if assets:
        lock_assets(connection, assets)
        tell(connection, _WAKE, assets=sorted(assets))
    return bool(assets)


def clear_no_worker(connection: Connection, profiles: Collection[str], after: int) -> tuple[int, int | None]:
    """Clear the bit on up to `CHUNK` assets behind an id: how many, and the id to go on behind (None: done)."""
    rows = fetch(connection, _FOR_WORKERS, profiles=sorted(profiles), after=after, limit=CHUNK)
    assets = [row.id for row in rows]
    if not assets:
        return 0, None
    lock_assets(connection, assets)
    cleared = fetch(connection, _CLEAR_NO_WORKER, assets=assets)
    return len(cleared), assets[-1] if len(assets) == CHUNK else None
