"""How loud sound is (ITU-R BS.1770-4), and a limiter for its true peaks. Mono, 24,000 samples a second.

The two filters of the measurement are applied as their impulse response, by fast Fourier transforms, because a
recursive filter is slow in numpy. A test compares with ffmpeg's meter.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache

import numpy as np
from numpy.typing import NDArray

from animastor.media.audio import SAMPLE_RATE

Samples = NDArray[np.float32]
Doubles = NDArray[np.float64]

QUIETEST = -70.0  # LUFS: the standard's absolute gate, and what silence is said to measure

_STEP = SAMPLE_RATE // 10  # a block of 400 ms starts every 100 ms
_STEPS = 4
_TAPS = 6000  # of the weighting filter: its high pass has died out (below 1e-6) by then
_FFT = 1 << 16
_OVER = 4  # times oversampled for true peaks
_SIDE = 12  # taps on each side of the interpolation filter
_NEAR = 0.5  # of the ceiling: only around samples above this are true peaks looked for
_HELD = SAMPLE_RATE // 200  # 5 ms: the gain is down before a peak, and comes up after it, within this


@cache
def _weighting() -> NDArray[np.complex64]:
    """The spectrum of the K-weighting: a shelf that stands for the head, and a high pass.

    The analogue prototypes behind the standard's table for 48 kHz, designed for our rate by the bilinear transform.
    """
    impulse = np.zeros(_TAPS)
    impulse[0] = 1.0
    shelf = _shelf(1681.974450955533, 3.999843853973347, 0.7071752369554196)
    high = _high_pass(38.13547087602444, 0.5003270373238773)
    response = _recursive(_recursive(impulse, *shelf), *high)
    return np.fft.rfft(response, _FFT).astype(np.complex64)


def _shelf(hz: float, gain_db: float, q: float) -> tuple[Doubles, Doubles]:
    k = np.tan(np.pi * hz / SAMPLE_RATE)
    high = 10 ** (gain_db / 20)
    band = high**0.4996667741545416
    scale = 1 + k / q + k * k
    top = [high + band * k / q + k * k, 2 * (k * k - high), high - band * k / q + k * k]
    return np.array(top) / scale, np.array([1.0, 2 * (k * k - 1) / scale, (1 - k / q + k * k) / scale])


def _high_pass(hz: float, q: float) -> tuple[Doubles, Doubles]:
    k = np.tan(np.pi * hz / SAMPLE_RATE)
    scale = 1 + k / q + k * k
    return np.array([1.0, -2.0, 1.0]), np.array([1.0, 2 * (k * k - 1) / scale, (1 - k / q + k * k) / scale])


def _recursive(sound: Doubles, top: Doubles, bottom: Doubles) -> Doubles:
    """A second-order recursive filter, sample by sample: for impulse responses only."""
    out = np.zeros_like(sound)
    held = [0.0, 0.0]
    for at, value in enumerate(sound):
        out[at] = top[0] * value + held[0]
        held[0] = top[1] * value - bottom[1] * out[at] + held[1]
        held[1] = top[2] * value - bottom[2] * out[at]
    return out


class Meter:
    """Integrated loudness of sound that comes in blocks."""

    def __init__(self) -> None:
        self._waiting = np.zeros(0, np.float32)
        self._tail = np.zeros(_TAPS - 1, np.float32)
        self._powers: list[Doubles] = []
        self._rest = np.zeros(0, np.float32)

    def feed(self, sound: Samples) -> None:
        """Take more of the sound."""
        self._waiting = np.concatenate([self._waiting, sound])
        size = _FFT - _TAPS + 1
        while len(self._waiting) >= size:
            self._weigh(self._waiting[:size])
            self._waiting = self._waiting[size:]

    def loudness(self) -> float:
        """LUFS of all that was fed; `QUIETEST` for silence, and for less than 400 ms. Ends the measurement."""
        if len(self._waiting):
            self._weigh(self._waiting)
            self._waiting = self._waiting[:0]
        steps = np.concatenate(self._powers) if self._powers else np.zeros(0)
        return _gated(np.convolve(steps, np.full(_STEPS, 1 / _STEPS), "valid") if len(steps) >= _STEPS else steps[:0])

    def _weigh(self, sound: Samples) -> None:
        spectrum = np.fft.rfft(sound, _FFT) * _weighting()
        weighed = np.fft.irfft(spectrum, _FFT)[: len(sound) + _TAPS - 1].astype(np.float32, copy=False)
        weighed[: _TAPS - 1] += self._tail
        self._tail = weighed[len(sound) :]
        ready = np.concatenate([self._rest, weighed[: len(sound)]])
        count = len(ready) // _STEP
        self._rest = ready[count * _STEP :]
        blocks = ready[: count * _STEP].reshape(count, _STEP)
        self._powers.append(np.mean(np.square(blocks, dtype=np.float64), axis=1))


def measured(blocks: Iterable[Samples]) -> float:
    """The integrated loudness of a sound, in LUFS."""
    meter = Meter()
    for block in blocks:
        meter.feed(block)
    return meter.loudness()


def _gated(powers: Doubles) -> float:
    """The mean of the blocks above the absolute gate, and above 10 below their own mean."""
    for gate in (10 ** ((QUIETEST + 0.691) / 10), None):
        if not len(powers):
            return QUIETEST
        powers = powers[powers > (0.1 * float(np.mean(powers)) if gate is None else gate)]
    return max(QUIETEST, float(-0.691 + 10 * np.log10(np.mean(powers)))) if len(powers) else QUIETEST


@cache
def _phases() -> Samples:
    """The filters that give the three values between two samples: a windowed sinc, one column for each place."""
    at = np.arange(-_SIDE + 1, _SIDE + 1)[:, None] - np.arange(1, _OVER)[None, :] / _OVER
    columns = np.sinc(at) * np.cos(np.pi * at / (2 * _SIDE + 1)) ** 2
    result: Samples = (columns / columns.sum(axis=0)).astype(np.float32)
    return result


def true_peaks(sound: Samples, places: NDArray[np.intp]) -> Samples:
    """For each of these places the largest absolute value at it and between it and the next, four times oversampled."""
    around = np.lib.stride_tricks.sliding_window_view(np.pad(sound, _SIDE), 2 * _SIDE)[places + 1]
    between: Samples = np.abs(around @ _phases()).max(axis=1)
    return np.maximum(between, np.abs(sound[places]))


def limited(sound: Samples, ceiling: float) -> Samples:
    """The sound with no true peak above `ceiling` (1.0 is full scale): turned down around each peak, never clipped.

    The gain falls before a peak and rises behind it along a smooth curve of 5 ms, so that nothing clicks.
    """
    loud = np.abs(sound) > _NEAR * ceiling
    loud[:-1] |= loud[1:]  # a peak lies behind a loud sample, or before one
    near = np.flatnonzero(loud)
    peaks = true_peaks(sound, near) if near.size else np.zeros(0, np.float32)
    over = near[peaks > ceiling]
    if not over.size:
        return sound
    need = np.ones(len(sound), np.float32)
    need[over] = ceiling / peaks[peaks > ceiling]
    result = sound.copy()
    for start, end in _stretches(over, len(sound)):
        result[start:end] *= _smooth(need[start:end])
    return result


def _stretches(places: NDArray[np.intp], length: int) -> list[tuple[int, int]]:
    """Stretches around the places, wide enough for the gain to be 1 at both ends, joined where they meet."""
    gaps = np.flatnonzero(np.diff(places) > 4 * _HELD)
    starts = places[np.concatenate([[0], gaps + 1])] - 2 * _HELD
    ends = places[np.concatenate([gaps, [len(places) - 1]])] + 2 * _HELD + 1
    return [(max(0, int(a)), min(length, int(b))) for a, b in zip(starts, ends, strict=True)]


def _smooth(need: Samples) -> Samples:
    """A smooth gain that is never above `need`: its running minimum, averaged over the same width."""
    width = 2 * _HELD + 1
    edged = np.pad(need, 2 * _HELD, constant_values=1.0)
    least = np.lib.stride_tricks.sliding_window_view(edged, width).min(axis=1)
    window = np.hanning(width + 2)[1:-1]
    smooth = np.convolve(least, window / window.sum(), "valid")
    result: Samples = np.minimum(smooth, need).astype(np.float32)
    return result
