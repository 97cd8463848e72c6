"""Every figure, garment, hat and thing that words can ask for can be drawn, and is more than nothing."""

from __future__ import annotations

import pytest

from animastor.workers.storyboard.canvas import Canvas, View
from animastor.workers.storyboard.figures.animal import KINDS, animal
from animastor.workers.storyboard.figures.body import person
from animastor.workers.storyboard.figures.pose import ARMS, Pose
from animastor.workers.storyboard.figures.sprite import cut_out, lit
from animastor.workers.storyboard.figures.traits import Traits, traits_of
from animastor.workers.storyboard.figures.wardrobe import GARMENTS, HAIR_STYLES, HATS
from animastor.workers.storyboard.geometry import smooth, tapered
from animastor.workers.storyboard.lexicon import FACES, STANCES
from animastor.workers.storyboard.lexicon import THINGS as THING_WORDS
from animastor.workers.storyboard.light import MOODS, TIMES, WEATHERS, light_of
from animastor.workers.storyboard.things import THINGS, draw_thing


def traits(looks: str = "", clothes: str = "") -> Traits:
    return traits_of({"id": "x", "name": "X", "appearance": looks, "clothes": clothes})


def area(who: Traits, pose: Pose) -> int:
    draw = animal if who.species != "person" else person
    sprite = cut_out(lambda canvas: draw(canvas, who, pose), 24, who.heads + 0.6)
    left, top, right, low = sprite.box
    assert left > 0, "nothing is cut off on the left"
    assert right < sprite.mask.width, "nothing is cut off on the right"
    assert top > 0, "nothing is cut off above"
    assert 0 <= sprite.mouth[1] < low
    return (right - left) * (low - top)


@pytest.mark.parametrize("clothes", sorted({f"a red {word}".replace("?", "") for word, _ in (*GARMENTS, *HATS)}))
def test_every_garment_and_hat_can_be_worn(clothes: str) -> None:
    assert area(traits("a woman", clothes), Pose()) > 24 * 24 * 3


@pytest.mark.parametrize("style", sorted({style for _, style in HAIR_STYLES}))
@pytest.mark.parametrize("back", [False, True])
def test_every_head_of_hair_is_drawn_from_both_sides(style: str, back: bool) -> None:
    assert area(traits(f"a girl, {style} hair"), Pose(back=back)) > 24 * 24 * 2


@pytest.mark.parametrize("gesture", sorted(ARMS))
@pytest.mark.parametrize("stance", ["stand", *sorted(STANCES)])
def test_every_pose_can_be_taken(gesture: str, stance: str) -> None:
    for turn in (-0.6, 0.6):
        assert area(traits("a man"), Pose(turn=turn, gesture=gesture, stance=stance, speaking=turn > 0)) > 24 * 24 * 2


@pytest.mark.parametrize("face", ["calm", *sorted(FACES)])
@pytest.mark.parametrize("looks", ["an old man, long beard, glasses", "a girl", "a grey cat", "an owl"])
def test_every_face_can_be_made_by_everyone(face: str, looks: str) -> None:
    assert area(traits(looks), Pose(face=face)) > 24 * 24


@pytest.mark.parametrize("species", sorted({*KINDS, "bird", "owl"}))
def test_every_animal_sits_sleeps_and_leaps(species: str) -> None:
    for stance in ("stand", "sleep", "leap"):
        assert area(traits(f"a {species}"), Pose(stance=stance)) > 24 * 24


@pytest.mark.parametrize("name", sorted(THINGS))
def test_every_thing_can_be_drawn(name: str) -> None:
    canvas = Canvas(4.0, 2.0, 24, View(1.0, (0, 0), (1.0, 1.0)), cutout=True)
    draw_thing(canvas, name, 0, 0, 1.0)
    assert canvas.mask is not None
    box = canvas.mask.getbbox()
    assert box is not None
    assert box[2] - box[0] > 5


def test_every_thing_of_the_lexicon_can_be_drawn() -> None:
    assert set(THING_WORDS) <= set(THINGS)


@pytest.mark.parametrize("time", TIMES)
@pytest.mark.parametrize("weather", WEATHERS)
def test_every_light_keeps_its_colours_and_shares_within_what_can_be_shown(time: str, weather: str) -> None:
    for mood in MOODS:
        light = light_of(time, weather, mood)
        assert light.time == time
        assert all(0 <= channel <= 255 for colour in (*light.sky, light.haze, light.key) for channel in colour)
        assert 0 <= light.thickness <= 1
        assert all(0 <= channel <= 255 for channel in light.seen((250, 250, 250), 0.5))


def test_a_figure_under_the_night_is_darker_and_bluer_than_by_day() -> None:
    who = traits("a woman", "a white dress")
    sprite = cut_out(lambda canvas: person(canvas, who, Pose()), 40, who.heads + 0.6)
    tones = []
    for time in ("day", "night"):
        shown = lit(sprite, light_of(time), 40, 1.0)
        tones.append(shown.image.resize((1, 1)).getpixel((0, 0)))
    day, night = tones
    assert sum(night) < 0.8 * sum(day)
    assert night[2] / max(1, night[0]) > day[2] / max(1, day[0])


def test_a_smooth_curve_goes_through_its_points() -> None:
    points = [(0.0, 0.0), (1.0, 0.5), (2.0, 0.0), (1.0, -1.0)]
    curve = smooth(points)
    assert all(min(abs(x - cx) + abs(y - cy) for cx, cy in curve) < 1e-9 for x, y in points)


def test_a_tapered_stroke_is_as_wide_as_told_at_both_ends() -> None:
    outline = tapered([(0.0, 0.0), (10.0, 0.0)], 2.0, 1.0)
    assert outline[0] == (0.0, 1.0)
    assert outline[-1] == (0.0, -1.0)
    assert max(y for x, y in outline if x == 10.0) == 0.5
