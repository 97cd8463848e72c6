"""Settings under the sky without water: forest, field, garden, mountain, desert, road, night sky."""

from __future__ import annotations

import math

from animastor.workers.storyboard.colour import darker, lighter, mix, rgb, veiled
from animastor.workers.storyboard.geometry import peaks, smooth
from animastor.workers.storyboard.scenery import buildings, pieces
from animastor.workers.storyboard.sky import Scene, paint_sky

BLOOMS = (rgb("#d9534f"), rgb("#f0c24a"), rgb("#e6e0f2"), rgb("#b06fb5"), rgb("#ef8f6a"))


def forest(scene: Scene) -> None:
    """Rows of trunks going into haze, light between them, ferns at hand."""
    canvas, light, rng = scene.canvas, scene.light, scene.rng
    paint_sky(scene)
    pieces.hills(scene, rgb("#4f7a5a"), 0.9, scene.horizon - 0.10, 0.10)
    for depth, count, tall in ((0.62, 22, 0.34), (0.36, 15, 0.48), (0.12, 9, 0.68)):
        foot = scene.horizon + (1 - depth) * 0.20
        for k in range(count):
            x = canvas.left + (canvas.right - canvas.left) * (k + rng.uniform(0.1, 0.9)) / count
            kind = pieces.pine if rng.random() < 0.55 else pieces.tree
            kind(scene, x, foot, tall * rng.uniform(0.8, 1.15), depth)
        canvas.veil(light.haze, _rising(scene, foot, 0.14 * depth + 0.4 * light.fog))
    pieces.ground(scene, pieces.snowy(scene, rgb("#6f8050")), scene.horizon + 0.11)
    pieces.path(
        scene,
        [
            (canvas.width * 0.52, canvas.bottom + 0.05),
            (canvas.width * 0.44, scene.horizon + 0.24),
            (canvas.width * 0.55, scene.horizon + 0.11),
        ],
        0.5,
        0.03,
    )
    if not light.dark:
        _sunbeams(scene)
    pieces.grass(scene, scene.horizon + 0.15, 26, rgb("#6f9450"), 0.035, 0.3)


def _sunbeams(scene: Scene) -> None:
    canvas, rng = scene.canvas, scene.rng
    x = canvas.width * rng.uniform(0.3, 0.6)
    for k in range(4):
        top = x + 0.16 * k
        beam = [
            (top, canvas.top - 0.1),
            (top + 0.05, canvas.top - 0.1),
            (top + 0.36, scene.ground),
            (top + 0.24, scene.ground),
        ]
        canvas.shape(beam, veiled(lighter(scene.light.key, 0.3), 0.10))


def _rising(scene: Scene, foot: float, opacity: float) -> list[float]:
    """A band of mist that lies at a height of the scene."""
    canvas = scene.canvas
    rows = []
    for k in range(40):
        y = canvas.scene(0, canvas.height * k / 39)[1]
        rows.append(opacity * math.exp(-(((y - foot + 0.03) / 0.13) ** 2)))
    return rows


def forest_front(scene: Scene) -> None:
    """A trunk and ferns at the edges."""
    canvas, light, rng = scene.canvas, scene.light, scene.rng
    bark = darker(light.seen(pieces.BARK), 0.35)
    for x, w in ((-0.02, 0.15), (canvas.width + 0.03, 0.19)):
        canvas.blob(
            [
                (x - w * 0.8, canvas.bottom + 0.1),
                (x - w * 0.42, 0.5),
                (x - w * 0.5, -0.1),
                (x + w * 0.5, -0.1),
                (x + w * 0.42, 0.5),
                (x + w * 0.8, canvas.bottom + 0.1),
            ],
            bark,
        )
        for k in range(5):
            y = 0.15 + 0.17 * k + rng.uniform(-0.03, 0.03)
            canvas.stroke([(x - w * 0.2, y), (x + w * 0.05, y + 0.08)], 0.008, veiled(darker(bark, 0.5), 0.6), 0.002)
    pieces.grass(scene, canvas.bottom + 0.0, 22, rgb("#5d8a4a"), 0.10)


