"""Piper: a program and voices that the user has installed, run once for each chunk.

Where they are is told by the settings `piper` and `piper_voices`, which the worker passes on in the environment. A
voice is a file `<language>*.onnx`, such as `de_DE-thorsten-medium.onnx`; the first one in order serves a language.
"""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import numpy as np

from animastor.books.languages import primary
from animastor.protocol import FailureType
from animastor.workers.backend import BackendError, Order, Produced, Progress
from animastor.workers.loudness import limited
from animastor.workers.speech import flac, pauses

PROGRAM = "ANIMASTOR_PIPER"
VOICES = "ANIMASTOR_PIPER_VOICES"
CEILING = 0.97
_LONGEST_S = 600.0  # for one chunk; the worker's own limit ends a child that takes longer
_LAST_WORDS = 300


def speak(order: Order, workdir: Path, progress: Progress) -> Produced:
    """Speak a chunk. Raises `BackendError`: misconfigured without program or voice, transient when it fails."""
    structure = order.structure
    text, language = str(structure["text"]), str(structure["language"])
    made = workdir / "piper.wav"
    _run([_program(), "--model", str(_voice(language)), "--output_file", str(made), *_pace(structure["voice"])], text)
    progress(0.5)
    sound = np.concatenate(list(flac.read(made)))
    made.unlink()
    sound = limited(pauses.shortened(pauses.trimmed(sound)), CEILING)
    chunk = pauses.framed(sound, text, language, float(structure["pause"]))
    return Produced(flac.write(workdir / "speech.flac", [chunk]))


def _program() -> str:
    name = os.environ.get(PROGRAM) or "piper"
    found = shutil.which(name)
    if found is None:
        message = f"the program {name!r} is not installed; install Piper, or set {PROGRAM} to where it is"
        raise BackendError(FailureType.MISCONFIGURED, "piper_missing", message)
    return found


def _voice(language: str) -> Path:
    folder = Path(os.environ.get(VOICES) or ".")
    tag = language.lower().replace("-", "_")
    voices = sorted(folder.glob("*.onnx"))
    for wanted in (tag, primary(language)):
        for voice in voices:
            if voice.stem.lower().startswith(wanted):
                return voice
    message = f"there is no Piper voice for {language!r} in {folder}; set {VOICES} to the folder of your voices"
    raise BackendError(FailureType.MISCONFIGURED, "voice_missing", message)


def _pace(voice: dict[str, float]) -> list[str]:
    """Piper is told how long sounds are, not how fast they come."""
    return ["--length_scale", f"{1 / float(voice['pace']):.3f}"]


def _run(command: list[str], text: str) -> None:
    given = (" ".join(text.split()) + "\n").encode()
    try:
        ended = subprocess.run(
            command, input=given, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, timeout=_LONGEST_S, check=False
        )
    except subprocess.TimeoutExpired as error:
        raise BackendError(FailureType.TRANSIENT, "job_timeout", f"Piper took over {_LONGEST_S:.0f} s") from error
    if ended.returncode != 0:
        said = ended.stderr.decode(errors="replace").strip()[-_LAST_WORDS:]
        raise BackendError(FailureType.TRANSIENT, "piper_failed", f"Piper ended with {ended.returncode}: {said}")
