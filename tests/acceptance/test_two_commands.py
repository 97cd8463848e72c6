"""Several commands on one home at the same time: one drives it, the others hand their work over (CONTRACT 11)."""

from __future__ import annotations

import json
import signal
from pathlib import Path

from gate import Gate
from place import Place
from program import Started, run, working_in
from tiny_book import SHORT, SIZE, artifacts_of, read, write_book

FILES = {"tiny.mp4", "tiny.vtt", "tiny.m4b"}


def _held(place: Place) -> str:
    return f"Another process is working on {place.home}; it carries this out."


def test_while_a_home_is_held_every_command_is_served_by_its_holder(place: Place) -> None:
    other, gate = _other_book(place), Gate(place)
    with place.start(env=gate.environment) as holder:
        place.until_at_work(holder)
        with place.start("--out", str(place.folder / "second")) as second:
            second.until_said(_held(place))
            told = run("status", "--home", place.home, cwd=place.folder)
            brought = run("import", other, "--size", SIZE, "--home", place.home, cwd=place.folder)
            early = run("export", "tiny", "--film", "--home", place.home, cwd=place.folder)
            gate.open()
            assert second.wait() == 0, second.err
        assert holder.wait() == 0, holder.err
    assert "being made now." in told.out
    assert (brought.code, brought.out.splitlines()[0]) == (0, _held(place))
    assert (early.code, early.out.splitlines()[0]) == (6, _held(place))
    assert read(place.home, "SELECT count(*) FROM book") == [(2,)]
    assert {path.name for path in place.out.iterdir()} == FILES
    assert {path.name for path in (place.folder / "second").iterdir()} == FILES
    assert read(place.home, "SELECT count(*) FROM dispatch WHERE outcome IS NULL") == [(0,)]
    assert working_in(place.folder) == []


def test_a_waiter_takes_over_from_a_holder_that_was_killed(place: Place) -> None:
    with place.start(env=Gate(place).environment) as holder:
        place.until_at_work(holder)
        with place.start() as waiter:
            waiter.until_said(_held(place))
            waiter.until_said("%")
            holder.send(signal.SIGKILL)
            assert holder.wait() == -signal.SIGKILL
            assert holder.survivors() == []
            assert waiter.wait() == 0, waiter.err
    assert "Done in" in waiter.out
    assert len(artifacts_of(place.home)) == 9
    assert {path.name for path in place.out.iterdir()} == FILES
    assert working_in(place.folder) == []


def test_a_waiter_that_is_stopped_leaves_the_holder_at_work(place: Place) -> None:
    write_book(place.book, SHORT)
    gate = Gate(place)
    with place.start(env=gate.environment) as holder:
        holder.until_said("%")
        with place.start() as waiter:
            waiter.until_said("%")
            waiter.send(signal.SIGINT)
            assert waiter.wait() == 130
        gate.open()
        assert holder.wait() == 0, holder.err
    assert "Done in" in holder.out


def test_a_holder_that_has_finished_goes_on_while_others_wait(place: Place) -> None:
    gate, other = Gate(place), _other_book(place)
    with place.start("--media", "image", env=gate.environment) as holder:
        holder.until_said("%")
        holder.send(signal.SIGSTOP)  # it has not finished before the other has come
        with Started(("make", other, "--size", SIZE, "--home", place.home), place.folder) as waiter:
            waiter.until_said(_held(place))
            holder.send(signal.SIGCONT)
            holder.until_said("Others wait for this home: going on until their work is done.")
            gate.open()
            assert waiter.wait() == 0, waiter.err
        assert holder.wait() == 0
    assert holder.out.splitlines()[-1].startswith("Done in")
    assert {path.name for path in place.out.iterdir()} == {f"tiny-other.{kind}" for kind in ("mp4", "vtt", "m4b")}


def _other_book(place: Place) -> Path:
    book = write_book(place.folder / "other", SHORT)
    manifest = json.loads((book / "manifest.json").read_text())
    (book / "manifest.json").write_text(json.dumps({**manifest, "book_id": "other"}))
    return book
