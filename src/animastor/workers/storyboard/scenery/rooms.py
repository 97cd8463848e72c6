"""Settings under a roof: kitchen, bedroom, library, hall, parlour, cellar, cave."""

from __future__ import annotations

import math
from dataclasses import replace

from animastor.workers.storyboard.colour import RGB, darker, greyer, lighter, mix, rgb, veiled
from animastor.workers.storyboard.geometry import arc, peaks, smooth
from animastor.workers.storyboard.light import Light
from animastor.workers.storyboard.scenery.furniture import (
    armchair,
    bed,
    bookshelf,
    chandelier,
    desk,
    hanging_lamp,
    hearth,
    picture,
    shelf_of_cups,
    stove,
    table,
    torch,
)
from animastor.workers.storyboard.scenery.windows import lattice, round_window
from animastor.workers.storyboard.sky import Scene


def indoors(light: Light) -> Light:
    """The light of a room: lamps at night, the window's light by day; no haze and no weather inside."""
    dim = light.time in ("night", "dusk") or light.weather == "storm"
    tint = (0.84, 0.68, 0.56) if dim else (0.97, 0.93, 0.88)
    if light.time in ("dawn", "golden"):
        tint = (0.96, 0.84, 0.72)
    if light.mood == "gloomy":
        tint = (tint[0] * 0.8, tint[1] * 0.85, tint[2] * 0.95)
    key = rgb("#ffb968") if dim else light.key
    return replace(light, tint=tint, key=key, thickness=0.12, fog=0.0, bank=0.0, lamps=dim, shade=0.5 if dim else 0.26)


def _shell(scene: Scene, wall: RGB, floor: RGB, panel: RGB | None = None, boards: bool = True) -> None:
    """Wall, wainscot and floor; the foot of the wall is the horizon."""
    canvas, light, rng = scene.canvas, scene.light, scene.rng
    left, right, foot = canvas.left - 0.1, canvas.right + 0.1, scene.horizon
    tone = light.seen(wall)
    canvas.shaded(
        [(left, canvas.top - 0.1), (right, canvas.top - 0.1), (right, foot), (left, foot)],
        darker(tone, 0.20),
        lighter(tone, 0.06),
    )
    for _ in range(60):
        x, y = rng.uniform(left, right), rng.uniform(canvas.top, foot)
        canvas.oval(
            x,
            y,
            rng.uniform(0.02, 0.08),
            rng.uniform(0.008, 0.02),
            veiled(rng.choice((lighter(tone, 0.2), darker(tone, 0.2))), 0.13),
        )
    if panel:
        _wainscot(scene, light.seen(panel), foot)
    ground = light.seen(floor)
    low = canvas.bottom + 0.1
    canvas.shaded([(left, foot), (right, foot), (right, low), (left, low)], darker(ground, 0.12), darker(ground, 0.30))
    middle = canvas.width / 2
    if boards:
        for k in range(-14, 15):
            x = middle + k * 0.085
            far = middle + (x - middle) * 3.4
            canvas.stroke([(x, foot), (far, low)], 0.003, veiled(darker(ground, 0.5), 0.55), 0.007, curved=False)
            for _ in range(2):
                share = rng.random()
                canvas.stroke(
                    [
                        (x + (far - x) * share, foot + (low - foot) * share),
                        (x + (far - x) * share + 0.085 + 0.2 * share, foot + (low - foot) * share),
                    ],
                    0.004,
                    veiled(darker(ground, 0.5), 0.45),
                    curved=False,
                )
    canvas.box(left, foot - 0.018, right, foot + 0.006, darker(light.seen(panel or wall), 0.35))


def _wainscot(scene: Scene, tone: RGB, foot: float) -> None:
    canvas = scene.canvas
    top = foot - 0.17
    canvas.box(canvas.left - 0.1, top, canvas.right + 0.1, foot, tone)
    canvas.box(canvas.left - 0.1, top - 0.014, canvas.right + 0.1, top + 0.006, lighter(tone, 0.18))
    x = math.floor(canvas.left / 0.11) * 0.11
    while x < canvas.right:
        canvas.stroke([(x, top + 0.012), (x, foot - 0.02)], 0.004, veiled(darker(tone, 0.5), 0.6), curved=False)
        x += 0.11


def _daylight(scene: Scene, x: float, y: float) -> None:
    """Light from a window falls across the floor by day."""
    if scene.light.lamps:
        return
    canvas, foot = scene.canvas, scene.horizon
    ray = [(x - 0.10, foot + 0.02), (x + 0.12, foot + 0.02), (x + 0.42, canvas.bottom), (x + 0.05, canvas.bottom)]
    canvas.shape(ray, veiled(lighter(scene.light.key, 0.3), 0.22))
    scene.shine(x, y, 0.5, scene.light.key, 0.5)


