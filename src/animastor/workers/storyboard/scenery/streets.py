"""Settings among buildings: village, town, house, castle, church, station, ship's deck."""

from __future__ import annotations

from animastor.workers.storyboard.colour import darker, lighter, rgb, veiled
from animastor.workers.storyboard.geometry import arc
from animastor.workers.storyboard.scenery import boats, buildings, pieces
from animastor.workers.storyboard.sky import Scene, paint_sky


def village(scene: Scene) -> None:
    """A lane between cottages, hills behind."""
    canvas, rng = scene.canvas, scene.rng
    paint_sky(scene)
    pieces.hills(scene, rgb("#7f9a8a"), 0.9, scene.horizon + 0.0, 0.16, 5)
    pieces.hills(scene, pieces.snowy(scene, rgb("#8aab68")), 0.6, scene.horizon + 0.04, 0.07, 5)
    buildings.church_tower(scene, canvas.width * 0.60, scene.horizon + 0.03, 0.20, 0.65)
    pieces.ground(scene, pieces.snowy(scene, pieces.GRASS), scene.horizon + 0.05)
    for k in range(8):
        x = canvas.width * (0.06 + 0.127 * k)
        if abs(x - canvas.width * 0.52) > 0.12:
            buildings.cottage(scene, x, scene.horizon + 0.07 + rng.uniform(0, 0.01), 0.14, 0.5)
    lane = [
        (canvas.width * 0.5, canvas.bottom + 0.1),
        (canvas.width * 0.46, scene.horizon + 0.26),
        (canvas.width * 0.53, scene.horizon + 0.07),
    ]
    pieces.path(scene, lane, 0.8, 0.05, rgb("#c9ac80"))
    for x, w in ((0.12, 0.30), (0.89, 0.34)):
        buildings.cottage(scene, canvas.width * x, scene.ground - 0.07, w, 0.14)
    pieces.bush(scene, canvas.width * 0.27, scene.ground - 0.05, 0.07, 0.12)
    pieces.bush(scene, canvas.width * 0.73, scene.ground - 0.05, 0.06, 0.12)
    pieces.grass(scene, scene.ground - 0.03, 26, pieces.GRASS, 0.035)


def town(scene: Scene) -> None:
    """A street of tall houses, a tower at its end, lamps."""
    canvas, rng = scene.canvas, scene.rng
    paint_sky(scene)
    for k in range(9):
        buildings.town_house(
            scene, canvas.width * (k / 9) - 0.02, scene.horizon + 0.05, 0.19, rng.choice((2, 3, 3)), 0.72
        )
    buildings.church_tower(scene, canvas.width * 0.5, scene.horizon + 0.06, 0.30, 0.6)
    _cobbles(scene, scene.horizon + 0.05)
    middle = canvas.width / 2
    for step, (w, depth) in enumerate(((0.22, 0.42), (0.28, 0.26), (0.36, 0.10))):
        foot = scene.horizon + 0.07 + 0.055 * step
        inner = 0.30 + 0.20 * step
        for side in (-1, 1):
            left = middle - inner - w if side < 0 else middle + inner
            if -w < left < canvas.width + 0.3:
                buildings.town_house(scene, left, foot, w, 3 if step else 2 + rng.randint(0, 1), depth)
    buildings.lamp_post(scene, middle - 0.34, scene.ground - 0.04, 0.36)
    buildings.lamp_post(scene, middle + 0.44, scene.ground - 0.09, 0.28, 0.25)


def _cobbles(scene: Scene, top: float) -> None:
    canvas, light, rng = scene.canvas, scene.light, scene.rng
    stone = pieces.snowy(scene, rgb("#9c938c"), 0.7)
    pieces.ground(scene, stone, top, 30)
    low = canvas.bottom + 0.05
    tone = light.seen(stone)
    y, step, row = top + 0.02, 0.012, 0
    while y < low:
        wide = step * 3.2
        x = canvas.left - wide * rng.random()
        while x < canvas.right:
            if rng.random() < 0.5:
                paint = lighter(tone, 0.16) if rng.random() < 0.5 else darker(tone, 0.22)
                canvas.oval(x, y, wide * 0.42, step * 0.42, veiled(paint, 0.34))
            x += wide
        y, step, row = y + step, step * 1.17, row + 1


