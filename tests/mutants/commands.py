"""Runs commands that can all be ended at once, with whatever they have started."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

ENDS_IN_S = 5.0  # what is told to end may take so long to put its servers away


@dataclass(frozen=True)
class Answer:
    """What a command came to. `code`: None when its time was up."""

    code: int | None
    out: str = ""
    err: str = ""

    @property
    def last_words(self) -> str:
        """The last line that it wrote."""
        return (["", *(self.err.strip() or self.out.strip()).splitlines()])[-1]


class Commands:
    """Runs Python in a folder, each time in a session of its own."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._running: set[subprocess.Popen[str]] = set()
        self._lock = threading.Lock()
        self._over = False

    def run(self, arguments: Sequence[str], environment: Mapping[str, str], seconds: float) -> Answer:
        """Run one to its end, or until its time is up."""
        with self._lock:
            if self._over:
                return Answer(None)
            process = subprocess.Popen(
                [sys.executable, *arguments], env=environment, cwd=self._folder, text=True, start_new_session=True,
                stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
            )  # fmt: skip
            self._running.add(process)
        try:
            out, err = process.communicate(timeout=max(1.0, seconds))
            return Answer(process.returncode, out, err)
        except subprocess.TimeoutExpired:
            _end([process])
            return Answer(None)
        finally:
            with self._lock:
                self._running.discard(process)

    def end(self) -> None:
        """End what runs; nothing starts any more."""
        with self._lock:
            self._over, running = True, list(self._running)
        _end(running)


def _end(processes: Sequence[subprocess.Popen[str]]) -> None:
    for number in (signal.SIGTERM, signal.SIGKILL):
        for process in processes:
            with suppress(ProcessLookupError):
                os.killpg(process.pid, number)
        until = time.monotonic() + ENDS_IN_S
        for process in processes:
            with suppress(subprocess.TimeoutExpired):
                process.wait(max(0.0, until - time.monotonic()))
