"""What stands in rooms: stove, hearth, tables, shelves, beds, lamps, pictures."""

from __future__ import annotations

from animastor.workers.storyboard.colour import darker, lighter, rgb, veiled
from animastor.workers.storyboard.geometry import arc
from animastor.workers.storyboard.sky import Scene

WOOD = rgb("#8a5d3d")
IRON = rgb("#44424e")
FIRE = (255, 150, 62)


def _fire(scene: Scene, x: float, foot: float, size: float) -> None:
    canvas, rng = scene.canvas, scene.rng
    for tone, share in ((rgb("#f0803a"), 1.0), (rgb("#ffbd52"), 0.68), (rgb("#fff0bd"), 0.36)):
        w, h = size * share * 0.5, size * share
        lick = rng.uniform(-0.15, 0.15) * w
        canvas.blob(
            [
                (x - w, foot),
                (x - w * 0.9, foot - h * 0.45),
                (x - w * 0.4, foot - h * 0.6),
                (x + lick, foot - h),
                (x + w * 0.5, foot - h * 0.55),
                (x + w * 0.95, foot - h * 0.4),
                (x + w, foot),
            ],
            tone,
        )


def stove(scene: Scene, x: float, foot: float, size: float) -> None:
    """An iron stove with its fire behind bars, a kettle, a pipe."""
    canvas, light = scene.canvas, scene.light
    iron = light.seen(IRON)
    w, h = size * 0.5, size * 0.62
    canvas.box(x - size * 0.07, canvas.top - 0.1, x + size * 0.07, foot - h, darker(iron, 0.12))
    canvas.box(x + size * 0.02, canvas.top - 0.1, x + size * 0.07, foot - h, darker(iron, 0.3))
    canvas.box(x - w, foot - h, x + w, foot - size * 0.06, iron)
    canvas.box(x - w * 1.1, foot - h - size * 0.05, x + w * 1.1, foot - h, lighter(iron, 0.16))
    for side in (-0.8, 0.7):
        canvas.box(x + side * w, foot - size * 0.07, x + (side + 0.12) * w, foot, iron)
    door = arc(x, foot - size * 0.26, w * 0.62, size * 0.22, 0.5, 1.0, 20)
    mouth = [*door, (x + w * 0.62, foot - size * 0.12), (x - w * 0.62, foot - size * 0.12)]
    canvas.shape(mouth, rgb("#3a1a18"))
    _fire(scene, x, foot - size * 0.12, size * 0.30)
    for k in range(-2, 3):
        canvas.box(x + k * w * 0.22 - 0.003, foot - size * 0.42, x + k * w * 0.22 + 0.003, foot - size * 0.12, iron)
    copper = light.seen(rgb("#b9683c"))
    canvas.oval(x - w * 0.45, foot - h - size * 0.14, size * 0.13, size * 0.11, copper)
    canvas.stroke(
        arc(x - w * 0.45, foot - h - size * 0.2, size * 0.09, size * 0.1, 0.5, 1.0), size * 0.02, darker(copper, 0.3)
    )
    canvas.stroke(
        [(x - w * 0.45 + size * 0.1, foot - h - size * 0.14), (x - w * 0.45 + size * 0.2, foot - h - size * 0.22)],
        size * 0.035,
        copper,
        size * 0.02,
        curved=False,
    )
    scene.shine(x, foot - size * 0.25, size * 2.1, FIRE, 0.95)
    scene.shine(x, foot - size * 0.25, size * 0.6, (255, 196, 110), 0.6)


def hearth(scene: Scene, x: float, foot: float, size: float) -> None:
    """A fireplace with a mantelpiece, a clock and candles."""
    canvas, light = scene.canvas, scene.light
    stone = light.seen(rgb("#b7aa9a"))
    h = size * 0.78
    canvas.box(x - size * 0.5, foot - h, x + size * 0.5, foot, stone)
    for row in range(5):
        y = foot - h * row / 5
        canvas.stroke([(x - size * 0.5, y), (x + size * 0.5, y)], 0.003, veiled(darker(stone, 0.5), 0.5), curved=False)
        for k in range(4):
            px = x - size * 0.5 + size * (0.25 * k + 0.12 * (row % 2))
            canvas.stroke([(px, y), (px, y - h / 5)], 0.003, veiled(darker(stone, 0.5), 0.5), curved=False)
    mouth = [
        *arc(x, foot - size * 0.34, size * 0.30, size * 0.2, 0.5, 1.0, 20),
        (x + size * 0.30, foot),
        (x - size * 0.30, foot),
    ]
    canvas.shape(mouth, rgb("#2e1a1c"))
    timber = light.seen(rgb("#5b3a28"))
    canvas.stroke([(x - size * 0.2, foot - 0.015), (x + size * 0.2, foot - 0.03)], size * 0.07, timber, curved=False)
    _fire(scene, x, foot - size * 0.04, size * 0.40)
    mantel = light.seen(WOOD)
    canvas.box(x - size * 0.58, foot - h - size * 0.07, x + size * 0.58, foot - h, mantel)
    for side in (-0.42, 0.42):
        canvas.box(
            x + side * size - 0.008,
            foot - h - size * 0.2,
            x + side * size + 0.008,
            foot - h - size * 0.07,
            light.seen(rgb("#f3e7cd")),
        )
    canvas.oval(x, foot - h - size * 0.17, size * 0.09, size * 0.09, light.seen(rgb("#6b4630")))
    canvas.oval(x, foot - h - size * 0.17, size * 0.07, size * 0.07, light.seen(rgb("#f6eeda")))
    scene.shine(x, foot - size * 0.2, size * 2.0, FIRE, 0.95)


