"""The number of the way sources are read, apart from the readers: looking at it costs nothing."""

from __future__ import annotations

from typing import Final

IMPORT_FORMAT: Final = 1  # raised when the same bytes are read as another book: what is stored is then aligned again
