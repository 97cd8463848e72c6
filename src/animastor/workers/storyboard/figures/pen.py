"""A canvas moved to the middle of a head, a thing or an animal, so that each is drawn in its own measure."""

from __future__ import annotations

import math

from animastor.workers.storyboard.canvas import Canvas
from animastor.workers.storyboard.colour import Paint, rgb
from animastor.workers.storyboard.geometry import Point

INK = rgb("#2b2230")


class Pen:
    """A canvas moved to the middle of a head, so that heads are drawn in their own measure."""

    def __init__(self, canvas: Canvas, x: float, y: float, size: float, tilt: float = 0.0):
        self.canvas, self.x, self.y, self.size = canvas, x, y, size
        self._cos, self._sin = math.cos(tilt), math.sin(tilt)

    def at(self, x: float, y: float) -> Point:
        """Where a point of the head lies on the canvas."""
        return (
            self.x + (x * self._cos - y * self._sin) * self.size,
            self.y + (x * self._sin + y * self._cos) * self.size,
        )

    def blob(self, points: list[Point], paint: Paint) -> None:
        """A smooth closed shape."""
        self.canvas.blob([self.at(*p) for p in points], paint)

    def shape(self, points: list[Point], paint: Paint) -> None:
        """A polygon."""
        self.canvas.shape([self.at(*p) for p in points], paint)

    def oval(self, x: float, y: float, rx: float, ry: float, paint: Paint) -> None:
        """An ellipse."""
        self.canvas.oval(*self.at(x, y), rx * self.size, ry * self.size, paint)

    def line(self, points: list[Point], width: float, paint: Paint, end: float | None = None) -> None:
        """A stroke."""
        last = None if end is None else end * self.size
        self.canvas.stroke([self.at(*p) for p in points], width * self.size, paint, last)
