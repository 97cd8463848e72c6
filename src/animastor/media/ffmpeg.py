"""The ffmpeg program: where it is, and how it is run without ever being waited for in vain.

It runs from an argument list, never through a shell, without a terminal, and watched: a run that stops making
progress, or writes more than it may, is ended. What goes wrong is one of the errors below; a failed run leaves no
output file behind. Nothing here knows what is encoded.

    FfmpegError
    ├── FfmpegMissingError      no program that can encode H.264 and AAC
    ├── FfmpegFailedError       it said why: the last line of its log
    ├── FfmpegKilledError       a signal ended it, named
    ├── FfmpegHungError         no progress for the limit
    ├── OutputTooLargeError     more bytes than the limit
    └── DiskFullError           the disk, a quota or a file size limit
"""

from __future__ import annotations

import ctypes
import os
import re
import selectors
import shutil
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import IO, TypeAlias

Argument: TypeAlias = "str | int | float | Path"
Buffer: TypeAlias = "bytes | bytearray | memoryview"

PROGRAM_VARIABLE = "ANIMASTOR_FFMPEG"  # environment variables, as `config.Settings` documents them: children have them
IDLE_VARIABLE = "ANIMASTOR_FFMPEG_IDLE_S"
_POLL_S = 0.5  # how often ffmpeg says how far it is, and how often the output's size is looked at
_LOG_BYTES = 256 * 1024  # of its log, the end is kept
_FULL = ("No space left on device", "Disk quota exceeded", "File too large")  # ENOSPC, EDQUOT, EFBIG
_FULL_CODES = {256 - 28, 256 - 122, 256 - 27}  # ffmpeg exits with the low byte of the negative errno
_PR_SET_PDEATHSIG = 1  # linux/prctl.h


class FfmpegError(Exception):
    """Raised when ffmpeg did not make what it was asked for; the message is for people."""


class FfmpegMissingError(FfmpegError):
    """Raised when no ffmpeg program is there that encodes H.264 and AAC."""


class FfmpegFailedError(FfmpegError):
    """Raised when ffmpeg ended by itself with an error."""


class FfmpegKilledError(FfmpegError):
    """Raised when a signal that was not ours ended ffmpeg."""


class FfmpegHungError(FfmpegError):
    """Raised when ffmpeg made no progress for the limit and was ended."""


class OutputTooLargeError(FfmpegError):
    """Raised when ffmpeg wrote more than the limit and was ended."""


class DiskFullError(FfmpegError):
    """Raised when there was no room for the output: a full disk, a quota, a limit on the size of files."""


@dataclass(frozen=True, slots=True)
class Limits:
    """What a run may take: seconds without progress (the setting `ffmpeg_idle_s`), bytes of output."""

    idle_s: float = field(default_factory=lambda: float(os.environ.get(IDLE_VARIABLE, "120")))
    output_bytes: int = 16 * 2**30


@lru_cache(maxsize=1)
def program() -> str:
    """The ffmpeg to run: the one that the setting `ffmpeg` names; else the one of the imageio-ffmpeg wheel, unless the
    system's is newer and encodes what we need.

    Raises:
        FfmpegMissingError: there is none.
    """
    if named := os.environ.get(PROGRAM_VARIABLE):
        found = shutil.which(named)
        if found is None:
            raise FfmpegMissingError(f"{PROGRAM_VARIABLE}={named} names no program that can be run")
        return found
    bundled, system = _bundled(), shutil.which("ffmpeg")
    if system is None or (bundled is not None and not _is_better(system, bundled)):
        if bundled is None:
            raise FfmpegMissingError("no ffmpeg program is installed: the package imageio-ffmpeg brings one")
        return bundled
    if not _encodes(system):
        raise FfmpegMissingError(f"{system} cannot encode H.264 (libx264) and AAC: install the package imageio-ffmpeg")
    return system


def run(
    arguments: Sequence[Argument],
    output: Path | None = None,
    *,
    feed: Iterable[Buffer] | None = None,
    progress: Callable[[float], None] | None = None,
    limits: Limits | None = None,
    log: str = "error",
) -> str:
    """Run ffmpeg to its end; return the end of its log (at most 256 KiB, of the level `log`).

    `arguments` hold inputs and options; a `Path` among them is always a file, whatever characters its name has.
    `output` comes last on the command line and is overwritten; without it, give `-f null -`. `feed` is written to
    ffmpeg's standard input (`-i pipe:0`) from the calling thread. `progress` is told the seconds that are made so
    far, from the calling thread; with a feed it is not called, as the feed knows better.

    The program dies with the calling *thread* on Linux (PDEATHSIG is bound to it, and it waits here); elsewhere it
    stays in the caller's process group, to be ended with it.

    Raises:
        FfmpegError: one of the errors of this module. Whatever `feed` raises is passed on after ffmpeg was ended.
    """
    watch = _Watch(output, limits or Limits())
    try:
        _run(_command(arguments, output, log), feed, progress, watch)
    except BaseException:
        if output is not None:
            with suppress(OSError):
                output.unlink(missing_ok=True)
        raise
    return watch.log.text()


