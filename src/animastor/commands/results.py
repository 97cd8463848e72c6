"""What a person is told at the end of a command, and the exit code that says the same."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from animastor.commands.errors import Exit
from animastor.display import Display, duration_text

SHOWN = 5


def say_made(result: Mapping[str, Any], display: Display, seconds: float) -> int:
    """The end of `make`."""
    display.close()
    failed = result.get("failed", {})
    made = _say_files(result, display)
    if failed:
        told = ", ".join(f"{count} {media}" for media, count in failed.items())
        display.note(
            f"Not everything could be made: {told}. `animastor status` says why; running make again tries again.",
            failed=failed,
        )
        return Exit.FAILURES
    if not made:
        display.note(f"Nothing is left to do ({duration_text(seconds)}).", done=True, made=[], seconds=seconds)
    else:
        display.note(f"Done in {duration_text(seconds)}.", done=True, made=made, seconds=seconds)
    return Exit.OK


def say_exported(result: Mapping[str, Any], display: Display) -> int:
    """The end of `export`."""
    display.close()
    if not _say_files(result, display):
        display.note("Nothing had to be written.", done=True, made=[])
    return Exit.OK


def _say_files(result: Mapping[str, Any], display: Display) -> list[str]:
    for path in result.get("unchanged", ()):
        display.note(f"{_shown(path)} is up to date.", unchanged=path)
    for path in result.get("made", ()):
        display.note(f"{_shown(path)}  {_size(path)}", made=path)
    if gaps := result.get("gaps", ()):
        display.note(f"Missing: {_few(gaps)}.", gaps=list(gaps))
    return list(result.get("made", ()))


def _few(names: Sequence[str]) -> str:
    rest = len(names) - SHOWN
    return ", ".join(names[:SHOWN]) + (f" and {rest} more scenes" if rest > 0 else "")


def _shown(path: str) -> str:
    """A path as short as it can be said from here."""
    try:
        return str(Path(path).relative_to(Path.cwd()))
    except ValueError:
        return path


def _size(path: str) -> str:
    try:
        size = float(Path(path).stat().st_size)
    except OSError:
        return ""
    for unit in ("bytes", "KB", "MB"):
        if size < 1000:
            return f"{size:.0f} {unit}" if unit == "bytes" else f"{size:.1f} {unit}"
        size /= 1000
    return f"{size:.2f} GB"
