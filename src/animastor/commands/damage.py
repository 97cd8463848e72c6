"""Finished parts whose bytes are not what they were: found where they are used."""

from __future__ import annotations

from collections.abc import Sequence
from hashlib import file_digest
from pathlib import Path


class DamageError(Exception):
    """Raised for a finished part that is damaged; the text is a sentence without its full stop."""

    def __init__(self, checksum: str, message: str) -> None:
        super().__init__(message)
        self.checksum = checksum


def is_whole(path: Path, checksum: str) -> bool:
    """Whether a file has these bytes. Raises `OSError` when it cannot be read."""
    with path.open("rb") as file:
        return file_digest(file, "sha256").hexdigest() == checksum


def require_whole(files: Sequence[tuple[Path, str]]) -> None:
    """Raises `DamageError` for the first file that is not what its checksum says, or `OSError`."""
    for path, checksum in files:
        if not is_whole(path, checksum):
            raise DamageError(checksum, f"The finished part {path.name} is damaged on the disk")
