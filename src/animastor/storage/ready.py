"""The transitions to READY: a dispatch completes its asset, or an asset is restored without work (CONTRACT 3, 7)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import orjson
from sqlalchemy import Connection

from animastor.engine.ports import Ended
from animastor.engine.reasons import JournalType, Reason
from animastor.engine.states import Outcome, State
from animastor.media.registry import Registry
from animastor.storage import dependants, ends, journal
from animastor.storage.parts import MadeAsset, made_assets
from animastor.storage.rows import Statement, tell
from animastor.storage.whole import changed

_COMPLETE = Statement(
    "complete",
    "GENERATING → READY, where dispatch, fence, plan and wanted hash still hold.",
    """
    UPDATE asset SET state = {READY}, artifact = r.sum, artifact_hash = r.wanted, made_by = r.dispatch, waits = 0,
        due_at = NULL, reason = '', error = ''
    FROM {rows} AS r
    WHERE asset.id = r.asset AND asset.state = {still_GENERATING} AND asset.dispatch_id = r.dispatch
      AND asset.fence = r.held AND asset.planned_seq = asset.plan_seq AND asset.wanted_hash = r.wanted
    RETURNING asset.id
    """,
    rows={"asset": int, "dispatch": str, "held": int, "wanted": str, "sum": str},
)
_RESTORE = Statement(
    "restore",
    "To READY without work, where the state is the one that was read and the plan still wants what is there.",
    """
    UPDATE asset SET state = {READY}, artifact = r.sum, artifact_hash = r.wanted, waits = 0, due_at = NULL,
        reason = '', error = ''
    FROM {rows} AS r
    WHERE asset.id = r.asset AND asset.state = r.seen AND asset.planned_seq = asset.plan_seq
      AND asset.wanted_hash = r.wanted
    RETURNING asset.id
    """,
    rows={"asset": int, "seen": int, "wanted": str, "sum": str},
)
_FACTS = Statement(
    "keep_facts",
    "What is known of a finished asset.",
    """
    INSERT INTO asset_facts (asset, facts) SELECT r.of_asset, r.known FROM {rows} AS r WHERE true
    ON CONFLICT (asset) DO UPDATE SET facts = excluded.facts
    """,
    rows={"of_asset": int, "known": str},
)


class Finishing(NamedTuple):
    """An asset that has all it wants, as it was read under lock: to be completed when GENERATING, else restored."""

    asset: int
    scene_key: int
    media: str
    state: State
    dispatch_id: str
    fence: int
    wanted_hash: str
    reason: Reason = Reason.RESTORED


@dataclass(frozen=True, slots=True)
class Finished:
    """The assets that are READY now, and the dispatches that ended with it."""

    ready: frozenset[int]
    ended: dict[int, Ended]


def finish(connection: Connection, registry: Registry, finishing: Sequence[Finishing]) -> Finished:
    """Make assets READY that lack nothing; those that are not whole, or have moved on, stay as they are."""
    if not finishing:
        return Finished(frozenset(), {})
    structures = any(registry[one.media].facts_of_structures for one in finishing)
    made = made_assets(connection, [one.asset for one in finishing], structures=structures)
    whole = [one for one in finishing if made[one.asset].is_whole(merges=registry[one.media].merges)]
    facts = {one.asset: _facts(registry, one, made[one.asset]) for one in whole}
    sums = {one.asset: _sum(made[one.asset]) for one in whole}
    completed = _complete(connection, [one for one in whole if one.state is State.GENERATING], sums)
    restored = _restore(connection, [one for one in whole if one.state is not State.GENERATING], sums)
    ready = completed | restored
    done = [one for one in whole if one.asset in ready]
    over = [(one.asset, one.dispatch_id, "") for one in done if one.asset in completed]
    ended = ends.end_moved(connection, Outcome.SUCCESS, over)
    tell(connection, _FACTS, rows=[(one.asset, facts[one.asset]) for one in done])
    _journal(connection, done)
    dependants.raise_readers(connection, registry, [(one.scene_key, one.media) for one in done])
    left = [(one.scene_key, one.media) for one in done if one.state is State.FAILED]
    dependants.lift_readers(connection, registry, left)
    return Finished(ready, ended)


def _facts(registry: Registry, one: Finishing, made: MadeAsset) -> str:
    return orjson.dumps(registry[one.media].facts_of(made.made(), made.merged_facts())).decode()


def _sum(made: MadeAsset) -> str:
    return made.merge.artifact if made.merge is not None else ""


def _complete(connection: Connection, whole: Iterable[Finishing], sums: dict[int, str]) -> frozenset[int]:
    rows = [(one.asset, one.dispatch_id, one.fence, one.wanted_hash, sums[one.asset]) for one in whole]
    return frozenset(changed(connection, _COMPLETE, [row[0] for row in rows], rows=rows)) if rows else frozenset()


def _restore(connection: Connection, whole: Iterable[Finishing], sums: dict[int, str]) -> frozenset[int]:
    rows = [(one.asset, int(one.state), one.wanted_hash, sums[one.asset]) for one in whole]
    return frozenset(changed(connection, _RESTORE, [row[0] for row in rows], rows=rows)) if rows else frozenset()


def _journal(connection: Connection, done: Iterable[Finishing]) -> None:
    by_reason: dict[str, list[tuple[int, str | None, str]]] = {}
    for one in done:
        dispatch = one.dispatch_id if one.state is State.GENERATING else None
        by_reason.setdefault(one.reason, []).append((one.asset, dispatch, ""))
    for reason, members in by_reason.items():
        journal.record(connection, JournalType.READY, State.READY, reason, members)
