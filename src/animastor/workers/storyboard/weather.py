"""What is in the air before the figures: rain, snow, drifting fog, wind."""

from __future__ import annotations

from random import Random

import numpy as np
import numpy.typing as npt
from PIL import Image, ImageFilter

from animastor.workers.storyboard.canvas import Canvas
from animastor.workers.storyboard.colour import lighter, rgb, veiled
from animastor.workers.storyboard.light import Light


def paint_air(canvas: Canvas, light: Light, rng: Random, before: bool) -> None:
    """Weather behind (`before` is false) or before the figures; that before them is thinner and larger."""
    if light.fog > 0.15:
        drifts(canvas, light, rng, light.fog * (0.55 if before else 0.9), 0.62 if before else 0.50)
    if light.weather in ("rain", "storm"):
        _rain(canvas, light, rng, 90 if before else 170, 1.7 if before else 1.0)
    elif light.weather == "snow":
        _snow(canvas, rng, 60 if before else 150, 1.9 if before else 1.0)
    elif light.weather == "wind" and not before:
        _gusts(canvas, light, rng)


def roll_in(canvas: Canvas, light: Light, rng: Random, horizon: float, ground: float) -> None:
    """A bank of fog before the setting and behind the figures: it blurs and pales, most at the horizon.

    Fog that is breaking up has holes. `horizon` and `ground` are y of the picture, in units.
    """
    if not light.bank:
        return
    rows = np.linspace(0, canvas.height, 54, dtype=np.float32)
    lying = 0.12 + 0.60 * light.bank  # thin mist lies low, dense fog reaches up into the sky
    above = lying + (1 - lying) * np.clip(rows / max(0.05, horizon), 0, 1) ** 1.5
    below = 1 - np.clip((rows - horizon) / max(0.05, ground - horizon), 0, 1) * 0.72
    thick = np.where(rows < horizon, above, below)[:, None] * _billows(rng, light.torn)
    opacity = np.clip(thick * (0.22 + 0.76 * light.bank), 0, 0.97)
    size = (max(8, canvas.image.width // 4), max(8, canvas.image.height // 4))
    blurred = canvas.image.resize(size, Image.Resampling.BOX).filter(
        ImageFilter.GaussianBlur(0.012 * light.bank * canvas.unit / 4)
    )
    share = Image.fromarray((opacity * 255).astype(np.uint8)).resize(size, Image.Resampling.BILINEAR)
    blurred.paste(light.haze, (0, 0), share.point(lambda v: v * 0.68))
    whole = canvas.image.size
    soft = share.point(lambda v: min(255, v * 1.5)).resize(whole, Image.Resampling.BILINEAR)
    canvas.image.paste(blurred.resize(whole, Image.Resampling.BICUBIC), (0, 0), soft)


def _billows(rng: Random, torn: bool) -> npt.NDArray[np.float32]:
    """How fog varies over the picture, 54 x 96: hardly, or from nothing to all where it is breaking up."""
    noise = np.asarray([[rng.random() for _ in range(8)] for _ in range(6)], dtype=np.float32)
    smooth = np.asarray(Image.fromarray(noise).resize((96, 54), Image.Resampling.BICUBIC), dtype=np.float32)
    varied = np.clip((smooth - 0.40) * 4.0, 0.0, 1.35) if torn else 0.82 + 0.30 * np.clip(smooth, 0, 1)
    return np.asarray(varied, dtype=np.float32)


def drifts(canvas: Canvas, light: Light, rng: Random, opacity: float, middle: float) -> None:
    """Banks of fog: smooth noise, thickest about a height of the picture."""
    noise = np.asarray([[rng.random() for _ in range(7)] for _ in range(5)], dtype=np.float32)
    cloud = Image.fromarray(noise).resize((96, 54), Image.Resampling.BICUBIC)
    rows = np.linspace(0, 1, 54, dtype=np.float32)[:, None]
    band = np.exp(-(((rows - middle) / 0.30) ** 2))
    thick = np.clip((np.asarray(cloud, dtype=np.float32) - 0.18) * 1.5, 0, 1)
    canvas.veil(lighter(light.haze, 0.16), np.clip(thick * band * opacity, 0, 0.9))


def _rain(canvas: Canvas, light: Light, rng: Random, count: int, size: float) -> None:
    slant = 0.34 if light.weather == "storm" else 0.14
    tone = lighter(light.haze, 0.5)
    for _ in range(count):
        x, y = rng.uniform(-0.1, canvas.width + 0.2), rng.uniform(-0.1, canvas.height)
        length = rng.uniform(0.03, 0.075) * size
        line = [(x, y), (x - slant * length, y + length)]
        canvas.stroke(line, 0.0022 * size, veiled(tone, rng.uniform(0.25, 0.6)), 0.001, curved=False)


def _snow(canvas: Canvas, rng: Random, count: int, size: float) -> None:
    for _ in range(count):
        x, y = rng.uniform(0, canvas.width), rng.uniform(0, canvas.height)
        r = rng.uniform(0.0022, 0.0052) * size
        canvas.oval(x, y, r, r, veiled(rgb("#ffffff"), rng.uniform(0.5, 0.95)))


def _gusts(canvas: Canvas, light: Light, rng: Random) -> None:
    tone = lighter(light.haze, 0.4)
    for _ in range(7):
        x, y = rng.uniform(0, canvas.width * 0.8), rng.uniform(0.1, canvas.height * 0.7)
        points = [(x, y), (x + 0.16, y - 0.02), (x + 0.30, y + 0.012), (x + 0.36, y - 0.03), (x + 0.33, y - 0.045)]
        canvas.stroke(points, 0.004, veiled(tone, 0.55), 0.001)
    for _ in range(16):
        x, y = rng.uniform(0, canvas.width), rng.uniform(0.1, canvas.height * 0.8)
        canvas.oval(
            x, y, 0.009, 0.004, rng.choice((rgb("#c98a3a"), rgb("#a9b35a"), rgb("#b5563f"))), rng.uniform(-1, 1)
        )
