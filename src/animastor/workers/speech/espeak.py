"""eSpeak NG: a voice for about a hundred languages, by its library in the `espeakng-loader` wheel.

The library is under the GPL, so it is loaded in the child process that speaks and nowhere else. Characters differ by
eSpeak's own variants, and by resonances that are moved by resampling: played a little faster or slower than spoken,
with pace and pitch corrected beforehand.
"""

from __future__ import annotations

import _ctypes
import ctypes
import sys
import unicodedata
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from math import log2
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from animastor.books.languages import primary
from animastor.media.audio import SAMPLE_RATE
from animastor.protocol import FailureType
from animastor.workers.backend import BackendError, Order, Produced, Progress
from animastor.workers.loudness import limited
from animastor.workers.speech import flac, pauses
from animastor.workers.speech.japanese import in_kana

Samples = NDArray[np.float32]

WORDS_A_MINUTE = 160.0
LEVEL = 0.7  # of what the library gives, which is near full scale
CEILING = 0.97
_STEPS_A_SEMITONE = 50 / 12  # of its pitch scale: 50 steps are an octave
_RETRIEVAL, _UTF8, _CHARACTERS = 1, 1, 1  # espeak_AUDIO_OUTPUT_RETRIEVAL, espeakCHARS_UTF8, POS_CHARACTER
_RATE, _PITCH, _RANGE = 1, 3, 4  # espeak_PARAMETER
_NAMES = {"zh": ("cmn",), "no": ("nb",), "nn": ("nb",), "en": ("en-us", "en-gb"), "iw": ("he",), "tl": ("fil",)}
_TAPS, _PHASES = 24, 512  # of the resampling
_Callback = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.POINTER(ctypes.c_short), ctypes.c_int, ctypes.c_void_p)


def speak(order: Order, workdir: Path, progress: Progress) -> Produced:
    """Speak a chunk. Raises `BackendError`: misconfigured without the library, permanent for an unknown language."""
    structure = order.structure
    text, language = str(structure["text"]), str(structure["language"])
    with _engine() as engine:
        sound = engine.say(_clean(text, language), language, structure["voice"], int(structure["seed"]))
    progress(0.5)
    sound = limited(pauses.shortened(pauses.trimmed(sound)) * np.float32(LEVEL), CEILING)
    chunk = pauses.framed(sound, text, language, float(structure["pause"]))
    return Produced(flac.write(workdir / "speech.flac", [chunk]))


def _clean(text: str, language: str) -> str:
    """The text without what cannot be said; Japanese in syllables, since eSpeak reads no Chinese characters there."""
    text = "".join(char for char in unicodedata.normalize("NFC", text) if unicodedata.category(char) not in _UNSAID)
    text = " ".join(text.split())
    return in_kana(text) if primary(language) == "ja" else text


_UNSAID = frozenset({"Cc", "Cs", "Co", "Cn"})


class _Espeak:
    """The library, loaded for one text: the state that it keeps between two would change the bits of the second.

    Loading takes about 10 ms. Not for several threads.
    """

    def __init__(self, library: Path, data: Path) -> None:
        self._library = ctypes.CDLL(str(library))
        self._rate = self._library.espeak_Initialize(_RETRIEVAL, 0, str(data).encode(), 0)
        if self._rate <= 0:
            raise OSError(f"it cannot read its data in {data}")
        self._heard: list[NDArray[np.int16]] = []
        self._callback = _Callback(self._hear)  # held, since the library keeps the pointer
        self._library.espeak_SetSynthCallback(self._callback)

    def say(self, text: str, language: str, voice: Any, seed: int) -> Samples:
        """Mono samples, 24,000 a second; empty when there is nothing to say."""
        self._library.espeak_ng_SetRandSeed(ctypes.c_long(seed & 0x7FFFFFFF))
        self._choose(language, str(voice["variant"]))
        formant = float(voice["formant"])
        pitch = 50 + _STEPS_A_SEMITONE * (float(voice["semitones"]) - 12 * log2(formant))
        self._set(_RATE, WORDS_A_MINUTE * float(voice["pace"]) / formant)
        self._set(_PITCH, min(99.0, max(0.0, pitch)))
        self._set(_RANGE, min(99.0, max(0.0, 50 * float(voice["span"]))))
        self._heard = []
        encoded = text.encode()
        self._library.espeak_Synth(encoded, len(encoded) + 1, 0, _CHARACTERS, 0, _UTF8, None, None)
        self._library.espeak_Synchronize()
        if not self._heard:
            return np.zeros(0, np.float32)
        return _resampled(np.concatenate(self._heard), SAMPLE_RATE / (self._rate * formant))

    def unload(self) -> None:
        """Forget the library with all its state; nothing may be called after it."""
        self._library.espeak_Terminate()
        if sys.platform == "win32":
            _ctypes.FreeLibrary(self._library._handle)
        else:
            _ctypes.dlclose(self._library._handle)

    def _choose(self, language: str, variant: str) -> None:
        tag, main = language.lower().replace("_", "-"), primary(language)
        for name in (tag, *_NAMES.get(main, ()), main):
            chosen = f"{name}+{variant}" if variant else name
            if self._library.espeak_SetVoiceByName(chosen.encode()) == 0:
                return
        raise BackendError(FailureType.PERMANENT, "unsupported_language", f"eSpeak NG has no voice for {language!r}")

    def _set(self, parameter: int, value: float) -> None:
        self._library.espeak_SetParameter(parameter, round(value), 0)

    def _hear(self, samples: Any, count: int, _events: Any) -> int:
        if samples and count > 0:
            self._heard.append(np.ctypeslib.as_array(samples, (count,)).copy())
        return 0


def _resampled(sound: NDArray[np.int16], factor: float) -> Samples:
    """The sound with `factor` (1 or more) times as many samples, each from the nearest `_TAPS` by a windowed sinc."""
    padded = np.pad(sound.astype(np.float32) / np.float32(32768.0), _TAPS)
    place = np.arange(round(len(sound) * factor)) / factor
    whole = place.astype(np.int64)
    phase = ((place - whole) * _PHASES).astype(np.int64)
    around = np.lib.stride_tricks.sliding_window_view(padded, _TAPS)[whole + _TAPS // 2 + 1]
    result: Samples = np.einsum("ij,ij->i", around, _sinc()[phase])
    return result


@cache
def _sinc() -> NDArray[np.float32]:
    """The weights of the taps for each place between two samples: one row a place."""
    at = np.arange(_TAPS)[None, :] - (_TAPS // 2 - 1) - np.arange(_PHASES)[:, None] / _PHASES
    rows = np.sinc(at) * np.cos(np.pi * at / (_TAPS + 1)) ** 2
    result: NDArray[np.float32] = (rows / rows.sum(axis=1, keepdims=True)).astype(np.float32)
    return result


@contextmanager
def _engine() -> Iterator[_Espeak]:
    try:
        import espeakng_loader

        engine = _Espeak(Path(espeakng_loader.get_library_path()), Path(espeakng_loader.get_data_path()))
    except (ImportError, OSError, RuntimeError) as error:
        message = f"eSpeak NG cannot be loaded ({error}); install the package espeakng-loader"
        raise BackendError(FailureType.MISCONFIGURED, "voice_missing", message) from error
    try:
        yield engine
    finally:
        engine.unload()
