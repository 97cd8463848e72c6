"""Texts are cut into cues of two lines of 42 columns, where a reader would pause, in any script."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from animastor.exports.subtitles import Spoken, subtitles, webvtt
from animastor.exports.wrapping import columns, cues

ENGLISH = (
    "Mr. Garnet looked at the sea, which was grey; then he turned, took his hat from the chair, and said that he would "
    "go. Nobody answered. The wind had dropped in the night, and on the quay below the men were already at work."
)
JAPANESE = (
    "吾輩は猫である。名前はまだ無い。どこで生れたかとんと見当がつかぬ。"
    "「何でも薄暗いじめじめした所で」ニャーニャー泣いていた事だけは記憶している。"
)
ARABIC = "إن الوقاية من السرطان تبدأ من المائدة، ولذلك فإن اختيار الأغذية الصحيحة أمر مهم للغاية. هل تعرف ذلك؟ نعم!"


def squeezed(text: str) -> str:
    return "".join(text.split())


@given(st.text(st.sampled_from("ab, .!?猫。「」é\u0301م،\t\n-"), max_size=300))
def test_nothing_is_lost_and_everything_fits(text: str) -> None:
    found = cues(text)
    assert squeezed("".join(line for cue in found for line in cue.lines)) == squeezed(text)
    for cue in found:
        assert 1 <= len(cue.lines) <= 2
        assert all(line and columns(line) <= 42 for line in cue.lines)
    assert sum(cue.share for cue in found) == pytest.approx(1.0 if found else 0.0)
    assert all(cue.share > 0 for cue in found)


@pytest.mark.parametrize("text", [ENGLISH, JAPANESE, ARABIC], ids=["en", "ja", "ar"])
def test_cues_end_where_a_reader_would_pause(text: str) -> None:
    found = cues(text)
    assert len(found) > 1
    ends = [cue.lines[-1][-1] for cue in found]
    assert all(end in ".,;。、」،؟!؛" for end in ends), ends


def test_sentence_end_is_preferred_and_an_abbreviation_is_none() -> None:
    found = cues(
        "Mr. and Mrs. Ukridge came down to the shore in the evening. They looked at the boats for a long while."
    )
    assert [cue.lines[-1].endswith(("evening.", "while.")) for cue in found] == [True, True]


def test_lines_of_a_cue_are_of_like_length() -> None:
    (cue,) = cues("The lamp on the table burned low while she wrote to him.")
    assert max(map(len, cue.lines)) - min(map(len, cue.lines)) < 12


def test_wide_signs_take_two_columns_and_closing_marks_begin_no_line() -> None:
    lines = [line for cue in cues(JAPANESE * 3) for line in cue.lines]
    assert all(columns(line) <= 42 for line in lines)
    assert max(map(len, lines)) <= 21
    assert not any(line[0] in "。、」ーャ" or line[-1] == "「" for line in lines)


def test_word_that_is_longer_than_a_line_is_cut() -> None:
    assert [line for cue in cues("x" * 100) for line in cue.lines] == ["x" * 42, "x" * 42, "x" * 16]


def test_cues_keep_the_measured_borders_of_units() -> None:
    spoken = [
        Spoken(0.0, 9.0, ENGLISH),
        Spoken(9.0, 9.0, "no time"),
        Spoken(9.0, 11.5, ""),
        Spoken(11.5, 13.25, "Yes."),
    ]
    events = subtitles(spoken, "en").events
    assert events[0].start == 0
    assert next(event.end for event in events if event.end > 8000) == 9000
    assert (events[-1].start, events[-1].end) == (11500, 13250)
    assert all(a.end <= b.start for a, b in pairwise(events))
    assert "no time" not in [event.text for event in events]


def test_longer_cues_are_shown_longer() -> None:
    events = subtitles([Spoken(0, 30, ENGLISH)], "en").events
    speeds = [len(event.text) / event.duration for event in events]
    assert max(speeds) / min(speeds) < 1.6


def test_marks_of_the_format_are_shown_and_not_obeyed() -> None:
    text = webvtt(subtitles([Spoken(0, 3, "1 < 2 & {b} \\N --> <i>x</i>")], "en"))
    assert "1 &lt; 2 &amp; {b} \\\u2060N --&gt; &lt;i&gt;x&lt;/i&gt;" in text
    assert text.startswith("WEBVTT\n")
    assert text.count("-->") == 1


def test_line_of_a_right_to_left_book_that_begins_with_latin_keeps_its_direction() -> None:
    lines = [
        event.text for event in subtitles([Spoken(0, 3, "DNA مهم."), Spoken(3, 6, "نعم."), Spoken(6, 9, "OK.")], "ar")
    ]
    assert lines == ["\u200fDNA مهم.\u200f", "نعم.", "OK."]


def test_very_long_text_takes_little_time() -> None:
    assert len(cues(ENGLISH * 200)) > 400
