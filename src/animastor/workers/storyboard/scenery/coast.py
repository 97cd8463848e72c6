"""Settings by the water: harbour, open sea, beach, lighthouse, river, lake."""

from __future__ import annotations

from animastor.workers.storyboard.colour import darker, lighter, mix, rgb, veiled
from animastor.workers.storyboard.geometry import ridge, smooth
from animastor.workers.storyboard.scenery import boats, buildings, pieces
from animastor.workers.storyboard.sky import Scene, paint_sky

PAVING = rgb("#a79f97")


def harbour(scene: Scene) -> None:
    """A hill of cottages on one side, the sea with boats on the other, a stone quay before them."""
    canvas, rng, light = scene.canvas, scene.rng, scene.light
    paint_sky(scene, 0.70)
    far = scene.horizon + 0.01
    pieces.band(
        scene, ridge(rng, canvas.left - 0.2, canvas.right + 0.2, far, 0.07, 5), rgb("#7d94a0"), 0.95, far + 0.02
    )
    pieces.water(scene, far, scene.ground)
    _reflected_disc(scene, far, scene.ground - 0.06)
    middle = 0.5 * (canvas.width)
    hill = [(-0.6, far - 0.20), (-0.1, far - 0.22), (middle * 0.55, far - 0.12), (middle * 0.98, far + 0.05)]
    pieces.band(scene, hill, pieces.snowy(scene, rgb("#7c8f62")), 0.55, far + 0.075)
    for row, depth, size in ((-0.10, 0.55, 0.115), (-0.02, 0.42, 0.14), (0.07, 0.28, 0.165)):
        for k in range(5):
            x = -0.06 + k * size * 1.22 + row * 0.4 + rng.uniform(-0.01, 0.01)
            if x < middle * (0.92 + row):
                buildings.cottage(scene, x, far + row + 0.02, size, depth)
    wall = light.seen(PAVING, 0.35)
    canvas.shape(
        [
            (canvas.left - 0.1, far + 0.065),
            (middle * 1.02, far + 0.065),
            (middle * 1.1, far + 0.12),
            (canvas.left - 0.1, far + 0.12),
        ],
        darker(wall, 0.15),
    )
    boats.fishing_boat(scene, middle * 1.28, far + 0.13, 0.24, 0.30, boats.HULLS[1])
    boats.rowing_boat(scene, middle * 1.72, far + 0.10, 0.15, 0.45, boats.HULLS[0])
    boats.sailing_ship(scene, middle * 1.55, far + 0.012, 0.10, 0.9)
    _quay(scene, scene.ground - 0.055)
    buildings.lamp_post(scene, middle * 1.40, scene.ground + 0.0, 0.42)


def _quay(scene: Scene, top: float) -> None:
    """The paved edge that figures stand on."""
    canvas, light, rng = scene.canvas, scene.light, scene.rng
    stone = light.seen(pieces.snowy(scene, PAVING, 0.75))
    low = canvas.bottom + 0.05
    canvas.shaded(
        [(canvas.left - 0.1, top), (canvas.right + 0.1, top), (canvas.right + 0.1, low), (canvas.left - 0.1, low)],
        lighter(stone, 0.10),
        darker(stone, 0.34),
    )
    joint = veiled(darker(stone, 0.5), 0.55)
    y, step, row = top, 0.035, 0
    while y < low:
        canvas.stroke([(canvas.left - 0.1, y), (canvas.right + 0.1, y)], 0.0035, joint, curved=False)
        x = canvas.left - 0.1 + (row % 2) * step * 1.2
        while x < canvas.right + 0.1:
            canvas.stroke([(x, y), (x + (x - canvas.width / 2) * 0.05, y + step)], 0.003, joint, curved=False)
            if rng.random() < 0.16:
                canvas.box(
                    x + 0.004,
                    y + 0.004,
                    x + step * 2.1,
                    y + step - 0.003,
                    veiled(rng.choice((lighter(stone, 0.3), darker(stone, 0.3))), 0.25),
                )
            x += step * 2.4
        y, step, row = y + step, step * 1.35, row + 1
    canvas.box(canvas.left - 0.1, top - 0.012, canvas.right + 0.1, top + 0.006, lighter(stone, 0.25))


