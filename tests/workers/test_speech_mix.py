"""The merge of a scene's sound: gapless, one gain, no peak above the ceiling, no click."""

import re
import subprocess
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray
from speech_kit import PROSE, RATE, made, order_of, sound_of

from animastor.books.model import BookHead, BookId, Scene, SceneId, Unit, UnitId
from animastor.media.audio import plan_audio
from animastor.media.ffmpeg import program
from animastor.media.types import ContentSettings, PlanInput
from animastor.protocol import FailureType
from animastor.workers.backend import BackendError, Order
from animastor.workers.loudness import QUIETEST, Meter, limited, measured
from animastor.workers.mix import gain_of, mix
from animastor.workers.speech import flac

CEILING = 10 ** (-1.5 / 20)
MERGE = plan_audio(
    PlanInput(BookHead(BookId("b")), Scene(SceneId("s"), (Unit(UnitId("u"), "Words."),)), ContentSettings())
).merge


def tone(seconds: float, level: float, hz: float = 300.0) -> NDArray[np.float32]:
    return (level * np.sin(2 * np.pi * hz * np.arange(round(seconds * RATE)) / RATE)).astype(np.float32)


def merge_of(tmp_path: Path, *sounds: NDArray[np.float32], **changes: object) -> Order:
    files = {str(at): flac.write(tmp_path / f"{at}.flac", [sound]) for at, sound in enumerate(sounds)}
    return Order("audio", "merge", {**MERGE, **changes}, files, tuple(files))


def mixed(order: Order, tmp_path: Path) -> NDArray[np.float32]:
    return sound_of(mix(order, tmp_path, lambda _: None).path)


def ffmpegs_measure(path: Path) -> tuple[float, float]:
    """The integrated loudness and the true peak by ffmpeg's own meter."""
    command = [program(), "-nostats", "-i", str(path), "-af", "ebur128=peak=true", "-f", "null", "-"]
    said = subprocess.run(command, capture_output=True, text=True, check=True).stderr
    return float(re.findall(r"I:\s+(\S+) LUFS", said)[-1]), float(re.findall(r"Peak:\s+(\S+) dBFS", said)[-1])


def speech(tmp_path: Path) -> list[NDArray[np.float32]]:
    return [made(order_of(PROSE, voice=voice), tmp_path) for voice in ("", "oak", "wren")]


def test_loudness_is_what_ffmpegs_meter_says(tmp_path: Path) -> None:
    sound = np.concatenate([*speech(tmp_path), tone(3, 0.5, 4000.0), np.zeros(3 * RATE, np.float32)])
    path = flac.write(tmp_path / "all.flac", [sound])
    assert measured([sound]) == pytest.approx(ffmpegs_measure(path)[0], abs=0.15)


@given(st.lists(st.integers(1, 40_000), min_size=1, max_size=6))
def test_loudness_does_not_depend_on_how_the_sound_is_cut(cuts: list[int]) -> None:
    sound = tone(2.0, 0.3) * np.linspace(0.1, 1.0, 2 * RATE, dtype=np.float32)
    meter = Meter()
    for piece in np.split(sound, np.cumsum(cuts)[np.cumsum(cuts) < len(sound)]):
        meter.feed(piece)
    assert meter.loudness() == pytest.approx(measured([sound]), abs=0.01)


def test_silence_and_moments_measure_as_the_quietest() -> None:
    assert measured([]) == measured([np.zeros(RATE, np.float32)]) == measured([tone(0.2, 0.5)]) == QUIETEST


def test_a_scene_comes_out_at_its_loudness_below_its_ceiling(tmp_path: Path) -> None:
    made_mix = mix(merge_of(tmp_path, *speech(tmp_path)), tmp_path, lambda _: None)
    loudness, peak = ffmpegs_measure(made_mix.path)
    assert loudness == pytest.approx(-18.0, abs=0.5)
    assert peak <= -1.4


def test_a_peak_between_two_samples_is_limited_too(tmp_path: Path) -> None:
    quarter = (0.95 * np.sin(np.pi / 2 * np.arange(RATE) + np.pi / 4)).astype(np.float32)  # peaks never on a sample
    quarter *= np.hanning(RATE).astype(np.float32) ** 0.1
    path = flac.write(tmp_path / "limited.flac", [limited(quarter * np.float32(1.4), CEILING)])
    assert ffmpegs_measure(path)[1] <= -1.3


