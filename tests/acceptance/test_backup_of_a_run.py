"""A backup taken while a book is being made becomes another home, which goes on and makes nothing twice."""

from __future__ import annotations

import json
import shutil
import signal
import sqlite3
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path

import pytest
from place import Place
from program import run, until
from tiny_book import read, write_book

NUMBERS = ("dos", "tres", "cuatro", "cinco", "seis", "siete", "ocho", "nueve")
ERA = "SELECT value FROM meta WHERE name = 'era'"


@dataclass(frozen=True)
class Other:
    """Another home of the same book."""

    place: Place
    name: str

    @property
    def home(self) -> Path:
        return self.place.folder / self.name

    @property
    def command(self) -> tuple[str | Path, ...]:
        """Make the book there."""
        made = [*self.place.making]
        made[made.index("--home") + 1] = self.home
        made[made.index("--out") + 1] = self.place.folder / f"{self.name}-out"
        return tuple(made)


def _ready(home: Path) -> set[str]:
    """The checksums of all parts and assets that are READY."""
    assets = "SELECT artifact FROM asset WHERE state = 4 AND artifact <> ''"
    return {row[0] for row in read(home, f"{assets} UNION SELECT artifact FROM part WHERE state = 1")}


def _parts(home: Path) -> set[str]:
    """The hashes of the parts that are READY, of a home that may just be coming into being."""
    try:
        return {hash_ for (hash_,) in read(home, "SELECT hash FROM part WHERE state = 1")}
    except sqlite3.OperationalError:
        return set()


def _begun(log: Path) -> set[str]:
    """The hashes that a backend has begun."""
    lines = [json.loads(line) for line in log.read_text().splitlines()] if log.exists() else []
    return {line["hash"] for line in lines if line["event"] == "start"}


def test_a_backup_in_mid_run_restores_and_what_was_ready_is_not_made_again(place: Place) -> None:
    scenes = [[f"Ana cuenta {n} {what}." for what in ("casas", "barcos", "flores")] for n in NUMBERS]
    write_book(place.book, [scenes[:4], scenes[4:]])
    with place.start("--json", "--media", "audio,image", env={"ANIMASTOR_JOBS": "1"}) as making:
        until(lambda: len(_parts(place.home)) >= 3, "some parts")
        for target in ("backup", "backup.tar"):
            ran = run("backup", target, "--home", place.home, cwd=place.folder)
            assert ran.code == 0, ran.err
        making.send(signal.SIGKILL)
    for target in ("backup", "backup.tar"):
        other = Other(place, f"of-{target}")
        ran = run("restore", target, "--home", other.home, cwd=place.folder)
        assert ran.code == 0, ran.err
        files = {path.name.partition(".")[0]: path for path in (other.home / "artifacts").glob("??/*")}
        ready = _ready(other.home)
        assert all(sha256(files[checksum].read_bytes()).hexdigest() == checksum for checksum in ready)
        assert read(other.home, "SELECT id FROM ticket_key") == []
        assert read(other.home, "SELECT id FROM journal") != []
    other, log = Other(place, "of-backup"), place.folder / "backends.jsonl"
    parts, era = _parts(other.home), read(other.home, ERA)
    assert len(parts) >= 3
    assert read(other.home, "SELECT id FROM asset WHERE state IN (1, 2)"), "it was taken while the book was being made"
    ran = run(*other.command, "--media", "audio,image", cwd=place.folder, env={"ANIMASTOR_BACKEND_LOG": str(log)})
    assert ran.code == 0, ran.err
    assert _begun(log)
    assert _begun(log).isdisjoint(parts)
    assert not read(other.home, "SELECT id FROM asset WHERE state <> 4 AND media <> 'video'")
    assert read(other.home, ERA) > era >= read(place.home, ERA)


def test_a_home_with_data_is_replaced_only_when_told_and_what_it_was_stays_beside_it(made: Place) -> None:
    assert run("backup", "backup", "--home", made.home, cwd=made.folder).code == 0
    ran = run("restore", "backup", "--home", made.home, cwd=made.folder)
    assert (ran.code, ran.err) == (
        4,
        f"{made.home} is a home already: name another with --home, or add --replace to replace it.\n",
    )
    assert run("restore", "backup", "--replace", "--home", made.home, cwd=made.folder).code == 0
    assert (made.home / "animastor.db.replaced").exists()
    log = made.folder / "backends.jsonl"
    assert made.make(env={"ANIMASTOR_BACKEND_LOG": str(log)}).code == 0
    assert _begun(log) == set()


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (("restore", "nothing"), "There is no backup at nothing."),
        (("restore", "book"), "The folder book holds no backup."),
        (("backup", "book"), "The folder book holds other things: name a new folder, or one with a backup."),
    ],
)
def test_what_cannot_be_done_is_said_in_one_sentence(made: Place, arguments: tuple[str, ...], told: str) -> None:
    home = made.home if arguments[0] == "backup" else made.folder / "new"
    ran = run(*arguments, "--home", home, cwd=made.folder)
    assert (ran.code, ran.err) == (4, f"{told}\n")


def test_a_home_that_is_driven_is_not_restored_into(
    place: Place, made_once: tuple[Place, object], tmp_path: Path
) -> None:
    finished = tmp_path / "finished"
    shutil.copytree(made_once[0].home, finished)  # a backup leaves its mark in the home
    assert run("backup", "backup", "--home", finished, cwd=place.folder).code == 0
    with place.start("--json") as making:
        until((place.home / "animastor.db").exists, "a home")
        ran = run("restore", "backup", "--replace", "--home", place.home, cwd=place.folder)
        assert (ran.code, "Another process is working on" in ran.err) == (4, True)
        assert not making.ended()
