"""Onto the disk: what was written, or renamed in a folder, survives a loss of power once it has been flushed."""

from __future__ import annotations

import os
from pathlib import Path


def flush(path: Path) -> None:
    """Flush a file, or the names in a folder, to the disk. Raises `OSError`."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
