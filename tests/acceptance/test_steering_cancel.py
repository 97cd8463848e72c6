"""`animastor cancel` against a running make, against an interrupted one, and where there is nothing to cancel."""

from __future__ import annotations

import json
import re
import signal

from gate import Gate
from place import Place
from program import Ran, run
from tiny_book import read


def _cancel(place: Place, *more: str) -> Ran:
    return run("cancel", "tiny", *more, "--home", place.home, cwd=place.folder)


def test_a_cancelled_make_ends_and_the_same_command_makes_the_rest(place: Place) -> None:
    gate = Gate(place)
    with place.start(env=gate.environment) as making:
        place.until_at_work(making)
        cancelled = _cancel(place)
        assert making.wait() == 1
    assert (cancelled.code, cancelled.err) == (0, "")
    said = cancelled.out.splitlines()[-1]
    assert re.fullmatch(
        r"Cancelled: Tiny \(tiny\)\. Stopped: \d+ running attempts?\."
        r" What is finished is kept; `animastor make` asks for it again\.",
        said,
    )
    assert making.err == "This make was cancelled by another command.\n"
    assert read(place.home, "SELECT count(*) FROM asset WHERE state IN (1, 2)") == [(0,)]
    again = _cancel(place)
    assert again.out == "Nothing is being made of Tiny (tiny): there is nothing to cancel.\n"
    assert place.make().code == 0


def test_a_cancelled_media_type_is_left_out_and_the_make_goes_on_with_the_rest(place: Place) -> None:
    gate = Gate(place)
    with place.start(env=gate.environment) as making:
        place.until_at_work(making)
        assert _cancel(place, "--media", "video").code == 0
        gate.open()
        code = making.wait()
    assert code == 6
    assert "Cancelled meanwhile, and not made: video." in making.out
    assert making.err == (
        "The film lacks 3 scenes: 1/1, 1/2, 2/1. Run make again to ask for what was cancelled, or export what there is"
        " with --allow-missing.\n"
    )
    states = dict(read(place.home, "SELECT media, max(state) FROM asset GROUP BY media"))
    assert states["audio"] == states["image"] == 4
    assert states["video"] != 4
    assert (place.out / "tiny.m4b").exists()


def test_what_was_interrupted_is_cancelled_without_anybody_at_work(place: Place) -> None:
    with place.start(env=Gate(place).environment) as making:
        place.until_at_work(making)
        making.send(signal.SIGKILL)
        making.wait()
    told = _cancel(place, "--scope", "chapter:1", "--json")
    (event,) = [json.loads(line) for line in told.out.splitlines()]
    assert (event["event"], len(event["narrowed"]), event["closed"], event["exit_code"]) == ("done", 1, [], 0)
    rows = read(place.home, "SELECT c.chapter_id, count(*) FROM asset a JOIN chapter c USING (chapter_key)"
                " WHERE a.state IN (1, 2) GROUP BY c.chapter_id")  # fmt: skip
    assert [chapter for chapter, _ in rows] == ["c2"]
    told = run("status", "--home", place.home, cwd=place.folder)
    assert "(request 1) is there; interrupted: run make again to go on." in told.out
    assert _cancel(place, "--request", "1").code == 0
    assert read(place.home, "SELECT count(*) FROM asset WHERE state IN (1, 2)") == [(0,)]


def test_what_is_not_there_is_named(place: Place) -> None:
    assert place.make("--media", "image").code == 0
    for arguments, code, sentence in (
        (("--request", "7"), 3, "There is no request 7 of tiny."),
        (
            ("--scope", "chapter:9"),
            3,
            "The book has no chapter '9': name it by a number from 1 to 2, or by its id (c1, c2).",
        ),
        (("--scope", "somewhere"), 2, "--scope 'somewhere' is not all, chapter:CHAPTER"),
        (("--media", "smell"), 2, "--media 'smell': 'smell' is no media type"),
    ):
        told = _cancel(place, *arguments)
        assert told.code == code
        assert told.err.startswith(sentence)
