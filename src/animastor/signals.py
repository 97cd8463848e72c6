"""How a running command ends when it is told to: Ctrl-C, a second Ctrl-C, `kill`, a closed terminal, a closed pipe.

The first Ctrl-C (or SIGTERM) stops cleanly: the command's task is cancelled, hands back what it had and says how to go
on. Everything else has to be over within two seconds: a second signal, a closed terminal (SIGHUP) and a closed pipe
set a deadline, after which the process ends at once. Its children die with it, whatever happens here: the kernel sees
to that (CONTRACT 11, embedded home).
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import sys
import threading
from collections.abc import Coroutine
from types import FrameType
from typing import Any

HURRY_S = 1.5  # a clean stop that takes longer than this after a hurried ending is cut short

EXIT_HANGUP = 129
EXIT_INTERRUPTED = 130
EXIT_PIPE = 141
EXIT_TERMINATED = 143
_EXITS = {signal.SIGINT: EXIT_INTERRUPTED, signal.SIGTERM: EXIT_TERMINATED, signal.SIGHUP: EXIT_HANGUP}


class StoppedError(Exception):
    """Raised out of `run` when a signal ended the command; `exit_code` is the shell's 128 + signal."""

    def __init__(self, exit_code: int) -> None:
        super().__init__(f"stopped with exit code {exit_code}")
        self.exit_code = exit_code


def say(sentence: str) -> None:
    """One sentence on standard error, even when that has gone away."""
    with contextlib.suppress(OSError, ValueError):
        print(sentence, file=sys.stderr, flush=True)


def end_within(seconds: float, exit_code: int) -> None:
    """From now on this process has so many seconds to end by itself; then it ends all the same."""
    timer = threading.Timer(seconds, lambda: os._exit(exit_code))
    timer.daemon = True
    timer.start()


class Stopper:
    """Turns signals into a cancelled task, or into the end."""

    def __init__(self, task: asyncio.Task[Any], how_to_go_on: str) -> None:
        self._task = task
        self._how_to_go_on = how_to_go_on
        self.exit_code: int | None = None

    def on_signal(self, number: signal.Signals) -> None:
        """Called in the event loop for each signal."""
        code = _EXITS[number]
        if self.exit_code is not None:
            say("Ended at once; finished parts are kept.")
            os._exit(self.exit_code)
        self.exit_code = code
        if number is signal.SIGHUP:
            end_within(HURRY_S, code)
        else:
            say(f"Stopping. {self._how_to_go_on} (Ctrl-C again ends at once.)")
        self._task.cancel()


def run(main: Coroutine[Any, Any, int], *, how_to_go_on: str) -> int:
    """Run a command's coroutine to its exit code. Raises `StoppedError` when a signal ended it."""

    async def supervised() -> int:
        task = asyncio.ensure_future(main)
        stopper = Stopper(task, how_to_go_on)
        loop = asyncio.get_running_loop()
        for number in _EXITS:
            loop.add_signal_handler(number, stopper.on_signal, number)
        try:
            return await task
        except asyncio.CancelledError:
            if stopper.exit_code is None:
                raise
            raise StoppedError(stopper.exit_code) from None
        finally:
            for number in _EXITS:
                loop.remove_signal_handler(number)
            if stopper.exit_code is not None:
                signal.signal(signal.SIGINT, _end_now)

    return asyncio.run(supervised())


def _end_now(number: int, _frame: FrameType | None) -> None:
    os._exit(128 + number)


def hurry_out(exit_code: int) -> None:
    """Standard output is gone (a pipe closed by `head`): be quiet, and be over within two seconds."""
    end_within(HURRY_S, exit_code)
    with contextlib.suppress(OSError, ValueError):
        sys.stdout = open(os.devnull, "w")  # noqa: SIM115, PTH123 - lives until the process ends
