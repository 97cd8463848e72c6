"""`animastor delete`: at a terminal or with --yes, of a whole book and of parts of it, also while it is made."""

from __future__ import annotations

import json
from pathlib import Path

from gate import Gate
from journal_check import journal_differences
from place import Place
from program import Ran, Started, run
from tiny_book import read


def _delete(place: Place, *more: str) -> Ran:
    return run("delete", "tiny", *more, "--home", place.home, cwd=place.folder)


def _files(place: Place) -> list[Path]:
    kept = (path for path in (place.home / "artifacts").rglob("*") if path.is_file())
    return [path for path in kept if path.name != "animastor-artifacts"]


def test_a_book_is_deleted_with_rows_and_files_and_its_films_stay(made: Place) -> None:
    films = made.make()
    assert films.code == 0
    assert _files(made)
    told = _delete(made, "--yes")
    assert (told.code, told.err) == (0, "")
    assert told.out.startswith("Deleted: Tiny (tiny) with its 3 scenes, and ")
    assert _files(made) == []
    for table in ("book", "scene", "asset", "part", "dispatch", "request", "unit_take", "tally"):
        assert read(made.home, f"SELECT count(*) FROM {table}") == [(0,)], table
    assert (made.out / "tiny.mp4").exists()
    status = run("status", "--home", made.home, cwd=made.folder)
    assert status.out == "There is no book in this home yet.\n"


def test_what_a_backup_keeps_is_told_by_delete_and_gc(made: Place) -> None:
    assert run("backup", made.folder / "kept", "--home", made.home, cwd=made.folder).code == 0
    told = _delete(made, "--yes")
    assert told.code == 0
    assert " artifacts are kept until six hours after the last backup." in told.out
    collected = run("gc", "--now", "--home", made.home, cwd=made.folder)
    assert collected.out.startswith("There is nothing to delete: all finished parts are used, or kept for a while. ")
    assert collected.out.endswith(" more are kept until six hours after the last backup.\n")


def test_without_a_terminal_it_wants_yes_and_at_one_it_asks(made: Place) -> None:
    told = _delete(made)
    assert (told.code, told.out) == (2, "")
    assert told.err == "Deleting Tiny (tiny) with its 3 scenes cannot be undone: add --yes to do it without asking.\n"
    assert read(made.home, "SELECT count(*) FROM book") == [(1,)]


def test_a_scene_and_a_unit_are_deleted_alone_and_the_rest_is_not_made_again(made: Place) -> None:
    before = read(made.home, "SELECT count(*) FROM asset")
    told = _delete(made, "--scope", "scene:c1/2", "--yes", "--json")
    (event,) = [json.loads(line) for line in told.out.splitlines()]
    assert (event["event"], event["scenes"], event["exit_code"]) == ("done", 1, 0)
    assert read(made.home, "SELECT count(*) FROM asset") == [(before[0][0] - 3,)]
    assert _delete(made, "--unit", "c1-s1-u2", "--yes").code == 0
    assert read(made.home, "SELECT count(*) FROM part WHERE places LIKE '%c1-s1-u2%'") == [(0,)]
    assert read(made.home, "SELECT count(*) FROM asset WHERE state = 4 AND planned_seq = plan_seq")[0][0] >= 3


def test_what_is_being_made_is_stopped_and_deleted(place: Place) -> None:
    gate = Gate(place)
    with place.start(env=gate.environment) as making:
        place.until_at_work(making)
        told = _delete(place, "--yes")
        gate.open()
        assert making.wait() != 0
    assert told.code == 0
    assert "Deleted: Tiny (tiny) with its 3 scenes" in told.out
    assert read(place.home, "SELECT count(*) FROM asset") == [(0,)]
    assert "Traceback" not in making.err
    assert journal_differences(place.home) == []


def test_mistakes_are_named(made: Place) -> None:
    for arguments, code, sentence in (
        (("--unit", "nobody", "--yes"), 3, "There is no unit 'nobody' in tiny: name its id, or CHAPTER/SCENE/UNIT"),
        (("--scope", "from:c1/1", "--yes"), 2, "Only a chapter, a scene or units are deleted out of a book."),
        (("--scope", "chapter:9", "--yes"), 3, "The book has no chapter '9'"),
        (("--scope", "scene:c1/1", "--unit", "x", "--yes"), 2, "Name units or a --scope, not both"),
    ):
        told = _delete(made, *arguments)
        assert (told.code, told.out) == (code, "")
        assert told.err.startswith(sentence), told.err


def test_no_at_the_terminal_deletes_nothing(made: Place) -> None:
    with Started(("delete", "tiny", "--home", made.home), made.folder, terminal=(100, 20)) as asked:
        assert asked.wait() in (0, 2)
    assert read(made.home, "SELECT count(*) FROM book") == [(1,)]
