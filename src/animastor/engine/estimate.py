"""The time left of a request: what is left to do, at the measured cost of each media type. Pure.

The cost of a unit of work is measured per media type (busy seconds of workers per unit, merges included), and so is
how many workers are busy at once (busy seconds per second of the clock). The time left is the sum over media types of
work left × cost, divided by how many are busy at once.

The first jobs also start children and load models, which would be taken for the pace of all that follows. So what is
measured is mixed with what was known before, as if that had been measured for `PRIOR_S` seconds: the costs that this
machine had earlier, else those of the table below, corrected by how much faster or slower it has been so far.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from animastor.engine.effort import Spent
from animastor.engine.ports import MediaProgress

# Busy seconds per unit of work (characters, pictures, frames) on one core of the machine of docs/performance.md.
TYPICAL: Mapping[str, float] = {"audio": 0.0015, "image": 0.5, "video": 0.012}
PRIOR_S = 5.0  # about what two children need to start and load their models


@dataclass(frozen=True, slots=True)
class Look:
    """A look at a running request: when (seconds), what it had cost since the engine started, what is left."""

    at: float
    spent: Mapping[str, Spent]
    left: Mapping[str, float]


@dataclass(frozen=True, slots=True)
class Expected:
    """What an asset that cannot be planned yet will need, on average: parts, and work in the media type's units."""

    parts: float
    work: float


@dataclass(frozen=True, slots=True)
class Known:
    """What was known before a request began: busy seconds per unit of work, and how many workers there are."""

    costs: Mapping[str, float]
    workers: int


def work_left(progress: Sequence[MediaProgress], expected: Mapping[str, Expected] | None = None) -> dict[str, float]:
    """The work left by media type; assets that cannot be planned yet count as the mean of the planned ones.

    While none is planned, they count as `expected`.
    """
    return {one.media: _left_of(one, (expected or {}).get(one.media)) for one in progress}


def time_left(first: Look, now: Look, known: Known | None = None) -> float | None:
    """Seconds until the request ends, as measured between two looks; None while there is nothing to go by."""
    if not any(now.left.values()):
        return 0.0
    since = {media: _difference(spent, first.spent.get(media, Spent())) for media, spent in now.spent.items()}
    busy = sum(spent.seconds for spent in since.values())
    elapsed = now.at - first.at
    if busy <= 0 or elapsed <= 0:
        return None
    each = costs(since, now.left, known.costs if known is not None else None)
    at_once = busy / elapsed if known is None else (known.workers * PRIOR_S + busy) / (PRIOR_S + elapsed)
    return sum(work * each[media] for media, work in now.left.items()) / at_once


def costs(
    since: Mapping[str, Spent], wanted: Iterable[str], known: Mapping[str, float] | None = None
) -> dict[str, float]:
    """Busy seconds per unit of work of each wanted media type: measured, mixed with what was known before.

    A media type of which neither is known costs the mean of the measured ones.
    """
    measured = {media: spent for media, spent in since.items() if spent.work > 0}
    speed = _speed(measured)
    mean = sum(spent.seconds for spent in measured.values()) / max(1e-9, sum(s.work for s in measured.values()))
    found = {}
    for media in wanted:
        before = (known or {}).get(media) or TYPICAL.get(media, 0.0) * speed
        spent = measured.get(media, Spent())
        if before > 0:
            found[media] = (PRIOR_S + spent.seconds) / (PRIOR_S / before + spent.work)
        else:
            found[media] = spent.seconds / spent.work if spent.work > 0 else mean
    return found


def _left_of(one: MediaProgress, expected: Expected | None) -> float:
    left = max(0.0, one.work_planned - one.work_ready)
    planned = one.assets - one.unplanned
    if one.unplanned > 0 and planned > 0 and one.work_planned > 0:
        left += one.unplanned * one.work_planned / planned
    elif one.unplanned > 0 and expected is not None:
        left += one.unplanned * expected.work
    return left


def _difference(now: Spent, before: Spent) -> Spent:
    return Spent(now.seconds - before.seconds, now.work - before.work)


def _speed(measured: Mapping[str, Spent]) -> float:
    """How much longer than the table says work takes here."""
    known = {media: spent for media, spent in measured.items() if media in TYPICAL}
    typical = sum(TYPICAL[media] * spent.work for media, spent in known.items())
    return (PRIOR_S + sum(spent.seconds for spent in known.values())) / (PRIOR_S + typical)
