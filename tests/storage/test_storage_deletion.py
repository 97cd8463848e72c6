"""Deleting: what leaves for good takes every row along; what is used elsewhere stays; interrupted, it goes on."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from sqlalchemy import Connection, text
from world import Driver, book, chapter, scene, unit

from animastor.books.model import Book
from animastor.engine.ports import Scope
from animastor.engine.reasons import Reason
from animastor.engine.replaying import replay
from animastor.engine.states import RequestState, State
from animastor.protocol import BookKey
from animastor.storage import artifacts
from animastor.storage.database import Database
from animastor.storage.requests import ScopeError
from animastor.storage.sql import SqlStorage

TABLES = (
    "book", "book_cover", "chapter", "scene", "unit_take", "asset", "asset_facts", "tally", "dispatch", "part",
    "request", "request_media", "request_exclusion", "journal",
)  # fmt: skip


def _counts(connection: Connection) -> dict[str, int]:
    return {table: connection.execute(text(f"SELECT count(*) FROM {table}")).scalar_one() for table in TABLES}


async def _rows(database: Database) -> dict[str, int]:
    return {table: count for table, count in (await database.read(_counts)).items() if count}


async def _delete(storage: SqlStorage, key: BookKey) -> int:
    """The whole deletion, as an engine does it; how many attempts were ended."""
    for request in await storage.begin_deletion(key):
        while await storage.sweep_uncovered(request, 100):
            pass
    ended = 0
    while not (batch := await storage.delete_some(key)).done:
        ended += len(batch.ended)
        await storage.mark_released(batch.ended)
    return ended


async def _delete_part(driver: Driver, saved: Book) -> None:
    await driver.storage.save_book(
        saved, settings=None, source="test", source_key=saved.head.book_id, source_sha256="", for_good=True
    )
    await driver.storage.mark_released(await driver.storage.unreleased(100))


async def _collect(storage: SqlStorage) -> None:
    marked = await storage.collectable(500)
    await storage.collected([checksum for checksum, _ in marked])


async def test_a_deleted_book_leaves_no_row_and_no_artifact(
    driver: Driver, storage: SqlStorage, database: Database
) -> None:
    key = await driver.save(book())
    await driver.request(key)
    await driver.run()
    await driver.save(book(chapter("ch-1", scene("sc-0", unit("tale-0-a")), scene("sc-9"))))
    await driver.request(key)
    await driver.start("sound")
    assert await _delete(storage, key) > 0
    await _collect(storage)
    assert await _rows(database) == {}
    assert await storage.artifacts_after("", 10) == []


async def test_what_is_deleted_while_a_collection_looks_whether_it_is_used_is_collected_by_the_next(
    driver: Driver, storage: SqlStorage, database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    key = await driver.save(book())
    await driver.request(key)
    await driver.run()
    held = [checksum for checksum, _, _ in await storage.artifacts_after("", 100)]
    await database.write(lambda connection: connection.execute(text("UPDATE artifact SET unused_since = 0")).close())
    read = database.read

    async def deleting(core: Any, *args: Any, **kwargs: Any) -> Any:
        found = await read(core, *args, **kwargs)
        if core is artifacts.used:
            monkeypatch.undo()
            assert found, "all of it is in use"
            await _delete(storage, key)
        return found

    monkeypatch.setattr(database, "read", deleting)
    assert await storage.collectable(100) == []
    assert sorted(checksum for checksum, _ in await storage.collectable(100)) == sorted(held)


@pytest.mark.parametrize("leaving", ["edit", "deletion"])
async def test_bytes_that_are_being_deleted_are_not_used_again_though_what_had_them_goes_meanwhile(
    driver: Driver, storage: SqlStorage, database: Database, leaving: str
) -> None:
    key = await driver.save(book())
    await driver.request(key)
    await driver.run()
    held = [checksum for checksum, _, _ in await storage.artifacts_after("", 100)]
    mark = text("UPDATE artifact SET collecting = 1, unused_since = 0")
    await database.write(lambda connection: connection.execute(mark).close())  # some of the bytes are gone by now
    if leaving == "edit":
        await driver.save(book(chapter("ch-1", scene("another"))))
    else:
        await _delete(storage, key)
    other = book(name="other")
    await driver.request(await driver.save(other))
    works = await driver.start("sound")
    assert {source.kind for work in works for source in work.missing} == {"chunk"}, "bytes that are going are used"
    made = driver.result(works[0], works[0].missing[0])
    (again,) = await storage.accept([replace(made, uploaded=replace(made.uploaded, checksum=held[0]))])
    assert again.reason is Reason.ARTIFACT_GONE, "nor are they when they are made once more"
    assert sorted(checksum for checksum, _ in await storage.collectable(100)) == sorted(held)
    await storage.collected(held)
    assert await storage.artifacts_after("", 100) == []


async def test_from_the_first_moment_nothing_of_it_starts_and_its_name_is_free(
    driver: Driver, storage: SqlStorage
) -> None:
    key = await driver.save(book())
    await driver.request(key)
    await storage.begin_deletion(key)
    assert await storage.books() == []
    assert await driver.start("sound") == []
    with pytest.raises(ScopeError):
        await driver.open(key)
    again = await driver.save(book())
    assert again != key
    assert await storage.deletions() == [key]
    while not (await storage.delete_some(key)).done:
        await storage.mark_released(await storage.unreleased(100))
    assert [row.book_key for row in await storage.books()] == [again]


async def test_a_request_that_went_with_its_book_while_it_was_being_entered_is_over(
    driver: Driver, storage: SqlStorage
) -> None:
    """As when a slow server enters what another one has deleted since."""
    key = await driver.save(book())
    opened = await driver.open(key)
    await _delete(storage, key)
    entered = await storage.enter(opened.request.request_id, 1)
    assert (entered.entered, entered.done, entered.state) == (0, True, RequestState.CANCELLED)


async def test_what_another_book_uses_stays(driver: Driver, storage: SqlStorage) -> None:
    first = await driver.save(book())
    await driver.request(first)
    await driver.run()
    same = replace(book(), head=replace(book().head, book_id="twin"))
    second = await driver.save(same)
    await driver.request(second)
    assert await driver.run() == 0, "all of it is taken over"
    before = await storage.artifacts_after("", 100)
    await _delete(storage, first)
    await _collect(storage)
    assert await storage.artifacts_after("", 100) == before
    assert set((await driver.states(second)).values()) == {State.READY}


async def test_an_attempt_that_runs_ends_before_its_rows_go(driver: Driver, storage: SqlStorage) -> None:
    key = await driver.save(book())
    await driver.request(key)
    (work, *_) = await driver.start("sound")
    await storage.begin_deletion(key)
    batch = await storage.delete_some(key)
    assert work.dispatch_id in {one.dispatch_id for one in batch.ended}
    assert not batch.done
    left = {row.asset: row.state for row in await storage.asset_standings()}
    assert work.asset in left, "its rows go when it is released"
    assert State.GENERATING not in left.values()
    (late,) = await storage.accept([driver.result(work, work.missing[0])])
    assert not late.ready


async def test_a_deleted_scene_and_unit_take_their_parts_and_journal_along(
    driver: Driver, storage: SqlStorage, database: Database
) -> None:
    key = await driver.save(book())
    await driver.request(key)
    await driver.run()
    left = book(chapter("ch-1", scene("sc-0", unit("tale-0-a"), unit("tale-0-b")), scene("sc-1", unit("tale-1-a"))))
    await _delete_part(driver, left)
    rows = await _rows(database)
    assert (rows["scene"], rows["asset"]) == (2, 6)
    assert not await database.read(_orphans)
    replayed = replay(await storage.journal())
    assert not replayed.faults + replayed.differences(await storage.asset_standings())
    await driver.replan()
    await driver.request(key)
    await driver.run()
    assert set((await driver.states(key)).values()) == {State.READY}
    await _collect(storage)
    assert not await database.read(_traces_of, "tale-1-b")


def _orphans(connection: Connection) -> list[object]:
    of = ("part", "dispatch", "journal")
    gone = [f"SELECT asset FROM {table} WHERE asset NOT IN (SELECT id FROM asset)" for table in of]
    return list(connection.execute(text(" UNION ALL ".join(gone))))


def _traces_of(connection: Connection, unit_id: str) -> list[object]:
    return list(
        connection.execute(text(f"SELECT hash FROM part WHERE places LIKE '%\"{unit_id}\"%' OR unit_id = '{unit_id}'"))
    )


async def test_the_whole_scope_of_a_library_is_kept_apart(
    driver: Driver, storage: SqlStorage, database: Database
) -> None:
    kept = await driver.save(book(name="kept"))
    await driver.request(kept)
    await driver.run()
    before = await _rows(database)
    key = await driver.save(book(name="gone"))
    await driver.request(key)
    await driver.run()
    await _delete(storage, key)
    await _collect(storage)
    assert await _rows(database) == before
    assert len(await storage.export_rows(kept, Scope())) == 3