def _run(
    command: list[str], feed: Iterable[Buffer] | None, progress: Callable[[float], None] | None, watch: _Watch
) -> None:
    with _start(command, with_input=feed is not None) as child:
        try:
            if feed is None:
                watch.until_end(child, progress)
            else:
                _feed(child, feed, watch)
        except BaseException:
            _end(child)
            raise
        code = child.wait()
    if watch.verdict is not None:
        raise watch.verdict
    if code != 0:
        raise _failure(code, watch.log.text())
    if watch.output is not None and not watch.output.exists():
        raise FfmpegFailedError(f"ffmpeg said it was done, but {watch.output.name} is not there")


def _command(arguments: Sequence[Argument], output: Path | None, log: str) -> list[str]:
    head = ["-hide_banner", "-nostdin", "-y", "-loglevel", log, "-nostats", "-progress", "pipe:1"]
    tail = [] if output is None else [output]
    return [program(), *head, "-stats_period", str(_POLL_S), *map(_text, [*arguments, *tail])]


def _text(argument: Argument) -> str:
    return f"file:{argument.absolute()}" if isinstance(argument, Path) else str(argument)


def _start(command: list[str], with_input: bool) -> subprocess.Popen[bytes]:
    on_linux = sys.platform == "linux"
    try:
        return subprocess.Popen(
            command,
            stdin=subprocess.PIPE if with_input else subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            bufsize=0,
            # A vfork cannot set PDEATHSIG. What runs between fork and exec is one system call that was looked up
            # before: it takes no lock, so other threads of the caller do not matter.
            preexec_fn=_dies_with(os.getpid()) if on_linux else None,  # noqa: PLW1509
            start_new_session=on_linux,  # Ctrl-C is for us to answer, not for ffmpeg
        )
    except FileNotFoundError as error:
        raise FfmpegMissingError(f"{command[0]} is not there") from error


def _end(child: subprocess.Popen[bytes]) -> None:
    """Kill it, and what it may have started; it is not reaped yet, so its number is nobody else's."""
    with suppress(ProcessLookupError, PermissionError):
        if sys.platform == "linux":
            os.killpg(child.pid, signal.SIGKILL)  # it leads a group of its own
        else:
            child.kill()


def _dies_with(parent: int) -> Callable[[], None]:
    prctl = _prctl()

    def in_the_child() -> None:
        prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
        if os.getppid() != parent:  # it died before the call
            os._exit(1)

    return in_the_child


@lru_cache(maxsize=1)
def _prctl() -> Callable[..., int]:
    function: Callable[..., int] = ctypes.CDLL(None).prctl
    return function


def _feed(child: subprocess.Popen[bytes], feed: Iterable[Buffer], watch: _Watch) -> None:
    """Write the feed from this thread while another one watches; a broken pipe is explained by ffmpeg's exit."""
    watcher = threading.Thread(target=watch.until_end, args=(child, None), name="ffmpeg-watch", daemon=True)
    watcher.start()
    assert child.stdin is not None
    try:
        with suppress(BrokenPipeError):
            for piece in feed:
                _write(child.stdin, piece)
        with suppress(BrokenPipeError):
            child.stdin.close()
    except BaseException:
        _end(child)
        raise
    finally:
        watcher.join()


def _write(pipe: IO[bytes], piece: Buffer) -> None:
    view = memoryview(piece).cast("B")
    while view:
        view = view[pipe.write(view) :]


@dataclass(slots=True)
class _Log:
    """The end of what ffmpeg wrote to its standard error."""

    data: bytearray = field(default_factory=bytearray)

    def add(self, piece: bytes) -> None:
        self.data += piece
        if len(self.data) > 2 * _LOG_BYTES:
            del self.data[:-_LOG_BYTES]

    def text(self) -> str:
        return self.data[-_LOG_BYTES:].decode("utf-8", "replace")


