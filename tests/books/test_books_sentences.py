"""Sentences end where a reader ends them, nothing is lost, and chunks hold whole words."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from animastor.books.sentences import LIMIT, clauses, pack, split

SENTENCES = {
    "dialogue": ("en", ['"What is it?" said Mr. Smith. ', '"Nothing." ', "He left. ", '"Stop!" she cried.']),
    "a tag with a capital": ("en", ["“Yes?” I said, in my affable way. ", "“What!” Mr. Ukridge cried. ", "He left."]),
    "a long quotation": ("en", ["He said: “One. ", "Two! ", "Three? ", "Four.” and left. ", "She stayed."]),
    "abbreviations": ("en", ["Dr. J. R. Jones met Mrs. Brown, of St. James, at 5 p.m. on purpose. ", "He left."]),
    "numbers": ("en", ["It cost $3.50 for No. 5 of vol. 3, p. 12. ", "Then approx. 7 came."]),
    "an answer that is a word": ("en", ["No. ", "He left."]),
    "ellipses": ("en", ["Wait… what? ", "He paused... and left. ", "So. . . . gone."]),
    "brackets": ("en", ["(A note. ", "Another.) ", "Then he went."]),
    "German": ("de", ["„Halt!“ rief er am 3. Mai. ", "»Ja!« sagte Dr. Müller, z.B. gern. ", "Gut."]),
    "French": ("fr", ["« Bonjour ! » dit-il. ", "M. Dupont arriva. ", "Quoi ? ", "Rien."]),
    "Spanish": ("es", ["—¿Qué? —dijo. ", "—Nada. ", "El Sr. López vino."]),
    "Russian": ("ru", ["— Да! — сказал А. С. Пушкин. ", "Т.е. нет."]),
    "Japanese": ("ja", ["「どこへ行く。」と彼は言った。", "山路を登りながら、こう考えた。", "本当？", "はい！"]),
    "Chinese": ("zh", ["“你是谁？”他说。", "我不知道！", "她笑了……然后走了。"]),
    "Arabic": ("ar", ["ما هذا؟ ", "قال: «نعم. ", "لا.» ", "د. أحمد هنا! ", "شكرا."]),
    "Hindi": ("hi", ["यह है। ", "हाँ?"]),
    "Urdu": ("ur", ["یہ ہے۔ ", "کیا؟ ", "ہاں۔"]),
    "no language": ("", ["One. ", "Two."]),
}
pieces = st.lists(st.sampled_from([*'aB .!?…。"“”’\n»)\u0301あ、,;—', "Mr.", " I said", "  "]), max_size=60).map(
    "".join
)
languages = st.sampled_from(["en", "de", "fr", "ja", "zh", "ar", "xx", ""])


@pytest.mark.parametrize(("language", "expected"), SENTENCES.values(), ids=SENTENCES.keys())
def test_sentences_end_where_a_reader_ends_them(language: str, expected: list[str]) -> None:
    assert split("".join(expected), language) == expected


@given(pieces, languages)
def test_joined_sentences_are_the_text(text: str, language: str) -> None:
    assert "".join(split(text, language)) == text


@given(st.text(max_size=80), languages)
def test_any_text_is_split_without_loss(text: str, language: str) -> None:
    assert "".join(split(text, language)) == text
    assert "".join("".join(pack(text, 7, language)).split()) == "".join(text.split())


@given(pieces, languages, st.integers(1, 40))
def test_chunks_are_the_text_and_within_the_limit(text: str, language: str, limit: int) -> None:
    chunks = pack(text, limit, language)
    assert all(0 < len(chunk) <= limit for chunk in chunks)
    assert "".join("".join(chunks).split()) == "".join(text.split())


@given(st.lists(st.text("abc,;.", min_size=1, max_size=12), max_size=40), st.integers(12, 40))
def test_no_word_that_fits_is_cut(words: list[str], limit: int) -> None:
    assert " ".join(pack(" ".join(words), limit, "en")).split() == words


def test_a_long_sentence_is_cut_behind_its_clauses() -> None:
    sentence = "He came in from the rain, which had not stopped; he took off his hat, and sat down by the fire."
    assert [piece.strip() for piece in clauses(sentence, 60)] == [
        "He came in from the rain, which had not stopped;",
        "he took off his hat, and sat down by the fire.",
    ]


def test_text_without_spaces_is_cut_behind_punctuation() -> None:
    chunks = pack("山路を登りながら、こう考えた、智に働けば角が立つ、情に棹させば流される。", 20, "ja")
    assert all(chunk[-1] in "、。" for chunk in chunks)


def test_a_word_longer_than_the_limit_is_cut_between_characters_not_marks() -> None:
    chunks = pack("e\u0301" * 20, 9, "en")
    assert all(not chunk.startswith("\u0301") for chunk in chunks)


def test_short_sentences_share_a_chunk() -> None:
    assert pack("One. Two. Three.", LIMIT, "en") == ["One. Two. Three."]


@pytest.mark.parametrize("unit", ["“", "「あ。", '"a. ', "Mr. ", "a.b.", ". ", "!", "a"])
def test_time_grows_with_the_length_of_the_text(unit: str) -> None:
    began = time.process_time()
    pack(unit * (200_000 // len(unit)), language="en")
    assert time.process_time() - began < 3
