"""Letters: every script that is promised, no box for a letter, lines that fit and break where they may."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from PIL import Image

from animastor.workers.storyboard.colour import contrast, rgb
from animastor.workers.storyboard.lettering.card import _readable, draw_card, lay_out
from animastor.workers.storyboard.lettering.fonts import drawable, face, is_rtl, runs_of, width_of
from animastor.workers.storyboard.lettering.wrapping import pieces_of, wrap

SAMPLES = {
    "English": "“Well,” he said, “it’s 3½ o’clock — naïve, œuvre, façade…”",
    "Polish": "Zażółć gęślą jaźń",
    "Vietnamese": "Tiếng Việt có dấu",
    "Greek": "Ο καπετάνιος γέλασε· ἀρχή",
    "Russian": "Съешь ещё этих мягких булок",
    "Arabic": "قال الربان: «من نسج لي طريقًا؟»",
    "Persian": "گچ پژوهش",
    "Japanese": "「誰のために編むの、おばあちゃん」とレンはたずねた。",
    "Chinese": "海上生明月，天涯共此时。",
    "Korean": "안개는 마을을 감쌌다",
}


@pytest.mark.parametrize("language", SAMPLES)
def test_nothing_of_a_promised_script_is_left_out_or_drawn_as_a_box(language: str) -> None:
    text = SAMPLES[language]
    assert drawable(text) == text
    for run in runs_of(text):
        font = face(run.font, 40)
        box = bytes(font.getmask("\ufffe"))  # a character that no font has: how its box looks
        for character in run.text:
            if character.isalnum():
                assert bytes(font.getmask(character)) != box, character


def test_what_no_font_has_and_what_cannot_be_seen_is_left_out() -> None:
    assert drawable("a\u0007b\n\tc \U0001f600 d\u200be") == "ab c de"
    assert lay_out("\U0001f600\u0000", "caption", (640, 360)) is None


def test_text_from_right_to_left_is_told_by_its_first_letter() -> None:
    assert is_rtl("«قال» he said")
    assert not is_rtl("He said «قال»")


def test_a_foreign_word_in_an_arabic_line_keeps_its_spaces() -> None:
    runs = [(run.text, run.rtl) for run in runs_of("ضحك Captain Bram طويلًا")]
    assert ("Captain Bram", False) in runs
    assert "".join(text for text, _ in runs) == "ضحك Captain Bram طويلًا"


def test_japanese_breaks_between_characters_but_never_before_a_full_stop() -> None:
    pieces = pieces_of("「霧だ。」と言った。")
    assert "".join(pieces) == "「霧だ。」と言った。"
    assert all(piece[0] not in "。」" and piece[-1] != "「" for piece in pieces)


@settings(max_examples=60, deadline=None)
@given(st.text(max_size=120), st.sampled_from(["caption", "speech", "title", "chapter"]))
def test_any_text_at_all_is_laid_out_within_its_paper(text: str, role: str) -> None:
    card = lay_out(text, role, (640, 360), name="Ada" if role == "speech" else "")
    if card is None:
        assert not drawable(text)
        return
    assert "".join("".join(card.lines).split()) == "".join(drawable(text).split())
    bold = role in ("title", "chapter")
    for line in card.lines:
        assert width_of(line, card.size, bold) <= card.box.right - card.box.left + 1
    draw_card(Image.new("RGB", (640, 360)), card, night=False, mouth=(300.0, 60.0), colour=(90, 90, 200))


@given(st.lists(st.text(alphabet="abcdefgh", min_size=1, max_size=14), min_size=1, max_size=30), st.integers(60, 400))
def test_lines_are_as_few_as_they_can_be_and_none_is_too_wide(words: list[str], width: int) -> None:
    lines = wrap(" ".join(words), 16, width)
    assert "".join(lines).replace(" ", "") == "".join(words)
    assert all(width_of(line, 16) <= width or len(line) == 1 for line in lines)


@given(st.tuples(*[st.integers(0, 255)] * 3))
def test_a_name_can_be_read_on_a_tag_of_any_colour(colour: tuple[int, int, int]) -> None:
    assert contrast(_readable(colour), rgb("#fffaf0")) >= 4.5
