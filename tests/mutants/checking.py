"""Puts one fault after the other into a copy of the program, and says who noticed it.

A fault that names tests must make one of them fail; for any other the simulator must find a seed. A replacement that
does not apply exactly once, a fault with which nothing runs at all, and one that nobody notices fail the run; so does
a named test or a seed that fails without any fault, as it shows nothing. The program itself is never touched.
"""

from __future__ import annotations

import argparse
import compileall
import os
import shutil
import signal
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from .commands import Commands
from .faults import FAULTS
from .mutant import Mutant

TESTS = Path(__file__).resolve().parents[1]
SOURCE = TESTS.parent / "src" / "animastor"
SEEDS = 200  # that the simulator may try
LIMIT_S = 900.0  # for one fault: what takes longer hangs
WITHOUT = "without any fault"


class UnusableError(Exception):
    """Raised for a fault that says nothing about who watches: it does not apply, or nothing runs with it."""


@dataclass(frozen=True)
class Caught:
    """Who noticed a fault; nobody when `by` is empty. `seeds`: how many the simulator needed; `took`: seconds."""

    name: str
    by: str = ""
    seeds: int = 0
    why: str = ""
    took: float = 0.0


def apply(mutant: Mutant, copy: Path) -> None:
    """Put a fault into a copy of the package. Raises `UnusableError`."""
    for file, old, new in (*((mutant.file, old, new) for old, new in mutant.changes), *mutant.also):
        path = copy / file
        text = path.read_text()
        if text.count(old) != 1:
            raise UnusableError(f"{file} holds {text.count(old)} times {old!r}")
        changed = text.replace(old, new)
        if path.suffix == ".py":
            compile(changed, str(path), "exec")
        path.write_text(changed)
        for compiled in (path.parent / "__pycache__").glob(f"{path.stem}.*.pyc"):
            compiled.unlink()


class Checks:
    """Tries faults in copies under a folder, each with what is to notice it; several at a time."""

    def __init__(self, folder: Path, seeds: int, *, simulate: bool) -> None:
        """`seeds`: that the simulator may try; `simulate`: also where the named tests let a fault pass."""
        self._folder, self._seeds, self._simulate = folder, seeds, simulate
        self.commands = Commands(TESTS.parent)
        self._whole = folder / "whole"
        shutil.copytree(SOURCE, self._whole / "animastor", ignore=shutil.ignore_patterns("__pycache__"))
        compileall.compile_dir(str(self._whole), quiet=2)

    def check(self, number: int, mutant: Mutant) -> Caught:
        """Who notices a fault."""
        began = time.monotonic()
        place = self._folder / str(number)
        try:
            shutil.copytree(self._whole, place)
            apply(mutant, place / "animastor")
            by, seeds, why = self._noticed(mutant, place)
        except UnusableError as error:
            by, seeds, why = "", 0, str(error)
        finally:
            shutil.rmtree(place, ignore_errors=True)
        return Caught(mutant.name, by, seeds, why, time.monotonic() - began)

    def without_fault(self, tests: Sequence[str], seeds: int) -> Caught:
        """Who complains of the program as it is. Nobody should."""
        began = time.monotonic()
        try:
            by, seed, why = self._test_fails(tests, self._whole, 4 * LIMIT_S) if tests else "", 0, ""
            if not by and seeds:
                by, seed, why = self._seed_fails(self._whole, seeds, os.cpu_count() or 1)
        except UnusableError as error:
            by, seed, why = "nothing runs", 0, str(error)
        return Caught(WITHOUT, by, seed, why, time.monotonic() - began)

    def _noticed(self, mutant: Mutant, place: Path) -> tuple[str, int, str]:
        if mutant.tests and (failed := self._test_fails(mutant.tests, place, LIMIT_S)):
            return failed, 0, ""
        if mutant.tests and not self._simulate:
            return "", 0, "the named tests pass"
        return self._seed_fails(place, self._seeds, 1)

    def _test_fails(self, tests: Sequence[str], place: Path, seconds: float) -> str:
        """The first test that fails, by its name; empty when all pass."""
        named = [str(TESTS / one) for one in tests]
        ran = self.commands.run(
            ["-m", "pytest", "-q", "-x", "-p", "no:cacheprovider", "--timeout=60", *named], _environment(place), seconds
        )
        if ran.code == 0:
            return ""
        if ran.code != 1:
            raise UnusableError(f"the tests do not run: {ran.last_words or 'they hang'}")
        line = next(line for line in ran.out.splitlines() if line.startswith(("FAILED ", "ERROR ")))
        return line.split()[1].rpartition("/")[2]

    def _seed_fails(self, place: Path, seeds: int, processes: int) -> tuple[str, int, str]:
        """Who, how many seeds were needed, and what the last of them said."""
        ran = self.commands.run(
            ["-m", "simulation", "--seeds", str(seeds), "--stop", "--quiet", "--processes", str(processes)],
            _environment(place), LIMIT_S,
        )  # fmt: skip
        for line in ran.out.splitlines():
            if line.startswith("seed ") and " fails " in line:
                return "the simulator", int(line.split()[1]) + 1, line.partition(": ")[2]
        if ran.code is None:
            return "", 0, f"the simulator found nothing in {LIMIT_S:.0f} s"
        if ran.code:
            raise UnusableError(f"the simulator does not run: {ran.last_words}")
        return "", 0, f"{seeds} seeds are clean"


