"""Backend functions that child processes of the tests run. Not a test module: children import it by name."""

from __future__ import annotations

import os
import signal
import sys
import time
from pathlib import Path

from animastor.media import ffmpeg
from animastor.protocol import FailureType
from animastor.workers.backend import BackendError, Order, Produced, Progress

_calls = 0


def write(order: Order, workdir: Path, progress: Progress) -> Produced:
    """Writes its text; tells how often this process has worked."""
    global _calls  # noqa: PLW0603 - a model that stays loaded
    _calls += 1
    progress(1.0)
    path = workdir / "made.txt"
    path.write_text(str(order.structure.get("text", "")) + "".join(file.read_text() for file in order.files()))
    environment = {name: os.environ.get(name) for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS")}
    return Produced(path, {"calls": _calls, "pid": os.getpid(), "nice": os.nice(0), "environment": environment})


def chatter(order: Order, workdir: Path, progress: Progress) -> Produced:
    """Prints a lot, from Python and below it, and reads its standard input."""
    print("x" * 100_000, flush=True)
    os.write(1, b"\x00\x00\x00\x02{}")
    os.write(2, b"y" * 100_000)
    sys.stdin.read()
    return write(order, workdir, progress)


def refuse(order: Order, workdir: Path, progress: Progress) -> Produced:
    """Fails as ordered."""
    told = order.structure
    rest = told.get("retry_after_s", 0.0)
    raise BackendError(FailureType(told["type"]), told["code"], told["message"], retry_after_s=rest)


def raise_it(order: Order, workdir: Path, progress: Progress) -> Produced:
    """Raises what is named."""
    name = order.structure["error"]
    errors: dict[str, BaseException] = {
        "value": ValueError("two\nlines"),
        "disk": OSError(28, "No space left on device", "/a/file"),
        "memory": MemoryError(),
        "ffmpeg_missing": ffmpeg.FfmpegMissingError("no ffmpeg"),
        "ffmpeg_killed": ffmpeg.FfmpegKilledError("ffmpeg was ended by SIGSEGV"),
        "ffmpeg_hung": ffmpeg.FfmpegHungError("ffmpeg made no progress"),
        "exit": SystemExit(3),
    }
    raise errors[name]


def die(order: Order, workdir: Path, progress: Progress) -> Produced:
    """Ends this process by a signal, or by itself with last words."""
    if "signal" in order.structure:
        os.kill(os.getpid(), order.structure["signal"])
    os.write(2, b"first\nthe last words\n")
    os._exit(7)


def work_slowly(order: Order, workdir: Path, progress: Progress) -> Produced:
    """Makes progress for as many seconds as ordered, by value or by output."""
    began = time.monotonic()
    (workdir / "pid").write_text(str(os.getpid()))
    while (passed := time.monotonic() - began) < order.structure["seconds"]:
        if order.structure["sign"] == "progress":
            progress(passed)
        else:
            with (workdir / "growing").open("a") as file:
                file.write("more")
        time.sleep(0.02)
    return write(order, workdir, progress)


def hang(order: Order, workdir: Path, progress: Progress) -> Produced:
    """Does nothing, deaf to interrupts."""
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    (workdir / "pid.new").write_text(str(os.getpid()))
    (workdir / "pid.new").rename(workdir / "pid")
    progress(0.5)
    while True:
        progress(0.5)  # the same value again is no progress
        time.sleep(0.05)


def run_away(order: Order, workdir: Path, progress: Progress) -> Produced:
    """Writes without end."""
    with (workdir / "much").open("wb") as file:
        while True:
            file.write(bytes(1 << 16))
            file.flush()
            time.sleep(0.01)


def encode(order: Order, workdir: Path, progress: Progress) -> Produced:
    """Runs ffmpeg for a thousand seconds."""
    (workdir / "pid").write_text(str(os.getpid()))
    ffmpeg.run(["-re", "-f", "lavfi", "-i", "sine=duration=1000"], workdir / "long.wav", progress=progress)
    return Produced(workdir / "long.wav")


def grow(order: Order, workdir: Path, progress: Progress) -> Produced:
    """Keeps memory."""
    global _kept  # noqa: PLW0603
    _kept = bytearray(os.urandom(1)) * order.structure["bytes"]
    return write(order, workdir, progress)


_kept = bytearray()
