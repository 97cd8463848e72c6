"""The walk through what is due: fair among books, in reading order, and as cheap as what it returns."""

from __future__ import annotations

import pytest
from sqlalchemy import Connection, text
from world import REGISTRY, Driver, Time, book, chapter, migrated, scene, unit

from animastor.protocol import Pair
from animastor.storage import active, artifacts, due, ends, progress, reuse, sweeping, waits
from animastor.storage.database import Database
from animastor.storage.rows import Statement
from animastor.storage.sql import SqlStorage

PAIR = Pair("picture", "system")


async def _books(driver: Driver, *sizes: int) -> list[int]:
    keys = []
    for nth, size in enumerate(sizes):
        scenes = [scene(f"s{n}", unit(f"b{nth}-{n}")) for n in range(size)]
        keys.append(await driver.save(book(chapter("1", *scenes), name=f"b{nth}")))
        await driver.request(keys[-1], media=("picture",))
    return keys  # type: ignore[return-value]


async def test_a_walk_takes_so_many_of_each_book_and_begins_behind_the_one_served_last(
    driver: Driver, storage: SqlStorage
) -> None:
    one, two, three = await _books(driver, 5, 1, 5)
    walk = await storage.due(PAIR, 5, 2, 0)
    assert [(row.book_key, row.scene_id) for row in walk.rows] == [
        (one, "s0"), (two, "s0"), (three, "s0"), (one, "s1"), (three, "s1"),
    ]  # fmt: skip
    assert walk.last_book == three
    assert [row.book_key for row in (await storage.due(PAIR, 3, 1, one)).rows] == [two, three, one]
    assert [row.book_key for row in (await storage.due(PAIR, 1, 1, three)).rows] == [one]
    assert [row.book_key for row in (await storage.due(PAIR, 100, 1, two)).rows] == [three, one, two]


async def test_what_is_in_hand_already_is_left_out_of_a_walk(driver: Driver, storage: SqlStorage) -> None:
    one, two = await _books(driver, 4, 2)
    first = await storage.due(PAIR, 2, 1, 0)
    hands = {row.asset for row in first.rows}
    walk = await storage.due(PAIR, 2, 2, first.last_book, hands)
    assert [(row.book_key, row.scene_id) for row in walk.rows] == [(one, "s1"), (two, "s1")]
    everything = await storage.due(PAIR, 10, 10, 0, hands)
    assert sorted(row.asset for row in everything.rows) == sorted(
        row.asset for row in (await storage.due(PAIR, 10, 10, 0)).rows if row.asset not in hands
    )


async def test_a_walk_through_nothing_is_empty_and_keeps_its_place(driver: Driver, storage: SqlStorage) -> None:
    await _books(driver, 1)
    walk = await storage.due(Pair("clip", "system"), 10, 10, 7)
    assert (list(walk.rows), walk.last_book) == ([], 7)


async def test_reading_order_is_kept_within_a_book(driver: Driver, storage: SqlStorage) -> None:
    key = await driver.save(book(chapter("1", scene("b"), scene("d"))))
    await driver.save(book(chapter("1", scene("a"), scene("b"), scene("c"), scene("d"))))
    await driver.save(book(chapter("1", scene("d"), scene("a"), scene("b"), scene("c"))))
    await driver.request(key, media=("picture",))
    walk = await storage.due(PAIR, 10, 10, 0)
    assert [row.scene_id for row in walk.rows] == ["d", "a", "b", "c"]


async def test_a_row_has_everything_that_its_plan_reads(driver: Driver, storage: SqlStorage) -> None:
    key = await driver.save(book(chapter("ch", scene("s", unit("u", "words", "a wish")))))
    await driver.request(key)
    for media in ("picture", "sound"):
        (work,) = await driver.start(media)
        await driver.finish(work)
    ((row,), _) = await driver.plan_due("clip")
    assert (row.book_key, row.chapter_id, row.scene_id, row.media, row.lane) == (key, "ch", "s", "clip", "system")
    assert row.scene["units"][0]["text"] == "words"
    assert {name: one.status for name, one in row.dependencies.items()} == {"picture": "ready", "sound": "ready"}
    assert row.dependencies["sound"].facts["duration"] == 1.0
    assert row.previous == ()
    ((again,),) = [await storage.plan_rows([row.asset])]
    assert [part.kind for part in again.previous] == ["shot"]
    assert again.previous[0].unit_ids == ("u",)


async def test_what_depends_on_something_unplanned_is_planned_after_it(driver: Driver, storage: SqlStorage) -> None:
    key = await driver.save(book())
    await driver.request(key)
    await driver.run()
    await driver.save(book(style="other"))
    first = await storage.unplanned(100)
    assert {row.media for row in first} == {"picture", "sound"}
    assert [row.scene_id for row in await storage.unplanned(2)] == ["sc-0", "sc-0"]
    await storage.store_plans(await driver.plans(first))
    assert {row.media for row in await storage.unplanned(100)} == {"clip"}