def house(scene: Scene) -> None:
    """One house with its garden gate."""
    canvas, rng = scene.canvas, scene.rng
    paint_sky(scene)
    pieces.hills(scene, rgb("#7f9a86"), 0.85, scene.horizon, 0.13)
    for k in range(5):
        pieces.tree(scene, canvas.width * (0.05 + 0.24 * k), scene.horizon + 0.06, rng.uniform(0.22, 0.30), 0.5)
    pieces.ground(scene, pieces.snowy(scene, pieces.GRASS), scene.horizon + 0.05)
    pieces.path(
        scene,
        [
            (canvas.width * 0.46, canvas.bottom + 0.1),
            (canvas.width * 0.52, scene.ground - 0.05),
            (canvas.width * 0.60, scene.horizon + 0.13),
        ],
        0.4,
        0.06,
    )
    buildings.cottage(scene, canvas.width * 0.63, scene.horizon + 0.14, 0.46, 0.16)
    pieces.tree(scene, canvas.width * 0.12, scene.ground - 0.05, 0.52, 0.08)
    for x in (0.42, 0.86, 0.94):
        pieces.bush(scene, canvas.width * x, scene.horizon + 0.16, 0.06, 0.15)
    buildings.fence(scene, scene.ground - 0.03, 0.075, rgb("#efe6d6"), right=canvas.width * 0.34)
    buildings.fence(scene, scene.ground - 0.03, 0.075, rgb("#efe6d6"), left=canvas.width * 0.66)
    pieces.grass(scene, scene.ground - 0.01, 30, pieces.GRASS, 0.04)


def castle(scene: Scene) -> None:
    """A castle on its hill."""
    canvas, rng = scene.canvas, scene.rng
    paint_sky(scene)
    pieces.hills(scene, rgb("#7a8fa0"), 0.92, scene.horizon, 0.14, 5)
    x, foot = canvas.width * 0.64, scene.horizon - 0.01
    for dx, w, h in (
        (-0.28, 0.075, 0.22),
        (0.28, 0.08, 0.24),
        (-0.13, 0.07, 0.31),
        (0.13, 0.075, 0.28),
        (0.0, 0.10, 0.40),
    ):
        buildings.tower(scene, x + dx, foot, w, h, 0.45)
    stone = scene.light.seen(pieces.STONE, 0.38)
    canvas.box(x - 0.30, foot - 0.13, x + 0.30, foot + 0.03, stone)
    for k in range(15):
        canvas.box(x - 0.30 + 0.041 * k, foot - 0.15, x - 0.277 + 0.041 * k, foot - 0.12, stone)
    gate = [*arc(x, foot - 0.04, 0.035, 0.045, 0.5, 1.0), (x + 0.035, foot + 0.03), (x - 0.035, foot + 0.03)]
    canvas.shape(gate, darker(stone, 0.65))
    hill = [
        (canvas.left - 0.2, scene.horizon + 0.12),
        (x - 0.45, scene.horizon + 0.04),
        (x, scene.horizon - 0.005),
        (x + 0.4, scene.horizon + 0.02),
        (canvas.right + 0.3, scene.horizon + 0.09),
    ]
    pieces.band(scene, hill, pieces.snowy(scene, rgb("#7f9f5f")), 0.35)
    pieces.path(
        scene,
        [
            (canvas.width * 0.36, canvas.bottom + 0.1),
            (canvas.width * 0.48, scene.ground - 0.05),
            (x - 0.08, scene.horizon + 0.09),
            (x, scene.horizon + 0.02),
        ],
        0.4,
        0.03,
    )
    for _ in range(10):
        pieces.pine(
            scene,
            rng.uniform(canvas.left, canvas.width * 0.42),
            scene.horizon + rng.uniform(0.08, 0.14),
            rng.uniform(0.12, 0.2),
            0.3,
        )
    pieces.grass(scene, scene.ground, 34, pieces.GRASS, 0.04)


