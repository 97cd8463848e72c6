"""Who speaks is told from the sentence, or not at all."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from animastor.books.model import Unit, UnitType
from animastor.books.packing import SENTENCE_LIMIT, SENTENCES, UNIT_LIMIT, atoms_of_paragraph, pack_units, unit_of

TOLD = {
    "behind": ("en", "“Good day, sir,” said Mrs. Medley, leaving.", [("mrs-medley", "Good day, sir,")]),
    "name first": ("en", '"Go," Bill cried.', [("bill", "Go,")]),
    "before": ("en", "The old man cried: “Stop! Go.”", [("the-old-man", "Stop! Go.")]),
    "in two parts": ("en", "“A man,” said Bill, “with a voice.”", [("bill", "A man,"), ("bill", "with a voice.")]),
    "going on": ("en", "“Yes,” said Bill. “I know.”", [("bill", "Yes,"), ("bill", "I know.")]),
    "single quotes": ("en", "‘It’s fine,’ said the wolf.", [("the-wolf", "It’s fine,")]),
    "an adverb": ("en", "“No,” said the king angrily.", [("the-king", "No,")]),
    "a king": ("en", "“No!” the old king roared.", [("the-old-king", "No!")]),
    "German": ("de", "„Halt!“, rief der König.", [("der-konig", "Halt!")]),
    "French": ("fr", "« Oui », répondit le roi.", [("le-roi", "Oui")]),
    "a pronoun": ("en", "“Go,” he said to Bill.", []),
    "nobody": ("en", "“Go.”", []),
    "another": ("en", "“Go,” said the other.", []),
    "a name in quotes": ("en", "He sat at the “Plough” and said nothing to Bill.", []),
    "a language without table": ("ja", "「はい」と太郎は言った。", []),
}


def units(text: str, language: str) -> list[Unit]:
    atoms, _ = atoms_of_paragraph(text, language)
    return [unit_of(group) for group in pack_units(atoms)]


@pytest.mark.parametrize(("language", "text", "expected"), TOLD.values(), ids=TOLD.keys())
def test_the_speaker_is_told_from_the_sentence(language: str, text: str, expected: list[tuple[str, str]]) -> None:
    made = units(text, language)
    assert [(unit.audio.speaker, unit.audio.text) for unit in made if unit.type is UnitType.DIALOGUE] == expected
    assert all(unit.speaker == unit.audio.speaker for unit in made)
    assert all(unit.audio.text in unit.text for unit in made)


def test_two_speakers_of_a_paragraph_do_not_share_what_neither_is_told_to_say() -> None:
    made = units("“Yes,” said Bill. “No,” said Ann. “Well.”", "en")
    assert [unit.speaker for unit in made] == ["bill", "ann", ""]


def test_a_long_speech_is_several_units_of_one_speaker() -> None:
    made = units("“One. Two. Three. Four. Five,” said Bill.", "en")
    assert [unit.audio.text for unit in made] == ["One. Two. Three.", "Four. Five,"]
    assert {unit.speaker for unit in made} == {"bill"}


words = st.sampled_from(
    ["Bill", "said", "the", "king", "“Yes,”", "“No.", "No.”", "went", "home.", "Why?", "Mr.", "I", ","]
)


@given(st.lists(words, min_size=1, max_size=40).map(" ".join), st.sampled_from(["en", "de", "fr"]))
def test_units_are_the_paragraph_in_packs_of_one_to_three_sentences(text: str, language: str) -> None:
    atoms, _ = atoms_of_paragraph(text, language)
    groups = pack_units(atoms)
    assert "".join("".join(unit_of(group).text for group in groups).split()) == "".join(text.split())
    assert all(1 <= len(group) <= SENTENCES for group in groups)
    assert all(len(unit_of(group).text) <= max(UNIT_LIMIT, SENTENCE_LIMIT) for group in groups)
