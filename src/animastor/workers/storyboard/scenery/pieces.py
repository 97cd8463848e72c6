"""Single things of the outdoors that several settings use: trees, bushes, grass, rocks, ground, water."""

from __future__ import annotations

import math

from animastor.workers.storyboard.colour import RGB, darker, lighter, mix, rgb, veiled
from animastor.workers.storyboard.geometry import Point, Points, ridge, smooth, tuft
from animastor.workers.storyboard.sky import Scene

SNOW = rgb("#eef3f8")
GRASS = rgb("#7fa653")
FOLIAGE = rgb("#5d8a4a")
PINE = rgb("#3f6b57")
BARK = rgb("#6b4d3a")
STONE = rgb("#9a958f")
EARTH = rgb("#a98560")
WATER = rgb("#4f86a6")


def snowy(scene: Scene, colour: RGB, share: float = 0.85) -> RGB:
    """The colour of a thing on which snow lies, when it snows."""
    return mix(colour, SNOW, share) if scene.light.weather == "snow" else colour


def band(scene: Scene, line: Points, colour: RGB, depth: float, foot: float | None = None, hazy: float = 0.22) -> None:
    """Land from a soft skyline down to `foot` (by default below the picture), paler towards its foot."""
    canvas = scene.canvas
    low = canvas.bottom + 0.05 if foot is None else foot
    top = scene.light.seen(colour, depth)
    curve = smooth(line, closed=False)
    outline = [*curve, (curve[-1][0], low), (curve[0][0], low)]
    canvas.shaded(outline, top, mix(top, scene.light.haze, hazy) if depth > 0.2 else darker(top, 0.22))


def hills(scene: Scene, colour: RGB, depth: float, y: float, height: float, spans: int = 6) -> None:
    """A soft line of hills over the whole width."""
    canvas = scene.canvas
    band(scene, ridge(scene.rng, canvas.left - 0.2, canvas.right + 0.2, y, height, spans), colour, depth)


def ground(scene: Scene, colour: RGB, top: float | None = None, dabs: int = 70) -> None:
    """Flat ground from the horizon down, deeper in colour at hand, with loose brush marks."""
    canvas, light, rng = scene.canvas, scene.light, scene.rng
    high = scene.horizon if top is None else top
    far, near = light.seen(colour, 0.75), darker(light.seen(colour, 0.0), 0.18)
    left, right, low = canvas.left - 0.05, canvas.right + 0.05, canvas.bottom + 0.05
    canvas.shaded([(left, high), (right, high), (right, low), (left, low)], far, near)
    for _ in range(dabs):
        share = rng.random() ** 0.7
        y = high + share * (low - high)
        tone = lighter(light.seen(colour, 1 - share), 0.16) if rng.random() < 0.5 else darker(near, 0.12)
        length = (0.02 + 0.16 * share) * rng.uniform(0.5, 1.3)
        canvas.oval(rng.uniform(left, right), y, length, length * rng.uniform(0.05, 0.10), veiled(tone, 0.28))


def grass(
    scene: Scene, y: float, count: int, colour: RGB, size: float = 0.03, depth: float = 0.0, left: float | None = None
) -> None:
    """Blades of grass in tufts along a line, from `left` (by default the picture's edge) to the right edge."""
    canvas, rng = scene.canvas, scene.rng
    start = canvas.left if left is None else left
    for _ in range(count):
        x, foot = rng.uniform(start, canvas.right), y + rng.uniform(-0.012, 0.02)
        tone = scene.light.seen(mix(colour, lighter(colour, 0.4), rng.random()), depth)
        for _ in range(4):
            lean = rng.uniform(-0.5, 0.5) + (0.5 if scene.light.weather in ("wind", "storm") else 0)
            height = size * rng.uniform(0.5, 1.2)
            tip = (x + lean * height, foot - height)
            canvas.stroke([(x, foot), (x + lean * height * 0.3, foot - height * 0.6), tip], size * 0.16, tone, 0.001)


