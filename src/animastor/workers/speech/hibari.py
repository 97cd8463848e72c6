"""The English neural voice: the model in the `hibari-tts` wheel, spoken sentence by sentence in the ordered colour.

The same order gives the same bits on one machine: the only randomness is a generator seeded by the order.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from animastor.books.sentences import split
from animastor.media.audio_chunks import PAUSE_CLAUSE_S, PAUSE_SENTENCE_S
from animastor.protocol import FailureType
from animastor.workers.backend import BackendError, Order, Produced, Progress
from animastor.workers.loudness import limited
from animastor.workers.speech import colour, flac, pauses
from animastor.workers.speech.english import spoken

Samples = NDArray[np.float32]

MOST_PHONEMES = 300  # said in one breath; more makes the network hurry and takes more memory
LEVEL = 1.5  # the voice is quiet: this brings its plain form to about -22 LUFS
CEILING = 0.97  # of full scale: a shout is turned down, never clipped
# The network's own speed, for a pace; measured over 25 sentences of a novel, since the two are not the same.
_PACES = (0.733, 0.805, 0.894, 0.944, 0.975, 1.0, 1.017, 1.038, 1.065, 1.109, 1.150)
_SPEEDS = (0.75, 0.80, 0.85, 0.90, 0.95, 1.0, 1.05, 1.10, 1.15, 1.20, 1.25)
_NAME = "heart"  # the voice in the wheel; the others would be downloaded
_CLAUSE = re.compile(r"(?<=[,;:—])\s+")
_FINAL = re.compile(r"[.!?…]\W*$")


def speak(order: Order, workdir: Path, progress: Progress) -> Produced:
    """Speak a chunk. Raises `BackendError` when the voice is not installed."""
    structure = order.structure
    voice = structure["voice"]
    if voice["name"] != _NAME:
        raise BackendError(FailureType.MISCONFIGURED, "voice_missing", f"there is no voice {voice['name']!r} here")
    text = str(structure["text"])
    said = _sentences(text)
    random = np.random.default_rng(int(structure["seed"]))
    sounds: list[Samples] = []
    for at, sentence in enumerate(said):
        sounds.extend(_said(sentence, voice, random))
        progress((at + 1) / (len(said) + 1))
    sound = limited(_joined(sounds) * np.float32(LEVEL), CEILING)
    chunk = pauses.framed(sound, text, structure["language"], float(structure["pause"]))
    return Produced(flac.write(workdir / "speech.flac", [chunk]))


def _sentences(text: str) -> list[str]:
    return [said for sentence in split(text, "en") if (said := spoken(sentence))]


def _said(sentence: str, voice: Any, random: np.random.Generator) -> Iterator[Samples]:
    """The sounds of a sentence, each followed by its pause."""
    breaths = list(_breaths(_engine().g2p(sentence)))
    for at, phonemes in enumerate(breaths):
        sound = pauses.shortened(pauses.trimmed(_breath(phonemes, voice, random)))
        if sound.size:
            yield sound
            pause = _pause(sentence) if at == len(breaths) - 1 else PAUSE_CLAUSE_S
            yield pauses.silence(pause / float(voice["pace"]))


def _pause(sentence: str) -> float:
    """The silence behind a sentence inside a chunk: less behind one of a word or two (`Eh? Eh?`)."""
    if not _FINAL.search(sentence):
        return PAUSE_CLAUSE_S
    return PAUSE_SENTENCE_S * min(1.0, max(0.4, len(sentence) / 20))


def _joined(sounds: list[Samples]) -> Samples:
    """The sounds without the pause behind the last one."""
    return np.concatenate(sounds[:-1]) if sounds else np.zeros(0, np.float32)


def _breaths(phonemes: str) -> Iterator[str]:
    """Phonemes in stretches that can be said at once: cut behind clauses, else between words, else anywhere."""
    current = ""
    for part in _parts(phonemes):
        if current and len(current) + len(part) + 1 > MOST_PHONEMES:
            yield current
            current = part
        else:
            current = f"{current} {part}" if current else part
    if current:
        yield current


def _parts(phonemes: str) -> Iterator[str]:
    if len(phonemes) <= MOST_PHONEMES:
        yield phonemes
        return
    for clause in _CLAUSE.split(phonemes):
        for word in [clause] if len(clause) <= MOST_PHONEMES else clause.split():
            yield from (word[at : at + MOST_PHONEMES] for at in range(0, len(word), MOST_PHONEMES))


def _breath(phonemes: str, voice: Any, random: np.random.Generator) -> Samples:
    engine = _engine()
    ids = engine.ids(phonemes)
    if len(ids) < 3:
        return np.zeros(0, np.float32)
    speed = np.interp(float(voice["pace"]), _PACES, _SPEEDS)
    given = {"ids": np.asarray([ids], np.int64), "speed": np.asarray([speed], np.float32)}
    spectra = colour.Spectra(*(output[0] for output in engine.sess.run(None, given)))
    return colour.waveform(colour.coloured(spectra, colour.shape_of(voice)), random)


@cache
def _engine() -> Any:
    """The voice, loaded once in a process: about a second, and 200 MiB."""
    try:
        from hibari import Hibari

        return Hibari(voice=_NAME, threads=1)
    except (ImportError, OSError, RuntimeError) as error:
        message = f"the English voice cannot be loaded ({error}); install the package hibari-tts"
        raise BackendError(FailureType.MISCONFIGURED, "voice_missing", message) from error
