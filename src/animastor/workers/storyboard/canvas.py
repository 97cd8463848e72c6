"""What is painted on: shapes in units of the picture's shorter side, on more pixels than the picture will have.

A canvas has a view (a zoom about a focus), so that the same scenery can be framed by any shot. A canvas with a mask
is a cut-out: what was painted opaquely can be laid upon another canvas.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from PIL import Image, ImageChops, ImageDraw, ImageFilter

from animastor.workers.storyboard.colour import RGB, Paint
from animastor.workers.storyboard.geometry import Point, Points, oval, smooth, tapered


@dataclass(frozen=True, slots=True)
class View:
    """A zoom: the point `focus` of the scene is seen at `at` of the picture, everything `zoom` times as large."""

    zoom: float = 1.0
    focus: Point = (0.0, 0.0)
    at: Point = (0.0, 0.0)


class Canvas:
    """`width` x `height` units; `unit` pixels to the unit. With `cutout`, a mask of what has been painted is kept."""

    def __init__(self, width: float, height: float, unit: float, view: View | None = None, cutout: bool = False):
        self.width, self.height, self.unit = width, height, unit
        self.view = view or View()
        size = max(1, round(width * unit)), max(1, round(height * unit))
        self.image = Image.new("RGB", size, (128, 128, 128))
        self.mask = Image.new("L", size, 0) if cutout else None
        self.reset()

    def reset(self) -> None:
        """Take up the image (and mask) anew after one was replaced."""
        self._draw = ImageDraw.Draw(self.image, "RGBA")
        self._draw_mask = ImageDraw.Draw(self.mask) if self.mask is not None else None

    # -- where things are ------------------------------------------------------------------------------------------

    def pixel(self, x: float, y: float) -> Point:
        """The pixel of a point of the scene."""
        view = self.view
        return (
            ((x - view.focus[0]) * view.zoom + view.at[0]) * self.unit,
            ((y - view.focus[1]) * view.zoom + view.at[1]) * self.unit,
        )

    def scene(self, x: float, y: float) -> Point:
        """The point of the scene that is seen at a point of the picture (both in units)."""
        view = self.view
        return (x - view.at[0]) / view.zoom + view.focus[0], (y - view.at[1]) / view.zoom + view.focus[1]

    @property
    def left(self) -> float:
        """The scene's leftmost visible x."""
        return self.scene(0, 0)[0]

    @property
    def right(self) -> float:
        """The scene's rightmost visible x."""
        return self.scene(self.width, 0)[0]

    @property
    def top(self) -> float:
        """The scene's topmost visible y."""
        return self.scene(0, 0)[1]

    @property
    def bottom(self) -> float:
        """The scene's lowest visible y."""
        return self.scene(0, self.height)[1]

    def _pixels(self, points: Points) -> list[Point]:
        view, unit = self.view, self.unit
        scale = view.zoom * unit
        dx, dy = view.at[0] * unit - view.focus[0] * scale, view.at[1] * unit - view.focus[1] * scale
        return [(round(x * scale + dx), round(y * scale + dy)) for x, y in points]

    # -- shapes ----------------------------------------------------------------------------------------------------

    def shape(self, points: Points, paint: Paint) -> None:
        """A polygon."""
        pixels = self._pixels(points)
        self._draw.polygon(pixels, fill=paint)
        if self._draw_mask is not None and (len(paint) == 3 or paint[3] == 255):
            self._draw_mask.polygon(pixels, fill=255)

    def blob(self, points: Points, paint: Paint) -> None:
        """A smooth closed shape through the points."""
        self.shape(smooth(points), paint)

    def oval(self, cx: float, cy: float, rx: float, ry: float, paint: Paint, tilt: float = 0.0) -> None:
        """An ellipse."""
        self.shape(oval(cx, cy, rx, ry, tilt), paint)

    def box(self, left: float, top: float, right: float, bottom: float, paint: Paint) -> None:
        """A rectangle."""
        self.shape([(left, top), (right, top), (right, bottom), (left, bottom)], paint)

    def stroke(self, points: Points, width: float, paint: Paint, end: float | None = None, curved: bool = True) -> None:
        """A stroke with round ends along the points, its width going to `end` (by default the same)."""
        last = width if end is None else end
        self.shape(tapered(points, width, last, curved), paint)
        for (x, y), size in ((points[0], width), (points[-1], last)):
            self.oval(x, y, size / 2, size / 2, paint)

    def shaded(self, points: Points, top: RGB, bottom: RGB, opacity: tuple[float, float] = (1.0, 1.0)) -> None:
        """A polygon with a vertical gradient of colour and of opacity, from its highest to its lowest point."""
        pixels = self._pixels(points)
        box = self._bounds(pixels)
        if box is None:
            return
        left, high, right, low = box
        stencil = Image.new("L", (right - left, low - high), 0)
        ImageDraw.Draw(stencil).polygon([(x - left, y - high) for x, y in pixels], fill=255)
        ys = [y for _, y in pixels]
        span = np.clip((np.arange(high, low) - min(ys)) / max(1.0, max(ys) - min(ys)), 0, 1)[:, None]
        ramp = np.asarray(top) * (1 - span) + np.asarray(bottom) * span
        gradient = Image.fromarray(np.rint(ramp).astype(np.uint8)[:, None, :]).resize(
            stencil.size, Image.Resampling.NEAREST
        )
        if opacity != (1.0, 1.0):
            fade = 255 * (opacity[0] * (1 - span) + opacity[1] * span)
            stencil = ImageChops.multiply(stencil, _column(fade[:, 0], stencil.size))
        elif self.mask is not None:
            self.mask.paste(255, (left, high), stencil)
        self.image.paste(gradient, (left, high), stencil)

    def _bounds(self, pixels: Points) -> tuple[int, int, int, int] | None:
        xs, ys = [x for x, _ in pixels], [y for _, y in pixels]
        left, high = max(0, int(min(xs))), max(0, int(min(ys)))
        right, low = min(self.image.width, int(max(xs)) + 1), min(self.image.height, int(max(ys)) + 1)
        return (left, high, right, low) if right > left and low > high else None

    # -- layers ----------------------------------------------------------------------------------------------------

    def veil(self, paint: RGB, opacity: Sequence[float] | np.ndarray) -> None:
        """A haze over the whole picture. `opacity` (0..1) is one value a row from top to bottom, or a coarse grid."""
        grid = np.asarray(opacity, dtype=np.float32)
        grid = grid[:, None] if grid.ndim == 1 else grid
        coarse = Image.fromarray(np.clip(grid * 255, 0, 255).astype(np.uint8))
        self.image.paste(paint, (0, 0), coarse.resize(self.image.size, Image.Resampling.BILINEAR))

    def lay(self, cut: Image.Image, mask: Image.Image, at: Point) -> None:
        """Lay a cut-out, its upper left corner at a pixel."""
        self.image.paste(cut, (round(at[0]), round(at[1])), mask)

    def soften(self, radius: float) -> None:
        """Blur everything painted so far, by a radius in units."""
        self.image = self.image.filter(ImageFilter.GaussianBlur(radius * self.unit))
        self.reset()


def _column(values: np.ndarray, size: tuple[int, int]) -> Image.Image:
    column = Image.fromarray(np.clip(values, 0, 255).astype(np.uint8)[:, None])
    return column.resize(size, Image.Resampling.NEAREST)