def flowers(scene: Scene, y: float, count: int, size: float, colours: tuple[RGB, ...]) -> None:
    """Dots of flowers on stems along a line."""
    canvas, rng = scene.canvas, scene.rng
    for _ in range(count):
        x, foot = rng.uniform(canvas.left, canvas.right), y + rng.uniform(-0.03, 0.03)
        height = size * rng.uniform(1.2, 2.2)
        canvas.stroke([(x, foot), (x, foot - height)], size * 0.14, scene.light.seen(FOLIAGE), curved=False)
        bloom = scene.light.figure(rng.choice(colours))
        for k in range(5):
            angle = math.tau * k / 5
            r = size * 0.28
            canvas.oval(x + r * math.cos(angle), foot - height + r * math.sin(angle), r * 0.8, r * 0.8, bloom)
        canvas.oval(x, foot - height, size * 0.18, size * 0.18, scene.light.figure(rgb("#f6d24a")))


def tree(scene: Scene, x: float, foot: float, height: float, depth: float = 0.0, colour: RGB = FOLIAGE) -> None:
    """A leafy tree: a forked trunk, a shadowed crown, lit clumps on the side of the light."""
    canvas, light, rng = scene.canvas, scene.light, scene.rng
    bark = light.seen(BARK, depth)
    lean = 0.05 * height if light.weather in ("wind", "storm") else 0.0
    top = (x + lean, foot - height * 0.55)
    canvas.stroke([(x, foot), (x + lean * 0.3, foot - height * 0.3), top], height * 0.085, bark, height * 0.04)
    for side in (-1, 1):
        tip = (x + lean + side * height * 0.17, foot - height * 0.66)
        canvas.stroke([(x + lean * 0.3, foot - height * 0.32), tip], height * 0.035, bark, height * 0.012)
    leaf = light.seen(snowy(scene, colour, 0.55), depth)
    clumps = [(0.0, -0.70, 0.30), (-0.20, -0.58, 0.23), (0.21, -0.60, 0.23), (-0.08, -0.86, 0.20), (0.12, -0.80, 0.20)]
    for dx, dy, r in clumps:
        canvas.blob(tuft(rng, x + lean + dx * height, foot + dy * height, r * height), darker(leaf, 0.22))
    for dx, dy, r in clumps:
        cx, cy = x + lean + dx * height + r * 0.12 * height, foot + dy * height - r * height * 0.16
        canvas.blob(tuft(rng, cx, cy, r * height * 0.76), leaf)
    for dx, dy, r in clumps[:4]:
        cx, cy = x + lean + dx * height + r * 0.25 * height, foot + dy * height - r * height * 0.38
        canvas.blob(
            tuft(rng, cx, cy, r * height * 0.36), veiled(mix(leaf, lighter(light.seen(colour, depth), 0.35), 0.6), 0.7)
        )


def pine(scene: Scene, x: float, foot: float, height: float, depth: float = 0.0, colour: RGB = PINE) -> None:
    """A fir: skirts of branches, each lit on its upper edge."""
    canvas, light = scene.canvas, scene.light
    canvas.box(x - height * 0.022, foot - height * 0.2, x + height * 0.022, foot, light.seen(BARK, depth))
    base = light.seen(colour, depth)
    for k in range(5):
        share = k / 5
        y, half = foot - height * (0.12 + share * 0.62), height * (0.24 - 0.19 * share)
        top = y - height * 0.30
        left, right = (x - half, y), (x + half, y)
        droop = [(x + half * 0.5, y - height * 0.03), (x, y + height * 0.02), (x - half * 0.5, y - height * 0.03)]
        canvas.shape([(x, top), right, *droop, left], darker(base, 0.16 - 0.03 * k))
        lit = lighter(base, 0.10)
        canvas.shape([(x, top), (x + half * 0.95, y), (x + half * 0.4, y - height * 0.045)], lit)
        if light.weather == "snow":
            snow = light.seen(SNOW, depth)
            canvas.shape(
                [
                    (x, top),
                    (x + half * 0.8, y - height * 0.03),
                    (x, y - height * 0.1),
                    (x - half * 0.7, y - height * 0.02),
                ],
                snow,
            )