def kitchen(scene: Scene) -> None:
    """A cottage kitchen: stove with its fire, round window, shelves of cups, a hanging lamp."""
    width = scene.canvas.width
    _shell(scene, rgb("#dcc49a"), rgb("#a06f4a"), rgb("#7f9a86"))
    round_window(scene, width * 0.46, scene.horizon - 0.27, 0.115)
    _daylight(scene, width * 0.46, scene.horizon - 0.27)
    stove(scene, width * 0.83, scene.horizon + 0.05, 0.36)
    shelf_of_cups(scene, width * 0.07, scene.horizon - 0.30, 0.42)
    hanging_lamp(scene, width * 0.62, scene.canvas.top, scene.horizon - 0.33)
    _beams(scene)


def _beams(scene: Scene) -> None:
    canvas = scene.canvas
    wood = darker(scene.light.seen(rgb("#6b4a35")), 0.1)
    canvas.box(canvas.left - 0.1, -0.02, canvas.right + 0.1, 0.028, wood)
    for k in range(5):
        x = canvas.width * (0.05 + 0.225 * k)
        canvas.shape([(x, -0.1), (x + 0.07, -0.1), (x + 0.045, 0.062), (x + 0.022, 0.062)], darker(wood, 0.15))


def kitchen_front(scene: Scene) -> None:
    """The corner of a table with a teapot."""
    table(scene, scene.canvas.width * 0.10, scene.ground + 0.06, 0.26)


def bedroom(scene: Scene) -> None:
    """A bed with a quilt under a window, a lamp beside it."""
    width = scene.canvas.width
    _shell(scene, rgb("#a9b8cf"), rgb("#9a7355"), rgb("#e6dcc8"))
    lattice(scene, width * 0.40, scene.horizon - 0.36, 0.26, 0.26, curtains=rgb("#d68a7a"))
    _daylight(scene, width * 0.53, scene.horizon - 0.25)
    bed(scene, width * 0.80, scene.horizon + 0.10, 0.62)
    picture(scene, width * 0.16, scene.horizon - 0.33, 0.15)
    hanging_lamp(scene, width * 0.12, scene.canvas.top, scene.horizon - 0.42)


def library(scene: Scene) -> None:
    """Walls of books, a desk with a lamp, a tall window."""
    width = scene.canvas.width
    _shell(scene, rgb("#7d6a52"), rgb("#6f4b35"), rgb("#5d4432"))
    bookshelf(scene, width * 0.0, scene.horizon + 0.01, width * 0.30, 0.46)
    bookshelf(scene, width * 0.68, scene.horizon + 0.01, width * 0.34, 0.46)
    lattice(scene, width * 0.41, scene.horizon - 0.42, 0.28, 0.34, curtains=rgb("#7a3540"))
    _daylight(scene, width * 0.5, scene.horizon - 0.25)
    desk(scene, width * 0.50, scene.horizon + 0.07, 0.44)


def hall(scene: Scene) -> None:
    """A great hall: columns, tall windows, a chandelier, a carpet."""
    canvas, width = scene.canvas, scene.canvas.width
    _shell(scene, rgb("#cbbba2"), rgb("#8f8378"), None, boards=False)
    for k in range(3):
        lattice(scene, width * (0.13 + 0.30 * k), scene.horizon - 0.42, 0.15, 0.34, arched=True)
    marble = scene.light.seen(rgb("#e3d9c6"))
    for k in range(4):
        x = width * (0.045 + 0.303 * k)
        canvas.box(x - 0.036, -0.1, x + 0.036, scene.horizon, marble)
        canvas.box(x + 0.012, -0.1, x + 0.036, scene.horizon, veiled(darker(marble, 0.5), 0.4))
        canvas.box(x - 0.055, scene.horizon - 0.035, x + 0.055, scene.horizon + 0.012, lighter(marble, 0.1))
    red = scene.light.seen(rgb("#a8323a"))
    canvas.shape(
        [
            (width * 0.44, scene.horizon),
            (width * 0.56, scene.horizon),
            (width * 0.80, canvas.bottom + 0.1),
            (width * 0.20, canvas.bottom + 0.1),
        ],
        red,
    )
    for side in (-1, 1):
        canvas.stroke(
            [(width * (0.5 + side * 0.055), scene.horizon), (width * (0.5 + side * 0.27), canvas.bottom + 0.1)],
            0.006,
            scene.light.seen(rgb("#d9b36a")),
            0.016,
            curved=False,
        )
    chandelier(scene, width * 0.5, scene.canvas.top, 0.16)


def parlour(scene: Scene) -> None:
    """A sitting room: fireplace, armchair, pictures, a curtained window."""
    width = scene.canvas.width
    _shell(scene, rgb("#8fa39a"), rgb("#8f6647"), rgb("#efe5d0"))
    lattice(scene, width * 0.17, scene.horizon - 0.38, 0.25, 0.29, curtains=rgb("#b5563f"))
    _daylight(scene, width * 0.25, scene.horizon - 0.25)
    picture(scene, width * 0.48, scene.horizon - 0.36, 0.17)
    hearth(scene, width * 0.76, scene.horizon + 0.02, 0.42)
    armchair(scene, width * 0.94, scene.horizon + 0.12, 0.30)
    rug = scene.light.seen(rgb("#9c4a44"))
    scene.canvas.oval(width * 0.5, scene.ground + 0.03, 0.55, 0.075, rug)
    scene.canvas.oval(width * 0.5, scene.ground + 0.03, 0.47, 0.058, lighter(rug, 0.22))
    scene.canvas.oval(width * 0.5, scene.ground + 0.03, 0.44, 0.052, rug)


