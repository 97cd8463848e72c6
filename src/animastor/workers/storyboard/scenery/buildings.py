"""Single buildings and things of streets: cottages, town houses, towers, a lighthouse, lamp posts, fences."""

from __future__ import annotations

from animastor.workers.storyboard.colour import RGB, darker, lighter, mix, rgb, veiled
from animastor.workers.storyboard.geometry import smooth, tuft
from animastor.workers.storyboard.scenery.pieces import SNOW, STONE, snowy
from animastor.workers.storyboard.sky import Scene

WALLS = (rgb("#efe3cf"), rgb("#e6c9a8"), rgb("#d7dfe0"), rgb("#e3b7a0"), rgb("#c9d6c0"), rgb("#f0d9a4"))
ROOFS = (rgb("#a4553f"), rgb("#7d4a4a"), rgb("#5a6470"), rgb("#8a6a4c"), rgb("#4f5f6d"))
TIMBER = rgb("#6a4a35")
LAMPLIGHT = rgb("#ffcf7a")


def window(
    scene: Scene, x: float, y: float, w: float, h: float, depth: float, lit: bool, round_top: bool = False
) -> None:
    """A window with a cross, its upper left corner at (x, y); lit from inside when lamps are on."""
    canvas, light = scene.canvas, scene.light
    on = lit and light.lamps
    hidden = light.hidden(depth) if light.bank else 0.0
    if on:
        frame = mix(light.seen(TIMBER, depth), LAMPLIGHT, 0.25 * (1 - hidden))
        pane = mix(LAMPLIGHT, light.haze, max(0.35 * depth, hidden))
    else:
        frame = light.seen(rgb("#f4eee2"), depth)
        pane = mix(light.seen(rgb("#5c7286"), depth), light.sky[1], 0.35)
    bar = w * 0.09
    canvas.box(x - bar, y - bar, x + w + bar, y + h + bar * 1.6, frame)
    canvas.box(x, y, x + w, y + h, pane)
    if round_top:
        canvas.oval(x + w / 2, y, w / 2 + bar, w / 2 + bar, frame)
        canvas.oval(x + w / 2, y, w / 2, w / 2, pane)
    if not on:
        canvas.shape(
            [(x, y + h), (x, y + h * 0.4), (x + w * 0.6, y), (x + w * 0.9, y)], veiled(lighter(pane, 0.5), 0.35)
        )
    canvas.box(x + w / 2 - bar / 2, y, x + w / 2 + bar / 2, y + h, frame)
    canvas.box(x, y + h * 0.45, x + w, y + h * 0.45 + bar, frame)
    if on:
        scene.shine(x + w / 2, y + h / 2, max(w, h) * 3.2, (255, 178, 92), 0.5 * (1 - 0.4 * depth), depth=depth)


def door(scene: Scene, x: float, foot: float, w: float, h: float, depth: float, colour: RGB) -> None:
    """A door with panels and a round knob, standing on `foot`, its left edge at x."""
    canvas, tone = scene.canvas, scene.light.seen(colour, depth)
    canvas.box(x - w * 0.1, foot - h * 1.06, x + w * 1.1, foot, darker(tone, 0.35))
    canvas.box(x, foot - h, x + w, foot, tone)
    for row in (0.08, 0.54):
        canvas.box(x + w * 0.18, foot - h * (1 - row), x + w * 0.82, foot - h * (0.62 - row), darker(tone, 0.16))
    canvas.oval(x + w * 0.84, foot - h * 0.48, w * 0.06, w * 0.06, lighter(tone, 0.6))