def field(scene: Scene) -> None:
    """Meadows and hills with a lone tree and flowers."""
    canvas, rng = scene.canvas, scene.rng
    paint_sky(scene)
    pieces.hills(scene, rgb("#7d9aa6"), 0.92, scene.horizon + 0.01, 0.16, 5)
    pieces.hills(scene, pieces.snowy(scene, rgb("#8aab68")), 0.62, scene.horizon + 0.05, 0.10, 5)
    for _ in range(8):
        pieces.tree(
            scene,
            rng.uniform(canvas.left, canvas.right),
            scene.horizon + rng.uniform(0.0, 0.06),
            rng.uniform(0.06, 0.11),
            0.6,
        )
    pieces.hills(scene, pieces.snowy(scene, rgb("#93b561")), 0.32, scene.horizon + 0.12, 0.06, 4)
    pieces.ground(scene, pieces.snowy(scene, pieces.GRASS), scene.horizon + 0.14)
    pieces.tree(scene, canvas.width * 0.84, scene.ground - 0.05, 0.50, 0.08)
    pieces.grass(scene, scene.ground - 0.02, 46, pieces.GRASS, 0.045)
    if scene.light.weather != "snow":
        pieces.flowers(scene, scene.ground + 0.10, 26, 0.022, BLOOMS)


def garden(scene: Scene) -> None:
    """Hedges, flower beds, an arch of roses, a fence."""
    canvas, light, rng = scene.canvas, scene.light, scene.rng
    paint_sky(scene)
    pieces.hills(scene, pieces.snowy(scene, rgb("#86a76c")), 0.7, scene.horizon + 0.02, 0.08)
    for k in range(7):
        pieces.tree(scene, canvas.width * (0.02 + 0.16 * k), scene.horizon + 0.05, rng.uniform(0.18, 0.28), 0.5)
    pieces.ground(scene, pieces.snowy(scene, rgb("#8db35c")), scene.horizon + 0.05)
    for k in range(12):
        pieces.bush(scene, canvas.width * (k + 0.5) / 12, scene.horizon + 0.10, 0.075, 0.3)
    pieces.path(
        scene,
        [
            (canvas.width * 0.5, canvas.bottom + 0.1),
            (canvas.width * 0.52, scene.ground - 0.06),
            (canvas.width * 0.5, scene.horizon + 0.09),
        ],
        0.42,
        0.09,
        rgb("#d8c4a0"),
    )
    _rose_arch(scene, canvas.width * 0.5, scene.horizon + 0.12, 0.17)
    if light.weather != "snow":
        for side in (0.16, 0.84):
            for _ in range(14):
                x, y = canvas.width * side + rng.uniform(-0.22, 0.22), scene.ground - 0.05 + rng.uniform(-0.05, 0.05)
                canvas.oval(x, y, 0.016, 0.016, light.figure(rng.choice(BLOOMS)))
                canvas.oval(x, y, 0.006, 0.006, light.figure(rgb("#f6d24a")))
    pieces.grass(scene, scene.ground - 0.02, 34, pieces.GRASS, 0.035)


