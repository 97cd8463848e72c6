"""What is known of a scene's sound once it is made, and what is refused."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from animastor.books.model import BookHead, BookId, Scene, SceneId, Unit, UnitId, UnitType
from animastor.media.audio import AUDIO, SAMPLE_RATE, audio_facts, check_audio, check_merged, plan_audio
from animastor.media.timing import text_mark
from animastor.media.types import ContentSettings, Facts, MadePart, PlanInput

UNITS = (Unit(UnitId("a"), "One. " * 70), Unit(UnitId("b"), "", UnitType.TYPOGRAPHY), Unit(UnitId("c"), "Two, three."))
PLAN = plan_audio(PlanInput(BookHead(BookId("b"), language="en"), Scene(SceneId("s"), UNITS), ContentSettings()))


def sound(samples: int, rate: int = SAMPLE_RATE) -> Facts:
    return Facts(duration=samples / rate, samples=samples, sample_rate=rate, codec="flac")


def made(lengths: list[int], rate: int = SAMPLE_RATE) -> list[MadePart]:
    return [MadePart(part, "sum", sound(length, rate)) for part, length in zip(PLAN.parts, lengths, strict=True)]


lengths = st.lists(st.integers(2000, 400_000), min_size=len(PLAN.parts), max_size=len(PLAN.parts))


@given(lengths, st.integers(0, 1999))
def test_timings_are_contiguous_and_cover_the_scene_exactly(given_lengths: list[int], trimmed: int) -> None:
    total = sum(given_lengths) - trimmed
    facts = audio_facts(made(given_lengths), sound(total))
    timings = facts["timings"]
    assert [unit_id for unit_id, _, _ in timings] == ["a", "b", "c"]
    assert timings[0][1] == 0
    assert all(one[2] == other[1] for one, other in pairwise(timings))
    assert timings[-1][2] == facts["duration"] == total / SAMPLE_RATE


def test_chunks_of_another_rate_count_as_the_merge_resamples_them() -> None:
    facts = audio_facts(made([44_100] * len(PLAN.parts), 44_100), sound(SAMPLE_RATE * len(PLAN.parts)))
    assert facts["timings"][-1] == ["c", float(len(PLAN.parts) - 1), float(len(PLAN.parts))]


def test_facts_remember_which_text_was_spoken() -> None:
    facts = audio_facts(made([50_000] * len(PLAN.parts)), sound(50_000 * len(PLAN.parts)))
    assert facts["texts"] == {unit.unit_id: text_mark(unit.text) for unit in UNITS}


@pytest.mark.parametrize("samples", [1, 60_000, 50_000 * (len(PLAN.parts) + 1)])
def test_timings_cover_a_merge_of_any_length(samples: int) -> None:
    timings = audio_facts(made([50_000] * len(PLAN.parts)), sound(samples))["timings"]
    assert all(one[2] == other[1] for one, other in pairwise(timings))
    assert (timings[0][1], timings[-1][2]) == (0, samples / SAMPLE_RATE)


def test_a_scene_without_parts_has_no_sound() -> None:
    assert audio_facts([], None)["timings"] == []


def test_a_plausible_chunk_passes_and_others_say_why() -> None:
    speech, silence = PLAN.parts[0].structure, PLAN.parts[2].structure
    assert check_audio(speech, sound(15 * SAMPLE_RATE)) is None
    assert "characters are spoken in 0.10 s" in str(check_audio(speech, sound(2400)))
    assert "characters are spoken" in str(check_audio(speech, sound(SAMPLE_RATE * 600)))
    assert check_audio(silence, sound(round(2.5 * SAMPLE_RATE))) is None
    assert "ordered were 2.50 s" in str(check_audio(silence, sound(2 * SAMPLE_RATE)))
    assert check_audio(speech, Facts()) == "there is no sound in it"
    assert "samples a second" in str(check_audio(PLAN.merge, sound(44_100, 44_100)))
    assert check_audio(PLAN.merge, sound(44_100)) is None


def test_a_merge_is_as_long_as_its_parts_but_for_silence_behind_the_last_one() -> None:
    parts = [sound(seconds * SAMPLE_RATE) for seconds in (10, 20, 5)]
    trimmed = {**PLAN.merge, "tail": 0.6}
    for seconds in (35.0, 33.0, 30.6, 35.6):
        assert check_merged(trimmed, parts, sound(round(seconds * SAMPLE_RATE))) is None
    for seconds in (0.5, 25.0, 29.0, 36.0):
        assert "long" in str(check_merged(trimmed, parts, sound(round(seconds * SAMPLE_RATE))))
    whole = {**PLAN.merge, "tail": None}
    assert check_merged(whole, parts, sound(35 * SAMPLE_RATE)) is None
    assert "at least 35.00 s" in str(check_merged(whole, parts, sound(33 * SAMPLE_RATE)))


def test_the_declaration_says_what_the_engine_reads() -> None:
    assert (AUDIO.name, AUDIO.requires, AUDIO.follows, AUDIO.merges, AUDIO.retry_limit) == ("audio", (), (), True, 10)
    assert set(AUDIO.suffixes) == {"speech", "silence", "merge"}
