"""Takes of a unit's parts, and parts that a person has fixed (CONTRACT 4, 10): pinned, supplied, let go, chosen again.

A fixed part is a row of its own, READY from the start, that every later plan finds among what was there before
(`inputs`). One place has at most one. When its bytes are lost nobody can make them again, so it is fixed no more, and
the plan makes what belongs there.
"""

# ruff: noqa: S608 - fragments of this package are put together, nothing from outside

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any, Final

import orjson
from sqlalchemy import Connection

from animastor.engine.ports import Gift, TakeRow
from animastor.engine.reasons import JournalType, Reason
from animastor.engine.states import PartState
from animastor.media.giving import GIVEN, given_hash, given_structure
from animastor.protocol import MERGE, AssetId, BookKey
from animastor.storage import journal
from animastor.storage.locking import lock_assets
from animastor.storage.parts import facts_from
from animastor.storage.rows import Statement, fetch, scalar, tell

_FIXED: Final = "(part.pinned = 1 OR part.supplied = 1)"
_SCENE_OF_UNIT = Statement(
    "scene_of_unit",
    "The scene of a book that has a unit.",
    """
    SELECT s.scene_key, s.content FROM scene s
    WHERE s.book_key = :book AND replace(s.content, :quoted, '') <> s.content ORDER BY s.position
    """,
)
_TAKES = Statement(
    "takes_of_unit",
    "The parts of a scene that serve a unit, wanted or kept.",
    """
    SELECT p.asset, a.media, p.hash, p.kind, p.ordinal, p.wanted, p.state, p.pinned, p.supplied, p.outdated,
           p.artifact, p.facts, p.places, p.params, p.unwanted_at, f.suffix, f.size
    FROM asset a JOIN part p ON p.asset = a.id LEFT JOIN artifact f ON f.checksum = p.artifact
    WHERE a.scene_key = :scene AND p.kind <> :merge AND replace(p.places, :quoted, '') <> p.places
    ORDER BY a.id, p.wanted DESC, p.ordinal, p.unwanted_at DESC, p.hash
    """,
)
_THERE = Statement("asset_is_there", "Whether an asset is there.", "SELECT a.id FROM asset a WHERE a.id = :asset")
_KNOWN = Statement(
    "use_known_artifact",
    "Bytes of a take are in use, unless they are just being collected, or are gone.",
    """
    UPDATE artifact SET unused_since = NULL WHERE checksum = :checksum AND collecting = 0 RETURNING checksum
    """,
)
_ARTIFACT = Statement(
    "use_given_artifact",
    "Bytes that were supplied are in use, unless they are just being collected.",
    """
    INSERT INTO artifact (checksum, suffix, size) VALUES (:checksum, :suffix, :size)
    ON CONFLICT (checksum) DO UPDATE SET unused_since = NULL WHERE artifact.collecting = 0
    RETURNING checksum
    """,
)
_LET_GO = Statement(
    "unfix",
    "What was fixed in these places is a take like any other.",
    f"""
    UPDATE part SET pinned = 0, supplied = 0, outdated = 0,
        unwanted_at = CASE WHEN part.wanted = 1 THEN NULL ELSE {{now}} END
    FROM {{places}} AS k
    WHERE part.asset = k.of_asset AND part.kind = k.of_kind AND part.unit_id = k.unit AND {_FIXED}
      AND (k.nth < 0 OR part.hash = k.of_hash)
    RETURNING part.hash
    """,
    places={"of_asset": int, "of_kind": str, "unit": str, "nth": int, "of_hash": str},
)
_FIX = Statement(
    "fix_part",
    "A part that a person has fixed.",
    """
    INSERT INTO part (asset, hash, kind, ordinal, unit_id, wanted, state, workspace, artifact, estimate_s, work,
                      profile, pinned, supplied, outdated, own_hash, places, facts, params)
    SELECT a.id, :hash, :kind, 0, :unit, 0, {PART_READY}, a.workspace, :artifact, :estimate_s, 0, '', :pinned,
           :supplied, 0, :own, :places, :facts, :params
    FROM asset a WHERE a.id = :asset
    ON CONFLICT (asset, hash) DO UPDATE SET state = {PART_READY}, pinned = excluded.pinned,
        supplied = excluded.supplied, artifact = excluded.artifact, params = excluded.params, facts = excluded.facts,
        unwanted_at = NULL
    """,
)
_TOUCH = Statement(
    "touch_given", "The plans of these assets are made again.",
    "UPDATE asset SET plan_seq = plan_seq + 1 FROM {assets} AS one WHERE asset.id = one.asset",
    assets={"asset": int},
)  # fmt: skip
_LOST = Statement(
    "unfix_lost",
    "Fixed parts whose bytes are gone: nobody can make them again.",
    f"""
    UPDATE part SET pinned = 0, supplied = 0, outdated = 0, wanted = 0, unwanted_at = {{now}}
    FROM {{assets}} AS one WHERE part.asset = one.of_asset AND {_FIXED} AND part.state <> {{PART_READY}}
    RETURNING part.asset, part.unit_id, part.kind
    """,
    assets={"of_asset": int},
)
_CHOOSE = Statement(
    "choose_take",
    "Another take of a unit is wanted; the next rebuild makes one that is new.",
    """
    INSERT INTO unit_take (book_key, media, unit_id, take, highest)
    SELECT a.book_key, a.media, :unit, :take, :take FROM asset a WHERE a.id = :asset
    ON CONFLICT (book_key, media, unit_id) DO UPDATE SET take = excluded.take,
        highest = CASE WHEN unit_take.highest > unit_take.take THEN unit_take.highest ELSE unit_take.take END
    """,
)
_HIGHEST = Statement(
    "highest_take",
    "The highest take that a unit ever had.",
    """
    SELECT CASE WHEN t.highest > t.take THEN t.highest ELSE t.take END FROM unit_take t
    WHERE t.book_key = :book AND t.media = :media AND t.unit_id = :unit
    """,
)