def table(scene: Scene, x: float, foot: float, size: float) -> None:
    """A wooden table with a teapot and a loaf."""
    canvas, light = scene.canvas, scene.light
    wood = light.figure(WOOD)
    top = foot - size * 0.42
    for side in (-0.85, 0.7):
        canvas.box(x + side * size, top, x + (side + 0.13) * size, foot + size * 0.1, darker(wood, 0.3))
    canvas.box(x - size, top - size * 0.06, x + size, top + size * 0.07, wood)
    canvas.box(x - size, top + size * 0.04, x + size, top + size * 0.11, darker(wood, 0.25))
    pot = light.figure(rgb("#c7734f"))
    px, py = x + size * 0.35, top - size * 0.2
    canvas.stroke(
        [(px + size * 0.14, py), (px + size * 0.3, py - size * 0.12)], size * 0.07, pot, size * 0.04, curved=False
    )
    canvas.stroke(arc(px - size * 0.15, py, size * 0.12, size * 0.1, 0.25, 0.75), size * 0.035, pot)
    canvas.oval(px, py, size * 0.19, size * 0.15, pot)
    canvas.oval(px, py - size * 0.15, size * 0.05, size * 0.04, darker(pot, 0.2))
    canvas.oval(px - size * 0.07, py - size * 0.06, size * 0.04, size * 0.05, veiled(lighter(pot, 0.7), 0.6))
    for dx in (-0.15, -0.45):
        canvas.oval(x + dx * size, top - size * 0.09, size * 0.07, size * 0.06, light.figure(rgb("#e9e1d0")))


def shelf_of_cups(scene: Scene, left: float, y: float, w: float) -> None:
    """Two shelves: jars above, cups on hooks below."""
    canvas, light, rng = scene.canvas, scene.light, scene.rng
    wood = light.seen(WOOD)
    glazes = (rgb("#3f78b8"), rgb("#c7734f"), rgb("#e6d9b8"), rgb("#7f9a86"), rgb("#b5473f"), rgb("#d9a441"))
    for level in (0.0, 0.15):
        canvas.box(left, y + level, left + w, y + level + 0.018, wood)
        canvas.box(left, y + level + 0.012, left + w, y + level + 0.024, darker(wood, 0.3))
    for k in range(6):
        x = left + w * (0.09 + 0.165 * k)
        tall = rng.uniform(0.05, 0.085)
        jar = light.seen(rng.choice(glazes))
        canvas.box(x - 0.022, y - tall, x + 0.022, y, jar)
        canvas.box(x - 0.022, y - tall, x - 0.010, y, lighter(jar, 0.2))
        canvas.box(x - 0.018, y - tall - 0.012, x + 0.018, y - tall, light.seen(rgb("#a9793f")))
        cup = light.seen(glazes[k])
        canvas.stroke(arc(x + 0.024, y + 0.20, 0.014, 0.016, -0.25, 0.25), 0.007, cup)
        canvas.blob(
            [(x - 0.024, y + 0.178), (x + 0.024, y + 0.178), (x + 0.018, y + 0.225), (x - 0.018, y + 0.225)], cup
        )
        canvas.stroke([(x, y + 0.165), (x, y + 0.18)], 0.004, light.seen(IRON), curved=False)


