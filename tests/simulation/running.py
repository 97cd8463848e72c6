"""Runs seeds: one or many, in as many processes as there are cores; replays them, shrinks those that fail, counts.

A run depends on its seed alone, as long as the order of sets of strings does: so hashing is fixed for this program.
"""

from __future__ import annotations

import argparse
import gc
import os
import signal
import sys
import time
import traceback
from collections import Counter, deque
from collections.abc import Collection, Generator, Iterable, Iterator, Sequence
from concurrent.futures import Future, ProcessPoolExecutor
from dataclasses import dataclass, field
from itertools import islice

import structlog

from .expected import missing
from .world import World

CHUNK = 4  # seeds that a process takes at a time
SHRINK_S = 90.0
PROGRESS_S = 30.0  # between two lines that say how far it is
LEAST_STEPS, LEAST_FAULTS = 500, 3


@dataclass
class Report:
    """What a run came to. `error`: why it failed, in one line; empty when all was well."""

    seed: int
    error: str = ""
    steps: int = 0
    storm_steps: int = 0
    looks: int = 0
    elapsed: float = 0.0
    runs: int = 0
    counts: dict[str, Counter[str]] = field(default_factory=dict)
    happened: list[tuple[int, str, str]] = field(default_factory=list)
    trace: list[str] = field(default_factory=list)

    @property
    def kind(self) -> str:
        """What of an error stays the same while its run shrinks."""
        return self.error.partition(":")[0]


def run(
    seed: int,
    *,
    without: Collection[str] = (),
    only: Collection[str] | None = None,
    steps: int | None = None,
    trace: bool = False,
) -> Report:
    """One run. `without`: faults that do not come; `only`: those that alone may come."""
    world = World(seed, without=without, only=only, steps=steps, trace=trace)
    report = Report(seed)
    try:
        world.run()
        if only is None and not without:
            _require_life(world)
    except (Exception, world.broken) as error:  # noqa: BLE001 - this is what runs are for
        report.error = " ".join(f"{type(error).__name__}: {error}".split()).removeprefix("Broken: ")
        if trace:
            report.trace = traceback.format_exc().splitlines()[-6:]
    report.steps, report.storm_steps, report.elapsed = world.loop.steps, world.storm_steps, world.loop.elapsed
    report.looks, report.runs, report.happened = world.watch.looks, world.oracle.runs, world.dice.happened
    report.counts = {
        "faults and people": Counter(world.dice.came),
        "transitions": world.watch.transitions,
        "ends of dispatches": world.watch.endings,
        "the journal": world.watch.told,
        "coordination": world.watch.answers,
        "answers to workers": world.oracle.answers,
    }
    report.trace = (world.watch.trace or []) + report.trace
    return report


def _require_life(world: World) -> None:
    """A run that only idles does not count."""
    faults = sum(number for name, number in world.dice.came.items() if not name.startswith("user"))
    if world.storm_steps < LEAST_STEPS or faults < LEAST_FAULTS:
        raise AssertionError(f"only {world.storm_steps} steps and {faults} faults: this seed has shown nothing")


def several(seeds: Sequence[int]) -> list[Report]:
    """Some runs in this process; what is not needed any more is left out."""
    prepare()
    reports = []
    for seed in seeds:
        report = run(seed)
        report.happened = report.happened if report.error else []
        reports.append(report)
        gc.collect(1)
    return reports


def many(seeds: Iterable[int], processes: int) -> Generator[Report, None, None]:
    """Runs in several processes."""
    if processes == 1:
        for seed in seeds:
            yield from several([seed])
        return
    rest = iter(seeds)
    with ProcessPoolExecutor(processes, initializer=signal.signal, initargs=(signal.SIGINT, signal.SIG_IGN)) as pool:
        ahead: deque[Future[list[Report]]] = deque()
        try:
            while True:
                while len(ahead) < 2 * processes and (chunk := list(islice(rest, CHUNK))):
                    ahead.append(pool.submit(several, chunk))
                if not ahead:
                    return
                yield from ahead.popleft().result()
        finally:
            pool.shutdown(cancel_futures=True)


def prepare() -> None:
    """The worker's log, and looking for garbage, would take most of the time."""
    structlog.configure(
        wrapper_class=structlog.make_filtering_bound_logger(50), logger_factory=structlog.ReturnLoggerFactory()
    )
    gc.freeze()
    gc.set_threshold(50_000, 20, 50)


# --- shrinking ---


