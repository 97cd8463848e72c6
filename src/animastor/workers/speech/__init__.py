"""Speech: one entry for all engines, each loaded only when it is asked for, in the child process that speaks.

`hibari` is the neural English voice, `espeak` every other language, `piper` a program that the user has installed.
"""

from __future__ import annotations

from importlib import import_module
from pathlib import Path
from typing import Protocol, cast

from animastor.media.audio import SILENCE
from animastor.protocol import FailureType
from animastor.workers.backend import BackendError, Order, Produced, Progress

_ENGINES = frozenset({"hibari", "espeak", "piper"})


class _Engine(Protocol):
    def speak(self, order: Order, workdir: Path, progress: Progress) -> Produced: ...


def speak(order: Order, workdir: Path, progress: Progress) -> Produced:
    """Make a chunk of speech, or a unit's silence: mono FLAC with 24,000 samples a second.

    Raises `BackendError` (misconfigured) when the profile names no engine of this package.
    """
    if order.kind == SILENCE:
        from animastor.workers.speech.flac import write_silence

        return Produced(write_silence(workdir / "silence.flac", order.structure["seconds"]))
    name = str(order.structure["profile"][0])
    if name not in _ENGINES:
        raise BackendError(FailureType.MISCONFIGURED, "no_backend", f"there is no speech engine {name!r} here")
    engine = cast("_Engine", import_module(f"animastor.workers.speech.{name}"))
    return engine.speak(order, workdir, progress)
