"""Part rows: what a plan writes, what a job reads, and what the facts of a finished asset are made from."""

# ruff: noqa: S608 - fragments of this package are put together, nothing from outside

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from typing import Any, Final

import orjson
from sqlalchemy import Connection

from animastor.engine.ports import JobSource, PartOrder, PartRow
from animastor.engine.states import PartState
from animastor.media.types import Facts, MadePart, PartPlan
from animastor.protocol import MERGE, AssetId, FailureType
from animastor.storage.rows import Statement, fetch
from animastor.storage.whole import Gathering, gather

_SOURCES = Statement(
    "part_sources",
    "The wanted parts of assets that are not there.",
    """
    SELECT p.asset, p.hash, p.kind, p.ordinal, p.params, p.inputs, p.profile, p.not_before, p.failure, p.attempts,
           p.infra_attempts, p.work
    FROM {assets} AS one JOIN part p ON p.asset = one.asset
    WHERE p.wanted = 1 AND p.state = {PART_MISSING}
    ORDER BY p.asset, p.ordinal
    """,
    assets={"asset": int},
)
_MADE = Gathering(
    "parts_made",
    "All wanted parts of assets, merges included; their structures, which are long, only where they are asked for.",
    """
    SELECT p.asset, p.hash, p.kind, p.places, p.state, p.artifact, p.facts, p.inputs, p.profile, p.estimate_s, p.work,
           CASE WHEN :structures = 1 THEN p.params ELSE '' END AS params
    FROM {assets} AS one JOIN part p ON p.asset = one.asset
    WHERE p.wanted = 1
    """,
    assets={"asset": int},
)
_CHECKSUMS = Statement(
    "part_checksums",
    "Where the wanted parts of assets stand in their plans, and their checksums.",
    """
    SELECT p.asset, p.places, p.state, p.artifact FROM {assets} AS one JOIN part p ON p.asset = one.asset
    WHERE p.wanted = 1 AND p.kind <> :merge
    """,
    assets={"asset": int},
)
_ORDER_COLUMNS: Final = """
    p.asset, p.hash, p.kind, a.media, p.params, p.artifact, p.state, p.corrupt, p.work, p.ordinal, p.facts,
    f.suffix
"""
_ORDERS = Statement(
    "part_orders",
    "Parts by asset and hash.",
    f"""
    SELECT {_ORDER_COLUMNS} FROM {{keys}} AS one
    JOIN part p ON p.asset = one.asset AND p.hash = one.hash
    JOIN asset a ON a.id = p.asset
    LEFT JOIN artifact f ON f.checksum = p.artifact
    """,
    keys={"asset": int, "hash": str},
)
_MISSING_OF = Statement(
    "missing_of",
    "Which of these parts are still to be made.",
    f"""
    SELECT p.asset, p.hash FROM {{keys}} AS one JOIN part p ON p.asset = one.asset AND p.hash = one.hash
    WHERE p.state = {PartState.MISSING:d}
    """,
    keys={"asset": int, "hash": str},
)
_WANTED_OF = Statement(
    "wanted_of",
    "Which of these parts somebody waits for.",
    f"""
    SELECT p.asset, p.hash FROM {{keys}} AS one JOIN part p ON p.asset = one.asset AND p.hash = one.hash
    JOIN asset a ON a.id = p.asset
    WHERE p.state = {PartState.MISSING:d} AND p.wanted = 1 AND a.state = {{GENERATING}}
    """,
    keys={"asset": int, "hash": str},
)
_WANTED = Statement(
    "wanted_parts",
    "The wanted parts of one asset, in order.",
    f"""
    SELECT {_ORDER_COLUMNS} FROM part p JOIN asset a ON a.id = p.asset
    LEFT JOIN artifact f ON f.checksum = p.artifact
    WHERE p.asset = :asset AND p.wanted = 1 AND p.kind <> :merge ORDER BY p.ordinal
    """,
)


def places_of(parts: Iterable[PartRow]) -> dict[str, list[tuple[int, tuple[str, ...]]]]:
    """Where each hash stands in a plan: two equal parts of one asset are one row with two places."""
    places: dict[str, list[tuple[int, tuple[str, ...]]]] = defaultdict(list)
    for ordinal, part in enumerate(parts):
        places[part.hash].append((ordinal, part.unit_ids))
    return places


def source_of(row: Any) -> JobSource:
    """The job source of a missing part's row."""
    return JobSource(
        hash=row.hash,
        kind=row.kind,
        params=orjson.loads(row.params),
        inputs=tuple(orjson.loads(row.inputs)) if row.inputs else (),
        profile=row.profile,
        not_before=row.not_before,
        retry_of=retry_of(row),
        work=row.work,
    )


def retry_of(row: Any) -> FailureType | None:
    """The last failure's type, when this part was tried before."""
    return FailureType(row.failure) if row.failure and (row.attempts or row.infra_attempts) else None


def missing_sources(connection: Connection, assets: Iterable[int]) -> dict[int, tuple[JobSource, ...]]:
    """What has to be made now for these assets: their missing parts, or, when all are in, the missing merge."""
    parts: dict[int, list[JobSource]] = defaultdict(list)
    merges: dict[int, Any] = {}
    for row in fetch(connection, _SOURCES, assets=sorted(set(assets))):
        if row.kind == MERGE:
            merges[row.asset] = row
        else:
            parts[row.asset].append(source_of(row))
    due = {asset: row for asset, row in merges.items() if asset not in parts}
    sums = checksums(connection, due)
    for asset, row in due.items():
        if sums[asset] is not None:
            parts[asset].append(merge_source(row, sums[asset] or ()))
    return {asset: tuple(sources) for asset, sources in parts.items()}


