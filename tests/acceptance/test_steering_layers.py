"""`animastor layers`: shown, set against a running make, and refused with the range."""

from __future__ import annotations

from gate import Gate
from place import Place
from program import Ran, run
from tiny_book import read


def _layers(place: Place, *more: str) -> Ran:
    return run("layers", "tiny", *more, "--home", place.home, cwd=place.folder)


def test_a_layer_is_switched_off_while_a_make_works_on_it(place: Place) -> None:
    gate = Gate(place)
    with place.start("--allow-missing", env=gate.environment) as making:
        place.until_at_work(making)
        said = _layers(place, "--set", "video_enabled=off", "--set", "window=3").out.splitlines()[-1]
        assert said.startswith("Set for Tiny (tiny): video_enabled = false, window = 3.")
        gate.open()
        assert making.wait() == 0, making.err
    assert read(place.home, "SELECT count(*) FROM asset WHERE media = 'video' AND state = 4") == [(0,)]
    shown = _layers(place).out.splitlines()
    assert shown[0] == "Tiny (tiny):"
    assert [line.split() for line in shown if "video_enabled" in line] == [
        ["video_enabled", "false", "true", "true", "or", "false"]
    ]
    assert [line.split() for line in shown if "video_timeout" in line] == [
        ["video_timeout_minutes", "60", "60", "10", "to", "720"]
    ]
    on = _layers(place, "--set", "video_enabled=default")
    assert on.out == "Set for Tiny (tiny): video_enabled = true. `animastor make` makes what is switched on.\n"
    assert _layers(place, "--set", "video_enabled=on").out == "The layers of Tiny (tiny) are so already.\n"
    assert place.make().code == 0


def test_what_is_out_of_range_is_refused_with_the_range(place: Place) -> None:
    for setting, sentence in (
        ("video_timeout_minutes=9", "--set: video_timeout_minutes is 10 to 720, not 9.\n"),
        ("video_enabled=perhaps", "--set: video_enabled is true or false, not perhaps.\n"),
        ("window", "--set: 'window' is not NAME=VALUE.\n"),
    ):
        told = _layers(place, "--set", setting)
        assert (told.code, told.err) == (2, sentence)
