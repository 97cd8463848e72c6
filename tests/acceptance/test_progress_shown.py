"""What a person sees of a running command: in a pipe, on terminals of several widths, as JSON; and when all is done."""

from __future__ import annotations

import json
import re
from math import inf

from place import Place
from program import Ran, run
from tiny_book import SIZE

MOST_CPU_S = 1.2  # of a `make` that has nothing to do; on an idle machine it is over in about that time


def test_in_a_pipe_plain_lines_tell_the_book_the_progress_and_the_files(made_once: tuple[Place, Ran]) -> None:
    place, ran = made_once
    lines = ran.out.splitlines()
    assert (ran.code, ran.err) == (0, "")
    assert lines[0] == "Tiny (tiny): 3 scenes, 3 new."
    assert any(re.match(r" *\d+%  audio \d+/\S+, image \d+/\S+, video \d+/\S+  \(.+\)$", line) for line in lines)
    assert [line.split()[0] for line in lines[-4:-1]] == ["out/tiny.mp4", "out/tiny.vtt", "out/tiny.m4b"]
    assert re.match(r"Done in .+\.$", lines[-1])
    assert "\x1b" not in ran.out
    assert {path.name for path in place.out.iterdir()} == {"tiny.mp4", "tiny.vtt", "tiny.m4b"}
    assert not (place.home / "work").exists() or not any((place.home / "work").iterdir())


def test_again_it_says_at_once_that_nothing_is_left_to_do(made_once: tuple[Place, Ran]) -> None:
    place, _ = made_once
    before = {path: path.stat().st_mtime_ns for path in place.out.iterdir()}
    best = inf
    for _ in range(5):
        with place.start() as started:  # all that a person waits for, from the interpreter on
            code = started.wait()
        print(f"nothing left: {started.cpu_s:.2f} s of processor time")
        assert code == 0
        assert re.fullmatch(r"Nothing is left to do \(.+\)\.", started.out.splitlines()[-1])
        assert "%" not in started.out
        best = min(best, started.cpu_s)
        if best <= MOST_CPU_S:
            break
    assert best <= MOST_CPU_S
    assert before == {path: path.stat().st_mtime_ns for path in place.out.iterdir()}


def test_on_a_terminal_bars_are_drawn_and_the_cursor_is_given_back(place: Place) -> None:
    with place.start("--media", "image", "--scope", "chapter:c2", terminal=(100, 24)) as started:
        assert started.wait() == 0
        out = started.out
    assert "━" in out
    assert re.search(r"image .*2/2 parts", _text(out))
    assert "100%, complete" in _text(out)
    assert out.rindex("\x1b[?25h") > out.rindex("\x1b[?25l")
    assert "Done in" in out


def test_on_a_narrow_terminal_the_numbers_stand_alone(place: Place) -> None:
    with place.start("--media", "image", "--scope", "scene:1/1", terminal=(40, 24)) as started:
        assert started.wait() == 0
        out = _text(started.out)
    assert "━" not in out
    assert re.search(r"image +2/2 parts", out)
    assert max(len(line) for line in out.splitlines() if "parts" in line or "%" in line) <= 40


def test_with_json_each_line_is_an_event_and_the_last_says_how_it_ended(place: Place) -> None:
    ran = place.make("--media", "audio", "--json")
    events = [json.loads(line) for line in ran.out.splitlines()]
    kinds = [event["event"] for event in events]
    fractions = [event["fraction"] for event in events if event["event"] == "progress"]
    assert (ran.code, ran.err) == (0, "")
    assert kinds[0] == "book"
    assert events[0]["scenes"] == 3
    assert kinds[-1] == "done"
    assert events[-1]["exit_code"] == 0
    assert events[-1]["made"] == [str(place.out / "tiny.m4b"), str(place.out / "tiny.vtt")]
    assert fractions == sorted(fractions)
    assert fractions[-1] == 1.0
    assert all(fraction <= 0.99 for fraction in fractions[:-1])
    assert events[kinds.index("progress")]["media"].keys() == {"audio"}


def test_a_dry_run_tells_what_would_be_made_and_leaves_nothing_behind(place: Place) -> None:
    ran = place.make("--dry-run")
    assert ran.code == 0
    assert [line.split()[0] for line in ran.out.splitlines()[2:]] == ["audio", "audio", "image", "video", "video"]
    assert re.match(r"Tiny: \d+ parts would be made, .+, in about .+ \(a guess: .+\)\.", ran.out)
    assert not place.home.exists()
    assert not place.out.exists()


def test_a_dry_run_knows_what_is_there_and_what_another_size_would_cost(made_once: tuple[Place, Ran]) -> None:
    place, _ = made_once
    same, other = (
        place.make("--dry-run"),
        run("make", place.book, "--dry-run", "--size", "144x72", "--home", place.home, cwd=place.folder),
    )
    assert "every part is there; nothing would be made" in same.out
    changed, would = other.out.splitlines()[:2]
    assert changed.startswith(f"Changed: size {SIZE} → 144x72; 6 pictures and ")
    assert "--keep keeps what is stored" in changed
    assert re.match(r"Tiny: \d+ parts would be made", would)


def test_status_counts_scenes_and_is_one_event_a_book_for_programs(made_once: tuple[Place, Ran]) -> None:
    place, _ = made_once
    told = run("status", "--home", place.home, cwd=place.folder)
    event = json.loads(run("status", "tiny", "--home", place.home, "--json", cwd=place.folder).out)
    assert told.out.splitlines()[0] == "Tiny (tiny): 3 scenes, from book"
    assert [line.split()[:2] for line in told.out.splitlines()[2:]] == [
        ["audio", "3"],
        ["image", "3"],
        ["video", "3"],
    ]
    assert (event["event"], event["failed"], event["requests"]) == ("book", [], [])
    assert event["media"]["video"] == {"ready": 3, "stale": 0, "in_work": 0, "waiting": 0, "failed": 0, "missing": 0}


def test_export_after_make_touches_no_file(place: Place) -> None:
    place.make()
    stood = {path: path.stat().st_mtime_ns for path in place.out.iterdir()}
    ran = run("export", "--home", place.home, "--out", place.out, cwd=place.folder)
    assert ran.out.splitlines()[-1] == "Nothing had to be written."
    assert {path: path.stat().st_mtime_ns for path in place.out.iterdir()} == stood


def test_export_writes_files_of_a_part_of_the_book_beside_those_of_the_whole(made: Place) -> None:
    ran = run("export", "--audiobook", "--scope", "chapter:2", "--home", made.home, "--out", made.out, cwd=made.folder)
    again = run(
        "export", "--audiobook", "--scope", "chapter:2", "--home", made.home, "--out", made.out, cwd=made.folder
    )
    assert (ran.code, [path.name for path in made.out.iterdir()]) == (0, ["tiny-c2.m4b"])
    assert again.out.splitlines() == ["out/tiny-c2.m4b is up to date.", "Nothing had to be written."]


def _text(screen: str) -> str:
    return re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", screen).replace("\r", "\n")
