"""The merge of a scene's sound: its chunks behind each other, one gain for all of them, no peak above the ceiling.

Two passes over the chunks: one measures, one writes. The gain is linear, so that what was quiet beside what was loud
stays so. Only the silence behind the last word is trimmed (CONTRACT 14, Audio).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np

from animastor.media.audio import SAMPLE_RATE, last_kept_s
from animastor.media.types import Structure
from animastor.protocol import FailureType
from animastor.workers.backend import BackendError, Order, Produced, Progress
from animastor.workers.loudness import Meter, Samples, limited
from animastor.workers.speech import flac

_SHORT_S = 1.0  # a scene below this, or below the quietest loudness, gets its voice's fixed gain
_QUIET_LUFS = -60.0
_AUDIBLE = 10 ** (-60.0 / 20)  # of the loudest sample: below it a scene's tail is silence
_CLICK = 10 ** (-50.0 / 20)  # a first or last sample above this would click at a joint
_FADE = 72  # samples: 3 ms
_MOST_HELD = 10 * 60 * SAMPLE_RATE  # samples of decoded chunks that are kept between the passes: 58 MB


def mix(order: Order, workdir: Path, progress: Progress) -> Produced:
    """Join the chunks of a scene, in order. `notes` tells the measured loudness (LUFS) and the gain (dB).

    Raises `BackendError` (`bad_input`) when a chunk cannot be decoded.
    """
    chunks = _Chunks(order.files())
    length, last, loudness, peak, audible = _measured(chunks, progress)
    gain = gain_of(order.structure, loudness, length)
    end = _end(order.structure, length, last, audible)
    sound = _limited(_until(iter(chunks), end), 10 ** (gain / 20), 10 ** (order.structure["true_peak"] / 20))
    path = flac.write(workdir / "scene.flac", _counted(sound, end, progress))  # exactly the sum, its tail apart
    return Produced(path, {"loudness": round(loudness, 2), "gain": round(gain, 2), "peak": round(peak, 4)})


class _Chunks:
    """The chunks of a scene, to be gone through twice: decoded once as far as they fit into a little memory."""

    def __init__(self, files: Sequence[Path]) -> None:
        self._files = files
        self._held: list[Samples] = []
        self._room = _MOST_HELD

    def __len__(self) -> int:
        return len(self._files)

    def __iter__(self) -> Iterator[Samples]:
        for at, path in enumerate(self._files):
            if at < len(self._held):
                yield self._held[at]
                continue
            chunk = _chunk(path)
            if at == len(self._held) and len(chunk) <= self._room:
                self._held.append(chunk)
                self._room -= len(chunk)
            yield chunk


def gain_of(structure: Structure, loudness: float, samples: int) -> float:
    """The gain of a scene in decibels: to the target within the bounds, or the fixed one of the voice."""
    if samples < _SHORT_S * SAMPLE_RATE or loudness < _QUIET_LUFS:
        return float(structure["fixed_gain"])
    most = float(structure["most_gain"])
    return max(-most, min(most, float(structure["loudness"]) - loudness))


def _measured(chunks: _Chunks, progress: Progress) -> tuple[int, int, float, float, int]:
    """Samples, those of the last chunk, loudness, the largest sample, and where the last audible one is."""
    meter = Meter()
    length, last, peak, audible = 0, 0, 0.0, 0
    for at, chunk in enumerate(chunks):
        meter.feed(chunk)
        peak = max(peak, float(np.abs(chunk).max()))
        loud = np.flatnonzero(np.abs(chunk) > _AUDIBLE * max(peak, 0.01))
        audible = length + int(loud[-1]) if loud.size else audible
        last = len(chunk)
        length += last
        progress(0.5 * (at + 1) / len(chunks))
    return length, last, meter.loudness(), peak, audible


def _end(structure: Structure, length: int, last: int, audible: int) -> int:
    """Where the scene ends: its tail of silence is cut to what is ordered, and never beyond the last chunk."""
    tail: float | None = structure["tail"]
    if tail is None:
        return length
    least = length - last + round(last_kept_s(last / SAMPLE_RATE, tail) * SAMPLE_RATE)
    return max(1, least, min(length, audible + 1 + round(tail * SAMPLE_RATE)))


def _until(blocks: Iterator[Samples], end: int) -> Iterator[Samples]:
    left = end
    for block in blocks:
        if left <= 0:
            return
        yield block[:left]
        left -= len(block)


def _limited(blocks: Iterator[Samples], gain: float, ceiling: float) -> Iterator[Samples]:
    for block in blocks:
        yield limited(block * np.float32(gain), ceiling)


def _counted(blocks: Iterator[Samples], end: int, progress: Progress) -> Iterator[Samples]:
    done = 0
    for block in blocks:
        yield block
        done += len(block)
        progress(0.5 + 0.5 * done / end)
    if done != end:  # a chunk changed under our hands: between measuring and writing
        raise BackendError(FailureType.TRANSIENT, "bad_input", f"{done} samples were written, expected were {end}")


def _chunk(path: Path) -> Samples:
    """A whole chunk, soft at an end that would click. Raises `BackendError` when it is no sound."""
    try:
        blocks = list(flac.read(path))
    except flac.DecodeError as error:
        raise BackendError(FailureType.TRANSIENT, "bad_input", f"a chunk cannot be decoded: {error}") from error
    if not blocks:
        raise BackendError(FailureType.TRANSIENT, "bad_input", "a chunk holds no sound")
    chunk = np.concatenate(blocks)
    ramp = np.linspace(0.0, 1.0, min(_FADE, len(chunk) // 2), dtype=np.float32)
    if abs(float(chunk[0])) > _CLICK:
        chunk[: len(ramp)] *= ramp
    if abs(float(chunk[-1])) > _CLICK:
        chunk[len(chunk) - len(ramp) :] *= ramp[::-1]
    return chunk
