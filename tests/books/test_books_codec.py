"""Storing a book's values as JSON loses nothing and is fast enough for planning."""

from __future__ import annotations

import timeit

import orjson
from hypothesis import given, settings
from hypothesis import strategies as st

from animastor.books.codec import (
    chapter_from_json,
    chapter_to_json,
    head_from_json,
    head_to_json,
    scene_from_json,
    scene_to_json,
)
from animastor.books.model import (
    BookHead,
    BookId,
    Chapter,
    ChapterId,
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

words = st.text(st.characters(codec="utf-8"), max_size=8)
ids = st.from_regex(r"[A-Za-z0-9_-][A-Za-z0-9._-]{0,8}", fullmatch=True)
scalars = st.none() | st.booleans() | st.integers(-(2**53), 2**53) | words
json_values = st.recursive(
    scalars, lambda inner: st.lists(inner, max_size=2) | st.dictionaries(words, inner, max_size=2), max_leaves=4
)
extras = st.dictionaries(words, json_values, max_size=2)
units = st.builds(
    Unit,
    unit_id=ids.map(UnitId),
    text=words,
    type=st.sampled_from(UnitType),
    speaker=words,
    audio=st.builds(UnitAudio, words, words),
    image=st.builds(UnitImage, words, words, words, words, json_values),
    action=words,
    extra=extras,
)
scenes = st.builds(
    Scene,
    scene_id=ids.map(SceneId),
    units=st.lists(units, max_size=3).map(tuple),
    title=words,
    type=st.sampled_from(SceneType),
    location=st.builds(SceneLocation, words, json_values),
    participants=st.lists(words, max_size=2).map(tuple),
    character_anchors=json_values,
    voice=words,
    full_text=words,
    visual=st.builds(Visual, words, words, words, json_values),
    extra=extras,
)
chapters = st.builds(Chapter, ids.map(ChapterId), st.lists(scenes, max_size=2).map(tuple), words, words, words, extras)
heads = st.builds(
    BookHead,
    book_id=ids.map(BookId),
    title=words,
    author=words,
    language=words,
    build_id=words,
    render_mode=words,
    narration_voice=words,
    narrator_voice=words,
    style=words,
    voices=st.dictionaries(words, words, max_size=2),
    characters=st.lists(st.builds(Character, ids, words, words, words, words, words, extras), max_size=2).map(tuple),
    locations=st.lists(st.builds(Location, ids, words, json_values, json_values, extras), max_size=2).map(tuple),
    layer_config=extras,
    identifier=words,
    extra=extras,
)


def through_bytes(data: object) -> dict[str, object]:
    return orjson.loads(orjson.dumps(data))


@settings(max_examples=50, deadline=None)
@given(scenes)
def test_a_stored_scene_is_read_back_equal(scene: Scene) -> None:
    assert scene_from_json(through_bytes(scene_to_json(scene))) == scene


@settings(max_examples=50, deadline=None)
@given(heads)
def test_a_stored_head_is_read_back_equal(head: BookHead) -> None:
    assert head_from_json(through_bytes(head_to_json(head))) == head


@settings(max_examples=25, deadline=None)
@given(chapters)
def test_a_stored_chapter_is_read_back_equal_with_the_scenes_given(chapter: Chapter) -> None:
    assert chapter_from_json(through_bytes(chapter_to_json(chapter)), chapter.scenes) == chapter


def test_what_holds_its_default_is_not_stored() -> None:
    scene = Scene(SceneId("sc-1"), (Unit(UnitId("iu-1"), "A word."),))
    assert scene_to_json(scene) == {"scene_id": "sc-1", "units": [{"unit_id": "iu-1", "text": "A word."}]}


def test_a_scene_of_ten_units_is_read_in_microseconds() -> None:
    dialogue = UnitAudio("bill", "A word.")
    made = tuple(Unit(UnitId(f"iu-{n}"), "A word.", UnitType.DIALOGUE, "bill", dialogue) for n in range(10))
    stored = scene_to_json(Scene(SceneId("sc-1"), made))
    best = min(timeit.repeat(lambda: scene_from_json(stored), number=200, repeat=5)) / 200
    assert best < 200e-6  # about 15 µs on an idle core; the bound leaves room for a busy machine
