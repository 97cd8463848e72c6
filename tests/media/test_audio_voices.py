"""Casting: who sounds how, and what changes it."""

from dataclasses import replace
from itertools import combinations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from animastor.books.model import BookHead, BookId, Character, Scene, SceneId
from animastor.media.voices import (
    PALETTE,
    PLAIN,
    character_colour,
    character_instruction,
    narrator_colour,
    narrator_instruction,
    speaker_voice,
)

HEAD = BookHead(BookId("b"), language="en")
SCENE = Scene(SceneId("s"), ())
ids = st.text(st.sampled_from("abcdefghij-"), min_size=1, max_size=12)


def voice(head: BookHead, speaker: str, profile: str = "hibari") -> dict[str, object]:
    return speaker_voice(head, SCENE, "", speaker, profile)


@given(st.lists(ids, min_size=2, max_size=8, unique=True), st.sampled_from(["hibari", "espeak"]))
def test_every_character_has_a_voice_of_its_own(names: list[str], profile: str) -> None:
    voices = [voice(HEAD, name, profile) for name in names]
    assert all(one != other for one, other in combinations(voices, 2))
    assert voice(HEAD, "", profile) not in voices


@given(st.lists(ids, min_size=1, max_size=5, unique=True), ids, st.integers(0, 5))
def test_a_new_character_changes_nobodys_voice(names: list[str], new: str, at: int) -> None:
    cast = tuple(Character(id=name) for name in names)
    larger = (*cast[:at], Character(id=new, voice="an old man"), *cast[at:])
    heads = replace(HEAD, characters=cast), replace(HEAD, characters=larger)
    assert all(voice(heads[0], name) == voice(heads[1], name) for name in names if name != new)


@given(ids, st.sampled_from(["", "a child", "an old woman", "a deep man", "bright"]))
def test_pitch_and_pace_stay_within_what_was_measured(name: str, instruction: str) -> None:
    colour = character_colour(name, "", instruction)
    assert -3.0 <= colour.semitones <= 3.0
    assert 0.9 <= colour.pace <= 1.12
    assert 0.8 <= colour.formant <= 1.2


def test_the_palette_has_colours_enough_and_none_is_plain() -> None:
    assert len(PALETTE) >= 12
    assert PLAIN not in PALETTE.values()
    assert all(-3.0 <= colour.semitones <= 3.0 and 0.9 <= colour.pace <= 1.12 for colour in PALETTE.values())


@pytest.mark.parametrize(
    ("instruction", "name", "low"),
    [
        ("a gruff old man", "", True),
        ("a little girl", "", False),
        ("", "Mr. Brown", True),
        ("", "Mrs. Brown", False),
        ("deep, resonant", "", True),
        ("an alto of forty, a woman", "Mr. Brown", False),
    ],
)
def test_words_about_a_voice_choose_its_kind(instruction: str, name: str, low: bool) -> None:
    for number in range(40):
        colour = character_colour(f"c{number}", name, instruction)
        assert (colour.formant < 0.96) is low


def test_a_colour_can_be_named() -> None:
    assert character_colour("anna", "Anna", "Amber") == PALETTE["amber"]
    assert narrator_colour("oak") == PALETTE["oak"]


def test_the_narrator_is_plain_unless_told_otherwise() -> None:
    assert narrator_colour("") == PLAIN
    assert narrator_colour("calm and measured") == PLAIN
    assert narrator_colour("a deep man") != PLAIN


def test_an_instruction_comes_from_voices_then_from_the_character() -> None:
    head = replace(
        HEAD, voices={"anna": "warm"}, characters=(Character(id="anna", voice="cold"), Character(id="tom", voice="dry"))
    )
    assert character_instruction(head, "anna") == "warm"
    assert character_instruction(head, "tom") == "dry"
    assert character_instruction(head, "nobody") == ""


def test_an_empty_instruction_is_never_sent() -> None:
    head = replace(HEAD, characters=(Character(id="anna", voice="  "),), voices={"anna": ""})
    assert "instruction" not in voice(head, "anna")
    assert "instruction" not in voice(head, "")


def test_the_narrators_voice_comes_from_the_setting_the_scene_the_bible_and_the_book() -> None:
    book = replace(HEAD, narration_voice="n1", voices={"n1": "slow", "narrator": "last"})
    assert narrator_instruction(book, SCENE, "") == "slow"
    bible = replace(book, narrator_voice="old")
    assert narrator_instruction(bible, SCENE, "") == "old"
    assert narrator_instruction(bible, replace(SCENE, voice="n1"), "") == "slow"
    assert narrator_instruction(bible, replace(SCENE, voice="n1"), "young") == "young"
    assert narrator_instruction(replace(HEAD, voices={"narrator": "last"}), SCENE, "") == "last"