def cottage(scene: Scene, x: float, foot: float, w: float, depth: float = 0.3, wall: RGB | None = None) -> None:
    """A crooked little house, its middle at x: steep roof, chimney with smoke, door, lit windows."""
    canvas, light, rng = scene.canvas, scene.light, scene.rng
    body = light.seen(wall or rng.choice(WALLS), depth)
    roof = light.seen(snowy(scene, rng.choice(ROOFS)), depth)
    h, lean = w * rng.uniform(0.62, 0.85), w * rng.uniform(-0.03, 0.03)
    eaves, peak = foot - h, foot - h - w * rng.uniform(0.55, 0.75)
    scene.upright(x + lean * 2, peak, foot, slim=False)
    _chimney(scene, x + w * rng.choice((-0.26, 0.24)), peak + w * 0.22, w * 0.11, depth)
    canvas.shape([(x - w / 2, foot), (x - w / 2 + lean, eaves), (x + w / 2 + lean, eaves), (x + w / 2, foot)], body)
    canvas.shape(
        [(x + w * 0.28, foot), (x + w * 0.28 + lean, eaves), (x + w / 2 + lean, eaves), (x + w / 2, foot)],
        veiled(darker(body, 0.4), 0.45),
    )
    gable = [(x - w * 0.62 + lean, eaves + w * 0.05), (x + lean * 2, peak), (x + w * 0.62 + lean, eaves + w * 0.05)]
    canvas.shape(gable, roof)
    canvas.shape([gable[1], gable[2], (x + w * 0.16 + lean, eaves + w * 0.05)], darker(roof, 0.2))
    for k in range(1, 4):
        y = peak + (eaves - peak) * (0.25 + 0.22 * k)
        half = w * 0.62 * (y - peak) / (eaves + w * 0.05 - peak)
        canvas.stroke(
            [(x + lean - half * 0.9, y), (x + lean, y + w * 0.012), (x + lean + half * 0.9, y)],
            w * 0.012,
            veiled(darker(roof, 0.5), 0.5),
        )
    dark_side = rng.choice((-1, 1))
    door(
        scene,
        x + dark_side * w * 0.24 - w * 0.09,
        foot,
        w * 0.19,
        h * 0.60,
        depth,
        rng.choice((rgb("#4f7a7a"), rgb("#a8483c"), rgb("#3f5f86"))),
    )
    window(scene, x - dark_side * w * 0.22 - w * 0.11, foot - h * 0.66, w * 0.22, h * 0.32, depth, rng.random() < 0.9)
    window(scene, x + lean - w * 0.07, eaves - w * 0.20, w * 0.14, w * 0.14, depth, rng.random() < 0.6, round_top=True)


def _chimney(scene: Scene, x: float, top: float, w: float, depth: float) -> None:
    canvas, light = scene.canvas, scene.light
    brick = light.seen(rgb("#8f5a4a"), depth)
    canvas.box(x - w / 2, top - w * 1.5, x + w / 2, top + w * 2.5, brick)
    canvas.box(x - w * 0.7, top - w * 1.9, x + w * 0.7, top - w * 1.4, darker(brick, 0.2))
    drift = 2.6 if light.weather in ("wind", "storm") else 0.7
    for k in range(5):
        y, r = top - w * (2.4 + 1.15 * k), w * (0.45 + 0.26 * k)
        smoke = lighter(mix(light.seen((205, 205, 212), depth), light.sky[1], 0.35), 0.12)
        canvas.blob(tuft(scene.rng, x + w * drift * k * 0.6, y, r, 8, 0.12), veiled(smoke, 0.42 - 0.06 * k))


def town_house(
    scene: Scene, x: float, foot: float, w: float, storeys: int, depth: float, wall: RGB | None = None
) -> None:
    """A tall narrow house in a row, its left edge at x: cornice, rows of windows, a shop below."""
    canvas, light, rng = scene.canvas, scene.light, scene.rng
    body = light.seen(wall or rng.choice(WALLS), depth)
    storey = w * 0.62
    top = foot - storey * (storeys + 0.15)
    canvas.box(x, top, x + w, foot, body)
    canvas.box(x + w * 0.86, top, x + w, foot, veiled(darker(body, 0.4), 0.4))
    roof = light.seen(snowy(scene, rng.choice(ROOFS)), depth)
    if rng.random() < 0.5:
        canvas.shape(
            [(x - w * 0.04, top), (x + w * 0.14, top - w * 0.34), (x + w * 0.86, top - w * 0.34), (x + w * 1.04, top)],
            roof,
        )
    else:
        canvas.shape([(x - w * 0.04, top), (x + w / 2, top - w * 0.55), (x + w * 1.04, top)], roof)
    canvas.box(x - w * 0.03, top - w * 0.03, x + w * 1.03, top + w * 0.04, lighter(body, 0.25))
    for level in range(storeys):
        y = top + storey * (level + 0.28)
        if level == storeys - 1:
            door(
                scene,
                x + w * 0.12,
                foot,
                w * 0.2,
                storey * 0.72,
                depth,
                rng.choice((rgb("#35605a"), rgb("#7c2f33"), rgb("#2f4a72"))),
            )
            window(scene, x + w * 0.45, y, w * 0.42, storey * 0.45, depth, True)
            continue
        for column in (0.14, 0.58):
            window(scene, x + w * column, y, w * 0.26, storey * 0.5, depth, rng.random() < 0.55)