def _rose_arch(scene: Scene, x: float, foot: float, size: float) -> None:
    canvas, light, rng = scene.canvas, scene.light, scene.rng
    wood = light.seen(rgb("#efe6d6"), 0.2)
    top = foot - size * 1.5
    for side in (-1, 1):
        canvas.box(x + side * size * 0.6 - 0.008, top + size * 0.4, x + side * size * 0.6 + 0.008, foot, wood)
    points = [
        (x - size * 0.6, top + size * 0.4),
        (x - size * 0.4, top),
        (x, top - size * 0.14),
        (x + size * 0.4, top),
        (x + size * 0.6, top + size * 0.4),
    ]
    canvas.stroke(points, 0.03, wood)
    for px, py in smooth(points, closed=False)[::2]:
        leaf = light.seen(pieces.snowy(scene, pieces.FOLIAGE, 0.4), 0.2)
        canvas.oval(px + rng.uniform(-0.02, 0.02), py + rng.uniform(-0.02, 0.02), 0.028, 0.024, leaf)
        canvas.oval(
            px + rng.uniform(-0.02, 0.02), py + rng.uniform(-0.02, 0.02), 0.013, 0.013, light.figure(rgb("#d9607a"))
        )


def mountain(scene: Scene) -> None:
    """Ranges one behind the other, snow on the summits, firs at hand."""
    canvas, rng, light = scene.canvas, scene.rng, scene.light
    paint_sky(scene)
    for depth, height, colour in ((0.95, 0.40, rgb("#7a8fb0")), (0.70, 0.30, rgb("#6a7f96"))):
        line = peaks(rng, canvas.left - 0.3, canvas.right + 0.3, scene.horizon + 0.04, height, 5)
        tone = light.seen(colour, depth * 0.8)
        canvas.shaded(
            [(canvas.left - 0.3, scene.horizon + 0.1), *line, (canvas.right + 0.4, scene.horizon + 0.1)],
            tone,
            mix(tone, light.haze, 0.5),
        )
        for i in range(2, len(line) - 2, 4):
            _snow_cap(scene, line, i, depth)
    pieces.hills(scene, pieces.snowy(scene, rgb("#5f8060")), 0.45, scene.horizon + 0.07, 0.08, 5)
    x = canvas.left
    while x < canvas.right:
        pieces.pine(scene, x, scene.horizon + rng.uniform(0.07, 0.11), rng.uniform(0.07, 0.16), 0.4)
        x += rng.uniform(0.03, 0.10)
    pieces.ground(scene, pieces.snowy(scene, rgb("#8a9a68")), scene.horizon + 0.10)
    for _ in range(7):
        pieces.rock(
            scene,
            rng.uniform(canvas.left, canvas.right),
            scene.ground - rng.uniform(-0.03, 0.05),
            rng.uniform(0.02, 0.055),
        )
    pieces.grass(scene, scene.ground, 30, rgb("#8aa05a"), 0.035)


def _snow_cap(scene: Scene, line: list[tuple[float, float]], i: int, depth: float) -> None:
    (lx, ly), (x, y), (rx, ry) = line[i - 1], line[i], line[i + 1]
    snow = scene.light.seen(pieces.SNOW, depth * 0.6)
    a, b = 0.45, 0.6
    left, right = (x + (lx - x) * a, y + (ly - y) * a), (x + (rx - x) * b, y + (ry - y) * b)
    drop = abs(ly - y) * 0.25
    scene.canvas.shape(
        [
            (x, y),
            right,
            (x + (right[0] - x) * 0.5, right[1] - drop * 0.2),
            (x, y + drop * 1.2),
            (x + (left[0] - x) * 0.5, left[1] - drop * 0.3),
            left,
        ],
        snow,
    )


def desert(scene: Scene) -> None:
    """Dunes with sharp crests, a palm, far rocks."""
    canvas, light = scene.canvas, scene.light
    paint_sky(scene)
    pieces.band(
        scene, peaks(scene.rng, canvas.left - 0.2, canvas.right + 0.2, scene.horizon, 0.10, 4), rgb("#b58a76"), 0.9
    )
    sand = rgb("#e3b878")
    for depth, y, swing in ((0.6, 0.02, 0.05), (0.3, 0.09, 0.06), (0.05, 0.17, 0.05)):
        shift = scene.rng.uniform(0.2, 0.8)
        crest = [
            (canvas.left - 0.2, scene.horizon + y),
            (canvas.width * shift * 0.6, scene.horizon + y - swing),
            (canvas.width * shift, scene.horizon + y + swing * 0.4),
            (canvas.width * 0.9, scene.horizon + y - swing * 0.7),
            (canvas.right + 0.3, scene.horizon + y),
        ]
        pieces.band(scene, crest, sand, depth)
        shade = smooth(crest, closed=False)
        canvas.shape(
            [*shade, *[(px - 0.12, py + 0.06) for px, py in reversed(shade)]],
            veiled(darker(light.seen(sand, depth), 0.35), 0.22),
        )
    _palm(scene, canvas.width * 0.85, scene.ground - 0.06, 0.34)


