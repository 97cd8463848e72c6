"""How a command fails: one sentence, a stable reason, and the exit code of its kind (docs/commands.md)."""

from __future__ import annotations

from enum import IntEnum


class Exit(IntEnum):
    """The exit codes of the program. Those of signals are 128 + the signal's number."""

    OK = 0
    FAILURES = 1  # it ran to its end, but some parts could not be made
    USAGE = 2  # the command line itself is wrong
    BAD_INPUT = 3  # the source is no readable book, or names something that is not in it
    HOME = 4  # the home or the folder for finished files cannot be used: not writable, of another version
    DISK_FULL = 5
    INCOMPLETE = 6  # an export lacks scenes, and --allow-missing was not given
    MISSING_TOOL = 7  # a program or package that makes parts is not there
    INTERNAL = 70  # a fault of this program


class CommandError(Exception):
    """Raised by a command that cannot go on; the text is one sentence that says what to do."""

    def __init__(self, exit_code: Exit, reason: str, message: str) -> None:
        super().__init__(message)
        self.exit_code = exit_code
        self.reason = reason
        self.message = message
