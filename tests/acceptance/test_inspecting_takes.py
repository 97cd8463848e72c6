"""`animastor takes`: listed, pinned, chosen again, and files of one's own in the place of pictures, sound and clips."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from PIL import Image
from place import Place
from program import Ran, run
from tiny_book import read, stored_file

from animastor.media import ffmpeg

UNIT = "c1-s1-u1"
NUMBERS = "1/1/1"


def _takes(place: Place, *more: str | Path) -> Ran:
    return run("takes", "tiny", UNIT, *more, "--home", place.home, cwd=place.folder)


def _listed(place: Place) -> list[dict[str, Any]]:
    events = [json.loads(line) for line in _takes(place, "--json").out.splitlines()]
    return [event for event in events if event["event"] == "take"]


def _of(place: Place, media: str) -> dict[str, Any]:
    return next(one for one in _listed(place) if one["media"] == media and one["wanted"])


def test_takes_are_listed_and_a_pinned_one_survives_a_rebuild(made: Place) -> None:
    told = _takes(made)
    assert told.out.splitlines()[0].split() == ["take", "part", "state", "size", "length"]
    picture = _of(made, "image")
    pinned = _takes(made, "--pin", picture["take"][:8])
    assert (pinned.code, pinned.err) == (0, "")
    assert pinned.out.startswith(
        f"Take {picture['take'][:8]} is pinned for image picture of {NUMBERS}: edits and rebuilds"
    )
    again = run("regenerate", "tiny", "--rebuild", "--media", "image", "--home", made.home, cwd=made.folder)
    assert again.code == 0, again.err
    assert _of(made, "image")["take"] == picture["take"]
    assert _of(made, "image")["pinned"]
    assert _takes(made, "--unpin").code == 0
    assert not any(one["pinned"] for one in _listed(made))


def test_a_unit_is_named_by_numbers_as_everywhere(made_once: tuple[Place, Ran]) -> None:
    place, _ = made_once

    def takes(unit: str) -> Ran:
        return run("takes", "tiny", unit, "--home", place.home, cwd=place.folder)

    assert (takes("1/1/1").code, takes("1/1/1").out) == (0, takes(UNIT).out)
    for unit, code, sentence in (
        ("u9", 3, "There is no unit 'u9' in tiny: name its id, or CHAPTER/SCENE/UNIT, such as 1/2/3.\n"),
        (
            "1/1/9",
            3,
            "Scene 1/1 has no unit '9': name it by a number from 1 to 2, or by its id (c1-s1-u1, c1-s1-u2).\n",
        ),
        ("1/1", 2, "Unit '1/1' is not CHAPTER/SCENE/UNIT, such as 1/2/3.\n"),
        ("1/1/1,2", 2, "1/1/1,2 names several units: name one.\n"),
    ):
        told = takes(unit)
        assert (told.code, told.err) == (code, sentence)


def _own(place: Place, media: str) -> Path:
    """A file of one's own, of another size or rate than what it is to replace."""
    if media == "image":
        path = place.folder / "mine.jpg"
        Image.new("RGB", (400, 300), "red").save(path)
        return path
    path = place.folder / ("mine.wav" if media == "audio" else "mine.mp4")
    source = "sine=frequency=440:duration=1.5" if media == "audio" else "testsrc=size=320x200:rate=10:duration=1"
    ffmpeg.run(["-f", "lavfi", "-i", source], path)
    return path


@pytest.mark.parametrize("media", ["image", "audio", "video"])
def test_a_file_of_ones_own_is_fitted_kept_and_made_into_the_film(made: Place, media: str) -> None:
    own = _own(made, media)
    told = _takes(made, "--media", media, "--supply", own)
    assert (told.code, told.err) == (0, ""), told.err
    assert told.out.startswith(f"{own.name} is kept as {media} ") or " is kept as " in told.out
    given = _of(made, media)
    assert given["supplied"]
    own.unlink()
    done = made.make()
    assert done.code == 0, done.err
    assert _of(made, media)["take"] == given["take"]
    states = read(made.home, "SELECT count(*) FROM asset WHERE state <> 4")
    assert states == [(0,)]
    assert stored_file(made.home, "video").exists()


def _tone(folder: Path, rate: int) -> bytes:
    path = folder / f"tone-{rate}.mp2"
    ffmpeg.run(["-f", "lavfi", "-i", f"sine=frequency=440:duration=0.5:sample_rate={rate}"], path)
    return path.read_bytes()


def test_what_cannot_be_used_is_refused_in_one_sentence(made: Place) -> None:
    (made.folder / "text.txt").write_text("no picture")
    (made.folder / "mixed.mp2").write_bytes(_tone(made.folder, 44_100) + _tone(made.folder, 22_050))
    for arguments, code, sentence in (
        (("--media", "image", "--supply", "text.txt"), 3, "text.txt is no picture that can be read"),
        (("--media", "audio", "--supply", "mixed.mp2"), 3, "mixed.mp2 is no sound that can be read"),
        (("--supply", "text.txt"), 3, "Say by --media what the file is"),
        (("--supply", "absent.png"), 3, "absent.png does not exist."),
        (("--pin", "zzzz"), 3, "'zzzz' names no take of this unit; there are "),
        (("--pin", "a", "--unpin"), 2, "Invalid value: --choose, --pin, --unpin and --supply exclude one another."),
        (("--choose", _of(made, "image")["take"]), 3, "This take is the one that is wanted already."),
        (("--unpin",), 3, f"Nothing is pinned or supplied for unit {NUMBERS}."),
        (("--unpin", "--part", "2"), 3, f"Nothing is pinned or supplied for part 2 of unit {NUMBERS}."),
    ):
        told = _takes(made, *arguments)
        assert (told.code, told.out) == (code, ""), told
        assert told.err.startswith(sentence), told.err
