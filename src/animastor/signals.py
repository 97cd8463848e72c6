"""How a running command ends when it is told to: Ctrl-C, a second Ctrl-C, `kill`, a closed terminal, a closed pipe.

The first signal stops cleanly: the command's task is cancelled, hands back what it had and says how to go on. Whatever
ends a command, it is over within two seconds: a clean stop that takes longer is cut short, which loses nothing that is
finished. Children die with this process, however it ends: the kernel sees to that (CONTRACT 11, embedded home).

A signal that was ignored when the program started stays ignored (`nohup`, a job in the background of a script).
"""

from __future__ import annotations

import asyncio
import contextlib
import errno
import os
import select
import signal
import sys
import threading
from collections.abc import Coroutine
from types import FrameType
from typing import Any, Protocol

from animastor.output import OutputGoneError
from animastor.wrapping import wrapped

HURRY_S = 1.5  # a clean stop that takes longer than this is cut short
LOOK_S = 0.2  # between two looks whether anybody reads the output

EXIT_HANGUP = 129
EXIT_INTERRUPTED = 130
EXIT_PIPE = 141
EXIT_TERMINATED = 143
_EXITS = {signal.SIGINT: EXIT_INTERRUPTED, signal.SIGTERM: EXIT_TERMINATED, signal.SIGHUP: EXIT_HANGUP}
_CALLED = {signal.SIGINT: "Interrupted", signal.SIGTERM: "Told to stop", signal.SIGHUP: "The terminal is closed"}


class StoppedError(Exception):
    """Raised out of `run` when a signal ended the command; `exit_code` is the shell's 128 + signal."""

    def __init__(self, exit_code: int) -> None:
        super().__init__(f"stopped with exit code {exit_code}")
        self.exit_code = exit_code


def say(sentence: str) -> None:
    """One sentence on standard error, even when that has gone away; on a terminal no word is cut."""
    with contextlib.suppress(OSError, ValueError):
        told = wrapped(sentence, os.get_terminal_size(sys.stderr.fileno()).columns) if sys.stderr.isatty() else sentence
        print(told, file=sys.stderr, flush=True)


def cut_short_after(seconds: float, exit_code: int, screen: Screen) -> None:
    """From now on this process has so many seconds to end by itself; then it ends all the same."""
    timer = threading.Timer(seconds, _cut, (exit_code, screen))
    timer.daemon = True
    timer.start()


class Screen(Protocol):
    """What has to be put away before a sentence is said."""

    def close(self) -> None:
        """Leave the terminal as a person expects it. Raises `OutputGoneError`."""
        ...

    def restore(self) -> None:
        """The least of it, from another thread and in a hurry."""
        ...


class Wish:
    """For a command that ends by itself when it is told to, as a server does: its first signal only sets `told`.

    `sentence` is what it does then. `seconds`: it is cut short when it takes longer; None: as long as it likes.
    """

    def __init__(self, sentence: str, seconds: float | None) -> None:
        self.told = asyncio.Event()
        self.sentence = sentence
        self.seconds = seconds


class Stopper:
    """Turns signals into a cancelled task, or into the end."""

    def __init__(self, task: asyncio.Task[Any], how_to_go_on: str, screen: Screen, wish: Wish | None = None) -> None:
        self._task = task
        self._how_to_go_on = how_to_go_on
        self._screen = screen
        self._wish = wish
        self.exit_code: int | None = None

    def on_signal(self, number: signal.Signals) -> None:
        """Called in the event loop for each signal."""
        if self._wish is not None and not self._wish.told.is_set():
            self._wish.told.set()
            say(f"{_CALLED[number]}: {self._wish.sentence}")
            if self._wish.seconds is not None:
                cut_short_after(self._wish.seconds, _EXITS[number], self._screen)
            return
        if self.exit_code is not None:
            say("Ended at once; finished parts are kept.")
            _cut(self.exit_code, self._screen)
        self.exit_code = _EXITS[number]
        cut_short_after(HURRY_S, self.exit_code, self._screen)
        with contextlib.suppress(OutputGoneError):
            self._screen.close()
        say(f"{_CALLED[number]}: stopping. {self._how_to_go_on}")
        self._task.cancel()


def run(main: Coroutine[Any, Any, int], screen: Screen, *, how_to_go_on: str, wish: Wish | None = None) -> int:
    """Run a command's coroutine to its exit code.

    Raises `StoppedError` when a signal ended it, `OutputGoneError` when nobody reads its output any more; a command
    with a `wish` goes on without readers.
    """
    return asyncio.run(_supervised(main, how_to_go_on, screen, wish))


async def _supervised(main: Coroutine[Any, Any, int], how_to_go_on: str, screen: Screen, wish: Wish | None) -> int:
    task = asyncio.ensure_future(main)
    stopper = Stopper(task, how_to_go_on, screen, wish)
    loop = asyncio.get_running_loop()
    answered = [number for number in _EXITS if signal.getsignal(number) is not signal.SIG_IGN]
    for number in answered:
        loop.add_signal_handler(number, stopper.on_signal, number)
    reading = asyncio.ensure_future(_while_read() if wish is None else asyncio.Event().wait())
    ended = False
    try:
        await asyncio.wait((task, reading), return_when=asyncio.FIRST_COMPLETED)
        if not task.done():
            cut_short_after(HURRY_S, EXIT_PIPE, screen)
            task.cancel()
            await asyncio.wait((task,))
            raise OutputGoneError(BrokenPipeError(errno.EPIPE, os.strerror(errno.EPIPE)))
        code = await task
        ended = True
        return code
    except (asyncio.CancelledError, OutputGoneError):
        if stopper.exit_code is None:
            raise
        raise StoppedError(stopper.exit_code) from None
    finally:
        reading.cancel()
        for number in answered:
            loop.remove_signal_handler(number)
            signal.signal(number, _after_everything if ended else signal.SIG_IGN)  # it is ending, and says so


async def _while_read() -> None:
    """Return when standard output is a pipe or terminal whose other end was closed: there may be little to write."""
    poll = select.poll()
    poll.register(1, 0)
    gone = select.POLLERR | select.POLLHUP
    while not any(seen & gone for _, seen in poll.poll(0)):  # noqa: ASYNC110 - the kernel tells asyncio of no such event
        await asyncio.sleep(LOOK_S)


def _after_everything(number: int, _frame: FrameType | None) -> None:
    os._exit(128 + number)


def _cut(exit_code: int, screen: Screen) -> None:
    with contextlib.suppress(OSError, ValueError):
        screen.restore()
    os._exit(exit_code)