def bookshelf(scene: Scene, left: float, foot: float, w: float, h: float) -> None:
    """A case of books from the floor up."""
    canvas, light, rng = scene.canvas, scene.light, scene.rng
    wood = light.seen(rgb("#5d3f2b"))
    canvas.box(left, foot - h, left + w, foot, darker(wood, 0.45))
    spines = (
        rgb("#8f3b3a"),
        rgb("#3f5f7a"),
        rgb("#4f6f4a"),
        rgb("#b58a45"),
        rgb("#6b4a6f"),
        rgb("#7d5437"),
        rgb("#c9b48a"),
    )
    shelves = 4
    for level in range(shelves):
        base = foot - h * level / shelves - 0.012
        x = left + 0.014
        while x < left + w - 0.03:
            thick, tall = rng.uniform(0.010, 0.022), h / shelves * rng.uniform(0.58, 0.84)
            if rng.random() < 0.07:
                x += 0.03
                continue
            spine = light.seen(rng.choice(spines))
            canvas.box(x, base - tall, x + thick, base, spine)
            canvas.box(x, base - tall * 0.8, x + thick, base - tall * 0.74, lighter(spine, 0.35))
            x += thick + 0.0025
        canvas.box(left, base, left + w, base + 0.014, wood)
    for x in (left, left + w - 0.014):
        canvas.box(x, foot - h, x + 0.014, foot, wood)
    canvas.box(left - 0.012, foot - h - 0.02, left + w + 0.012, foot - h + 0.004, lighter(wood, 0.12))


def desk(scene: Scene, x: float, foot: float, size: float) -> None:
    """A desk with papers and a green lamp."""
    canvas, light = scene.canvas, scene.light
    wood = light.seen(rgb("#6f472e"))
    top = foot - size * 0.44
    canvas.box(x - size * 0.55, top, x + size * 0.55, top + size * 0.06, lighter(wood, 0.12))
    for side in (-1, 1):
        left = x + side * size * 0.38 - size * 0.14
        canvas.box(left, top + size * 0.06, left + size * 0.28, foot, wood)
        for k in range(3):
            y = top + size * (0.09 + 0.11 * k)
            canvas.box(left + size * 0.03, y, left + size * 0.25, y + size * 0.085, darker(wood, 0.2))
            canvas.oval(left + size * 0.14, y + size * 0.04, size * 0.012, size * 0.012, light.seen(rgb("#d9b36a")))
    canvas.shape(
        [
            (x - size * 0.2, top),
            (x - size * 0.14, top - size * 0.02),
            (x + size * 0.1, top - size * 0.02),
            (x + size * 0.06, top),
        ],
        light.seen(rgb("#f3ead4")),
    )
    brass, shade = light.seen(rgb("#c9a347")), light.seen(rgb("#3f8a62"))
    lx = x + size * 0.34
    canvas.stroke([(lx, top), (lx, top - size * 0.2)], size * 0.025, brass, curved=False)
    canvas.blob(
        [
            (lx - size * 0.14, top - size * 0.17),
            (lx - size * 0.08, top - size * 0.29),
            (lx + size * 0.08, top - size * 0.29),
            (lx + size * 0.14, top - size * 0.17),
        ],
        lighter(shade, 0.3) if light.lamps else shade,
    )
    if light.lamps:
        scene.shine(lx, top - size * 0.15, size * 1.2, (255, 210, 130), 0.95)


def bed(scene: Scene, x: float, foot: float, size: float) -> None:
    """A bed with a patchwork quilt."""
    canvas, light = scene.canvas, scene.light
    wood = light.seen(WOOD)
    canvas.blob(
        [
            (x + size * 0.40, foot),
            (x + size * 0.40, foot - size * 0.52),
            (x + size * 0.46, foot - size * 0.6),
            (x + size * 0.52, foot - size * 0.52),
            (x + size * 0.52, foot),
        ],
        wood,
    )
    canvas.box(x - size * 0.5, foot - size * 0.14, x + size * 0.46, foot - size * 0.06, wood)
    canvas.box(x - size * 0.52, foot - size * 0.34, x - size * 0.46, foot, darker(wood, 0.15))
    canvas.blob(
        [
            (x + size * 0.14, foot - size * 0.24),
            (x + size * 0.18, foot - size * 0.40),
            (x + size * 0.38, foot - size * 0.40),
            (x + size * 0.42, foot - size * 0.24),
        ],
        light.seen(rgb("#f4eee0")),
    )
    left, right, top = x - size * 0.48, x + size * 0.24, foot - size * 0.28
    canvas.blob(
        [
            (left, foot - size * 0.06),
            (left, top + 0.02),
            (left + size * 0.1, top - size * 0.03),
            (right - size * 0.1, top - size * 0.05),
            (right, top),
            (right, foot - size * 0.06),
        ],
        light.seen(rgb("#b5563f")),
    )
    patches = (rgb("#d9a441"), rgb("#5f86a8"), rgb("#e8dcc0"), rgb("#7f9a6a"), rgb("#a8506a"))
    for row in range(3):
        for column in range(8):
            px, py = left + (right - left) * (0.03 + 0.12 * column), top + size * (0.0 + 0.068 * row)
            canvas.box(
                px, py, px + (right - left) * 0.105, py + size * 0.058, light.seen(patches[(row * 3 + column * 2) % 5])
            )


