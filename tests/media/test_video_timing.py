"""Units on the timeline: borders are cumulative, and durations are the best that is known."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from animastor.books.model import Unit, UnitId, UnitType
from animastor.media.timing import (
    SILENT_S,
    border,
    estimated_s,
    frame_counts,
    in_order,
    is_silent,
    last_known_s,
    room,
    text_mark,
)

DURATIONS = st.lists(st.floats(0.05, 60.0), min_size=1, max_size=30)
RATES = st.sampled_from([12, 24, 25, 30, 60])


def a_unit(text: str, kind: UnitType = UnitType.NARRATION) -> Unit:
    return Unit(UnitId("u"), text, kind)


@given(DURATIONS, RATES)
def test_frames_of_the_units_are_those_of_the_whole(durations: list[float], fps: int) -> None:
    timings = in_order((str(k), seconds) for k, seconds in enumerate(durations))
    counts = frame_counts(timings, fps)
    assert sum(counts) == round(fps * timings[-1][2])
    at = 0
    for (_, start, end), count in zip(timings, counts, strict=True):
        assert abs(at - fps * start) <= 0.5 + 1e-5
        at += count
        assert abs(at - fps * end) <= 0.5 + 1e-5


@given(st.floats(0.0, 5000.0), st.floats(0.0, 60.0), RATES)
def test_room_is_enough_wherever_the_unit_begins(start: float, duration: float, fps: int) -> None:
    (count,) = frame_counts([("u", start, start + duration)], fps)
    assert count <= room(duration, fps) <= count + 2


@given(st.integers(0, 10**6), st.integers(1, 10**6), st.sampled_from([22050, 24000, 48000]))
def test_room_of_a_measured_duration_does_not_depend_on_where_it_was_measured(at: int, samples: int, rate: int) -> None:
    assert room((at + samples) / rate - at / rate, 24) == room(samples / rate, 24)


def test_last_bit_of_a_sum_decides_nothing() -> None:
    assert border(sum([0.1] * 10), 24) == border(1.0, 24) == 24
    assert border(1.5 / 24 * (1 + 1e-15), 24) == border(1.5 / 24, 24)


def test_measured_duration_counts_while_the_text_is_unchanged() -> None:
    facts = {"timings": [["u", 3.0, 7.25]], "texts": {"u": text_mark("The sea  was calm.")}}
    assert last_known_s(a_unit("The sea was\ncalm."), facts, "en") == 4.25
    assert last_known_s(a_unit("The sea was wild."), facts, "en") == estimated_s("The sea was wild.", "en")
    assert last_known_s(a_unit("The sea was calm."), {}, "en") == estimated_s("The sea was calm.", "en")
    assert last_known_s(a_unit("The sea was calm."), {"timings": [["u", 3.0, 7.25]]}, "en") != 4.25


def test_what_is_not_spoken_lasts_two_and_a_half_seconds() -> None:
    for unit in (a_unit("The End", UnitType.TYPOGRAPHY), a_unit("* * *"), a_unit("")):
        assert is_silent(unit)
        assert last_known_s(unit, {}, "en") == SILENT_S == 2.5
    assert not is_silent(a_unit("吾輩は猫である"))


def test_estimate_grows_with_the_text_at_the_language_s_speed() -> None:
    assert estimated_s("a" * 150, "en-GB") == 10.0
    assert estimated_s("猫" * 65, "ja") == 10.0
    assert estimated_s("a", "en") > 0
