"""Skies: a gradient, sun or moon with its halo, stars, clouds; and the glows of all lights, gathered for the end."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from random import Random

import numpy as np
from PIL import Image, ImageDraw, ImageFilter

from animastor.workers.storyboard.canvas import Canvas
from animastor.workers.storyboard.colour import RGB, darker, lighter, mix, rgb, veiled
from animastor.workers.storyboard.geometry import Point
from animastor.workers.storyboard.light import Light


@dataclass(frozen=True, slots=True)
class Glow:
    """A light that shines over what is around it: at a point of the picture (units), reaching `radius` units."""

    at: Point
    radius: float
    colour: RGB
    strength: float = 1.0
    near: bool = False  # it shines before the figures, not only behind them


@dataclass(frozen=True, slots=True)
class Upright:
    """Something upright in the setting, in the picture's units: a post behind a head would grow out of it."""

    x: float
    top: float
    foot: float
    slim: bool = True  # a pole rather than a chimney


Area = tuple[float, float, float, float]  # left, top, right, bottom in units of the picture


@dataclass(slots=True)
class Scene:
    """A picture in work: its canvas, its light, its chance, where sky and ground meet, and the lights lit so far.

    `horizon` and `ground` are y in units of the scene; figures stand on `ground`.
    """

    canvas: Canvas
    light: Light
    rng: Random
    horizon: float
    ground: float
    glows: list[Glow] = field(default_factory=list)
    cover: Image.Image | None = None  # where figures stand before the lights: a mask over the whole picture
    uprights: list[Upright] = field(default_factory=list)
    subjects: list[Area] = field(default_factory=list)  # faces and named things: text must not cover them

    def upright(self, x: float, top: float, foot: float, slim: bool = True) -> None:
        """Note a post, a mast, a chimney, given in units of the scene."""
        unit = self.canvas.unit
        (px, high), low = self.canvas.pixel(x, top), self.canvas.pixel(x, foot)[1]
        self.uprights.append(Upright(px / unit, high / unit, low / unit, slim))

    def shine(
        self,
        x: float,
        y: float,
        radius: float,
        colour: RGB = (255, 190, 110),
        strength: float = 1.0,
        near: bool = False,
        depth: float = 0.0,
    ) -> None:
        """Light a lamp at a point of the scene. Fog takes strength from it by its `depth`, and widens its halo."""
        px, py = self.canvas.pixel(x, y)
        unit, zoom = self.canvas.unit, self.canvas.view.zoom
        if self.light.bank:
            strength *= 1 - self.light.hidden(depth)
            radius *= 1 + 0.5 * self.light.bank * min(1.0, 6 * depth)
        self.glows.append(Glow((px / unit, py / unit), radius * zoom, colour, strength / zoom**0.8, near))


def toward_light(scene: Scene, x: float) -> float:
    """-1 when the brightest light lit so far is to the left of x (units of the picture), 1 when it is to the right."""
    if not scene.glows:
        return 1.0
    brightest = max(scene.glows, key=lambda glow: glow.strength * glow.radius)
    return 1.0 if brightest.at[0] > x else -1.0


def paint_sky(scene: Scene, disc_at: float | None = None) -> None:
    """The whole sky, from the top of the picture to below the horizon.

    `disc_at` is where sun or moon stands, as a share of the picture's width; by default to one side, by chance.
    """
    light = scene.light
    _gradient(scene)
    if light.stars > 0:
        _stars(scene)
    disc = _disc_place(scene, disc_at)
    if light.disc:
        _disc(scene, *disc)
    _clouds(scene, disc)
    if light.weather == "storm":
        _lightning(scene)


def _gradient(scene: Scene) -> None:
    canvas, light = scene.canvas, scene.light
    rows = canvas.image.height
    ys = np.linspace(canvas.top, canvas.bottom, rows)
    span = np.clip((ys - min(canvas.top, 0.0)) / max(0.05, scene.horizon - min(canvas.top, 0.0)), 0, 1)
    stops = np.array([0.0, 0.55, 1.0])
    channels = [np.interp(span, stops, [colour[c] for colour in light.sky]) for c in range(3)]
    column = np.rint(np.stack(channels, axis=1)).astype(np.uint8)[:, None, :]
    canvas.image.paste(Image.fromarray(column).resize(canvas.image.size, Image.Resampling.NEAREST))


def _disc_place(scene: Scene, disc_at: float | None) -> Point:
    canvas = scene.canvas
    width = canvas.right - canvas.left
    chance = 0.24 if scene.rng.random() < 0.5 else 0.76
    side = chance if disc_at is None else disc_at
    x = canvas.left + width * (side + scene.rng.uniform(-0.06, 0.06))
    top = canvas.top + 0.1 * (scene.horizon - canvas.top)
    return x, scene.horizon - scene.light.height * (scene.horizon - top)