@dataclass(slots=True)
class _Watch:
    """Looks at one run: what it says of its progress, and what it has written; ends it when it breaks a limit."""

    output: Path | None
    limits: Limits
    log: _Log = field(default_factory=_Log)
    verdict: FfmpegError | None = None
    _said: dict[bytes, bytes] = field(default_factory=dict)
    _rest: bytes = b""

    def until_end(self, child: subprocess.Popen[bytes], progress: Callable[[float], None] | None) -> None:
        """Read until both of the child's pipes are closed."""
        sign, since = self._sign(), time.monotonic()
        with selectors.DefaultSelector() as selector:
            assert child.stdout is not None
            assert child.stderr is not None
            selector.register(child.stdout, selectors.EVENT_READ, self._hear)
            selector.register(child.stderr, selectors.EVENT_READ, self.log.add)
            while selector.get_map():
                for key, _ in selector.select(_POLL_S):
                    piece = os.read(key.fd, 65536)
                    key.data(piece)
                    if not piece:
                        selector.unregister(key.fileobj)
                if (now_sign := self._sign()) != sign:
                    sign, since = now_sign, time.monotonic()
                    if progress is not None:
                        progress(self._seconds())
                if self.verdict is None and self._breaks_a_limit(time.monotonic() - since):
                    _end(child)

    def _hear(self, piece: bytes) -> None:
        *lines, self._rest = (self._rest + piece).split(b"\n")
        self._said.update((key, value) for key, _, value in (line.partition(b"=") for line in lines))

    def _sign(self) -> tuple[object, ...]:
        """What changes while work is done: frames and time made, bytes written (faststart moves them at the end)."""
        said = tuple(self._said.get(key) for key in (b"frame", b"out_time_us", b"total_size", b"progress"))
        try:
            found = self.output.stat() if self.output is not None else None
        except OSError:
            found = None
        return said if found is None else (*said, found.st_size, found.st_mtime_ns)

    def _seconds(self) -> float:
        with suppress(ValueError):
            return max(0.0, int(self._said.get(b"out_time_us", b"0")) / 1e6)
        return 0.0

    def _breaks_a_limit(self, idle_s: float) -> bool:
        if idle_s > self.limits.idle_s:
            self.verdict = FfmpegHungError(f"ffmpeg made no progress for {self.limits.idle_s:.0f} s and was ended")
        elif self._size() > self.limits.output_bytes:
            self.verdict = OutputTooLargeError(f"ffmpeg wrote more than {self.limits.output_bytes} bytes and was ended")
        return self.verdict is not None

    def _size(self) -> int:
        try:
            return self.output.stat().st_size if self.output is not None else 0
        except OSError:
            return 0


def _failure(code: int, log: str) -> FfmpegError:
    if code == -signal.SIGXFSZ or code in _FULL_CODES or any(text in log for text in _FULL):
        return DiskFullError("there is no room for what ffmpeg writes: the disk, a quota or a file size limit is full")
    if code < 0:
        return FfmpegKilledError(f"ffmpeg was ended by {_signal_name(-code)}")
    lines = [line.strip() for line in log.splitlines() if line.strip()]
    return FfmpegFailedError(f"ffmpeg failed: {lines[-1] if lines else f'exit code {code}'}")


def _signal_name(number: int) -> str:
    with suppress(ValueError):
        return signal.Signals(number).name
    return f"signal {number}"


def _bundled() -> str | None:
    import imageio_ffmpeg

    try:
        path: str = imageio_ffmpeg.get_ffmpeg_exe()
    except RuntimeError:  # the wheel of this platform holds none
        return None
    return path


def _is_better(system: str, bundled: str) -> bool:
    return _version(system) > _version(bundled) and _encodes(system)


def _version(path: str) -> tuple[int, ...]:
    """The release of a program, as numbers; () when it is a snapshot without one, or cannot run."""
    found = re.match(r"ffmpeg version n?(\d+(?:\.\d+)*)", _ask(path, "-version"))
    return tuple(map(int, found[1].split("."))) if found else ()


def _encodes(path: str) -> bool:
    encoders = {line.split()[1] for line in _ask(path, "-encoders").splitlines() if len(line.split()) > 1}
    return {"libx264", "aac"} <= encoders


def _ask(path: str, question: str) -> str:
    try:
        command = [path, "-hide_banner", question] if question != "-version" else [path, question]
        return subprocess.run(command, capture_output=True, text=True, timeout=20, check=False).stdout
    except (OSError, subprocess.TimeoutExpired):
        return ""