def test_the_limiter_leaves_quiet_sound_alone_and_moves_gain_smoothly() -> None:
    quiet = tone(1.0, 0.4)
    assert np.array_equal(limited(quiet, CEILING), quiet)
    loud = quiet.copy()
    loud[10_000:10_200] *= 4
    gain = limited(loud, CEILING)[9_000:11_000] / np.where(
        np.abs(loud[9_000:11_000]) < 1e-3, np.nan, loud[9_000:11_000]
    )
    steps = np.abs(np.diff(gain[~np.isnan(gain)]))
    assert np.nanmin(gain) < 0.6
    assert steps.max() < 0.05


def test_parts_follow_each_other_without_a_gap_in_the_jobs_order(tmp_path: Path) -> None:
    pieces = [tone(0.7, 0.1 * (at + 1), 200.0 + 100 * at) for at in range(3)]
    order = merge_of(tmp_path, *pieces)
    twice = Order("audio", "merge", order.structure, order.inputs, ("2", "0", "1", "0"))
    sound = mixed(twice, tmp_path)
    assert len(sound) == 4 * len(pieces[0])
    ratios = [np.abs(sound[at * len(pieces[0]) :][: len(pieces[0])]).max() for at in range(4)]
    assert ratios[0] > ratios[2] > ratios[1] == pytest.approx(ratios[3], rel=0.02)


def test_there_is_no_click_at_a_joint(tmp_path: Path) -> None:
    rough = [tone(1.0, 0.4)[: RATE - 17], (tone(1.0, 0.4) * -1)[20:], tone(1.0, 0.2)[33:]]
    sound = mixed(merge_of(tmp_path, *rough), tmp_path)
    assert np.abs(np.diff(sound)).max() < 1.5 * np.abs(np.diff(tone(1.0, 1.0))).max() * np.abs(sound).max()


def test_the_gain_is_linear_over_the_scene(tmp_path: Path) -> None:
    sound = mixed(merge_of(tmp_path, tone(1.0, 0.02), tone(1.0, 0.04)), tmp_path)
    halves = [np.abs(half[RATE // 4 : -RATE // 4]).max() for half in np.split(sound, 2)]
    assert halves[1] == pytest.approx(2 * halves[0], rel=0.01)


def test_only_the_silence_behind_the_last_word_is_trimmed(tmp_path: Path) -> None:
    silence = np.zeros(2 * RATE, np.float32)
    spoken = np.concatenate([silence, tone(1.0, 0.3), silence])
    assert len(mixed(merge_of(tmp_path, silence, spoken), tmp_path)) / RATE == pytest.approx(5.0 + 0.6, abs=0.01)
    assert len(mixed(merge_of(tmp_path, spoken, silence, tail=None), tmp_path)) == 7 * RATE


@pytest.mark.parametrize(
    ("loudness", "seconds", "gain"),
    [
        (-24.0, 9.0, 6.0),
        (-12.0, 9.0, -6.0),
        (-40.0, 9.0, 12.0),
        (0.0, 9.0, -12.0),
        (-61.0, 9.0, 5.0),
        (-24.0, 0.9, 5.0),
    ],
)
def test_the_gain_is_bounded_and_fixed_for_short_or_silent_scenes(loudness: float, seconds: float, gain: float) -> None:
    assert gain_of({**MERGE, "fixed_gain": 5.0}, loudness, round(seconds * RATE)) == gain


def test_a_scene_of_silence_stays_silent(tmp_path: Path) -> None:
    sound = mixed(merge_of(tmp_path, np.zeros(60_000, np.float32), tail=None), tmp_path)
    assert len(sound) == 60_000
    assert not sound.any()


def test_other_rates_and_channels_are_taken_too(tmp_path: Path) -> None:
    path = tmp_path / "stereo.wav"
    source = "sine=frequency=440:sample_rate=44100:duration=2"
    subprocess.run([program(), "-v", "error", "-f", "lavfi", "-i", source, "-ac", "2", str(path)], check=True)
    sound = mixed(Order("audio", "merge", {**MERGE, "tail": None}, {"a": path}, ("a",)), tmp_path)
    assert len(sound) / RATE == pytest.approx(2.0, abs=0.002)


def test_a_chunk_that_cannot_be_decoded_is_bad_input(tmp_path: Path) -> None:
    path = tmp_path / "broken.flac"
    path.write_bytes(b"no sound at all")
    with pytest.raises(BackendError) as caught:
        mix(Order("audio", "merge", MERGE, {"a": path}, ("a",)), tmp_path, lambda _: None)
    assert (caught.value.type, caught.value.code) == (FailureType.TRANSIENT, "bad_input")
