"""Old journal rows go, and one SNAPSHOT row of each asset is left to say where it stood (CONTRACT 16).

A rotating pass over row ids, a bounded span at a time. The newest old row that tells of a transition becomes the
SNAPSHOT in its own place, so replaying what is left still tells the states of the tables. With the rows of an asset
that is gone go, at last, its released dispatches.
"""

# ruff: noqa: S608 - fragments of this package are put together, nothing from outside

from __future__ import annotations

from typing import Final

from sqlalchemy import Connection

from animastor.engine.reasons import JournalType
from animastor.engine.replaying import MOVES
from animastor.storage.rows import Statement, fetch, scalar, tell

KEPT_S: Final = 30 * 86_400.0
SPAN: Final = 2000  # rows of one look
DISPATCH_SPAN: Final = 5000  # asset ids of one look

_MOVES: Final = ", ".join(f"'{one.value}'" for one in sorted(MOVES))
_UNTIL: Final = Statement(
    "prune_until",
    "The last row of the next span, when its rows are old.",
    """
    SELECT max(o.id) AS until, count(*) AS rows FROM (
        SELECT j.id, j.at FROM journal j WHERE j.id > :after ORDER BY j.id LIMIT :span
    ) AS o WHERE o.at < {now} - :kept
    """,
)
_KEEP = Statement(
    "prune_keep",
    "The row of each asset in a span of old rows that tells where it stood.",
    f"""
    SELECT j.asset, max(j.id) AS row FROM journal j JOIN asset a ON a.id = j.asset
    WHERE j.id > :after AND j.id <= :until AND j.at < {{now}} - :kept AND j.observed = 0 AND j.state IS NOT NULL
      AND j.type IN ({_MOVES})
    GROUP BY j.asset ORDER BY j.asset
    """,
)
_SNAPSHOT = Statement(
    "prune_snapshot",
    "These rows are all that is left of what went before them.",
    f"""
    UPDATE journal SET type = '{JournalType.SNAPSHOT.value}', details = ''
    FROM {{kept}} AS k WHERE journal.id = k.row AND journal.type <> '{JournalType.SNAPSHOT.value}'
    """,
    kept={"of_asset": int, "row": int},
)
_OLDER = Statement(
    "prune_older",
    "Earlier snapshots of the same assets.",
    """
    DELETE FROM journal WHERE id IN (
        SELECT j.id FROM {kept} AS k JOIN journal j ON j.asset = k.of_asset AND j.id < k.row
    )
    """,
    kept={"of_asset": int, "row": int},
)
_DROP = Statement(
    "prune_drop",
    "Everything else that is old in a span; of assets that are gone, all of it.",
    f"""
    DELETE FROM journal WHERE id > :after AND id <= :until AND at < {{now}} - :kept
      AND (type <> '{JournalType.SNAPSHOT.value}' OR NOT EXISTS (SELECT 1 FROM asset a WHERE a.id = journal.asset))
    RETURNING id
    """,
)
_DROP_DISPATCHES = Statement(
    "prune_dispatches",
    "Released dispatches of assets that are gone and of which the journal tells nothing any more.",
    """
    DELETE FROM dispatch WHERE asset > :after AND asset <= :until AND released_at IS NOT NULL
      AND NOT EXISTS (SELECT 1 FROM asset a WHERE a.id = dispatch.asset)
      AND NOT EXISTS (SELECT 1 FROM journal j WHERE j.asset = dispatch.asset)
    RETURNING asset
    """,
)
_LAST_DISPATCH = Statement("last_dispatch", "The highest id of an asset that was dispatched.",
    "SELECT max(d.asset) FROM dispatch d")  # fmt: skip


def prune(connection: Connection, after: int, kept_s: float = KEPT_S) -> tuple[int, int | None]:
    """Prune the next span behind a row id: how many rows went, and the id to go on behind (None: begin anew)."""
    (span,) = fetch(connection, _UNTIL, after=after, span=SPAN, kept=kept_s)
    if not span.rows:
        return 0, None
    about = {"after": after, "until": span.until, "kept": kept_s}
    kept = [tuple(row) for row in fetch(connection, _KEEP, **about)]
    if kept:
        tell(connection, _SNAPSHOT, kept=kept)
        tell(connection, _OLDER, kept=kept)
    gone = len(fetch(connection, _DROP, **about))
    return gone, span.until if span.rows == SPAN else None


def prune_dispatches(connection: Connection, after: int) -> tuple[int, int | None]:
    """The same for dispatches behind an asset's id."""
    until = after + DISPATCH_SPAN
    gone = len(fetch(connection, _DROP_DISPATCHES, after=after, until=until))
    return gone, until if until < (scalar(connection, _LAST_DISPATCH) or 0) else None
