"""Running a command to its exit code: its errors as one sentence, its signals and closed pipes as CONTRACT 11 wants.

Nothing leaves here as a traceback: a fault of the program itself is one sentence too, and its details go to a file.
"""

from __future__ import annotations

import errno
import os
import sys
import tempfile
import time
import traceback
from collections.abc import Callable, Coroutine
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn, TypeAlias

from animastor import signals
from animastor.commands.errors import CommandError, Exit
from animastor.output import OutputGoneError

if TYPE_CHECKING:
    from pydantic import ValidationError

    from animastor.config import Settings
    from animastor.display import Display

GO_ON = "Finished parts are kept; run the same command again to go on."
LOOKED = "Nothing was changed."
_NOBODY = (errno.EPIPE, errno.EIO, errno.EBADF)  # a closed pipe, a closed terminal, output closed with `>&-`
_FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)

Command: TypeAlias = "Callable[[Settings, Display], Coroutine[Any, Any, int]]"


@dataclass(frozen=True, slots=True)
class Options:
    """The options that every command has."""

    home: str | None = None
    jobs: int | None = None
    json: bool = False
    wish: signals.Wish | None = None  # of a command that ends by itself when it is told to
    looks: bool = False  # it changes nothing, and so there is nothing to go on with

    @property
    def how_to_go_on(self) -> str:
        """What is said when it is stopped."""
        return LOOKED if self.looks else GO_ON


def run(command: Command, options: Options) -> NoReturn:
    """Run a command and exit with its code."""
    from animastor.display import choose

    display = choose(json=options.json, now=time.monotonic)
    try:
        code = _run(command, options, display)
    except OutputGoneError as error:
        code = _output_gone(error, options)
    leave(code)


def _run(command: Command, options: Options, display: Display) -> int:
    try:
        code = signals.run(
            _main(command, options, display), display, how_to_go_on=options.how_to_go_on, wish=options.wish
        )
        display.close()
    except signals.StoppedError as stopped:
        if options.json:
            with suppress(OutputGoneError):  # it has been said on standard error
                display.note(options.how_to_go_on, event="stopped", exit_code=stopped.exit_code)
        return stopped.exit_code
    except CommandError as error:
        return _failed(display, error, json=options.json)
    except OutputGoneError:
        raise
    except Exception as error:  # noqa: BLE001 - the last boundary: a fault of this program, told and kept
        return _failed(display, _fault(error), json=options.json)
    return code


async def _main(command: Command, options: Options, display: Display) -> int:
    from animastor.books.errors import BookError

    try:
        return await command(_settings(options), display)
    except BookError as error:
        raise CommandError(Exit.BAD_INPUT, error.reason, error.message) from error


def _settings(options: Options) -> Settings:
    from pydantic import ValidationError

    from animastor.config import Settings as Table

    given = {"home": options.home, "jobs": options.jobs}
    try:
        return Table(**{name: value for name, value in given.items() if value is not None})  # type: ignore[arg-type]
    except ValidationError as error:
        raise CommandError(Exit.USAGE, "setting_invalid", _wrong_setting(error)) from None


def _wrong_setting(error: ValidationError) -> str:
    """The first wrong setting in one sentence. URLs are not repeated: they may hold a password."""
    first = error.errors(include_context=False)[0]
    said = first["msg"].removeprefix("Value error, ").removeprefix("Input ")
    name = "_".join(map(str, first["loc"])).upper() or "DATABASE_URL"
    given = "" if name.endswith("_URL") or "://" in str(first["input"]) else f"={first['input']}"
    return f"ANIMASTOR_{name}{given} cannot be used: it {said}. docs/settings.md lists all settings."


def _failed(display: Display, error: CommandError, *, json: bool) -> int:
    display.close()
    signals.say(error.message)
    if json:
        display.note(error.message, event="error", reason=error.reason, exit_code=int(error.exit_code))
    return error.exit_code


def _output_gone(error: OutputGoneError, options: Options) -> int:
    number = error.cause.errno
    if number in _NOBODY:
        if not options.looks:  # who has seen enough need not be told
            signals.say(f"Nobody reads the output any more: stopped. {options.how_to_go_on}")
        return signals.EXIT_PIPE
    signals.say(f"The output cannot be written ({error.cause.strerror}): stopped. {options.how_to_go_on}")
    return Exit.DISK_FULL if number in _FULL else Exit.HOME


def _fault(error: Exception) -> CommandError:
    """A fault of this program: the details in a file, as they help nobody on the screen."""
    what = " ".join(f"{type(error).__name__}: {error}".split())[:300]
    details = "".join(traceback.format_exception(error))
    try:
        handle, name = tempfile.mkstemp(prefix="animastor-fault-", suffix=".txt")
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            file.write(details)
        where = f" Details are in {name}."
    except OSError:
        where = ""
    return CommandError(Exit.INTERNAL, "internal", f"A fault of Animastor itself ({what}): stopped.{where}")


def leave(code: int) -> NoReturn:
    """End with a code, even when standard output went away with something still in its buffer."""
    try:
        sys.stdout.flush()
    except (OSError, ValueError):
        code = code or signals.EXIT_PIPE
    try:
        sys.stderr.flush()
    except (OSError, ValueError):
        code = code or signals.EXIT_PIPE
    os._exit(code)


def shown_path(path: Path) -> str:
    """A path as short as it can be said from here."""
    try:
        return str(path.relative_to(Path.cwd()))
    except (ValueError, OSError):
        return str(path)
