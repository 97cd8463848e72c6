"""Where the program's log goes: a file in the home, opened when there is something to write.

Standard output belongs to the command's results and standard error to its one sentence, so nothing is logged there.
A log that cannot be written (a full disk) is done without. What is logged names jobs, profiles and reasons; claims,
tickets and credentials are never passed to a logger.
"""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path
from typing import TextIO

import structlog

NAME = "animastor.log"
LARGEST = 4 * 2**20  # bytes; a larger one is set aside as `.1` at the next start


class LogFile:
    """The text file that lines are appended to."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._file: TextIO | None = None

    def write(self, text: str) -> None:
        """Append; a failure is nobody's concern."""
        with suppress(OSError, ValueError):
            if self._file is None:
                self._file = self._opened()
            self._file.write(text)

    def flush(self) -> None:
        """Let the lines reach the file."""
        with suppress(OSError, ValueError):
            if self._file is not None:
                self._file.flush()

    def _opened(self) -> TextIO:
        if self._path.exists() and self._path.stat().st_size > LARGEST:
            self._path.replace(self._path.with_name(f"{NAME}.1"))
        return self._path.open("a", encoding="utf-8", errors="replace")


def to_home(home: Path) -> LogFile:
    """From now on, log into this home."""
    file = LogFile(home / NAME)
    structlog.configure(
        processors=[
            structlog.processors.add_log_level,
            structlog.processors.TimeStamper(fmt="iso", utc=True),
            structlog.processors.format_exc_info,
            structlog.processors.LogfmtRenderer(key_order=["timestamp", "level", "event"], bool_as_flag=False),
        ],
        logger_factory=structlog.WriteLoggerFactory(file),  # type: ignore[arg-type]
        cache_logger_on_first_use=False,
    )
    return file
