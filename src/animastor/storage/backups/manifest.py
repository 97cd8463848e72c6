"""What a backup says of itself: written last, so a place without it holds no backup (yet)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any, Final

import orjson

MANIFEST: Final = "animastor-backup.json"
FORMAT: Final = 1
ARTIFACT_TABLE: Final = "artifact"


class BackupError(Exception):
    """Raised for a backup that cannot be taken, read or restored; the text is a sentence without its full stop."""


@dataclass(frozen=True, slots=True)
class TableFile:
    """A table: how many rows, and the checksum of its file."""

    name: str
    rows: int
    sha256: str


@dataclass(frozen=True, slots=True)
class Manifest:
    """A backup. `taken_at` is the database's time of its one point; `absent`: artifacts that it names and lacks."""

    schema: int
    planner: int
    layout: int
    taken_at: float
    tables: tuple[TableFile, ...]
    artifacts: int = 0
    size: int = 0  # bytes of all artifacts
    absent: tuple[str, ...] = ()
    folder: str = ""  # of the tables, in the place

    def encoded(self) -> bytes:
        """As it is written."""
        return orjson.dumps({"format": FORMAT, **asdict(self)}, option=orjson.OPT_INDENT_2)

    @staticmethod
    def decoded(data: bytes) -> Manifest:
        """As it was written. Raises `BackupError`."""
        try:
            told: Mapping[str, Any] = orjson.loads(data)
            if told["format"] > FORMAT:
                raise BackupError("the backup is of a newer Animastor: install that")
            values = {name: value for name, value in told.items() if name != "format"}
            values["tables"] = tuple(TableFile(**each) for each in told["tables"])
            values["absent"] = tuple(told["absent"])
            return Manifest(**values)
        except (orjson.JSONDecodeError, KeyError, TypeError) as error:
            raise BackupError(f"its {MANIFEST} cannot be read") from error
