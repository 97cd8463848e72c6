"""Takes: a rebuild raises those of its units, so that their parts are other ones; what is pinned or given stays.

A take is a durable number per unit and media type (CONTRACT 4). `highest` is the highest that there ever was: another
take may have been chosen since, and a rebuild makes one that is new.
"""

# ruff: noqa: S608 - fragments of this package are put together, nothing from outside

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from typing import Any, Final

import orjson
from sqlalchemy import Connection

from animastor.engine.ports import KeptPart
from animastor.engine.reasons import JournalType, Reason
from animastor.protocol import MERGE
from animastor.storage import journal
from animastor.storage.coverage import EXCLUDED, in_scope
from animastor.storage.rows import Statement, fetch, tell

CHUNK: Final = 5000  # units of one statement

_SCENES = Statement(
    "rebuilt_scenes",
    "The scenes of some assets, with the media types of each that are rebuilt.",
    """
    SELECT a.id, a.book_key, a.media, s.scene_key, s.content
    FROM {assets} AS one JOIN asset a ON a.id = one.asset JOIN scene s ON s.scene_key = a.scene_key
    JOIN request_media rm ON rm.request_id = :id AND rm.media = a.media AND rm.rebuild = 1
    """,
    assets={"asset": int},
)
_KEPT_OF = Statement(
    "kept_of",
    "The places of the pinned and given parts of some assets.",
    """
    SELECT p.asset, p.places FROM {assets} AS one JOIN part p ON p.asset = one.asset
    WHERE p.wanted = 1 AND (p.pinned = 1 OR p.supplied = 1) AND p.kind <> :merge
    """,
    assets={"asset": int},
)
_RAISE = Statement(
    "raise_takes",
    "The next take of some units.",
    """
    INSERT INTO unit_take (book_key, media, unit_id, take, highest)
    SELECT u.book, u.media, u.unit, 1, 1 FROM {units} AS u WHERE true
    ON CONFLICT (book_key, media, unit_id) DO UPDATE SET
        take = CASE WHEN unit_take.highest > unit_take.take THEN unit_take.highest ELSE unit_take.take END + 1,
        highest = CASE WHEN unit_take.highest > unit_take.take THEN unit_take.highest ELSE unit_take.take END + 1
    """,
    units={"book": int, "media": str, "unit": str},
)
_TOUCH = Statement(
    "touch_rebuilt", "The plans of these assets read other takes now.",
    "UPDATE asset SET plan_seq = plan_seq + 1 FROM {assets} AS one WHERE asset.id = one.asset",
    assets={"asset": int},
)  # fmt: skip
_KEPT = Statement(
    "kept_parts",
    "The pinned and given parts within the scope of a request, of the media types that it rebuilds.",
    f"""
    SELECT c.chapter_id, s.scene_id, asset.media, p.places, p.supplied
    FROM request r JOIN request_media rm ON rm.request_id = r.id AND rm.rebuild = 1
    JOIN asset ON asset.book_key = r.book_key AND asset.media = rm.media
    JOIN part p ON p.asset = asset.id AND p.wanted = 1 AND (p.pinned = 1 OR p.supplied = 1) AND p.kind <> :merge
    JOIN scene s ON s.scene_key = asset.scene_key JOIN chapter c ON c.chapter_key = asset.chapter_key
    WHERE r.id = :id AND {in_scope("r")} AND NOT {EXCLUDED}
    ORDER BY s.position, asset.media, p.ordinal
    """,
)


def raise_takes(connection: Connection, request_id: int, assets: Collection[int], units: Collection[str]) -> None:
    """Raise the takes of the units of these assets (of `units` only, if there are any), where the request rebuilds.

    Units with a pinned or given part of that media type are left out.
    """
    rows = fetch(connection, _SCENES, id=request_id, assets=sorted(assets))
    if not rows:
        return
    kept = _kept_units(connection, [row.id for row in rows])
    raised = [(row, [one for one in _units(row, units) if one not in kept.get(row.id, ())]) for row in rows]
    taken = [(row.book_key, row.media, unit) for row, some in raised for unit in some]
    for start in range(0, len(taken), CHUNK):
        tell(connection, _RAISE, units=taken[start : start + CHUNK])
    if touched := sorted(row.id for row, some in raised if some):
        tell(connection, _TOUCH, assets=touched)
        told = [(asset, None, journal.details(request=request_id)) for asset in touched]
        journal.record(connection, JournalType.EDITED, None, Reason.REBUILD, told)


def _units(row: Any, units: Collection[str]) -> Iterable[str]:
    stored = (unit["unit_id"] for unit in orjson.loads(row.content)["units"])
    return [one for one in stored if not units or one in units]


def _kept_units(connection: Connection, assets: Sequence[int]) -> dict[int, set[str]]:
    kept: dict[int, set[str]] = {}
    for row in fetch(connection, _KEPT_OF, assets=assets, merge=MERGE):
        kept.setdefault(row.asset, set()).update(_served(row.places))
    return kept


def _served(places: str) -> list[str]:
    return [unit for _, units in orjson.loads(places or "[]") for unit in units]


def kept_parts(connection: Connection, request_id: int, units: Collection[str]) -> list[KeptPart]:
    """The pinned and given parts that a request does not rebuild."""
    found = [_kept_part(row) for row in fetch(connection, _KEPT, id=request_id, merge=MERGE)]
    return [one for one in found if not units or set(one.unit_ids) & set(units)]


def _kept_part(row: Any) -> KeptPart:
    return KeptPart(row.chapter_id, row.scene_id, row.media, tuple(_served(row.places)), bool(row.supplied))
