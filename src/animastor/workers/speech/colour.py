"""The colour of the neural voice, made before there is a waveform.

The network predicts, for every 12.5 ms, a pitch and smooth spectra that shape a pulse train and noise. So the pitch is
moved, the melody widened, and the resonances shifted by moving rows of the spectra: without the artefacts that a
change of a finished waveform brings. The pitch and the noise were measured to be independent: the noise holds no
trace of the pitch (its correlation over a period is that of noise in the same band).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
from hibari import dsp
from numpy.typing import NDArray

Array = NDArray[Any]

_BINS = dsp.N_FFT // 2 + 1
_HZ = dsp.SR / dsp.N_FFT  # of a row of the spectra
_NYQUIST = dsp.SR / 2
_MIDDLE_PITCH = 190.0  # Hz, the plain voice's; what `span` widens the melody around
_VOICED = 40.0  # Hz; below it a frame has no pitch
_DB = np.log(10.0) / 20.0
_LOUDER, _LOUDER_BY_TILT = 1.2, -0.6  # decibels by which coloured voices came out above the plain one; fitted
_PHASES = np.exp(2j * np.pi * np.arange(256) / 256).astype(np.complex64) * np.float32(np.sqrt(2.0))


@dataclass(frozen=True, slots=True)
class Spectra:
    """What the network predicts: [601, frames] each, and the pitch in Hz [frames].

    `harmonic` and `theta` shape the pulses, `noise` is the level of noise, `free` and `phi` are level and phase of
    what is neither.
    """

    harmonic: Array
    theta: Array
    noise: Array
    free: Array
    phi: Array
    pitch: Array


@dataclass(frozen=True, slots=True)
class Shape:
    """What a colour does to the spectra: which row each row is taken from, and what is added to the two levels."""

    rows: Array
    harmonic: Array
    free: Array
    pitch: float
    span: float
    plain: bool


@lru_cache(maxsize=64)
def _shape(semitones: float, formant: float, span: float, breath: float, tilt: float) -> Shape:
    pitch = 2.0 ** (semitones / 12.0)
    hz = np.arange(_BINS) * _HZ
    octaves = np.log2(np.clip(hz, 500.0, 8000.0) / 1000.0)
    slope = tilt * octaves - (_LOUDER + _LOUDER_BY_TILT * tilt)
    airy = np.clip((hz - 800.0) / 1200.0, 0.0, 1.0)  # breath is heard above the first resonance
    return Shape(
        rows=np.clip(np.rint(_source(hz, pitch, formant) / _HZ).astype(np.int64), 0, _BINS - 1),
        harmonic=((slope - 0.5 * breath * airy) * _DB).astype(np.float32)[:, None],
        free=((slope + breath * airy) * _DB).astype(np.float32)[:, None],
        pitch=pitch,
        span=span,
        plain=(semitones, formant, span, breath, tilt) == (0.0, 1.0, 1.0, 0.0, 0.0),
    )


def shape_of(voice: Mapping[str, Any]) -> Shape:
    """The shape that a voice's parameters ask for."""
    keys = ("semitones", "formant", "span", "breath", "tilt")
    return _shape(*(float(voice[key]) for key in keys))


def _source(hz: Array, pitch: float, formant: float) -> Array:
    """From which frequency of the plain voice each frequency is taken.

    The lowest harmonics keep their own level at their new place (the spectra fall off below the plain voice's
    pitch); from there to 700 Hz the shift turns into that of the resonances; near the top it ends at the top.
    """
    top = 9000.0 * min(1.0, formant)
    source: Array = np.interp(
        hz, [0.0, 230.0 * pitch, 700.0, top, _NYQUIST], [0.0, 230.0, 700.0 / formant, top / formant, _NYQUIST]
    )
    return source


def coloured(spectra: Spectra, shape: Shape) -> Spectra:
    """The spectra of the same words in another colour."""
    if shape.plain:
        return spectra
    rows = shape.rows
    harmonic = _mended(spectra.harmonic)[rows]
    harmonic += shape.harmonic
    free = spectra.free[rows]
    free += shape.free
    return Spectra(harmonic, spectra.theta[rows], spectra.noise[rows], free, spectra.phi, _sung(spectra.pitch, shape))


def _mended(level: Array) -> Array:
    """The level without the few rows that are dead in the network: at least the mean of both neighbours."""
    mended = level.copy()
    np.maximum(level[1:-1], 0.5 * (level[:-2] + level[2:]), out=mended[1:-1])
    return mended


def _sung(pitch: Array, shape: Shape) -> Array:
    voiced = pitch > _VOICED
    moved = np.exp(np.log(np.maximum(pitch, _VOICED) / _MIDDLE_PITCH) * shape.span) * (_MIDDLE_PITCH * shape.pitch)
    return np.where(voiced, moved, pitch).astype(np.float32)


def waveform(spectra: Spectra, random: np.random.Generator) -> NDArray[np.float32]:
    """The sound: 300 samples a frame, 24,000 a second. The same bits for the same state of `random`.

    As `hibari.dsp.synth`, but the noise has random phases instead of random amplitudes too, which costs a tenth.
    """
    frames = spectra.harmonic.shape[1]
    sound = dsp.stft(dsp.pulses(spectra.pitch), frames)
    turned = np.empty(spectra.harmonic.shape, np.complex64)
    angle = np.tanh(spectra.theta)
    angle *= np.float32(np.pi)
    np.cos(angle, out=turned.real)
    np.sin(angle, out=turned.imag)
    turned *= dsp.ex(spectra.harmonic)
    sound *= turned
    noise = _PHASES[random.integers(0, 256, spectra.noise.shape, dtype=np.uint8)]
    noise *= dsp.ex(spectra.noise)
    sound += noise
    np.cos(spectra.phi, out=turned.real)
    np.sin(spectra.phi, out=turned.imag)
    turned *= dsp.ex(spectra.free)
    sound += turned
    result: NDArray[np.float32] = dsp.ola(sound)
    return result
