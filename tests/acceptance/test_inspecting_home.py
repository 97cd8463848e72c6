"""`animastor doctor`, `du` and `gc`: what is there, what is undone, what uses the space and what goes."""

from __future__ import annotations

import json
import signal
from pathlib import Path
from typing import Any

from gate import Gate
from place import Place
from program import Ran, run
from tiny_book import artifacts_of, read, stored_file


def _run(place: Place, *arguments: str) -> Ran:
    return run(*arguments, "--home", place.home, cwd=place.folder)


def _events(ran: Ran) -> list[dict[str, Any]]:
    return [json.loads(line) for line in ran.out.splitlines()]


def test_a_sound_home_is_told_line_by_line_and_nothing_is_changed(made: Place) -> None:
    before = (made.home / "animastor.db").read_bytes()
    told = _run(made, "doctor")
    assert (told.code, told.err) == (0, "")
    lines = told.out.splitlines()
    assert [line.split(":")[0] for line in lines[:-1]] == ["program", "ffmpeg", "backends", "disk", "artifacts"]
    assert lines[-1].startswith("All ")
    assert lines[-1].endswith(" finished parts are there and whole.")
    assert (made.home / "animastor.db").read_bytes() == before


def test_what_was_interrupted_is_found_and_repaired(place: Place) -> None:
    with place.start(env=Gate(place).environment) as making:
        place.until_at_work(making)
        making.send(signal.SIGKILL)
        making.wait()
    events = _events(_run(place, "doctor", "--json"))
    found = {event["name"]: event["count"] for event in events if event["event"] == "finding"}
    assert found["interrupted"] >= 1
    assert "journal" not in found
    repaired = _run(place, "doctor", "--repair")
    assert repaired.code == 0, repaired.err
    assert "interrupted attempt" in repaired.out
    assert read(place.home, "SELECT id FROM asset WHERE state = 2") == []
    assert "interrupted" not in {event.get("name") for event in _events(_run(place, "doctor", "--json"))}


def test_a_damaged_part_is_found_and_given_up_only_when_asked(made: Place) -> None:
    stored_file(made.home, "video").write_bytes(b"damaged")
    before = artifacts_of(made.home)
    told = _run(made, "doctor")
    assert told.code == 1
    assert told.out.splitlines()[-1].startswith("1 of ")
    assert artifacts_of(made.home) == before
    assert _run(made, "doctor", "--repair").code == 0
    assert len(artifacts_of(made.home)) == len(before) - 1
    assert made.make().code == 0
    assert artifacts_of(made.home) == before


def test_what_reconciliation_put_right_before_it_looked_is_told(made: Place) -> None:
    stored_file(made.home, "video").unlink()
    told = _run(made, "doctor", "--repair")
    assert told.code == 0
    assert told.out.splitlines()[-2] == (
        "Put right since work began: 1 finished part that was missing is given up: `animastor make` makes again what is"
        " needed."
    )
    assert told.out.splitlines()[-1].endswith(" finished parts are there and whole.")
    again = _run(made, "doctor", "--repair")
    assert "Put right" not in again.out


def test_a_store_that_is_away_is_one_sentence_and_nothing_is_given_up(made: Place) -> None:
    (made.home / "artifacts" / "animastor-artifacts").unlink()
    before = artifacts_of(made.home)
    for arguments in (("doctor",), ("doctor", "--repair")):
        told = _run(made, *arguments)
        assert told.code == 4
        assert "(is the disk mounted?): nothing was changed." in told.err
        assert artifacts_of(made.home) == before


def test_du_tells_books_and_kinds_and_gc_frees_what_nothing_uses(made: Place) -> None:
    told = _run(made, "du")
    assert (told.code, told.err) == (0, "")
    assert told.out.splitlines()[0].split() == ["book", "what", "files", "size"]
    assert "All of them are used or kept." in told.out
    assert _run(made, "delete", "tiny", "--unit", "c1-s1-u2", "--yes").code == 0
    assert made.make().code in (0, 6)
    events = _events(_run(made, "du", "--json"))
    space = next(event for event in events if event["event"] == "space")
    assert space["files"] == len(_files(made))
    collected = _run(made, "gc", "--now", "--json")
    assert collected.code == 0
    after = next(event for event in _events(_run(made, "du", "--json")) if event["event"] == "space")
    assert after["due"] == 0 or after["files"] >= len(_files(made))
    assert made.make().code in (0, 6)
    assert _run(made, "doctor").code == 0


def _files(place: Place) -> list[Path]:
    return [path for path in (place.home / "artifacts").glob("??/*") if path.is_file()]
