"""The ffmpeg program is found, run from an argument list, watched, and ended when it must be."""

from __future__ import annotations

import os
import resource
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path

import psutil
import pytest

from animastor.media import ffmpeg

TONE = ["-f", "lavfi", "-i", "sine=duration=2"]
ENDLESS = ["-re", "-f", "lavfi", "-i", "sine=duration=1000"]


@pytest.fixture
def stand_in(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str], None]:
    """Puts a shell script in the place of the program."""

    def put(script: str) -> None:
        path = tmp_path / "stand-in"
        path.write_text(f"#!/bin/sh\n{script}\n")
        path.chmod(0o755)
        monkeypatch.setattr(ffmpeg, "program", lambda: str(path))

    return put


def test_program_encodes_what_the_film_needs() -> None:
    assert ffmpeg._encodes(ffmpeg.program())


def test_a_newer_program_of_the_system_is_used_and_an_older_or_unfit_one_is_not(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def chosen(version: str, encoders: str) -> str:
        path = tmp_path / f"ffmpeg-{version}-{len(encoders)}"
        path.write_text(
            f'#!/bin/sh\ncase "$*" in *encoders*) echo "{encoders}";; *) echo "ffmpeg version {version}";; esac'
        )
        path.chmod(0o755)
        monkeypatch.setattr(ffmpeg.shutil, "which", lambda _: str(path))
        ffmpeg.program.cache_clear()
        return Path(ffmpeg.program()).name

    able = " V....D libx264 x\n A....D aac x"
    assert chosen("n99.1", able) == f"ffmpeg-n99.1-{len(able)}"
    assert not chosen("n99.1", " A....D aac x").startswith("ffmpeg-n99.1-")
    assert not chosen("4.2.7", able).startswith("ffmpeg-4.2.7-")
    monkeypatch.undo()
    ffmpeg.program.cache_clear()


def test_output_is_made_whatever_characters_its_name_has(tmp_path: Path) -> None:
    path = tmp_path / "-a: b%03d 'c' ü.wav"
    told: list[float] = []
    ffmpeg.run(TONE, path, progress=told.append)
    assert path.stat().st_size > 100_000
    assert told[-1] == pytest.approx(2.0)


def test_feed_is_written_to_its_input(tmp_path: Path) -> None:
    pieces = (bytes(2000) for _ in range(10))
    ffmpeg.run(["-f", "s16le", "-ar", 1000, "-ac", 1, "-i", "pipe:0"], tmp_path / "a.wav", feed=pieces)
    assert 20_000 <= (tmp_path / "a.wav").stat().st_size <= 20_200


def test_what_the_feed_raises_is_passed_on_and_nothing_is_left(tmp_path: Path) -> None:
    def pieces() -> Iterator[bytes]:
        yield bytes(100_000)
        raise KeyError("a picture is missing")

    with pytest.raises(KeyError):
        ffmpeg.run(["-f", "s16le", "-ar", 1000, "-ac", 1, "-i", "pipe:0"], tmp_path / "a.wav", feed=pieces())
    assert list(tmp_path.iterdir()) == []
    assert not [each for each in psutil.Process().children() if "ffmpeg" in each.name()]


def test_failure_gives_the_last_line_of_its_log(tmp_path: Path) -> None:
    with pytest.raises(ffmpeg.FfmpegFailedError, match=r"No such file or directory$"):
        ffmpeg.run(["-i", tmp_path / "absent.wav"], tmp_path / "a.wav")


def test_failure_while_it_is_fed_is_its_own_error_not_a_broken_pipe(tmp_path: Path) -> None:
    endless = (bytes(65536) for _ in range(10_000))
    with pytest.raises(ffmpeg.FfmpegFailedError):
        ffmpeg.run(["-f", "flac", "-i", "pipe:0"], tmp_path / "a.wav", feed=endless)


def test_killed_names_the_signal(stand_in: Callable[[str], None]) -> None:
    stand_in("kill -SEGV $$")
    with pytest.raises(ffmpeg.FfmpegKilledError, match="SIGSEGV"):
        ffmpeg.run(TONE)


def test_hung_is_ended(stand_in: Callable[[str], None]) -> None:
    stand_in("echo frame=1; exec sleep 1000")
    started = time.monotonic()
    with pytest.raises(ffmpeg.FfmpegHungError):
        ffmpeg.run(TONE, limits=ffmpeg.Limits(idle_s=0.2))
    assert time.monotonic() - started < 60


def test_hung_is_ended_while_it_is_fed(stand_in: Callable[[str], None]) -> None:
    stand_in("exec sleep 60")
    with pytest.raises(ffmpeg.FfmpegHungError):
        ffmpeg.run(TONE, feed=[bytes(2**20)], limits=ffmpeg.Limits(idle_s=0.2))


def test_runaway_is_ended_and_its_output_removed(tmp_path: Path) -> None:
    with pytest.raises(ffmpeg.OutputTooLargeError):
        ffmpeg.run(
            ["-f", "lavfi", "-i", "sine=duration=100000"], tmp_path / "a.wav", limits=ffmpeg.Limits(output_bytes=10_000)
        )
    assert list(tmp_path.iterdir()) == []


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")
def test_full_disk_is_recognised(tmp_path: Path) -> None:
    (tmp_path / "a.wav").symlink_to("/dev/full")
    with pytest.raises(ffmpeg.DiskFullError):
        ffmpeg.run([*TONE, "-f", "wav"], tmp_path / "a.wav")


def test_limit_on_the_size_of_files_is_a_full_disk(tmp_path: Path) -> None:
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (50_000, before[1]))
    try:
        with pytest.raises(ffmpeg.DiskFullError):
            ffmpeg.run(TONE, tmp_path / "a.wav")
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.skipif(sys.platform != "linux", reason="PDEATHSIG is Linux's")
def test_it_dies_with_its_parent(tmp_path: Path) -> None:
    code = f"from animastor.media import ffmpeg; ffmpeg.run({ENDLESS!r} + ['-f', 'null', '-'], progress=print)"
    parent = subprocess.Popen([sys.executable, "-uc", code], stdout=subprocess.PIPE)
    assert parent.stdout is not None
    parent.stdout.readline()  # it has begun
    (child,) = psutil.Process(parent.pid).children()
    os.kill(parent.pid, signal.SIGKILL)
    parent.wait()
    parent.stdout.close()
    deadline = time.monotonic() + 60
    with suppress(psutil.NoSuchProcess):
        while child.status() != psutil.STATUS_ZOMBIE:
            assert time.monotonic() < deadline
            time.sleep(0.01)
