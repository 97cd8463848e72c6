"""What an engine tells whoever runs it, at once and outside the journal."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias


@dataclass(frozen=True, slots=True)
class Alarm:
    """Something that a person should know: `reason` is a stable word, `message` one sentence."""

    reason: str
    message: str


Report: TypeAlias = Callable[[Alarm], None]


def sentence_of(error: BaseException) -> str:
    """An error as one line: its text, or its name where it has none."""
    text = " ".join(str(error).split())
    return f"{type(error).__name__}: {text}"[:2000] if text else type(error).__name__
