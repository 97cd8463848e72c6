"""Writing the parts of plans, and finding out which of them are there already."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any, Final, NamedTuple

import orjson
from sqlalchemy import Connection

from animastor.engine.ports import JobSource, PartRow, StorePlan
from animastor.engine.states import PartState
from animastor.storage import reuse
from animastor.storage.parts import places_of, retry_of
from animastor.storage.rows import Statement, fetch, tell

_PARTS = Statement(
    "store_parts",
    "The wanted parts; one that was there before keeps its state, its attempts and its bytes.",
    """
    INSERT INTO part (asset, hash, kind, ordinal, unit_id, plan_seq, workspace, estimate_s, work, profile, places,
                      inputs, params, own_hash, outdated)
    SELECT p.asset, p.hash, p.kind, p.ordinal, p.unit, p.seq, p.workspace, p.estimate_s, p.work, p.profile, p.places,
           p.inputs, p.params, p.own_hash, CAST(p.outdated AS smallint)
    FROM {parts} AS p WHERE true
    ON CONFLICT (asset, hash) DO UPDATE SET wanted = 1, ordinal = excluded.ordinal, plan_seq = excluded.plan_seq,
        places = excluded.places, estimate_s = excluded.estimate_s, work = excluded.work, unwanted_at = NULL,
        own_hash = excluded.own_hash, outdated = excluded.outdated
    """,
    parts={
        "asset": int, "hash": str, "kind": str, "ordinal": int, "unit": str, "seq": int, "workspace": str,
        "estimate_s": float, "work": float, "profile": str, "places": str, "inputs": str, "params": str,
        "own_hash": str, "outdated": int,
    },
)  # fmt: skip
_HELD = Statement(
    "held_parts",
    "The parts of some assets that their newest plan wants, as they are.",
    """
    SELECT p.asset, p.hash, p.state, p.artifact, p.not_before, p.failure, p.attempts, p.infra_attempts,
           CASE WHEN p.facts = '' THEN 0 ELSE 1 END AS known
    FROM {plans} AS one JOIN part p ON p.asset = one.asset AND p.plan_seq = one.seq
    WHERE p.wanted = 1
    """,
    plans={"asset": int, "seq": int},
)
_UNWANT = Statement(
    "unwant_parts",
    "Parts that only an earlier plan wanted.",
    """
    UPDATE part SET wanted = 0, unwanted_at = {now} FROM {plans} AS p
    WHERE part.asset = p.of_asset AND part.wanted = 1 AND part.plan_seq < p.seq
    RETURNING part.artifact
    """,
    plans={"of_asset": int, "seq": int},
)


_PART_STATES: Final = tuple(PartState)


class Held(NamedTuple):
    """A wanted part as the database has it. `known`: its facts are there, even if its bytes are not."""

    state: PartState
    artifact: str
    known: bool
    row: Any

    @property
    def ready(self) -> bool:
        """Its bytes are there."""
        return self.state is PartState.READY


class _Untried(NamedTuple):
    """What a part that was never there before says of its past."""

    not_before: float = 0.0
    failure: str = ""
    attempts: int = 0
    infra_attempts: int = 0


_NEW: Final = Held(PartState.MISSING, "", known=False, row=_Untried())
HeldParts = Mapping[tuple[int, str], Held]


def write_parts(
    connection: Connection, plans: Sequence[tuple[StorePlan, str, bool]]
) -> tuple[HeldParts, frozenset[tuple[int, str]]]:
    """Write the parts of (plan, workspace, whether it replaces a plan); what is held of them, and what was reused."""
    held: dict[tuple[int, str], Held] = {
        (plan.asset, part.hash): _NEW for plan, _, replaces in plans if not replaces for part in _wanted(plan)
    }
    replaced = [(plan.asset, plan.plan_seq) for plan, _, replaces in plans if replaces]
    if replaced:
        _tell_parts(connection, [(plan, workspace) for plan, workspace, replaces in plans if replaces])
        held |= {
            (row.asset, row.hash): Held(_PART_STATES[row.state], row.artifact, bool(row.known), row)
            for row in fetch(connection, _HELD, plans=replaced)
        }
        reuse.let_go(connection, (row.artifact for row in fetch(connection, _UNWANT, plans=replaced)))
        held |= _use_again(connection, held, {asset for asset, _ in replaced})
    workspaces: dict[int, str] = {plan.asset: workspace for plan, workspace, _ in plans}
    absent = [(asset, hash_, workspaces[asset]) for (asset, hash_), one in held.items() if not one.ready]
    found = reuse.find(connection, absent)
    _tell_parts(connection, [(plan, workspace) for plan, workspace, replaces in plans if not replaces])
    taken = reuse.take_over(connection, found)
    for key, artifact in taken.items():
        held[key] = held[key]._replace(state=PartState.READY, artifact=artifact, known=True)
    return held, frozenset(taken)


def _tell_parts(connection: Connection, plans: Sequence[tuple[StorePlan, str]]) -> None:
    """Write the parts of (plan, workspace). Nothing is answered: those of first plans travel with the commit."""
    if rows := [row for plan, workspace in plans for row in _part_rows(plan, workspace)]:
        tell(connection, _PARTS, parts=rows)


def _use_again(connection: Connection, held: HeldParts, assets: set[int]) -> dict[tuple[int, str], Held]:
    """Kept parts of earlier plans are used again; those whose bytes are just being collected are missing."""
    kept = {key: one for key, one in held.items() if one.ready and key[0] in assets}
    gone = reuse.use(connection, (one.artifact for one in kept.values()))
    lost = {key: one for key, one in kept.items() if one.artifact in gone}
    reuse.forget(connection, ((asset, hash_, one.artifact) for (asset, hash_), one in lost.items()))
    return {key: one._replace(state=PartState.MISSING) for key, one in lost.items()}


def _part_rows(plan: StorePlan, workspace: str) -> Iterator[tuple[object, ...]]:
    places = places_of(plan.parts)
    for part in distinct(plan.parts):
        yield _part_row(plan, part, workspace, places[part.hash])
    if plan.merge is not None:
        yield _part_row(plan, plan.merge, workspace, [(len(plan.parts), ())])


def _part_row(
    plan: StorePlan, part: PartRow, workspace: str, places: Sequence[tuple[int, tuple[str, ...]]]
) -> tuple[object, ...]:
    return (
        plan.asset,
        part.hash,
        part.kind,
        places[0][0],
        part.unit_ids[0] if part.unit_ids else "",
        plan.plan_seq,
        workspace,
        part.estimate_s,
        part.work,
        part.profile,
        orjson.dumps(places).decode(),
        orjson.dumps(part.inputs).decode() if part.inputs else "",
        orjson.dumps(part.params).decode(),
        part.own_hash,
        int(part.outdated),
    )


def job_source(part: PartRow, held: Held, inputs: tuple[str, ...] | None = None) -> JobSource:
    """The job of a part that is not there; a merge is given the checksums of the parts."""
    return JobSource(
        hash=part.hash,
        kind=part.kind,
        params=part.params,
        inputs=part.inputs if inputs is None else inputs,
        profile=part.profile,
        not_before=held.row.not_before,
        retry_of=retry_of(held.row),
        work=part.work,
    )


def _wanted(plan: StorePlan) -> Iterator[PartRow]:
    yield from plan.parts
    if plan.merge is not None:
        yield plan.merge


def distinct(parts: Sequence[PartRow]) -> Collection[PartRow]:
    """The parts without repetitions, in order."""
    return {part.hash: part for part in parts}.values() if len(parts) > 1 else parts
