"""Writing the parts of plans, and finding out which of them are there already."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import orjson
from sqlalchemy import Connection

from animastor.engine.ports import JobSource, PartRow, StorePlan
from animastor.engine.states import PartState
from animastor.storage import reuse
from animastor.storage.parts import places_of, retry_of
from animastor.storage.rows import Statement, fetch

_PARTS = Statement(
    "store_parts",
    "The wanted parts; one that was there before keeps its state, its attempts and its bytes.",
    """
    INSERT INTO part (asset, hash, kind, ordinal, unit_id, plan_seq, workspace, estimate_s, work, profile, places,
                      inputs, params)
    SELECT p.asset, p.hash, p.kind, p.ordinal, p.unit, p.seq, p.workspace, p.estimate_s, p.work, p.profile, p.places,
           p.inputs, p.params
    FROM {parts} AS p WHERE true
    ON CONFLICT (asset, hash) DO UPDATE SET wanted = 1, ordinal = excluded.ordinal, plan_seq = excluded.plan_seq,
        places = excluded.places, estimate_s = excluded.estimate_s, work = excluded.work, unwanted_at = NULL
    RETURNING asset, hash, state, artifact, not_before, failure, attempts, infra_attempts,
              CASE WHEN facts = '' THEN 0 ELSE 1 END AS known
    """,
    parts={
        "asset": int, "hash": str, "kind": str, "ordinal": int, "unit": str, "seq": int, "workspace": str,
        "estimate_s": float, "work": float, "profile": str, "places": str, "inputs": str, "params": str,
    },
)  # fmt: skip
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


@dataclass(frozen=True, slots=True)
class Held:
    """A wanted part as the database has it. `known`: its facts are there, even if its bytes are not."""

    state: PartState
    artifact: str
    known: bool
    not_before: float
    row: Any

    @property
    def ready(self) -> bool:
        """Its bytes are there."""
        return self.state is PartState.READY


HeldParts = Mapping[tuple[int, str], Held]


def write_parts(
    connection: Connection, plans: Sequence[tuple[StorePlan, str, bool]]
) -> tuple[HeldParts, frozenset[tuple[int, str]]]:
    """Write the parts of (plan, workspace, whether it replaces a plan); what is held of them, and what was reused."""
    rows = [row for plan, workspace, _ in plans for row in _part_rows(plan, workspace)]
    stored = fetch(connection, _PARTS, parts=rows) if rows else ()
    held = {
        (row.asset, row.hash): Held(PartState(row.state), row.artifact, bool(row.known), row.not_before, row)
        for row in stored
    }
    replaced = [(plan.asset, plan.plan_seq) for plan, _, replaces in plans if replaces]
    if replaced:
        reuse.let_go(connection, (row.artifact for row in fetch(connection, _UNWANT, plans=replaced)))
        held |= _use_again(connection, held, {asset for asset, _ in replaced})
    workspaces = {plan.asset: workspace for plan, workspace, _ in plans}
    absent = [(asset, hash_, workspaces[asset]) for (asset, hash_), one in held.items() if not one.ready]
    taken = reuse.take_over(connection, absent)
    for key, artifact in taken.items():
        held[key] = replace(held[key], state=PartState.READY, artifact=artifact, known=True)
    return held, frozenset(taken)


def _use_again(connection: Connection, held: HeldParts, assets: set[int]) -> dict[tuple[int, str], Held]:
    """Kept parts of earlier plans are used again; those whose bytes are just being collected are missing."""
    kept = {key: one for key, one in held.items() if one.ready and key[0] in assets}
    gone = reuse.use(connection, (one.artifact for one in kept.values()))
    lost = {key: one for key, one in kept.items() if one.artifact in gone}
    reuse.forget(connection, ((asset, hash_, one.artifact) for (asset, hash_), one in lost.items()))
    return {key: replace(one, state=PartState.MISSING) for key, one in lost.items()}


def _part_rows(plan: StorePlan, workspace: str) -> Iterator[tuple[object, ...]]:
    places = places_of(plan.parts)
    for part in {part.hash: part for part in plan.parts}.values():
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
    )


def job_source(part: PartRow, held: Held, inputs: tuple[str, ...] | None = None) -> JobSource:
    """The job of a part that is not there; a merge is given the checksums of the parts."""
    return JobSource(
        hash=part.hash,
        kind=part.kind,
        params=part.params,
        inputs=part.inputs if inputs is None else inputs,
        profile=part.profile,
        not_before=held.not_before,
        retry_of=retry_of(held.row),
    )


def distinct(parts: Iterable[PartRow]) -> Iterable[PartRow]:
    """The parts without repetitions, in order."""
    return {part.hash: part for part in parts}.values()