def _palm(scene: Scene, x: float, foot: float, height: float) -> None:
    canvas, light = scene.canvas, scene.light
    top = (x - height * 0.12, foot - height)
    canvas.stroke(
        [(x, foot), (x + height * 0.02, foot - height * 0.5), top],
        height * 0.07,
        light.seen(pieces.BARK),
        height * 0.04,
    )
    leaf = light.seen(rgb("#5a8a50"))
    for k in range(7):
        angle = math.pi * (1.0 + k / 6)
        tip = (top[0] + height * 0.42 * math.cos(angle), top[1] + height * 0.16 * math.sin(angle) + height * 0.14)
        middle = (top[0] + height * 0.24 * math.cos(angle), top[1] + height * 0.22 * math.sin(angle) - height * 0.02)
        canvas.stroke([top, middle, tip], height * 0.06, leaf if k % 2 else darker(leaf, 0.2), 0.002)


def road(scene: Scene) -> None:
    """A road over the hills to the horizon, telegraph poles or trees along it."""
    canvas, rng = scene.canvas, scene.rng
    paint_sky(scene)
    pieces.hills(scene, rgb("#7f95a0"), 0.9, scene.horizon + 0.01, 0.12, 5)
    pieces.hills(scene, pieces.snowy(scene, rgb("#8aa765")), 0.5, scene.horizon + 0.05, 0.06, 5)
    pieces.ground(scene, pieces.snowy(scene, rgb("#93ab5f")), scene.horizon + 0.06)
    pieces.path(
        scene,
        [
            (canvas.width * 0.46, canvas.bottom + 0.1),
            (canvas.width * 0.40, scene.horizon + 0.26),
            (canvas.width * 0.60, scene.horizon + 0.14),
            (canvas.width * 0.54, scene.horizon + 0.055),
        ],
        0.75,
        0.02,
    )
    for x, foot, size in (
        (0.76, 0.09, 0.16),
        (0.72, 0.13, 0.24),
        (0.90, 0.20, 0.42),
        (0.30, 0.10, 0.18),
        (0.16, 0.16, 0.32),
    ):
        pieces.tree(scene, canvas.width * x, scene.horizon + foot, size * rng.uniform(0.9, 1.1), 0.5 - size)
    _signpost(scene, canvas.width * 0.26, scene.ground - 0.02)
    pieces.grass(scene, scene.ground, 36, pieces.GRASS, 0.04)


def _signpost(scene: Scene, x: float, foot: float) -> None:
    canvas, wood = scene.canvas, scene.light.seen(rgb("#8a6a4c"))
    canvas.box(x - 0.008, foot - 0.2, x + 0.008, foot, wood)
    for dy, way in ((0.0, 1), (0.055, -1)):
        y = foot - 0.19 + dy
        canvas.shape(
            [
                (x - way * 0.02, y),
                (x + way * 0.10, y),
                (x + way * 0.13, y + 0.02),
                (x + way * 0.10, y + 0.04),
                (x - way * 0.02, y + 0.04),
            ],
            lighter(wood, 0.2),
        )


