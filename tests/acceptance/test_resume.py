"""Killed at random moments and started again, a run ends with what an undisturbed run ends with (CONTRACT 17.13).

The moments are uniform over the time of an undisturbed run: one in each of so many equal stretches of it, at random
within the stretch. On a machine that others use a run may be slower than the one that was measured, so a phase that no
moment hit gets a trial of its own, killed at a random moment after that phase has begun.
"""

from __future__ import annotations

import json
import secrets
import signal
import time
from collections import Counter
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from random import Random

import pytest
from journal_check import journal_differences
from place import Place
from program import Started, working_in
from tiny_book import artifacts_of, parts_of, write_book

pytestmark = [pytest.mark.slow, pytest.mark.timeout(1000)]

TRIALS = 20
AT_ONCE = 2
ONE_CHILD = "1"  # so that two trials at once have a core each
PHASES = ("planning", "generating", "merging", "exporting")


@dataclass
class Trial:
    """A run that was killed and then finished: what was going on when it was killed, and what is there at the end."""

    phase: str
    in_work: set[str]  # hashes whose backend had begun and not ended when it was killed
    starts: Counter[str]
    artifacts: set[tuple[str, str, str]]
    parts: set[tuple[str, str]]
    left: Sequence[object]  # processes that outlived the killed one
    files: set[str]
    journal: Sequence[str]  # where the tables are not as it tells


@dataclass
class Run:
    """A run in a place of its own, with the backends' own log."""

    place: Place
    log: Path = field(init=False)

    def __post_init__(self) -> None:
        write_book(self.place.book)
        self.log = self.place.folder / "backends.jsonl"

    def start(self) -> Started:
        env = {"ANIMASTOR_BACKEND_LOG": str(self.log), "ANIMASTOR_JOBS": ONE_CHILD}
        return self.place.start("--json", env=env)

    def lines(self) -> list[dict[str, object]]:
        """What the backends have written."""
        if not self.log.exists():
            return []
        whole = self.log.read_text().rpartition("\n")[0]  # the last one may be being written
        return [json.loads(line) for line in whole.splitlines()]

    def open_work(self) -> dict[str, str]:
        """Hash → kind of what has begun and not ended."""
        found: dict[tuple[object, object], tuple[str, str]] = {}
        for line in self.lines():
            key = (line["hash"], line["claim"])
            if line["event"] == "start":
                found[key] = (str(line["hash"]), str(line["kind"]))
            else:
                found.pop(key, None)
        return dict(found.values())


def _phase(run: Run, out: str) -> str:
    """What a killed run was doing: told by its own words, and by the backends' log."""
    if '"event":"exporting"' in out:
        return "exporting"
    if not run.lines():
        return "planning"
    return "merging" if "merge" in run.open_work().values() else "generating"


def _trial(run: Run, moment: Callable[[Started], None]) -> Trial:
    with run.start() as started:
        moment(started)
        started.send(signal.SIGKILL)
        killed = started.wait()
        left = [*started.survivors(), *working_in(run.place.folder)]
        phase, in_work = (_phase(run, started.out), set(run.open_work())) if killed < 0 else ("over", set())
    with run.start() as again:
        assert again.wait() == 0, again.err
    starts = Counter(str(line["hash"]) for line in run.lines() if line["event"] == "start")
    return Trial(
        phase,
        in_work,
        starts,
        artifacts_of(run.place.home),
        parts_of(run.place.home),
        left,
        {path.name for path in run.place.out.iterdir()},
        journal_differences(run.place.home),
    )


def _at(seconds: float) -> Callable[[Started], None]:
    def wait(started: Started) -> None:
        time.sleep(max(0.0, started.began + seconds - time.monotonic()))

    return wait


def _after(run: Run, phase: str, seconds: float) -> Callable[[Started], None]:
    def wait(started: Started) -> None:
        while not started.ended() and _phase(run, started.out) != phase:
            time.sleep(0.005)
        time.sleep(seconds)

    return wait


def _undisturbed(run: Run) -> tuple[float, dict[str, float]]:
    """Seconds that a run takes, and how long each of its phases lasts at a stretch."""
    with run.start() as started:
        began: dict[str, list[float]] = {}
        seconds = 0.0
        while not started.ended():
            seconds = time.monotonic() - started.began
            began.setdefault(_phase(run, started.out), []).append(seconds)
            time.sleep(0.01)
        assert started.wait() == 0, started.err
        return seconds, {phase: began[phase][-1] - began[phase][0] for phase in began}


def test_killed_at_any_moment_it_goes_on_and_makes_nothing_twice(tmp_path: Path) -> None:
    seed = secrets.randbits(32)
    random = Random(seed)
    print(f"seed {seed}")

    def new(name: str) -> Run:
        (tmp_path / name).mkdir()
        return Run(Place(tmp_path / name))

    with ThreadPoolExecutor(AT_ONCE) as pool:
        whole, beside = new("undisturbed"), new("beside")
        times = list(pool.map(_undisturbed, (whole, beside)))
        seconds, lasting = times[0]
        assert artifacts_of(whole.place.home) == artifacts_of(beside.place.home)
        moments = [(number + random.random()) * seconds / TRIALS for number in range(TRIALS)]
        random.shuffle(moments)
        trials = list(pool.map(lambda one: _trial(new(f"at {one:.4f}"), _at(one)), moments))
    for phase in PHASES:
        while phase not in {trial.phase for trial in trials}:
            run = new(f"{phase} {len(trials)}")
            trials.append(_trial(run, _after(run, phase, random.uniform(0, lasting.get(phase, 0.0) / 4))))
            assert len(trials) < TRIALS + 20, f"no trial hit {phase}"
    hit = Counter(trial.phase for trial in trials)
    print(f"an undisturbed run takes {seconds:.1f} s; the moments hit {dict(hit)}")
    for trial in trials:
        assert trial.left == []
        assert trial.journal == []
        assert trial.artifacts == artifacts_of(whole.place.home)
        assert trial.parts == parts_of(whole.place.home)
        assert trial.files == {"tiny.mp4", "tiny.vtt", "tiny.m4b"}
        twice = {each for each, count in trial.starts.items() if count > 1}
        assert twice <= trial.in_work
        assert all(trial.starts[each] <= 2 for each in twice)
    assert set(hit) >= set(PHASES)
