"""`animastor edit`: what it will have made again, asked at a terminal, and made while a make is at work or after."""

from __future__ import annotations

import json

import pytest
from gate import Gate
from place import Place
from program import Ran, Started, run
from tiny_book import SHORT, TEXTS, read, write_book

SET = ("--set", "1/1/2.image.prompt=a ship on the sea at night")


def _edit(place: Place, *more: str | object) -> Ran:
    return run("edit", "tiny", *map(str, more), "--home", place.home, cwd=place.folder)


def test_it_shows_what_is_made_again_and_making_it_makes_exactly_that(made: Place) -> None:
    before = read(made.home, "SELECT count(*) FROM part WHERE state = 1")[0][0]
    shown = _edit(made, *SET, "--dry-run", "--json")
    touched, diff = map(json.loads, shown.out.splitlines())
    assert (touched["event"], touched["changed"], touched["scenes"], touched["head"]) == ("touched", 1, 3, False)
    parts = {"audio.speech": [0, 2], "image.picture": [1, 1], "video.shot": [1, 0], "video.merge": [1, 0]}
    assert (diff["event"], diff["parts"], diff["missing"], diff["cost"]) == ("diff", parts, 3, 0.0)
    assert read(made.home, "SELECT revision FROM book") == [(1,)]
    edited = _edit(made, *SET, "--yes")
    assert (edited.code, edited.err) == (0, "")
    assert edited.out.splitlines()[-1] == "Edited: Tiny (tiny); `animastor make` makes it."
    assert made.make().code == 0
    assert read(made.home, "SELECT count(*) FROM part WHERE state = 1")[0][0] == before + 3
    again = _edit(made, *SET, "--yes")
    assert (again.code, again.out) == (0, "Nothing changes in Tiny (tiny).\n")


@pytest.mark.parametrize("columns", [60, 140])
def test_a_person_at_a_terminal_is_asked(made: Place, columns: int) -> None:
    arguments = ("edit", "tiny", *SET, "--home", made.home)
    for answer, last in (("n", "Nothing was changed."), ("y", "Edited: Tiny (tiny); `animastor make` makes it.")):
        with Started(arguments, made.folder, terminal=(columns, 24)) as editing:
            editing.until_said("Make this edit? [y/N] ")
            editing.type(f"{answer}\n")
            assert editing.wait() == 0
        lines = [line.rstrip() for line in editing.out.replace("\r", "").splitlines()]
        assert lines[0].endswith("Tiny (tiny), 3 scenes: 1 changed.")
        assert any("to make again" in line and "kept" in line for line in lines)
        assert any(line.startswith("1 picture and 1 shot to be made, in about ") for line in lines)
        assert any(last in line for line in lines), lines


def test_a_running_make_takes_it_over(place: Place) -> None:
    gate = Gate(place)
    with place.start(env=gate.environment) as making:
        making.until_said("image 6/6")
        told = _edit(place, *SET, "--yes")
        assert told.out.splitlines()[-1] == "Edited: Tiny (tiny); what is asked for takes it over."
        gate.open()
        assert making.wait() == 0, making.err
    prompts = [json.loads(row[0]) for row in read(place.home, "SELECT params FROM part WHERE kind = 'picture'")]
    assert sum("a ship on the sea at night" in json.dumps(one) for one in prompts) == 1
    assert read(place.home, "SELECT count(*) FROM asset WHERE state <> 4") == [(0,)]


def test_a_new_version_of_the_file_is_an_edit_too(made: Place) -> None:
    other = write_book(made.folder / "other", (*TEXTS, *SHORT))
    shown = _edit(made, other, "--dry-run")
    assert shown.out.splitlines()[0] == "Tiny (tiny), 4 scenes: 1 new."
    assert _edit(made, other, "--yes").code == 0
    assert read(made.home, "SELECT count(*) FROM scene") == [(4,)]
    assert run("make", other, "--size", "128x72", "--dry-run", "--home", made.home, cwd=made.folder).code == 0


def test_what_cannot_be_edited_is_said_and_nothing_is_changed_without_a_yes(made: Place) -> None:
    for arguments, code, sentence in (
        ((), 2, "Name either a file with the new content, or --set."),
        (SET, 2, "An edit is asked for confirmation: --yes makes it at once, --dry-run only shows it."),
        (("--set", "1/1/2.colour=red"), 2, "--set '1/1/2.colour=red': '1/1/2.colour' names no field: a unit has text,"),
        (
            ("--set", "1/9/2.text=x", "--yes"),
            3,
            "Chapter 1 has no scene '9': name it by a number from 1 to 2, or by its id",
        ),
        (("--set", "characters/x.name=y"), 3, "The book has no character 'x', nor any other."),
        (("nowhere.txt",), 3, "nowhere.txt does not exist."),
    ):
        told = _edit(made, *arguments)
        assert (told.code, told.err.startswith(sentence)) == (code, True), told.err
    assert read(made.home, "SELECT revision FROM book") == [(1,)]
