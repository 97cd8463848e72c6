"""What this machine can make by itself: which backend function serves which profile, and whether it is well.

A backend is known by its profile. A claim is made for it only while its last health check passed, so that a dead one
costs no job (CONTRACT 13); one that says that it is misconfigured is left alone for ten minutes (CONTRACT 9).
"""

from __future__ import annotations

import asyncio
import os
import shutil
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

from animastor.media import ffmpeg
from animastor.protocol import MERGE, Clock, FailureType, Job
from animastor.workers import font_files
from animastor.workers.backend import BackendError

CHECK_S = 5.0  # a health check older than this is made again; a claim waits no longer than that, so it is ≤ 10 s old
STOPPED_S = 600.0  # a misconfigured backend is tried again after this
LONGEST_REST_S = 3600.0  # a service that asks to be left alone for longer is asked again after this

SPEECH = "animastor.workers.speech:speak"


@dataclass(frozen=True, slots=True)
class CpuBackend:
    """A backend: its profile, its function ("module:function") for each media type, and its health.

    `health` says in one sentence why it cannot work now, or None. It is called in a thread and takes milliseconds.
    """

    profile: str
    functions: Mapping[str, str]
    health: Callable[[], str | None]


class Backends:
    """The backends of a worker, with what is known of their health."""

    def __init__(self, backends: Iterable[CpuBackend], clock: Clock) -> None:
        self._backends = {backend.profile: backend for backend in backends}
        self._clock = clock
        self._ill: dict[str, str] = {}
        self._stopped: dict[str, tuple[float, str]] = {}
        self._resting: dict[str, float] = {}
        self._checked_at: float | None = None

    def capacity(self, count: int) -> dict[str, int]:
        """How many jobs of each profile may run at once, when `count` children share all of them."""
        return dict.fromkeys(self._backends, count)

    async def able(self) -> tuple[str, ...]:
        """The profiles that can be worked for now, by a health check that is at most `CHECK_S` old."""
        now = self._clock.now()
        if self._checked_at is None or not 0 <= now - self._checked_at < CHECK_S:
            self._ill = await asyncio.to_thread(self._look)
            self._checked_at = now
        self._stopped = {profile: told for profile, told in self._stopped.items() if told[0] > now}
        self._resting = {profile: until for profile, until in self._resting.items() if until > now}
        idle = {*self._ill, *self._stopped, *self._resting}
        return tuple(profile for profile in self._backends if profile not in idle)

    def function(self, job: Job) -> str:
        """The function that does a job. Raises `BackendError` (misconfigured) when there is none."""
        backend = self._backends.get(job.profile)
        if backend is None or job.media not in backend.functions:
            message = f"this worker has no backend {job.profile!r} that makes {job.media}"
            raise BackendError(FailureType.MISCONFIGURED, "no_backend", message)
        return backend.functions[job.media]

    def stop(self, profile: str, message: str) -> None:
        """Leave a backend alone for ten minutes, because it said that it is misconfigured."""
        self._stopped[profile] = (self._clock.now() + STOPPED_S, message)

    def rest(self, profile: str, seconds: float) -> None:
        """Leave a backend alone for so long, because its service asked for that; what was asked before still holds."""
        until = self._clock.now() + min(seconds, LONGEST_REST_S)
        self._resting[profile] = max(until, self._resting.get(profile, until))

    def is_stopped(self, profile: str) -> bool:
        """Whether a backend is left alone now."""
        return profile in self._stopped or profile in self._resting

    @property
    def complaints(self) -> Mapping[str, str]:
        """Why a profile is not worked for: one sentence each."""
        return {**self._ill, **{profile: message for profile, (_, message) in self._stopped.items()}}

    def _look(self) -> dict[str, str]:
        told = {profile: backend.health() for profile, backend in self._backends.items()}
        return {profile: message for profile, message in told.items() if message is not None}


def cpu_backends(*, piper: str = "piper", piper_voices: Path | None = None) -> tuple[CpuBackend, ...]:
    """Everything that this package makes by itself. Piper only with a folder of voices that the user installed."""
    found = [
        CpuBackend(MERGE, {"audio": "animastor.workers.mix:mix", "video": "animastor.workers.splice:splice"}, _ffmpeg),
        CpuBackend("hibari", {"audio": SPEECH}, lambda: _package("hibari", "assets", "the English voice")),
        CpuBackend("espeak", {"audio": SPEECH}, lambda: _package("espeakng_loader", "espeak-ng-data", "eSpeak NG")),
        CpuBackend("storyboard", {"image": "animastor.workers.storyboard:picture"}, font_files.complaint),
        CpuBackend("motion", {"video": "animastor.workers.motion:shot"}, _ffmpeg),
    ]
    if piper_voices is not None:
        found.append(CpuBackend("piper", {"audio": SPEECH}, lambda: _piper(piper, piper_voices)))
    return tuple(found)


def _ffmpeg() -> str | None:
    try:
        program = ffmpeg.program()
    except ffmpeg.FfmpegMissingError as error:
        return str(error)
    if os.access(program, os.X_OK):
        return None
    ffmpeg.program.cache_clear()  # it has gone; another may be there at the next look
    return f"{program} is not there any more"


def _package(name: str, data: str, what: str) -> str | None:
    spec = find_spec(name)
    if spec is None or spec.origin is None:
        return f"{what} is not installed: the package {name} brings it"
    if not (Path(spec.origin).parent / data).exists():
        return f"{what} has no data: install the package {name} again"
    return None


def _piper(program: str, voices: Path) -> str | None:
    if shutil.which(program) is None:
        return f"the program {program} is not installed"
    return None if any(voices.glob("*.onnx")) else f"there is no Piper voice (*.onnx) in {voices}"
