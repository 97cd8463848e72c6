"""Sentences on a terminal: no word is cut, none is lost."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from animastor.wrapping import width, wrapped


def test_a_sentence_is_broken_between_words_and_a_quoted_command_is_not() -> None:
    told = wrapped("There is no home in .animastor: `animastor make SOURCE` makes one.", 40)
    assert told.splitlines() == ["There is no home in .animastor:", "`animastor make SOURCE` makes one."]


def test_what_is_indented_goes_on_further_in() -> None:
    assert wrapped("  failed: audio of 1/1: no voice", 20).splitlines() == ["  failed: audio of", "    1/1: no voice"]


def test_wide_characters_count_twice() -> None:
    assert width("本 é") == 4
    assert wrapped("本本本本 本本本本", 10).splitlines() == ["本本本本", "本本本本"]


@given(text=st.text(st.sampled_from("ab `\n本"), max_size=60), columns=st.integers(1, 30))
def test_no_character_but_spaces_is_lost_and_lines_fit_if_their_words_do(text: str, columns: int) -> None:
    told = wrapped(text, columns)
    assert "".join(told.split()) == "".join(text.split())
    for line in told.splitlines():
        assert width(line) <= columns or len(line.split()) == 1