def harbour_front(scene: Scene) -> None:
    """Mooring posts, a crate and a barrel at the edges of the picture."""
    boats.bollard(scene, 0.16, scene.ground + 0.07, 0.10)
    boats.barrel(scene, scene.canvas.width - 0.10, scene.ground + 0.07, 0.15)
    boats.crate(scene, scene.canvas.width - 0.24, scene.ground + 0.065, 0.10)


def open_sea(scene: Scene) -> None:
    """Nothing but water and sky."""
    paint_sky(scene)
    pieces.water(scene, scene.horizon, scene.canvas.bottom + 0.05)
    _reflected_disc(scene, scene.horizon, scene.canvas.bottom)


def swell(scene: Scene) -> None:
    """Two rolling waves at hand, before whatever floats."""
    canvas, light = scene.canvas, scene.light
    for k, y in enumerate((scene.ground + 0.035, scene.ground + 0.13)):
        tone = darker(light.seen(pieces.WATER, 0.16 - 0.08 * k), 0.18 + 0.12 * k)
        crest = [
            (canvas.left - 0.2 + i * 0.24, y + (0.016 if i % 2 else -0.016))
            for i in range(int(canvas.width / canvas.view.zoom / 0.24) + 4)
        ]
        line = smooth(crest, closed=False)
        canvas.shape(
            [*line, (canvas.right + 0.4, canvas.bottom + 0.1), (canvas.left - 0.2, canvas.bottom + 0.1)],
            veiled(tone, 0.9 if k else 0.8),
        )
        canvas.stroke(crest, 0.006, veiled(lighter(tone, 0.35), 0.7))


def beach(scene: Scene) -> None:
    """Sand, a line of surf, dunes to one side."""
    canvas, light = scene.canvas, scene.light
    paint_sky(scene)
    shore = scene.ground - 0.09
    pieces.water(scene, scene.horizon, shore + 0.02)
    _reflected_disc(scene, scene.horizon, shore)
    sand = pieces.snowy(scene, rgb("#e6cf9f"))
    pieces.ground(scene, sand, shore)
    surf = [
        (canvas.left - 0.1 + i * 0.2, shore + (0.012 if i % 2 else -0.008))
        for i in range(int((canvas.right - canvas.left) / 0.2) + 3)
    ]
    for dy, width, opacity in ((0.0, 0.016, 0.9), (-0.022, 0.008, 0.6), (0.02, 0.007, 0.4)):
        canvas.stroke([(x, y + dy) for x, y in surf], width, veiled(light.seen((245, 248, 246), 0.15), opacity))
    dune = [
        (canvas.width * 0.68, shore),
        (canvas.width * 0.82, shore - 0.09),
        (canvas.width * 0.97, shore - 0.12),
        (canvas.width + 0.3, shore - 0.16),
    ]
    pieces.band(scene, dune, sand, 0.15, shore + 0.05)
    pieces.grass(scene, shore - 0.085, 12, rgb("#a9b06a"), 0.05, left=canvas.width * 0.84)
    boats.sailing_ship(scene, canvas.width * 0.3, scene.horizon + 0.01, 0.11, 0.85)


def lighthouse(scene: Scene) -> None:
    """A lighthouse on its rock, the sea all round."""
    canvas, rng = scene.canvas, scene.rng
    paint_sky(scene, 0.28)
    pieces.water(scene, scene.horizon, scene.ground)
    _reflected_disc(scene, scene.horizon, scene.ground - 0.04)
    x = canvas.width * 0.76
    cliff = [
        (x - 0.42, scene.ground),
        (x - 0.26, scene.horizon + 0.03),
        (x - 0.12, scene.horizon - 0.03),
        (x + 0.2, scene.horizon - 0.04),
        (canvas.right + 0.3, scene.horizon + 0.02),
    ]
    buildings.lighthouse(scene, x + 0.05, scene.horizon - 0.01, 0.40, 0.25)
    buildings.cottage(scene, x + 0.22, scene.horizon - 0.005, 0.14, 0.25)
    pieces.band(scene, cliff, pieces.snowy(scene, rgb("#7f8a72")), 0.25, scene.ground + 0.02)
    pieces.ground(scene, pieces.snowy(scene, rgb("#8c9a6c")), scene.ground - 0.03)
    for _ in range(6):
        pieces.rock(
            scene, rng.uniform(0, canvas.width), scene.ground + rng.uniform(-0.02, 0.02), rng.uniform(0.02, 0.05)
        )
    pieces.grass(scene, scene.ground + 0.02, 26, pieces.GRASS, 0.04)


