"""The floor of the lifecycle bench writes what lives leave: as many rows of each table, the same columns filled."""

from __future__ import annotations

import sys
import time
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import Connection, text

from animastor.clock import SystemClock
from animastor.coordination import MemoryCoordination
from animastor.protocol import Worker
from animastor.storage.database import InPlaceDatabase
from animastor.storage.sql import open_storage

TABLES = {
    "asset": "id",
    "part": "asset",
    "tally": "asset",
    "dispatch": "asset",
    "asset_facts": "asset",
    "journal": "asset",
}
Left = Counter[tuple[str, tuple[str, ...]]]


@pytest.fixture
def lifecycle(monkeypatch: pytest.MonkeyPatch) -> Any:
    """bench/lifecycle.py."""
    monkeypatch.syspath_prepend(str(Path(__file__).parents[2] / "bench"))
    module = pytest.importorskip("lifecycle")
    for name in ("lifecycle", "lifecycle_floor", "filled", "servers"):
        monkeypatch.delitem(sys.modules, name)
    return module


def _left(connection: Connection, lane: str) -> Left:
    """The rows of a lane's assets: of each table, which columns say something."""
    found: Left = Counter()
    for table, key in TABLES.items():
        of_lane = f"SELECT * FROM {table} WHERE {key} IN (SELECT id FROM asset WHERE lane = :lane)"
        for row in connection.execute(text(of_lane), {"lane": lane}).mappings():
            found[
                table,
                tuple(
                    column for column, value in row.items() if value not in (None, "", 0) and column != "reading_order"
                ),
            ] += 1
    return found


async def test_floor_of_lives_leaves_the_same_rows_with_the_same_columns(lifecycle: Any) -> None:
    database = InPlaceDatabase(time.time)
    storage = await open_storage(database, lifecycle.Registry([lifecycle.PICTURE]), create=True)
    coordination = MemoryCoordination(SystemClock(), lifecycle.LIMITS)
    stores = lifecycle.Stores("here", database, storage, coordination)
    database.run(lifecycle.fill, 800, 400, 2)
    await coordination.set_era(1)
    worker = Worker("bench", "1", {"storyboard": 1_000}, ("lane-0",))
    await coordination.register(worker)
    await lifecycle.lives(stores, [worker], 1)
    await lifecycle.floor(stores, [[1 + 4 * number + 2 for number in range(200)]])
    lived, floor = (database.run(_left, lane) for lane in ("lane-0", "lane-1"))
    assert lived == floor
    assert {table: sum(n for (name, _), n in lived.items() if name == table) for table in TABLES} == {
        **dict.fromkeys(TABLES, 200),
        "journal": 600,
    }
    await storage.close()
