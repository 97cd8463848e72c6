"""What a person is told at the end of a command, and the exit code that says the same."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from animastor.commands.errors import Exit
from animastor.commands.naming import lacks_text
from animastor.commands.running import shown_path
from animastor.display import Display, duration_text, size_text


def say_made(result: Mapping[str, Any], display: Display, seconds: float) -> int:
    """The end of `make`."""
    display.close()
    failed = result.get("failed", {})
    made = _say_files(result, display)
    code = Exit.FAILURES if failed else Exit.OK
    if failed:
        told = _failed_text(failed)
        message = f"Not everything could be made: {told}. `animastor status` says why; running make again tries again."
    elif not made and not result.get("worked"):
        message = f"Nothing is left to do ({took(seconds)})."
    else:
        message = f"Done in {took(seconds)}."
    event = "failures" if failed else "done"
    _end(display, message, event, result, failed=failed, seconds=round(seconds, 2), exit_code=int(code))
    return code


def say_regenerated(result: Mapping[str, Any], display: Display, seconds: float) -> int:
    """The end of `regenerate` and `retry`."""
    display.close()
    if "said" in result:
        return say_told(result, display)
    failed, fields = result["failed"], {name: result[name] for name in ("book", "parts", "failed")}
    if failed:
        message = f"Not everything could be made: {_failed_text(failed)}. `animastor status` says why."
        display.note(message, event="failures", exit_code=int(Exit.FAILURES), **fields)
        return Exit.FAILURES
    if result["worked"]:
        message = f"Done in {took(seconds)}. `animastor make` and `export` write the finished files again."
    elif result["rebuild"]:
        message = "Nothing was made again."
    else:
        message = "Everything asked for is there and current; --rebuild makes it again, as other takes."
    display.note(message, event="done", exit_code=0, seconds=round(seconds, 2), **fields)
    return Exit.OK


def say_exported(result: Mapping[str, Any], display: Display) -> int:
    """The end of `export`."""
    display.close()
    made = _say_files(result, display)
    _end(display, "Done." if made else "Nothing had to be written.", "done", result, exit_code=0)
    return Exit.OK


def say_imported(result: Mapping[str, Any], display: Display) -> int:
    """The end of `import`: the book has been told already; programs get one last event."""
    display.close()
    if not display.wants_tables:
        display.note("Imported.", event="done", book=result.get("book"), exit_code=0)
    return Exit.OK


def say_examined(result: Mapping[str, Any], display: Display) -> int:
    """The end of `doctor`."""
    display.close()
    repaired, undone = result["repaired"], result["undone"]
    for one in undone:
        sentence = f"{one['sentence'][:1].upper()}{one['sentence'][1:]}."
        display.note(sentence, event="finding", name=one["name"], count=one["count"])
    looked, lost = result["looked"], result["lost"]
    fields = {name: value for name, value in result.items() if name != "undone"}
    if not lost:
        told = f"All {looked} finished parts are there and whole."
        if undone and not repaired:
            told = f"{told} What is undone is put right by the next command that works on the home."
        display.note(told, event="done", exit_code=0, **fields)
        return Exit.OK
    what = f"{lost} of {looked} finished parts {'is' if lost == 1 else 'are'} lost or damaged"
    if repaired:
        told = f"{what}; they are given up, and `animastor make` makes them again."
        display.note(told, event="done", exit_code=0, **fields)
        return Exit.OK
    how = "more than is given up without asking: put" if result["asks"] else "put"
    display.note(
        f"{what}: {how} the files back, or run `animastor doctor --repair`.", event="failures", exit_code=1, **fields
    )
    return Exit.FAILURES


def say_told(result: Mapping[str, Any], display: Display) -> int:
    """The end of a command whose errand says in one sentence what it did."""
    display.close()
    fields = {name: value for name, value in result.items() if name != "said"}
    display.note(result["said"], event="done", exit_code=0, **fields)
    return Exit.OK


def _failed_text(failed: Mapping[str, int]) -> str:
    return ", ".join(f"{media} of {count} scene{'s' * (count > 1)}" for media, count in failed.items())


def _end(display: Display, message: str, event: str, result: Mapping[str, Any], **fields: Any) -> None:
    files = {name: list(result.get(name, ())) for name in ("made", "unchanged")}
    display.note(message, event=event, **files, gaps=dict(result.get("gaps", {})), **fields)


def _say_files(result: Mapping[str, Any], display: Display) -> list[str]:
    for path in result.get("unchanged", ()):
        display.note(f"{shown_path(Path(path))} is up to date.", event="file", path=path, made=False)
    for path in result.get("made", ()):
        size = bytes_of(Path(path))
        display.note(f"{shown_path(Path(path))}  {size_text(size)}", event="file", path=path, made=True, bytes=size)
    if gaps := result.get("gaps"):
        display.note(lacks_text(gaps), event="gaps", gaps=gaps)
    return list(result.get("made", ()))


def took(seconds: float) -> str:
    """How long something took, for people."""
    return f"{seconds:.1f} s" if seconds < 10 else duration_text(seconds)


def bytes_of(path: Path) -> int:
    """The size of a file; 0 when there is none."""
    try:
        return path.stat().st_size
    except OSError:
        return 0
