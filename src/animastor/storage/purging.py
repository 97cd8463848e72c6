"""What a deletion takes along for good: parts, journal and dispatches of assets, and the bytes that nothing else uses.

An edit that removes a scene keeps its finished parts for a while, as undoing it then costs nothing. A deletion keeps
nothing: what the artifacts of its parts are used for elsewhere, collecting finds out (`artifacts.used`).
"""

# ruff: noqa: S608 - fragments of this package are put together, nothing from outside

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from typing import Final

from sqlalchemy import Connection

from animastor.storage.rows import Statement, fetch, tell

CHUNK: Final = 2000

_OF_ASSETS: Final = "asset IN (SELECT one.of_asset FROM {assets} AS one)"
_DROP_PARTS = Statement(
    "purge_parts",
    "All parts of some assets.",
    f"DELETE FROM part WHERE {_OF_ASSETS} RETURNING artifact",
    assets={"of_asset": int},
)
_DROP_JOURNAL = Statement(
    "purge_journal", "All that was told of them.", f"DELETE FROM journal WHERE {_OF_ASSETS}", assets={"of_asset": int}
)
_DROP_DISPATCHES = Statement(
    "purge_dispatches",
    "Their attempts, but for those that are still to be released.",
    f"DELETE FROM dispatch WHERE {_OF_ASSETS} AND released_at IS NOT NULL",
    assets={"of_asset": int},
)
_DROP_UNIT_PARTS = Statement(
    "purge_unit_parts",
    "Every part that serves one of some units, of a scene's assets.",
    """
    DELETE FROM part WHERE asset IN (SELECT a.id FROM asset a WHERE a.scene_key = :scene)
      AND EXISTS (SELECT 1 FROM {units} AS u WHERE replace(part.places, u.quoted, '') <> part.places)
    RETURNING artifact
    """,
    units={"quoted": str},
)
_DROP_TAKES = Statement(
    "purge_takes",
    "The takes of units.",
    "DELETE FROM unit_take WHERE book_key = :book AND unit_id IN (SELECT u.unit FROM {units} AS u)",
    units={"unit": str},
)
_LET_GO = Statement(
    "let_go_for_good",
    "To be collected at once, unless something else uses them. What is marked is looked at anew, as in `reuse.let_go`.",
    """
    UPDATE artifact SET unused_since = 0, collecting = CASE WHEN artifact.collecting = 0 THEN 0 ELSE 2 END
    FROM {sums} AS one WHERE artifact.checksum = one.sum
    """,
    sums={"sum": str},
)


def purge_assets(connection: Connection, assets: Sequence[int], artifacts: Iterable[str]) -> None:
    """Nothing is left of these assets beside their own rows; `artifacts` are those that they show."""
    sums = set(artifacts)
    for start in range(0, len(assets), CHUNK):
        chunk = list(assets[start : start + CHUNK])
        sums.update(row.artifact for row in fetch(connection, _DROP_PARTS, assets=chunk))
        tell(connection, _DROP_JOURNAL, assets=chunk)
        tell(connection, _DROP_DISPATCHES, assets=chunk)
    let_go_for_good(connection, sums)


def purge_units(connection: Connection, book_key: int, scene: int, units: Collection[str]) -> None:
    """Nothing is left of the parts of these units of a scene, made or not; nor of their takes."""
    quoted = [f'"{unit}"' for unit in sorted(units)]
    sums = [row.artifact for row in fetch(connection, _DROP_UNIT_PARTS, scene=scene, units=quoted)]
    tell(connection, _DROP_TAKES, book=book_key, units=sorted(units))
    let_go_for_good(connection, sums)


def let_go_for_good(connection: Connection, checksums: Iterable[str]) -> None:
    """These may be collected at once."""
    if wanted := sorted({one for one in checksums if one}):
        tell(connection, _LET_GO, sums=wanted)
