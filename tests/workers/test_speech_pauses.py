"""Silence in speech: trimmed, shortened, and put where a reader pauses."""

import numpy as np
import pytest
from numpy.typing import NDArray

from animastor.workers.speech import pauses

RATE = 24_000


def tone(seconds: float, level: float = 0.3) -> NDArray[np.float32]:
    at = np.arange(round(seconds * RATE)) / RATE
    return (level * np.sin(2 * np.pi * 200 * at)).astype(np.float32)


def quiet(seconds: float) -> NDArray[np.float32]:
    return np.zeros(round(seconds * RATE), np.float32)


def test_silence_at_both_ends_is_trimmed_to_what_is_kept() -> None:
    sound = pauses.trimmed(np.concatenate([quiet(0.7), tone(1.0), quiet(0.9)]))
    assert len(sound) / RATE == pytest.approx(1.0 + 2 * pauses.KEPT_S, abs=0.011)
    assert sound[0] == sound[-1] == 0


def test_sound_without_anything_heard_is_empty() -> None:
    assert pauses.trimmed(quiet(1.0)).size == 0
    assert pauses.trimmed(quiet(0.0)).size == 0


def test_a_long_silence_inside_is_shortened_and_a_short_one_kept() -> None:
    sound = np.concatenate([tone(0.5), quiet(2.0), tone(0.5), quiet(0.3), tone(0.5)])
    shorter = pauses.shortened(sound)
    silences = [(end - start) / RATE for start, end in pauses.silences(shorter)]
    assert silences == [pytest.approx(pauses.MOST_INSIDE_S, abs=0.02), pytest.approx(0.3, abs=0.02)]
    assert np.abs(np.diff(shorter)).max() <= np.abs(np.diff(sound)).max() + 1e-4


@pytest.mark.parametrize(
    ("seconds", "characters", "pause"),
    [(6.0, 100, 0.5), (0.5, 8, 0.5), (2.0, 60, 0.2)],
)
def test_a_chunk_keeps_within_the_bounds_of_speed_by_its_silences(
    seconds: float, characters: int, pause: float
) -> None:
    chunk = pauses.framed(tone(seconds), "x" * characters, "en", pause)
    assert 8.0 <= characters / (len(chunk) / RATE) <= 28.0


def test_a_chunk_in_the_middle_of_the_bounds_gets_its_own_pause() -> None:
    chunk = pauses.framed(tone(6.0), "x" * 100, "en", 0.5)
    assert len(chunk) / RATE == pytest.approx(6.0 + 0.5 + pauses.LEAD_S)


def test_where_silence_cannot_help_the_pause_stays_natural() -> None:
    chunk = pauses.framed(tone(0.6), "XI", "en", 0.9)
    assert len(chunk) / RATE == pytest.approx(0.6 + 0.9 + pauses.LEAD_S)


def test_japanese_is_given_the_time_of_its_own_script() -> None:
    chunk = pauses.framed(tone(1.0), "こう考えた。", "ja", 0.5)
    assert len(chunk) / RATE == pytest.approx(1.0 + 0.5 + pauses.LEAD_S)
