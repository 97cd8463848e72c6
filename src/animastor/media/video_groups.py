"""How the units of a scene are grouped into shots (CONTRACT 14, Video). Pure.

A shot is rendered in one go, so its length costs: a model renders 8n+1 frames and at least 24, and holds a picture
less well the longer it has to. An edit should render again only what it touched, so borders stay where they can.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from animastor.media.timing import room
from animastor.media.types import Previous

MOST_UNITS = 4
MOST_S = 30.0  # of a shot with more than one unit
LEAST_FRAMES = 24
GRID = 8  # models render 8n + 1 frames
LONG_S = 20.0  # above this a second costs
LONG_COST = 0.25

_TOLERANCE_S = 1e-6


@dataclass(frozen=True, slots=True)
class Length:
    """A unit with its duration in seconds."""

    unit_id: str
    seconds: float


def render_frames(frames: int) -> int:
    """How many frames are rendered for a shot that needs so many: at least 24, on the grid of 8n+1."""
    return -(-(max(LEAST_FRAMES, frames) - 1) // GRID) * GRID + 1


def grouped(units: Sequence[Length], fps: int, previous: Sequence[Previous] = ()) -> tuple[tuple[Length, ...], ...]:
    """The units in groups of 1–4 consecutive ones, at most 30 s unless a single unit is longer.

    A group of the plan before that still stands in that order and within the limits is kept, a pinned one whatever
    its length; what is left between kept groups is grouped anew, at the least cost.
    """
    groups: list[tuple[Length, ...]] = []
    at = 0
    for start, end in _kept(units, previous):
        groups += _cheapest(units[at:start], fps)
        groups.append(tuple(units[start:end]))
        at = end
    return (*groups, *_cheapest(units[at:], fps))


def cost(frames: int, seconds: float, fps: int) -> float:
    """What a group costs, in seconds: what is rendered and thrown away, and 0.25 for each second above 20."""
    return (render_frames(frames) - frames) / fps + LONG_COST * max(0.0, seconds - LONG_S)


def _kept(units: Sequence[Length], previous: Sequence[Previous]) -> Iterator[tuple[int, int]]:
    """Where the groups that stay begin and end, in order; of those that overlap, the pinned one, then the first."""
    place = {unit.unit_id: index for index, unit in enumerate(units)}
    found: list[tuple[bool, int, int]] = []
    for group in previous:
        start = place.get(group.unit_ids[0]) if group.unit_ids else None
        if start is None:
            continue
        now = units[start : start + len(group.unit_ids)]
        if tuple(unit.unit_id for unit in now) == group.unit_ids and (group.pinned or _fits(now)):
            found.append((not group.pinned, start, start + len(now)))
    kept: list[tuple[int, int]] = []
    for _, start, end in sorted(found):
        if all(end <= other or start >= stop for other, stop in kept):
            kept.append((start, end))
    yield from sorted(kept)


def _fits(group: Sequence[Length]) -> bool:
    return _is_allowed(len(group), sum(unit.seconds for unit in group))


def _is_allowed(units: int, seconds: float) -> bool:
    return units == 1 or (units <= MOST_UNITS and seconds <= MOST_S + _TOLERANCE_S)


def _cheapest(run: Sequence[Length], fps: int) -> list[tuple[Length, ...]]:
    """A run cut into groups at the least cost; of equal ones, the fewest groups, then the earliest borders."""
    rooms = [room(unit.seconds, fps) for unit in run]
    best: list[tuple[float, int, int]] = [(0.0, 0, 0)]  # cost of the first k units, groups in them, start of the last
    for end in range(1, len(run) + 1):
        found = (float("inf"), 0, 0)
        frames, seconds = 0, 0.0
        for start in range(end - 1, max(-1, end - 1 - MOST_UNITS), -1):
            frames, seconds = frames + rooms[start], seconds + run[start].seconds
            if not _is_allowed(end - start, seconds):
                break
            before, groups, _ = best[start]
            found = min(found, (round(before + cost(frames, seconds, fps), 6), groups + 1, start))
        best.append(found)
    return _cut(run, [start for _, _, start in best])


def _cut(run: Sequence[Length], starts: Sequence[int]) -> list[tuple[Length, ...]]:
    """The groups of a run; `starts[k]` is where the last group of the first k units begins."""
    groups: list[tuple[Length, ...]] = []
    end = len(run)
    while end:
        groups.append(tuple(run[starts[end] : end]))
        end = starts[end]
    return groups[::-1]