def bush(scene: Scene, x: float, foot: float, size: float, depth: float = 0.0, colour: RGB = FOLIAGE) -> None:
    """A round bush."""
    canvas, rng = scene.canvas, scene.rng
    leaf = scene.light.seen(snowy(scene, colour, 0.5), depth)
    for dx, r, tone in ((-0.5, 0.55, darker(leaf, 0.2)), (0.45, 0.6, darker(leaf, 0.15)), (0.0, 0.75, leaf)):
        canvas.blob(tuft(rng, x + dx * size, foot - r * size * 0.55, r * size), tone)
    canvas.blob(tuft(rng, x + 0.15 * size, foot - size * 0.75, size * 0.34), lighter(leaf, 0.14))


def rock(scene: Scene, x: float, foot: float, size: float, depth: float = 0.0, colour: RGB = STONE) -> None:
    """A boulder with a lit face."""
    canvas, rng = scene.canvas, scene.rng
    tone = scene.light.seen(snowy(scene, colour, 0.3), depth)
    height = size * rng.uniform(0.6, 0.9)
    body = [(x - size, foot), (x - size * 0.8, foot - height * 0.6), (x - size * 0.1, foot - height)]
    body += [(x + size * 0.6, foot - height * 0.8), (x + size, foot - height * 0.2), (x + size * 0.9, foot)]
    canvas.shape(body, darker(tone, 0.18))
    face = [
        (x - size * 0.1, foot - height),
        (x + size * 0.6, foot - height * 0.8),
        (x + size * 0.35, foot - height * 0.35),
    ]
    canvas.shape([*face, (x - size * 0.35, foot - height * 0.45)], lighter(tone, 0.14))


def water(scene: Scene, top: float, bottom: float, colour: RGB = WATER) -> None:
    """Water from `top` down to `bottom`: the sky in it, waves that grow towards us, the path of sun or moon."""
    canvas, light, rng = scene.canvas, scene.light, scene.rng
    deep = light.seen(colour, 0.0)
    far = mix(light.sky[2], light.seen(colour, 0.6), 0.45)
    left, right = canvas.left - 0.05, canvas.right + 0.05
    canvas.shaded([(left, top), (right, top), (right, bottom), (left, bottom)], far, darker(deep, 0.25))
    rough = 1.8 if light.weather in ("storm", "wind") else 1.0
    for _ in range(110):
        share = rng.random() ** 0.8
        y = top + share * (bottom - top)
        length = (0.015 + 0.13 * share) * rng.uniform(0.5, 1.4)
        crest = (0.0015 + 0.006 * share) * rough
        tone = mix(light.sky[1], deep, 0.35) if rng.random() < 0.65 else darker(deep, 0.3)
        x = rng.uniform(left, right)
        points = [
            (x - length, y),
            (x - length * 0.3, y - crest * 1.6),
            (x + length * 0.4, y - crest * 0.6),
            (x + length, y),
        ]
        canvas.stroke(points, crest, veiled(lighter(tone, 0.12), 0.6), 0.0005)


def glitter(scene: Scene, x: float, top: float, bottom: float, colour: RGB, width: float = 0.10) -> None:
    """The broken reflection of a light on water below it."""
    canvas, rng = scene.canvas, scene.rng
    for k in range(26):
        share = k / 26
        y = top + share * (bottom - top)
        half = width * (0.25 + 0.75 * share) * rng.uniform(0.3, 1.0)
        at = x + rng.uniform(-0.5, 0.5) * width * (0.3 + share)
        canvas.oval(at, y, half, 0.0022 + 0.003 * share, veiled(colour, 0.55 * (1 - share * 0.6)))


def path(scene: Scene, points: list[Point], near: float, far: float, colour: RGB = EARTH) -> None:
    """A path from at hand (first point) to far away (last), narrowing with height as a flat road does."""
    tone = scene.light.seen(snowy(scene, colour, 0.6), 0.25)
    line = smooth(points, closed=False)
    low, high = line[0][1], line[-1][1]
    widths = [far + (near - far) * max(0.0, (y - high) / max(1e-6, low - high)) ** 1.5 for _, y in line]
    for share, shift, paint in ((0.5, 0.0, darker(tone, 0.08)), (0.34, 0.06, veiled(lighter(tone, 0.18), 0.5))):
        left = [(x + w * (shift - share), y) for (x, y), w in zip(line, widths, strict=True)]
        right = [(x + w * (shift + share), y) for (x, y), w in zip(line, widths, strict=True)]
        scene.canvas.shape([*left, *reversed(right)], paint)
