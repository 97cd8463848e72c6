"""The folder of artifacts: whole or not at all, and never mistaken for empty."""

from __future__ import annotations

import asyncio
import os
import resource
import subprocess
import sys
from collections.abc import Iterator
from hashlib import sha256
from pathlib import Path

import pytest

from animastor.engine.ports import ArtifactStoreUnavailableError
from animastor.engine.reasons import Reason
from animastor.storage.folder import SENTINEL, FolderStore


@pytest.fixture
def store(tmp_path: Path) -> FolderStore:
    return FolderStore(tmp_path / "artifacts", low_fraction=0, low_bytes=0, create=True)


def made(tmp_path: Path, data: bytes = b"a picture") -> Path:
    path = tmp_path / "made.bin"
    path.write_bytes(data)
    return path


async def test_what_was_put_is_found_by_checksum_and_the_source_stays(store: FolderStore, tmp_path: Path) -> None:
    source = made(tmp_path)
    checksum, size = await store.put(source, ".png")
    assert (checksum, size) == (sha256(b"a picture").hexdigest(), 9)
    found = await store.path(checksum, ".png")
    assert found is not None
    assert found.read_bytes() == b"a picture"
    assert source.exists()


async def test_files_that_are_put_at_once_each_get_their_own_answer(store: FolderStore, tmp_path: Path) -> None:
    paths = [tmp_path / f"{number}.bin" for number in range(20)]
    for number, path in enumerate(paths):
        path.write_bytes(b"file %d" % number)
    paths[7].unlink()
    answers = await asyncio.gather(*(store.put(path, ".bin") for path in paths), return_exceptions=True)
    assert isinstance(answers.pop(7), FileNotFoundError)
    expected = [(sha256(b"file %d" % number).hexdigest(), 6 + (number > 9)) for number in range(20) if number != 7]
    assert answers == expected
    assert [await store.path(checksum, ".bin") is not None for checksum, _ in expected] == [True] * 19


async def test_caller_that_gives_up_leaves_the_others_their_answers(store: FolderStore, tmp_path: Path) -> None:
    first = asyncio.create_task(store.put(made(tmp_path), ".png"))
    second = asyncio.create_task(store.put(made(tmp_path), ".png"))
    await asyncio.sleep(0)
    first.cancel()
    assert (await second)[1] == 9
    assert first.cancelled() or await asyncio.wait([first])


async def test_putting_the_same_bytes_twice_keeps_one_file(store: FolderStore, tmp_path: Path) -> None:
    first = await store.put(made(tmp_path), ".png")
    assert await store.put(made(tmp_path), ".png") == first
    assert len(list((tmp_path / "artifacts").rglob("*.png"))) == 1


async def test_bytes_that_rotted_under_their_checksum_are_written_again(store: FolderStore, tmp_path: Path) -> None:
    checksum, _ = await store.put(made(tmp_path), ".png")
    path = await store.path(checksum, ".png")
    assert path is not None
    path.write_bytes(b"rot")
    await store.put(made(tmp_path), ".png")
    assert path.read_bytes() == b"a picture"


async def test_absent_bytes_are_none_and_a_store_without_sentinel_raises(store: FolderStore, tmp_path: Path) -> None:
    assert await store.path("0" * 64, ".png") is None
    (tmp_path / "artifacts" / SENTINEL).unlink()
    assert await store.check() is Reason.ARTIFACT_STORE_UNAVAILABLE
    with pytest.raises(ArtifactStoreUnavailableError, match="is the disk mounted"):
        await store.path("0" * 64, ".png")
    with pytest.raises(ArtifactStoreUnavailableError):
        await store.put(made(tmp_path), ".png")


async def test_an_empty_folder_where_the_store_was_is_not_taken_for_a_new_store(tmp_path: Path) -> None:
    (tmp_path / "artifacts").mkdir()
    assert await FolderStore(tmp_path / "artifacts", create=True).check() is Reason.ARTIFACT_STORE_UNAVAILABLE


async def test_low_disk_is_said_by_bytes_and_by_share(tmp_path: Path) -> None:
    root = tmp_path / "artifacts"
    assert await FolderStore(root, low_fraction=0, low_bytes=0, create=True).check() is None
    assert await FolderStore(root, low_fraction=0, low_bytes=1 << 60).check() is Reason.DISK_LOW
    assert await FolderStore(root, low_fraction=1, low_bytes=0).check() is Reason.DISK_LOW


@pytest.fixture
def small_files() -> Iterator[None]:
    """A real limit: no file of this process may grow beyond 64 KiB."""
    import signal

    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    handler = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (65536, before[1]))
    yield
    resource.setrlimit(resource.RLIMIT_FSIZE, before)
    signal.signal(signal.SIGXFSZ, handler)


async def test_a_disk_that_fills_up_leaves_nothing_behind(
    store: FolderStore, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest
) -> None:
    source = made(tmp_path, b"x" * 200_000)

    def other_disk(*_: object) -> None:
        raise OSError(18, "Invalid cross-device link")

    monkeypatch.setattr(os, "link", other_disk)
    request.getfixturevalue("small_files")
    with pytest.raises(OSError, match="too large"):
        await store.put(source, ".png")
    assert source.exists()
    assert [each for each in (tmp_path / "artifacts").rglob("*") if each.is_file()] == [
        tmp_path / "artifacts" / SENTINEL
    ]


async def test_temporary_files_of_dead_processes_go_and_those_of_the_living_stay(tmp_path: Path) -> None:
    root = tmp_path / "artifacts"
    FolderStore(root, create=True)
    dead = subprocess.run([sys.executable, "-c", "import os; print(os.getpid())"], capture_output=True, check=True)
    gone = root / "tmp" / f"{int(dead.stdout)}-aa"
    mine = root / "tmp" / f"{os.getpid()}-bb"
    for path in (gone, mine):
        path.write_bytes(b"half")
    FolderStore(root)
    assert not gone.exists()
    assert mine.exists()