def church(scene: Scene) -> None:
    """A church among trees."""
    canvas, rng = scene.canvas, scene.rng
    paint_sky(scene)
    pieces.hills(scene, rgb("#7f9a86"), 0.85, scene.horizon + 0.01, 0.10)
    pieces.ground(scene, pieces.snowy(scene, pieces.GRASS), scene.horizon + 0.05)
    for k in range(6):
        pieces.tree(scene, canvas.width * (0.03 + 0.19 * k), scene.horizon + 0.07, rng.uniform(0.18, 0.26), 0.5)
    x, foot = canvas.width * 0.60, scene.horizon + 0.13
    wall = scene.light.seen(rgb("#e6dcc6"), 0.2)
    roof = scene.light.seen(pieces.snowy(scene, rgb("#6b5560")), 0.2)
    buildings.church_tower(scene, x - 0.24, foot, 0.42, 0.2)
    canvas.box(x - 0.18, foot - 0.20, x + 0.30, foot, wall)
    canvas.shape(
        [(x - 0.20, foot - 0.19), (x - 0.14, foot - 0.33), (x + 0.26, foot - 0.33), (x + 0.33, foot - 0.19)], roof
    )
    for k in range(4):
        buildings.window(scene, x - 0.13 + 0.105 * k, foot - 0.13, 0.035, 0.08, 0.2, True, round_top=True)
    pieces.path(
        scene,
        [(canvas.width * 0.42, canvas.bottom + 0.1), (canvas.width * 0.48, scene.ground - 0.05), (x - 0.24, foot)],
        0.4,
        0.05,
    )
    pieces.grass(scene, scene.ground, 34, pieces.GRASS, 0.04)


def station(scene: Scene) -> None:
    """A platform with a clock, lamps and a steam train."""
    canvas, light = scene.canvas, scene.light
    paint_sky(scene)
    pieces.hills(scene, rgb("#7f95a0"), 0.85, scene.horizon + 0.02, 0.10)
    pieces.ground(scene, rgb("#8f8a80"), scene.horizon + 0.08, 40)
    _train(scene, canvas.width * 0.30, scene.horizon + 0.17)
    stone = light.seen(rgb("#b0a698"))
    canvas.shaded(
        [
            (canvas.left - 0.1, scene.horizon + 0.19),
            (canvas.right + 0.1, scene.horizon + 0.19),
            (canvas.right + 0.1, canvas.bottom + 0.1),
            (canvas.left - 0.1, canvas.bottom + 0.1),
        ],
        stone,
        darker(stone, 0.3),
    )
    canvas.box(
        canvas.left - 0.1, scene.horizon + 0.185, canvas.right + 0.1, scene.horizon + 0.20, light.seen(rgb("#f0e6c8"))
    )
    iron = light.seen(rgb("#3f5a52"))
    canvas.shape(
        [
            (canvas.width * 0.55, 0.10),
            (canvas.right + 0.1, 0.04),
            (canvas.right + 0.1, 0.13),
            (canvas.width * 0.55, 0.14),
        ],
        iron,
    )
    for x in (0.62, 0.90):
        canvas.box(canvas.width * x - 0.012, 0.12, canvas.width * x + 0.012, scene.ground - 0.02, iron)
    cx = canvas.width * 0.76
    canvas.box(cx - 0.004, 0.10, cx + 0.004, 0.17, iron)
    canvas.oval(cx, 0.22, 0.06, 0.06, iron)
    canvas.oval(cx, 0.22, 0.048, 0.048, rgb("#fff3d6") if light.lamps else light.seen(rgb("#f6efdf")))
    canvas.stroke([(cx, 0.22), (cx, 0.187)], 0.005, rgb("#2f2a33"), curved=False)
    canvas.stroke([(cx, 0.22), (cx + 0.022, 0.23)], 0.006, rgb("#2f2a33"), curved=False)
    if light.lamps:
        scene.shine(cx, 0.22, 0.5, (255, 214, 150), 0.8)


