"""`animastor pause`, `resume`, `prioritize` and `position` against a running make, and with nobody at work."""

from __future__ import annotations

import signal

from gate import Gate
from place import Place
from program import Ran, run
from tiny_book import read


def _do(place: Place, command: str, *more: str) -> Ran:
    return run(command, *more, "--home", place.home, cwd=place.folder)


def _last(told: Ran) -> str:
    assert (told.code, told.err) == (0, "")
    return told.out.splitlines()[-1]


def test_a_running_make_pauses_and_goes_on(place: Place) -> None:
    gate = Gate(place)
    with place.start(env=gate.environment) as making:
        place.until_at_work(making)
        paused = "Paused: Tiny (tiny). What is being made at this moment is finished; `animastor resume tiny` goes on."
        assert _last(_do(place, "pause")) == paused
        making.until_said("Paused: `animastor resume` goes on.")
        assert "paused: `animastor resume` goes on" in _do(place, "status").out
        assert _last(_do(place, "pause", "tiny")) == "Tiny (tiny) is paused already."
        gate.open()
        assert _last(_do(place, "resume")) == "Resumed: Tiny (tiny)."
        making.until_said("Resumed.")
        assert making.wait() == 0, making.err
    assert _last(_do(place, "pause")) == "Nothing is being made of Tiny (tiny): nothing was changed."


def test_what_is_paused_without_anybody_at_work_stays_so_and_make_goes_on(place: Place) -> None:
    with place.start(env=Gate(place).environment) as making:
        place.until_at_work(making)
        making.send(signal.SIGINT)
        making.wait()
    assert _last(_do(place, "pause")).startswith("Paused: Tiny (tiny).")
    assert read(place.home, "SELECT state FROM request") == [("paused",)]
    assert _last(_do(place, "resume")) == (
        "Resumed: Tiny (tiny). Nobody is working on it: run `animastor make` to go on."
    )
    assert _last(_do(place, "resume")) == "Nothing of Tiny (tiny) is paused."
    _do(place, "pause")
    assert place.make().code == 0
    assert read(place.home, "SELECT DISTINCT state FROM request") == [("done",)]


def test_the_reader_and_the_priority_are_told(place: Place) -> None:
    with place.start(env=Gate(place).environment) as making:
        place.until_at_work(making)
        at = "The reader of Tiny (tiny) is at scene 2/1"
        assert _last(_do(place, "position", "tiny", "2/1")) == f"{at} now: what lies ahead is made first."
        assert _last(_do(place, "position", "tiny", "c2/c2-s1")) == f"{at} already: what lies ahead is made first."
        assert read(place.home, "SELECT position_scene FROM request") == [(3,)]
        first = "Scene 1/2 of Tiny (tiny) is now made before everything else."
        assert _last(_do(place, "prioritize", "--scene", "1/2")) == first
        assert _last(_do(place, "prioritize", "--priority", "low")) == "Tiny (tiny) has low priority now."
        assert (
            _do(place, "prioritize", "--priority", "great").err == "--priority 'great' is none of low, normal, high.\n"
        )
        both = _do(place, "prioritize", "--scene", "1/2", "--priority", "high")
        assert (both.code, both.err.count("it has no --priority")) == (2, 1)
        assert _do(place, "position", "tiny", "7/1").code == 3
    assert read(place.home, "SELECT priority FROM request") == [(-1,)]