def night_sky(scene: Scene) -> None:
    """Stars and a planet above a dark hill, for scenes among the stars."""
    canvas, rng, light = scene.canvas, scene.rng, scene.light
    paint_sky(scene)
    for k in range(26):
        x = canvas.width * (k / 26)
        canvas.oval(
            x,
            0.1 + 0.25 * math.sin(k / 4) * 0.5 + 0.2,
            rng.uniform(0.05, 0.12),
            rng.uniform(0.02, 0.05),
            veiled(mix(light.sky[2], rgb("#c9b8ff"), 0.4), 0.07),
        )
    for _ in range(140):
        r = rng.choice((0.0014, 0.002, 0.003))
        canvas.oval(
            rng.uniform(canvas.left, canvas.right),
            rng.uniform(canvas.top, scene.horizon + 0.1),
            r,
            r,
            veiled(rgb("#fff8e0"), rng.uniform(0.4, 1.0)),
        )
    x, y, r = canvas.width * 0.78, 0.20, 0.085
    planet = rgb("#d99a6a")
    canvas.oval(x, y, r, r, planet)
    canvas.oval(x + r * 0.2, y + r * 0.15, r * 0.75, r * 0.75, veiled(darker(planet, 0.5), 0.3))
    canvas.stroke(
        [(x - r * 1.8, y + r * 0.35), (x, y + r * 0.12), (x + r * 1.8, y - r * 0.45)],
        0.012,
        veiled(rgb("#f3e0b8"), 0.85),
    )
    pieces.hills(scene, rgb("#4a5a72"), 0.25, scene.horizon + 0.16, 0.07, 4)
    pieces.ground(scene, rgb("#5a6a7a"), scene.horizon + 0.15, 40)


def graveyard(scene: Scene) -> None:
    """Leaning stones under a bare tree, a fence."""
    canvas, light, rng = scene.canvas, scene.light, scene.rng
    paint_sky(scene)
    pieces.hills(scene, rgb("#7d8a86"), 0.8, scene.horizon + 0.02, 0.09)
    pieces.ground(scene, pieces.snowy(scene, rgb("#7d8a5f")), scene.horizon + 0.06)
    buildings.fence(scene, scene.horizon + 0.10, 0.07, rgb("#4a4a55"))
    bark = light.seen(rgb("#4a3d3d"), 0.15)
    x, foot = canvas.width * 0.83, scene.ground - 0.06
    canvas.stroke([(x, foot), (x - 0.01, foot - 0.2), (x + 0.02, foot - 0.34)], 0.045, bark, 0.015)
    for dx, dy, tip in (
        (-0.005, -0.2, (-0.13, -0.36)),
        (0.0, -0.25, (0.14, -0.40)),
        (0.01, -0.3, (-0.06, -0.46)),
        (0.0, -0.16, (0.12, -0.26)),
    ):
        canvas.stroke(
            [
                (x + dx, foot + dy),
                (x + (dx + tip[0]) / 2, foot + (dy + tip[1]) / 2 + 0.02),
                (x + tip[0], foot + tip[1]),
            ],
            0.016,
            bark,
            0.002,
        )
    for k in range(9):
        gx, gy = canvas.width * (0.06 + 0.105 * k) + rng.uniform(-0.03, 0.03), scene.ground - rng.uniform(0.0, 0.09)
        lean, size = rng.uniform(-0.012, 0.012), rng.uniform(0.045, 0.065)
        stone = light.seen(pieces.snowy(scene, rgb("#a3a3a3"), 0.3), 0.12)
        canvas.blob(
            [
                (gx - size * 0.5, gy),
                (gx - size * 0.5 + lean, gy - size),
                (gx + lean, gy - size * 1.5),
                (gx + size * 0.5 + lean, gy - size),
                (gx + size * 0.5, gy),
            ],
            stone,
        )
        canvas.stroke(
            [(gx + lean, gy - size * 1.15), (gx + lean * 0.8, gy - size * 0.6)], 0.006, darker(stone, 0.3), curved=False
        )
    pieces.grass(scene, scene.ground, 36, rgb("#8a9a62"), 0.04)
