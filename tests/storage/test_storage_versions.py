"""Opening and migrating: another schema is refused with what to do; a home is copied before it changes."""

from __future__ import annotations

import sqlite3
import time as wall
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import Connection, text
from sqlalchemy.exc import DBAPIError
from world import REGISTRY, Driver, Time, book, large_book

from animastor.engine.ports import JournalRow, StorageFullError, StorageUnavailableError
from animastor.engine.reasons import JournalType
from animastor.storage import versions
from animastor.storage.database import Database, SqliteDatabase
from animastor.storage.failures import Fate, fate_of
from animastor.storage.rows import Statement, encode, fetch
from animastor.storage.sql import SqlStorage, open_home, open_storage


class Clock:
    """A clock as the composition root gives it."""

    def now(self) -> float:
        return 5.0

    async def sleep(self, seconds: float) -> None:
        raise AssertionError("nothing sleeps here")


def _set(name: str, value: int) -> Any:
    def write(connection: Connection) -> None:
        connection.execute(text(f"UPDATE meta SET value = {value} WHERE name = '{name}'"))

    return write


async def _home(path: Path, *changes: Any) -> None:
    storage = await open_home(path, REGISTRY, Clock(), writable=True)
    for change in changes:
        await storage._db.write(change)
    await storage.close()


async def test_a_new_home_is_made_quickly_by_the_same_migrations(tmp_path: Path) -> None:
    await _home(tmp_path / "warm" / "up.db")
    start = wall.process_time()
    await _home(tmp_path / "home" / "animastor.db")
    assert wall.process_time() - start < 0.3
    storage = await open_home(tmp_path / "home" / "animastor.db", REGISTRY, Clock(), writable=False)
    assert await storage._db.read(versions.numbers) is not None
    with pytest.raises(StorageUnavailableError, match="for reading only"):
        await storage.raise_era()
    await storage.close()


async def test_looking_at_a_home_that_is_not_there_makes_nothing(tmp_path: Path) -> None:
    with pytest.raises(LookupError):
        await open_home(tmp_path / "none" / "animastor.db", REGISTRY, Clock(), writable=False)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("name", ["schema", "layout"])
async def test_a_home_of_a_newer_program_is_refused_and_says_what_to_do(tmp_path: Path, name: str) -> None:
    path = tmp_path / "animastor.db"
    await _home(path, _set(name, 99))
    for writable in (True, False):
        with pytest.raises(versions.NewerError, match="install a newer Animastor"):
            await open_home(path, REGISTRY, Clock(), writable=writable)


async def test_an_older_home_is_migrated_after_a_backup_copy(tmp_path: Path) -> None:
    path = tmp_path / "animastor.db"
    older = SqliteDatabase(path, lambda: 5.0)
    await older.write(versions.migrate, versions.SCHEMA - 1)
    await older.write(lambda held: held.execute(text("INSERT INTO book (book_key, book_id) VALUES (1, 'old')")).close())
    await older.close()
    with pytest.raises(versions.OldSchemaError, match="after a backup copy"):
        await open_home(path, REGISTRY, Clock(), writable=False)
    storage = await open_home(path, REGISTRY, Clock(), writable=True)
    assert [row.book_id for row in await storage.books()] == ["old"]
    await storage.close()
    copy = tmp_path / f"animastor.db.before-schema-{versions.SCHEMA}"
    with sqlite3.connect(copy) as held:
        assert held.execute("SELECT count(*) FROM book").fetchone() == (1,)
        assert held.execute("SELECT value FROM meta WHERE name = 'schema'").fetchone() == (versions.SCHEMA - 1,)
    held.close()


