"""Mistakes on the command line and sources that are no books: one sentence, an exit code, nothing left behind."""

from __future__ import annotations

import json
import os
import re
import subprocess
from collections.abc import Mapping
from pathlib import Path

import pytest
from place import Place
from program import PROGRAM, Ran, environment, run
from tiny_book import read, write_book

from animastor.storage.versions import SCHEMA


def _is_one_sentence(text: str) -> bool:
    return text.count("\n") == 1 and text.endswith(".\n") and "Traceback" not in text


@pytest.mark.parametrize(
    ("arguments", "code", "sentence"),
    [
        ((), 2, "Missing argument 'SOURCE'. See `animastor make --help`."),
        (("book", "--bogus"), 2, "No such option: --bogus"),
        (("book", "--jobs", "0"), 2, "Invalid value for '--jobs'"),
        (("book", "--size", "10x10"), 2, "both sides must be even and between 64 and 4096 pixels."),
        (("book", "--size", "big"), 2, "--size 'big' is not WIDTHxHEIGHT, such as 1280x720."),
        (("book", "--media", "sound"), 2, "'sound' is no media type; there are audio, image, video."),
        (("book", "--scope", "page:1"), 2, "--scope 'page:1' is not all, chapter:CHAPTER"),
        (("absent.epub",), 3, "absent.epub does not exist."),
        (("book", "--out", "book/manifest.json"), 4, "manifest.json is a file, no folder."),
    ],
)
def test_a_mistake_is_told_before_anything_is_touched(
    place: Place, arguments: tuple[str, ...], code: int, sentence: str
) -> None:
    ran = run("make", *arguments, "--home", "home", cwd=place.folder)
    assert (ran.code, ran.out) == (code, "")
    assert sentence in ran.err
    assert _is_one_sentence(ran.err)
    assert os.listdir(place.folder) == ["book"]


@pytest.mark.parametrize(
    ("arguments", "code", "sentence"),
    [
        (
            ("--scope", "chapter:9"),
            3,
            "The book has no chapter '9': name it by a number from 1 to 2, or by its id (c1, c2).",
        ),
        (("--scope", "scene:1/7"), 3, "Chapter 1 has no scene '7': name it by a number from 1 to 2, or by its id"),
        (("--voice", "nobody"), 2, "--voice 'nobody' is no voice: there are oak, slate,"),
    ],
)
def test_what_the_book_does_not_have_is_told_and_the_new_home_goes_again(
    place: Place, arguments: tuple[str, ...], code: int, sentence: str
) -> None:
    ran = run("make", "book", *arguments, "--home", "deep/below/home", cwd=place.folder)
    assert (ran.code, ran.out) == (code, "")
    assert sentence in ran.err
    assert _is_one_sentence(ran.err)
    assert os.listdir(place.folder) == ["book"]


def test_a_broken_source_leaves_no_home_and_an_existing_home_as_it_was(made: Place) -> None:
    (made.folder / "broken.epub").write_bytes(b"PK\3\4 and then nothing of use")
    fresh = run("import", "broken.epub", "--home", "fresh", cwd=made.folder)
    ran = run("make", "broken.epub", "--home", "home", "--json", cwd=made.folder)
    assert fresh.code == ran.code == 3
    assert "broken.epub" in fresh.err
    assert _is_one_sentence(fresh.err)
    assert not (made.folder / "fresh").exists()
    assert json.loads(ran.out) == {
        "event": "error",
        "message": ran.err.strip(),
        "reason": json.loads(ran.out)["reason"],
        "exit_code": 3,
    }
    assert read(made.home, "SELECT count(*) FROM book") == [(1,)]


