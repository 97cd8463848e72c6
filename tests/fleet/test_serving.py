"""Several processes on one PostgreSQL and one Valkey, as an operator starts them."""

from __future__ import annotations

import json
from pathlib import Path

from fleet import Fleet

TALE = Path(__file__).parents[2] / "examples" / "tale"


def test_two_servers_make_the_sound_of_a_book_that_other_processes_bring_and_ask_for(fleet: Fleet) -> None:
    log = fleet.folder / "backends.log"
    one, two = (fleet.serve("--jobs", "1", ANIMASTOR_BACKEND_LOG=str(log)) for _ in range(2))
    imported = fleet.run("import", TALE)
    assert imported.code == 0, imported.err
    made = fleet.run("make", TALE, "--media", "audio", "--out", fleet.folder / "out")
    assert made.code == 0, made.err
    assert [path.suffix for path in (fleet.folder / "out").iterdir() if path.suffix == ".m4b"] == [".m4b"]
    assert {state for (state,) in fleet.rows("SELECT state FROM asset WHERE media = 'audio'")} == {4}
    started = [line for line in map(json.loads, log.read_text().splitlines()) if line["event"] == "start"]
    assert len({line["hash"] for line in started}) == len(started), "something was made twice"
    assert len({line["pid"] for line in started}) >= 2, "one of them did all the work"
    assert not one.ended()
    assert not two.ended()
