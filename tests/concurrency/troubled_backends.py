"""What a child of these tests makes, and how it gets into trouble. Not a test module: children import it by name."""

from __future__ import annotations

import os
import time
from pathlib import Path

from toys import content_of

from animastor.protocol import FailureType
from animastor.workers.backend import BackendError, Order, Produced, Progress

FATE, PID = "fate", "pid"  # files in the folder of a claim
FAILS = "fails"  # every other fate is that something comes from outside


def speak(order: Order, workdir: Path, progress: Progress) -> Produced:
    """Makes the only right bytes, once no fate holds it; tells by its first progress that the fate may come."""
    fate = workdir / FATE
    if fate.exists():
        comes = fate.read_text()
        (workdir / PID).write_text(str(os.getpid()))
        progress(0.1)
        if comes == FAILS:
            raise BackendError(FailureType.TRANSIENT, "made_to_fail", "the voice is hoarse")
        while fate.exists():
            time.sleep(0.005)
    return join(order, workdir, progress)


def join(order: Order, workdir: Path, progress: Progress) -> Produced:
    """Makes the only right bytes of an order and its inputs."""
    path = workdir / "made.flac"
    path.write_bytes(content_of(order.kind, order.structure, [file.read_bytes() for file in order.files()]))
    return Produced(path)