def lamp_post(scene: Scene, x: float, foot: float, height: float, depth: float = 0.1) -> None:
    """An iron lamp post; its light makes a halo in fog."""
    canvas, light = scene.canvas, scene.light
    iron = light.seen(rgb("#3a3d4a"), depth)
    top = foot - height
    scene.upright(x, top, foot)
    canvas.stroke([(x, foot), (x, top + height * 0.16)], height * 0.035, iron, height * 0.022, curved=False)
    canvas.box(x - height * 0.05, foot - height * 0.04, x + height * 0.05, foot, iron)
    canvas.stroke(
        [(x - height * 0.07, top + height * 0.2), (x + height * 0.07, top + height * 0.2)], height * 0.016, iron
    )
    glass = LAMPLIGHT if light.lamps else mix(light.seen(rgb("#dfe8ea"), depth), light.sky[2], 0.3)
    w = height * 0.06
    canvas.shape(
        [
            (x - w * 0.7, top + height * 0.17),
            (x - w, top + height * 0.05),
            (x + w, top + height * 0.05),
            (x + w * 0.7, top + height * 0.17),
        ],
        glass,
    )
    canvas.shape(
        [(x - w * 1.3, top + height * 0.05), (x, top - height * 0.02), (x + w * 1.3, top + height * 0.05)], iron
    )
    if light.lamps:
        scene.shine(x, top + height * 0.11, height * 0.9, (255, 186, 96), 1.1, depth=depth)
        scene.shine(x, top + height * 0.11, height * 0.22, (255, 226, 170), 0.9, depth=depth)


def lighthouse(scene: Scene, x: float, foot: float, height: float, depth: float = 0.3) -> None:
    """A striped lighthouse; at night its beam turns over the land."""
    canvas, light = scene.canvas, scene.light
    top = foot - height
    bottom_half, top_half = height * 0.11, height * 0.07
    for k in range(5):
        a, b = k / 5, (k + 1) / 5
        wa, wb = bottom_half + (top_half - bottom_half) * a, bottom_half + (top_half - bottom_half) * b
        tone = light.seen(rgb("#c2473d") if k % 2 else rgb("#f3ede0"), depth)
        ya, yb = foot - height * 0.84 * a, foot - height * 0.84 * b
        canvas.shape([(x - wa, ya), (x - wb, yb), (x + wb, yb), (x + wa, ya)], tone)
        canvas.shape(
            [(x + wa * 0.3, ya), (x + wb * 0.3, yb), (x + wb, yb), (x + wa, ya)], veiled(darker(tone, 0.5), 0.4)
        )
    iron = light.seen(rgb("#38404e"), depth)
    gallery = top + height * 0.16
    canvas.box(x - top_half * 1.45, gallery - height * 0.015, x + top_half * 1.45, gallery + height * 0.012, iron)
    glass = LAMPLIGHT if light.lamps else light.seen(rgb("#bcd0d6"), depth)
    canvas.box(x - top_half * 0.75, top + height * 0.05, x + top_half * 0.75, gallery - height * 0.01, glass)
    canvas.shape(
        [(x - top_half, top + height * 0.05), (x, top - height * 0.03), (x + top_half, top + height * 0.05)],
        light.seen(rgb("#b03f37"), depth),
    )
    if light.lamps:
        _beam(scene, x, top + height * 0.1, height)


def _beam(scene: Scene, x: float, y: float, height: float) -> None:
    """Two beams, each fading out along its length."""
    for side in (-1, 1):
        for k in range(6):
            reach = height * 2.6 * (1 - k / 6)
            tip = x + side * reach
            beam = [(x, y - height * 0.012), (tip, y - reach * 0.12), (tip, y + reach * 0.05), (x, y + height * 0.012)]
            scene.canvas.shape(beam, veiled((255, 236, 180), 0.05))
    scene.shine(x, y, height * 0.9, (255, 214, 140), 1.0)
    scene.shine(x, y, height * 0.2, (255, 240, 210), 1.0)


