"""Things that are held, stand about, or fill a detail shot. Each is drawn in a box of side 1 about its middle."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

from animastor.workers.storyboard.canvas import Canvas
from animastor.workers.storyboard.colour import RGB, darker, lighter, rgb, veiled
from animastor.workers.storyboard.figures.pen import Pen
from animastor.workers.storyboard.geometry import Point, arc

FLAME = rgb("#ffd98a")


@dataclass(frozen=True, slots=True)
class Shine:
    """The light of a thing: where its flame is within its box, how far it reaches in boxes."""

    at: Point
    reach: float


LUMINOUS = {
    "candle": Shine((0.0, -0.40), 2.0),
    "lantern": Shine((0.0, 0.0), 2.2),
    "paper boat": Shine((0.0, -0.36), 1.7),
    "fire": Shine((0.0, 0.0), 2.0),
    "star": Shine((0.0, 0.0), 1.5),
}


def draw_thing(canvas: Canvas, name: str, x: float, y: float, size: float, tone: RGB | None = None) -> None:
    """Draw a thing; an unknown one is not drawn. `tone` recolours wool and thread."""
    paint = THINGS.get(name)
    if paint:
        paint(Pen(canvas, x, y, size), tone or rgb("#c63d36"))


def _flame(pen: Pen, x: float, y: float, size: float) -> None:
    pen.blob(
        [
            (x - size * 0.5, y),
            (x - size * 0.42, y - size * 0.7),
            (x, y - size * 1.7),
            (x + size * 0.42, y - size * 0.7),
            (x + size * 0.5, y),
            (x, y + size * 0.3),
        ],
        rgb("#ffb347"),
    )
    pen.blob([(x - size * 0.26, y), (x, y - size * 1.0), (x + size * 0.26, y), (x, y + size * 0.15)], rgb("#fff3c4"))


def _candle(pen: Pen, _: RGB) -> None:
    pen.oval(0, 0.42, 0.34, 0.09, rgb("#b98a4a"))
    pen.shape([(-0.12, 0.40), (-0.12, -0.22), (0.12, -0.22), (0.12, 0.40)], rgb("#f3e7cd"))
    pen.shape([(0.03, 0.40), (0.03, -0.22), (0.12, -0.22), (0.12, 0.40)], rgb("#d9c6a2"))
    pen.line([(0, -0.22), (0, -0.31)], 0.02, rgb("#3a2f2a"))
    _flame(pen, 0, -0.32, 0.10)


def _lantern(pen: Pen, _: RGB) -> None:
    iron = rgb("#4a4038")
    pen.line(arc(0, -0.34, 0.20, 0.20, 0.5, 1.0), 0.03, iron)
    pen.shape([(-0.24, -0.24), (0, -0.40), (0.24, -0.24)], iron)
    pen.shape([(-0.20, -0.24), (0.20, -0.24), (0.25, 0.34), (-0.25, 0.34)], rgb("#ffdf9c"))
    _flame(pen, 0, 0.20, 0.11)
    for x in (-0.22, 0.0, 0.22):
        pen.line([(x * 0.85, -0.24), (x * 1.05, 0.34)], 0.025, iron)
    pen.shape([(-0.30, 0.34), (0.30, 0.34), (0.30, 0.43), (-0.30, 0.43)], iron)


def _paper_boat(pen: Pen, _: RGB) -> None:
    paper, shade = rgb("#f7f0e0"), rgb("#d8cdb8")
    pen.shape([(-0.17, 0.10), (0.0, -0.22), (0.17, 0.10)], shade)
    pen.line([(0, -0.04), (0, -0.24)], 0.055, rgb("#f0ddb0"))
    _flame(pen, 0, -0.27, 0.06)
    pen.shape([(-0.52, -0.02), (-0.30, 0.34), (0.30, 0.34), (0.52, -0.02), (0.17, 0.10), (-0.17, 0.10)], paper)
    pen.shape([(0, 0.34), (0.30, 0.34), (0.52, -0.02), (0.17, 0.10)], shade)
    pen.line([(-0.52, -0.02), (-0.17, 0.10), (0.17, 0.10), (0.52, -0.02)], 0.012, darker(shade, 0.2))


def _wool(pen: Pen, tone: RGB) -> None:
    pen.line([(0.3, 0.3), (0.46, 0.42), (0.58, 0.45)], 0.045, tone)
    pen.oval(0, 0.06, 0.42, 0.40, tone)
    pen.oval(0.10, 0.14, 0.30, 0.30, veiled(darker(tone, 0.4), 0.35))
    for k in range(6):
        bend = -0.34 + 0.13 * k
        pen.line(
            [(-0.36, 0.06 + bend * 0.6), (0, bend * 0.9 + 0.02), (0.34, 0.0 + bend * 0.4)],
            0.03,
            veiled(lighter(tone, 0.35), 0.8),
            0.02,
        )
    for k in range(4):
        pen.line(
            [(-0.2 + 0.12 * k, -0.3), (-0.12 + 0.13 * k, 0.06), (-0.2 + 0.12 * k, 0.42)],
            0.025,
            veiled(darker(tone, 0.3), 0.7),
            0.015,
        )


def _basket(pen: Pen, tone: RGB) -> None:
    cane = rgb("#b3834f")
    for x, r, c in ((-0.2, 0.2, tone), (0.2, 0.22, lighter(tone, 0.1)), (0.0, 0.22, darker(tone, 0.12))):
        pen.oval(x, -0.06, r, r, c)
        pen.line([(x - r * 0.8, -0.1), (x, -0.2), (x + r * 0.8, -0.1)], 0.02, lighter(c, 0.3))
    _cane(pen, cane)


def _cane(pen: Pen, cane: RGB) -> None:
    pen.blob([(-0.5, 0.0), (-0.40, 0.42), (0.40, 0.42), (0.5, 0.0), (0, 0.06)], cane)
    for row in range(3):
        y = 0.10 + 0.11 * row
        for k in range(8):
            x = -0.40 + 0.115 * k + 0.05 * (row % 2)
            pen.line([(x, y), (x + 0.05, y + 0.03)], 0.035, lighter(cane, 0.25) if k % 2 else darker(cane, 0.2))
    pen.line([(-0.5, 0.0), (0, 0.07), (0.5, 0.0)], 0.07, darker(cane, 0.12))


def _nest(pen: Pen, _: RGB) -> None:
    """A basket without anything in it, for what lies in it to be drawn behind."""
    _cane(pen, rgb("#b3834f"))


def _hull(pen: Pen, _: RGB) -> None:
    tone = rgb("#3f6f86")
    pen.blob([(-0.34, -0.5), (0.7, -0.62), (0.7, 0.5), (-0.02, 0.5), (-0.24, 0.1)], tone)
    pen.blob([(-0.2, 0.1), (0.7, 0.0), (0.7, 0.5), (-0.02, 0.5)], veiled(darker(tone, 0.5), 0.5))
    pen.line([(-0.36, -0.5), (0.2, -0.56), (0.72, -0.6)], 0.09, lighter(tone, 0.5))
    for k in range(3):
        pen.line([(-0.28 + 0.07 * k, -0.28 + 0.2 * k), (0.7, -0.36 + 0.2 * k)], 0.014, darker(tone, 0.35))


def _cup(pen: Pen, _: RGB) -> None:
    glaze = rgb("#3f78b8")
    pen.line(arc(0.36, 0.02, 0.17, 0.18, -0.25, 0.25), 0.08, darker(glaze, 0.1))
    pen.blob(
        [(-0.36, -0.30), (-0.34, 0.14), (-0.2, 0.38), (0.2, 0.38), (0.34, 0.14), (0.36, -0.30), (0.0, -0.24)], glaze
    )
    pen.blob([(0.10, -0.26), (0.34, -0.28), (0.33, 0.12), (0.18, 0.36)], veiled(darker(glaze, 0.5), 0.35))
    pen.oval(0, -0.30, 0.36, 0.09, lighter(glaze, 0.35))
    pen.oval(0, -0.29, 0.30, 0.065, darker(glaze, 0.45))
    for x in (-0.2, 0.0, 0.2):
        pen.oval(x, 0.04, 0.05, 0.05, rgb("#f4efe2"))
    pen.line([(-0.27, -0.18), (-0.265, -0.06)], 0.03, veiled(rgb("#ffffff"), 0.5), 0.015)


def _book(pen: Pen, tone: RGB) -> None:
    page = rgb("#f6eeda")
    pen.shape([(-0.52, -0.22), (0, -0.12), (0.52, -0.22), (0.52, 0.34), (0, 0.42), (-0.52, 0.34)], tone)
    for side in (-1, 1):
        pen.blob(
            [
                (0, -0.14),
                (side * 0.24, -0.27),
                (side * 0.48, -0.24),
                (side * 0.48, 0.28),
                (side * 0.24, 0.26),
                (0, 0.36),
            ],
            page,
        )
        for k in range(5):
            y = -0.12 + 0.075 * k
            pen.line([(side * 0.08, y), (side * 0.25, y - 0.05), (side * 0.42, y - 0.03)], 0.014, rgb("#8b7f72"))
    pen.line([(0, -0.13), (0, 0.37)], 0.02, darker(page, 0.3))


def _letter(pen: Pen, tone: RGB) -> None:
    paper = rgb("#f5ecd8")
    pen.shape([(-0.5, -0.32), (0.5, -0.32), (0.5, 0.34), (-0.5, 0.34)], paper)
    pen.line([(-0.5, 0.34), (-0.05, -0.02)], 0.014, darker(paper, 0.25))
    pen.line([(0.5, 0.34), (0.05, -0.02)], 0.014, darker(paper, 0.25))
    pen.shape([(-0.5, -0.32), (0, 0.10), (0.5, -0.32)], darker(paper, 0.08))
    pen.oval(0, 0.06, 0.10, 0.10, tone)
    pen.oval(0, 0.06, 0.06, 0.06, lighter(tone, 0.2))


def _key(pen: Pen, _: RGB) -> None:
    brass = rgb("#d2a544")
    pen.line(arc(-0.30, 0, 0.16, 0.16, 0, 1, 28), 0.075, brass)
    pen.line([(-0.14, 0), (0.46, 0)], 0.075, brass)
    for x, h in ((0.44, 0.2), (0.32, 0.15)):
        pen.shape([(x - 0.045, 0), (x + 0.045, 0), (x + 0.045, h), (x - 0.045, h)], brass)
    pen.line([(-0.12, -0.02), (0.44, -0.02)], 0.02, lighter(brass, 0.5))


def _clock(pen: Pen, _: RGB) -> None:
    pen.oval(0, 0, 0.46, 0.46, rgb("#7d5437"))
    pen.oval(0, 0, 0.39, 0.39, rgb("#f7f0df"))
    for k in range(12):
        angle = math.tau * k / 12
        pen.oval(0.33 * math.cos(angle), 0.33 * math.sin(angle), 0.022, 0.022, rgb("#3a3040"))
    pen.line([(0, 0), (0.02, -0.28)], 0.025, rgb("#3a3040"))
    pen.line([(0, 0), (0.18, 0.1)], 0.035, rgb("#3a3040"))
    pen.oval(0, 0, 0.03, 0.03, rgb("#a8433c"))


def _rope(pen: Pen, _: RGB) -> None:
    hemp = rgb("#c9a56a")
    for k in range(4):
        ring = arc(0, 0.22 - 0.12 * k, 0.46 - 0.03 * k, 0.15, 0, 1, 32)
        pen.line(ring, 0.11, darker(hemp, 0.25))
        pen.line(ring, 0.08, hemp)
    pen.line([(0.40, -0.10), (0.62, 0.1), (0.55, 0.36), (0.85, 0.42)], 0.085, hemp)


def _flower(pen: Pen, tone: RGB) -> None:
    pen.line([(0, 0.48), (0.03, 0.1), (0, -0.14)], 0.04, rgb("#4f8a4a"))
    pen.blob([(0.02, 0.3), (0.24, 0.12), (0.30, 0.2), (0.12, 0.36)], rgb("#5d9a52"))
    for k in range(8):
        angle = math.tau * k / 8
        pen.oval(
            0.17 * math.cos(angle), -0.2 + 0.17 * math.sin(angle), 0.12, 0.12, tone if k % 2 else lighter(tone, 0.12)
        )
    pen.oval(0, -0.2, 0.11, 0.11, rgb("#f2cf52"))


def _apple(pen: Pen, _: RGB) -> None:
    red = rgb("#c8403a")
    pen.blob(
        [
            (0, -0.22),
            (0.28, -0.28),
            (0.42, 0.02),
            (0.24, 0.38),
            (0, 0.34),
            (-0.24, 0.38),
            (-0.42, 0.02),
            (-0.28, -0.28),
        ],
        red,
    )
    pen.oval(-0.18, -0.06, 0.08, 0.13, veiled(lighter(red, 0.7), 0.6))
    pen.line([(0, -0.22), (0.05, -0.42)], 0.04, rgb("#5b4030"))
    pen.blob([(0.05, -0.38), (0.22, -0.48), (0.28, -0.36)], rgb("#5d9a52"))


def _bread(pen: Pen, _: RGB) -> None:
    crust = rgb("#c98d4a")
    pen.blob([(-0.5, 0.26), (-0.46, -0.1), (-0.2, -0.28), (0.2, -0.28), (0.46, -0.1), (0.5, 0.26)], crust)
    for x in (-0.24, 0.0, 0.24):
        pen.line([(x - 0.08, 0.0), (x + 0.06, -0.22)], 0.07, lighter(crust, 0.45), 0.04)


def _bottle(pen: Pen, _: RGB) -> None:
    glass = rgb("#4f8a72")
    pen.blob(
        [(-0.2, 0.46), (-0.22, 0.0), (-0.1, -0.2), (-0.08, -0.4), (0.08, -0.4), (0.1, -0.2), (0.22, 0.0), (0.2, 0.46)],
        glass,
    )
    pen.shape([(-0.18, 0.08), (0.18, 0.08), (0.18, 0.32), (-0.18, 0.32)], rgb("#f0e6cc"))
    pen.shape([(-0.07, -0.48), (0.07, -0.48), (0.08, -0.36), (-0.08, -0.36)], rgb("#a9793f"))
    pen.line([(-0.15, 0.0), (-0.15, 0.4)], 0.03, veiled(rgb("#ffffff"), 0.5))


def _box(pen: Pen, _: RGB) -> None:
    wood, iron = rgb("#8f5f38"), rgb("#c9a347")
    pen.blob(
        [(-0.48, -0.04), (-0.44, -0.3), (-0.2, -0.36), (0.2, -0.36), (0.44, -0.3), (0.48, -0.04)], lighter(wood, 0.1)
    )
    pen.shape([(-0.48, -0.04), (0.48, -0.04), (0.48, 0.4), (-0.48, 0.4)], wood)
    for x in (-0.34, 0.34):
        pen.shape([(x - 0.05, -0.34), (x + 0.05, -0.34), (x + 0.05, 0.4), (x - 0.05, 0.4)], iron)
    pen.shape([(-0.09, -0.1), (0.09, -0.1), (0.09, 0.12), (-0.09, 0.12)], iron)
    pen.oval(0, 0.0, 0.035, 0.045, rgb("#3a2f2a"))


def _sword(pen: Pen, _: RGB) -> None:
    steel = rgb("#c9d0d8")
    pen.shape([(-0.05, 0.2), (-0.05, -0.42), (0, -0.52), (0.05, -0.42), (0.05, 0.2)], steel)
    pen.shape([(0, 0.2), (0, -0.52), (0.05, -0.42), (0.05, 0.2)], darker(steel, 0.2))
    pen.line([(-0.17, 0.21), (0.17, 0.21)], 0.06, rgb("#c9a347"))
    pen.line([(0, 0.23), (0, 0.42)], 0.06, rgb("#6b4630"))
    pen.oval(0, 0.45, 0.05, 0.05, rgb("#c9a347"))


def _map(pen: Pen, tone: RGB) -> None:
    paper = rgb("#ead9b0")
    pen.shape(
        [
            (-0.5, -0.34),
            (-0.17, -0.26),
            (0.17, -0.36),
            (0.5, -0.28),
            (0.5, 0.36),
            (0.17, 0.28),
            (-0.17, 0.38),
            (-0.5, 0.3),
        ],
        paper,
    )
    pen.blob([(-0.38, -0.1), (-0.1, -0.2), (0.1, 0.0), (-0.1, 0.2), (-0.34, 0.16)], rgb("#a9bb84"))
    pen.line([(-0.3, 0.2), (-0.05, 0.02), (0.15, 0.12), (0.34, -0.14)], 0.025, tone)
    for side in (-1, 1):
        pen.line([(0.34 - 0.06, -0.14 - side * 0.06), (0.34 + 0.06, -0.14 + side * 0.06)], 0.025, tone)
    for x in (-0.17, 0.17):
        pen.line([(x, -0.3), (x, 0.34)], 0.012, darker(paper, 0.25))


def _bell(pen: Pen, _: RGB) -> None:
    brass = rgb("#d2a544")
    pen.oval(0, 0.36, 0.09, 0.09, darker(brass, 0.4))
    pen.blob([(-0.42, 0.32), (-0.28, 0.14), (-0.24, -0.2), (0, -0.38), (0.24, -0.2), (0.28, 0.14), (0.42, 0.32)], brass)
    pen.line([(-0.14, -0.16), (-0.18, 0.16)], 0.05, lighter(brass, 0.5), 0.03)
    pen.line(arc(0, -0.42, 0.08, 0.07, 0, 1), 0.04, darker(brass, 0.2))


def _feather(pen: Pen, tone: RGB) -> None:
    pen.blob(
        [(-0.36, 0.30), (-0.30, -0.02), (0.1, -0.36), (0.46, -0.46), (0.36, -0.12), (0.02, 0.22)], lighter(tone, 0.55)
    )
    pen.line([(-0.48, 0.46), (-0.1, 0.04), (0.42, -0.42)], 0.025, rgb("#8a7a68"))
    for k in range(5):
        x = -0.2 + 0.13 * k
        pen.line([(x, 0.14 - 0.13 * k), (x + 0.14, 0.13 - 0.12 * k)], 0.014, rgb("#a99a86"))


def _shell(pen: Pen, _: RGB) -> None:
    tone = rgb("#edc3a6")
    pen.blob([(0, 0.38), (-0.44, 0.02), (-0.34, -0.28), (0, -0.38), (0.34, -0.28), (0.44, 0.02)], tone)
    for k in range(-3, 4):
        pen.line([(0, 0.36), (k * 0.12, -0.30 + 0.02 * k * k)], 0.024, darker(tone, 0.22), 0.012)
    pen.shape([(-0.14, 0.42), (0.14, 0.42), (0.06, 0.28), (-0.06, 0.28)], darker(tone, 0.1))


def _coin(pen: Pen, _: RGB) -> None:
    gold = rgb("#e0b347")
    pen.oval(0.03, 0.04, 0.40, 0.40, darker(gold, 0.35))
    pen.oval(0, 0, 0.40, 0.40, gold)
    pen.line(arc(0, 0, 0.33, 0.33, 0, 1, 32), 0.02, darker(gold, 0.25))
    pen.shape(
        [
            (0, -0.2),
            (0.06, -0.06),
            (0.2, -0.04),
            (0.1, 0.06),
            (0.13, 0.2),
            (0, 0.12),
            (-0.13, 0.2),
            (-0.1, 0.06),
            (-0.2, -0.04),
            (-0.06, -0.06),
        ],
        darker(gold, 0.2),
    )


def _ring(pen: Pen, _: RGB) -> None:
    pen.line(arc(0, 0.12, 0.30, 0.28, 0, 1, 32), 0.09, rgb("#e0b347"))
    pen.shape([(-0.14, -0.2), (0, -0.38), (0.14, -0.2), (0, -0.06)], rgb("#4fa3c8"))
    pen.shape([(-0.14, -0.2), (0, -0.38), (0, -0.06)], rgb("#8fd0e6"))


def _boots(pen: Pen, tone: RGB) -> None:
    for dx, c in ((-0.2, darker(tone, 0.15)), (0.14, tone)):
        pen.blob(
            [
                (dx - 0.14, -0.38),
                (dx + 0.14, -0.38),
                (dx + 0.15, 0.12),
                (dx + 0.36, 0.26),
                (dx + 0.36, 0.4),
                (dx - 0.16, 0.4),
            ],
            c,
        )
        pen.line([(dx - 0.14, -0.34), (dx + 0.14, -0.34)], 0.07, lighter(c, 0.25))


def _hat(pen: Pen, tone: RGB) -> None:
    pen.blob([(-0.26, 0.14), (-0.24, -0.26), (0, -0.34), (0.24, -0.26), (0.26, 0.14)], tone)
    pen.shape([(-0.26, 0.0), (0.26, 0.0), (0.27, 0.12), (-0.27, 0.12)], darker(tone, 0.4))
    pen.oval(0, 0.16, 0.52, 0.11, lighter(tone, 0.08))


def _hand(pen: Pen, _: RGB) -> None:
    skin = rgb("#e8b48c")
    pen.blob([(-0.22, 0.46), (-0.26, 0.05), (-0.18, -0.08), (0.2, -0.08), (0.26, 0.08), (0.2, 0.46)], skin)
    for k, (x, top) in enumerate(((-0.19, -0.34), (-0.06, -0.46), (0.07, -0.45), (0.19, -0.34))):
        pen.line([(x * 0.9, 0.0), (x, top)], 0.115, skin if k % 2 else lighter(skin, 0.05), 0.09)
    pen.line([(0.2, 0.2), (0.36, 0.06), (0.42, -0.1)], 0.12, skin, 0.09)
    pen.line([(-0.12, 0.14), (0.02, 0.2), (0.12, 0.12)], 0.016, darker(skin, 0.3))


def _door(pen: Pen, tone: RGB) -> None:
    pen.shape([(-0.30, 0.5), (-0.30, -0.5), (0.30, -0.5), (0.30, 0.5)], rgb("#5b4030"))
    pen.shape([(-0.25, 0.5), (-0.25, -0.45), (0.25, -0.45), (0.25, 0.5)], tone)
    for y in (-0.36, 0.06):
        pen.shape([(-0.17, y), (0.17, y), (0.17, y + 0.34), (-0.17, y + 0.34)], darker(tone, 0.18))
    pen.oval(0.19, 0.04, 0.03, 0.03, rgb("#e0b347"))


def _window(pen: Pen, _: RGB) -> None:
    pen.shape([(-0.42, -0.46), (0.42, -0.46), (0.42, 0.42), (-0.42, 0.42)], rgb("#6b4630"))
    pen.shape([(-0.36, -0.40), (0.36, -0.40), (0.36, 0.36), (-0.36, 0.36)], rgb("#ffd98a"))
    pen.line([(0, -0.40), (0, 0.36)], 0.05, rgb("#6b4630"))
    pen.line([(-0.36, -0.04), (0.36, -0.04)], 0.05, rgb("#6b4630"))
    pen.shape([(-0.50, 0.42), (0.50, 0.42), (0.50, 0.5), (-0.50, 0.5)], rgb("#7d5437"))


def _fire(pen: Pen, _: RGB) -> None:
    for x, angle in ((-0.1, 0.1), (0.1, -0.1)):
        pen.line([(x - 0.36, 0.40 + angle), (x + 0.36, 0.40 - angle)], 0.12, rgb("#5b3a28"))
    pen.blob(
        [
            (-0.34, 0.36),
            (-0.36, 0.0),
            (-0.2, -0.16),
            (-0.14, -0.4),
            (0.04, -0.2),
            (0.12, -0.48),
            (0.24, -0.14),
            (0.38, 0.06),
            (0.32, 0.36),
        ],
        rgb("#f0803a"),
    )
    pen.blob([(-0.2, 0.36), (-0.18, 0.1), (0.0, -0.14), (0.18, 0.12), (0.2, 0.36)], rgb("#ffc45a"))
    pen.blob([(-0.09, 0.36), (0, 0.1), (0.09, 0.36)], rgb("#fff1c2"))


def _umbrella(pen: Pen, tone: RGB) -> None:
    pen.line([(0, -0.3), (0, 0.40), (0.08, 0.48), (0.15, 0.40)], 0.035, rgb("#5b4030"))
    pen.shape(
        [*arc(0, 0.0, 0.5, 0.44, 0.5, 1.0, 24), (0.33, 0.06), (0.17, 0.0), (0.0, 0.06), (-0.17, 0.0), (-0.33, 0.06)],
        tone,
    )
    pen.shape([*arc(0, 0.0, 0.17, 0.44, 0.5, 1.0, 24), (0.0, 0.06)], lighter(tone, 0.15))


def _egg(pen: Pen, _: RGB) -> None:
    pen.blob([(-0.5, 0.16), (-0.36, 0.42), (0.36, 0.42), (0.5, 0.16), (0.2, 0.24), (-0.2, 0.24)], rgb("#8a6440"))
    for x in (-0.2, 0.0, 0.2):
        pen.oval(x, 0.04 - 0.05 * (x == 0), 0.14, 0.19, rgb("#cfe0dc"))
    pen.line([(-0.5, 0.16), (0, 0.26), (0.5, 0.16)], 0.08, rgb("#9b7349"))


def _mirror(pen: Pen, _: RGB) -> None:
    pen.oval(0, -0.12, 0.30, 0.36, rgb("#c9a347"))
    pen.oval(0, -0.12, 0.24, 0.30, rgb("#bcd6de"))
    pen.line([(-0.12, 0.0), (0.1, -0.3)], 0.03, veiled(rgb("#ffffff"), 0.7))
    pen.line([(0, 0.24), (0, 0.46)], 0.09, rgb("#c9a347"))


def _fish(pen: Pen, _: RGB) -> None:
    tone = rgb("#6f9ab0")
    pen.blob([(-0.46, 0.0), (-0.2, -0.2), (0.16, -0.14), (0.34, 0.0), (0.16, 0.14), (-0.2, 0.2)], tone)
    pen.shape([(0.28, 0.0), (0.5, -0.2), (0.46, 0.0), (0.5, 0.2)], darker(tone, 0.15))
    pen.oval(-0.3, -0.05, 0.04, 0.04, rgb("#f7f2e6"))
    pen.oval(-0.3, -0.05, 0.02, 0.02, rgb("#22202a"))
    pen.line([(-0.18, -0.12), (-0.14, 0.0), (-0.18, 0.12)], 0.02, darker(tone, 0.3))


def _star(pen: Pen, _: RGB) -> None:
    points = []
    for k in range(10):
        r, angle = (0.48 if k % 2 == 0 else 0.2), math.tau * (k / 10 - 0.25)
        points.append((r * math.cos(angle), r * math.sin(angle)))
    pen.shape(points, rgb("#ffe08a"))


def _leaf(pen: Pen, _: RGB) -> None:
    tone = rgb("#c98a3a")
    pen.blob([(0.0, 0.4), (-0.34, 0.1), (-0.2, -0.28), (0.1, -0.46), (0.34, -0.1), (0.26, 0.24)], tone)
    pen.line([(-0.04, 0.5), (0.02, 0.1), (0.1, -0.4)], 0.025, darker(tone, 0.35))


def _thread(pen: Pen, tone: RGB) -> None:
    pen.line([(-0.5, 0.2), (-0.3, -0.1), (-0.05, 0.14), (0.1, -0.18), (0.28, 0.05), (0.5, -0.12)], 0.045, tone)
    pen.line(arc(0.02, 0.0, 0.13, 0.12, 0, 1, 24), 0.045, tone)


THINGS: dict[str, Callable[[Pen, RGB], None]] = {
    "candle": _candle, "lantern": _lantern, "paper boat": _paper_boat, "wool": _wool, "basket": _basket, "cup": _cup,
    "book": _book, "letter": _letter, "key": _key, "clock": _clock, "rope": _rope, "flower": _flower, "apple": _apple,
    "bread": _bread, "bottle": _bottle, "box": _box, "sword": _sword, "map": _map, "bell": _bell, "feather": _feather,
    "shell": _shell, "coin": _coin, "ring": _ring, "boots": _boots, "hat": _hat, "hand": _hand, "door": _door,
    "window": _window, "fire": _fire, "umbrella": _umbrella, "egg": _egg, "mirror": _mirror, "fish": _fish,
    "star": _star, "nest": _nest, "hull": _hull, "leaf": _leaf, "thread": _thread,
}  # fmt: skip
FLOATING = frozenset({"paper boat"})  # lies on water rather than on a table
HANGING = frozenset({"door", "window"})  # has no shadow below it
