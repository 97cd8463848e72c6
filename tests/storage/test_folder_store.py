"""What only a folder does: full disks, and what dead processes leave behind."""

from __future__ import annotations

import asyncio
import os
import resource
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from animastor.engine.ports import ArtifactStoreUnavailableError
from animastor.engine.reasons import Reason
from animastor.storage.folder import _MACHINE, FolderStore
from animastor.storage.sentinel import SENTINEL


@pytest.fixture
def store(tmp_path: Path) -> FolderStore:
    return FolderStore(tmp_path / "artifacts", low_fraction=0, low_bytes=0, create=True)


def made(tmp_path: Path, data: bytes = b"a picture") -> Path:
    path = tmp_path / "made.bin"
    path.write_bytes(data)
    return path


async def test_an_empty_folder_where_the_store_was_is_not_taken_for_a_new_store(tmp_path: Path) -> None:
    (tmp_path / "artifacts").mkdir()
    assert await FolderStore(tmp_path / "artifacts", create=True).check() is Reason.ARTIFACT_STORE_UNAVAILABLE


async def test_a_sentinel_that_is_there_and_cannot_be_read_is_not_said_to_be_absent(
    store: FolderStore, tmp_path: Path
) -> None:
    (tmp_path / "artifacts" / SENTINEL).unlink()
    (tmp_path / "artifacts" / SENTINEL).mkdir()
    with pytest.raises(ArtifactStoreUnavailableError, match="Is a directory"):
        await store.delete("0" * 64, ".png")
    assert await store.check() is Reason.ARTIFACT_STORE_UNAVAILABLE


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
    gone = root / "tmp" / f"{int(dead.stdout)}-{_MACHINE}-aa"
    elsewhere = root / "tmp" / f"{int(dead.stdout)}-ffff-cc"
    mine = root / "tmp" / f"{os.getpid()}-{_MACHINE}-bb"
    for path in (gone, mine, elsewhere):
        path.write_bytes(b"half")
    FolderStore(root)
    assert not gone.exists()
    assert mine.exists()
    assert elsewhere.exists(), "another machine's processes have other numbers"


async def test_processes_that_make_the_same_store_at_once_all_find_it_made(tmp_path: Path) -> None:
    root = tmp_path / "artifacts"
    await asyncio.gather(*(asyncio.to_thread(FolderStore, root, create=True) for _ in range(16)))
    assert await FolderStore(root).check() is None
    assert [path.name for path in tmp_path.iterdir()] == ["artifacts"]
