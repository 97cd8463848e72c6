"""The artifact store on each kind of place: whole or not at all, and never mistaken for empty."""

from __future__ import annotations

import asyncio
import secrets
from hashlib import sha256
from pathlib import Path

import pytest
from shelves import BucketShelf, FolderShelf, Shelf

from animastor.engine.ports import ArtifactStore, ArtifactStoreUnavailableError
from animastor.engine.reasons import Reason
from animastor.storage.sentinel import SENTINEL

ABSENT = "0" * 64


@pytest.fixture(params=["folder", "s3"])
def shelf(request: pytest.FixtureRequest, tmp_path: Path) -> Shelf:
    """An empty place of each kind."""
    if request.param == "folder":
        return FolderShelf(tmp_path / "artifacts")
    return BucketShelf(request.getfixturevalue("bucket"), tmp_path / "copies")


@pytest.fixture
def store(shelf: Shelf) -> ArtifactStore:
    """A new store."""
    return shelf.open(create=True)


def made(tmp_path: Path, data: bytes = b"a picture") -> Path:
    path = tmp_path / "made.bin"
    path.write_bytes(data)
    return path


async def test_what_was_put_is_found_by_checksum_and_the_source_stays(
    store: ArtifactStore, shelf: Shelf, tmp_path: Path
) -> None:
    source = made(tmp_path)
    checksum, size = await store.put(source, ".png")
    assert (checksum, size) == (sha256(b"a picture").hexdigest(), 9)
    for reader in (store, shelf.open()):
        found = await reader.path(checksum, ".png")
        assert found is not None
        assert found.read_bytes() == b"a picture"
        assert await reader.whole(checksum, ".png") is True
    assert source.exists()


