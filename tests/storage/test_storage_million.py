"""The walk through what is due at a million assets on PostgreSQL: few buffers for each row, however much is due."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any, Final

import pytest
from sqlalchemy import Connection, text

from animastor.storage import due
from animastor.storage.postgres import PostgresDatabase

ASSETS: Final = 1_000_000
BOOKS: Final = 1_000
BUFFERS: Final = 10  # for each returned row
FILL: Final = """
    INSERT INTO asset (id, book_key, chapter_key, scene_key, media, reading_order, state, planned_seq)
    SELECT i, 1 + (i - 1) / :per, 1 + (i - 1) / :per, i, 'picture', i % :per * 1048576,
           CASE WHEN i % :every = 0 THEN 1 ELSE 4 END, 1
    FROM generate_series(1, :assets) AS g (i)
"""

INDEXES: Final = """
    SELECT indexname AS name, indexdef AS made FROM pg_indexes WHERE tablename = 'asset' AND indexname <> 'asset_pkey'
"""


def _fill(connection: Connection, every: int) -> None:
    """Every so many-th asset is due, the others are READY. Indexes are made afterwards, which is quicker."""
    connection.execute(text("TRUNCATE asset"))
    connection.execute(text("ALTER TABLE asset SET UNLOGGED"))
    indexes = connection.execute(text(INDEXES)).all()
    for index in indexes:
        connection.execute(text(f"DROP INDEX {index.name}"))
    connection.execute(text(FILL), {"assets": ASSETS, "per": ASSETS // BOOKS, "every": every})
    for index in indexes:
        connection.execute(text(index.made))


def _explained(connection: Connection, *, after: int, each: int, generic: bool) -> dict[str, Any]:
    mode = "force_generic_plan" if generic else "force_custom_plan"
    connection.execute(text(f"SET LOCAL plan_cache_mode = {mode}"))
    sql = f"EXPLAIN (ANALYZE, BUFFERS, FORMAT JSON) {due.DUE_WALK.text_for('postgresql')}"
    given = {"media": "picture", "lane": "system", "after": after, "until": due._LAST_KEY, "each": each, "limit": 200}
    plan: dict[str, Any] = connection.execute(text(sql), given).scalar_one()[0]["Plan"]
    return plan


@pytest.fixture
async def database(postgres_url: str) -> AsyncIterator[PostgresDatabase]:
    made = PostgresDatabase(postgres_url)
    yield made
    await made.write(lambda held: held.execute(text("TRUNCATE asset")) and None)
    await made.write(lambda held: held.execute(text("ALTER TABLE asset SET LOGGED")) and None)
    await made.close()


@pytest.mark.slow
@pytest.mark.parametrize(("every", "state"), [(1, "everything due"), (ASSETS // 200, "200 due")])
async def test_the_walk_touches_ten_buffers_for_each_row_at_a_million_assets(
    database: PostgresDatabase, every: int, state: str
) -> None:
    await database.write(_fill, every)
    async with database._engine.connect() as connection:
        await connection.execution_options(isolation_level="AUTOCOMMIT")
        await connection.execute(text("VACUUM ANALYZE asset"))  # as it is most of the time: autovacuum sees to it
    for generic in (False, True):
        for after, each in ((0, 1), (0, 200), (BOOKS // 2, 1)):
            plan = await database.write(_explained, after=after, each=each, generic=generic)
            touched = plan["Shared Hit Blocks"] + plan["Shared Read Blocks"]
            rows = plan["Actual Rows"]
            assert rows == (200 if every == 1 or not after else 100)
            assert touched <= BUFFERS * rows, (
                f"{touched} buffers for {rows} rows with {state}, {generic=} {after=} {each=}"
            )
