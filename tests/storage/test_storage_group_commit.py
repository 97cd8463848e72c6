"""Writes that wait for the writer together are committed together, and nobody can tell but by the clock."""

from __future__ import annotations

import asyncio
import sqlite3
import threading
from collections.abc import AsyncIterator
from contextlib import closing
from pathlib import Path
from time import time

import pytest
from sqlalchemy import Connection

from animastor.engine.ports import StorageUnavailableError
from animastor.storage.database import SqliteDatabase


@pytest.fixture
async def database(tmp_path: Path) -> AsyncIterator[SqliteDatabase]:
    made = SqliteDatabase(tmp_path / "home.db", time)
    await made.write(lambda held: held.exec_driver_sql("CREATE TABLE note (n INTEGER PRIMARY KEY)").close())
    yield made
    await made.close()


def note(held: Connection, number: int) -> int:
    """Write a number; a repeated one is refused. How many there are then."""
    held.exec_driver_sql("INSERT INTO note VALUES (?)", (number,)).close()
    return int(held.exec_driver_sql("SELECT count(*) FROM note").scalar_one())


def numbers(path: Path) -> list[int]:
    """What another process would read."""
    with closing(sqlite3.connect(path)) as other:
        return [row[0] for row in other.execute("SELECT n FROM note ORDER BY n")]


async def behind_a_slow_one(database: SqliteDatabase, *writes: int) -> list[int | BaseException]:
    """Writes that all have to wait, because the writer is held up until they are there."""
    go = threading.Event()
    slow = asyncio.create_task(database.write(lambda _: go.wait(10)))
    await asyncio.sleep(0)
    waiting = [asyncio.create_task(database.write(note, number)) for number in writes]
    await asyncio.sleep(0)
    go.set()
    await slow
    return await asyncio.gather(*waiting, return_exceptions=True)


async def test_each_sees_what_those_before_it_wrote_and_all_are_there_when_answered(
    database: SqliteDatabase, tmp_path: Path
) -> None:
    assert await behind_a_slow_one(database, 3, 1, 2) == [1, 2, 3]
    assert numbers(tmp_path / "home.db") == [1, 2, 3]


async def test_waiting_writes_share_a_commit(database: SqliteDatabase, monkeypatch: pytest.MonkeyPatch) -> None:
    from sqlalchemy.engine.default import DefaultDialect

    commits: list[object] = []
    commit = DefaultDialect.do_commit
    monkeypatch.setattr(DefaultDialect, "do_commit", lambda self, held: (commits.append(held), commit(self, held)))
    await behind_a_slow_one(database, *range(20))
    assert len(commits) <= 3


async def test_failing_one_gets_its_own_error_and_the_others_are_written(
    database: SqliteDatabase, tmp_path: Path
) -> None:
    answers = await behind_a_slow_one(database, 1, 2, 1, 3)
    assert isinstance(answers[2], sqlite3.IntegrityError) or "UNIQUE" in str(answers[2])
    assert [answers[0], answers[1], answers[3]] == [1, 2, 3]
    assert numbers(tmp_path / "home.db") == [1, 2, 3]


async def test_one_whose_caller_has_gone_before_its_turn_is_not_written(
    database: SqliteDatabase, tmp_path: Path
) -> None:
    go = threading.Event()
    slow = asyncio.create_task(database.write(lambda _: go.wait(10)))
    gone = asyncio.create_task(database.write(note, 1))
    await asyncio.sleep(0)
    gone.cancel()
    await asyncio.sleep(0)
    go.set()
    await slow
    assert await database.write(note, 2) == 1
    assert numbers(tmp_path / "home.db") == [2]


async def test_write_to_a_closed_database_says_so(tmp_path: Path) -> None:
    database = SqliteDatabase(tmp_path / "other.db", time)
    await database.close()
    with pytest.raises(StorageUnavailableError, match="is closed"):
        await database.write(note, 1)
