"""What can go wrong under a `make`: ffmpeg, a backend, finished parts on the disk, the disk of the artifact store.

Each ends in a clear state, and goes on when the cause is gone.
"""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path

import pytest
from place import Place
from program import run, until
from tiny_book import SHORT, artifacts_of, parts_of, read, stored_file, write_book

from animastor.media.ffmpeg import program

AUDIO = ("--media", "audio")


def _ffmpeg_that_once(place: Place, does: str) -> dict[str, str]:
    """The environment with an ffmpeg that the first time does something else, and notes each start."""
    wrapper, first = place.folder / "ffmpeg", place.folder / "first"
    wrapper.write_text(f'#!/bin/sh\nif mkdir "{first}" 2>/dev/null; then {does}; fi\nexec "{program()}" "$@"\n')
    wrapper.chmod(0o755)
    return {"ANIMASTOR_FFMPEG": str(wrapper)}


def _starts(log: Path) -> list[str]:
    return [line["hash"] for line in map(json.loads, log.read_text().splitlines()) if line["event"] == "start"]


@pytest.mark.parametrize(
    ("does", "code", "idle_s"),
    [("kill -KILL $$", "ffmpeg_killed", 120), ("sleep 1000", "job_timeout", 5), ("exit 1", "ffmpeg_failed", 120)],
    ids=["killed", "hung", "failing"],
)
def test_a_job_whose_ffmpeg_dies_is_done_again(place: Place, does: str, code: str, idle_s: int) -> None:
    write_book(place.book, SHORT)
    env = {**_ffmpeg_that_once(place, does), "ANIMASTOR_FFMPEG_IDLE_S": str(idle_s)}
    with place.start("--media", "video", env=env) as started:
        until(lambda: bool(started.tree()) and started.ended(), "the end")
        assert started.wait() == 0, started.err
        assert started.survivors() == []
    assert (place.folder / "first").exists()
    assert f"code={code}" in (place.home / "animastor.log").read_text()
    assert started.err == ""


def test_an_export_whose_ffmpeg_dies_is_told_and_done_by_the_next_command(made: Place) -> None:
    ran = made.make(*AUDIO, env=_ffmpeg_that_once(made, "kill -KILL $$"))
    assert (ran.code, ran.err.count("\n")) == (1, 1)
    assert ran.err.startswith(f"{made.out / 'tiny.m4b'} could not be made: ")
    assert "SIGKILL" in ran.err
    assert list(made.out.iterdir()) == []
    assert made.make(*AUDIO).code == 0


def test_without_ffmpeg_it_ends_and_says_what_is_missing(place: Place) -> None:
    write_book(place.book, SHORT)
    ran = place.make("--media", "video", env={"ANIMASTOR_FFMPEG": "/nowhere/ffmpeg"})
    assert ran.code == 7
    assert ran.err.endswith("ANIMASTOR_FFMPEG=/nowhere/ffmpeg names no program that can be run.\n")
    assert ran.err.count("\n") == 1
    assert place.make("--media", "video").code == 0


def test_a_part_that_cannot_be_made_is_told_and_tried_again_by_the_next_make(place: Place) -> None:
    write_book(place.book, SHORT, language="tlh")  # a language that nobody has a voice for
    log = place.folder / "backends.jsonl"
    env = {"ANIMASTOR_BACKEND_LOG": str(log)}
    ran = place.make(*AUDIO, "--allow-missing", env=env)
    assert ran.code == 1
    assert "Not everything could be made: audio of 1 scene. `animastor status` says why" in ran.out.splitlines()[-1]
    told = run("status", "--home", place.home, cwd=place.folder).out
    assert "  failed: audio of 1/1: " in told
    assert "tlh" in told
    first = _starts(log)
    assert place.make(*AUDIO, "--allow-missing", env=env).code == 1
    assert set(_starts(log)[len(first) :]) == set(first)
    write_book(place.book, SHORT)
    assert place.make(*AUDIO).code == 0