@pytest.mark.parametrize("size", [0, 1, (8 << 20) - 1, 8 << 20, (8 << 20) + 1, 25_000_000])
async def test_files_of_any_size_come_back_as_they_were(
    size: int, store: ArtifactStore, shelf: Shelf, tmp_path: Path
) -> None:
    data = secrets.token_bytes(1000) * (size // 1000 + 1)
    data = data[:size]
    checksum, told = await store.put(made(tmp_path, data), ".mp4")
    assert (checksum, told) == (sha256(data).hexdigest(), size)
    assert shelf.contents() == {f"{checksum}.mp4": data}
    found = await shelf.open().path(checksum, ".mp4")
    assert found is not None
    assert found.read_bytes() == data


async def test_files_that_are_put_at_once_each_get_their_own_answer(store: ArtifactStore, tmp_path: Path) -> None:
    paths = [tmp_path / f"{number}.bin" for number in range(20)]
    for number, path in enumerate(paths):
        path.write_bytes(b"file %d" % number)
    paths[7].unlink()
    answers = await asyncio.gather(*(store.put(path, ".bin") for path in paths), return_exceptions=True)
    assert isinstance(answers.pop(7), FileNotFoundError)
    expected = [(sha256(b"file %d" % number).hexdigest(), 6 + (number > 9)) for number in range(20) if number != 7]
    assert answers == expected
    assert await store.missing([(checksum, ".bin") for checksum, _ in expected]) == []


async def test_caller_that_gives_up_leaves_the_others_their_answers(store: ArtifactStore, tmp_path: Path) -> None:
    first = asyncio.create_task(store.put(made(tmp_path), ".png"))
    second = asyncio.create_task(store.put(made(tmp_path), ".png"))
    await asyncio.sleep(0)
    first.cancel()
    assert (await second)[1] == 9
    assert first.cancelled() or await asyncio.wait([first])


async def test_putting_the_same_bytes_twice_keeps_one(store: ArtifactStore, shelf: Shelf, tmp_path: Path) -> None:
    first = await store.put(made(tmp_path), ".png")
    assert await store.put(made(tmp_path), ".png") == first
    assert list(shelf.contents()) == [f"{first[0]}.png"]


async def test_bytes_that_rotted_are_told_from_whole_ones_and_written_again(
    store: ArtifactStore, shelf: Shelf, tmp_path: Path
) -> None:
    checksum, _ = await store.put(made(tmp_path), ".png")
    shelf.spoil(f"{checksum}.png", b"rot")
    assert await store.whole(checksum, ".png") is False
    assert await shelf.open().missing([(checksum, ".png")]) == []
    await store.put(made(tmp_path), ".png")
    assert shelf.contents() == {f"{checksum}.png": b"a picture"}
    assert await store.whole(checksum, ".png") is True


async def test_deleted_bytes_are_gone_and_deleting_them_again_is_fine(
    store: ArtifactStore, shelf: Shelf, tmp_path: Path
) -> None:
    checksum, _ = await store.put(made(tmp_path), ".png")
    await store.delete(checksum, ".png")
    await store.delete(checksum, ".png")
    assert shelf.contents() == {}
    assert await store.path(checksum, ".png") is None
    assert await store.missing([(checksum, ".png")]) == [(checksum, ".png")]


@pytest.mark.parametrize("count", [3, 80])  # few are asked for one by one, many are listed
async def test_missing_are_told_from_those_that_are_there_in_any_number(
    count: int, store: ArtifactStore, shelf: Shelf, tmp_path: Path
) -> None:
    artifacts = sorted([((await store.put(made(tmp_path, b"part %d" % n), ".flac"))[0], ".flac") for n in range(count)])
    gone = [artifacts[0], artifacts[count // 2], artifacts[-1]]
    for checksum, suffix in gone:
        shelf.remove(f"{checksum}{suffix}")
    other = shelf.open()
    assert await other.missing(artifacts) == gone
    assert await other.missing(artifacts[1 : count // 2]) == []
    assert await other.missing([]) == []
    assert [await other.whole(*one) for one in gone] == [None] * 3


async def test_absent_bytes_are_none_and_a_store_without_sentinel_raises(
    store: ArtifactStore, shelf: Shelf, tmp_path: Path
) -> None:
    assert await store.path(ABSENT, ".png") is None
    shelf.remove(SENTINEL)
    other = shelf.open()
    assert await other.check() is Reason.ARTIFACT_STORE_UNAVAILABLE
    many = [(f"{number:064x}", ".png") for number in range(100)]
    for asked in (
        lambda: other.path(ABSENT, ".png"),
        lambda: other.whole(ABSENT, ".png"),
        lambda: other.missing([(ABSENT, ".png")]),
        lambda: other.missing(many),
        lambda: other.delete(ABSENT, ".png"),
        lambda: other.put(made(tmp_path), ".png"),
    ):
        with pytest.raises(ArtifactStoreUnavailableError, match=f"{SENTINEL} is not there"):
            await asked()


async def test_a_place_that_holds_things_already_is_not_taken_for_a_new_store(shelf: Shelf, tmp_path: Path) -> None:
    old = shelf.open(create=True)
    await old.put(made(tmp_path), ".png")
    shelf.remove(SENTINEL)
    assert await shelf.open(create=True).check() is Reason.ARTIFACT_STORE_UNAVAILABLE


async def test_a_store_that_is_gone_altogether_is_unavailable_and_not_empty(
    store: ArtifactStore, shelf: Shelf, tmp_path: Path
) -> None:
    checksum, _ = await store.put(made(tmp_path), ".png")
    shelf.lose()
    other = shelf.open()
    assert await other.check() is Reason.ARTIFACT_STORE_UNAVAILABLE
    with pytest.raises(ArtifactStoreUnavailableError):
        await other.missing([(checksum, ".png")])


async def test_a_new_store_is_made_once_by_many_at_once(shelf: Shelf, tmp_path: Path) -> None:
    stores = [shelf.open(create=True) for _ in range(5)]
    assert await asyncio.gather(*(store.check() for store in stores)) == [None] * 5
    assert await shelf.open(create=True).check() is None


async def test_low_disk_is_said_by_bytes_and_by_share(store: ArtifactStore, shelf: Shelf) -> None:
    assert await store.check() is None
    assert await shelf.open(low_bytes=1 << 60).check() is Reason.DISK_LOW
    assert await shelf.open(low_fraction=1).check() is Reason.DISK_LOW
