"""Pictures are planned from exactly what they show: CONTRACT 4 (hashes) and 14 (image)."""

from __future__ import annotations

import copy
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from animastor.books.model import (
    BookHead,
    BookId,
    Character,
    Location,
    Scene,
    SceneId,
    SceneLocation,
    SceneType,
    Unit,
    UnitAudio,
    UnitId,
    UnitImage,
    UnitType,
    Visual,
)
from animastor.media.hashing import digest
from animastor.media.image import IMAGE, plan_image, structure_of
from animastor.media.types import ContentSettings, Facts, MadePart, PlanInput, Profile

ADA = Character("ada", "Ada Finch", appearance="a girl with red hair", clothes="a yellow coat")
BEN = Character("ben", "Old Ben", appearance="an old man, white beard", clothes="a grey jersey")
CLEO = Character("cleo", "Cleo", appearance="a tall woman", clothes="a blue dress")
HEAD = BookHead(
    BookId("b"),
    title="The Tin Boat",
    author="A. Nobody",
    render_mode="storyboard",
    style="gouache",
    characters=(ADA, BEN, CLEO),
    locations=(Location("quay", "a stone quay", {"depth": "long"}, {"time": "dusk", "weather": "rain"}),),
)


def unit(unit_id: str, text: str, **image: Any) -> Unit:
    return Unit(UnitId(unit_id), text, image=UnitImage(**image))


def scene(*units: Unit, **changes: Any) -> Scene:
    values: dict[str, Any] = {"location": SceneLocation("quay", {"weather": "fog"}), "participants": ("ada", "ben")}
    return Scene(SceneId("s1"), units, **{**values, **changes})


def wanted(of: Scene, head: BookHead = HEAD, **changes: Any) -> PlanInput:
    return PlanInput(head, of, ContentSettings(**changes))


def hashes(plan: PlanInput) -> dict[str, str]:
    return {part.unit_ids[0]: part.hash for part in plan_image(plan).parts}


def people(of: Scene, head: BookHead = HEAD) -> list[list[str]]:
    return [[p["id"] for p in part.structure["people"]] for part in plan_image(wanted(of, head)).parts]


SCENE = scene(
    unit("u1", "Rain fell on the quay.", shot="wide"),
    unit("u2", "Ada found a tin boat.", shot="close-up"),
    Unit(UnitId("u3"), "“It floats,” said Ben.", UnitType.DIALOGUE, audio=UnitAudio("ben", "It floats,")),
    unit("u4", "A rope.", shot="detail", prompt="a coil of rope", negative="blurry"),
)


def test_each_unit_has_one_picture_whose_hash_is_of_what_the_worker_receives() -> None:
    plan = plan_image(wanted(SCENE))
    assert [part.unit_ids for part in plan.parts] == [("u1",), ("u2",), ("u3",), ("u4",)]
    assert all(part.hash == digest(part.structure) for part in plan.parts)
    assert plan.wanted_hash == digest(plan.merge)


def test_a_changed_passport_changes_exactly_the_pictures_that_show_the_character() -> None:
    before = hashes(wanted(SCENE))
    bearded = replace(BEN, appearance="an old man without a beard")
    after = hashes(wanted(SCENE, replace(HEAD, characters=(ADA, bearded, CLEO))))
    assert {u for u in before if before[u] != after[u]} == {"u1", "u3"}


def test_a_character_who_is_nowhere_changes_nothing() -> None:
    dressed = replace(HEAD, characters=(CLEO, BEN, ADA, Character("dan", "Dan")))
    assert hashes(wanted(SCENE)) == hashes(wanted(SCENE, dressed))


def test_neither_the_place_of_a_unit_nor_its_neighbours_reach_its_picture() -> None:
    turned = replace(SCENE, units=(unit("u0", "New."), *reversed(SCENE.units)))
    before, after = hashes(wanted(SCENE)), hashes(wanted(turned))
    assert {u: after[u] for u in before} == before


def test_a_wide_shot_shows_who_takes_part_and_an_establishing_or_detail_shot_who_is_named() -> None:
    shots = [unit("a", "Rain.", shot=s) for s in ("wide", "establishing", "detail", "medium", "close up")]
    assert people(scene(*shots)) == [["ada", "ben"], [], [], ["ada", "ben"], ["ada", "ben"]]


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("Ada Finch sang.", ["ada"]),
        ("Finch sang to Ben.", ["ada", "ben"]),
        ("Adams sang of benefits.", ["ada", "ben"]),
        ("Ben's hat", ["ben"]),
    ],
)
def test_names_are_found_at_word_boundaries_and_by_their_own_parts(text: str, found: list[str]) -> None:
    assert people(scene(unit("a", text, shot="medium"))) == [found]


def test_a_text_may_name_somebody_who_is_far_away_but_a_picture_wish_may_not() -> None:
    units = [
        unit("a", "Where was Cleo?", shot="establishing"),
        unit("b", "Hm.", shot="establishing", prompt="Cleo waves"),
    ]
    assert people(scene(*units)) == [[], ["cleo"]]
    assert people(scene(*units, participants=())) == [["cleo"], ["cleo"]]


def test_a_close_up_shows_its_speaker_alone() -> None:
    said = Unit(UnitId("a"), "“Ada!”", UnitType.DIALOGUE, "ben", image=UnitImage(shot="close-up"))
    assert people(scene(said)) == [["ben"]]


def test_names_in_scripts_without_spaces_are_found() -> None:
    head = replace(HEAD, characters=(Character("hana", "花子"), Character("taro", "太郎")))
    of = scene(unit("a", "花子は港へ行った。", shot="medium"), participants=())
    assert people(of, head) == [["hana"]]