def river(scene: Scene) -> None:
    """A river from the hills, a stone bridge over it."""
    canvas, rng = scene.canvas, scene.rng
    paint_sky(scene)
    pieces.hills(scene, rgb("#7f9a86"), 0.8, scene.horizon + 0.01, 0.12)
    pieces.hills(scene, pieces.snowy(scene, rgb("#86a265")), 0.45, scene.horizon + 0.05, 0.07)
    for _ in range(9):
        pieces.tree(
            scene,
            rng.uniform(canvas.left, canvas.right),
            scene.horizon + rng.uniform(0.04, 0.07),
            rng.uniform(0.10, 0.17),
            0.5,
        )
    pieces.ground(scene, pieces.snowy(scene, pieces.GRASS), scene.horizon + 0.06)
    bridge_y = scene.horizon + 0.12
    pieces.water(scene, scene.horizon + 0.075, scene.ground - 0.03)
    _bridge(scene, canvas.width * 0.5, bridge_y)
    edge = [
        (canvas.left - 0.1, scene.ground - 0.06),
        (canvas.width * 0.3, scene.ground - 0.035),
        (canvas.width * 0.7, scene.ground - 0.05),
        (canvas.right + 0.1, scene.ground - 0.03),
    ]
    pieces.band(scene, edge, pieces.snowy(scene, pieces.GRASS), 0.05)
    pieces.grass(scene, scene.ground - 0.03, 40, pieces.GRASS, 0.05)


def _bridge(scene: Scene, x: float, foot: float) -> None:
    canvas = scene.canvas
    stone = scene.light.seen(pieces.snowy(scene, pieces.STONE, 0.3), 0.3)
    half = 0.34
    deck = smooth(
        [
            (x - half * 1.3, foot - 0.02),
            (x - half * 0.6, foot - 0.08),
            (x, foot - 0.105),
            (x + half * 0.6, foot - 0.08),
            (x + half * 1.3, foot - 0.02),
        ],
        closed=False,
    )
    canvas.shape([*deck, (x + half * 1.3, foot + 0.05), (x - half * 1.3, foot + 0.05)], stone)
    for dx in (-0.36, 0.0, 0.36):
        hollow = mix(darker(stone, 0.65), scene.light.sky[2], 0.15)
        canvas.oval(x + dx * half * 1.6, foot + 0.035, 0.075, 0.085, hollow)
    canvas.stroke(deck, 0.014, lighter(stone, 0.2), curved=False)


def lake(scene: Scene) -> None:
    """Still water ringed by firs and hills."""
    canvas, rng = scene.canvas, scene.rng
    paint_sky(scene)
    pieces.hills(scene, rgb("#6d8496"), 0.9, scene.horizon, 0.20, 4)
    pieces.hills(scene, pieces.snowy(scene, rgb("#557a63"), 0.4), 0.6, scene.horizon + 0.02, 0.07)
    x = canvas.left
    while x < canvas.right:
        pieces.pine(scene, x, scene.horizon + 0.035, rng.uniform(0.07, 0.15), 0.5)
        x += rng.uniform(0.03, 0.08)
    pieces.water(scene, scene.horizon + 0.03, scene.ground, rgb("#4a7d8c"))
    _reflected_disc(scene, scene.horizon + 0.03, scene.ground - 0.06)
    pieces.ground(scene, pieces.snowy(scene, rgb("#93a06a")), scene.ground - 0.05)
    pieces.grass(scene, scene.ground - 0.04, 50, rgb("#8aa05a"), 0.07)


def _reflected_disc(scene: Scene, top: float, bottom: float) -> None:
    """The path of light on the water: the first light that was lit is the disc's."""
    if scene.light.disc and scene.glows and scene.light.bank < 0.6:
        unit_x = scene.glows[0].at[0]
        x = scene.canvas.scene(unit_x, 0)[0]
        pieces.glitter(scene, x, top + 0.004, bottom, lighter(scene.light.key, 0.25))
