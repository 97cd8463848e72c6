"""The entrance of the program `animastor`: from here on signals are answered; everything else is imported after that.

What the options are is in `commands.line`, what they do in the other modules of `commands`.
"""

from __future__ import annotations

import os
import signal
import sys


def _before_anything(number: int, _frame: object) -> None:
    os.write(2, b"Stopped before anything had begun.\n")
    os._exit(128 + number)


def _answer_signals() -> None:
    """One sentence and the end, until there is something to stop. What is ignored stays ignored (`nohup`)."""
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        if signal.getsignal(number) is not signal.SIG_IGN:
            signal.signal(number, _before_anything)


def _open_streams() -> None:
    """Streams that the caller closed become empty ones, so that no file of ours is ever opened in their place."""
    for descriptor in range(3):
        try:
            os.fstat(descriptor)
        except OSError:
            os.open(os.devnull, os.O_RDWR)  # gets the lowest free number, which is this one
    sys.stdout = sys.stdout or os.fdopen(1, "w", closefd=False)
    sys.stderr = sys.stderr or os.fdopen(2, "w", closefd=False)


_answer_signals()


def main() -> None:
    """Run the command line and exit."""
    _open_streams()
    from animastor.commands.line import main as line

    line()
