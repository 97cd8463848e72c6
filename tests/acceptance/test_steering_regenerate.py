"""`animastor regenerate`: what is missing, or other takes of what is there; alone and while a make is at work."""

from __future__ import annotations

from gate import Gate
from place import Place
from program import Ran, run
from tiny_book import read

UNIT = "units:1/1/2"  # counted from 1: c1-s1-u2
PARTS = "SELECT count(*) FROM part WHERE state = 1 AND kind = 'picture'"


def _regenerate(place: Place, *more: str) -> Ran:
    return run("regenerate", "tiny", *more, "--home", place.home, cwd=place.folder)


def test_one_picture_is_made_again_and_nothing_else_of_its_scene(made: Place) -> None:
    before = read(made.home, PARTS)[0][0]
    nothing = _regenerate(made, "--media", "image")
    assert nothing.out == "Everything asked for is there and current; --rebuild makes it again, as other takes.\n"
    again = _regenerate(made, "--media", "image", "--scope", UNIT, "--rebuild")
    assert (again.code, again.err) == (0, "")
    last = again.out.splitlines()[-1]
    assert last.startswith("Done in ")
    assert last.endswith("`animastor make` and `export` write the finished files again.")
    assert read(made.home, PARTS) == [(before + 1,)]
    assert read(made.home, "SELECT unit_id, media, take FROM unit_take") == [("c1-s1-u2", "image", 1)]
    stale = run("status", "--home", made.home, cwd=made.folder).out
    assert "video" in stale
    assert made.make().code == 0, "the shot of it follows, and the film"
    assert read(made.home, "SELECT count(*) FROM asset WHERE state <> 4") == [(0,)]


def test_a_running_make_makes_it_again_and_ends_with_it(place: Place) -> None:
    gate = Gate(place)
    with place.start(env=gate.environment) as making:
        making.until_said("image 6/6")
        with place.steer("regenerate", "tiny", "--media", "image", "--scope", UNIT, "--rebuild") as other:
            other.until_said("it carries this out.")
            gate.open()
            assert other.wait() == 0, other.err
        assert making.wait() == 0, making.err
    assert read(place.home, PARTS) == [(7,)]
    assert (place.out / "tiny.mp4").exists()


def test_what_the_book_does_not_have_is_named(made: Place) -> None:
    for scope, code, sentence in (
        ("units:1/1/9", 3, "Scene 1/1 has no unit '9': name it by a number from 1 to 2, or by its id"),
        ("units:1/1", 2, "--scope 'units:1/1' is not all, chapter:CHAPTER, scene:CHAPTER/SCENE or from:CHAPTER/SCENE"),
    ):
        told = _regenerate(made, "--scope", scope, "--rebuild")
        assert (told.code, told.err.startswith(sentence)) == (code, True), told.err
