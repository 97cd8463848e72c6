"""Edits that move, add and remove scenes and chapters: who stays keeps its assets, and the order is the book's."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from itertools import count

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sqlalchemy import Connection, text
from world import REGISTRY, Driver, Time, book, chapter, scene

from animastor.engine.ports import Scope
from animastor.storage.database import InPlaceDatabase
from animastor.storage.sql import SqlStorage, open_storage

Chapters = list[tuple[str, list[str]]]
_NUMBERS = count(1)


@st.composite
def books(draw: st.DrawFn) -> Chapters:
    """Some chapters with some of a few scenes in any order."""
    names = draw(st.permutations([f"s{n}" for n in range(8)]))
    kept = names[: draw(st.integers(1, 8))]
    order = draw(st.permutations(("c0", "c1", "c2")))[: draw(st.integers(1, 3))]
    cuts = sorted(draw(st.integers(0, len(kept))) for _ in order[1:])
    bounds = [0, *cuts, len(kept)]
    return [(name, list(kept[bounds[n] : bounds[n + 1]])) for n, name in enumerate(order)]


def _assets(connection: Connection, book_key: int) -> dict[tuple[str, str], tuple[int, bool]]:
    """Asset ids by scene and media type, and whether each stands where its scene does."""
    sql = text(
        "SELECT s.scene_id, a.media, a.id, a.reading_order = s.position AND a.chapter_key = s.chapter_key AS right"
        " FROM asset a JOIN scene s ON s.scene_key = a.scene_key WHERE a.book_key = :book"
    )
    return {(row.scene_id, row.media): (row.id, bool(row.right)) for row in connection.execute(sql, {"book": book_key})}


@pytest.fixture(scope="module")
def database() -> Iterator[InPlaceDatabase]:
    """One database for all examples, with a book for each."""
    made = InPlaceDatabase(Time())
    asyncio.run(open_storage(made, REGISTRY, create=True))
    yield made
    asyncio.run(made.close())


async def _save(database: InPlaceDatabase, name: str, edit: Chapters) -> dict[tuple[str, str], int]:
    """Save a version of a book; the ids of its assets, all of which stand where their scenes do."""
    driver = Driver(SqlStorage(database, REGISTRY), Time())
    key = await driver.save(book(*(chapter(one, *map(scene, scenes)) for one, scenes in edit), name=name))
    rows = await driver.storage.export_rows(key, Scope())
    assert [(row.chapter_id, row.scene_id) for row in rows] == [(one, s) for one, scenes in edit for s in scenes]
    found = await database.read(_assets, key)
    assert all(right for _, right in found.values())
    return {name: asset for name, (asset, _) in found.items()}


@settings(max_examples=60, deadline=None)
@given(edits=st.lists(books(), min_size=2, max_size=5))
def test_whatever_is_moved_keeps_its_assets_and_the_order_is_that_of_the_book(
    database: InPlaceDatabase, edits: list[Chapters]
) -> None:
    async def main() -> None:
        name, before = f"tale-{next(_NUMBERS)}", dict[tuple[str, str], int]()
        for edit in edits:
            after = await _save(database, name, edit)
            stayed = before.keys() & after.keys()
            assert {one: after[one] for one in stayed} == {one: before[one] for one in stayed}
            before = after

    asyncio.run(main())


def test_many_insertions_at_one_place_keep_order_and_assets(database: InPlaceDatabase) -> None:
    async def main() -> None:
        names = ["first", "last"]
        first = last = await _save(database, "long", [("c", names)])
        for n in range(60):  # a gap of 2^20 is used up three times
            names.insert(1, f"n{n}")
            last = await _save(database, "long", [("c", names)])
        assert {name: last[name] for name in first} == first

    asyncio.run(main())
