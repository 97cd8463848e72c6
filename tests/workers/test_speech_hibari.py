"""The English voice, really spoken."""

from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray
from speech_kit import PROSE, RATE, made, order_of, plan_of, seconds, sound_of

from animastor.books.model import Unit, UnitId
from animastor.media.audio import check_audio
from animastor.media.probe import probe
from animastor.media.voices import PALETTE
from animastor.protocol import FailureType
from animastor.workers.backend import BackendError, Order
from animastor.workers.speech import pauses, speak


def pitch(sound: NDArray[np.float32]) -> float:
    """The median pitch of the voiced parts, in Hz, by autocorrelation."""
    found = []
    for at in range(0, len(sound) - 1200, 600):
        frame = sound[at : at + 1200] - sound[at : at + 1200].mean()
        if frame.std() < 0.03:
            continue
        spectrum = np.abs(np.fft.rfft(frame, 4096)) ** 2
        correlation = np.fft.irfft(spectrum)[: RATE // 90]
        lag = int(correlation[RATE // 350 :].argmax()) + RATE // 350
        if correlation[lag] > 0.5 * correlation[0]:
            found.append(RATE / lag)
    return float(np.median(found))


def test_the_same_order_gives_the_same_bits_and_another_seed_other_ones(tmp_path: Path) -> None:
    first, again, other = (made(order_of(PROSE, take=take), tmp_path) for take in (0, 0, 1))
    assert np.array_equal(first, again)
    assert not np.array_equal(first, other)


def test_a_chunk_is_lossless_mono_of_24000_samples_a_second_and_passes_its_check(tmp_path: Path) -> None:
    order = order_of(PROSE)
    facts = probe(speak(order, tmp_path, lambda _: None).path)
    assert (facts.codec, facts.sample_rate) == ("flac", RATE)
    assert check_audio(order.structure, facts) is None


def test_prose_is_read_at_the_speed_of_a_reader_without_long_silences_or_clipping(tmp_path: Path) -> None:
    sound = made(order_of(f"{PROSE} {PROSE}"), tmp_path)
    assert 12 < 2 * len(PROSE) / seconds(sound) < 22
    assert max(end - start for start, end in pauses.silences(sound)) < 1.5 * RATE
    assert np.abs(sound).max() < 0.99
    assert sound[0] == sound[-1] == 0


@pytest.mark.parametrize("colour", ["oak", "wren"])
def test_a_colour_moves_the_pitch_by_its_semitones(colour: str, tmp_path: Path) -> None:
    plain, coloured = (pitch(made(order_of(PROSE, voice=voice), tmp_path)) for voice in ("", colour))
    assert 12 * np.log2(coloured / plain) == pytest.approx(PALETTE[colour].semitones, abs=0.7)


def test_a_slow_colour_takes_longer_than_a_fast_one(tmp_path: Path) -> None:
    slow, fast = (seconds(made(order_of(PROSE, voice=voice), tmp_path)) for voice in ("ash", "robin"))
    assert slow / fast == pytest.approx(PALETTE["robin"].pace / PALETTE["ash"].pace, rel=0.1)


@pytest.mark.parametrize(
    "text",
    [
        "I paid $1,234.56 on 3/4/1999 at 5:30 p.m. to Dr. O’Neil, No. 5, St. John’s Rd.",
        "XIV",
        "THE END OF ALL THINGS!",
        "“Oh!”",
        "a" * 250,
        "x-" * 125,
        "1" * 250,
        "word " * 50,
        "He said Привет, 日本語, الله, 🙂 and cafe\u0301 to me.",
        "He—well—you know--stopped... and (perhaps) [went](/on/).",
        "A sentence that has a great many words but no clause at all to breathe " * 3,
        "3",
        "…a",
        "\u200bx\u0300\u0301",
    ],
)
def test_nothing_that_can_stand_in_a_book_breaks_it(text: str, tmp_path: Path) -> None:
    order = order_of(text)
    facts = probe(speak(order, tmp_path, lambda _: None).path)
    assert check_audio(order.structure, facts) is None


def test_a_chunk_with_nothing_to_say_is_a_short_silence(tmp_path: Path) -> None:
    order = order_of("words")
    sound = made(Order("audio", "speech", {**order.structure, "text": "— ** 🙂"}), tmp_path)
    assert 0.05 < seconds(sound) < 1.0
    assert np.abs(sound).max() < 0.05


def test_a_unit_without_sound_is_its_silence(tmp_path: Path) -> None:
    part = plan_of(Unit(UnitId("u"), "***")).parts[0]
    sound = sound_of(speak(Order("audio", part.kind, part.structure), tmp_path, lambda _: None).path)
    assert len(sound) == 2.5 * RATE
    assert not sound.any()


def test_progress_grows_while_sentences_are_spoken(tmp_path: Path) -> None:
    told: list[float] = []
    speak(order_of("One is here. Two is here. Three is here."), tmp_path, told.append)
    assert told == sorted(told)
    assert len(told) == 3


@pytest.mark.parametrize("change", [{"profile": ["unknown", 1]}, {"voice": {"name": "emma", "pace": 1.0}}])
def test_an_engine_or_a_voice_that_is_not_here_is_misconfigured(change: dict[str, object], tmp_path: Path) -> None:
    order = order_of(PROSE)
    with pytest.raises(BackendError) as caught:
        speak(Order("audio", "speech", {**order.structure, **change}), tmp_path, lambda _: None)
    assert caught.value.type is FailureType.MISCONFIGURED