def tower(scene: Scene, x: float, foot: float, w: float, height: float, depth: float, pointed: bool = True) -> None:
    """A round tower of a castle: battlements or a pointed roof with a flag."""
    canvas, light = scene.canvas, scene.light
    stone = light.seen(snowy(scene, STONE, 0.12), depth)
    top = foot - height
    canvas.box(x - w / 2, top, x + w / 2, foot, stone)
    canvas.box(x + w * 0.12, top, x + w / 2, foot, veiled(darker(stone, 0.5), 0.45))
    for k in range(5):
        left = x - w * 0.6 + k * w * 0.27
        canvas.box(left, top - w * 0.16, left + w * 0.15, top + w * 0.04, stone)
    canvas.box(x - w * 0.6, top, x + w * 0.63, top + w * 0.14, lighter(stone, 0.08))
    if pointed:
        roof = light.seen(snowy(scene, rgb("#4e5a86"), 0.5), depth)
        canvas.shape([(x - w * 0.58, top - w * 0.1), (x, top - w * 1.4), (x + w * 0.58, top - w * 0.1)], roof)
        canvas.shape(
            [(x + w * 0.1, top - w * 0.1), (x, top - w * 1.4), (x + w * 0.58, top - w * 0.1)], darker(roof, 0.22)
        )
        canvas.stroke([(x, top - w * 1.4), (x, top - w * 1.85)], w * 0.03, stone, curved=False)
        flag = smooth(
            [(x, top - w * 1.85), (x + w * 0.3, top - w * 1.78), (x + w * 0.6, top - w * 1.72), (x, top - w * 1.58)]
        )
        canvas.shape(flag, light.seen(rgb("#c8473f"), depth))
    for k in range(max(1, int(height / w / 1.2))):
        window(scene, x - w * 0.12, top + w * (0.5 + 1.1 * k), w * 0.16, w * 0.26, depth, k % 2 == 0, round_top=True)


def fence(
    scene: Scene, y: float, height: float, colour: RGB = TIMBER, left: float | None = None, right: float | None = None
) -> None:
    """A picket fence along a line."""
    canvas = scene.canvas
    tone = scene.light.seen(snowy(scene, colour, 0.25))
    start, end = canvas.left if left is None else left, canvas.right if right is None else right
    for rail in (0.35, 0.75):
        canvas.box(start, y - height * rail, end, y - height * (rail - 0.1), darker(tone, 0.2))
    step, x = height * 0.42, start
    while x < end:
        lift = height * scene.rng.uniform(0.94, 1.06)
        w = height * 0.2
        canvas.shape([(x, y), (x, y - lift), (x + w / 2, y - lift - w * 0.6), (x + w, y - lift), (x + w, y)], tone)
        if scene.light.weather == "snow":
            canvas.oval(x + w / 2, y - lift - w * 0.4, w * 0.6, w * 0.3, scene.light.seen(SNOW))
        x += step


def church_tower(scene: Scene, x: float, foot: float, height: float, depth: float) -> None:
    """A square tower with a spire and a clock."""
    canvas, light = scene.canvas, scene.light
    w = height * 0.26
    stone = light.seen(rgb("#d9cfba"), depth)
    canvas.box(x - w / 2, foot - height * 0.62, x + w / 2, foot, stone)
    canvas.box(x + w * 0.15, foot - height * 0.62, x + w / 2, foot, veiled(darker(stone, 0.4), 0.4))
    roof = light.seen(snowy(scene, rgb("#5f6a7a"), 0.5), depth)
    canvas.shape([(x - w * 0.6, foot - height * 0.61), (x, foot - height), (x + w * 0.6, foot - height * 0.61)], roof)
    canvas.shape(
        [(x + w * 0.12, foot - height * 0.61), (x, foot - height), (x + w * 0.6, foot - height * 0.61)],
        darker(roof, 0.2),
    )
    canvas.oval(x, foot - height * 0.50, w * 0.2, w * 0.2, light.seen(rgb("#f6efdf"), depth))
    canvas.stroke(
        [(x, foot - height * 0.50), (x, foot - height * 0.50 - w * 0.14)], w * 0.04, INK_OF_CLOCK, curved=False
    )
    canvas.stroke(
        [(x, foot - height * 0.50), (x + w * 0.1, foot - height * 0.49)], w * 0.04, INK_OF_CLOCK, curved=False
    )
    window(scene, x - w * 0.12, foot - height * 0.34, w * 0.24, w * 0.4, depth, True, round_top=True)


INK_OF_CLOCK = rgb("#3a3340")