def shrink(failed: Report, seconds: float = SHRINK_S) -> Report:
    """A run that fails in the same way with as few faults and deeds as can be found in some time."""
    best, keep = failed, [key for _, key, _ in failed.happened]
    until, size = time.monotonic() + seconds, max(1, len(keep) // 2)
    while size and time.monotonic() < until:
        at, got_smaller = 0, False
        while at < len(keep) and time.monotonic() < until:
            fewer = keep[:at] + keep[at + size :]
            tried = run(failed.seed, only=fewer)
            if tried.kind == failed.kind:
                best, got_smaller = tried, True
                keep = [key for _, key, _ in tried.happened]
            else:
                at += size
        size = size if got_smaller and size == 1 else size // 2
    return best


def command_of(report: Report) -> str:
    """How to see it again."""
    only = ",".join(key.replace(" ", "_") for _, key, _ in report.happened)
    return f"make simulate SEED={report.seed} ONLY={only}"


# --- telling ---


def table(counts: dict[str, Counter[str]]) -> str:
    """How often everything occurred."""
    lines = []
    for group, counter in counts.items():
        lines.append(f"{group}:")
        lines += [f"  {number:9}  {name}" for name, number in sorted(counter.items())]
    return "\n".join(lines)


def main(arguments: Sequence[str] | None = None) -> int:
    """The command line."""
    if os.environ.get("PYTHONHASHSEED") != "0":
        os.environ["PYTHONHASHSEED"] = "0"
        os.execv(sys.executable, [sys.executable, "-m", "simulation", *sys.argv[1:]])
    options = _options(arguments)
    prepare()
    if options.seed is not None:
        return _one(options)
    return _many(options)


def _options(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="simulation", description="Run the simulator.")
    parser.add_argument("--seed", type=int, help="run this one, and tell its story")
    parser.add_argument("--only", default=None, help="keys of what alone may happen, as a shrunk run names them")
    parser.add_argument("--steps", type=int, default=None, help="how long the storm lasts")
    parser.add_argument("--shrink", action="store_true", help="look for a shorter story that fails in the same way")
    parser.add_argument("--seeds", type=int, default=100, help="how many")
    parser.add_argument("--first", type=int, default=0, help="from which on")
    parser.add_argument("--seconds", type=float, default=None, help="begin no seed after so long")
    parser.add_argument("--processes", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--stop", action="store_true", help="end at the first seed that fails")
    parser.add_argument("--quiet", action="store_true", help="neither the table nor a shorter story")
    parser.add_argument("--complete", action="store_true", help="every fault and transition must have occurred")
    return parser.parse_args(arguments)


def _one(options: argparse.Namespace) -> int:
    only = None if options.only is None else [one.replace("_", " ") for one in options.only.split(",") if one]
    report = run(options.seed, only=only, steps=options.steps, trace=not options.shrink)
    if options.shrink and report.error:
        report = shrink(report)
        report = run(options.seed, only=[key for _, key, _ in report.happened], trace=True)
    print("\n".join(report.trace))
    print(f"seed {report.seed}: {report.steps} steps, {report.elapsed:.1f} s, {report.error or 'all is well'}")
    if report.error:
        print(command_of(report))
    return int(bool(report.error))


def _so_far(done: int, seeds: int, failed: int, took: float) -> str:
    left = took / done * (seeds - done)
    return f"{done} of {seeds} seeds in {_clock(took)}, {failed} failed; about {_clock(left)} to go"


def _clock(seconds: float) -> str:
    """Hours, minutes and seconds, such as 1:05:09."""
    minutes, rest = divmod(round(seconds), 60)
    return f"{minutes // 60}:{minutes % 60:02}:{rest:02}"


def _many(options: argparse.Namespace) -> int:
    began, steps, looks, done = time.monotonic(), 0, 0, 0
    total: dict[str, Counter[str]] = {}
    failed: list[Report] = []

    def seeds() -> Iterator[int]:
        for seed in range(options.first, options.first + options.seeds):
            if options.seconds is not None and time.monotonic() - began > options.seconds:
                return
            if failed and options.stop:
                return
            yield seed

    told_at = began
    reports = many(seeds(), options.processes)
    try:
        for report in reports:
            done, steps, looks = done + 1, steps + report.steps, looks + report.looks
            for group, counter in report.counts.items():
                total.setdefault(group, Counter()).update(counter)
            if report.error:
                failed.append(report)
                print(f"seed {report.seed} fails at step {report.steps}: {report.error}", flush=True)
            if time.monotonic() - told_at > PROGRESS_S:
                told_at = time.monotonic()
                print(_so_far(done, options.seeds, len(failed), told_at - began), file=sys.stderr, flush=True)
    except KeyboardInterrupt:
        print(f"interrupted: {options.seeds - done} seeds were not run", flush=True)
        options.complete = False
    finally:
        reports.close()
    took = time.monotonic() - began
    if not options.quiet:
        print(table(total))
    print(
        f"{done} seeds from {options.first} on, {len(failed)} failed; {steps} steps, {looks} looks at invariants in "
        f"{took:.1f} s ({_clock(took)}): {steps / took / options.processes:.0f} steps/s on each of "
        f"{options.processes} cores"
    )
    if failed and not options.quiet:
        shrunk = shrink(failed[0])
        print(f"seed {shrunk.seed}, shrunk to {len(shrunk.happened)} events: {shrunk.error}")
        print("\n".join(f"  step {step}: {key} ({what})" for step, key, what in shrunk.happened))
        print(command_of(shrunk))
    absent = missing(total) if options.complete else []
    if absent:
        print("never occurred: " + ", ".join(absent))
    return int(bool(failed or absent))