async def test_plans_of_an_older_planner_are_made_again_once_and_those_of_a_newer_one_are_left_alone(
    tmp_path: Path,
) -> None:
    path = tmp_path / "animastor.db"

    async def plan_seqs(writable: bool) -> set[int]:
        storage = await open_home(path, REGISTRY, Clock(), writable=writable)
        found = await storage._db.read(
            lambda connection: {row[0] for row in connection.execute(text("SELECT plan_seq FROM asset"))}
        )
        await storage.close()
        return found

    storage = await open_home(path, REGISTRY, Clock(), writable=True)
    await Driver(storage, Time()).save(book())
    await storage._db.write(_set("planner", versions.PLANNER - 1))
    await storage.close()
    assert [await plan_seqs(writable) for writable in (False, True, True)] == [{1}, {2}, {2}]
    await _home(path, _set("planner", versions.PLANNER + 1))
    with pytest.raises(versions.NewerError, match=f"planner {versions.PLANNER + 1}"):
        await open_home(path, REGISTRY, Clock(), writable=True)


async def test_what_is_no_database_is_said_in_one_sentence(tmp_path: Path) -> None:
    path = tmp_path / "animastor.db"
    path.write_bytes(b"this is no database at all " * 100)
    with pytest.raises(StorageUnavailableError, match=r"is damaged \(file is not a database\): restore a backup"):
        await open_home(path, REGISTRY, Clock(), writable=True)


async def test_a_database_that_may_not_grow_says_that_no_space_is_left_and_goes_on_when_there_is(
    tmp_path: Path,
) -> None:
    """A real limit of SQLite itself: so many pages and no more, the error of a full disk."""
    storage = await open_home(tmp_path / "animastor.db", REGISTRY, Clock(), writable=True)
    driver = Driver(storage, Time())
    key = await driver.save(book())

    def limit(pages: str) -> Any:
        return lambda connection: connection.exec_driver_sql(f"PRAGMA max_page_count = {pages}").scalar()

    pages = await storage._db.write(lambda connection: connection.exec_driver_sql("PRAGMA page_count").scalar())
    await storage._db.write(limit(str(pages)))
    large = large_book(500, name="more")
    with pytest.raises(StorageFullError, match="no space is left for the database"):
        await driver.save(large)
    assert len(await storage.books()) == 1
    assert await storage.load_book(key) == book()
    await storage._db.write(limit("1000000"))
    await driver.save(large)
    await storage.close()


def test_errors_are_told_apart_by_their_codes() -> None:
    class RefusedError(Exception):
        sqlstate = "40P01"

    assert fate_of(RefusedError()) is Fate.AGAIN
    assert fate_of(DBAPIError("x", {}, RefusedError())) is Fate.AGAIN
    assert fate_of(DBAPIError("x", {}, RefusedError(), connection_invalidated=True)) is Fate.RECONNECT
    RefusedError.sqlstate = "53100"
    assert fate_of(RefusedError()) is Fate.FULL
    RefusedError.sqlstate = "08006"
    assert fate_of(RefusedError()) is Fate.RECONNECT
    RefusedError.sqlstate = "23505"
    assert fate_of(RefusedError()) is Fate.MEMBER
    assert fate_of(OSError(28, "no space")) is Fate.FULL
    assert fate_of(ConnectionRefusedError()) is Fate.RECONNECT
    assert fate_of(ValueError()) is Fate.MEMBER


async def test_a_batch_that_fails_is_taken_back_whole_and_its_error_goes_to_the_caller(
    driver: Driver, storage: SqlStorage
) -> None:
    key = await driver.save(book())
    await driver.request(key, media=("sound",))
    walk = await storage.due(_pair(), 10, 10, 0)
    good, bad, *_ = await driver.plans(walk.rows)
    from dataclasses import replace

    broken = replace(bad, parts=(replace(bad.parts[0], params={"x": {1, 2}}),))
    with pytest.raises(TypeError):
        await storage.store_plans([good, broken])
    assert await storage.part_orders([(good.asset, good.parts[0].hash)]) == [None]
    assert (await storage.store_plans([good]))[0].missing


