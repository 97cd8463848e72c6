"""Wait bits that nothing would ever clear: looked for in a slow rotating pass, and mended (CONTRACT 11, wait_drift).

Bits are pushed by the transaction that changes their cause, so there is nothing to find; were one ever left behind,
its asset would wait for ever. What is found is planned again, which sets the bits anew where they are right.
"""

# ruff: noqa: S608 - fragments of this package are put together, nothing from outside

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from sqlalchemy import Connection

from animastor.engine.states import Wait
from animastor.media.registry import Registry
from animastor.storage.coverage import HELD, HOLDS
from animastor.storage.holding import hold
from animastor.storage.locking import lock_assets
from animastor.storage.rows import Statement, fetch, scalar

SPAN: Final = 5000  # ids of one look: its cost is bounded, whatever there is

_NEEDS: Final = {"media": str, "need": str, "bit": int}
_DRIFTED: Final = """
    asset.state = {PENDING} AND (
        ((asset.waits & {WAIT_BACKOFF}) <> 0 AND asset.due_at IS NULL)
        OR ((asset.waits & ({WAIT_REQUIRES} | {WAIT_FOLLOWS})) <> 0 AND NOT EXISTS (
            SELECT 1 FROM request r WHERE r.id = asset.request_id AND r.sweeping > 0
        ) AND NOT EXISTS (
            SELECT 1 FROM {needs} AS n JOIN asset o ON o.scene_key = asset.scene_key AND o.media = n.need
            WHERE n.media = asset.media AND (asset.waits & n.bit) <> 0
              AND (o.state IN ({PENDING}, {GENERATING}) OR (o.state = {READY} AND o.planned_seq < o.plan_seq))
        ))
    )
"""
_MISHELD: Final = f"""
    asset.state = {{PENDING}} AND (asset.waits & {HOLDS}) <> (
        SELECT {HELD} FROM request r WHERE r.id = asset.request_id AND r.sweeping <= 0
    )
"""
_LOOK_HELD = Statement(
    "misheld",
    "PENDING assets that are held otherwise than the request says that they carry, and nobody is about to look.",
    f"SELECT asset.id FROM asset WHERE asset.id > :after AND asset.id <= :until AND {_MISHELD} ORDER BY asset.id",
)
_MISHELD_OF = Statement(
    "misheld_of",
    "Those of some assets.",
    f"SELECT asset.id FROM {{assets}} AS one JOIN asset ON asset.id = one.asset WHERE {_MISHELD}",
    assets={"asset": int},
)
_LOOK = Statement(
    "drifted_waits",
    "PENDING assets that wait for what is not on its way, or for a time that is not set, and nobody is about to look.",
    f"SELECT asset.id FROM asset WHERE asset.id > :after AND asset.id <= :until AND {_DRIFTED} ORDER BY asset.id",
    needs=_NEEDS,
)
_MEND = Statement(
    "mend_waits",
    "They wait no more, and are planned again.",
    f"""
    UPDATE asset SET plan_seq = plan_seq + 1,
        waits = waits & ~({{WAIT_REQUIRES}} | {{WAIT_FOLLOWS}} | {{WAIT_BACKOFF}}), due_at = NULL
    FROM {{assets}} AS one WHERE asset.id = one.asset AND {_DRIFTED} RETURNING asset.id
    """,
    assets={"asset": int},
    needs=_NEEDS,
)
_LAST = Statement("last_asset", "The highest id of an asset.", "SELECT max(a.id) FROM asset a")


def look(connection: Connection, registry: Registry, after: int) -> tuple[int | None, Sequence[int]]:
    """Where to go on behind (None: all were seen), and what is wrong among the next `SPAN` ids."""
    until = after + SPAN
    waiting = fetch(connection, _LOOK, needs=_needs(registry), after=after, until=until)
    held = fetch(connection, _LOOK_HELD, after=after, until=until)
    wrong = sorted({row.id for row in (*waiting, *held)})
    return until if until < (scalar(connection, _LAST) or 0) else None, wrong


def mend(connection: Connection, registry: Registry, assets: Sequence[int]) -> int:
    """Mend those that are still wrong; how many."""
    lock_assets(connection, assets)
    mended = {row.id for row in fetch(connection, _MEND, needs=_needs(registry), assets=sorted(assets))}
    misheld = {row.id for row in fetch(connection, _MISHELD_OF, assets=sorted(assets))}
    hold(connection, misheld)
    return len(mended | misheld)


def _needs(registry: Registry) -> list[tuple[str, str, int]]:
    return [
        *((media.name, need, int(Wait.REQUIRES)) for media in registry for need in media.requires),
        *((media.name, need, int(Wait.FOLLOWS)) for media in registry for need in media.follows),
    ]
