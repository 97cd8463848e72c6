"""What a picture's words mean: setting, light, who is drawn how and where."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from animastor.workers.storyboard.board import Board, board_of, things_in
from animastor.workers.storyboard.figures.animal import KINDS
from animastor.workers.storyboard.figures.traits import traits_of
from animastor.workers.storyboard.staging import Stage, framing_of, height_of, place, size_of


def person(name: str, looks: str = "", clothes: str = "", speaking: bool = False, anchor: Any = None) -> dict[str, Any]:
    return {
        "id": name, "name": name, "appearance": looks, "clothes": clothes, "anchor": anchor, "speaking": speaking,
    }  # fmt: skip


def board(description: str = "", subject: str = "", environment: Any = None, **changes: Any) -> Board:
    return board_of(
        {
            "subject": subject, "place": {"id": "p", "description": description, "cinematic_space": None},
            "environment": environment or {}, "people": [], "shot": "wide", "size": [1280, 720], "seed": 1, **changes,
        }
    )  # fmt: skip


@pytest.mark.parametrize(
    ("description", "setting"),
    [
        ("a stone quay in a small harbour, crooked cottages", "harbour"),
        ("a cottage kitchen with a stove and a round window", "kitchen"),
        ("the open sea, a small fishing boat", "sea"),
        ("a castle hall", "hall"),
        ("a clearing deep in the forest", "forest"),
        ("the main street of the town", "town"),
        ("a bridge over the river", "river"),
        ("the old library", "library"),
        ("a railway station, platform two", "station"),
        ("港", "harbour"),
        ("древний лес", "forest"),
        ("صحراء", "desert"),
        ("eine alte Burg, ein schloss", "castle"),
    ],
)
def test_the_setting_is_told_from_the_words_of_the_location(description: str, setting: str) -> None:
    assert board(description).setting == setting


def test_a_place_without_words_is_one_and_the_same_open_landscape() -> None:
    assert board().setting == board("", "He nodded.").setting
    assert board().setting in ("field", "village", "garden", "road")


@pytest.mark.parametrize(
    ("environment", "time", "weather"),
    [
        ({"time": "dusk", "weather": "rain"}, "dusk", "rain"),
        ({"note": "a stormy night"}, "night", "storm"),
        ({"time": "sunset"}, "golden", "clear"),
        ({"weather": "thick fog", "time": "midnight"}, "night", "fog"),
        ({}, "day", "clear"),
        ({"time": "夜明け", "weather": "霧"}, "dawn", "fog"),
    ],
)
def test_the_light_is_told_from_the_environment(environment: Any, time: str, weather: str) -> None:
    light = board(environment=environment).light
    assert (light.time, light.weather) == (time, weather)


def test_what_an_environment_leaves_open_is_told_by_the_pictures_own_wish() -> None:
    assert board(subject="the garden at night, snow falling").light.time == "night"
    assert board(subject="at night", environment={"time": "day"}).light.time == "day"


def test_a_passport_says_how_a_person_looks() -> None:
    traits = traits_of(
        person(
            "Wren",
            "a small girl of nine, copper red hair in two short braids, freckles",
            "a yellow raincoat, a red scarf",
        )
    )
    assert (traits.age, traits.feminine, traits.hair_style, traits.freckles) == ("child", True, "braids", True)
    assert traits.garment == "coat"
    assert traits.top[0] > 200 > traits.top[2]
    assert traits.scarf is not None
    assert traits.scarf[0] > 2 * traits.scarf[1]


def test_a_passport_may_say_that_there_is_no_beard() -> None:
    assert traits_of(person("Al", "an old man, grey beard")).beard == "full"
    assert traits_of(person("Al", "an old man without a beard")).beard == ""


@pytest.mark.parametrize(
    ("looks", "species"),
    [("a grey tabby cat", "cat"), ("an old owl", "owl"), ("a man with a dog", "person"), ("", "person")],
)
def test_animals_are_told_from_people(looks: str, species: str) -> None:
    assert traits_of(person("Robin", looks)).species == species


def test_without_a_passport_looks_come_from_the_id_and_stay() -> None:
    assert traits_of(person("Ada")) == traits_of(person("Ada"))
    assert len({traits_of(person(f"p{k}")).top for k in range(20)}) > 5


@pytest.mark.parametrize(
    ("wish", "stance", "gesture", "face", "holds"),
    [
        ("Ada holding a lantern", "stand", "hold", "calm", "lantern"),
        ("Ada kneels, afraid", "kneel", "rest", "worried", ""),
        ("Ada knitting", "stand", "knit", "calm", "wool"),
        ("Ada asleep", "sleep", "rest", "asleep", ""),
        ("Ada points at the sea, amazed", "stand", "point", "amazed", ""),
    ],
)
def test_what_a_person_does_is_told_from_the_wish(wish: str, stance: str, gesture: str, face: str, holds: str) -> None:
    pose = board(subject=wish, people=[person("Ada")]).actors[0].pose
    assert (pose.stance, pose.gesture, pose.face, pose.holds) == (stance, gesture, face, holds)


def test_of_several_people_each_does_what_their_own_clause_says() -> None:
    wish = "Ada holding a candle, Ben kneels, Cleo watching"
    poses = [actor.pose for actor in board(subject=wish, people=[person(n) for n in ("Ada", "Ben", "Cleo")]).actors]
    assert [(pose.holds, pose.stance) for pose in poses] == [("candle", "stand"), ("", "kneel"), ("", "stand")]


def test_things_are_named_once_each_in_their_order() -> None:
    assert things_in("A paper boat with a candle; the boat, a key and two keys") == ["paper boat", "candle", "key"]


LOOKS = ["a tall man", "a small girl", "an old woman", "a grey cat", "a fat man", "a brown dog", ""]
people_of_any_kind = st.lists(st.sampled_from(LOOKS), max_size=7)


@given(
    people_of_any_kind,
    st.sampled_from(["wide", "medium", "close-up", "over-the-shoulder", "two-shot", "establishing", "full", "group"]),
    st.sampled_from([(1280, 720), (720, 1280), (320, 240)]),
    st.booleans(),
)
def test_every_face_is_in_the_picture_and_above_the_text(
    looks: list[str], shot: str, size: tuple[int, int], speaks: bool
) -> None:
    people = [person(f"p{k}", one, speaking=speaks and k == 0) for k, one in enumerate(looks)]
    shown = board(people=people, shot=shot, size=list(size))
    unit = min(size)
    stage = Stage(size[0] / unit, size[1] / unit, 0.72 * size[1] / unit)
    placed = place(shown, stage, framing_of(shown), stage.floor - 0.03)
    assert len(placed) == len(looks)
    for one in placed:
        own = one.head * size_of(one.actor)
        top = one.foot - height_of(one.actor) * one.head
        assert 0 <= one.x <= stage.width
        assert top > -0.25 * own
        if one.actor.traits.species == "person":
            assert top + own < stage.floor + 0.02
        else:
            assert one.actor.traits.species in KINDS


def test_whoever_listens_looks_at_the_one_who_speaks() -> None:
    people = [person("a"), person("b", speaking=True), person("c")]
    shown = board(people=people, shot="wide")
    stage = Stage(1.78, 1.0, 0.72)
    placed = place(shown, stage, framing_of(shown), 0.7)
    speaker = next(one for one in placed if one.actor.pose.speaking)
    for one in placed:
        if one is not speaker:
            assert (one.actor.pose.turn > 0) == (speaker.x > one.x)


def test_an_anchor_puts_a_character_on_its_side() -> None:
    people = [person("a", anchor="right, by the window"), person("b", anchor="left")]
    shown = board(people=people, shot="wide")
    placed = place(shown, Stage(1.78, 1.0, 0.72), framing_of(shown), 0.7)
    xs = {one.actor.traits.id: one.x for one in placed}
    assert xs["b"] < xs["a"]


def test_what_is_held_has_the_colour_that_is_told_of_it() -> None:
    grey, untold = (
        board(subject=wish, people=[person("a")]) for wish in ("holding a ball of grey wool", "holds a book")
    )
    assert grey.actors[0].pose.holds == "wool"
    assert grey.actors[0].pose.tone is not None
    assert max(grey.actors[0].pose.tone) - min(grey.actors[0].pose.tone) < 20
    assert untold.actors[0].pose.tone is None


def test_a_lamp_post_is_part_of_the_place_and_no_lantern() -> None:
    assert things_in("by the lamp post, with a lantern under the street lamp") == ["lantern"]