def merge_source(row: Any, inputs: Sequence[str]) -> JobSource:
    """The merge of a row, with the checksums of the parts as its inputs."""
    return JobSource(
        row.hash,
        row.kind,
        orjson.loads(row.params),
        tuple(inputs),
        row.profile,
        row.not_before,
        retry_of(row),
        row.work,
    )


def checksums(connection: Connection, assets: Iterable[int]) -> dict[int, tuple[str, ...] | None]:
    """The checksums of each asset's wanted parts in order; None when one of them is not there."""
    placed: dict[int, list[tuple[int, str]]] = defaultdict(list)
    wanted = sorted(assets)
    absent = set()
    for row in fetch(connection, _CHECKSUMS, assets=wanted, merge=MERGE) if wanted else ():
        placed[row.asset].extend((ordinal, row.artifact) for ordinal, _ in orjson.loads(row.places))
        if row.state != PartState.READY:
            absent.add(row.asset)
    return {asset: None if asset in absent else tuple(sum_ for _, sum_ in sorted(placed[asset])) for asset in wanted}


@lru_cache(maxsize=4096)  # pictures of a book have the same
def facts_from(stored: str) -> Facts:
    """Probed facts as they are stored with a part."""
    return Facts(**orjson.loads(stored)) if stored else Facts()


class MadeAsset:
    """The wanted parts of one asset as rows; `merge` is its merge's row, if it has one."""

    def __init__(self) -> None:
        self.merge: Any = None
        self._rows: list[Any] = []

    def add(self, row: Any) -> None:
        """Take in a row of the asset."""
        if row.kind == MERGE:
            self.merge = row
        else:
            self._rows.append(row)

    def is_whole(self, *, merges: bool) -> bool:
        """Nothing has to be made: the merged artifact is there and all facts are known; without a merge, all parts."""
        if merges and self._rows:
            merged = self.merge is not None and self.merge.state == PartState.READY
            return merged and all(row.facts for row in self._rows)
        return all(row.state == PartState.READY for row in self._rows)

    def made(self) -> list[MadePart]:
        """The parts in the order of the plan, each with its facts."""
        placed = [(ordinal, row, units) for row in self._rows for ordinal, units in orjson.loads(row.places)]
        placed.sort(key=lambda one: one[0])
        return [MadePart(_plan(row, units), row.artifact, facts_from(row.facts)) for _, row, units in placed]

    def merged_facts(self) -> Facts | None:
        """What probing found in the merged artifact; None without a merge step."""
        return None if self.merge is None else facts_from(self.merge.facts)


def _plan(row: Any, units: Iterable[str]) -> PartPlan:
    return PartPlan(
        kind=row.kind,
        hash=row.hash,
        unit_ids=tuple(units),
        structure=orjson.loads(row.params) if row.params else {},
        inputs=tuple(orjson.loads(row.inputs)) if row.inputs else (),
        profile=row.profile,
        estimate_s=row.estimate_s,
        work=row.work,
    )


def made_assets(connection: Connection, assets: Iterable[int], *, structures: bool) -> Mapping[int, MadeAsset]:
    """Each asset with its wanted parts, as far as they are; with their `structures`, or without."""
    found: dict[int, MadeAsset] = defaultdict(MadeAsset)
    for row in gather(connection, _MADE, assets=sorted(assets), structures=int(structures)):
        found[row.asset].add(row)
    return found


def part_orders(connection: Connection, keys: Sequence[tuple[AssetId, str]]) -> list[PartOrder | None]:
    """The stored parts of these (asset, hash), wanted or not."""
    found = {(row.asset, row.hash): _order(row) for row in fetch(connection, _ORDERS, keys=sorted(set(keys)))}
    return [found.get(key) for key in keys]


def missing_of(connection: Connection, keys: Sequence[tuple[AssetId, str]]) -> frozenset[tuple[AssetId, str]]:
    """Those of these (asset, hash) that are neither made, nor given up, nor gone."""
    return _those(connection, _MISSING_OF, keys)


def wanted_of(connection: Connection, keys: Sequence[tuple[AssetId, str]]) -> frozenset[tuple[AssetId, str]]:
    """Those of these (asset, hash) that are missing, wanted, and of an asset that is being made."""
    return _those(connection, _WANTED_OF, keys)


def _those(
    connection: Connection, statement: Statement, keys: Sequence[tuple[AssetId, str]]
) -> frozenset[tuple[AssetId, str]]:
    return frozenset((row.asset, row.hash) for row in fetch(connection, statement, keys=sorted(set(keys))))


def wanted_parts(connection: Connection, asset: AssetId) -> list[PartOrder]:
    """The wanted parts of an asset, in order, without its merge."""
    return [_order(row) for row in fetch(connection, _WANTED, asset=asset, merge=MERGE)]


def _order(row: Any) -> PartOrder:
    there = row.state == PartState.READY
    return PartOrder(
        asset=AssetId(row.asset),
        hash=row.hash,
        kind=row.kind,
        media=row.media,
        params=orjson.loads(row.params),
        artifact=row.artifact if there else None,
        suffix=row.suffix or "" if there else "",
        corrupt=row.corrupt,
        work=row.work,
        facts=facts_from(row.facts) if there else Facts(),
    )