@pytest.mark.parametrize(
    ("arguments", "env", "code", "sentence"),
    [
        (("status", "--home", "nowhere"), {}, 4, "There is no home in nowhere: `animastor make SOURCE` makes one."),
        (("export", "--film", "--home", "nowhere"), {}, 4, "There is no home in nowhere"),
        (("export", "--home", "nowhere"), {}, 4, "There is no home in nowhere"),
        (("status", "--home", ""), {}, 2, "ANIMASTOR_HOME= cannot be used: it should name a folder."),
        (("status",), {"ANIMASTOR_JOBS": "0"}, 2, "ANIMASTOR_JOBS=0 cannot be used: it should be greater than"),
        (("make", "book", "--home", "book/book.json"), {}, 4, "book.json cannot be used: it is no folder."),
        (("make", "book", "--home", "/proc/home"), {}, 4, "/proc/home cannot be used: No such file or directory."),
    ],
)
def test_a_home_or_setting_that_cannot_be_used_is_named(
    place: Place, arguments: tuple[str, ...], env: Mapping[str, str], code: int, sentence: str
) -> None:
    ran = run(*arguments, cwd=place.folder, env=env)
    assert (ran.code, ran.out) == (code, "")
    assert sentence in ran.err
    assert _is_one_sentence(ran.err)
    assert os.listdir(place.folder) == ["book"]


def test_a_book_that_is_not_in_the_home_is_told_with_those_that_are(made_once: tuple[Place, Ran]) -> None:
    place, _ = made_once
    for command in (("status", "other"), ("export", "other", "--film")):
        ran = run(*command, "--home", place.home, cwd=place.folder)
        assert (ran.code, ran.err) == (3, "There is no book 'other' in this home; it has: tiny.\n")


def test_a_home_of_a_newer_program_is_refused_and_left_alone(made: Place) -> None:
    import sqlite3

    with sqlite3.connect(made.home / "animastor.db") as database:
        database.execute("UPDATE meta SET value = 99 WHERE name = 'schema'")
    database.close()
    for ran in (made.make(), run("status", "--home", made.home, cwd=made.folder)):
        assert ran.code == 4
        assert ran.err == f"This home has schema 99, this program knows {SCHEMA}: install a newer Animastor.\n"


def test_an_export_without_its_scenes_names_them(place: Place) -> None:
    run("import", "book", "--home", "home", cwd=place.folder)
    ran = run("export", "--audiobook", "--home", "home", cwd=place.folder)
    assert ran.code == 6
    assert ran.err.startswith("The audiobook lacks 3 scenes: 1/1, 1/2, 2/1.")
    subtitles = run("export", "--subtitles", "--home", "home", cwd=place.folder)
    assert subtitles.err.startswith("The subtitles lack 3 scenes: ")


def test_an_export_that_names_no_kind_writes_them_all(made_once: tuple[Place, Ran], tmp_path: Path) -> None:
    place, _ = made_once
    ran = run("export", "--home", place.home, "--out", tmp_path, cwd=place.folder)
    assert (ran.code, ran.err) == (0, "")
    assert sorted(path.suffix for path in tmp_path.iterdir()) == [".m4b", ".mp4", ".vtt"]


def test_a_command_that_does_not_exist_leads_to_the_list_of_commands(tmp_path: Path) -> None:
    ran = run("mkae", "book", cwd=tmp_path)
    assert (ran.code, ran.err) == (2, "No such command 'mkae'. Did you mean 'make'? See `animastor --help`.\n")


def test_help_version_and_no_command_at_all_are_no_mistakes(tmp_path: Path) -> None:
    for arguments in ((), ("--help",), ("make", "--help")):
        ran = run(*arguments, cwd=tmp_path)
        assert (ran.code, ran.err) == (0, "")
        assert "Usage:" in ran.out
    assert re.fullmatch(r"animastor \d+\.\d+\.\d+\n", run("--version", cwd=tmp_path).out)


def test_output_that_is_closed_or_full_ends_a_command_without_a_traceback(made_once: tuple[Place, Ran]) -> None:
    place, _ = made_once
    command = [*PROGRAM, "status", "--home", str(place.home)]
    with open("/dev/full", "w") as full:
        ended = subprocess.run(command, env=environment(), stdout=full, stderr=subprocess.PIPE, text=True, check=False)
    closed = subprocess.run(["sh", "-c", '"$@" >&- 2>&-', "-", *command], env=environment(), check=False)
    assert ended.returncode == 5
    assert ended.stderr.startswith("The output cannot be written (No space left on device): stopped.")
    assert closed.returncode == 0


def test_another_book_of_the_same_id_is_a_new_version_and_not_a_second_book(made: Place) -> None:
    write_book(made.folder / "copy", ((("El sol sale.", "Ana despierta."),),))
    ran = run("import", "copy", "--home", made.home, cwd=made.folder)
    assert (ran.code, ran.out) == (0, "Tiny (tiny): 1 scene, 2 gone.\n")
