"""What is spoken, by whom and in which chunks (CONTRACT 4 and 14, Audio)."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from animastor.books.model import (
    BookHead,
    BookId,
    Character,
    Scene,
    SceneId,
    SceneType,
    Unit,
    UnitAudio,
    UnitId,
    UnitType,
)
from animastor.media.audio import AUDIO, plan_audio
from animastor.media.audio_chunks import PAUSE_CLAUSE_S, PAUSE_HEADING_S, PAUSE_SENTENCE_S, PAUSE_UNIT_S, speakable
from animastor.media.hashing import digest
from animastor.media.types import ContentSettings, PartPlan, PlanInput, Planned, Profile, Structure

ANNA = Character(id="anna", name="Anna", voice="a bright young woman")
HEAD = BookHead(BookId("b"), language="en", characters=(ANNA, Character(id="tom", name="Tom")))

words = st.text(
    st.sampled_from("abc déf GHI 12 .,!? “”’—… 日本。 ع؟ \n\t"),
    max_size=700,
)
unit_types = st.sampled_from(list(UnitType))


@st.composite
def units(draw: st.DrawFn) -> tuple[Unit, ...]:
    made = []
    for number in range(draw(st.integers(1, 4))):
        text = draw(words)
        start = draw(st.integers(0, len(text)))
        said = text[start : draw(st.integers(start, len(text)))]
        audio = UnitAudio(draw(st.sampled_from(["", "anna", "tom"])), draw(st.sampled_from(["", said])))
        made.append(Unit(UnitId(f"u{number}"), text, draw(unit_types), audio=audio))
    return tuple(made)


def scene(*made: Unit, **fields: object) -> Scene:
    return replace(Scene(SceneId("s"), tuple(made)), **fields)  # type: ignore[arg-type]


def plan(given_scene: Scene, head: BookHead = HEAD, **fields: object) -> Planned:
    settings = fields.pop("settings", ContentSettings())
    return plan_audio(PlanInput(head, given_scene, settings, **fields))  # type: ignore[arg-type]


def texts(planned: Planned) -> list[str]:
    return [part.structure["text"] for part in planned.parts if part.kind == "speech"]


def speakers(planned: Planned) -> list[dict[str, object]]:
    return [part.structure["voice"] for part in planned.parts]


def bare(text: str) -> str:
    return "".join(text.split())


def dialogue(text: str, said: str, speaker: str = "anna") -> Unit:
    return Unit(UnitId("u"), text, UnitType.DIALOGUE, audio=UnitAudio(speaker, said))


@given(units())
def test_joined_the_chunks_of_a_unit_are_its_text_up_to_white_space(made: tuple[Unit, ...]) -> None:
    planned = plan(scene(*made))
    for unit in made:
        own = [part for part in planned.parts if part.unit_ids == (unit.unit_id,)]
        if unit.type is UnitType.TYPOGRAPHY or not speakable(unit.text):
            assert [part.kind for part in own] == ["silence"]
        else:
            assert bare("".join(part.structure["text"] for part in own)) == bare(unit.text)


@given(units())
def test_no_chunk_is_longer_than_250_characters_or_spans_units(made: tuple[Unit, ...]) -> None:
    planned = plan(scene(*made))
    assert all(len(text) <= 250 for text in texts(planned))
    assert all(len(part.unit_ids) == 1 for part in planned.parts)
    assert [part.unit_ids[0] for part in planned.parts] == sorted(part.unit_ids[0] for part in planned.parts)


@given(units())
def test_the_hash_covers_exactly_what_the_worker_receives(made: tuple[Unit, ...]) -> None:
    planned = plan(scene(*made))
    assert all(part.hash == digest(part.structure) for part in planned.parts)
    assert planned.wanted_hash == digest(planned.merge)
    assert planned.merge["parts"] == [part.hash for part in planned.parts]
    assert len({part.hash for part in planned.parts}) == len(planned.parts)


@given(units(), st.data())
def test_changing_a_units_text_changes_chunks_of_that_unit_only(made: tuple[Unit, ...], data: st.DataObject) -> None:
    at = data.draw(st.integers(0, len(made) - 1))
    edited = (*made[:at], replace(made[at], text=data.draw(words)), *made[at + 1 :])
    before, after = plan(scene(*made)), plan(scene(*edited))
    assert changed(before, after) <= {made[at].unit_id}


@given(units(), st.integers(0, 3))
def test_a_unit_put_before_others_changes_none_of_their_chunks(made: tuple[Unit, ...], at: int) -> None:
    new = Unit(UnitId("new"), "Something else happened. It was raining.")
    longer = (*made[:at], new, *made[at:])
    assert changed(plan(scene(*made)), plan(scene(*longer))) == {"new"}


@given(units(), st.sampled_from(["an old man", "amber", "deep and slow", ""]))
def test_changing_a_voice_changes_exactly_the_chunks_that_it_speaks(made: tuple[Unit, ...], voice: str) -> None:
    head = replace(HEAD, characters=(replace(ANNA, voice=voice), HEAD.characters[1]))
    before, after = plan(scene(*made)), plan(scene(*made), head)
    spoken_by_anna = ["voice" in part.structure and _is_of_anna(part.structure) for part in before.parts]
    differs = [old.hash != new.hash for old, new in zip(before.parts, after.parts, strict=True)]
    assert differs == spoken_by_anna


def _is_of_anna(structure: Structure) -> bool:
    """Whether a chunk is in the voice that Anna has in its language."""
    said = str(structure["text"])
    return bool(structure["voice"] == plan(scene(dialogue(said, said))).parts[0].structure["voice"])


def changed(before: Planned, after: Planned) -> set[str]:
    old, new = ({part.hash: part.unit_ids[0] for part in planned.parts} for planned in (before, after))
    return {unit_id for key, unit_id in [*old.items(), *new.items()] if key not in old or key not in new}


def test_a_speech_stands_between_the_narration_before_and_after_it() -> None:
    planned = plan(scene(dialogue("She turned. “Come in, Tom,” said Anna.", "Come in, Tom,")))
    assert texts(planned) == ["She turned.", "“Come in, Tom,”", "said Anna."]
    narrator, anna, again = speakers(planned)
    assert narrator == again != anna


@pytest.mark.parametrize("said", ["ome in", "Come out", "“”", ""])
def test_a_speech_that_is_not_in_the_text_at_word_boundaries_is_narrated_whole(said: str) -> None:
    planned = plan(scene(dialogue("“Come in,” said Anna.", said)))
    assert texts(planned) == ["“Come in,” said Anna."]


def test_white_space_inside_a_speech_may_differ() -> None:
    planned = plan(scene(dialogue("“Come\n in now,” said Anna.", "Come in now,")))
    assert texts(planned) == ["“Come\n in now,”", "said Anna."]


def test_japanese_speech_is_found_without_spaces_around_it() -> None:
    planned = plan(scene(dialogue("「おい」と声を掛けた。", "おい")), replace(HEAD, language="ja"))
    assert texts(planned) == ["「おい」", "と声を掛けた。"]


def test_a_speaker_who_is_the_narrator_is_the_narrator() -> None:
    assert len(texts(plan(scene(dialogue("He said: “Yes.”", "Yes.", "Narrator"))))) == 1


def test_typography_and_ornaments_are_silence() -> None:
    made = plan(
        scene(Unit(UnitId("a"), "THE END", UnitType.TYPOGRAPHY), Unit(UnitId("b"), "* * *"), Unit(UnitId("c"), ""))
    )
    assert [(part.kind, part.structure["seconds"]) for part in made.parts] == [("silence", 2.5)] * 3
    assert made.merge["tail"] is None


def test_a_scene_without_units_has_no_parts() -> None:
    assert plan(scene()).parts == ()


def test_a_lone_ellipsis_is_said_with_its_neighbour() -> None:
    made = plan(scene(Unit(UnitId("a"), "“…” … “Really?”")))
    assert texts(made) == ["“…” … “Really?”"]


@pytest.mark.parametrize(
    ("language", "profiles", "profile"),
    [
        ("en-GB", {}, "hibari"),
        ("", {}, "hibari"),
        ("de", {}, "espeak"),
        ("de", {"speech:de": Profile("piper", 2)}, "piper"),
        ("de-AT", {"speech:de": Profile("piper", 2)}, "piper"),
        ("en", {"speech:de": Profile("piper", 2)}, "hibari"),
        ("fr", {"speech": Profile("remote", 1)}, "remote"),
        ("en-US", AUDIO.profiles, "hibari"),
        ("fr", AUDIO.profiles, "espeak"),
    ],
)
def test_the_language_decides_the_profile(language: str, profiles: dict[str, Profile], profile: str) -> None:
    settings = ContentSettings(profiles=profiles)
    made = plan(scene(Unit(UnitId("u"), "Ja, so ist es.")), replace(HEAD, language=language), settings=settings)
    part: PartPlan = made.parts[0]
    assert (part.profile, part.structure["profile"][0]) == (profile, profile)


def test_a_chunk_in_another_script_gets_a_voice_of_its_language() -> None:
    made = plan(scene(Unit(UnitId("a"), "Привет, мир."), Unit(UnitId("b"), "He said Привет once, and left.")))
    assert [part.structure["language"] for part in made.parts] == ["ru", "en"]


def test_a_raised_take_is_another_chunk_and_leaves_the_other_units_alone() -> None:
    made = scene(Unit(UnitId("a"), "One."), Unit(UnitId("b"), "Two."))
    assert changed(plan(made), plan(made, takes={"b": 1})) == {"b"}


def test_what_a_character_looks_like_changes_no_sound() -> None:
    dressed = replace(HEAD, characters=(replace(ANNA, appearance="an old man", clothes="armour"), HEAD.characters[1]))
    made = scene(dialogue("“Come in,” said Anna.", "Come in,"))
    assert plan(made).wanted_hash == plan(made, dressed).wanted_hash


def test_pauses_follow_the_end_of_the_text() -> None:
    long = "A clause that goes on for a while, " * 9 + "and ends here. “Then more.”"
    made = plan(scene(Unit(UnitId("a"), long), dialogue("“Yes,” said Anna.", "Yes,")))
    pauses = [part.structure["pause"] for part in made.parts]
    assert pauses == [PAUSE_CLAUSE_S, PAUSE_UNIT_S, PAUSE_CLAUSE_S, PAUSE_UNIT_S]
    assert PAUSE_SENTENCE_S in [
        part.structure["pause"] for part in plan(scene(Unit(UnitId("a"), "A short sentence. " * 20))).parts
    ]


def test_a_heading_stands_for_itself() -> None:
    made = plan(scene(Unit(UnitId("a"), "Chapter One"), type=SceneType.CHAPTER_INTRO))
    assert made.parts[0].structure["pause"] == PAUSE_HEADING_S
