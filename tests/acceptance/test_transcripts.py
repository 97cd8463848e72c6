"""What is said of a small book, and of mistakes: word for word, in terminals of 60 and 140 columns.

Written anew with `WRITE_TRANSCRIPTS=1 pytest tests/acceptance/test_transcripts.py`; then read what has changed.
"""

from __future__ import annotations

import os
import re
import shlex
from pathlib import Path

import pytest
from place import Place
from program import Ran, run

LINES = 50
HOME = {"ANIMASTOR_HOME": "home"}
TRANSCRIPTS = Path(__file__).parent / "transcripts"
COMMANDS = (
    *("make", "import", "status", "export", "serve", "edit", "cancel", "regenerate", "retry", "pause", "resume"),
    *("prioritize", "layers", "position", "outline", "explain", "journal", "doctor", "du", "gc", "takes", "delete"),
    *("backup", "upgrade", "restore"),
)
LOOKING = """
status
status tiny
outline
outline tiny 1/2
outline tiny 3/1
explain
explain tiny 1/2 video
explain tiny 9
explain tiny 1/9
explain tiny 1 smell
journal --scene 1 --media image
journal --scene 2/1 --media audio --limit 2
journal --media smell
journal --after 1 --before 2
journal --replay
takes tiny 1/1/1
takes tiny 1/1
takes tiny 1/1/9
takes tiny nobody
layers
du
gc
gc --now
upgrade
make book --dry-run
make book --dry-run --keep --size 640x360
import book --keep --size 640x360
make book
export
export --scope chapter:9
regenerate
retry
cancel
cancel --request 99
pause
resume
prioritize
prioritize --scene 1/2
prioritize --priority urgent
position tiny 1/2
position tiny 4/2
"""
MISTAKES = """
fly
make
make nowhere.epub
make book --bogus
make book --jobs 0
make book --size big
make book --size 10x10
make book --media sound
make book --scope page:1
make book --voice nobody
make book --home book/book.json
status huge
status --home nowhere
outline --home nowhere
explain --home nowhere
journal --home nowhere
takes tiny 1/1/1 --home nowhere
du --home nowhere
gc --home nowhere
doctor --home nowhere
edit tiny --set book.title=x --home nowhere
cancel --home nowhere
regenerate --home nowhere
delete --yes --home nowhere
export --home nowhere
backup copy --home nowhere
upgrade --home nowhere
retry --force
serve
prioritize --scene 1/2 --priority high
"""

CHANGING = """
edit tiny --set 1/1/1.text='Another sentence is said here.' --dry-run
edit tiny --set 1/1/1.text='Another sentence is said here.' --yes
edit tiny --set 1/1/1.text='Another sentence is said here.' --yes
edit tiny --set 1/1/1.speaker=nobody --yes
edit tiny --set 9/9.mood=grim --yes
edit tiny --set text=grim --yes
edit tiny --set bogus
edit tiny --set characters.ann.name=Ann --yes
status
explain tiny 1/1 audio
export --out gaps
export --out gaps --subtitles --allow-missing
layers tiny --set video_enabled=off
layers tiny --set video_enabled=default
layers tiny --set smell=on
takes tiny 1/2/1 --media image --pin 1
takes tiny 1/2/1 --media image --pin 7
takes tiny 1/2/1 --unpin
takes tiny 1/2/1 --media image --supply book/book.json
takes tiny 1/2/1 --media image --supply nowhere.png
outline tiny
backup copy
backup copy
restore copy
restore copy --home other
restore nowhere --home another
delete tiny --unit 1/1/9 --yes
delete tiny --unit 1/2/1 --yes
delete tiny --scope scene:2/1 --yes
delete tiny --scope chapter:7 --yes
outline tiny
delete tiny --yes
status
status --home other
"""

VARYING = (
    (r"(?m)^\d+ \d\d-\d\d \d\d:\d\d:\d\d", "# TIME"),
    (r"\d{4}-\d\d-\d\d at \d\d:\d\d:\d\d", "TIME"),
    (r"\b\d+(\.\d+)? (KB|MB|GB|bytes)\b", "SIZE"),
    (r"\b\d+(\.\d+)? s\b", "SECONDS"),
    (r"\b[0-9a-f]{8,64}\b", "HASH"),
    (r"\(\d+\s+rows\)", "(# rows)"),
    (r"--before \d+", "--before #"),
    (r"Python [\d.]+\d", "Python VERSION"),
    (r"(?s)ffmpeg:\s.*?\n(?=backends)", "ffmpeg: PATH.\n"),
    (r"(?s)disk:\s.*?\n(?=artifacts)", "disk: ROOM.\n"),
    (r"/\S+/(?=book\b|nowhere)", "FOLDER/"),
)


def _plain(text: str) -> str:
    """Without colours, and with what differs between machines and runs under a common name.

    Where there is such a thing, lines break elsewhere each time: then sentences are compared in one line.
    """
    bare = named = _bare(text)
    for pattern, name in VARYING:
        named = re.sub(pattern, name, named)
    if named != bare:
        named = re.sub(r"\n(?! |$)", " ", named)
        named = re.sub(r"(?<=\S) {2,}", "  ", named)
    return named


def _bare(text: str) -> str:
    """Without colours, and without bars, which are redrawn as often as there is time for it."""
    bare = re.sub(r"\x1b\[[0-9;?]*[a-zA-Z]", "", text).replace("\r", "")
    return re.sub(r"(?m)^\w+ +[━╸╺].*\n", "", bare)


def told_of(line: str, said: Ran, columns: int) -> str:
    """A command and what it said, as it is kept."""
    for shown in _bare(said.out).splitlines():
        assert len(shown) <= columns or len(shown.split()) == 1, f"{line}: {shown!r} does not fit"
    return f"$ animastor {line}\n{_plain(said.out)}{_plain(said.err)}[{said.code}]\n"


PARTS = {"mistakes": MISTAKES, "looking": LOOKING, "changing": CHANGING}


@pytest.mark.parametrize("part", PARTS)
@pytest.mark.parametrize("columns", [60, 140])
def test_what_is_said_is_told_word_for_word(made: Place, columns: int, part: str) -> None:
    told = "".join(
        told_of(line, run(*shlex.split(line), cwd=made.folder, env=HOME, terminal=(columns, LINES)), columns)
        for line in PARTS[part].strip().splitlines()
    )
    compared(told, TRANSCRIPTS / f"{part}-{columns}.txt")
    assert "Traceback" not in told


@pytest.mark.parametrize("columns", [60, 140])
def test_the_help_of_each_command_is_told_word_for_word(tmp_path: Path, columns: int) -> None:
    helps = (run(one, "-h", cwd=tmp_path, terminal=(columns, LINES)).out for one in COMMANDS)
    compared("".join(map(_bare, helps)), TRANSCRIPTS / f"help-{columns}.txt")


def test_colours_change_no_word_and_can_be_switched_off(made: Place) -> None:
    for line in ("outline tiny 1/2", "takes tiny 1/1/1"):
        coloured, plain = (
            run(*line.split(), cwd=made.folder, env={**HOME, **env}, terminal=(60, LINES)).out
            for env in ({}, {"NO_COLOR": "1"})
        )
        assert _bare(coloured) == _bare(plain)
        assert not re.search(r"\x1b\[[0-9;]*3[0-9]m", plain)


def compared(told: str, kept: Path) -> None:
    """Compare with what is kept, or keep it."""
    if os.environ.get("WRITE_TRANSCRIPTS"):
        kept.parent.mkdir(exist_ok=True)
        kept.write_text(told, encoding="utf-8")
    assert told == kept.read_text(encoding="utf-8")
