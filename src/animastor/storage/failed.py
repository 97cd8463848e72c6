"""The transition to FAILED, with what it does to the assets that require or follow (CONTRACT 9)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from sqlalchemy import Connection

from animastor.engine.ports import Ended
from animastor.engine.reasons import JournalType, Reason
from animastor.engine.states import Outcome, State, may_move
from animastor.media.registry import Registry
from animastor.protocol import AssetId
from animastor.storage import dependants, ends, journal
from animastor.storage.locking import lock_assets
from animastor.storage.rows import Statement, fetch

_FAIL = Statement(
    "fail",
    "PENDING or GENERATING → FAILED.",
    """
    UPDATE asset SET state = {FAILED}, reason = r.why, error = r.message, waits = 0, due_at = NULL
    FROM {rows} AS r
    WHERE asset.id = r.asset AND asset.state IN ({still_PENDING}, {still_GENERATING})
    RETURNING asset.id, asset.scene_key, asset.media, asset.dispatch_id, asset.reason
    """,
    rows={"asset": int, "why": str, "message": str},
)
_STATES = Statement(
    "states_of", "The states of assets.",
    "SELECT a.id, a.state FROM {assets} AS one JOIN asset a ON a.id = one.asset",
    assets={"asset": int},
)  # fmt: skip


_LAST_ERRORS = Statement(
    "last_errors",
    "What the given-up parts of some assets died of.",
    """
    SELECT p.asset, p.kind, p.code, p.message, p.attempts + p.infra_attempts AS tries
    FROM {assets} AS one JOIN part p ON p.asset = one.asset
    WHERE p.wanted = 1 AND p.state = {PART_LOST} ORDER BY p.asset, p.ordinal
    """,
    assets={"asset": int},
)


def fail(connection: Connection, registry: Registry, rows: Sequence[tuple[int, str, str]]) -> dict[int, Ended | None]:
    """Fail (asset, reason, message); by asset what became FAILED, with the dispatch that ended with it."""
    moved: Sequence[Any] = fetch(connection, _FAIL, rows=rows) if rows else ()
    if not moved:
        return {}
    ended = ends.end(connection, Outcome.FAILURE, [(row.id, row.dispatch_id, row.reason) for row in moved])
    members = [(row.id, ended[row.id].dispatch_id if row.id in ended else None, row.reason) for row in moved]
    journal.record_each(connection, JournalType.FAILED, State.FAILED, members)
    dependants.fail_readers(connection, registry, [(row.scene_key, row.media) for row in moved])
    return {row.id: ended.get(row.id) for row in moved}


def fail_assets(
    connection: Connection, registry: Registry, assets: Sequence[AssetId], reason: str, message: str
) -> list[Ended | None]:
    """Fail whole assets with one message; a state that may not become FAILED is journalled and left as it is."""
    lock_assets(connection, assets)
    failed = fail(connection, registry, [(asset, reason, message) for asset in sorted(set(assets))])
    refused = fetch(connection, _STATES, assets=sorted(set(assets) - failed.keys()))
    members = [
        (row.id, None, journal.details(before=State(row.state).name, after=State.FAILED.name, why=reason))
        for row in refused
        if row.state != State.FAILED and not may_move(State(row.state), State.FAILED)
    ]
    journal.record(connection, JournalType.INVALID_TRANSITION, None, Reason.INVALID_TRANSITION, members)
    return [failed.get(asset) for asset in assets]


def last_errors(connection: Connection, assets: Sequence[int]) -> Iterable[tuple[int, str]]:
    """What the given-up parts of some assets died of: one sentence per asset."""
    for row in fetch(connection, _LAST_ERRORS, assets=assets) if assets else ():
        yield row.asset, f"{row.kind}: {row.message or row.code} (attempts: {row.tries})"
