"""A database uses the artifact store that it knows and no other: another one is away, never a library that is lost."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from pathlib import Path

import pytest
from shelves import BucketShelf, FolderShelf, Shelf
from world import Driver, book

from animastor.engine.ports import ArtifactStoreUnavailableError
from animastor.engine.reasons import Reason
from animastor.storage.belonging import OwnStore
from animastor.storage.sentinel import SENTINEL, WrongStoreError
from animastor.storage.sql import SqlStorage

ABSENT = "0" * 64
OTHER = b"The artifacts of somebody else.\nstore 00000000000000aa\n"


@pytest.fixture(params=["folder", "s3"])
def shelf(request: pytest.FixtureRequest, tmp_path: Path) -> Shelf:
    """An empty place of each kind."""
    if request.param == "folder":
        return FolderShelf(tmp_path / "artifacts")
    return BucketShelf(request.getfixturevalue("bucket"), tmp_path / "copies")


@dataclass
class Process:
    """Opens stores as a process that works does."""

    storage: SqlStorage

    def opens(self, shelf: Shelf, *, create: bool = True, shared: bool = True, keeps: bool = True) -> OwnStore:
        return OwnStore(shelf.open(create=create), self.storage, keeps=keeps, shared=shared)


@pytest.fixture
def process(storage: SqlStorage) -> Process:
    return Process(storage)


def made(tmp_path: Path) -> Path:
    path = tmp_path / "made.bin"
    path.write_bytes(b"a picture")
    return path


async def test_first_store_is_kept_and_found_again_by_every_process(
    process: Process, shelf: Shelf, tmp_path: Path
) -> None:
    stores = [process.opens(shelf) for _ in range(4)]
    assert await asyncio.gather(*(store.check() for store in stores)) == [None] * 4
    checksum, _ = await stores[0].put(made(tmp_path), ".png")
    assert await process.storage.artifact_store()
    for keeps in (True, False):
        assert await process.opens(shelf, create=False, keeps=keeps).path(checksum, ".png") is not None


async def test_who_only_asks_does_not_say_which_store_it_is(process: Process, tmp_path: Path) -> None:
    mine = FolderShelf(tmp_path / "laptop")
    mine.open(create=True)
    asking = process.opens(mine, create=False, keeps=False)
    assert await asking.check() is None
    assert await process.storage.artifact_store() == 0
    await process.opens(FolderShelf(tmp_path / "rack")).put(made(tmp_path), ".png")
    with pytest.raises(WrongStoreError):
        await asking.check()


async def test_machines_that_see_different_places_are_told_and_nothing_is_missing(
    process: Process, tmp_path: Path
) -> None:
    here, there = FolderShelf(tmp_path / "here"), FolderShelf(tmp_path / "there")
    checksum, _ = await process.opens(here).put(made(tmp_path), ".png")
    other = process.opens(there)
    for asked in (
        other.check,
        lambda: other.missing([(checksum, ".png")]),
        lambda: other.path(checksum, ".png"),
        lambda: other.whole(checksum, ".png"),
        lambda: other.delete(checksum, ".png"),
        lambda: other.put(made(tmp_path), ".png"),
    ):
        with pytest.raises(WrongStoreError, match="is not the one that this database knows"):
            await asked()
    assert there.contents() == {}


async def test_two_machines_that_make_different_places_at_once_agree_on_one(process: Process, tmp_path: Path) -> None:
    stores = [process.opens(FolderShelf(tmp_path / str(number))) for number in range(4)]
    answers = await asyncio.gather(*(store.check() for store in stores), return_exceptions=True)
    assert answers.count(None) == 1
    assert sum(isinstance(answer, WrongStoreError) for answer in answers) == 3


async def test_store_that_is_replaced_by_another_while_a_process_runs_is_away(
    process: Process, shelf: Shelf, tmp_path: Path
) -> None:
    store = process.opens(shelf)
    await store.put(made(tmp_path), ".png")
    shelf.spoil(SENTINEL, OTHER)
    with pytest.raises(WrongStoreError):
        await store.check()
    with pytest.raises(WrongStoreError):
        await store.missing([(ABSENT, ".png")])


async def test_store_with_artifacts_is_not_that_of_a_database_that_knows_none(
    process: Process, shelf: Shelf, tmp_path: Path
) -> None:
    await shelf.open(create=True).put(made(tmp_path), ".png")
    with pytest.raises(WrongStoreError, match="another installation's"):
        await process.opens(shelf).check()
    assert await process.storage.artifact_store() == 0
    assert await process.opens(shelf, shared=False).check() is None, "a home's own folder is the home's"


async def test_store_of_a_database_that_knows_artifacts_and_no_number_is_taken_as_it_is(
    process: Process, driver: Driver, shelf: Shelf, tmp_path: Path
) -> None:
    await driver.request(await driver.save(book()))
    await driver.run()
    await shelf.open(create=True).put(made(tmp_path), ".png")
    assert await process.opens(shelf).check() is None
    assert await process.storage.artifact_store()


async def test_store_without_a_number_fits_any_database(process: Process, shelf: Shelf, tmp_path: Path) -> None:
    checksum, _ = await shelf.open(create=True).put(made(tmp_path), ".png")
    shelf.spoil(SENTINEL, b"The artifacts of an Animastor home. Do not change anything in here.\n")
    store = process.opens(shelf)
    assert await store.check() is None
    assert await store.whole(checksum, ".png") is True


async def test_store_that_is_away_at_first_is_kept_when_it_comes(process: Process, tmp_path: Path) -> None:
    shelf = FolderShelf(tmp_path / "mounted" / "artifacts")
    store = process.opens(shelf, create=False)
    assert await store.check() is Reason.ARTIFACT_STORE_UNAVAILABLE
    with pytest.raises(ArtifactStoreUnavailableError):
        await store.put(made(tmp_path), ".png")
    shelf.open(create=True)
    await store.put(made(tmp_path), ".png")
    assert await process.storage.artifact_store()
