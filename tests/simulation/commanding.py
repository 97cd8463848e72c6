"""The command line: one seed with its story, or many with how often everything occurred."""

from __future__ import annotations

import argparse
import os
import sys
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path

from coordination_servers import NoServerError

from .coordinating import KINDS, Kind, servers_of
from .expected import missing
from .running import Report, command_of, kind_on, many, prepare, run, shrink

PROGRESS_S = 30.0  # between two lines that say how far it is


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
    try:
        with servers_of(options.store, 1 if options.seed is not None else options.processes) as sockets:
            return _many(options, sockets) if options.seed is None else _one(options, kind_on(sockets))
    except NoServerError as error:
        print(error, file=sys.stderr)
        return 2


def _options(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="simulation", description="Run the simulator.")
    parser.add_argument("--seed", type=int, help="run this one, and tell its story")
    parser.add_argument("--only", default=None, help="keys of what alone may happen, as a shrunk run names them")
    parser.add_argument("--steps", type=int, default=None, help="how long the storm lasts")
    parser.add_argument("--shrink", action="store_true", help="look for a shorter story that fails in the same way")
    parser.add_argument("--seeds", type=int, default=100, help="how many")
    parser.add_argument("--store", choices=KINDS, default=KINDS[0], help="which coordination store")
    parser.add_argument("--least", type=int, default=0, help="so many seeds at least, whatever the time")
    parser.add_argument("--first", type=int, default=0, help="from which on")
    parser.add_argument("--seconds", type=float, default=None, help="begin no seed after so long")
    parser.add_argument("--processes", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--stop", action="store_true", help="end at the first seed that fails")
    parser.add_argument("--quiet", action="store_true", help="neither the table nor a shorter story")
    parser.add_argument("--complete", action="store_true", help="every fault and transition must have occurred")
    return parser.parse_args(arguments)


def _one(options: argparse.Namespace, kind: Kind) -> int:
    only = None if options.only is None else [one.replace("_", " ") for one in options.only.split(",") if one]
    report = run(options.seed, only=only, steps=options.steps, trace=not options.shrink, kind=kind)
    if options.shrink and report.error:
        report = shrink(report, kind)
        report = run(options.seed, only=[key for _, key, _ in report.happened], trace=True, kind=kind)
    print("\n".join(report.trace))
    print(f"seed {report.seed}: {report.steps} steps, {report.elapsed:.1f} s, {report.error or 'all is well'}")
    if report.apart and report.apart not in report.error:
        print(f"the story in memory is another one: {report.apart}")
    if report.error:
        print(command_of(report, kind))
    return int(bool(report.error))


def _so_far(done: int, seeds: int, failed: int, took: float) -> str:
    left = took / done * (seeds - done)
    return f"{done} of {seeds} seeds in {_clock(took)}, {failed} failed; about {_clock(left)} to go"


def _clock(seconds: float) -> str:
    """Hours, minutes and seconds, such as 1:05:09."""
    minutes, rest = divmod(round(seconds), 60)
    return f"{minutes // 60}:{minutes % 60:02}:{rest:02}"


def _many(options: argparse.Namespace, sockets: Sequence[Path]) -> int:
    began, steps, looks, done, apart = time.monotonic(), 0, 0, 0, 0
    total: dict[str, Counter[str]] = {}
    failed: list[Report] = []

    def seeds() -> Iterator[int]:
        for seed in range(options.first, options.first + options.seeds):
            late = options.seconds is not None and time.monotonic() - began > options.seconds
            if late and seed - options.first >= options.least:
                return
            if failed and options.stop:
                return
            yield seed

    told_at = began
    reports = many(seeds(), options.processes, sockets)
    try:
        for report in reports:
            done, steps, looks = done + 1, steps + report.steps, looks + report.looks
            apart += bool(report.apart)
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
    if sockets:
        print(f"{done - apart} of them told the same story on {options.store} and in memory, {apart} another one")
    if failed and not options.quiet:
        kind = kind_on(sockets)
        shrunk = shrink(failed[0], kind)
        print(f"seed {shrunk.seed}, shrunk to {len(shrunk.happened)} events: {shrunk.error}")
        print("\n".join(f"  step {step}: {key} ({what})" for step, key, what in shrunk.happened))
        print(command_of(shrunk, kind))
    absent = missing(total, done) if options.complete else []
    if absent:
        print("never occurred: " + ", ".join(absent))
    return int(bool(failed or absent))