def cellar(scene: Scene) -> None:
    """Vaulted stone, a barred window, a torch, barrels."""
    canvas, rng, width = scene.canvas, scene.rng, scene.canvas.width
    _shell(scene, rgb("#8a857f"), rgb("#6f6a66"), None, boards=False)
    joint = veiled(darker(scene.light.seen(rgb("#8a857f")), 0.5), 0.5)
    for row in range(8):
        y = scene.horizon - 0.066 * row
        canvas.stroke([(canvas.left, y), (canvas.right, y)], 0.004, joint, curved=False)
        for k in range(16):
            x = (k + 0.5 * (row % 2)) * 0.125 + rng.uniform(-0.006, 0.006)
            canvas.stroke([(x, y), (x, y - 0.066)], 0.004, joint, curved=False)
    lattice(scene, width * 0.45, scene.horizon - 0.40, 0.16, 0.13)
    stone = darker(scene.light.seen(rgb("#6f6a66")), 0.3)
    for x in (0.0, width * 0.5, width):
        vault = arc(x + width * 0.25, 0.20, width * 0.25, 0.24, 0.5, 1.0, 24)
        canvas.stroke([(px, py) for px, py in vault], 0.035, stone, curved=False)
    torch(scene, width * 0.20, scene.horizon - 0.20, 0.13)
    torch(scene, width * 0.82, scene.horizon - 0.20, 0.13)


def cave(scene: Scene) -> None:
    """A cavern: rock all round, the mouth with the sky, glowing crystals."""
    from animastor.workers.storyboard.sky import paint_sky

    canvas, rng, width = scene.canvas, scene.rng, scene.canvas.width
    paint_sky(scene)
    scene.glows.clear()  # rock hides the disc
    rock = greyer(mix(rgb("#4f4a5a"), scene.light.haze, 0.1), 0.2)
    mouth = [
        (width * 0.40, scene.horizon),
        (width * 0.37, 0.28),
        (width * 0.46, 0.14),
        (width * 0.57, 0.13),
        (width * 0.65, 0.30),
        (width * 0.62, scene.horizon),
    ]
    opening = smooth(mouth, closed=False)
    for k, tone in enumerate((lighter(rock, 0.16), rock, darker(rock, 0.25))):
        grow = 0.10 * k
        edge = [(width / 2 + (x - width / 2) * (1 + grow * 4), y - grow * 0.6) for x, y in opening]
        low = scene.horizon + 0.1 + grow
        wall = [(canvas.left - 0.2, low), (canvas.left - 0.2, canvas.top - 0.2), (canvas.right + 0.2, canvas.top - 0.2)]
        canvas.shape([*wall, (canvas.right + 0.2, low), (edge[-1][0], low), *reversed(edge), (edge[0][0], low)], tone)
    spikes = peaks(rng, canvas.left - 0.1, canvas.right + 0.1, 0.0, 0.16, 11)
    canvas.shape(
        [(canvas.left - 0.1, -0.3), *[(x, -y * 1.2 - 0.02) for x, y in spikes], (canvas.right + 0.1, -0.3)],
        darker(rock, 0.4),
    )
    floor = darker(rock, 0.15)
    canvas.shaded(
        [
            (canvas.left - 0.1, scene.horizon - 0.02),
            (canvas.right + 0.1, scene.horizon - 0.02),
            (canvas.right + 0.1, canvas.bottom + 0.1),
            (canvas.left - 0.1, canvas.bottom + 0.1),
        ],
        floor,
        darker(floor, 0.45),
    )
    scene.shine(width / 2, 0.34, 0.5, lighter(scene.light.sky[2], 0.2), 0.55)
    for x, size in ((0.10, 0.09), (0.17, 0.06), (0.86, 0.10), (0.93, 0.06)):
        gem = rng.choice((rgb("#7fd0e0"), rgb("#b29ae6"), rgb("#8fe0b8")))
        base = scene.horizon + 0.08
        canvas.shape(
            [
                (width * x - size * 0.3, base),
                (width * x - size * 0.2, base - size),
                (width * x, base - size * 1.5),
                (width * x + size * 0.25, base - size * 0.9),
                (width * x + size * 0.3, base),
            ],
            gem,
        )
        canvas.shape(
            [
                (width * x, base - size * 1.5),
                (width * x + size * 0.25, base - size * 0.9),
                (width * x + size * 0.3, base),
                (width * x + size * 0.05, base),
            ],
            darker(gem, 0.3),
        )
        scene.shine(width * x, base - size * 0.7, size * 2.2, gem, 0.6)
