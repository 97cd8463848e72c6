"""A backup of a home becomes a database, a coordination store and a bucket that others serve, and a home again."""

from __future__ import annotations

import sqlite3
from pathlib import Path

from program import run
from tiny_book import SHORT, write_book

from fleet import Fleet
from s3_server import serving

READY = "SELECT artifact FROM asset WHERE state = 4 AND artifact <> '' ORDER BY id"


def _of_home(home: Path) -> list[tuple[str]]:
    database = sqlite3.connect(f"file:{home / 'animastor.db'}?mode=ro", uri=True)
    try:
        return database.execute(READY).fetchall()
    finally:
        database.close()


def test_a_home_moves_to_shared_stores_with_a_bucket_and_back_and_nothing_is_made_again(fleet: Fleet) -> None:
    book = write_book(fleet.folder / "book", SHORT)
    making = ("make", book, "--media", "audio", "--size", "128x72")
    alone = run(*making, "--home", "first", "--out", "out", cwd=fleet.folder)
    assert alone.code == 0, alone.err
    assert run("backup", "one", "--home", "first", cwd=fleet.folder).code == 0
    with serving() as s3:
        bucket = s3.bucket()
        shared = {**s3.environment, "ANIMASTOR_ARTIFACTS": f"s3://{bucket.name}"}
        restored = fleet.run("restore", "one", **shared)
        assert restored.code == 0, restored.err
        assert fleet.rows(READY) == _of_home(fleet.folder / "first")
        fleet.serve(**shared)
        asked = fleet.run(*making, "--out", "shared", **shared)
        assert asked.code == 0, asked.err
        assert (fleet.folder / "shared" / "tiny.m4b").exists()
        assert fleet.logged("start") == []

        refused = fleet.run("restore", "one", "--replace", **shared)
        assert (refused.code, "The coordination store knows what was there before" in refused.err) == (4, True)
        saved = fleet.run("backup", "two.tar", **shared)
        assert saved.code == 0, saved.err
    assert s3.secret not in "".join(each.out + each.err for each in (restored, asked, refused, saved))
    assert run("restore", "two.tar", "--home", "second", cwd=fleet.folder).code == 0
    assert _of_home(fleet.folder / "second") == _of_home(fleet.folder / "first")
    again = run(
        *making, "--home", "second", "--out", "again", cwd=fleet.folder, env={"ANIMASTOR_BACKEND_LOG": str(fleet.log)}
    )
    assert again.code == 0, again.err
    assert fleet.logged("start") == []


def test_books_in_a_shared_database_are_replaced_only_when_told(fleet: Fleet) -> None:
    book = write_book(fleet.folder / "book", SHORT)
    assert run("import", book, "--home", "first", cwd=fleet.folder).code == 0
    assert run("backup", "one", "--home", "first", cwd=fleet.folder).code == 0
    assert fleet.run("restore", "one").code == 0
    refused = fleet.run("restore", "one")
    assert (refused.code, "with --replace they are removed" in refused.err) == (4, True), refused.err
    assert fleet.run("restore", "one", "--replace").code == 0
    assert fleet.rows("SELECT count(*) FROM book") == [(1,)]
    assert fleet.rows("SELECT count(*) FROM ticket_key") == [(0,)]


def test_a_shared_database_is_upgraded_when_told_and_not_by_itself(fleet: Fleet) -> None:
    empty = fleet.run("upgrade")
    assert (empty.code, "nothing is to be upgraded" in empty.err) == (4, True), empty.err
    book = write_book(fleet.folder / "book", SHORT)
    assert fleet.run("import", book).code == 0
    assert "is up to date" in fleet.run("upgrade").out
    fleet.rows("UPDATE meta SET value = value - 1 WHERE name IN ('schema', 'planner') RETURNING 1")
    refused = fleet.run("status")
    assert (refused.code, "animastor upgrade" in refused.err) == (4, True), refused.err
    done = fleet.run("upgrade")
    assert (done.code, "is 1 now" in done.out) == (0, True), done.err
    assert fleet.run("status").code == 0
