"""A figure as a cut-out, lit: drawn in its own colours, then shown under the light of the picture."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from PIL import Image, ImageChops, ImageFilter

from animastor.workers.storyboard.canvas import Canvas, View
from animastor.workers.storyboard.colour import RGB
from animastor.workers.storyboard.geometry import Point
from animastor.workers.storyboard.light import Light


@dataclass(frozen=True, slots=True)
class Sprite:
    """A cut-out of `head_px` pixels to the head. `foot` and `mouth` are pixels within it."""

    image: Image.Image
    mask: Image.Image
    foot: Point
    mouth: Point
    box: tuple[int, int, int, int]  # of what is opaque


def cut_out(draw: Callable[[Canvas], Point], head_px: float, heads: float, half_width: float = 2.8) -> Sprite:
    """Draw on a canvas of its own, `heads` + 1 units high, feet near its lower edge."""
    width, height = 2 * half_width, heads + 1.1
    foot = (half_width, height - 0.25)
    canvas = Canvas(width, height, head_px, View(1.0, (0.0, 0.0), foot), cutout=True)
    mouth = draw(canvas)
    assert canvas.mask is not None
    box = canvas.mask.getbbox() or (0, 0, 1, 1)
    at = canvas.pixel(*mouth)
    return Sprite(canvas.image, canvas.mask, canvas.pixel(0.0, 0.0), at, box)


def lit(
    sprite: Sprite, light: Light, head_px: float, toward: float, rim: float = 0.6, key: RGB | None = None
) -> Sprite:
    """The cut-out under the light; `toward` is -1 when the key light is on the left, 1 on the right.

    What is returned is cropped to what is opaque: multiplied by the light's tint, darker to the feet and on the far
    side, with a rim of the key's colour.
    """
    left, top, _, low = sprite.box
    picture, mask = sprite.image.crop(sprite.box), sprite.mask.crop(sprite.box)
    tint = np.asarray([0.48 + 0.52 * part for part in light.tint], np.float32)
    falling = np.linspace(1.04, 0.84, low - top, dtype=np.float32)[:, None, None]
    pixels = np.asarray(picture, np.float32) * tint * falling
    picture = Image.fromarray(np.clip(pixels, 0, 255).astype(np.uint8))
    step = max(1, round(head_px * 0.05))
    shade = _edge(mask, (round(toward * step * 2.2), -step), head_px * 0.07)
    picture.paste((22, 16, 44), (0, 0), shade.point(lambda v: v * 0.34))
    glow = _edge(mask, (round(-toward * step), step), head_px * 0.018)
    picture.paste(key or light.key, (0, 0), glow.point(lambda v: v * rim))
    foot, mouth = ((x - left, y - top) for x, y in (sprite.foot, sprite.mouth))
    return Sprite(picture, mask, foot, mouth, (0, 0, *picture.size))


def cropped(sprite: Sprite, height: int) -> Sprite:
    """Only the uppermost `height` pixels of a cut-out."""
    low = max(1, min(height, sprite.image.height))
    box = (0, 0, sprite.image.width, low)
    return Sprite(sprite.image.crop(box), sprite.mask.crop(box), sprite.foot, sprite.mouth, box)


def _edge(mask: Image.Image, shift: tuple[int, int], blur: float) -> Image.Image:
    """The part of a shape that a copy of it, shifted, leaves uncovered; softened (coarsely, when large)."""
    coarse = max(1, int(blur / 2.5))
    small = mask.reduce(coarse) if coarse > 1 else mask
    moved = Image.new("L", small.size, 0)
    moved.paste(small, (round(shift[0] / coarse), round(shift[1] / coarse)))
    soft = ImageChops.subtract(small, moved).filter(ImageFilter.GaussianBlur(blur / coarse))
    return soft.resize(mask.size, Image.Resampling.BILINEAR) if coarse > 1 else soft