def takes_of(connection: Connection, book_key: BookKey, unit_id: str) -> list[TakeRow] | None:
    """The takes of a unit, of each media type what is wanted first; None when the book has no such unit."""
    quoted = f'"{unit_id}"'
    found = (row for row in fetch(connection, _SCENE_OF_UNIT, book=book_key, quoted=quoted) if _has(row, unit_id))
    scene = next(found, None)
    if scene is None:
        return None
    rows = fetch(connection, _TAKES, scene=scene.scene_key, quoted=quoted, merge=MERGE)
    seen: Counter[tuple[int, str]] = Counter()
    return [_take(row, seen) for row in rows if row.wanted or row.state == PartState.READY]


def _has(scene: Any, unit_id: str) -> bool:
    return any(unit["unit_id"] == unit_id for unit in orjson.loads(scene.content)["units"])


def _take(row: Any, seen: Counter[tuple[int, str]]) -> TakeRow:
    """Where a part stands among those of its kind of its unit is known of wanted ones, and of fixed ones."""
    params, key = orjson.loads(row.params), (row.asset, row.kind)
    ordinal = params[GIVEN]["ordinal"] if GIVEN in params else seen[key] if row.wanted else -1
    seen[key] += int(bool(row.wanted))
    places = orjson.loads(row.places)
    return TakeRow(
        asset=AssetId(row.asset),
        media=row.media,
        kind=row.kind,
        hash=row.hash,
        ordinal=ordinal,
        unit_ids=tuple(places[0][1]) if places else (),
        wanted=bool(row.wanted),
        ready=row.state == PartState.READY,
        pinned=bool(row.pinned),
        supplied=bool(row.supplied),
        outdated=bool(row.outdated),
        artifact=row.artifact,
        suffix=row.suffix or "",
        size=row.size or 0,
        facts=facts_from(row.facts),
        params=params,
        unwanted_at=row.unwanted_at,
    )


