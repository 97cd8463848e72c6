"""Runs the real command line as a person does: in a process of its own, with a pipe or a terminal around it."""

from __future__ import annotations

import fcntl
import os
import pty
import select
import signal
import struct
import subprocess
import sys
import termios
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import IO

import psutil
from prepared import prepared

from pace import slowness

PROGRAM = (sys.executable, "-m", "animastor")
CONTROLLED = (  # makes standard input the terminal that controls the session, then becomes the program
    sys.executable,
    "-c",
    "import fcntl, os, sys, termios; fcntl.ioctl(0, termios.TIOCSCTTY, 0); os.execv(sys.argv[1], sys.argv[1:])",
)
ROOM = {"ANIMASTOR_DISK_LOW_BYTES": "0", "ANIMASTOR_DISK_LOW_FRACTION": "0"}  # a test's disk may be nearly full
RUNNERS = (  # what of the environment tells of the runner's terminal, which is not a person's
    *("COLUMNS", "LINES", "NO_COLOR", "FORCE_COLOR", "CLICOLOR", "COLORTERM", "PY_COLORS", "GITHUB_ACTIONS"),
    *("TERMINAL_WIDTH", "TTY_COMPATIBLE", "TTY_INTERACTIVE"),
)
SOON_S = 2.0  # what ends at once, ends within this
LONG_S = 400.0  # what has to come, comes within this, on a machine that is asked for ten times what it can do
STAYS_S = 50.0  # what lives so long after its end, does not end


@dataclass(frozen=True)
class Ran:
    """How a command ended. `cpu_s`: user and system time of the process itself and of children that it waited for."""

    code: int
    out: str
    err: str
    seconds: float
    cpu_s: float = 0.0


def is_soon(seconds: float) -> bool:
    """Whether what took so long ended at once: a machine that is slow at the moment is given more time."""
    allowed = SOON_S if seconds <= SOON_S else SOON_S * slowness()
    print(f"over after {seconds:.2f} s; allowed are {allowed:.1f} s")
    return seconds <= allowed


def environment(extra: Mapping[str, str] | None = None) -> dict[str, str]:
    """The test's environment without anything that would steer the program."""
    kept = {key: value for key, value in os.environ.items() if not key.startswith("ANIMASTOR_")}
    for name in RUNNERS:
        kept.pop(name, None)
    return {**kept, "TERM": "xterm-256color", **ROOM, **(extra or {})}


def run(
    *arguments: str | Path,
    cwd: Path,
    env: Mapping[str, str] | None = None,
    terminal: tuple[int, int] | None = None,
) -> Ran:
    """Run a command to its end; it finds imported what it imports. `terminal` as `Started` has it."""
    began = time.monotonic()
    out, err = _Written(terminal), _Written()
    try:
        ended = prepared().run(
            [*map(str, arguments)], cwd, environment(env), (out.end, err.end), LONG_S, terminal=terminal is not None
        )
    finally:
        out.close()
        err.close()
    return Ran(ended.code, out.text, err.text, time.monotonic() - began, ended.cpu_s)


class Started:
    """A command that runs while the test goes on. Use as a context manager: nothing of it outlives the test.

    `terminal`: (columns, lines) of a terminal that controls it, and takes its standard output; else that is a pipe.
    What comes is read as it comes. Standard error is always a pipe.
    """

    def __init__(
        self,
        arguments: Sequence[str | Path],
        cwd: Path,
        env: Mapping[str, str] | None = None,
        *,
        terminal: tuple[int, int] | None = None,
        prefix: Sequence[str] = (),
    ) -> None:
        self.began = time.monotonic()
        self.cpu_s = 0.0
        self.seen: set[psutil.Process] = set()  # everything that was ever seen of it
        self._master, slave = _terminal(terminal) if terminal else (None, None)
        self.process = subprocess.Popen(
            [*prefix, *(() if slave is None else CONTROLLED), *PROGRAM, *map(str, arguments)],
            cwd=cwd,
            env=environment(env),
            stdin=subprocess.DEVNULL if slave is None else slave,
            stdout=subprocess.PIPE if slave is None else slave,
            stderr=subprocess.PIPE,
            start_new_session=True,
        )
        self._root = psutil.Process(self.process.pid)  # knows when its number is somebody else's
        if slave is not None:
            os.close(slave)
        self._out, self._err = _Collected(), _Collected()
        self._readers = [
            threading.Thread(target=self._out.read, args=(self._output_descriptor(),), daemon=True),
            threading.Thread(target=self._err.read, args=(_descriptor(self.process.stderr),), daemon=True),
        ]
        for reader in self._readers:
            reader.start()

    def __enter__(self) -> Started:
        return self

    def __exit__(self, *_: object) -> None:
        for process in self.tree():
            try:
                process.kill()
            except psutil.NoSuchProcess:
                continue
        if self.process.returncode is None:
            self.process.wait(LONG_S)
        self.hang_up()
        for reader in self._readers:
            reader.join(LONG_S)
        for stream in (self.process.stdout, self.process.stderr):
            if stream is not None:
                stream.close()

    @property
    def out(self) -> str:
        """What it wrote to standard output so far."""
        return self._out.text

    @property
    def err(self) -> str:
        """What it wrote to standard error so far."""
        return self._err.text

    def tree(self) -> list[psutil.Process]:
        """The process and everything below it that lives."""
        if self.process.returncode is not None:
            return []
        found = [self._root, *self._root.children(recursive=True)]
        self.seen.update(found)
        return found

    def send(self, number: signal.Signals) -> None:
        """Send a signal to the command alone, and remember what it had below it."""
        self.tree()
        assert self.process.returncode is None, "it has ended"
        os.kill(self.process.pid, number)  # not by `Popen`, which might reap it

    def type(self, text: str) -> None:
        """Type at its terminal."""
        assert self._master is not None, "it has a terminal"
        os.write(self._master, text.encode())

    def hang_up(self) -> None:
        """Close the terminal, as closing its window does."""
        if self._master is not None:
            self.tree()
            self._out.stop()
            self._readers[0].join(LONG_S)
            os.close(self._master)
            self._master = None

    def stop_reading(self) -> None:
        """Close the reading end of its output's pipe, as `head` does when it has enough."""
        assert self.process.stdout is not None, "its output is a pipe"
        self.tree()
        self._out.stop()
        self._readers[0].join(LONG_S)
        self.process.stdout.close()

    def wait(self) -> int:
        """Wait for the end; the exit code, negative for a signal."""
        _, status, usage = _waited(self.process.pid)
        self.process.returncode = os.waitstatus_to_exitcode(status)
        self.cpu_s = usage.ru_utime + usage.ru_stime
        for reader in self._readers:
            reader.join(LONG_S)
        return self.process.returncode

    def until_said(self, text: str) -> None:
        """Wait until this stands in its output."""
        until(lambda: text in self.out or self.ended(), f"{text!r} in {self.out!r} {self.err!r}")
        assert text in self.out, f"it ended without saying {text!r}: {self.out!r} {self.err!r}"

    def ended(self) -> bool:
        """Whether it has ended, without reaping it."""
        return self.process.returncode is not None or self._root.status() == psutil.STATUS_ZOMBIE

    def survivors(self) -> list[psutil.Process]:
        """What was ever seen of it and does not end."""
        return _staying(lambda: [each for each in self.seen if each.pid != self.process.pid and _lives(each)])

    def _output_descriptor(self) -> int:
        return _descriptor(self.process.stdout) if self._master is None else self._master


