"""A full disk at each place that is written to: one sentence, exit code 5, and it goes on when there is room.

The disks are real: small file systems in memory, mounted where only the commands of the test see them.
"""

from __future__ import annotations

import json
import shutil
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from place import Place
from program import Started, is_soon, until
from tiny_book import SIZE

ROOMY = "64m"
SILENT = {"ANIMASTOR_JOBS": "1"}


class Mounts:
    """A mount namespace that lives as long as its keeper; commands are run inside it."""

    def __init__(self) -> None:
        command = ["unshare", "--mount", "--propagation", "private", "sh", "-c", "echo in; exec cat"]
        self._keeper = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
        )
        assert self._keeper.stdout is not None
        self.permitted = self._keeper.stdout.readline() == "in\n"
        self.inside = ("nsenter", f"--mount=/proc/{self._keeper.pid}/ns/mnt")

    def mount(self, place: Path, options: str) -> None:
        """Mount a file system in memory."""
        place.mkdir(parents=True, exist_ok=True)
        subprocess.run([*self.inside, "mount", "-t", "tmpfs", "-o", options, "tmpfs", place], check=True)

    def enlarge(self, place: Path) -> None:
        """Make room."""
        options = f"remount,size={ROOMY},nr_inodes=0"
        subprocess.run([*self.inside, "mount", "-o", options, place], check=True)

    def seen(self, path: Path) -> Path:
        """A path inside, as it is reached from outside."""
        return Path(f"/proc/{self._keeper.pid}/root{path}")

    def close(self) -> None:
        """The end; with its last process the mounts are gone."""
        self._keeper.kill()
        self._keeper.communicate()


@pytest.fixture
def mounts() -> Iterator[Mounts]:
    """A mount namespace of its own."""
    if shutil.which("unshare") is None or shutil.which("nsenter") is None:
        pytest.skip("unshare and nsenter are not installed")
    made = Mounts()
    try:
        if not made.permitted:
            pytest.skip("mounting is not permitted here")
        yield made
    finally:
        made.close()


def _make(place: Place, mounts: Mounts, *more: str) -> tuple[Started, Path]:
    log = place.folder / "backends.jsonl"
    arguments = ("make", place.book, "--size", SIZE, "--home", place.home, "--out", place.out, *more)
    env = {**SILENT, "ANIMASTOR_BACKEND_LOG": str(log)}
    return Started(arguments, place.folder, env, prefix=mounts.inside), log


def _assert_full_then_goes_on(place: Place, mounts: Mounts, disk: Path, *more: str) -> None:
    started, log = _make(place, mounts, *more)
    with started:
        until(lambda: bool(started.tree()) and started.ended(), "the end")
        over = time.time()
        code = started.wait()
        print(started.out, started.err)
        assert (code, started.err.count("\n")) == (5, 1), started.err + started.out
        assert "is full" in started.err or "no space is left" in started.err.lower(), started.err
        assert started.survivors() == []
    assert is_soon(over - _last_sign(log, started))
    mounts.enlarge(disk)
    again, _ = _make(place, mounts, *more)
    with again:
        assert again.wait() == 0, again.err
        assert "Done in" in again.out


def _last_sign(log: Path, started: Started) -> float:
    """The last time at which the run was well for certain: the last word of a backend, else its start."""
    began = time.time() - (time.monotonic() - started.began)
    lines = log.read_text().splitlines() if log.exists() else []
    return max([json.loads(line)["time"] for line in lines], default=began)


@pytest.mark.parametrize(("which", "size"), [("home", 640), ("home/artifacts", 24), ("home/work", 24)])
def test_while_pictures_are_made(place: Place, mounts: Mounts, which: str, size: int) -> None:
    disk = place.folder / which
    if which == "home":  # the database; what else is in a home has a disk of its own
        mounts.mount(disk, f"size={size}k")
        subprocess.run([*mounts.inside, "mkdir", disk / "work"], check=True)
        mounts.mount(disk / "work", f"size={ROOMY}")
    else:
        place.home.mkdir()
        mounts.mount(disk, f"size={size}k")
        subprocess.run([*mounts.inside, "touch", disk / "animastor-artifacts"], check=True)
    _assert_full_then_goes_on(place, mounts, disk, "--media", "image")


def test_while_the_film_is_written(made: Place, mounts: Mounts) -> None:
    mounts.mount(made.out, "size=16k")
    started, log = _make(made, mounts)
    with started:
        started.until_said("writing")
        since = time.monotonic()
        code = started.wait()
        assert is_soon(time.monotonic() - since)
        assert (code, started.err.count("\n")) == (5, 1), started.err
        assert "no room" in started.err or "is full" in started.err
        assert started.survivors() == []
    assert list(mounts.seen(made.out).iterdir()) == []
    assert not log.exists()
    mounts.enlarge(made.out)
    again, _ = _make(made, mounts)
    with again:
        assert again.wait() == 0, again.err
    assert {path.name for path in mounts.seen(made.out).iterdir()} == {"tiny.mp4", "tiny.vtt", "tiny.m4b"}


@pytest.mark.parametrize("inodes", [1, 2, 4])
def test_while_the_home_is_made(place: Place, mounts: Mounts, inodes: int) -> None:
    disk = place.folder / "disk"
    mounts.mount(disk, f"size={ROOMY},nr_inodes={inodes}")
    asked = ("--home", str(disk / "home"), "--media", "image", "--scope", "scene:1/1")
    _assert_full_then_goes_on(place, mounts, disk, *asked)