def _many(connection: Connection, count: int, books: int) -> None:
    connection.execute(
        text(
            "INSERT INTO asset (id, book_key, scene_key, media, reading_order, state, plan_seq)"
            " WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < :count)"
            " SELECT i, 1 + i % :books, i, 'picture', i, CASE WHEN i % 3 = 0 THEN 4 ELSE 1 END, 1 FROM n"
        ),
        {"count": count, "books": books},
    )


def _plan(connection: Connection, statement: Statement, given: dict[str, object]) -> str:
    sql = statement.text_for(connection.dialect.name)
    if connection.dialect.name == "sqlite":
        return "\n".join(row[3] for row in connection.execute(text(f"EXPLAIN QUERY PLAN {sql}"), given))
    connection.execute(text("ANALYZE asset"))
    return "\n".join(row[0] for row in connection.execute(text(f"EXPLAIN {sql}"), given))


DUE = {"media": "picture", "lane": "system", "after": 0, "until": 2**62, "each": 2, "limit": 200, "weights": "[]"}


@pytest.mark.parametrize(
    ("statement", "given", "index"),
    [
        (due.DUE_WALK, DUE, "asset_due"),
        (due.UNPLANNED_WALK, {"after": 0, "each": 10, "limit": 100}, "asset_unplanned"),
    ],
)
@pytest.mark.parametrize("database", ["in_place", "postgresql"], indirect=True)
async def test_the_walks_go_through_their_index_and_never_scan_the_table(
    database: Database, storage: SqlStorage, statement: Statement, given: dict[str, object], index: str
) -> None:
    await database.write(_many, 20_000, 50)
    plan = await database.write(_plan, statement, given)
    assert index in plan
    assert "SCAN n" not in plan
    assert "SCAN a" not in plan
    assert "Seq Scan on asset" not in plan


def test_the_walk_compares_all_columns_of_its_order_on_sqlite() -> None:
    database = migrated(Time())
    assert "(rank,reading_order)>(?,?)" in database.run(_plan, due.DUE_WALK, DUE)


def test_the_walk_costs_as_much_as_it_returns_however_much_is_due() -> None:
    """Counted in steps of SQLite's machine, so that a busy computer does not matter."""
    database = migrated(Time())
    steps = {}
    for books, count in ((20, 2_000), (200, 40_000)):
        database.run(lambda held: held.execute(text("DELETE FROM asset")) and None)
        database.run(_many, count, books)
        raw = database._connection.connection.driver_connection
        counted = [0]
        raw.set_progress_handler(lambda counted=counted: counted.__setitem__(0, counted[0] + 1), 10)  # type: ignore[union-attr]
        picks = database.run(due.walk, PAIR, 20, 1, 0)
        raw.set_progress_handler(None, 0)  # type: ignore[union-attr]
        assert len(picks) == 20
        steps[count] = counted[0]
    assert steps[40_000] <= 1.5 * steps[2_000]
    assert REGISTRY.names


PARTIAL = [
    (waits._NEXT, {}, "asset_later"),
    (waits._DUE_LATER, {"limit": 10, "now": 1.0}, "asset_later"),
    (waits._FOR_WORKERS, {"profiles": '["x"]', "after": 0, "limit": 10}, "asset_no_worker"),
    (active._ACTIVE, {"after": 0, "limit": 10}, "asset_active"),
    (ends._UNRELEASED, {"limit": 10}, "dispatch_unreleased"),
    (sweeping._LOOK, {"book": 1, "media": "", "after": 0, "limit": 10}, "asset_busy"),
    (due._WEIGHTED, {}, "request_weighted"),
    (sweeping._TO_SWEEP, {}, "request_sweeping"),
    (progress._COUNT_BUSY, {"book": 1}, "asset_busy"),
    (progress._COUNT_IDLE, {"book": 1}, "asset_idle"),
    (progress._COUNT_GENERATING, {"book": 1}, "asset_active"),
    (progress._CANDIDATES, {}, "asset_busy"),
    (progress._CANDIDATES, {}, "asset_unplanned"),
    (artifacts._MARK, {"kept": 1.0, "limit": 10, "now": 1.0}, "artifact_unused"),
    (reuse._FIND, {"wanted": "[]"}, "part_reuse"),
]


@pytest.mark.parametrize(("statement", "given", "index"), PARTIAL)
def test_what_is_rare_is_found_by_its_own_index(statement: Statement, given: dict[str, object], index: str) -> None:
    database = migrated(Time())
    plan = database.run(_plan, statement, given)
    assert index in plan, plan
    assert "SCAN asset\n" not in plan, plan
