"""A backup is the database at one point and the artifacts that it names, and becomes either kind of database again."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass, replace
from hashlib import sha256
from pathlib import Path
from time import time as real_time
from typing import Any

import pytest
from shelves import BucketShelf, FolderShelf, Shelf
from sqlalchemy import Connection, text
from world import REGISTRY, Driver, Time, book, empty, large_book, with_text

from animastor.books.model import Cover
from animastor.clock import SystemClock
from animastor.config import Settings
from animastor.engine.ports import JournalRow, RollBack, Scope, StorageUnavailableError
from animastor.engine.reasons import JournalType
from animastor.engine.replaying import replay
from animastor.engine.states import PartState, State
from animastor.hub.tickets import Tickets
from animastor.protocol import AssetId, DispatchId, HubRefusedError, JobId, Ticket
from animastor.storage import numbers, versions
from animastor.storage.backups import tables
from animastor.storage.backups.archive import ArchiveSource, ArchiveTarget
from animastor.storage.backups.carrying import carry_in, carry_out
from animastor.storage.backups.folder import FolderSource, FolderTarget
from animastor.storage.backups.manifest import BackupError, Manifest
from animastor.storage.backups.places import BackupSource, BackupTarget
from animastor.storage.database import Database, InPlaceDatabase, SqliteDatabase
from animastor.storage.sql import SqlStorage, open_storage
from animastor.stores import RESTORING, restoring, storage_of


@pytest.fixture
async def lived(driver: Driver, storage: SqlStorage) -> SqlStorage:
    """A database with something in most tables: two books, a cover, finished parts, old ones, one in work."""
    key = await driver.save(replace(book(), cover=Cover("image/png", bytes(range(256)))))
    await driver.request(key)
    await driver.run()
    await driver.save(replace(with_text(book(), "tale-1-a", "other"), cover=Cover("image/png", b"")))
    await driver.replan()
    await driver.request(key, idempotency_key="again")
    await driver.start("sound")
    await driver.save(book(name="second"))
    await storage.add_ticket_key("key", b"a secret")
    return storage


def rows(folder: Path) -> dict[str, list[dict[str, Any]]]:
    """All rows of a dump by table."""
    return {path.name.partition(".")[0]: list(tables.rows_of(path)) for path in folder.iterdir()}


async def dumped(database: Database, folder: Path) -> tuple[Manifest, dict[str, list[dict[str, Any]]]]:
    """A dump of a database, and its rows."""
    folder.mkdir()
    return await database.read(tables.dump, folder), rows(folder)


async def other_database(database: Database, request: pytest.FixtureRequest, tmp_path: Path) -> Database:
    """An empty database of the other kind."""
    if isinstance(database, InPlaceDatabase):
        from animastor.storage.postgres import PostgresDatabase

        made = PostgresDatabase(request.getfixturevalue("postgres_url"))
        await made.write(empty)
        return made
    return SqliteDatabase(tmp_path / "other.db", Time())


@pytest.fixture
async def other(database: Database, request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[Database]:
    made = await other_database(database, request, tmp_path)
    yield made
    await made.close()


async def test_a_dump_becomes_the_same_rows_in_a_database_of_another_kind_and_begins_a_new_era(
    lived: SqlStorage, database: Database, other: Database, tmp_path: Path
) -> None:
    manifest, before = await dumped(database, tmp_path / "dump")
    assert {name for name, found in before.items() if found} >= {"asset", "part", "artifact", "journal", "dispatch"}
    assert "ticket_key" not in before
    await other.write(tables.load, manifest, tmp_path / "dump", replace=False)
    _, after = await dumped(other, tmp_path / "again")
    eras = [{row["name"]: row["value"] for row in found.pop("meta")} for found in (before, after)]
    assert after == before
    assert eras[1].pop("era") == eras[0].pop("era") + 1
    for each in eras:
        each.pop("installation", None)  # a number of the database, not of what is in it
    assert eras[0] == eras[1]


async def test_a_restored_database_goes_on_where_the_backup_was(
    lived: SqlStorage, database: Database, other: Database, tmp_path: Path, time: Time
) -> None:
    manifest, _ = await dumped(database, tmp_path / "dump")
    await other.write(tables.load, manifest, tmp_path / "dump", replace=False)
    restored = await open_storage(other, REGISTRY, create=False)
    keys = [row.book_key for row in await restored.books()]
    assert [await restored.load_book(key) for key in keys] == [await lived.load_book(key) for key in keys]
    await restored.observe([JournalRow(0.0, None, JournalType.RECOVERED, None, "test")])
    ids = [row.row_id for row in await restored.journal(limit=10_000)]
    assert len(ids) == len(set(ids))
    driver = Driver(restored, time)
    working = await restored.active(0, 100)
    assert working, "what was in work is in work still, until reconciliation looks"
    await restored.roll_back([RollBack(one.asset, one.dispatch_id, "restart") for one in working])
    for key in keys:
        await driver.request(key, idempotency_key=f"after {key}")
    await driver.run()
    shown = [row for key in keys for row in await restored.export_rows(key, Scope())]
    assert {one.state for row in shown for one in row.media.values()} == {State.READY}


async def test_a_ticket_of_the_old_life_proves_nothing_in_the_new_one(
    storage: SqlStorage, database: Database, other: Database, tmp_path: Path, time: Time
) -> None:
    clock = DatabaseClock(time if isinstance(database, InPlaceDatabase | SqliteDatabase) else real_time)
    old = Tickets(storage, clock)
    await old.ready()
    ticket = Ticket(
        JobId("a" * 32), AssetId(1), 5, DispatchId("d" * 32), 1, "e" * 64, "speech", "audio", "local/one", clock.now()
    )
    told = old.sign(ticket)
    assert (await old.verify(told)).job_id == ticket.job_id
    manifest, _ = await dumped(database, tmp_path / "dump")
    await other.write(tables.load, manifest, tmp_path / "dump", replace=False)
    new = Tickets(await open_storage(other, REGISTRY, create=False), clock)
    with pytest.raises(HubRefusedError, match="ticket"):
        await new.verify(told)


@dataclass(frozen=True)
class DatabaseClock:
    """The time of a database, as a clock."""

    now: Callable[[], float]

    async def sleep(self, seconds: float) -> None:
        """Nobody sleeps here."""
        raise NotImplementedError


async def test_data_is_replaced_only_when_told_and_a_damaged_table_changes_nothing(
    lived: SqlStorage, database: Database, tmp_path: Path
) -> None:
    manifest, before = await dumped(database, tmp_path / "dump")
    with pytest.raises(BackupError, match="--replace"):
        await database.write(tables.load, manifest, tmp_path / "dump", replace=False)
    path = tmp_path / "dump" / "part.jsonl.gz"
    whole = path.read_bytes()
    path.write_bytes(whole[:-1])
    with pytest.raises(BackupError, match="its table part"):
        await database.write(tables.load, manifest, tmp_path / "dump", replace=True)
    assert (await dumped(database, tmp_path / "between"))[1] == before
    path.write_bytes(whole)
    await database.write(tables.load, manifest, tmp_path / "dump", replace=True)
    after = (await dumped(database, tmp_path / "after"))[1]
    assert {**after, "meta": []} == {**before, "meta": []}


async def test_many_rows_are_read_in_pages_and_none_is_lost(
    storage: SqlStorage, database: Database, other: Database, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tables, "PAGE", 20)
    await storage.observe([JournalRow(0.0, None, JournalType.RECOVERED, None, f"row {n}") for n in range(107)])
    manifest, before = await dumped(database, tmp_path / "dump")
    assert [row["reason"] for row in before["journal"]] == [f"row {n}" for n in range(107)]
    await other.write(tables.load, manifest, tmp_path / "dump", replace=False)
    assert (await dumped(other, tmp_path / "again"))[1]["journal"] == before["journal"]


@pytest.mark.parametrize("database", ["threads", "postgresql"], indirect=True)
async def test_dumps_taken_while_work_goes_on_are_each_of_one_moment(
    driver: Driver, database: Database, tmp_path: Path, time: Time, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tables, "PAGE", 50)  # many statements, and much happens between them
    key = await driver.save(large_book(40, units=2))
    await driver.request(key)
    working = asyncio.create_task(driver.run())
    ready = list[int]()
    while not working.done() and len(ready) < 6:
        folder = tmp_path / str(len(ready))
        manifest, found = await dumped(database, folder)
        copy = SqliteDatabase(folder / "copy.db", time)
        await copy.write(tables.load, manifest, folder, replace=False)
        restored = await open_storage(copy, REGISTRY, create=False)
        replayed = replay(await restored.journal(limit=100_000))
        assert replayed.faults == []
        assert replayed.differences(await restored.asset_standings()) == []
        named = {row["artifact"] for row in found["part"] if row["state"] == PartState.READY}
        assert named <= {row["checksum"] for row in found["artifact"]}
        ready.append(len(named))
        await copy.close()
    await working
    _, found = await dumped(database, tmp_path / "end")
    assert any(0 < some < len(found["part"]) for some in ready), "some were taken in the middle"


@pytest.mark.parametrize("database", ["in_place"], indirect=True)
async def test_a_backup_of_an_older_schema_is_migrated_when_it_is_restored(
    database: Database, time: Time, tmp_path: Path
) -> None:
    old, new = (SqliteDatabase(tmp_path / name, time) for name in ("old.db", "new.db"))
    await old.write(versions.migrate, 1)
    manifest, _ = await dumped(old, tmp_path / "dump")
    assert manifest.schema == 1
    await new.write(tables.load, manifest, tmp_path / "dump", replace=False)
    assert await new.read(versions.check)
    with pytest.raises(BackupError, match="newer Animastor"):
        await new.write(tables.load, replace(manifest, schema=99), tmp_path / "dump", replace=True)
    await old.close()
    await new.close()


async def test_nothing_is_collected_while_a_backup_holds_it(
    driver: Driver, storage: SqlStorage, database: Database
) -> None:
    key = await driver.save(book())
    await driver.request(key)
    await driver.run()
    await driver.save(with_text(book(), "tale-1-a", "other"))
    await driver.request(key, idempotency_key="again")
    await driver.run()

    def age(connection: Connection) -> None:
        connection.execute(text("UPDATE artifact SET unused_since = 1 WHERE unused_since IS NOT NULL"))

    await database.write(age)
    await storage.hold_collecting(100.0)
    await storage.hold_collecting(10.0)  # another backup, which is nearly done
    assert await storage.collectable(100) == []
    kept = await storage.unused()  # who is asked when they go tells the same
    assert kept
    assert all(one.held for one in kept)
    assert len({one.due_at for one in kept}) == 1

    def later(connection: Connection) -> None:
        connection.execute(text("UPDATE meta SET value = 1 WHERE name = 'collect_from'"))

    await database.write(later)
    assert not any(one.held for one in await storage.unused())
    assert await storage.collectable(100)


# --- artifacts ---


@pytest.fixture(params=["folder", "s3"])
def shelf(request: pytest.FixtureRequest, tmp_path: Path) -> Shelf:
    """A place for artifacts."""
    if request.param == "folder":
        return FolderShelf(tmp_path / "artifacts")
    return BucketShelf(request.getfixturevalue("bucket"), tmp_path / "copies")


def target(kind: str, tmp_path: Path) -> BackupTarget:
    return ArchiveTarget(tmp_path / "b.tar") if kind == "archive" else FolderTarget(tmp_path / "b")


def source(kind: str, tmp_path: Path) -> BackupSource:
    return (
        ArchiveSource(tmp_path / "b.tar", tmp_path / "x")
        if kind == "archive"
        else FolderSource(tmp_path / "b", tmp_path / "x")
    )


async def told(_seen: int, _size: int) -> None:
    """Nobody listens."""


async def with_artifacts(database: Database, shelf: Shelf, tmp_path: Path, number: int) -> list[str]:
    """So many artifacts in a store, and their rows; their names in it, in order."""

    def insert(held: Connection, checksum: str, size: int) -> None:
        row = {"checksum": checksum, "size": size}
        held.execute(text("INSERT INTO artifact (checksum, suffix, size) VALUES (:checksum, '.bin', :size)"), row)

    store, names = shelf.open(create=True), list[str]()
    for n in range(number):
        path = tmp_path / f"made-{n}.bin"
        path.write_bytes(b"part %d" % n)
        checksum, size = await store.put(path, ".bin")
        await database.write(insert, checksum, size)
        names.append(f"{checksum}.bin")
    return sorted(names)


@pytest.mark.parametrize("database", ["in_place"], indirect=True)
@pytest.mark.parametrize("kind", ["folder", "archive"])
async def test_artifacts_go_into_a_backup_and_out_into_a_store_of_either_kind(
    kind: str, database: Database, shelf: Shelf, bucket: object, tmp_path: Path
) -> None:
    names = await with_artifacts(database, shelf, tmp_path, 20)
    place = target(kind, tmp_path)
    folder = place.tables()
    manifest = await database.read(tables.dump, folder)
    carried = await carry_in(folder, shelf.open(), place, told)
    assert (carried.artifacts, carried.absent, carried.size) == (20, (), sum(map(len, shelf.contents().values())))
    await place.finish(replace(manifest, artifacts=20))
    place.close()
    assert isinstance(bucket, object)
    others: list[Shelf] = [FolderShelf(tmp_path / "restored"), BucketShelf(bucket, tmp_path / "c2", "restored")]  # type: ignore[arg-type]
    for other in others:
        backup = source(kind, tmp_path)
        assert backup.manifest.artifacts == 20
        restored = await carry_out(backup.tables(), backup, other.open(create=True), told)
        backup.close()
        assert restored.artifacts == 20
        assert sorted(other.contents()) == names
        assert all(sha256(data).hexdigest() == name.partition(".")[0] for name, data in other.contents().items())


@pytest.mark.parametrize("database", ["in_place"], indirect=True)
async def test_a_backup_that_was_interrupted_goes_on_and_one_taken_again_copies_only_what_is_new(
    database: Database, shelf: Shelf, tmp_path: Path
) -> None:
    await with_artifacts(database, shelf, tmp_path, 20)
    place = FolderTarget(tmp_path / "b")
    folder = place.tables()
    await database.read(tables.dump, folder)

    async def stopping(seen: int, _size: int) -> None:
        if seen >= 8:
            raise ConnectionError

    with pytest.raises(ConnectionError):
        await carry_in(folder, shelf.open(), place, stopping)
    place.close()
    with pytest.raises(BackupError, match="never finished"):
        FolderSource(tmp_path / "b", tmp_path / "x")
    held = {path.name: path.stat().st_ino for path in (tmp_path / "b" / "artifacts").glob("??/*")}
    assert len(held) == 8
    for more in (0, 1):
        await with_artifacts(database, shelf, tmp_path, 0)
        again = FolderTarget(tmp_path / "b")
        folder = again.tables()
        manifest = await database.read(tables.dump, folder)
        assert (await carry_in(folder, shelf.open(), again, told)).artifacts == 20
        await again.finish(manifest)
        again.close()
        files = {path.name: path.stat().st_ino for path in (tmp_path / "b" / "artifacts").glob("??/*")}
        assert files.items() >= held.items(), more
        assert len(list((tmp_path / "b").glob("tables-*"))) == 1


@pytest.mark.parametrize("database", ["in_place"], indirect=True)
@pytest.mark.parametrize("kind", ["folder", "archive"])
async def test_what_is_lost_or_damaged_is_named_and_what_is_being_collected_is_not_missed(
    kind: str, database: Database, shelf: Shelf, tmp_path: Path
) -> None:
    names = await with_artifacts(database, shelf, tmp_path, 6)
    shelf.remove(names[0])
    shelf.spoil(names[1], b"other bytes")
    shelf.remove(names[2])
    mark = text("UPDATE artifact SET collecting = 1 WHERE checksum = :sum")
    await database.write(lambda held: held.execute(mark, {"sum": names[2].partition(".")[0]}).close())
    place = target(kind, tmp_path)
    folder = place.tables()
    manifest = await database.read(tables.dump, folder)
    carried = await carry_in(folder, shelf.open(), place, told)
    assert carried.absent == tuple(name.partition(".")[0] for name in names[:2])
    assert carried.artifacts == 3
    await place.finish(replace(manifest, absent=carried.absent))
    place.close()
    backup = source(kind, tmp_path)
    restored = await carry_out(backup.tables(), backup, FolderShelf(tmp_path / "restored").open(create=True), told)
    backup.close()
    assert backup.manifest.absent == restored.absent == carried.absent
    assert restored.unused == (names[2].partition(".")[0],)
    assert sorted(FolderShelf(tmp_path / "restored").contents()) == names[3:]


@pytest.mark.parametrize("database", ["in_place"], indirect=True)
async def test_bytes_that_rotted_in_the_backup_are_not_restored(database: Database, tmp_path: Path) -> None:
    names = await with_artifacts(database, FolderShelf(tmp_path / "a"), tmp_path, 3)
    place = FolderTarget(tmp_path / "b")
    folder = place.tables()
    manifest = await database.read(tables.dump, folder)
    await carry_in(folder, FolderShelf(tmp_path / "a").open(), place, told)
    await place.finish(manifest)
    (tmp_path / "b" / "artifacts" / names[1][:2] / names[1]).write_bytes(b"rot")
    backup = FolderSource(tmp_path / "b", tmp_path / "x")
    restored = FolderShelf(tmp_path / "restored")
    carried = await carry_out(backup.tables(), backup, restored.open(create=True), told)
    assert carried.absent == (names[1].partition(".")[0],)
    assert sorted(restored.contents()) == [names[0], names[2]]


@pytest.mark.parametrize("database", ["in_place"], indirect=True)
@pytest.mark.parametrize("killed_at", ["aside", "placed"])
async def test_a_restore_that_is_killed_while_it_replaces_a_home_is_not_taken_for_a_new_home(
    killed_at: str, database: Database, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings = Settings(home=tmp_path / "home")
    await (await storage_of(settings, REGISTRY, SystemClock(), writable=True)).close()
    manifest, _ = await dumped(database, tmp_path / "dump")
    replaced = Path.replace

    def dying(self: Path, target: Path) -> Path:
        if killed_at == "placed" or self.name != RESTORING:
            replaced(self, target)
        if self.name == RESTORING:
            raise KeyboardInterrupt
        return target

    monkeypatch.setattr(Path, "replace", dying)
    with pytest.raises(KeyboardInterrupt):
        async with restoring(settings, SystemClock()) as made:
            await made.write(tables.load, manifest, tmp_path / "dump", replace=True)
    monkeypatch.undo()
    for _ in range(2 if killed_at == "aside" else 0):
        with pytest.raises(StorageUnavailableError, match=r"was interrupted .* run `animastor restore` again"):
            await storage_of(settings, REGISTRY, SystemClock(), writable=True)
    async with restoring(settings, SystemClock()) as made:
        await made.write(tables.load, manifest, tmp_path / "dump", replace=True)
    await (await storage_of(settings, REGISTRY, SystemClock(), writable=True)).close()


@pytest.mark.parametrize("database", ["in_place"], indirect=True)
async def test_each_database_made_of_a_backup_is_an_installation_of_its_own(database: Database, tmp_path: Path) -> None:
    await database.write(numbers.name_installation)
    manifest, _ = await dumped(database, tmp_path / "dump")
    first, second = (SqliteDatabase(tmp_path / f"{number}.db", Time()) for number in range(2))
    for made in (first, second, first):
        before = (await made.read(versions.numbers) or {}).get("installation", 0)
        await made.write(tables.load, manifest, tmp_path / "dump", replace=True)
        after = (await made.read(versions.numbers) or {})["installation"]
        assert before in (0, after), "it stays the same one when its data is replaced"
    held = [(await each.read(versions.numbers) or {})["installation"] for each in (database, first, second)]
    assert len({*held, 0}) == 4
    for made in (first, second):
        await made.close()


@pytest.mark.parametrize("database", ["in_place"], indirect=True)
@pytest.mark.parametrize("kind", ["folder", "archive"])
async def test_only_one_backup_at_a_time_is_taken_into_a_place(
    kind: str, database: Database, shelf: Shelf, tmp_path: Path
) -> None:
    names = await with_artifacts(database, shelf, tmp_path, 6)
    for _ in range(2):
        place = target(kind, tmp_path)
        folder = place.tables()
        manifest = await database.read(tables.dump, folder)
        with pytest.raises(BackupError, match="another backup is being taken into"):
            target(kind, tmp_path)
        assert (await carry_in(folder, shelf.open(), place, told)).artifacts == 6
        await place.finish(manifest)
        place.close()
    (tmp_path / ".b.tar-killed").mkdir()
    (tmp_path / ".b.tar.part").write_bytes(b"of one that was killed")
    target(kind, tmp_path).close()
    backup = source(kind, tmp_path)
    restored = FolderShelf(tmp_path / "restored")
    assert (await carry_out(backup.tables(), backup, restored.open(create=True), told)).artifacts == 6
    backup.close()
    assert sorted(restored.contents()) == sorted(names)
    if kind == "archive":
        assert not list(tmp_path.glob(".b.tar*"))


def test_a_folder_with_other_things_is_no_place_for_a_backup_and_an_empty_one_holds_none(tmp_path: Path) -> None:
    (tmp_path / "thesis.txt").write_text("…")
    with pytest.raises(BackupError, match="holds other things"):
        FolderTarget(tmp_path)
    with pytest.raises(BackupError, match="holds no backup"):
        FolderSource(tmp_path, tmp_path / "x")
    (tmp_path / "cut.tar").write_bytes(b"cut off")
    with pytest.raises(BackupError, match="no backup, or is cut off"):
        ArchiveSource(tmp_path / "cut.tar", tmp_path / "x")
