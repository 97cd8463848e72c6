"""What a request says of the assets that carry it: held while it is paused or they are beyond its window, and ranked.

The bits `paused` and `window` and the rank follow from the carrying request alone. Whoever lets an asset become PENDING
calls `hold` in the same transaction; whoever changes a request has it swept (`sweeping`).
"""

# ruff: noqa: S608 - fragments of this package are put together, nothing from outside

from __future__ import annotations

from collections.abc import Iterable

from sqlalchemy import Connection

from animastor.storage.coverage import HELD, HOLDS, RANK
from animastor.storage.rows import Statement, tell

_HOLD = Statement(
    "hold",
    "PENDING assets are held and ranked as the requests that they carry say.",
    f"""
    UPDATE asset SET waits = (asset.waits & ~{HOLDS}) | h.bits, rank = h.place
    FROM (
        SELECT asset.id, {HELD} AS bits, {RANK} AS place
        FROM {{assets}} AS one JOIN asset ON asset.id = one.asset AND asset.state = {{still_PENDING}}
        JOIN request r ON r.id = asset.request_id
    ) AS h
    WHERE asset.id = h.id AND ((asset.waits & {HOLDS}) <> h.bits OR asset.rank <> h.place)
    """,
    assets={"asset": int},
)


def hold(connection: Connection, assets: Iterable[int]) -> None:
    """Those of these that are PENDING may start only when their requests let them."""
    if wanted := sorted(set(assets)):
        tell(connection, _HOLD, assets=wanted)
