"""Silence: found, trimmed, and put where a reader pauses. All lengths are seconds of 24,000 samples."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from animastor.media.audio import SAMPLE_RATE
from animastor.media.timing import estimated_s

Samples = NDArray[np.float32]

_STEP = SAMPLE_RATE // 100  # silence is judged by hundredths of a second
_QUIET_DB = -46.0  # below the loudest hundredth: no part of a word
_FLOOR = 1e-4  # of full scale: below it nothing is heard
LEAD_S = 0.06  # silence before the first sound of a chunk
KEPT_S = 0.03  # kept around what is heard, for soft beginnings and ends
MOST_INSIDE_S = 0.75  # a longer silence inside a sentence is shortened to this
_FADE = 120  # samples: 5 ms at each end, so that no joint clicks

SLOWEST, FASTEST = 0.547, 1.8  # of a language's usual speed: English keeps within 8.2 and 27 characters a second
_LEAST_LEAD_S, _LEAST_PAUSE_S = 0.02, 0.05


def levels(sound: Samples) -> NDArray[np.float32]:
    """The root mean square of each hundredth of a second."""
    count = len(sound) // _STEP
    blocks = sound[: count * _STEP].reshape(count, _STEP)
    result: NDArray[np.float32] = np.sqrt(np.mean(np.square(blocks), axis=1))
    return result


def heard(sound: Samples) -> NDArray[np.bool_]:
    """Which hundredths of a second are heard."""
    level = levels(sound)
    if not level.size:
        return np.zeros(0, bool)
    return level > max(_FLOOR, float(level.max()) * 10 ** (_QUIET_DB / 20))


def trimmed(sound: Samples) -> Samples:
    """The sound from its first to its last heard hundredth, with a little around, soft at both ends; may be empty."""
    places = np.flatnonzero(heard(sound))
    if not places.size:
        return sound[:0]
    kept = round(KEPT_S * SAMPLE_RATE)
    start = max(0, int(places[0]) * _STEP - kept)
    end = min(len(sound), (int(places[-1]) + 1) * _STEP + kept)
    return faded(sound[start:end])


def faded(sound: Samples) -> Samples:
    """A copy that rises from zero and falls to zero within 5 ms."""
    sound = sound.copy()
    length = min(_FADE, len(sound) // 2)
    ramp = np.sin(np.linspace(0.0, np.pi / 2, length, dtype=np.float32)) ** 2
    sound[:length] *= ramp
    sound[len(sound) - length :] *= ramp[::-1]
    return sound


def shortened(sound: Samples, most: float = MOST_INSIDE_S) -> Samples:
    """The sound with each silence inside it at most `most` seconds long."""
    limit = round(most * SAMPLE_RATE)
    pieces: list[Samples] = []
    at = 0
    for start, end in silences(sound):
        if end - start > limit and start > 0 and end < len(sound):
            half = limit // 2
            pieces += [faded(sound[at : start + half])]
            at = end - half
    return np.concatenate([*pieces, faded(sound[at:])]) if pieces else sound


def silences(sound: Samples) -> list[tuple[int, int]]:
    """The stretches of silence, as places in the sound."""
    quiet = np.concatenate([[False], ~heard(sound), [False]])
    edges = np.flatnonzero(quiet[1:] != quiet[:-1]) * _STEP
    return [(int(start), int(end)) for start, end in zip(edges[::2], edges[1::2], strict=True)]


def silence(seconds: float) -> Samples:
    """So many seconds of nothing."""
    return np.zeros(round(seconds * SAMPLE_RATE), np.float32)


def framed(sound: Samples, text: str, language: str, pause: float) -> Samples:
    """A chunk: a short silence, the sound, and the pause behind it.

    The silences of a short text are shortened, and the pause of a hasty one lengthened, so that the whole chunk keeps
    within `SLOWEST` and `FASTEST`. Where silence cannot do it (a heading that is a numeral) the pauses stay natural.
    """
    slow, fast = seconds_of(text, language, SLOWEST), seconds_of(text, language, FASTEST)
    room = slow - len(sound) / SAMPLE_RATE
    lead = LEAD_S
    if room > _LEAST_LEAD_S + _LEAST_PAUSE_S:
        lead = min(LEAD_S, max(_LEAST_LEAD_S, room - pause))
        pause = min(pause, room - lead)
    pause = max(pause, fast - len(sound) / SAMPLE_RATE - lead)
    return np.concatenate([silence(lead), sound, silence(pause)])


def seconds_of(text: str, language: str, speed: float) -> float:
    """How long a text takes at a multiple of the language's usual speed."""
    return len(text) * estimated_s("x" * 1000, language) / 1000 / speed
