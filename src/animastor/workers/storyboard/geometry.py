"""Shapes as lists of points: smooth closed curves, tapered strokes, arcs, ragged ridges. Pure; lengths are free."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import lru_cache
from random import Random
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

Point: TypeAlias = tuple[float, float]
Points: TypeAlias = Sequence[Point]

_STEPS = 8  # points drawn for each span of a smooth curve


@lru_cache(maxsize=4)
def _basis(steps: int) -> npt.NDArray[np.float64]:
    """Uniform Catmull-Rom weights: steps x 4."""
    t = np.arange(steps) / steps
    t2, t3 = t * t, t * t * t
    return 0.5 * np.stack([-t3 + 2 * t2 - t, 3 * t3 - 5 * t2 + 2, -3 * t3 + 4 * t2 + t, t3 - t2], axis=1)


def smooth(points: Points, closed: bool = True, steps: int = _STEPS) -> list[Point]:
    """A smooth curve through the points, closed or open."""
    given = np.asarray(points, dtype=np.float64)
    if closed:
        padded = np.concatenate([given[-1:], given, given[:2]])
    else:
        padded = np.concatenate([given[:1], given, given[-1:]])
    windows = np.stack([padded[i : len(padded) - 3 + i] for i in range(4)], axis=1)
    curve = np.einsum("sk,nkd->nsd", _basis(steps), windows).reshape(-1, 2)
    if not closed:
        curve = np.concatenate([curve, given[-1:]])
    return [(float(x), float(y)) for x, y in curve]


def oval(cx: float, cy: float, rx: float, ry: float, tilt: float = 0.0, points: int = 40) -> list[Point]:
    """An ellipse, turned by `tilt` radians."""
    cos, sin = math.cos(tilt), math.sin(tilt)
    ring = []
    for i in range(points):
        angle = math.tau * i / points
        x, y = rx * math.cos(angle), ry * math.sin(angle)
        ring.append((cx + x * cos - y * sin, cy + x * sin + y * cos))
    return ring


def arc(cx: float, cy: float, rx: float, ry: float, start: float, end: float, points: int = 16) -> list[Point]:
    """A part of an ellipse, from angle to angle in turns (0 is right, 0.25 is down)."""
    angles = [math.tau * (start + (end - start) * i / (points - 1)) for i in range(points)]
    return [(cx + rx * math.cos(a), cy + ry * math.sin(a)) for a in angles]


def tapered(points: Points, start: float, end: float, curved: bool = True) -> list[Point]:
    """The outline of a stroke along the points, whose width goes from `start` to `end`."""
    line = np.asarray(smooth(points, closed=False, steps=6) if curved and len(points) > 2 else points, dtype=np.float64)
    along = np.gradient(line, axis=0)
    length = np.maximum(np.hypot(along[:, 0], along[:, 1]), 1e-9)
    normal = np.stack([-along[:, 1], along[:, 0]], axis=1) / length[:, None]
    half = np.linspace(start, end, len(line))[:, None] / 2
    outline = np.concatenate([line + normal * half, (line - normal * half)[::-1]])
    return [(float(x), float(y)) for x, y in outline]


def ridge(rng: Random, left: float, right: float, y: float, height: float, spans: int = 8) -> list[Point]:
    """A soft line of hills from left to right around `y`, as points for a smooth open curve."""
    step = (right - left) / spans
    return [(left + i * step, y - height * rng.uniform(0.0, 1.0)) for i in range(spans + 1)]


def peaks(rng: Random, left: float, right: float, y: float, height: float, spans: int = 6) -> list[Point]:
    """A ragged line of mountains: summits and saddles by turns, with broken flanks."""
    line: list[Point] = []
    step = (right - left) / spans
    for i in range(spans + 1):
        x = left + i * step
        summit = y - height * rng.uniform(0.55, 1.0)
        saddle = y - height * rng.uniform(0.05, 0.35)
        line += [(x, saddle), (x + step * 0.22, (saddle * 0.4 + summit * 0.6)), (x + step * 0.5, summit)]
        line += [(x + step * 0.66, summit * 0.45 + y * 0.55 - height * 0.2)]
    return line


def tuft(rng: Random, cx: float, cy: float, radius: float, lumps: int = 9, rough: float = 0.22) -> list[Point]:
    """A bumpy round shape (foliage, cloud, bush), as points for a smooth closed curve."""
    ring = []
    for i in range(lumps):
        angle = math.tau * (i + rng.uniform(-0.2, 0.2)) / lumps
        r = radius * rng.uniform(1 - rough, 1 + rough)
        ring.append((cx + r * math.cos(angle), cy + r * 0.86 * math.sin(angle)))
    return ring
