"""Runs seeds: one or many, in as many processes as there are cores; replays them, shrinks those that fail, counts.

A run depends on its seed alone, as long as the order of sets of strings does: so hashing is fixed for this program.
"""

from __future__ import annotations

import gc
import signal
import time
import traceback
from collections import Counter, deque
from collections.abc import Collection, Generator, Iterable, Sequence
from concurrent.futures import Future, ProcessPoolExecutor
from dataclasses import dataclass, field, replace
from itertools import islice, zip_longest
from multiprocessing import SimpleQueue
from pathlib import Path
from typing import Any

import structlog

from .coordinating import MEMORY, Kind, Valkey
from .watching import Heard
from .world import World

CHUNK = 4  # seeds that a process takes at a time
SHRINK_S = 90.0
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
    heard: list[Heard] = field(default_factory=list)
    apart: str = ""  # where its story leaves the one in memory

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
    kind: Kind = MEMORY,
) -> Report:
    """One run. `without`: faults that do not come; `only`: those that alone may come.

    One on another store must tell the same story as the one in memory.
    """
    report = _run(seed, without, only, steps, trace=trace or kind is not MEMORY, kind=kind)
    if kind is not MEMORY:
        _compare(report, _run(seed, without, only, steps, trace=True, kind=MEMORY))
    return replace(report, trace=report.trace if trace else [], heard=[])


def _run(
    seed: int,
    without: Collection[str],
    only: Collection[str] | None,
    steps: int | None,
    *,
    trace: bool,
    kind: Kind,
) -> Report:
    world = World(seed, without=without, only=only, steps=steps, trace=trace, kind=kind)
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
    report.heard = world.watch.heard
    report.trace = (world.watch.trace or []) + report.trace
    return report


def _compare(report: Report, model: Report) -> None:
    """Say where a run leaves the same one in memory."""
    for ours, theirs in ((report.heard, model.heard), (report.trace, model.trace), (_sums(report), _sums(model))):
        if not report.apart and ours != theirs:
            report.apart = _parting(ours, theirs)
    if report.error:
        report.error += f" (in memory: {model.error or 'all is well'})"
    elif report.apart:
        report.error = f"another story: {report.apart}"


def _parting(ours: Sequence[object], theirs: Sequence[object]) -> str:
    """The first of two rows that is not the same."""
    here, there = next(pair for pair in zip_longest(ours, theirs, fillvalue="the end") if pair[0] != pair[1])
    if not (isinstance(here, tuple) and isinstance(there, tuple) and here[:2] == there[:2]):
        return f"{here}, in memory {there}"
    step, operation = here[:2]
    return (
        f"step {step}: {operation} answers {_different(here[2], there[2])}, in memory {_different(there[2], here[2])}"
    )


def _different(answer: Any, other: Any) -> str:
    """What of an answer is not in the other one."""
    if not (isinstance(answer, tuple) and isinstance(other, tuple)):
        return f"{answer}"
    return ", ".join(str(one) for one in answer if one not in other) or f"{len(answer)}, in another order"


def _sums(report: Report) -> Sequence[object]:
    return (report.steps, report.elapsed, report.counts)


def _require_life(world: World) -> None:
    """A run that only idles does not count."""
    faults = sum(number for name, number in world.dice.came.items() if not name.startswith("user"))
    if world.storm_steps < LEAST_STEPS or faults < LEAST_FAULTS:
        raise AssertionError(f"only {world.storm_steps} steps and {faults} faults: this seed has shown nothing")


_kind_here: Kind = MEMORY  # of the store that the runs of a pool's process have


def _begin(sockets: Any) -> None:
    """A pool's process begins: it takes a server, if there are any. What interrupts the whole is not for it."""
    global _kind_here  # noqa: PLW0603 - a pool has no other place for what its processes keep
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    if sockets is not None:
        _kind_here = Valkey(sockets.get())


def _several(seeds: Sequence[int]) -> list[Report]:
    return several(seeds, _kind_here)


def kind_on(sockets: Sequence[Path]) -> Kind:
    """The store of runs in this process: on the first of the servers, if there are any."""
    return Valkey(sockets[0]) if sockets else MEMORY


def several(seeds: Sequence[int], kind: Kind) -> list[Report]:
    """Some runs in this process; what is not needed any more is left out."""
    prepare()
    reports = []
    for seed in seeds:
        report = run(seed, kind=kind)
        report.happened = report.happened if report.error else []
        reports.append(report)
        gc.collect(1)
    return reports


def many(seeds: Iterable[int], processes: int, sockets: Sequence[Path] = ()) -> Generator[Report, None, None]:
    """Runs in several processes; each has one of the servers, if there are any."""
    if processes == 1:
        kind = kind_on(sockets)
        for seed in seeds:
            yield from several([seed], kind)
        return
    rest = iter(seeds)
    queue: SimpleQueue[Path] | None = SimpleQueue() if sockets else None
    for socket in sockets:
        assert queue is not None
        queue.put(socket)
    with ProcessPoolExecutor(processes, initializer=_begin, initargs=(queue,)) as pool:
        ahead: deque[Future[list[Report]]] = deque()
        try:
            while True:
                while len(ahead) < 2 * processes and (chunk := list(islice(rest, CHUNK))):
                    ahead.append(pool.submit(_several, chunk))
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


def shrink(failed: Report, kind: Kind = MEMORY, seconds: float = SHRINK_S) -> Report:
    """A run that fails in the same way with as few faults and deeds as can be found in some time."""
    best, keep = failed, [key for _, key, _ in failed.happened]
    until, size = time.monotonic() + seconds, max(1, len(keep) // 2)
    while size and time.monotonic() < until:
        at, got_smaller = 0, False
        while at < len(keep) and time.monotonic() < until:
            fewer = keep[:at] + keep[at + size :]
            tried = run(failed.seed, only=fewer, kind=kind)
            if tried.kind == failed.kind:
                best, got_smaller = tried, True
                keep = [key for _, key, _ in tried.happened]
            else:
                at += size
        size = size if got_smaller and size == 1 else size // 2
    return best


def command_of(report: Report, kind: Kind = MEMORY) -> str:
    """How to see it again."""
    only = ",".join(key.replace(" ", "_") for _, key, _ in report.happened)
    return f"make simulate SEED={report.seed} ONLY={only}{'' if kind is MEMORY else f' STORE={kind.name}'}"
