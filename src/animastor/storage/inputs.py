"""Everything that the plans of a batch of assets read, in a few statements however large the batch is."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import orjson
from sqlalchemy import Connection

from animastor.engine.ports import PlanRow
from animastor.engine.states import State
from animastor.media.registry import Registry
from animastor.media.types import Dependency, Previous
from animastor.protocol import MERGE
from animastor.storage.rows import STATES, Statement, fetch
from animastor.storage.whole import Gathering, gather

_ROWS = Gathering(
    "plan_rows",
    "Assets with their scenes; whether takes were ever raised in their book.",
    """
    SELECT a.id, a.book_key, a.scene_key, a.media, a.lane, a.state, a.plan_seq, a.planned_seq, s.scene_id, c.chapter_id,
           b.revision, b.disabled, s.content,
           CASE WHEN EXISTS (SELECT 1 FROM unit_take t WHERE t.book_key = a.book_key) THEN 1 ELSE 0 END AS has_takes
    FROM {assets} AS one
    JOIN asset a ON a.id = one.asset
    JOIN scene s ON s.scene_key = a.scene_key
    JOIN chapter c ON c.chapter_key = a.chapter_key
    JOIN book b ON b.book_key = a.book_key
    """,
    assets={"asset": int},
)
_SIBLINGS = Statement(
    "plan_siblings",
    "The other assets of some scenes, of the media types that the plans of the batch read.",
    """
    SELECT a.scene_key, a.media, a.state, a.plan_seq, a.planned_seq, f.facts
    FROM {wanted} AS one
    JOIN asset a ON a.scene_key = one.scene AND a.media = one.media
    LEFT JOIN asset_facts f ON f.asset = a.id
    """,
    wanted={"scene": int, "media": str},
)
_PREVIOUS = Statement(
    "plan_previous",
    "The parts that the plan before this one wanted, and those that a person has fixed.",
    """
    SELECT p.asset, p.kind, p.hash, p.places, CASE WHEN p.pinned = 1 OR p.supplied = 1 THEN 1 ELSE 0 END AS pinned,
           CASE WHEN (p.pinned = 1 OR p.supplied = 1) AND p.state = {PART_READY} THEN p.params ELSE '' END AS given
    FROM {assets} AS one JOIN part p ON p.asset = one.asset
    WHERE (p.wanted = 1 OR p.pinned = 1 OR p.supplied = 1) AND p.kind <> :merge
    """,
    assets={"asset": int},
)
_TAKES = Statement(
    "plan_takes",
    "The takes of units, where they were raised.",
    """
    SELECT t.book_key, t.media, t.unit_id, t.take
    FROM {units} AS one
    JOIN unit_take t ON t.book_key = one.book AND t.media = one.media AND t.unit_id = one.unit
    """,
    units={"book": int, "media": str, "unit": str},
)

_UNSETTLED = Statement(
    "unsettled",
    "The assets beside some, in their scenes, that are still to be planned again.",
    """
    SELECT a.id, a.media, o.media AS other
    FROM {assets} AS one
    JOIN asset a ON a.id = one.asset
    JOIN asset o ON o.scene_key = a.scene_key AND o.id <> a.id
    WHERE o.planned_seq < o.plan_seq AND o.state IN ({still_GENERATING}, {still_DIRTY}, {still_READY}, {still_FAILED})
    """,
    assets={"asset": int},
)

Takes = Mapping[tuple[int, str], Mapping[str, int]]  # (book, media) -> unit -> take
Previously = Mapping[int, Sequence[Previous]]


@dataclass(frozen=True, slots=True)
class _Sibling:
    state: State
    planned: bool
    facts: Mapping[str, Any]


def plan_rows(connection: Connection, registry: Registry, assets: Sequence[int]) -> list[PlanRow]:
    """The assets in the given order, each with what its plan reads; those that are gone are left out."""
    found = {row.id: row for row in gather(connection, _ROWS, assets=assets)}
    rows = [found[asset] for asset in assets if asset in found]
    scenes = {row.scene_key: orjson.loads(row.content) for row in rows}
    needs = {media: _needs(registry, media) for media in {row.media for row in rows}}
    siblings = _siblings(connection, needs, rows)
    takes = _takes(connection, [row for row in rows if row.has_takes], scenes)
    previous = _previous(connection, [row.id for row in rows if row.planned_seq])
    return [
        PlanRow(
            asset=row.id,
            book_key=row.book_key,
            revision=row.revision,
            chapter_id=row.chapter_id,
            scene_id=row.scene_id,
            media=row.media,
            lane=row.lane,
            state=STATES[row.state],
            plan_seq=row.plan_seq,
            scene=scenes[row.scene_key],
            takes=takes.get((row.book_key, row.media), {}),
            dependencies=_dependencies(needs[row.media], row, siblings) if needs[row.media] else {},
            previous=tuple(previous.get(row.id, ())),
        )
        for row in rows
    ]


def settled(connection: Connection, registry: Registry, assets: Sequence[int]) -> list[int]:
    """Without those whose dependencies are still to be planned again: their own plan would have to be made twice."""
    early = {
        row.id
        for row in fetch(connection, _UNSETTLED, assets=assets)
        if row.media in registry and row.other in _needs(registry, row.media)
    }
    return [asset for asset in assets if asset not in early]


def _needs(registry: Registry, media: str) -> tuple[str, ...]:
    declared = registry[media]
    return (*declared.requires, *declared.follows)


def _siblings(
    connection: Connection, needs: Mapping[str, Sequence[str]], rows: Iterable[Any]
) -> dict[tuple[int, str], _Sibling]:
    wanted = sorted({(row.scene_key, need) for row in rows for need in needs[row.media]})
    if not wanted:
        return {}
    return {
        (row.scene_key, row.media): _Sibling(
            STATES[row.state], row.planned_seq >= row.plan_seq, orjson.loads(row.facts) if row.facts else {}
        )
        for row in fetch(connection, _SIBLINGS, wanted=wanted)
    }


def _dependencies(
    needs: Sequence[str], row: Any, siblings: Mapping[tuple[int, str], _Sibling]
) -> dict[str, Dependency]:
    disabled = row.disabled.split()
    return {need: _dependency(siblings.get((row.scene_key, need)), need in disabled) for need in needs}


def _dependency(sibling: _Sibling | None, disabled: bool) -> Dependency:
    if sibling is None:
        return Dependency("absent")
    return Dependency(seen_as(sibling.state, planned=sibling.planned, disabled=disabled), sibling.facts)


def seen_as(state: State, *, planned: bool, disabled: bool) -> Literal["ready", "awaited", "absent"]:
    """What plans that read an asset are told of it.

    READY but not looked at since an edit is awaited: the next ticks say whether it still stands.
    """
    if state is State.READY and planned:
        return "ready"
    coming = state in (State.READY, State.PENDING, State.GENERATING)
    return "awaited" if coming and not disabled else "absent"


def _previous(connection: Connection, planned: Sequence[int]) -> Previously:
    if not planned:
        return {}
    placed: dict[int, list[tuple[int, Previous]]] = defaultdict(list)
    for row in fetch(connection, _PREVIOUS, assets=planned, merge=MERGE):
        for ordinal, units in orjson.loads(row.places):
            placed[row.asset].append((ordinal, _previously(row, units)))
    return {asset: [part for _, part in sorted(parts, key=lambda one: one[0])] for asset, parts in placed.items()}


def _previously(row: Any, units: Sequence[str]) -> Previous:
    given = orjson.loads(row.given) if row.given else None
    return Previous(row.kind, row.hash, tuple(units), bool(row.pinned), given)


def _takes(connection: Connection, rows: Sequence[Any], scenes: Mapping[int, Any]) -> Takes:
    units = sorted(
        {(row.book_key, row.media, unit["unit_id"]) for row in rows for unit in scenes[row.scene_key]["units"]}
    )
    if not units:
        return {}
    takes: dict[tuple[int, str], dict[str, int]] = defaultdict(dict)
    for row in fetch(connection, _TAKES, units=units):
        takes[row.book_key, row.media][row.unit_id] = row.take
    return takes
