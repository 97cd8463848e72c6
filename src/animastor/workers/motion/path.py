"""Where the camera is at each moment of a unit: a smooth path through a move's views that never stands still."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias

View: TypeAlias = tuple[float, float, float]  # centre and width, as shares of the picture

_EASE = 0.4  # the share of the speed that softens begin and end; the rest is constant, so it never stops


def views_at(controls: Sequence[Sequence[float]], frames: int) -> list[View]:
    """The view of each of so many frames along the path with these control points (two or more)."""
    return [_on_path(controls, _eased((frame + 0.5) / frames)) for frame in range(frames)]


def _eased(time: float) -> float:
    smooth = time * time * (3 - 2 * time)
    return (1 - _EASE) * time + _EASE * smooth


def _on_path(controls: Sequence[Sequence[float]], time: float) -> View:
    """A uniform quadratic B-spline that begins at the first and ends at the last point; two points are a line.

    The middles of neighbouring control points are where its pieces meet; each piece lies between its three points.
    """
    if len(controls) == 2:
        return _between(controls[0], controls[1], time)
    pieces = len(controls) - 2
    piece = min(pieces - 1, int(time * pieces))
    local = time * pieces - piece
    first, middle, last = controls[piece : piece + 3]
    start = first if piece == 0 else _between(first, middle, 0.5)
    end = last if piece == pieces - 1 else _between(middle, last, 0.5)
    return _between(_between(start, middle, local), _between(middle, end, local), local)


def _between(a: Sequence[float], b: Sequence[float], share: float) -> View:
    x, y, width = (p + (q - p) * share for p, q in zip(a, b, strict=True))
    return x, y, width