def test_a_speaker_without_a_passport_is_shown_and_the_narrator_is_not() -> None:
    units = [
        Unit(UnitId("a"), "“Hi!”", UnitType.DIALOGUE, speaker="stranger"),
        Unit(UnitId("b"), "Hm.", speaker="Narrator"),
    ]
    assert people(scene(*units, participants=())) == [["stranger"], []]
    speaking = plan_image(wanted(scene(*units))).parts[0].structure["people"]
    assert [person["speaking"] for person in speaking] == [True]


def test_the_scene_overrides_the_environment_of_its_location_field_by_field() -> None:
    assert structure_of(wanted(SCENE), SCENE.units[0])["environment"] == {"time": "dusk", "weather": "fog"}


def test_a_scene_without_a_location_is_its_own_place() -> None:
    elsewhere = scene(unit("a", "Rain."), location=SceneLocation(environment="at night"))
    structure = structure_of(wanted(elsewhere), elsewhere.units[0])
    assert structure["place"]["id"] == "s1"
    assert structure["environment"] == {"note": "at night"}


def test_the_prompt_holds_style_shot_subject_place_light_passports_and_quality() -> None:
    of = scene(unit("a", "Ada runs.", prompt="Ada runs home", quality="sharp"), visual=Visual("night", "", "text"))
    structure = structure_of(wanted(of), of.units[0])
    assert structure["prompt"] == (
        "storyboard, gouache, night, wide shot, Ada runs home, a stone quay, long, dusk, fog, "
        "Ada Finch (a girl with red hair, wearing a yellow coat), "
        "Old Ben (an old man, white beard, wearing a grey jersey), sharp"
    )
    assert structure["negative"] == "text"


def test_a_quote_is_drawn_as_speech_and_other_text_as_a_caption() -> None:
    roles = [(p.structure["lettering"], p.structure["text"]) for p in plan_image(wanted(SCENE)).parts]
    assert roles[1:3] == [("caption", "Ada found a tin boat."), ("speech", "It floats.")]


@pytest.mark.parametrize("no", [False, "none", {"enabled": False}])
def test_text_that_is_not_drawn_is_no_part_of_the_picture(no: Any) -> None:
    first, second = (scene(unit("a", text, prompt="a boat", text_render=no)) for text in ("One.", "Two."))
    assert hashes(wanted(first)) == hashes(wanted(second))


def test_a_cover_shows_title_and_author() -> None:
    of = scene(unit("a", "", shot="wide"), type=SceneType.COVER)
    structure = structure_of(wanted(of), of.units[0])
    assert (structure["text"], structure["byline"], structure["lettering"]) == ("The Tin Boat", "A. Nobody", "title")


def test_size_take_and_profile_are_part_of_the_picture() -> None:
    base = wanted(SCENE)
    others = [
        wanted(SCENE, width=1920, height=1080),
        wanted(SCENE, profiles={"picture": Profile("storyboard", 3)}),
        replace(base, takes={u.unit_id: 1 for u in SCENE.units}),
    ]
    seen = [set(hashes(plan).values()) for plan in (base, *others)]
    assert len(set.union(*seen)) == sum(map(len, seen))


def test_frame_rate_and_narrator_are_not() -> None:
    assert hashes(wanted(SCENE)) == hashes(wanted(SCENE, fps=30, narrator="calm"))


def leaves(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    if isinstance(value, dict):
        for key in value:
            yield from leaves(value[key], (*path, key))
    elif isinstance(value, list):
        for index, item in enumerate(value):
            yield from leaves(item, (*path, index))
    else:
        yield path


def changed(structure: dict[str, Any], path: tuple[Any, ...]) -> dict[str, Any]:
    copied = copy.deepcopy(structure)
    holder: Any = copied
    for step in path[:-1]:
        holder = holder[step]
    old = holder[path[-1]]
    holder[path[-1]] = not old if isinstance(old, bool) else old + 1 if isinstance(old, int) else f"{old}~"
    return copied


STRUCTURES = [dict(part.structure) for part in plan_image(wanted(SCENE)).parts]


@given(st.sampled_from(STRUCTURES), st.data())
def test_any_change_of_any_field_changes_the_hash(structure: dict[str, Any], data: st.DataObject) -> None:
    path = data.draw(st.sampled_from(list(leaves(structure))))
    assert digest(changed(structure, path)) != digest(structure)


@given(st.sampled_from(STRUCTURES), st.randoms())
def test_the_order_of_keys_does_not(structure: dict[str, Any], random: Any) -> None:
    keys = list(structure)
    random.shuffle(keys)
    assert digest({key: structure[key] for key in keys}) == digest(structure)


def test_the_manifest_names_each_units_artifact_and_size() -> None:
    parts = [MadePart(p, f"sha-{p.unit_ids[0]}", Facts(width=8, height=6)) for p in plan_image(wanted(SCENE)).parts]
    facts = IMAGE.facts_of(parts, None)
    assert facts["units"]["u2"] == {"artifact": "sha-u2", "width": 8, "height": 6}
    assert list(facts["units"]) == ["u1", "u2", "u3", "u4"]


def test_a_scene_without_units_has_no_parts() -> None:
    assert plan_image(wanted(scene())).parts == ()


def test_a_picture_of_another_size_is_refused_with_both_sizes() -> None:
    structure = structure_of(wanted(SCENE), SCENE.units[0])
    assert IMAGE.check(structure, Facts(width=1280, height=720)) is None
    assert IMAGE.check(structure, Facts(width=640, height=720)) == (
        "the picture is 640x720 pixels, ordered were 1280x720"
    )
