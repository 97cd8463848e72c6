"""Artifact rows: which bytes there are, what uses them, and which may be collected (CONTRACT 11, artifacts).

Marking takes every artifact that nobody has used for long enough; then uses are looked for in one scan, and what is
used after all is unmarked. In between nothing can take a marked one into use, so the scan misses nothing. What was let
go of meanwhile keeps a mark of its own (2): this scan decides nothing about it, and the next one looks at it anew.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any, Final

from sqlalchemy import Connection

from animastor.engine.reasons import Reason
from animastor.engine.states import State
from animastor.media.registry import Registry
from animastor.protocol import Uploaded
from animastor.storage.given import unfix_lost
from animastor.storage.locking import lock_assets
from animastor.storage.reuse import forget
from animastor.storage.rows import Statement, fetch, tell
from animastor.storage.tally import refresh_tally
from animastor.storage.waiting import Reopening, reopen

KEPT_S: Final = 7 * 86_400.0
TAKES: Final = 5  # of a unit and kind, that are kept
TAKES_S: Final = 30 * 86_400.0  # and how long others are kept after they were last wanted

_IN_VAIN = Statement(
    "uploaded_in_vain",
    "Bytes that came and are of no use: known, so that they are collected, unless somebody takes them into use first.",
    """
    INSERT INTO artifact (checksum, suffix, size, unused_since) VALUES (:checksum, :suffix, :size, 0)
    ON CONFLICT (checksum) DO NOTHING
    """,
)
_SUFFIX = Statement(
    "artifact_suffix", "The suffixes of artifacts.",
    "SELECT f.checksum, f.suffix FROM {sums} AS one JOIN artifact f ON f.checksum = one.checksum",
    sums={"checksum": str},
)  # fmt: skip
_AFTER = Statement(
    "artifacts_after", "Artifacts by checksum.",
    """
    SELECT f.checksum, f.suffix, f.size FROM artifact f WHERE f.checksum > :after AND f.collecting = 0
    ORDER BY f.checksum LIMIT :limit
    """,
)  # fmt: skip
_MARK = Statement(
    "mark_collecting",
    "Unused for long enough.",
    """
    UPDATE artifact SET collecting = 1
    WHERE checksum IN (SELECT f.checksum FROM artifact f
                       WHERE f.unused_since IS NOT NULL AND f.unused_since <= {now} - :kept
                         AND NOT EXISTS (SELECT 1 FROM meta m WHERE m.name = 'collect_from' AND m.value > {now})
                       ORDER BY f.unused_since LIMIT :limit)
      AND unused_since IS NOT NULL AND unused_since <= {now} - :kept
    """,
)
_MARK_ANEW = Statement(
    "mark_anew", "What was let go of while it was marked.", "UPDATE artifact SET collecting = 1 WHERE collecting = 2"
)
_HOLD = Statement(
    "hold_collecting",
    "Nothing is marked before a time; one that is later already stays.",
    """
    INSERT INTO meta (name, value) VALUES ('collect_from', CAST({now} + :seconds AS bigint))
    ON CONFLICT (name) DO UPDATE
    SET value = CASE WHEN meta.value > excluded.value THEN meta.value ELSE excluded.value END
    """,
)
_MARKED = Statement(
    "marked", "Everything that is marked.",
    """
    SELECT f.checksum, f.suffix FROM artifact f WHERE f.collecting = 1 AND f.unused_since IS NOT NULL
      AND f.checksum > :after
    ORDER BY f.checksum LIMIT :limit
    """,
)  # fmt: skip
_USED = Statement(
    "used_after_all",
    "Those of some artifacts that a wanted, pinned or supplied part names, or only an asset that shows its last one.",
    """
    SELECT p.artifact AS checksum, 0 AS shown FROM part p
    WHERE p.artifact IN (SELECT one.checksum FROM {sums} AS one) AND p.state = {PART_READY}
      AND (p.wanted = 1 OR p.pinned = 1 OR p.supplied = 1)
    UNION
    SELECT a.artifact, 1 FROM asset a WHERE a.artifact IN (SELECT one.checksum FROM {sums} AS one)
    ORDER BY 2 DESC
    """,
    sums={"checksum": str},
)
_KEPT = Statement(
    "kept_takes",
    "Those of some artifacts that are among the last takes of a unit and kind, or were wanted not long ago.",
    """
    SELECT k.artifact AS checksum FROM (
        SELECT p.artifact, p.unwanted_at, row_number() OVER (
            PARTITION BY p.asset, p.kind, p.unit_id ORDER BY p.wanted DESC, p.unwanted_at DESC
        ) AS nth
        FROM part p JOIN asset a ON a.id = p.asset
        WHERE p.asset IN (SELECT c.asset FROM part c WHERE c.artifact IN (SELECT one.checksum FROM {sums} AS one))
          AND p.state = {PART_READY} AND p.unit_id <> ''
    ) AS k
    WHERE k.artifact IN (SELECT one.checksum FROM {sums} AS one)
      AND (k.nth <= :takes OR k.unwanted_at > {now} - :kept)
    """,
    sums={"checksum": str},
)
_UNMARK = Statement(
    "unmark",
    "Used after all; what no plan wants is looked at again after a while.",
    """
    UPDATE artifact SET collecting = 0, unused_since = CASE WHEN one.again = 1 THEN {now} ELSE NULL END
    FROM {sums} AS one WHERE artifact.checksum = one.sum AND artifact.collecting = 1
    """,
    sums={"sum": str, "again": int},
)
_STILL = Statement(
    "still_marked", "Those of some artifacts whose mark stands.",
    "SELECT f.checksum FROM {sums} AS one JOIN artifact f ON f.checksum = one.sum WHERE f.collecting = 1",
    sums={"sum": str},
)  # fmt: skip
_DELETE = Statement(
    "delete_artifacts", "Their bytes are gone.",
    "DELETE FROM artifact WHERE checksum IN (SELECT one.sum FROM {sums} AS one)",
    sums={"sum": str},
)  # fmt: skip
_HOLDERS = Statement(
    "artifact_holders",
    "READY parts of some artifacts; whether their asset is still there.",
    """
    SELECT p.asset, p.hash, p.artifact, p.wanted, p.kind, a.id, a.book_key, a.media
    FROM part p LEFT JOIN asset a ON a.id = p.asset
    WHERE p.artifact IN (SELECT one.checksum FROM {sums} AS one) AND p.state = {PART_READY}
    ORDER BY p.asset, p.hash
    """,
    sums={"checksum": str},
)
_DROP_ORPHANS = Statement(
    "drop_orphans", "Parts of assets that are gone.",
    "DELETE FROM part WHERE (asset, hash) IN (SELECT k.of_asset, k.of_hash FROM {keys} AS k)",
    keys={"of_asset": int, "of_hash": str},
)  # fmt: skip
_READY_WITHOUT = Statement(
    "ready_without_bytes",
    "READY assets whose own artifact, or without a merge step a wanted part's, is gone.",
    """
    SELECT a.id, a.plan_seq, a.scene_key, a.media, a.artifact FROM {assets} AS one
    JOIN asset a ON a.id = one.asset WHERE a.state = {READY}
    """,
    assets={"asset": int},
)


def uploaded_in_vain(connection: Connection, uploaded: Uploaded) -> None:
    """These bytes were refused; if nothing names them, they are to be collected."""
    about = {"checksum": uploaded.checksum, "suffix": uploaded.suffix, "size": uploaded.size}
    tell(connection, _IN_VAIN, **about)


def suffixes(connection: Connection, checksums: Collection[str]) -> dict[str, str]:
    """The file suffix of each known checksum."""
    return {row.checksum: row.suffix for row in fetch(connection, _SUFFIX, sums=sorted(set(checksums)))}


def after(connection: Connection, checksum: str, limit: int) -> list[tuple[str, str, int]]:
    """(checksum, suffix, size) behind a checksum, for a rotating pass."""
    return [tuple(row) for row in fetch(connection, _AFTER, after=checksum, limit=limit)]


def hold_collecting(connection: Connection, seconds: float) -> None:
    """Mark nothing for so long: a backup reads what may be unused by the time that it gets there."""
    tell(connection, _HOLD, seconds=seconds)


def mark(connection: Connection, limit: int, kept_s: float = KEPT_S, after: str = "") -> list[tuple[str, str]]:
    """Mark up to `limit` artifacts that have been unused for `kept_s`; up to `limit` that are marked, by checksum."""
    tell(connection, _MARK_ANEW)
    tell(connection, _MARK, limit=limit, kept=kept_s)
    return [(row.checksum, row.suffix) for row in fetch(connection, _MARKED, limit=limit, after=after)]


def used(connection: Connection, checksums: Collection[str]) -> dict[str, bool]:
    """Those that something names, and whether no plan wants them (a kept take, an asset's last artifact).

    Scans all parts: not in a writing transaction.
    """
    sums = sorted(checksums)
    kept = fetch(connection, _KEPT, sums=sums, takes=TAKES, kept=TAKES_S)
    named = fetch(connection, _USED, sums=sums)
    return {**{row.checksum: True for row in kept}, **{row.checksum: bool(row.shown) for row in named}}


def unmark(connection: Connection, used_: Mapping[str, bool]) -> None:
    """These are used after all; those that no plan wants are looked at again."""
    tell(connection, _UNMARK, sums=sorted((checksum, int(again)) for checksum, again in used_.items()))


def still_marked(connection: Connection, checksums: Collection[str]) -> set[str]:
    """Those that are marked now: what was let go of meanwhile is looked at anew, by another mark."""
    return {row.checksum for row in fetch(connection, _STILL, sums=sorted(checksums))}


def holders(connection: Connection, checksums: Collection[str]) -> Sequence[Any]:
    """READY parts of these artifacts: a scan of all parts, so not in a writing transaction."""
    return fetch(connection, _HOLDERS, sums=sorted(checksums))


def collected(connection: Connection, checksums: Collection[str], held: Sequence[Any]) -> None:
    """Bytes were deleted: their rows go, and unwanted parts that named them are missing (or go with their asset)."""
    forget(connection, [(row.asset, row.hash, row.artifact) for row in held if row.id is not None])
    orphans = [(row.asset, row.hash) for row in held if row.id is None]
    if orphans:
        tell(connection, _DROP_ORPHANS, keys=orphans)
    tell(connection, _DELETE, sums=sorted(checksums))


def bytes_missing(connection: Connection, registry: Registry, checksums: Collection[str], held: Sequence[Any]) -> int:
    """Bytes are positively absent: parts that named them are missing, READY assets that need them made again."""
    lock_assets(connection, [row.asset for row in held if row.id is not None])
    forget(connection, [(row.asset, row.hash, row.artifact) for row in held])
    tell(connection, _DELETE, sums=sorted(checksums))
    there = [row for row in held if row.id is not None]
    unfix_lost(connection, [row.asset for row in there])
    refresh_tally(connection, ((row.book_key, row.media, row.asset) for row in there))
    return _make_again(connection, registry, sorted({row.asset for row in there if row.wanted}), frozenset(checksums))


def _make_again(connection: Connection, registry: Registry, assets: list[int], gone: frozenset[str]) -> int:
    rows = fetch(connection, _READY_WITHOUT, assets=assets) if assets else ()
    concerned = [row for row in rows if not registry[row.media].merges or row.artifact in gone]
    why = str(Reason.ARTIFACT_MISSING)
    return len(
        reopen(connection, registry, (Reopening(row.id, State.READY, row.plan_seq, 0, why) for row in concerned))
    )