@pytest.mark.parametrize("media", ["audio", "video"])
def test_damaged_bytes_are_found_and_made_again(made: Place, media: str) -> None:
    file, before = stored_file(made.home, media), artifacts_of(made.home)
    whole = file.read_bytes()
    file.unlink()
    file.write_bytes(whole[:100] + bytes([whole[100] ^ 0xFF]) + whole[101:])
    ran = made.make()
    assert ran.code == 0, ran.err
    assert "Done in" in ran.out
    assert stored_file(made.home, media).read_bytes() == whole
    assert artifacts_of(made.home) == before
    assert _reasons(made.home)["corrupt_artifact"] == 1


def test_a_finished_part_that_is_missing_is_made_again(made: Place) -> None:
    file, before = stored_file(made.home, "audio"), parts_of(made.home)
    file.unlink()
    ran = made.make()
    assert ran.code == 0, ran.err
    assert file.exists()
    assert parts_of(made.home) == before
    assert _reasons(made.home)["artifact_missing"] == 1


def test_many_missing_at_once_change_nothing_until_somebody_decides(made: Place) -> None:
    gone = [file for file in (made.home / "artifacts").rglob("*.*") if file.suffix in (".flac", ".png", ".mp4")]
    for file in gone:
        file.unlink()
    before = artifacts_of(made.home)
    ran = made.make()
    assert ran.code == 6
    assert "artifacts are missing: nothing was changed" in ran.out
    assert ran.err.startswith("Finished parts are not in the artifact store any more: `animastor doctor` says")
    assert artifacts_of(made.home) == before
    asked = run("doctor", "--home", made.home, cwd=made.folder)
    assert (asked.code, "run `animastor doctor --repair`" in asked.out) == (1, True)
    repaired = run("doctor", "--repair", "--home", made.home, cwd=made.folder)
    assert repaired.code == 0
    assert made.make("--media", "image").code == 0
    assert run("doctor", "--home", made.home, cwd=made.folder).code == 0


def test_an_artifact_store_that_is_away_changes_nothing_and_work_goes_on_when_it_is_back(made: Place) -> None:
    write_book(made.book, ((("El sol baja.", "Ana despierta."),),))
    away = made.home / "artifacts" / "animastor-artifacts"
    kept, before = away.read_bytes(), _states(made.home)
    away.unlink()
    ran = made.make(*AUDIO)
    assert ran.code == 4
    assert "cannot be read (is its disk mounted?): nothing was changed" in ran.err
    assert "The artifact store cannot be read" in ran.out
    assert {state for state in _states(made.home) if state in before} != set()
    assert _reasons(made.home).keys() & {"artifact_missing", "corrupt_artifact"} == set()
    away.write_bytes(kept)
    assert made.make(*AUDIO).code == 0


def test_a_disk_that_is_nearly_full_is_told_before_anything_starts(place: Place) -> None:
    ran = place.make(env={"ANIMASTOR_DISK_LOW_BYTES": str(2**62)})
    assert ran.code == 5
    assert "free some space, or set ANIMASTOR_DISK_LOW_BYTES" in ran.err
    assert ran.err.count("\n") == 1


def test_what_a_killed_run_left_in_the_work_folder_goes_with_the_next(made: Place) -> None:
    left = made.home / "work" / "0123456789abcdef"
    left.mkdir(parents=True)
    (left / "scratch").mkdir()
    (left / "half.flac").write_bytes(b"half")
    assert made.make(*AUDIO).code == 0
    assert os.listdir(made.home / "work") == []


def test_a_lost_pace_or_log_is_no_loss(made: Place) -> None:
    (made.home / "pace.json").write_text("{broken")
    shutil.rmtree(made.home / "work", ignore_errors=True)
    ran = made.make("--dry-run")
    assert ran.code == 0


def _states(home: Path) -> list[tuple[int, str, int]]:
    return read(home, "SELECT id, media, state FROM asset ORDER BY id")  # type: ignore[return-value]


def _reasons(home: Path) -> dict[str, int]:
    return dict(read(home, "SELECT reason, count(*) FROM journal WHERE type = 'RECOVERED' GROUP BY reason"))
