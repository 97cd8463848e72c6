"""Boats and ships, and what lies about on a quay."""

from __future__ import annotations

from animastor.workers.storyboard.colour import RGB, darker, lighter, rgb, veiled
from animastor.workers.storyboard.geometry import smooth
from animastor.workers.storyboard.sky import Scene

HULLS = (rgb("#b5493d"), rgb("#3f6f86"), rgb("#e0d4bb"), rgb("#4f7a5c"))


def rowing_boat(
    scene: Scene, x: float, line: float, length: float, depth: float, colour: RGB, figures_inside: bool = False
) -> None:
    """A small open boat on its water line, seen from the side; its near side hides what stands inside."""
    canvas, light = scene.canvas, scene.light
    tone = light.figure(colour) if figures_inside else light.seen(colour, depth)
    h = length * 0.20
    hull = [
        (x - length * 0.52, line - h * 1.12),
        (x - length * 0.2, line - h * 0.80),
        (x + length * 0.2, line - h * 0.80),
        (x + length * 0.54, line - h * 1.3),
    ]
    keel = [(x + length * 0.42, line + h * 0.1), (x, line + h * 0.22), (x - length * 0.40, line + h * 0.1)]
    top = smooth(hull, closed=False)
    canvas.shape([*top, *smooth(keel, closed=False)], tone)
    shadow = [(p[0], p[1] + h * 0.52) for p in top]
    canvas.shape([*shadow, *smooth(keel, closed=False)], veiled(darker(tone, 0.4), 0.5))
    canvas.stroke(hull, h * 0.17, lighter(tone, 0.5))
    canvas.stroke([(px, py + h * 0.36) for px, py in hull], h * 0.05, darker(tone, 0.3))
    foam = light.seen((220, 232, 236), depth * 0.5)
    canvas.stroke(
        [(x - length * 0.5, line + h * 0.12), (x, line + h * 0.26), (x + length * 0.5, line + h * 0.12)],
        h * 0.10,
        veiled(foam, 0.55),
        h * 0.04,
    )


def fishing_boat(scene: Scene, x: float, line: float, length: float, depth: float, colour: RGB) -> None:
    """A fishing boat with a cabin, a mast, a furled sail and a lamp."""
    canvas, light = scene.canvas, scene.light
    mast = light.seen(rgb("#5e4636"), depth)
    scene.upright(x - length * 0.06, line - length * 1.05, line)
    canvas.stroke(
        [(x - length * 0.06, line), (x - length * 0.06, line - length * 1.05)],
        length * 0.022,
        mast,
        length * 0.012,
        curved=False,
    )
    canvas.stroke(
        [(x - length * 0.06, line - length * 1.0), (x + length * 0.5, line - length * 0.25)],
        length * 0.006,
        mast,
        curved=False,
    )
    canvas.stroke(
        [(x - length * 0.06, line - length * 1.0), (x - length * 0.5, line - length * 0.22)],
        length * 0.006,
        mast,
        curved=False,
    )
    sail = light.seen(rgb("#d9b98c"), depth)
    canvas.stroke(
        [(x - length * 0.06, line - length * 0.42), (x - length * 0.42, line - length * 0.34)], length * 0.055, sail
    )
    cabin = light.seen(rgb("#ece3d2"), depth)
    canvas.box(x + length * 0.08, line - length * 0.42, x + length * 0.30, line - length * 0.15, cabin)
    canvas.box(
        x + length * 0.05, line - length * 0.45, x + length * 0.33, line - length * 0.41, light.seen(colour, depth)
    )
    glass = rgb("#ffcf7a") if light.lamps else light.seen(rgb("#6f8799"), depth)
    canvas.box(x + length * 0.12, line - length * 0.37, x + length * 0.18, line - length * 0.29, glass)
    canvas.box(x + length * 0.21, line - length * 0.37, x + length * 0.27, line - length * 0.29, glass)
    if light.lamps:
        scene.shine(x - length * 0.06, line - length * 0.98, length * 0.35, strength=0.7, depth=depth)
        scene.shine(x + length * 0.2, line - length * 0.33, length * 0.3, strength=0.5, depth=depth)
    rowing_boat(scene, x, line, length, depth, colour)


def sailing_ship(scene: Scene, x: float, line: float, length: float, depth: float) -> None:
    """A ship under sail, far away."""
    canvas, light = scene.canvas, scene.light
    timber, sail = light.seen(rgb("#5b4034"), depth), light.seen(rgb("#f1e6cf"), depth)
    for dx, tall in ((-0.24, 0.85), (0.02, 1.05), (0.26, 0.8)):
        mx = x + dx * length
        canvas.stroke([(mx, line), (mx, line - length * tall)], length * 0.012, timber, curved=False)
        for k in range(3):
            y, half = line - length * tall * (0.28 + 0.22 * k), length * (0.15 - 0.03 * k)
            canvas.blob(
                [
                    (mx - half, y),
                    (mx + half, y),
                    (mx + half * 0.8, y - length * 0.17),
                    (mx - half * 0.8, y - length * 0.17),
                ],
                sail,
            )
    rowing_boat(scene, x, line, length, depth, rgb("#5b4034"))


def bollard(scene: Scene, x: float, foot: float, size: float) -> None:
    """A mooring post with rope round it."""
    canvas, light = scene.canvas, scene.light
    iron, rope = light.seen(rgb("#41454f")), light.seen(rgb("#c9a66b"))
    canvas.box(x - size * 0.3, foot - size, x + size * 0.3, foot, iron)
    canvas.oval(x, foot, size * 0.42, size * 0.14, darker(iron, 0.2))
    canvas.oval(x, foot - size, size * 0.42, size * 0.2, lighter(iron, 0.14))
    for k in range(3):
        y = foot - size * (0.3 + 0.15 * k)
        canvas.stroke([(x - size * 0.33, y), (x, y + size * 0.09), (x + size * 0.33, y)], size * 0.12, rope)


def crate(scene: Scene, x: float, foot: float, size: float) -> None:
    """A wooden crate."""
    canvas = scene.canvas
    wood = scene.light.seen(rgb("#a97f53"))
    canvas.box(x - size / 2, foot - size * 0.8, x + size / 2, foot, wood)
    for k in range(4):
        y = foot - size * 0.2 * k
        canvas.box(x - size / 2, y - size * 0.03, x + size / 2, y, darker(wood, 0.35))
    for side in (-0.42, 0.32):
        canvas.box(x + side * size, foot - size * 0.8, x + (side + 0.1) * size, foot, darker(wood, 0.18))


def barrel(scene: Scene, x: float, foot: float, size: float) -> None:
    """A barrel with hoops."""
    canvas = scene.canvas
    wood = scene.light.seen(rgb("#9a6b45"))
    canvas.blob(
        [
            (x - size * 0.36, foot),
            (x - size * 0.46, foot - size * 0.5),
            (x - size * 0.36, foot - size),
            (x + size * 0.36, foot - size),
            (x + size * 0.46, foot - size * 0.5),
            (x + size * 0.36, foot),
        ],
        wood,
    )
    canvas.oval(x, foot - size, size * 0.37, size * 0.11, darker(wood, 0.25))
    for share in (0.22, 0.78):
        y = foot - size * share
        canvas.stroke(
            [(x - size * 0.42, y), (x, y + size * 0.05), (x + size * 0.42, y)], size * 0.06, darker(wood, 0.5)
        )
