"""`animastor retry` after a make of which something failed, and where nothing did."""

from __future__ import annotations

from pathlib import Path

from place import Place
from program import run
from tiny_book import SHORT, write_book


def test_what_failed_is_tried_again_and_told_and_nothing_else_is_made(place: Place) -> None:
    write_book(place.book, SHORT, language="tlh")  # a language that nobody has a voice for
    log = place.folder / "backends.jsonl"
    assert place.make("--media", "audio", "--allow-missing", env={"ANIMASTOR_BACKEND_LOG": str(log)}).code == 1
    first = _starts(log)
    again = run("retry", "tiny", "--home", place.home, cwd=place.folder, env={"ANIMASTOR_BACKEND_LOG": str(log)})
    assert again.code == 1
    said = "Not everything could be made: audio of 1 scene. `animastor status` says why."
    assert again.out.splitlines()[-1] == said
    assert _starts(log) == 2 * first


def test_force_needs_one_asset_and_without_failures_there_is_nothing_to_retry(made: Place) -> None:
    nothing = run("retry", "--home", made.home, cwd=made.folder)
    assert (nothing.code, nothing.out) == (0, "Nothing of Tiny (tiny) has failed.\n")
    wide = run("retry", "--force", "--home", made.home, cwd=made.folder)
    assert (wide.code, wide.err) == (2, "--force needs --scope scene:CHAPTER/SCENE and one --media.\n")


def _starts(log: Path) -> int:
    """How often a backend began with a part."""
    return sum('"start"' in line for line in log.read_text().splitlines())
