"""Runs the real command line as a person does: in a process of its own, with a pipe or a terminal around it."""

from __future__ import annotations

import os
import pty
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import psutil

PROGRAM = (sys.executable, "-m", "animastor")


@dataclass(frozen=True)
class Ran:
    """How a command ended."""

    code: int
    out: str
    err: str
    seconds: float


def environment(extra: Mapping[str, str] | None = None) -> dict[str, str]:
    """The test's environment without anything that would steer the program."""
    kept = {key: value for key, value in os.environ.items() if not key.startswith("ANIMASTOR_")}
    return {**kept, "PYTHONUNBUFFERED": "1", **(extra or {})}


def run(*arguments: str | Path, cwd: Path, env: Mapping[str, str] | None = None, timeout: float = 110) -> Ran:
    """Run a command to its end with pipes for its output."""
    started = time.monotonic()
    done = subprocess.run(
        [*PROGRAM, *map(str, arguments)],
        cwd=cwd,
        env=environment(env),
        capture_output=True,
        text=True,
        timeout=timeout,
        check=False,
    )
    return Ran(done.returncode, done.stdout, done.stderr, time.monotonic() - started)


class Started:
    """A command that runs while the test goes on. Use as a context manager: nothing of it outlives the test."""

    def __init__(
        self,
        arguments: Sequence[str | Path],
        cwd: Path,
        env: Mapping[str, str] | None = None,
        *,
        terminal: bool = False,
        prefix: Sequence[str] = (),
    ) -> None:
        self._master: int | None = None
        stdout: int = subprocess.PIPE
        if terminal:
            self._master, slave = pty.openpty()
            stdout = slave
        self.process = subprocess.Popen(
            [*prefix, *PROGRAM, *map(str, arguments)],
            cwd=cwd,
            env=environment(env),
            stdin=subprocess.DEVNULL,
            stdout=stdout,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )
        if terminal:
            os.close(stdout)
        self.started = time.monotonic()

    def __enter__(self) -> Started:
        return self

    def __exit__(self, *_: object) -> None:
        tree = self.tree()
        for process in tree:
            try:
                process.kill()
            except psutil.NoSuchProcess:
                continue
        self.process.wait(10)
        for stream in (self.process.stdout, self.process.stderr):
            if stream is not None:
                stream.close()
        self.hang_up()

    def hang_up(self) -> None:
        """Close the terminal, as closing its window does."""
        if self._master is not None:
            os.close(self._master)
            self._master = None

    def tree(self) -> list[psutil.Process]:
        """The process and everything below it that lives."""
        try:
            root = psutil.Process(self.process.pid)
            return [root, *root.children(recursive=True)]
        except psutil.NoSuchProcess:
            return []

    def send(self, number: signal.Signals) -> None:
        """Send a signal to the command alone."""
        self.process.send_signal(number)

    def wait(self, timeout: float = 20) -> tuple[int, str]:
        """Wait for the end: (exit code, standard error)."""
        _, err = self.process.communicate(timeout=timeout) if self._master is None else (None, self._drain(timeout))
        return self.process.returncode, err

    def _drain(self, timeout: float) -> str:
        assert self.process.stderr is not None
        self.process.wait(timeout)
        return self.process.stderr.read()


def until(condition: Callable[[], bool], timeout: float, what: str) -> None:
    """Wait for a condition of the outside world; fail with what was waited for."""
    deadline = time.monotonic() + timeout
    while not condition():
        if time.monotonic() > deadline:
            raise AssertionError(f"waited {timeout} s for {what}")
        time.sleep(0.01)


def survivors(processes: Sequence[psutil.Process], timeout: float = 3) -> list[psutil.Process]:
    """Those that still live after a moment."""
    _, alive = psutil.wait_procs(processes, timeout=timeout)
    return [each for each in alive if each.status() != psutil.STATUS_ZOMBIE]
