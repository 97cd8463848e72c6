"""`animastor explain` and `animastor journal`, while a book is made, after it was interrupted, and when it is done."""

from __future__ import annotations

import json
import signal

from gate import Gate
from place import Place
from program import Ran, Started, run


def _ask(place: Place, command: str, *more: str) -> Ran:
    return run(command, "tiny", *more, "--home", place.home, cwd=place.folder)


def test_a_video_in_the_making_says_what_it_waits_for_and_with_nobody_at_work_that_too(place: Place) -> None:
    with place.start(env=Gate(place).environment) as making:
        making.until_said("%")
        told = _ask(place, "explain", "1", "video")
        while " slots in use" not in told.out:  # what it waited for has come, and it has started
            told = _ask(place, "explain", "1", "video")
        whole = _ask(place, "explain", "--json")
        making.send(signal.SIGKILL)
        making.wait()
    assert (told.code, told.err) == (0, "")
    assert told.out.startswith(("Video of scene 1/1 is being made: ", "Video of scene 1/1 waits "))
    events = [json.loads(line) for line in whole.out.splitlines()]
    assert {event["event"] for event in events} == {"counts", "explained", "done"}
    assert {event["media"] for event in events if event["event"] == "explained"} >= {"video"}
    alone = _ask(place, "explain", "c1/1", "video")
    assert alone.code == 0
    assert alone.out.splitlines()[-1].startswith("Nobody is working on this home")


def test_what_was_cancelled_before_it_was_made_is_missing_to_every_command(place: Place) -> None:
    with place.start(env=Gate(place).environment) as making:
        making.until_said("%")
        assert _ask(place, "cancel").code == 0
        making.wait()
    (book,) = [json.loads(line) for line in _ask(place, "status", "--json").out.splitlines()]
    told = [json.loads(line) for line in _ask(place, "explain", "--json").out.splitlines()]
    standings = {
        one["media"]: {how: one.get(how, 0) for how in book["media"][one["media"]]}
        for one in told
        if one["event"] == "counts"
    }
    assert standings == book["media"]
    assert standings["video"]["missing"] == 3
    (video,) = [one for one in told if one["event"] == "explained" and one["media"] == "video"]
    assert video["standing"] == "missing"
    assert video["message"] == (
        "Video of scene 1/1 is missing: nobody asks for it any more; `animastor regenerate tiny` makes what is"
        " missing or stale."
    )


def test_what_was_edited_is_stale_to_every_command(made: Place) -> None:
    assert _ask(made, "edit", "--set", "1/1/1.text=Another sentence is said here.", "--yes").code == 0
    (book,) = [json.loads(line) for line in _ask(made, "status", "--json").out.splitlines()]
    assert book["media"]["audio"]["stale"] == 1
    assert "Tiny (tiny), audio: 2 of 3 scenes ready, 1 stale." in _ask(made, "explain").out
    assert _ask(made, "explain", "1/1", "audio").out.splitlines()[0] == (
        "Audio of scene 1/1 is stale: what is there is an older version; `animastor regenerate tiny` makes what is"
        " missing or stale."
    )


def test_a_finished_book_is_explained_and_its_journal_replays(made: Place) -> None:
    told = _ask(made, "explain", "c2-s1", "audio")
    assert told.out.splitlines()[0] == "Audio of scene 2/1 is ready."
    replayed = run("journal", "--replay", "--home", made.home, cwd=made.folder)
    assert replayed.out == "The journal, replayed, gives what the tables hold: 9 ready.\n"
    assert (replayed.code, replayed.err) == (0, "")


def test_the_journal_is_paged_back_and_forth(made: Place) -> None:
    last = _ask(made, "journal", "--limit", "3", "--json")
    rows = [json.loads(line) for line in last.out.splitlines()]
    assert [row["event"] for row in rows] == ["journal"] * 3
    assert [row["row"] for row in rows] == sorted(row["row"] for row in rows)
    earlier = _ask(made, "journal", "--limit", "3", "--before", str(rows[0]["row"]))
    assert earlier.out.splitlines()[-1].startswith("There may be more earlier: --before ")
    later = _ask(made, "journal", "--after", str(rows[0]["row"]), "--json")
    assert [json.loads(line)["row"] for line in later.out.splitlines()] == [row["row"] for row in rows[1:]]
    one = _ask(made, "journal", "--scene", "1", "--media", "image")
    assert all(" 1/1 image: " in line for line in one.out.splitlines())
    assert " image: READY ready" in one.out.splitlines()[-1]


def test_the_journal_is_followed_until_it_is_stopped(place: Place) -> None:
    gate = Gate(place)
    with place.start(env=gate.environment) as making:
        making.until_said("%")
        with Started(("journal", "tiny", "--follow", "--home", place.home), place.folder) as following:
            following.until_said("DISPATCHED generating")
            gate.open()
            assert making.wait() == 0
            following.until_said("video: READY ready")
            following.send(signal.SIGINT)
            assert following.wait() == 130


def test_what_is_not_there_is_named(made: Place) -> None:
    for arguments, code, sentence in (
        (
            ("explain", "tiny", "9"),
            3,
            "There is no scene '9' in tiny: name it by a number from 1 to 3, or by its id (c1-s1, c1-s2, c2-s1).",
        ),
        (
            ("explain", "tiny", "c1/7"),
            3,
            "There is no scene '7' in chapter c1: name it by a number from 1 to 2, or by its id (c1-s1",
        ),
        (("explain", "tiny", "1", "smell"), 2, "--media 'smell': 'smell' is no media type"),
        (("explain", "huge"), 3, "There is no book 'huge' in this home; it has: tiny."),
        (
            ("journal", "tiny", "--after", "1", "--before", "2"),
            2,
            "Invalid value: --after and --before exclude each other.",
        ),
        (("journal", "tiny", "--limit", "0"), 2, "Invalid value for '--limit'"),
    ):
        told = run(*arguments, "--home", made.home, cwd=made.folder)
        assert (told.code, told.out) == (code, "")
        assert told.err.startswith(sentence), told.err
