"""How a running `make` is stopped: by Ctrl-C once and twice, by `kill`, by a closed terminal, by `head`.

Each ends within two seconds with one sentence and an exit code, leaves no process behind, and the same command goes on.
"""

from __future__ import annotations

import re
import signal
import time
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest
from place import Place
from program import Started, is_soon, until, working_in

GO_ON = "Finished parts are kept; run the same command again to go on."


@pytest.fixture
def running(place: Place) -> Iterator[Started]:
    """A `make` in a pipe whose children are at work."""
    with place.start() as started:
        _until_children_work(started)
        yield started


def _until_children_work(started: Started) -> None:
    until(lambda: len(started.tree()) > 2 or started.ended(), "children")
    started.until_said("%")


def _ended(started: Started, place: Path, since: float) -> tuple[int, str]:
    code = started.wait()
    seconds = time.monotonic() - since
    assert is_soon(seconds)
    assert len(started.seen) > 2
    assert started.survivors() == []
    assert working_in(place) == []
    return code, started.err


@pytest.mark.parametrize(
    ("number", "code", "sentence"),
    [
        (signal.SIGINT, 130, f"Interrupted: stopping. {GO_ON}\n"),
        (signal.SIGTERM, 143, f"Told to stop: stopping. {GO_ON}\n"),
        (signal.SIGHUP, 129, f"The terminal is closed: stopping. {GO_ON}\n"),
    ],
    ids=["interrupt", "terminate", "hang up"],
)
def test_a_signal_stops_it_and_it_says_how_to_go_on(
    running: Started, place: Place, number: signal.Signals, code: int, sentence: str
) -> None:
    running.send(number)
    assert _ended(running, place.folder, time.monotonic()) == (code, sentence)


def test_after_ctrl_c_the_same_command_goes_on_and_finishes(running: Started, place: Place) -> None:
    until(lambda: bool(re.search(r"(audio|image) [1-9]", running.out)) or running.ended(), "a finished part")
    running.send(signal.SIGINT)
    assert running.wait() == 130
    ran = place.make()
    assert ran.code == 0
    assert "Tiny (tiny): 3 scenes, unchanged." in ran.out
    assert "  0%" not in ran.out
    assert {path.name for path in place.out.iterdir()} == {"tiny.mp4", "tiny.vtt", "tiny.m4b"}
    assert list((place.home / "work").iterdir()) == []


def test_a_second_ctrl_c_ends_it_at_once(running: Started, place: Place) -> None:
    psutil.Process(running.process.pid).suspend()  # so that both are there when it looks
    running.send(signal.SIGINT)
    running.send(signal.SIGTERM)
    psutil.Process(running.process.pid).resume()
    code, err = _ended(running, place.folder, time.monotonic())
    assert code in (130, 143)
    assert "Ended at once; finished parts are kept.\n" in err


def test_closing_the_terminal_ends_it(place: Place) -> None:
    with place.start(terminal=(100, 24)) as started:
        _until_children_work(started)
        started.hang_up()
        code, err = _ended(started, place.folder, time.monotonic())
    assert code in (129, 141)
    assert err.count("\n") == 1
    assert err.endswith(f"stopped. {GO_ON}\n") or err == f"The terminal is closed: stopping. {GO_ON}\n"


def test_when_head_has_enough_it_ends(place: Place) -> None:
    with place.start() as started:
        _until_children_work(started)
        started.stop_reading()
        code, err = _ended(started, place.folder, time.monotonic())
    assert (code, err) == (141, f"Nobody reads the output any more: stopped. {GO_ON}\n")


def test_a_signal_that_was_ignored_when_it_started_stays_ignored(place: Place) -> None:
    with Started(
        ("make", place.book, "--media", "image", "--scope", "scene:1/1", "--home", place.home, "--json"),
        place.folder,
        prefix=("nohup",),
    ) as started:
        started.until_said('"event":"book"')
        started.send(signal.SIGHUP)
        assert started.wait() == 0
    assert '"event":"done"' in started.out


def test_ctrl_c_before_anything_has_begun_is_answered_too(place: Place) -> None:
    with place.start() as started:
        until(lambda: _catches_interrupts(started.process.pid), "the first line of the program")
        started.send(signal.SIGINT)
        assert started.wait() == 130
    assert "Traceback" not in started.err
    assert started.err.count("\n") == 1


def _catches_interrupts(pid: int) -> bool:
    """Whether SIGTERM has a handler: Python itself sets one for SIGINT alone."""
    try:
        status = Path(f"/proc/{pid}/status").read_text()
    except OSError:
        return False
    caught = next(line.split()[1] for line in status.splitlines() if line.startswith("SigCgt"))
    return bool(int(caught, 16) >> (signal.SIGTERM - 1) & 1)
