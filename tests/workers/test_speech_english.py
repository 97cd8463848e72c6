"""English text as the neural voice gets it."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from animastor.workers.speech.english import MOST_WORD, spoken


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("XIV", "14."),
        ("I", "1."),
        ("“I!”", "“I!”"),
        ("III.", "3."),
        ("No. 5 and Nos. 6, 7", "Number 5 and Numbers 6, 7"),
        ("No. He left.", "No. He left."),
        ("£4 10s. 6d.", "4 pounds 10 shillings and 6 pence"),
        ("5s. 6d.", "5 shillings and 6 pence"),
        ("Mme. Bovary, Esq.", "Madame Bovary, Esquire"),
        ("HE SHOUTED, UKRIDGE’S hens", "HE Shouted, Ukridge’s hens"),
        ("HMS NASA", "HMS NASA"),
        ("cafe\u0301 naïve", "café naïve"),
        ("zero\u00adwidth\u200b\u2060", "zerowidth"),
        ("Привет, Ωμέγα", "privet, omega"),
        ("かな 안녕", "kana annyeong"),
        ("日本語 text 🙂 here", "text here"),
        ("[a](/b/) <b>*c*</b>", "[a] (/b/) b c /b"),
        ("Wait--what?!?", "Wait—what?"),
        ("1" * 16, " ".join("1" * 16)),
        ("⅔ of it", "two thirds of it"),
        ("…", "…"),
        ("\x00\x07", ""),
        (" \n\t ", ""),
    ],
)
def test_what_the_voice_cannot_read_is_put_into_words(text: str, said: str) -> None:
    assert spoken(text) == said


@given(st.text(max_size=200))
def test_no_text_breaks_it_and_no_word_is_without_end(text: str) -> None:
    said = spoken(text)
    assert all(len(word) <= MOST_WORD for word in said.split(" "))
    assert "\n" not in said


def test_plain_prose_is_left_alone() -> None:
    prose = "Mr. Jeremy Garnet stood with his back to the empty grate—for the time was summer—watching."
    assert spoken(prose) == prose


def test_the_number_of_a_heading_is_read_before_its_title() -> None:
    assert spoken("XV\nThe Arrival of Nemesis") == "15. The Arrival of Nemesis"
    assert spoken("I\nA Letter") == "1. A Letter"
    assert spoken("I said\nno") == "I said no"
