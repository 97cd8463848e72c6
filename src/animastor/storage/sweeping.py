"""What no request covers any more rests again: after a cancel, a supersession or an exclusion (CONTRACT 10)."""

# ruff: noqa: S608 - fragments of this package are put together, nothing from outside

from __future__ import annotations

from dataclasses import dataclass

from sqlalchemy import Connection

from animastor.engine.ports import Ended
from animastor.engine.reasons import JournalType, Reason
from animastor.engine.states import Outcome, RequestState, State
from animastor.media.registry import Registry
from animastor.storage import dependants, ends, journal
from animastor.storage.coverage import COVERED_BY
from animastor.storage.locking import lock_assets
from animastor.storage.rows import Statement, fetch, run, scalar

_CARRYING = Statement(
    "carrying",
    "PENDING and GENERATING assets that carry a request.",
    """
    SELECT a.id FROM asset a
    WHERE a.book_key = (SELECT r.book_key FROM request r WHERE r.id = :id) AND a.state IN ({PENDING}, {GENERATING})
      AND a.id > :after AND a.request_id = :id
    ORDER BY a.id LIMIT :limit
    """,
)
_LET_REST = Statement(
    "let_rest",
    "Carried by another request that covers it, or DIRTY.",
    f"""
    UPDATE asset SET request_id = COALESCE({COVERED_BY}, 0), reason = '',
        state = CASE WHEN {COVERED_BY} IS NULL THEN {{DIRTY}} ELSE state END
    FROM {{assets}} AS one
    WHERE asset.id = one.asset AND asset.request_id = :id AND asset.state IN ({{PENDING}}, {{GENERATING}})
    RETURNING asset.id, asset.state, asset.scene_key, asset.media, asset.dispatch_id
    """,
    assets={"asset": int},
)
_STATE = Statement("swept_state", "The state of a request.", "SELECT r.state FROM request r WHERE r.id = :id")
_SWEPT = Statement("swept", "The sweep is over.", "UPDATE request SET sweeping = 0 WHERE id = :id AND sweeping = 1")
_TO_SWEEP = Statement(
    "to_sweep", "Requests whose sweep is not over.", "SELECT r.id FROM request r WHERE r.sweeping = 1 ORDER BY r.id"
)


@dataclass(frozen=True, slots=True)
class Swept:
    """One batch of a sweep: dispatches that ended, and the id to go on behind (None: nothing is left)."""

    ended: tuple[Ended, ...]
    after: int | None


def sweep(connection: Connection, registry: Registry, request_id: int, after: int, limit: int) -> Swept:
    """Look at the next batch of assets that carry a request: covered otherwise, or let rest."""
    state = scalar(connection, _STATE, id=request_id)
    assets = [row.id for row in fetch(connection, _CARRYING, id=request_id, after=after, limit=limit)]
    if not assets:
        run(connection, _SWEPT, id=request_id).close()
        return Swept((), None)
    lock_assets(connection, assets)
    rows = [row for row in fetch(connection, _LET_REST, assets=assets, id=request_id) if row.state == State.DIRTY]
    why = Reason.SUPERSEDED if state == RequestState.SUPERSEDED else Reason.CANCELLED
    ended = ends.end(connection, Outcome.CANCELLED, [(row.id, row.dispatch_id, why) for row in rows])
    members = [(row.id, ended[row.id].dispatch_id if row.id in ended else None, "") for row in rows]
    journal.record(connection, JournalType.CANCELLED, State.DIRTY, why, members)
    dependants.raise_followers(connection, registry, [(row.scene_key, row.media) for row in rows])
    return Swept(tuple(ended.values()), assets[-1])


def to_sweep(connection: Connection) -> list[int]:
    """Requests that ended or shrank and whose sweep was not finished."""
    return [row.id for row in fetch(connection, _TO_SWEEP)]
