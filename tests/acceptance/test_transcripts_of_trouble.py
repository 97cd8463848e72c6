"""What is said of homes that are damaged or may not be used, and of backups that are refused, at 60 and 140 columns.

Written anew with `WRITE_TRANSCRIPTS=1 pytest tests/acceptance/test_transcripts_of_trouble.py`; then read what changed.
"""

from __future__ import annotations

import os
import shlex
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from place import Place
from program import Ran, Started, run
from test_transcripts import HOME, LINES, TRANSCRIPTS, compared, told_of
from tiny_book import stored_file

WIDTHS = (60, 140)
AS_ANYBODY = ("setpriv", "--bounding-set=-dac_override,-dac_read_search")  # root, whom permissions bind as well
MAKE = "make book --size 128x72"
UNWRITABLE = """
status
doctor --repair
make book --out book/out
upgrade
backup book/copy
export --out new
status --home new
make book --home new --out book/out
"""
BACKUPS = """
backup
backup book
backup book/book.json
backup copy.zip
backup copy.tar.gz
backup home
restore
restore nothing
restore book
restore book/book.json
restore copy
restore cut.tar --home another
restore bent --home another
status --home another
"""


def _gone(place: Place) -> None:
    (place.home / "animastor.db").unlink()


def _emptied(place: Place) -> None:
    (place.home / "animastor.db").write_bytes(b"")


def _cut_off(place: Place) -> None:
    os.truncate(place.home / "animastor.db", 50_000)


def _no_database(place: Place) -> None:
    (place.home / "animastor.db").write_bytes(b"no database " * 5000)


def _part_missing(place: Place) -> None:
    stored_file(place.home, "audio").unlink()


def _part_damaged(place: Place) -> None:
    stored_file(place.home, "audio").write_bytes(b"damaged")


TROUBLES: dict[str, tuple[Callable[[Place], None], tuple[str, ...]]] = {
    "database gone": (_gone, ("status", "export", "backup copy", "restore nothing", MAKE, "status")),
    "database emptied": (_emptied, ("explain", MAKE)),
    "database cut off": (_cut_off, ("status", "doctor", "cancel", "backup copy", "upgrade", MAKE)),
    "no database": (_no_database, ("journal", MAKE)),
    "part missing": (_part_missing, ("doctor", "doctor --repair", "doctor --repair", "export", "explain")),
    "part damaged": (_part_damaged, ("doctor", "backup copy", "doctor --repair", "make book", "doctor")),
}


@pytest.mark.parametrize("columns", WIDTHS)
def test_a_damaged_home_is_told_word_for_word(made_once: tuple[Place, Ran], tmp_path: Path, columns: int) -> None:
    told = ""
    for name, (trouble, lines) in TROUBLES.items():
        place = _copy(made_once[0], tmp_path / name.replace(" ", "-"))
        trouble(place)
        told += f"# {name}\n" + _all_told(place, lines, columns)
    _kept(told, f"damaged-{columns}")


def _copy(place: Place, folder: Path) -> Place:
    copied = Place(folder)
    shutil.copytree(place.home, copied.home)
    shutil.copytree(place.book, copied.book)
    return copied


@pytest.fixture
def closed(made: Place) -> Iterator[Place]:
    """A place in which nothing may be written but the book."""
    for path in (made.home, made.folder):
        path.chmod(0o555)
    (made.home / "lock").chmod(0o444)
    yield made
    for path in (made.folder, made.home):
        path.chmod(0o755)


@pytest.mark.skipif(os.geteuid() == 0 and shutil.which("setpriv") is None, reason="nothing binds root here")
@pytest.mark.parametrize("columns", WIDTHS)
def test_a_folder_that_may_not_be_written_is_told_word_for_word(closed: Place, columns: int) -> None:
    told, prefix = "", AS_ANYBODY if os.geteuid() == 0 else ()
    for line in UNWRITABLE.strip().splitlines():
        with Started(shlex.split(line), closed.folder, HOME, terminal=(columns, LINES), prefix=prefix) as started:
            code = started.wait()
            told += told_of(line, Ran(code, started.out, started.err, 0.0), columns)
    _kept(told.replace(str(closed.folder), "FOLDER"), f"unwritable-{columns}")


@pytest.mark.parametrize("columns", WIDTHS)
def test_backups_that_are_refused_are_told_word_for_word(made: Place, columns: int) -> None:
    for target in ("copy", "cut.tar"):
        assert run("backup", target, cwd=made.folder, env=HOME).code == 0
    os.truncate(made.folder / "cut.tar", 100_000)
    shutil.copytree(made.folder / "copy", made.folder / "bent")
    (table,) = (made.folder / "bent").glob("tables-*/part.jsonl.gz")
    table.write_bytes(table.read_bytes()[:-10])
    _kept(_all_told(made, BACKUPS.strip().splitlines(), columns), f"backups-{columns}")


@pytest.mark.parametrize("columns", WIDTHS)
def test_a_journal_that_is_followed_in_a_terminal_ends_with_ctrl_c(made: Place, columns: int) -> None:
    line = "journal tiny --follow --scene 1/1 --media image"
    with Started(shlex.split(line), made.folder, HOME, terminal=(columns, LINES)) as following:
        following.until_said("READY ready")
        following.type("\x03")
        code = following.wait()
        told = told_of(line, Ran(code, following.out.replace("^C", ""), following.err, 0.0), columns)
    _kept(told, f"following-{columns}")


def _all_told(place: Place, lines: list[str] | tuple[str, ...], columns: int) -> str:
    return "".join(
        told_of(line, run(*shlex.split(line), cwd=place.folder, env=HOME, terminal=(columns, LINES)), columns)
        for line in lines
    )


def _kept(told: str, name: str) -> None:
    assert "Traceback" not in told
    compared(told, TRANSCRIPTS / f"{name}.txt")
