"""What ran, by the backends' own log and by the road between workers and hub, and whether any of it was one too many.

From the backends' log come the runs (claim, hash, start, end); from the road, which claims were given to whom and heard
of when; from the test, whom it killed and paused.
"""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from chaos_fleet import Deeds, Fleet

ACCEPTED: Final = ("accepted", "late_accept")
CLOCK_S: Final = 1.0  # between what processes of one machine write down and what has happened


@dataclass
class Run:
    """One run of a backend. `end` is None where it was never written down."""

    hash: str
    kind: str
    claim: int
    pid: int
    start: float
    given: float  # when its claim was given; a child that has to be started first begins later
    end: float | None = None
    member: int = 0  # the process that held the claim
    heard: list[float] = field(default_factory=list)  # when it may have been heard of first, and its heartbeats
    stopped: float | None = None  # when it was told to stop, or handed back

    @property
    def earliest(self) -> float:
        """When its claim may have been given, if its process stood still before it wrote that down."""
        return min(self.heard, default=self.given)


def runs(fleet: Fleet) -> list[Run]:
    """Every run of a backend, in the order in which they began."""
    found: dict[tuple[int, int, str], Run] = {}
    for line in _lines(fleet.backend_log):
        key = (line["pid"], line["claim"], line["hash"])
        if line["event"] == "start":
            found[key] = Run(line["hash"], line["kind"], line["claim"], line["pid"], line["time"], line["time"])
        elif key in found:
            found[key].end = line["time"]
    by_claim: dict[int, list[Run]] = defaultdict(list)
    for run in found.values():
        by_claim[run.claim].append(run)
    road = list(_lines(fleet.road_log))
    stalls: dict[int, list[tuple[float, float]]] = defaultdict(list)
    for line in road:
        if line["event"] == "stalled":
            stalls[line["pid"]].append((line["since"], line["time"]))
    for line in road:
        for run in (run for claim in line["claims"] for run in by_claim[claim]):
            if line["event"] == "claimed":
                run.member, run.given = line["pid"], line["time"]
                run.heard.append(_at_the_earliest(line["time"], stalls[line["pid"]]))
            elif line["event"] == "beat":
                run.heard.append(line["time"])
            elif line["event"] in ("stop", "handed_back"):
                run.stopped = line["time"] if run.stopped is None else run.stopped
    return sorted(found.values(), key=lambda run: run.start)


def _at_the_earliest(written: float, stalls: Sequence[tuple[float, float]]) -> float:
    """When what a process wrote down at a time may have happened: it may have stood still in between."""
    return min([since for since, until in stalls if since <= written <= until + CLOCK_S], default=written)


def happened(fleet: Fleet) -> Counter[str]:
    """How often what happened on the road."""
    return Counter(line["event"] for line in _lines(fleet.road_log))


# CONTRACT 17: 11, 12, 13, 15 -----------------------------------------------------------------------------------------


def check_runs(fleet: Fleet, accepted: Mapping[str, float], everything: Sequence[Run]) -> None:
    """No part runs twice at once, or again, but after its claim was lost; and never after it was accepted.

    `accepted`: hash → when the first result of it was. Read before `everything` was.
    """
    by_hash: dict[str, list[Run]] = defaultdict(list)
    for run in everything:
        by_hash[run.hash].append(run)
    for hash_, of in by_hash.items():
        of.sort(key=lambda run: run.earliest)  # whoever stood still wrote its claim down later than the next one
        for later in of:
            told = accepted.get(hash_)
            known = told is not None and later.earliest > told + CLOCK_S
            assert not known, f"accepted at {told}, and run again: {_told(of, fleet)}"
        for one, two in ((one, two) for at, one in enumerate(of) for two in of[at + 1 :]):
            assert _lost(one, two.given, fleet), f"run again although nothing was lost: {_told(of, fleet)}"


def _lost(run: Run, at: float, fleet: Fleet) -> bool:
    """Whether the claim of a run was lost by then: its process died or ended, it was told to stop, or was silent."""
    dead = _over(fleet.deeds).get(run.member)
    if dead is not None and dead <= at:
        return True
    if run.stopped is not None and run.stopped <= at + CLOCK_S:
        return True
    heard = [when for when in run.heard if when <= at]
    return bool(heard) and at - max(heard) >= fleet.silent_s - CLOCK_S


def _over(deeds: Deeds) -> Mapping[int, float]:
    return {**deeds.ended, **deeds.killed}


def _told(of: Sequence[Run], fleet: Fleet) -> str:
    """Everything that is known of the runs of one hash: the runs, what was done to their processes, the journal."""
    lines = [
        f"claim {run.claim:x} of {run.member} by {run.pid}, given {run.given:.2f}, from {run.start:.2f}"
        f" to {run.end or 0:.2f}, heard {[round(when, 2) for when in run.heard[-3:]]}, stopped {run.stopped}"
        for run in of
    ]
    lines += [f"process {pid} over at {at:.2f}" for pid, at in _over(fleet.deeds).items()]
    lines += [f"process {pid} stood still from {since:.2f} to {until:.2f}" for pid, since, until in fleet.deeds.paused]
    lines += [
        " ".join((f"{row['at']:.2f}", *(str(row[name]) for name in ("type", "reason", "dispatch_id", "details"))))
        for row in fleet.rows(
            "SELECT at, type, reason, dispatch_id, details FROM journal WHERE asset IN"
            " (SELECT asset FROM part WHERE hash = $1) ORDER BY id",
            of[0].hash,
        )
    ]
    return "\n".join(lines)


# CONTRACT 17: 8 -------------------------------------------------------------------------------------------------------


def check_none_given_after(fleet: Fleet, of: Sequence[Run], at: float) -> None:
    """Of a book whose cancelling was over at a time, nothing is claimed after that."""
    late = [run for run in of if run.earliest > at + CLOCK_S]
    assert not late, f"claimed after cancel had returned at {at}: {_told(late, fleet)}"


def _lines(log: Path) -> Iterator[Mapping[str, Any]]:
    """Whole lines: the last one may be being written."""
    if log.exists():
        yield from map(json.loads, log.read_text().rpartition("\n")[0].splitlines())