def _environment(place: Path) -> Mapping[str, str]:
    paths = f"{place}{os.pathsep}{TESTS}"
    return {**os.environ, "PYTHONPATH": paths, "PYTHONHASHSEED": "0", "PYTHONDONTWRITEBYTECODE": "1"}


def line_of(caught: Caught) -> str:
    """A row of the table."""
    seeds = str(caught.seeds) if caught.seeds else "-"
    by = caught.by or "NOBODY"
    return f"{caught.name[:72]:72}  {by[:88]:88}  {seeds:>5}  {caught.took:4.0f} s  {caught.why[:100]}".rstrip()


def table(checks: Checks, chosen: Sequence[Mutant], processes: int) -> bool:
    """Print the table; whether every fault was noticed, by who has nothing to say without it."""
    began = time.monotonic()
    print(f"{'fault':72}  {'caught by':88}  seeds    took")
    found: list[Caught] = []
    with ThreadPoolExecutor(processes) as pool:
        try:
            for caught in pool.map(checks.check, range(len(chosen)), chosen):
                found.append(caught)
                print(line_of(caught), flush=True)
            most = max(one.seeds for one in found)
            control = checks.without_fault(sorted({test for one in chosen for test in one.tests}), most)
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            checks.commands.end()
            raise
    if control.by:
        print(line_of(control))
    missed = sum(not one.by for one in found)
    seeds = sum(one.seeds > 0 for one in found)
    print(
        f"{len(found)} faults: {len(found) - missed - seeds} noticed by a named test, {seeds} by the simulator in "
        f"{most} seeds at most, {missed} by nobody; {time.monotonic() - began:.0f} s"
    )
    return not missed and not control.by


@contextmanager
def _ended_by_signals() -> Iterator[None]:
    """SIGTERM and SIGHUP end a run as Ctrl-C does: with nothing left behind."""
    numbers = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
    before = {number: signal.signal(number, signal.default_int_handler) for number in numbers}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def main() -> int:
    """The command line."""
    parser = argparse.ArgumentParser(prog="mutants", description="See who notices deliberate faults.")
    parser.add_argument("words", nargs="*", help="only faults whose names hold one of these")
    parser.add_argument("--seeds", type=int, default=SEEDS, help="how many the simulator may try")
    parser.add_argument("--simulate", action="store_true", help="let the simulator try what the named tests let pass")
    parser.add_argument("--processes", type=int, default=os.cpu_count() or 1, help="how many faults at a time")
    options = parser.parse_args()
    chosen = [one for one in FAULTS if not options.words or any(word in one.name for word in options.words)]
    if not chosen:
        parser.error("no fault has such a name")
    try:
        with _ended_by_signals(), tempfile.TemporaryDirectory(prefix="mutants-") as folder:
            return int(
                not table(Checks(Path(folder), options.seeds, simulate=options.simulate), chosen, options.processes)
            )
    except KeyboardInterrupt:
        print("interrupted: nothing of the program was changed")
        return 130