def _pair() -> Any:
    from animastor.protocol import Pair

    return Pair("sound", "system")


_ECHO = Statement(
    "echo", "A batch as it arrives.",
    "SELECT b.n, b.word, b.part FROM {batch} AS b ORDER BY b.n",
    batch={"n": int, "word": str, "part": float},
)  # fmt: skip
_ONE = Statement("echo_one", "A flat batch.", "SELECT b.word FROM {batch} AS b ORDER BY b.word", batch={"word": str})


async def test_a_batch_arrives_as_it_was_sent(database: Database, storage: SqlStorage) -> None:
    sent = [(2**45, 'é "日本" \\ \n :x {y}', 0.1), (2**45 + 1, None, None), (2**45 + 2, "", -1e300)]
    assert [tuple(row) for row in await database.read(fetch, _ECHO, batch=sent)] == sent
    assert [row.word for row in await database.read(fetch, _ONE, batch=["b", "a"])] == ["a", "b"]
    assert list(await database.read(fetch, _ONE, batch=[])) == []
    nul = await database.read(fetch, _ONE, batch=["nul\0 and \\u0000"])
    assert [row.word for row in nul] == ["nul and \\u0000"], "no database text may hold a NUL"
    assert encode([("a", 1)]) == '[["a",1]]'


async def test_the_journal_pages_by_its_own_numbers(storage: SqlStorage) -> None:
    rows = [
        JournalRow(0.0, None, JournalType.CIRCUIT_OPENED, None, f"r{n}", actor="x", observed=True, details={"n": n})
        for n in range(5)
    ]
    await storage.observe(rows)
    first = await storage.journal(limit=2)
    rest = await storage.journal(after=first[-1].row_id)
    assert [row.reason for row in (*first, *rest)] == [f"r{n}" for n in range(5)]
    assert rest[0].details == {"n": 2}
    assert all(row.observed and row.at > 0 for row in rest)


async def test_numbers_only_grow_and_keys_are_kept(storage: SqlStorage) -> None:
    assert [await storage.raise_era() for _ in range(3)] == [1, 2, 3]
    for _ in range(2):
        await storage.add_ticket_key("k1", b"\0secret\xff")
    at, keys = await storage.ticket_keys()
    assert keys["k1"][0] == b"\0secret\xff"
    assert 0 < keys["k1"][1] <= at


async def test_keys_that_verify_nothing_any_more_go_when_one_is_added(storage: SqlStorage, time: Time) -> None:
    if not hasattr(storage._db, "run"):
        return  # the clock of these databases is not the test's
    await storage.add_ticket_key("old", b"1")
    time.now += 8 * 86_400
    await storage.add_ticket_key("newer", b"2")
    time.now += 2 * 86_400
    await storage.add_ticket_key("new", b"3")
    assert set((await storage.ticket_keys())[1]) == {"newer", "new"}


async def test_a_closed_database_says_so(tmp_path: Path) -> None:
    database = SqliteDatabase(tmp_path / "x.db", Time())
    storage = await open_storage(database, REGISTRY, create=True)
    await storage.close()
    with pytest.raises(StorageUnavailableError, match="is closed"):
        await storage.books()


async def test_an_older_database_is_upgraded_and_a_newer_or_empty_one_is_left_alone(tmp_path: Path, time: Time) -> None:
    database = SqliteDatabase(tmp_path / "old.db", time)
    with pytest.raises(LookupError):
        await database.write(versions.upgrade)
    await database.write(versions.migrate, 1)
    assert await database.write(versions.upgrade) == (1, versions.PLANNER)
    assert await database.read(versions.check)
    assert await database.write(versions.upgrade) == (versions.SCHEMA, versions.PLANNER)
    newer = text("UPDATE meta SET value = 99 WHERE name = 'schema'")
    await database.write(lambda held: held.execute(newer).close())
    with pytest.raises(versions.NewerError):
        await database.write(versions.upgrade)
    await database.close()