def armchair(scene: Scene, x: float, foot: float, size: float) -> None:
    """A wing chair."""
    canvas, cloth = scene.canvas, scene.light.seen(rgb("#6f7f5a"))
    canvas.blob(
        [
            (x - size * 0.34, foot - size * 0.1),
            (x - size * 0.36, foot - size * 0.85),
            (x, foot - size),
            (x + size * 0.36, foot - size * 0.85),
            (x + size * 0.34, foot - size * 0.1),
        ],
        darker(cloth, 0.12),
    )
    canvas.blob(
        [
            (x - size * 0.3, foot - size * 0.14),
            (x - size * 0.3, foot - size * 0.38),
            (x + size * 0.3, foot - size * 0.38),
            (x + size * 0.3, foot - size * 0.14),
        ],
        lighter(cloth, 0.12),
    )
    for side in (-1, 1):
        canvas.blob(
            [
                (x + side * size * 0.30, foot - size * 0.06),
                (x + side * size * 0.28, foot - size * 0.48),
                (x + side * size * 0.44, foot - size * 0.52),
                (x + side * size * 0.46, foot - size * 0.06),
            ],
            cloth,
        )


def picture(scene: Scene, x: float, y: float, size: float) -> None:
    """A framed landscape on the wall, its upper middle at (x, y)."""
    canvas, light = scene.canvas, scene.light
    canvas.box(x - size * 0.62, y, x + size * 0.62, y + size * 0.9, light.seen(rgb("#b58a45")))
    canvas.box(x - size * 0.52, y + size * 0.1, x + size * 0.52, y + size * 0.8, light.seen(rgb("#9fc3cc")))
    canvas.blob(
        [
            (x - size * 0.52, y + size * 0.8),
            (x - size * 0.5, y + size * 0.55),
            (x - size * 0.1, y + size * 0.42),
            (x + size * 0.3, y + size * 0.6),
            (x + size * 0.52, y + size * 0.5),
            (x + size * 0.52, y + size * 0.8),
        ],
        light.seen(rgb("#6f8f5a")),
    )


def hanging_lamp(scene: Scene, x: float, top: float, y: float) -> None:
    """A lamp on a cord, its shade at height y."""
    canvas, light = scene.canvas, scene.light
    canvas.stroke([(x, top - 0.1), (x, y)], 0.006, light.seen(IRON), curved=False)
    glass = rgb("#ffe2a4") if light.lamps else light.seen(rgb("#e6dfcf"))
    canvas.oval(x, y + 0.045, 0.022, 0.022, glass)
    canvas.shape(
        [(x - 0.012, y), (x + 0.012, y), (x + 0.062, y + 0.045), (x - 0.062, y + 0.045)], light.seen(rgb("#b5473f"))
    )
    if light.lamps:
        scene.shine(x, y + 0.05, 0.62, (255, 196, 116), 0.85)


def chandelier(scene: Scene, x: float, top: float, y: float) -> None:
    """A ring of candles on a chain."""
    canvas, light = scene.canvas, scene.light
    gold = light.seen(rgb("#c9a347"))
    canvas.stroke([(x, top - 0.1), (x, y)], 0.007, gold, curved=False)
    canvas.stroke(arc(x, y - 0.03, 0.17, 0.07, 0.0, 0.5, 24), 0.011, gold)
    for k in range(7):
        px = x - 0.165 + 0.055 * k
        py = y - 0.03 + 0.07 * (1 - ((px - x) / 0.17) ** 2) ** 0.5
        canvas.box(px - 0.005, py - 0.04, px + 0.005, py, light.seen(rgb("#f6efdc")))
        canvas.oval(px, py - 0.05, 0.006, 0.012, rgb("#ffd98a"))
    scene.shine(x, y, 0.75, (255, 206, 130), 0.8)


def torch(scene: Scene, x: float, y: float, size: float) -> None:
    """A burning torch in a bracket."""
    canvas = scene.canvas
    canvas.stroke(
        [(x, y + size * 0.6), (x, y)], size * 0.16, scene.light.seen(rgb("#5b3a28")), size * 0.22, curved=False
    )
    _fire(scene, x, y + size * 0.05, size * 0.55)
    scene.shine(x, y - size * 0.2, size * 3.6, FIRE, 0.9)
