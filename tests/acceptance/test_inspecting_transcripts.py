"""What the commands that look into a home say, word for word, in terminals of 60 and 140 columns and in a pipe."""

from __future__ import annotations

import re

import pytest
from place import Place
from program import run

WIDTHS = (60, 140)
TRANSCRIPTS = {
    ("explain", "tiny"): """
Tiny (tiny), audio: 3 of 3 scenes ready.
Tiny (tiny), image: 3 of 3 scenes ready.
Tiny (tiny), video: 3 of 3 scenes ready.
Nobody is working on this home.
""",
    ("explain", "tiny", "2", "video"): """
Video of scene 1/2 is ready.
Nobody is working on this home.
""",
    ("journal", "tiny", "--scene", "1", "--media", "image"): """
# TIME 1/1 image: REQUESTED pending (requested)
# TIME 1/1 image: DISPATCHED generating
# TIME 1/1 image: PART_ACCEPTED generating (accepted; kind picture, hash HASH…)
# TIME 1/1 image: PART_ACCEPTED generating (accepted; kind picture, hash HASH…)
# TIME 1/1 image: READY ready (accepted)
""",
    ("journal", "--replay"): """
The journal, replayed, gives what the tables hold: 9 ready.
""",
    ("takes", "tiny", "c1-s1-u1"): """
take part state size length
HASH audio speech wanted SIZE SIZE
HASH image picture wanted SIZE 128x72
HASH video shot wanted SIZE SIZE
""",
    ("du",): """
book what files size
tiny audio merge 3 SIZE
tiny audio speech 6 SIZE
tiny image picture 6 SIZE
tiny video merge 3 SIZE
tiny video shot 3 SIZE
Finished parts: 21 files, SIZE. All of them are used or kept.
Beside them: database SIZE.
""",
    ("gc",): """
There is nothing to delete: all finished parts are used, or kept for a while.
""",
}


def _plain(text: str) -> str:
    """Without colours, and with what differs between machines and runs under a common name."""
    bare = re.sub(r"\x1b\[[0-9;]*m", "", text).replace("\r", "")
    for pattern, name in (
        (r"(?m)^\d+ \d\d-\d\d \d\d:\d\d:\d\d", "# TIME"),
        (r"\b\d+(\.\d+)? (KB|MB|bytes|s)\b", "SIZE"),
        (r"\b[0-9a-f]{8,12}\b", "HASH"),
        (r"(?m)^ +|(?<=\S) +", " "),
    ):
        bare = re.sub(pattern, name, bare)
    return "\n" + "\n".join(line.strip() for line in bare.strip().splitlines()) + "\n"


@pytest.mark.parametrize("arguments", TRANSCRIPTS, ids=" ".join)
def test_the_same_is_said_at_any_width_and_in_a_pipe(made: Place, arguments: tuple[str, ...]) -> None:
    wanted = TRANSCRIPTS[arguments]
    piped = run(*arguments, "--home", made.home, cwd=made.folder)
    assert (piped.code, piped.err) == (0, "")
    assert _plain(piped.out) == wanted
    for columns in WIDTHS:
        shown = run(*arguments, "--home", made.home, cwd=made.folder, terminal=(columns, 40))
        assert shown.code == 0
        assert _plain(shown.out).split() == wanted.split()  # lines break where the terminal ends


def test_tables_fit_into_sixty_columns(made: Place) -> None:
    for arguments in (("takes", "tiny", "c1-s1-u1"), ("du",)):
        told = run(*arguments, "--home", made.home, cwd=made.folder)
        assert max(len(line) for line in told.out.splitlines()[:4]) <= 60