def give(connection: Connection, gift: Gift) -> bool:
    """Fix a part in its place, in the stead of what was fixed there. False: its bytes are being collected, or gone.

    Raises `LookupError` when its scene has left the book, or its book was deleted.
    """
    lock_assets(connection, [gift.asset])
    if scalar(connection, _THERE, asset=gift.asset) is None:
        raise LookupError("its scene has left the book")
    if not _take_into_use(connection, gift):
        return False
    unit, hash_ = gift.unit_ids[0], given_hash(gift.unit_ids[0], gift.kind, gift.ordinal, gift.artifact)
    fixed = [(gift.asset, gift.kind, unit, 0, one) for one in _fixed_at(connection, gift)]
    if fixed:
        tell(connection, _LET_GO, places=fixed)
    params = given_structure(gift.params, gift.ordinal, gift.artifact, gift.base)
    tell(
        connection,
        _FIX,
        asset=gift.asset,
        hash=hash_,
        kind=gift.kind,
        unit=unit,
        artifact=gift.artifact,
        estimate_s=gift.facts.duration,
        pinned=int(not gift.supplied),
        supplied=int(gift.supplied),
        own=gift.base,
        places=orjson.dumps([[0, gift.unit_ids]]).decode(),
        facts=orjson.dumps(gift.facts).decode(),
        params=orjson.dumps(params).decode(),
    )
    _touch(connection, [gift.asset], Reason.SUPPLIED if gift.supplied else Reason.PINNED, unit)
    return True


def _take_into_use(connection: Connection, gift: Gift) -> bool:
    if not gift.fresh:
        return scalar(connection, _KNOWN, checksum=gift.artifact) is not None
    return scalar(connection, _ARTIFACT, checksum=gift.artifact, suffix=gift.suffix, size=gift.size) is not None


_FIXED_AT = Statement(
    "fixed_at",
    "The fixed parts of a unit and kind.",
    f"""
    SELECT part.hash, part.params FROM part
    WHERE part.asset = :asset AND part.kind = :kind AND part.unit_id = :unit AND {_FIXED}
    """,
)


def _fixed_at(connection: Connection, gift: Gift) -> list[str]:
    """What is fixed in the place of a gift now."""
    rows = fetch(connection, _FIXED_AT, asset=gift.asset, kind=gift.kind, unit=gift.unit_ids[0])
    return [row.hash for row in rows if orjson.loads(row.params)[GIVEN]["ordinal"] == gift.ordinal]


def take_back(connection: Connection, asset: AssetId, kind: str, unit_id: str, hash_: str = "") -> int:
    """Nothing of this kind, or only not this part, is fixed for this unit any more; how many parts were."""
    lock_assets(connection, [asset])
    gone = fetch(connection, _LET_GO, places=[(asset, kind, unit_id, 0 if hash_ else -1, hash_)])
    if gone:
        _touch(connection, [asset], Reason.UNPINNED, unit_id)
    return len(gone)


def unfix_lost(connection: Connection, assets: Iterable[int]) -> None:
    """Fixed parts of these assets whose bytes are gone are fixed no more; their plans make what belongs there."""
    rows = fetch(connection, _LOST, assets=sorted(set(assets)))
    for row in rows:
        _touch(connection, [row.asset], Reason.GIVEN_LOST, row.unit_id)


def choose(connection: Connection, asset: AssetId, unit_id: str, take: int) -> None:
    """Want this take of a unit. Raises `LookupError` when its scene has left the book, or its book was deleted."""
    lock_assets(connection, [asset])
    if scalar(connection, _THERE, asset=asset) is None:
        raise LookupError("its scene has left the book")
    tell(connection, _CHOOSE, asset=asset, unit=unit_id, take=take)
    _touch(connection, [asset], Reason.CHOSEN, unit_id)


def highest(connection: Connection, book_key: BookKey, media: str, unit_id: str) -> int:
    """The highest take that a unit ever had; 0 at first."""
    return int(scalar(connection, _HIGHEST, book=book_key, media=media, unit=unit_id) or 0)


def _touch(connection: Connection, assets: Sequence[int], why: Reason, unit_id: str) -> None:
    tell(connection, _TOUCH, assets=assets)
    about = journal.details(unit=unit_id)
    journal.record(connection, JournalType.EDITED, None, why, [(asset, None, about) for asset in assets])