def _disc(scene: Scene, x: float, y: float) -> None:
    canvas, light, zoom = scene.canvas, scene.light, scene.canvas.view.zoom
    size = (0.052 if light.disc == "sun" else 0.045) / math.sqrt(zoom)
    colour = lighter(light.key, 0.35)
    if light.bank:
        colour = mix(colour, light.haze, 0.75 * light.bank)
    canvas.oval(x, y, size, size, colour)
    if light.disc == "moon" and light.bank < 0.5:
        for dx, dy, r in ((-0.30, -0.15, 0.20), (0.25, 0.30, 0.15), (0.12, -0.38, 0.11), (-0.2, 0.42, 0.1)):
            canvas.oval(x + dx * size, y + dy * size, r * size, r * size, darker(colour, 0.13))
    low = light.time in ("dawn", "dusk", "golden")
    through = 1 - 0.6 * light.bank
    scene.shine(x, y, 0.75 if low else 0.42, light.key, (0.75 if low else 0.5) * through)
    scene.shine(x, y, 0.16, lighter(light.key, 0.4), 0.6 * through)


def _stars(scene: Scene) -> None:
    canvas, light, rng = scene.canvas, scene.light, scene.rng
    for _ in range(int(150 * light.stars)):
        x = rng.uniform(canvas.left, canvas.right)
        height = rng.random() ** 1.4
        y = canvas.top + height * (scene.horizon - canvas.top)
        r = rng.choice((0.0012, 0.0016, 0.0022, 0.003)) / canvas.view.zoom**0.5
        canvas.oval(x, y, r, r, veiled((255, 250, 230), (1 - height) * rng.uniform(0.5, 1.0)))


def _clouds(scene: Scene, disc: Point) -> None:
    """Soft flat-bottomed clouds, painted coarsely and laid over the sky: bodies first, then their lit sides."""
    light, rng, canvas = scene.light, scene.rng, scene.canvas
    amount = _AMOUNT.get(light.weather, 4)
    coarse = (max(8, canvas.image.width // 5), max(8, canvas.image.height // 5))
    bodies, tops = Image.new("L", coarse, 0), Image.new("L", coarse, 0)
    for _ in range(amount):
        x = rng.uniform(canvas.left, canvas.right)
        height = rng.uniform(0.05, 0.80)
        y = canvas.top + height * (scene.horizon - canvas.top)
        size = rng.uniform(0.10, 0.20) * (1.2 - 0.7 * height)
        _cloud(scene, (bodies, tops), (x, y), size, 1.0 if disc[0] > x else -1.0)
    body, lit, opacity = _cloud_colours(light)
    for layer, colour, share in ((bodies, body, opacity), (tops, lit, opacity)):
        soft = layer.filter(ImageFilter.GaussianBlur(coarse[0] * 0.004))
        canvas.veil(colour, np.asarray(soft, dtype=np.float32) / 255 * share)


_AMOUNT = {"clear": 4, "wind": 7, "cloudy": 11, "rain": 14, "storm": 15, "snow": 9, "fog": 0, "mist": 3}


def _cloud_colours(light: Light) -> tuple[RGB, RGB, float]:
    middle = light.sky[1]
    if light.time in ("dawn", "dusk", "golden") and light.disc:
        return mix(middle, light.sky[0], 0.35), mix(light.sky[2], light.key, 0.5), 0.75
    if light.time == "night":
        return mix(middle, light.sky[2], 0.45), mix(middle, light.key, 0.24), 0.7
    grey = darker(middle, 0.10 if light.disc else 0.22)
    return mix(grey, lighter(middle, 0.4), 0.5), lighter(middle, 0.75 if light.disc else 0.2), 0.85


def _cloud(scene: Scene, layers: tuple[Image.Image, Image.Image], at: Point, size: float, toward: float) -> None:
    rng, canvas = scene.rng, scene.canvas
    bodies, tops = (ImageDraw.Draw(layer) for layer in layers)
    share = layers[0].width / canvas.image.width
    for k in range(5):
        dx = (k - 2 + rng.uniform(-0.3, 0.3)) * size * 0.5
        radius = size * (0.40 - 0.09 * abs(k - 2)) * rng.uniform(0.85, 1.15)
        for pen, lift, grow in ((bodies, 0.0, 1.0), (tops, radius * 0.18, 0.86)):
            left, top = canvas.pixel(at[0] + dx + toward * lift - radius * grow * 1.25, at[1] - lift - radius * grow)
            right, low = canvas.pixel(at[0] + dx + toward * lift + radius * grow * 1.25, at[1] - lift + radius * 0.34)
            pen.ellipse((left * share, top * share, right * share, low * share), fill=255)


def _lightning(scene: Scene) -> None:
    canvas, rng = scene.canvas, scene.rng
    x = canvas.left + (canvas.right - canvas.left) * rng.uniform(0.2, 0.8)
    y, step = canvas.top, (scene.horizon - canvas.top) / 7
    points = [(x, y)]
    for _ in range(7):
        x, y = x + rng.uniform(-0.05, 0.05), y + step
        points.append((x, y))
    canvas.stroke(points, 0.008, rgb("#fff7d8"), 0.002, curved=False)
    branch = [*points[3:4], (points[3][0] + 0.05, points[3][1] + step), (points[3][0] + 0.08, points[3][1] + 2 * step)]
    canvas.stroke(branch, 0.005, rgb("#f2ecff"), 0.001, curved=False)
    scene.shine(points[2][0], points[2][1], 0.5, rgb("#c9c4ff"), 0.7)
