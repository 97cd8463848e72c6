"""Transitions back to PENDING, or to DIRTY where no request covers the asset any more (CONTRACT 3)."""

# ruff: noqa: S608 - fragments of this package are put together, nothing from outside

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, Final

from sqlalchemy import Connection

from animastor.engine.states import State
from animastor.storage.coverage import COVERED_BY
from animastor.storage.rows import Statement, fetch

_RETURNING: Final = "RETURNING asset.id, asset.state, asset.scene_key, asset.media, asset.dispatch_id"

_REOPEN = Statement(
    "reopen",
    "READY, DIRTY or FAILED with another plan than what is there: PENDING if covered, else DIRTY.",
    f"""
    UPDATE asset SET state = CASE WHEN {COVERED_BY} IS NULL THEN {{DIRTY}} ELSE {{PENDING}} END,
        request_id = COALESCE({COVERED_BY}, 0), due_at = NULL, waits = r.bits, reason = r.why, error = ''
    FROM {{rows}} AS r
    WHERE asset.id = r.asset AND asset.state = r.seen AND asset.state IN ({{READY}}, {{FAILED}})
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
    WHERE asset.id = r.asset AND asset.state = {{GENERATING}} AND asset.dispatch_id = r.dispatch
    {_RETURNING}
    """,
    rows={"asset": int, "dispatch": str, "bits": int, "delay": float, "until": float, "why": str},
)

StepBack = tuple[int, str, int, float, float, str]  # asset, dispatch, wait bits, delay, until, reason


def reopen(connection: Connection, rows: Iterable[tuple[int, State, int, int, str]]) -> Sequence[Any]:
    """For (asset, state that was read, plan_seq, wait bits, reason): what moved, with its new state."""
    given = [(asset, int(state), seq, bits, why) for asset, state, seq, bits, why in rows]
    return fetch(connection, _REOPEN, rows=given) if given else ()


def step_back(connection: Connection, rows: Sequence[StepBack]) -> Sequence[Any]:
    """What moved, with its new state; the caller ends the dispatches and writes the journal."""
    return fetch(connection, _STEP_BACK, rows=rows) if rows else ()
