"""Answers that come whole say the same as answers row by row."""

from __future__ import annotations

import math
from collections.abc import AsyncIterator
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sqlalchemy import Connection

from animastor.storage.database import InPlaceDatabase
from animastor.storage.rows import Statement, fetch, run
from animastor.storage.whole import Gathering, changed, gather

COLUMNS = {"id": int, "name": str, "work": float}
FILL = Statement(
    "fill", "Rows.", "INSERT INTO thing (id, name, work) SELECT r.id, r.name, r.work FROM {rows} AS r", rows=COLUMNS
)
ALL = Gathering("all", "Everything.", "SELECT t.id, t.name, t.work FROM thing t ORDER BY t.work, t.id")
RAISE = Statement(
    "raise_some",
    "Raises those that are of this name.",
    """
    UPDATE thing SET work = work + 1 FROM {ids} AS one WHERE thing.id = one.of AND thing.name = :name
    RETURNING thing.id
    """,
    ids={"of": int},
)


def prepare(connection: Connection, rows: list[tuple[int, str, float]]) -> None:
    connection.exec_driver_sql("CREATE TABLE thing (id INTEGER PRIMARY KEY, name TEXT, work DOUBLE)")
    if rows:
        run(connection, FILL, rows=rows).close()


@pytest.fixture
async def database() -> AsyncIterator[InPlaceDatabase]:
    made = InPlaceDatabase(lambda: 1.0)
    yield made
    await made.close()


@given(
    rows=st.lists(
        st.tuples(
            st.integers(0, 2**53),
            st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"])),
            st.floats(-1e18, 1e18).map(lambda number: number + 0.0),
        ),
        max_size=30,
        unique_by=lambda row: row[0],
    )
)
def test_gathered_rows_are_those_that_are_fetched_in_the_same_order(rows: list[tuple[int, str, float]]) -> None:
    database = InPlaceDatabase(lambda: 1.0)
    database.run(prepare, rows)
    gathered: Any = database.run(gather, ALL)
    assert gathered == database.run(fetch, ALL) == sorted(rows, key=lambda row: (row[2], row[0]))
    assert [row.name for row in gathered] == [row[1] for row in gathered]
    assert all(math.copysign(1, row.work) for row in gathered)


def _raise(connection: Connection, keys: list[int], name: str) -> set[int]:
    return set(changed(connection, RAISE, keys, ids=keys, name=name))


async def test_all_that_were_to_change_are_told_without_being_asked_for(database: InPlaceDatabase) -> None:
    database.run(prepare, [(1, "a", 0.0), (2, "a", 0.0), (3, "b", 0.0)])
    assert database.run(_raise, [1, 2], "a") == {1, 2}


async def test_where_some_did_not_change_the_transaction_is_run_again_and_only_those_are_told_that_did(
    database: InPlaceDatabase,
) -> None:
    database.run(prepare, [(1, "a", 0.0), (2, "a", 0.0), (3, "b", 0.0)])
    assert database.run(_raise, [1, 2, 3], "a") == {1, 2}
    assert [row.work for row in database.run(gather, ALL)] == [0.0, 1.0, 1.0]
    assert database.run(_raise, [1], "a") == {1}
