"""Parts that need not be made because the same hash is READY elsewhere in the workspace: the row is copied."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from sqlalchemy import Connection

from animastor.storage.rows import Statement, fetch, tell

_FIND = Statement(
    "find_reusable",
    "READY parts of other assets (also of scenes that left) with these hashes, their bytes not being collected: one of"
    " each, its artifact and its facts in one word, as two parts of a hash may have different bytes.",
    """
    SELECT one.asset, one.hash, min(q.artifact || ' ' || q.facts) AS found
    FROM {wanted} AS one
    JOIN part q ON substr(q.hash, 1, 12) = substr(one.hash, 1, 12) AND q.hash = one.hash AND q.state = {PART_READY}
    JOIN artifact f ON f.checksum = q.artifact
    WHERE q.workspace = one.workspace AND q.asset <> one.asset AND f.collecting = 0
    GROUP BY one.asset, one.hash
    """,
    wanted={"asset": int, "hash": str, "workspace": str},
)
_COPY = Statement(
    "copy_reusable",
    "Takes over artifact and facts.",
    """
    UPDATE part SET state = {PART_READY}, artifact = r.sum, facts = r.known, attempts = 0, infra_attempts = 0,
        vanished = 0, corrupt = 0, not_before = 0
    FROM {found} AS r
    WHERE part.asset = r.of_asset AND part.hash = r.of_hash AND part.state <> {PART_READY}
    RETURNING part.asset, part.hash
    """,
    found={"of_asset": int, "of_hash": str, "sum": str, "known": str},
)
_UNUSED = Statement(
    "artifacts_unused",
    "Those of some checksums that are being collected, or may be soon.",
    """
    SELECT f.checksum, f.collecting FROM {sums} AS one JOIN artifact f ON f.checksum = one.checksum
    WHERE f.collecting <> 0 OR f.unused_since IS NOT NULL ORDER BY f.checksum
    """,
    sums={"checksum": str},
)
_USE = Statement(
    "use_artifacts",
    "Taken into use again, unless being collected.",
    """
    UPDATE artifact SET unused_since = NULL FROM {sums} AS one
    WHERE artifact.checksum = one.sum AND artifact.collecting = 0 RETURNING artifact.checksum
    """,
    sums={"sum": str},
)
_GONE = Statement(
    "parts_gone",
    "The bytes of these parts are being deleted: they have to be made again.",
    """
    UPDATE part SET state = {PART_MISSING} FROM {keys} AS k
    WHERE part.asset = k.of_asset AND part.hash = k.of_hash AND part.artifact = k.sum
    """,
    keys={"of_asset": int, "of_hash": str, "sum": str},
)
_LET_GO = Statement(
    "let_go",
    "Perhaps unused from now on; collecting looks closer. What is marked stays marked, to be looked at anew: whoever"
    " marked it may have seen it in use, or be deleting its bytes.",
    """
    UPDATE artifact SET unused_since = {now}, collecting = CASE WHEN artifact.collecting = 0 THEN 0 ELSE 2 END
    FROM {sums} AS one
    WHERE artifact.checksum = one.sum AND (artifact.unused_since IS NULL OR artifact.collecting = 1)
    """,
    sums={"sum": str},
)

Key = tuple[int, str]  # asset, hash
Found = tuple[int, str, str, str]  # asset, hash, artifact, facts


def find(connection: Connection, wanted: Sequence[tuple[int, str, str]]) -> Sequence[Found]:
    """What is READY elsewhere for these missing parts (asset, hash, workspace), and cannot be collected any more."""
    rows = fetch(connection, _FIND, wanted=wanted) if wanted else ()
    held: list[Found] = [(row.asset, row.hash, *row.found.split(" ", 1)) for row in rows]
    gone = use(connection, {artifact for _, _, artifact, _ in held})
    return [one for one in held if one[2] not in gone]


def take_over(connection: Connection, found: Sequence[Found]) -> dict[Key, str]:
    """Copy what was found into the rows of the parts, which must be there; the checksums by key."""
    copied = {(row.asset, row.hash) for row in fetch(connection, _COPY, found=found)} if found else set()
    return {(asset, hash_): sum_ for asset, hash_, sum_, _ in found if (asset, hash_) in copied}


def use(connection: Connection, checksums: Iterable[str]) -> set[str]:
    """Take kept artifacts into use again; gives those that cannot be, because they are being collected."""
    wanted = sorted(set(checksums))
    rows = fetch(connection, _UNUSED, sums=wanted) if wanted else ()
    idle = [row.checksum for row in rows if not row.collecting]
    used = {row.checksum for row in fetch(connection, _USE, sums=idle)} if idle else set()
    return {row.checksum for row in rows} - used


def forget(connection: Connection, keys: Iterable[tuple[int, str, str]]) -> None:
    """The bytes (asset, hash, checksum) are gone or going: the parts are missing."""
    if wanted := sorted(keys):
        tell(connection, _GONE, keys=wanted)


def let_go(connection: Connection, checksums: Iterable[str]) -> None:
    """These may be unused from now on."""
    if wanted := sorted({one for one in checksums if one}):
        tell(connection, _LET_GO, sums=wanted)