def _train(scene: Scene, x: float, foot: float) -> None:
    canvas, light = scene.canvas, scene.light
    red, black = light.seen(rgb("#8f3a38"), 0.15), light.seen(rgb("#34343f"), 0.15)
    for k in range(2):
        left = x - 0.72 + 0.40 * k
        canvas.box(left, foot - 0.19, left + 0.38, foot - 0.035, red)
        canvas.box(left - 0.005, foot - 0.20, left + 0.385, foot - 0.175, black)
        for w in range(4):
            buildings.window(scene, left + 0.03 + 0.09 * w, foot - 0.16, 0.055, 0.06, 0.15, True)
    canvas.box(x + 0.09, foot - 0.22, x + 0.22, foot - 0.035, red)
    canvas.box(x + 0.20, foot - 0.165, x + 0.46, foot - 0.045, black)
    canvas.oval(x + 0.46, foot - 0.105, 0.022, 0.06, lighter(black, 0.1))
    canvas.shape(
        [(x + 0.385, foot - 0.16), (x + 0.37, foot - 0.25), (x + 0.44, foot - 0.25), (x + 0.425, foot - 0.16)], black
    )
    canvas.box(x + 0.07, foot - 0.235, x + 0.24, foot - 0.215, black)
    for wx in (-0.66, -0.44, -0.26, -0.04, 0.14, 0.26, 0.37):
        canvas.oval(x + wx, foot - 0.02, 0.032, 0.032, darker(black, 0.3))
        canvas.oval(x + wx, foot - 0.02, 0.016, 0.016, red)
    for k in range(7):
        canvas.oval(
            x + 0.40 - 0.07 * k,
            foot - 0.29 - 0.035 * k,
            0.035 + 0.013 * k,
            0.03 + 0.010 * k,
            veiled(lighter(light.seen(rgb("#d9d9de"), 0.3), 0.2), 0.55 - 0.05 * k),
        )


def ship_deck(scene: Scene) -> None:
    """The deck of a ship under sail, the sea beyond its rail."""
    canvas, light = scene.canvas, scene.light
    paint_sky(scene)
    pieces.water(scene, scene.horizon, scene.horizon + 0.2)
    wood = light.seen(rgb("#a9794f"))
    top = scene.horizon + 0.13
    canvas.shaded(
        [
            (canvas.left - 0.1, top),
            (canvas.right + 0.1, top),
            (canvas.right + 0.1, canvas.bottom + 0.1),
            (canvas.left - 0.1, canvas.bottom + 0.1),
        ],
        wood,
        darker(wood, 0.3),
    )
    for k in range(-12, 13):
        x = canvas.width / 2 + k * 0.10
        canvas.stroke(
            [(x, top), (canvas.width / 2 + (x - canvas.width / 2) * 2.6, canvas.bottom + 0.1)],
            0.003,
            veiled(darker(wood, 0.5), 0.6),
            0.006,
            curved=False,
        )
    rail = light.seen(rgb("#6b4630"))
    canvas.box(canvas.left - 0.1, top - 0.085, canvas.right + 0.1, top - 0.06, rail)
    x = canvas.left
    while x < canvas.right:
        canvas.box(x, top - 0.07, x + 0.016, top + 0.012, darker(rail, 0.1))
        x += 0.075
    mast = canvas.width * 0.70
    canvas.box(mast - 0.028, -0.2, mast + 0.028, scene.ground - 0.04, rail)
    canvas.box(mast + 0.006, -0.2, mast + 0.028, scene.ground - 0.04, darker(rail, 0.25))
    sail = light.seen(rgb("#efe2c6"))
    canvas.blob(
        [(mast - 0.55, -0.1), (mast + 0.40, -0.1), (mast + 0.34, 0.20), (mast - 0.06, 0.25), (mast - 0.47, 0.19)], sail
    )
    for seam in (-0.35, -0.12, 0.14):
        canvas.stroke(
            [(mast + seam, -0.1), (mast + seam * 0.92, 0.2)], 0.004, veiled(darker(sail, 0.4), 0.5), curved=False
        )
    for k in range(6):
        canvas.stroke(
            [(mast + 0.04 * k, 0.0), (mast + 0.30 + 0.05 * k, top - 0.07)], 0.004, darker(rail, 0.2), curved=False
        )
    boats.barrel(scene, canvas.width * 0.08, scene.ground - 0.02, 0.14)
    if light.lamps:
        canvas.oval(mast, scene.horizon - 0.10, 0.018, 0.026, rgb("#ffd98a"))
        scene.shine(mast, scene.horizon - 0.10, 0.6, strength=0.9)