class _Collected:
    """What arrives on a descriptor, read in a thread."""

    def __init__(self) -> None:
        self._data = bytearray()
        self._stop_reading, self._stop = os.pipe()

    @property
    def text(self) -> str:
        return self._data.decode("utf-8", "replace")

    def read(self, descriptor: int) -> None:
        waiting = select.poll()  # of any number of descriptors, also above 1,024
        for one in (descriptor, self._stop_reading):
            waiting.register(one, select.POLLIN)
        try:
            while True:
                ready = [one for one, _ in waiting.poll()]
                try:
                    piece = b"" if self._stop_reading in ready else os.read(descriptor, 65536)
                except OSError:  # a terminal whose other side has ended
                    piece = b""
                if not piece:
                    return
                self._data += piece
        finally:
            os.close(self._stop_reading)

    def stop(self) -> None:
        if self._stop < 0:
            return
        with suppress(BrokenPipeError):
            os.write(self._stop, b".")
        os.close(self._stop)
        self._stop = -1


class _Written:
    """What arrives from a process that gets a copy of the other end of a pipe, or of a terminal."""

    def __init__(self, terminal: tuple[int, int] | None = None) -> None:
        self._source, self.end = _terminal(terminal) if terminal else os.pipe()
        self._collected = _Collected()
        self._reader = threading.Thread(target=self._collected.read, args=(self._source,), daemon=True)
        self._reader.start()

    @property
    def text(self) -> str:
        return self._collected.text

    def close(self) -> None:
        """Hear it to its end, which it comes to with the last process that has a copy."""
        os.close(self.end)
        self._reader.join(LONG_S)
        self._collected.stop()
        os.close(self._source)


def _terminal(size: tuple[int, int]) -> tuple[int, int]:
    master, slave = pty.openpty()
    fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", size[1], size[0], 0, 0))
    return master, slave


def _descriptor(stream: IO[bytes] | None) -> int:
    assert stream is not None, "it is a pipe"
    return stream.fileno()


def _waited(pid: int) -> tuple[int, int, object]:
    deadline = time.monotonic() + LONG_S
    while True:
        found = os.wait4(pid, os.WNOHANG)
        if found[0] == pid:
            return found
        if time.monotonic() > deadline:
            raise AssertionError(f"process {pid} was still running after {LONG_S} s")
        time.sleep(0.005)


def _lives(process: psutil.Process) -> bool:
    try:
        return process.is_running() and process.status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False


def until(condition: Callable[[], bool], what: str) -> None:
    """Wait for a condition of the outside world; fail with what was waited for."""
    deadline = time.monotonic() + LONG_S
    while not condition():
        if time.monotonic() > deadline:
            raise AssertionError(f"waited {LONG_S} s for {what}")
        time.sleep(0.02)


def working_in(folder: Path) -> list[psutil.Process]:
    """Processes that work below a folder, or are told of it on their command line, and do not end."""
    return _staying(lambda: _working_in(folder))


def _staying(found: Callable[[], list[psutil.Process]]) -> list[psutil.Process]:
    """What is still found when everything has had time to end: what is killed on a busy machine dies when it is run."""
    deadline = time.monotonic() + STAYS_S
    while (left := found()) and time.monotonic() < deadline:
        time.sleep(0.02)
    return left


def _working_in(folder: Path) -> list[psutil.Process]:
    found = []
    for process in psutil.process_iter():
        try:
            below = Path(process.cwd()).is_relative_to(folder) or any(str(folder) in one for one in process.cmdline())
            if below and process.pid != os.getpid() and process.status() != psutil.STATUS_ZOMBIE:
                found.append(process)
        except (psutil.NoSuchProcess, psutil.AccessDenied, psutil.ZombieProcess):
            continue
    return found
