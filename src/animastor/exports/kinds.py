"""The names of the files that a book can be exported to."""

from __future__ import annotations

from typing import Final

FILM: Final = "film"
AUDIOBOOK: Final = "audiobook"
SUBTITLES: Final = "subtitles"
