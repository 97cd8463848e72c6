"""Transitions back to rest: DIRTY, and at once PENDING where an unfinished request covers the asset (CONTRACT 3).

Each function owns its transition: the conditional statement, the end of the dispatch, the journal, and what others
that follow have to know.
"""

# ruff: noqa: S608 - fragments of this package are put together, nothing from outside

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Final

from sqlalchemy import Connection

from animastor.engine.ports import Ended
from animastor.engine.reasons import JournalType
from animastor.engine.states import Outcome, State
from animastor.media.registry import Registry
from animastor.storage import dependants, ends, journal
from animastor.storage.coverage import COVERED_BY
from animastor.storage.holding import hold
from animastor.storage.rows import Statement, fetch

_RETURNING: Final = "RETURNING asset.id, asset.state, asset.scene_key, asset.media, asset.dispatch_id, asset.reason"

_REOPEN = Statement(
    "reopen",
    "READY or FAILED with another plan than what is there: PENDING if covered, else DIRTY.",
    f"""
    UPDATE asset SET state = CASE WHEN {COVERED_BY} IS NULL THEN {{DIRTY}} ELSE {{PENDING}} END,
        request_id = COALESCE({COVERED_BY}, 0), due_at = NULL, waits = r.bits, reason = r.why, error = ''
    FROM {{rows}} AS r
    WHERE asset.id = r.asset AND asset.state = r.seen AND asset.state IN ({{still_READY}}, {{still_FAILED}})
      AND asset.plan_seq = r.seq
    {_RETURNING}
    """,
    rows={"asset": int, "seen": int, "seq": int, "bits": int, "why": str},
)
_STEP_BACK = Statement(
    "step_back",
    "GENERATING → PENDING if covered, else DIRTY; for the current dispatch only.",
    f"""
    UPDATE asset SET state = CASE WHEN {COVERED_BY} IS NULL THEN {{DIRTY}} ELSE {{PENDING}} END,
        request_id = COALESCE({COVERED_BY}, 0), reason = r.why, waits = r.bits,
        due_at = CASE WHEN r.until > 0 THEN r.until WHEN r.delay > 0 THEN {{now}} + r.delay ELSE NULL END
    FROM {{rows}} AS r
    WHERE asset.id = r.asset AND asset.state = {{still_GENERATING}} AND asset.dispatch_id = r.dispatch
    {_RETURNING}
    """,
    rows={"asset": int, "dispatch": str, "bits": int, "delay": float, "until": float, "why": str},
)


@dataclass(frozen=True, slots=True)
class Reopening:
    """A READY or FAILED asset whose artifact is not what it wants any more, as it was read."""

    asset: int
    state: State
    plan_seq: int
    bits: int
    why: str


@dataclass(frozen=True, slots=True)
class StepBack:
    """A dispatch to be cancelled. The asset may start again after `delay_s`, or at `until`, when they are not 0."""

    asset: int
    dispatch_id: str
    why: str
    bits: int = 0
    delay_s: float = 0.0
    until: float = 0.0


@dataclass(frozen=True, slots=True)
class Rested:
    """An asset that is PENDING or DIRTY again, and the dispatch that ended with it."""

    asset: int
    state: State
    ended: Ended | None = None


def reopen(
    connection: Connection, registry: Registry, reopening: Iterable[Reopening], told: JournalType = JournalType.DIRTY
) -> list[Rested]:
    """What moved, with its new state. Whoever failed because of it, or waits for it, is looked at again."""
    seen = {one.asset: one for one in reopening}
    rows = [(one.asset, int(one.state), one.plan_seq, one.bits, one.why) for one in seen.values()]
    moved = fetch(connection, _REOPEN, rows=rows) if rows else ()
    _journal(connection, told, moved)
    hold(connection, [row.id for row in moved if row.state == State.PENDING])
    left = [(row.scene_key, row.media) for row in moved if seen[row.id].state is State.FAILED]
    dependants.lift_readers(connection, registry, left)
    dependants.raise_waiting(connection, registry, _dirty(moved))
    return [Rested(row.id, State(row.state)) for row in moved]


def step_back(connection: Connection, registry: Registry, steps: Sequence[StepBack]) -> list[Rested]:
    """Cancel current dispatches; what moved, with its new state and the dispatch that ended."""
    rows = [(one.asset, one.dispatch_id, one.bits, one.delay_s, one.until, one.why) for one in steps]
    moved = fetch(connection, _STEP_BACK, rows=rows) if rows else ()
    hold(connection, [row.id for row in moved if row.state == State.PENDING])
    ended = ends.end(connection, Outcome.CANCELLED, [(row.id, row.dispatch_id, row.reason) for row in moved])
    _journal(connection, JournalType.ROLLED_BACK, moved)
    dependants.raise_followers(connection, registry, _dirty(moved))
    return [Rested(row.id, State(row.state), ended.get(row.id)) for row in moved]


def _dirty(moved: Iterable[Any]) -> list[tuple[int, str]]:
    return [(row.scene_key, row.media) for row in moved if row.state == State.DIRTY]


def _journal(connection: Connection, type_: JournalType, moved: Iterable[Any]) -> None:
    """DIRTY for all, then PENDING for those that are covered: both steps of the transition are told."""
    members = [(row.id, row.dispatch_id if type_ is JournalType.ROLLED_BACK else None, row.reason) for row in moved]
    journal.record_each(connection, type_, State.DIRTY, members)
    covered = [(row.id, None, row.reason) for row in moved if row.state == State.PENDING]
    journal.record_each(connection, JournalType.REQUESTED, State.PENDING, covered)
