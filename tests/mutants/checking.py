"""Puts one fault after the other into a copy of the program, and says who noticed it.

A fault that names tests must make one of them fail; for any other the simulator must find a seed. A replacement that
does not apply exactly once, or a fault that nobody notices, fails the run.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from .faults import FAULTS, Mutant

TESTS = Path(__file__).resolve().parents[1]
SOURCE = TESTS.parent / "src" / "animastor"
SEEDS, CHUNK = 600, 12


class DoesNotApplyError(Exception):
    """Raised when a fault's text is not there exactly once."""


@dataclass(frozen=True)
class Caught:
    """Who noticed a fault; nobody when `by` is empty. `seeds`: how many the simulator needed."""

    mutant: Mutant
    by: str = ""
    seeds: int = 0
    why: str = ""
    took: float = 0.0


def apply(mutant: Mutant, copy: Path) -> None:
    """Put a fault into a copy of the package. Raises `DoesNotApplyError`."""
    for file, old, new in (*((mutant.file, old, new) for old, new in mutant.changes), *mutant.also):
        path = copy / file
        text = path.read_text()
        if text.count(old) != 1:
            raise DoesNotApplyError(f"{mutant.name}: {file} holds {text.count(old)} times {old!r}")
        changed = text.replace(old, new)
        compile(changed, str(path), "exec")
        path.write_text(changed)


def check(mutant: Mutant, seeds: int, *, simulate: bool) -> Caught:
    """Who notices. `simulate`: let the simulator try also where tests are named."""
    began = time.monotonic()
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder) / "animastor"
        shutil.copytree(SOURCE, copy, ignore=shutil.ignore_patterns("__pycache__"))
        apply(mutant, copy)
        environment = {
            **os.environ, "PYTHONPATH": f"{folder}{os.pathsep}{TESTS}", "PYTHONHASHSEED": "0",
            "PYTHONDONTWRITEBYTECODE": "1",
        }  # fmt: skip
        if mutant.tests and (failed := _tests_fail(mutant.tests, environment)):
            return Caught(mutant, failed, why="a named test fails", took=time.monotonic() - began)
        if not mutant.tests or simulate:
            found = _simulator_fails(seeds, environment)
            if found is not None:
                return Caught(mutant, "the simulator", *found, took=time.monotonic() - began)
    return Caught(mutant, took=time.monotonic() - began)


def _tests_fail(tests: Sequence[str], environment: dict[str, str]) -> str:
    """The first test that fails, by its name."""
    ran = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-x", "-p", "no:cacheprovider", *(str(TESTS / one) for one in tests)],
        env=environment,
        cwd=TESTS.parent,
        capture_output=True,
        text=True,
        check=False,
    )
    for line in ran.stdout.splitlines():
        if line.startswith(("FAILED ", "ERROR ")):
            return line.split()[1].rpartition("/")[2]
    return ""


def _simulator_fails(seeds: int, environment: dict[str, str]) -> tuple[int, str] | None:
    """How many seeds were needed, and what the last of them said."""
    ran = subprocess.run(
        [sys.executable, "-m", "simulation", "--seeds", str(seeds), "--stop", "--quiet"],
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    for line in ran.stdout.splitlines():
        if line.startswith("seed ") and " fails " in line:
            return int(line.split()[1]) + 1, line.partition(": ")[2]
    if ran.returncode:
        return 1, ran.stderr.strip().splitlines()[-1]
    return None


def line_of(caught: Caught) -> str:
    """A row of the table."""
    by = caught.by or "NOBODY"
    seeds = str(caught.seeds) if caught.seeds else "-"
    return f"{caught.mutant.name[:66]:66}  {by[:60]:60}  {seeds:>5}  {caught.took:5.0f} s  {caught.why[:90]}"


def main() -> int:
    """The command line."""
    parser = argparse.ArgumentParser(prog="mutants", description="See who notices deliberate faults.")
    parser.add_argument("words", nargs="*", help="only faults whose names hold one of these")
    parser.add_argument("--seeds", type=int, default=SEEDS, help="how many the simulator may try")
    parser.add_argument("--simulate", action="store_true", help="let the simulator try every fault")
    options = parser.parse_args()
    chosen = [one for one in FAULTS if not options.words or any(word in one.name for word in options.words)]
    print(f"{'fault':66}  {'caught by':60}  seeds")
    missed = 0
    for mutant in chosen:
        caught = check(mutant, options.seeds, simulate=options.simulate)
        missed += not caught.by
        print(line_of(caught), flush=True)
    print(f"{len(chosen)} faults, {missed} not noticed")
    return int(bool(missed))
