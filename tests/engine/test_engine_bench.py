"""The engine's bench lives the life that it claims to measure: the rows that it leaves are those of the real thing."""

from __future__ import annotations

import sqlite3
from collections import Counter
from contextlib import closing
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType

import pytest

from animastor.app import driving, reading
from animastor.config import Settings
from animastor.engine.ports import NewRequest, Scope
from animastor.media.types import ContentSettings
from animastor.stores import DATABASE

SCENES = 60
ROOT = Path(__file__).parents[2]
Life = tuple[tuple[str, int | None, str, int], ...]  # (type, state, reason, observed) of each row, in order


@pytest.fixture(scope="module")
def bench() -> ModuleType:
    """bench/engine.py."""
    spec = spec_from_file_location("engine_bench", ROOT / "bench" / "engine.py")
    assert spec is not None
    assert spec.loader is not None
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def lives(home: Path) -> Counter[Life]:
    """What the journal tells of each asset, and of how many assets it tells that."""
    with closing(sqlite3.connect(f"file:{home / DATABASE}?mode=ro", uri=True)) as database:
        rows: dict[int, list[tuple[str, int | None, str, int]]] = {}
        for asset, *row in database.execute(
            "SELECT asset, type, state, reason, observed FROM journal WHERE asset IS NOT NULL ORDER BY id"
        ):
            rows.setdefault(asset, []).append(tuple(row))
    return Counter(tuple(row) for row in rows.values())


def ended_dispatches(home: Path) -> Counter[tuple[str, bool]]:
    """The outcomes of dispatches, and whether their tickets, leases and slots were given back."""
    with closing(sqlite3.connect(f"file:{home / DATABASE}?mode=ro", uri=True)) as database:
        return Counter(database.execute("SELECT outcome, fence FROM dispatch"))


async def really_made(bench: ModuleType, home: Path, scenes: int) -> None:
    """The same book's pictures, made by `make`'s own composition: children paint, and look at what was painted."""
    settings = Settings(home=home, jobs=1, disk_low_bytes=0, disk_low_fraction=0.0)
    async with reading(settings, writable=True) as opened, driving(opened, print) as drive:
        saved = await opened.storage.save_book(
            bench.book_of(scenes),
            settings=ContentSettings(width=64, height=36),
            source="bench",
            source_key="bench",
            source_sha256="bench",
        )
        asked = await drive.engine.requests.open(NewRequest(saved.book_key, Scope(), ("image",), "bench"))
        async for event in drive.engine.requests.events(asked.request.request_id):
            last = event
        assert last.progress.media[0].ready == scenes


async def test_each_asset_of_the_bench_leaves_the_journal_rows_of_a_real_one(bench: ModuleType, tmp_path: Path) -> None:
    (tmp_path / "quick").mkdir()
    measured = await bench.life(tmp_path / "quick", SCENES)
    assert measured["per_s"] > 0
    await really_made(bench, tmp_path / "real", 2)
    quick, real = lives(tmp_path / "quick" / "home"), lives(tmp_path / "real")
    assert sum(quick.values()) == SCENES
    assert sum(real.values()) == 2
    assert set(quick) == set(real)
    assert len(real) == 1
    assert set(ended_dispatches(tmp_path / "quick" / "home")) == set(ended_dispatches(tmp_path / "real"))


async def test_the_floor_writes_the_rows_that_a_life_leaves(bench: ModuleType, tmp_path: Path) -> None:
    await bench.life(tmp_path, SCENES)
    assert bench.floor(tmp_path, tmp_path / "home")["per_s"] > 0
    there, floor = (_rows(path) for path in (tmp_path / "home" / DATABASE, tmp_path / "floor.db"))
    assert there == floor


def _rows(path: Path) -> dict[str, list[tuple[object, ...]]]:
    """Every row of the tables that lives are written to; of the journal those that belong to assets."""
    with closing(sqlite3.connect(path)) as database:
        tables = ("asset", "part", "dispatch", "tally", "asset_facts", "artifact")
        found = {table: sorted(database.execute(f"SELECT * FROM {table}"), key=repr) for table in tables}
        journal = database.execute("SELECT asset, type, state, reason, dispatch_id, details FROM journal")
        found["journal"] = sorted((row for row in journal if row[0] is not None), key=repr)
    return found
