"""A detail: one thing, large, before its softened setting."""

from __future__ import annotations

from PIL import Image, ImageFilter

from animastor.workers.storyboard.board import Board
from animastor.workers.storyboard.colour import darker, lighter, mix, veiled
from animastor.workers.storyboard.figures.sprite import cut_out, lit
from animastor.workers.storyboard.geometry import Point
from animastor.workers.storyboard.scenery import pieces
from animastor.workers.storyboard.sky import Scene
from animastor.workers.storyboard.staging import Stage
from animastor.workers.storyboard.things import FLOATING, HANGING, LUMINOUS, THINGS, draw_thing
from animastor.workers.storyboard.thread import RED

_WATERY = frozenset({"sea", "harbour", "beach", "river", "lake", "lighthouse", "ship"})


def draw_detail(board: Board, stage: Stage, scene: Scene) -> None:
    """The first thing that the picture's wish names, with a second one beside it; nothing when it names none."""
    known = [name for name in board.things if name in THINGS]
    if not known:
        return
    main = known[0]
    afloat = main in FLOATING and board.setting in _WATERY
    room = stage.floor - stage.ceiling
    size = room * (0.50 if afloat else 0.58)
    x, y = stage.middle + stage.width * (0.04 if board.seed % 2 else -0.04), stage.ceiling + room * 0.50
    table = y + size * 0.44
    if main not in HANGING:
        _water(scene, stage, table) if afloat else _surface(board, scene, stage, table)
    if afloat and "thread" in board.things:
        _trailing(scene, stage, x, table, size)
    if "hull" in known and main != "hull":
        side = stage.width * 0.86
        _lay(scene, "hull", side, y - size * 0.08, size * 1.25)
    _lay(scene, main, x, y, size)
    if afloat:
        _ripples(scene, x, table, size)


def _trailing(scene: Scene, stage: Stage, x: float, y: float, size: float) -> None:
    """A thread tied to what floats, lying on the water, out of the picture to one side."""
    start, out = x + size * 0.22, stage.width + 0.06 - x - size * 0.22
    line = [(start, y - size * 0.10), (start + out * 0.12, y + 0.012)]
    line += [
        (start + out * share, y + 0.02 + drop) for share, drop in ((0.35, 0.012), (0.6, 0.0), (0.8, 0.02), (1.0, 0.01))
    ]
    scene.canvas.stroke(line, 0.010, RED, 0.013)


def _surface(board: Board, scene: Scene, stage: Stage, y: float) -> None:
    """A table top, or bare ground out of doors, under the thing."""
    canvas, light = scene.canvas, scene.light
    wood = light.seen(mix((138, 93, 61), light.haze, 0.05) if board.inside else pieces.EARTH)
    top = y - stage.floor * 0.07
    canvas.shaded(
        [(-0.1, top), (stage.width + 0.1, top), (stage.width + 0.1, stage.height + 0.1), (-0.1, stage.height + 0.1)],
        lighter(wood, 0.10),
        darker(wood, 0.35),
    )
    canvas.box(-0.1, top - 0.006, stage.width + 0.1, top + 0.004, lighter(wood, 0.3))
    if board.inside:
        for k in range(5):
            line = top + 0.03 + 0.06 * k * (1 + 0.25 * k)
            canvas.stroke(
                [(-0.1, line), (stage.width * 0.5, line + 0.004), (stage.width + 0.1, line)],
                0.003,
                veiled(darker(wood, 0.5), 0.4),
            )


def _water(scene: Scene, stage: Stage, y: float) -> None:
    canvas = scene.canvas
    deep = darker(scene.light.seen(pieces.WATER), 0.15)
    top = y - stage.floor * 0.20
    canvas.shaded(
        [(-0.1, top), (stage.width + 0.1, top), (stage.width + 0.1, stage.height + 0.1), (-0.1, stage.height + 0.1)],
        lighter(deep, 0.10),
        darker(deep, 0.4),
        (0.2, 1.0),
    )


def _ripples(scene: Scene, x: float, y: float, size: float) -> None:
    canvas, rng = scene.canvas, scene.rng
    glow = (255, 214, 150)
    for k in range(14):
        half = size * rng.uniform(0.05, 0.30) * (1 - k / 20)
        canvas.oval(
            x + rng.uniform(-0.12, 0.12) * size, y + 0.016 + 0.014 * k, half, 0.0035, veiled(glow, 0.5 * (1 - k / 16))
        )
    wave = lighter(scene.light.seen(pieces.WATER), 0.35)
    for k in range(9):
        at, half = rng.uniform(0, canvas.width), rng.uniform(0.06, 0.18)
        line = y + 0.03 + 0.035 * k
        canvas.stroke([(at - half, line), (at, line - 0.007), (at + half, line)], 0.005, veiled(wave, 0.55), 0.001)


def _lay(scene: Scene, name: str, x: float, y: float, size: float) -> None:
    """The thing as a lit cut-out with its shadow and its own light."""
    canvas = scene.canvas

    def draw(board: object) -> Point:
        draw_thing(board, name, 0.0, -0.5, 1.0)  # type: ignore[arg-type]
        return (0.0, 0.0)

    sprite = cut_out(draw, size * canvas.unit, 1.0)
    shown = lit(sprite, scene.light, size * canvas.unit, 1.0, 0.5)
    at = (x * canvas.unit - shown.foot[0], (y + size * 0.5) * canvas.unit - shown.foot[1])
    if name not in HANGING | {"hull"}:
        at = (at[0], (y + size * 0.46) * canvas.unit - shown.image.height)  # it stands on the table, however low it is
    if name not in FLOATING | HANGING:
        _shadow(scene, x, y + size * 0.42, size)
    canvas.lay(shown.image, shown.mask, at)
    if name != "hull":
        left, top = at[0] / canvas.unit, at[1] / canvas.unit
        area = (left, top, left + shown.image.width / canvas.unit, top + shown.image.height / canvas.unit)
        scene.subjects.append(area)
    if name in LUMINOUS:
        shine = LUMINOUS[name]
        scene.shine(x + shine.at[0] * size, y + shine.at[1] * size, shine.reach * size, strength=1.0)
        scene.shine(x + shine.at[0] * size, y + shine.at[1] * size, size * 0.3, (255, 236, 190), 0.8)


def _shadow(scene: Scene, x: float, y: float, size: float) -> None:
    canvas = scene.canvas
    wide, tall = round(size * 1.2 * canvas.unit), max(2, round(size * 0.16 * canvas.unit))
    stencil = Image.new("L", (wide, tall * 2), 0)
    stencil.paste(150, (wide // 8, tall // 2, wide - wide // 8, tall + tall // 2))
    canvas.image.paste(
        (18, 12, 36),
        (round(x * canvas.unit - wide / 2), round(y * canvas.unit - tall * 0.8)),
        stencil.filter(ImageFilter.GaussianBlur(tall * 0.4)),
    )
