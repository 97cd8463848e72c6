"""Heads of people: skull, hair behind and before it, face, beard, hat. The middle of the head is (0, 0), its height 1."""

from __future__ import annotations

import math

from animastor.workers.storyboard.canvas import Canvas
from animastor.workers.storyboard.colour import RGB, darker, lighter, mix, rgb, veiled
from animastor.workers.storyboard.figures.pose import Pose
from animastor.workers.storyboard.figures.traits import Traits
from animastor.workers.storyboard.geometry import Point, arc, smooth

INK = rgb("#2b2230")
LIPS = rgb("#a8423f")


class Pen:
    """A canvas moved to the middle of a head, so that heads are drawn in their own measure."""

    def __init__(self, canvas: Canvas, x: float, y: float, size: float, tilt: float = 0.0):
        self.canvas, self.x, self.y, self.size = canvas, x, y, size
        self._cos, self._sin = math.cos(tilt), math.sin(tilt)

    def at(self, x: float, y: float) -> Point:
        """Where a point of the head lies on the canvas."""
        return (
            self.x + (x * self._cos - y * self._sin) * self.size,
            self.y + (x * self._sin + y * self._cos) * self.size,
        )

    def blob(self, points: list[Point], paint: tuple[int, ...]) -> None:
        """A smooth closed shape."""
        self.canvas.blob([self.at(*p) for p in points], paint)  # type: ignore[arg-type]

    def shape(self, points: list[Point], paint: tuple[int, ...]) -> None:
        """A polygon."""
        self.canvas.shape([self.at(*p) for p in points], paint)  # type: ignore[arg-type]

    def oval(self, x: float, y: float, rx: float, ry: float, paint: tuple[int, ...]) -> None:
        """An ellipse."""
        self.canvas.oval(*self.at(x, y), rx * self.size, ry * self.size, paint)  # type: ignore[arg-type]

    def line(self, points: list[Point], width: float, paint: tuple[int, ...], end: float | None = None) -> None:
        """A stroke."""
        last = None if end is None else end * self.size
        self.canvas.stroke([self.at(*p) for p in points], width * self.size, paint, last)  # type: ignore[arg-type]


def hair_behind(pen: Pen, who: Traits, pose: Pose) -> None:
    """What of the hair and hat is behind head and shoulders."""
    tone = darker(who.hair, 0.22)
    t = pose.turn * 0.06
    if who.hat == "hood":
        pen.blob(
            [(-0.62, 0.45), (-0.66, -0.2), (-0.3, -0.70), (0.3, -0.70), (0.66, -0.2), (0.62, 0.45), (0, 0.75)],
            darker(who.top, 0.15),
        )
        return
    if who.hair_style == "long":
        pen.blob(
            [
                (-0.52, -0.2),
                (-0.60, 0.3),
                (-0.62, 0.85),
                (-0.3, 1.02),
                (0.3, 1.02),
                (0.62, 0.85),
                (0.60, 0.3),
                (0.52, -0.2),
                (0, -0.5),
            ],
            tone,
        )
    elif who.hair_style == "bob":
        pen.blob(
            [
                (-0.54, -0.2),
                (-0.62, 0.2),
                (-0.52, 0.48),
                (0, 0.42),
                (0.52, 0.48),
                (0.62, 0.2),
                (0.54, -0.2),
                (0, -0.55),
            ],
            tone,
        )
    elif who.hair_style == "curly":
        for k in range(15):
            angle = math.tau * (0.42 + 0.66 * k / 14)
            pen.oval(0.50 * math.cos(angle), -0.12 + 0.50 * math.sin(angle), 0.19, 0.19, tone)
    elif who.hair_style == "ponytail":
        side = -1 if pose.turn > 0 else 1
        pen.blob(
            [
                (side * 0.3, -0.42),
                (side * 0.72, -0.35),
                (side * 0.82, 0.15),
                (side * 0.62, 0.62),
                (side * 0.55, 0.1),
                (side * 0.4, -0.1),
            ],
            tone,
        )
    elif who.hair_style == "bun":
        pen.oval(-t * 3, -0.66, 0.24, 0.21, tone)
        pen.line([(-0.16 - t * 3, -0.6), (-t * 3, -0.68), (0.16 - t * 3, -0.62)], 0.03, lighter(tone, 0.2))


def braids(pen: Pen, who: Traits) -> None:
    """Two braids that hang before the shoulders."""
    if who.hair_style != "braids":
        return
    for side in (-1, 1):
        for k in range(4):
            x, y = side * (0.47 + 0.025 * k), 0.24 + 0.14 * k
            pen.oval(x, y, 0.115 - 0.008 * k, 0.095, darker(who.hair, 0.14))
            pen.oval(x - 0.025 * side, y - 0.02, 0.075 - 0.006 * k, 0.062, lighter(who.hair, 0.06))
        pen.oval(side * 0.56, 0.76, 0.07, 0.045, who.scarf or who.accent)
        pen.blob([(side * 0.52, 0.78), (side * 0.50, 0.94), (side * 0.60, 0.97), (side * 0.62, 0.8)], who.hair)


def head(pen: Pen, who: Traits, pose: Pose) -> None:
    """Skull, face and hair, seen from the front or turned a little; or from behind."""
    if pose.back:
        _from_behind(pen, who)
        return
    _skull(pen, who, pose)
    _face(pen, who, pose)
    _beard(pen, who, pose)
    _mouth(pen, who, pose)
    if who.glasses:
        _glasses(pen, pose)
    _hair_before(pen, who, pose)
    hat(pen, who, pose)


def _from_behind(pen: Pen, who: Traits) -> None:
    for side in (-1, 1):
        pen.oval(side * 0.46, 0.06, 0.09, 0.13, who.skin)
    pen.oval(0, 0.22, 0.34, 0.3, darker(who.skin, 0.15))
    if who.hair_style == "bald":
        pen.oval(0, -0.05, 0.46, 0.48, who.skin)
        pen.blob(
            [
                (-0.46, -0.02),
                (-0.40, 0.28),
                (0, 0.36),
                (0.40, 0.28),
                (0.46, -0.02),
                (0.3, 0.12),
                (0, 0.16),
                (-0.3, 0.12),
            ],
            who.hair,
        )
    else:
        pen.blob(
            [
                (-0.50, 0.0),
                (-0.44, 0.34),
                (-0.2, 0.46),
                (0, 0.42),
                (0.2, 0.46),
                (0.44, 0.34),
                (0.50, 0.0),
                (0.40, -0.42),
                (0, -0.58),
                (-0.40, -0.42),
            ],
            who.hair,
        )
        for k in range(-3, 4):
            pen.line(
                [(k * 0.05, -0.5), (k * 0.11, -0.1), (k * 0.11, 0.34)], 0.018, veiled(darker(who.hair, 0.5), 0.4), 0.006
            )
    if who.hair_style == "bun":
        pen.oval(0, -0.30, 0.26, 0.24, darker(who.hair, 0.14))
    hat(pen, who, Pose(turn=0.0))


def _skull(pen: Pen, who: Traits, pose: Pose) -> None:
    t = pose.turn * 0.05
    ear = darker(who.skin, 0.10)
    for side in (-1, 1):
        if side * pose.turn < 0.7:
            pen.oval(side * 0.445 - t, 0.07, 0.075, 0.115, who.skin)
            pen.oval(side * 0.45 - t, 0.075, 0.04, 0.065, ear)
    if who.age == "child":
        outline = [(0, -0.5), (0.32, -0.42), (0.45, -0.12), (0.45, 0.14), (0.30, 0.40), (t, 0.49)]
    elif who.feminine:
        outline = [(0, -0.5), (0.32, -0.43), (0.43, -0.12), (0.41, 0.14), (0.25, 0.41), (t, 0.51)]
    else:
        outline = [(0, -0.5), (0.33, -0.43), (0.44, -0.12), (0.42, 0.16), (0.32, 0.42), (0.13 + t, 0.52), (t, 0.53)]
    mirrored = [(-x + (2 * t if y > 0.3 else 0), y) for x, y in reversed(outline[1:-1])]
    pen.blob([*outline, *mirrored], who.skin)
    shade = veiled(darker(who.skin, 0.30), 0.30)
    away = -1 if pose.turn > 0 else 1
    pen.blob(
        [
            (away * 0.46, -0.15),
            (away * 0.44, 0.15),
            (away * 0.30, 0.40),
            (t, 0.50),
            (away * 0.20, 0.30),
            (away * 0.33, 0.05),
        ],
        shade,
    )


_BROWS = {  # (height of the inner end, of the outer end), below the calm position
    "calm": (0.0, 0.01), "happy": (-0.03, -0.01), "sad": (-0.06, 0.04), "worried": (-0.07, 0.03), "angry": (0.06, -0.05),
    "amazed": (-0.08, -0.07), "asleep": (0.0, 0.02), "curious": (-0.05, -0.03), "shy": (-0.05, 0.01),
}  # fmt: skip


def _face(pen: Pen, who: Traits, pose: Pose) -> None:
    t = pose.turn * 0.13
    blush = veiled(mix(who.skin, rgb("#e0584f"), 0.62), 0.55 if who.age == "child" or who.feminine else 0.34)
    for side in (-1, 1):
        squeeze = 1 - 0.22 * max(0.0, side * pose.turn)
        x = t + side * 0.285 * squeeze
        pen.oval(x, 0.20, 0.10 * squeeze, 0.065, blush)
    if who.freckles:
        for dx, dy in (
            (-0.30, 0.14),
            (-0.24, 0.18),
            (-0.33, 0.19),
            (0.30, 0.14),
            (0.24, 0.18),
            (0.33, 0.19),
            (-0.05, 0.12),
            (0.07, 0.13),
        ):
            pen.oval(t + dx, dy, 0.014, 0.012, veiled(rgb("#a4603a"), 0.75))
    if who.age == "old":
        _wrinkles(pen, who, t)
    for side in (-1, 1):
        _eye(pen, who, pose, t + side * 0.185 * (1 - 0.2 * max(0.0, side * pose.turn)), side)
    nose = darker(mix(who.skin, rgb("#d8614f"), 0.30), 0.10)
    size = 0.045 if who.age == "child" else 0.06 if who.feminine else 0.075
    pen.blob([(t * 1.35 - size * 0.8, 0.16), (t * 1.5, 0.10), (t * 1.35 + size * 0.8, 0.16), (t * 1.4, 0.205)], nose)
    pen.oval(t * 1.45 - size * 0.15, 0.135, size * 0.3, size * 0.22, veiled(lighter(nose, 0.6), 0.5))


def _wrinkles(pen: Pen, who: Traits, t: float) -> None:
    line = veiled(darker(who.skin, 0.42), 0.55)
    for side in (-1, 1):
        pen.line([(t + side * 0.13, 0.16), (t + side * 0.20, 0.24), (t + side * 0.20, 0.32)], 0.014, line, 0.004)
        pen.line([(t + side * 0.33, 0.0), (t + side * 0.38, -0.02)], 0.010, line, 0.004)
        pen.line([(t + side * 0.33, 0.04), (t + side * 0.39, 0.06)], 0.010, line, 0.004)
    pen.line([(t - 0.14, -0.27), (t, -0.285), (t + 0.14, -0.27)], 0.010, line, 0.004)


def _eye(pen: Pen, who: Traits, pose: Pose, x: float, side: int) -> None:
    y = 0.035
    inner, outer = _BROWS[pose.face]
    brow = darker(who.hair, 0.25) if who.age != "old" else darker(who.hair, 0.12)
    brow_y, thick = y - 0.15, 0.030 if who.feminine or who.age == "child" else 0.046
    pen.line(
        [
            (x - side * 0.09, brow_y + inner),
            (x, brow_y + (inner + outer) / 2 - 0.018),
            (x + side * 0.09, brow_y + outer),
        ],
        thick,
        brow,
        thick * 0.55,
    )
    if pose.face == "asleep":
        pen.line([(x - 0.075, y), (x, y + 0.035), (x + 0.075, y)], 0.024, INK, 0.018)
        return
    if pose.face == "happy" and not pose.speaking:
        pen.line([(x - 0.075, y + 0.03), (x, y - 0.03), (x + 0.075, y + 0.03)], 0.028, INK, 0.02)
        return
    tall = 0.088 if pose.face in ("amazed", "worried") else 0.072
    wide = 0.058 if pose.face in ("amazed", "worried") else 0.050
    look = pose.turn * 0.028
    pen.oval(x, y, wide * 1.55, tall * 1.22, rgb("#fbf6ee"))
    pen.oval(x + look, y + 0.005, wide, tall, INK)
    pen.oval(x + look, y + 0.02, wide * 0.62, tall * 0.6, mix(who.eyes, rgb("#5a4636"), 0.25))
    pen.oval(x + look, y + 0.008, wide * 0.42, tall * 0.42, INK)
    pen.oval(x + look + 0.018, y - 0.026, 0.018, 0.021, rgb("#ffffff"))
    pen.line(
        [(x - wide * 1.6, y - tall * 0.75), (x, y - tall * 1.28), (x + wide * 1.6, y - tall * 0.75)], 0.020, INK, 0.014
    )
    if who.feminine and who.age != "child":
        pen.line(
            [(x + side * wide * 1.5, y - tall * 0.75), (x + side * wide * 2.1, y - tall * 1.15)], 0.016, INK, 0.004
        )


def _mouth(pen: Pen, who: Traits, pose: Pose) -> None:
    t, y = pose.turn * 0.12, 0.33
    if pose.speaking:
        _open_mouth(pen, t, y, 0.085 if pose.face in ("amazed", "angry", "worried") else 0.07)
        return
    if pose.face == "amazed":
        pen.oval(t, y + 0.01, 0.045, 0.055, darker(LIPS, 0.4))
        return
    bend = {
        "happy": 0.07,
        "calm": 0.028,
        "curious": 0.025,
        "shy": 0.035,
        "asleep": 0.03,
        "sad": -0.045,
        "worried": -0.04,
        "angry": -0.035,
    }[pose.face]
    half = 0.13 if pose.face == "happy" else 0.09
    lips = darker(mix(who.skin, LIPS, 0.7), 0.30)
    pen.line([(t - half, y - bend * 0.6), (t, y + bend), (t + half, y - bend * 0.6)], 0.024, lips, 0.018)
    if pose.face == "happy":
        for side in (-1, 1):
            pen.line(
                [(t + side * half, y - 0.065), (t + side * (half + 0.025), y - 0.035)], 0.014, veiled(lips, 0.7), 0.006
            )


def _open_mouth(pen: Pen, t: float, y: float, tall: float) -> None:
    pen.blob(
        [
            (t - 0.115, y - 0.035),
            (t, y - 0.055),
            (t + 0.115, y - 0.035),
            (t + 0.08, y + tall),
            (t, y + tall * 1.25),
            (t - 0.08, y + tall),
        ],
        rgb("#6b2230"),
    )
    pen.blob(
        [(t - 0.06, y + tall * 0.75), (t, y + tall * 0.45), (t + 0.06, y + tall * 0.75), (t, y + tall * 1.12)],
        rgb("#d9736c"),
    )
    pen.shape(
        [(t - 0.085, y - 0.032), (t, y - 0.046), (t + 0.085, y - 0.032), (t + 0.07, y + 0.0), (t - 0.07, y + 0.0)],
        rgb("#fbf4ea"),
    )


def _beard(pen: Pen, who: Traits, pose: Pose) -> None:
    t, tone = pose.turn * 0.08, who.hair
    if who.beard == "stubble":
        pen.blob(
            [
                (-0.40 + t, 0.18),
                (-0.28, 0.43),
                (t, 0.53),
                (0.28, 0.43),
                (0.40 + t, 0.18),
                (0.18 + t, 0.26),
                (t, 0.22),
                (-0.18 + t, 0.26),
            ],
            veiled(tone, 0.30),
        )
    if who.beard in ("full", "long"):
        low = 1.05 if who.beard == "long" else 0.68
        outline = [
            (-0.46 + t, 0.02),
            (-0.46 + t, 0.30),
            (-0.30 + t, low * 0.80),
            (t, low),
            (0.30 + t, low * 0.80),
            (0.46 + t, 0.30),
            (0.46 + t, 0.02),
        ]
        pen.blob([*outline, (0.30 + t, 0.20), (t, 0.24), (-0.30 + t, 0.20)], darker(tone, 0.06))
        for k in range(-3, 4):
            pen.line(
                [(t + k * 0.085, 0.36), (t + k * 0.085, low * (0.86 - 0.03 * abs(k)))],
                0.016,
                veiled(lighter(tone, 0.3), 0.35),
                0.005,
            )
    if who.beard in ("full", "long", "moustache"):
        light = lighter(tone, 0.10)
        for side in (-1, 1):
            pen.blob(
                [(t, 0.225), (t + side * 0.12, 0.215), (t + side * 0.24, 0.31), (t + side * 0.11, 0.295), (t, 0.275)],
                light,
            )


def _glasses(pen: Pen, pose: Pose) -> None:
    t, wire = pose.turn * 0.13, rgb("#6b5a44")
    for side in (-1, 1):
        x = t + side * 0.19
        ring = arc(x, 0.04, 0.145, 0.14, 0, 1, 28)
        pen.line(ring, 0.020, wire)
        pen.oval(x, 0.04, 0.13, 0.125, veiled(rgb("#eaf4ff"), 0.16))
        pen.line([(x - 0.07, 0.07), (x + 0.02, -0.04)], 0.018, veiled(rgb("#ffffff"), 0.6), 0.006)
    pen.line([(t - 0.05, 0.03), (t, 0.01), (t + 0.05, 0.03)], 0.018, wire)


def _hair_before(pen: Pen, who: Traits, pose: Pose) -> None:
    tone, t = who.hair, pose.turn * 0.08
    crown = [(-0.48, 0.10), (-0.52, -0.2), (-0.34, -0.53), (0, -0.62), (0.34, -0.53), (0.52, -0.2), (0.48, 0.10)]
    style = who.hair_style
    if style == "bald":
        for side in (-1, 1):
            pen.blob([(side * 0.42, -0.18), (side * 0.51, -0.05), (side * 0.47, 0.2), (side * 0.39, 0.08)], tone)
        return
    if style in ("bun", "ponytail"):
        inner = [(0.40, -0.12), (0.24 + t, -0.33), (t, -0.37), (-0.24 + t, -0.33), (-0.40, -0.12)]
    elif style == "short":
        inner = [
            (0.42, -0.02),
            (0.36, -0.22),
            (0.18 + t, -0.34),
            (t - 0.05, -0.30),
            (-0.28 + t, -0.24),
            (-0.38, -0.18),
            (-0.42, -0.02),
        ]
    elif style == "braids":
        inner = [(0.41, -0.02), (0.30, -0.26), (0.03 + t, -0.40), (-0.20 + t, -0.27), (-0.41, -0.02)]
    else:
        inner = [
            (0.41, -0.04),
            (0.33, -0.2),
            (0.16 + t, -0.18),
            (0.02 + t, -0.25),
            (-0.14 + t, -0.17),
            (-0.30, -0.19),
            (-0.41, -0.04),
        ]
    pen.blob([*crown, *inner], tone)
    if style in ("tousled", "curly"):
        _tufts(pen, who, style)
    _strands(pen, who, t)


def _tufts(pen: Pen, who: Traits, style: str) -> None:
    if style == "curly":
        for k in range(11):
            angle = math.tau * (0.53 + 0.44 * k / 10)
            pen.oval(
                0.43 * math.cos(angle),
                -0.16 + 0.40 * math.sin(angle),
                0.15,
                0.14,
                who.hair if k % 2 else lighter(who.hair, 0.07),
            )
        return
    for k in range(7):
        x = -0.40 + k * 0.135
        lift = 0.56 + 0.06 * math.sin(k * 2.1)
        pen.shape(
            [
                (x - 0.10, -0.40 - 0.1 * (1 - abs(x))),
                (x + 0.05 * (1 if k % 2 else -1), -lift - 0.12),
                (x + 0.10, -0.42 - 0.1 * (1 - abs(x))),
            ],
            who.hair,
        )


def _strands(pen: Pen, who: Traits, t: float) -> None:
    dark, light = veiled(darker(who.hair, 0.45), 0.35), veiled(lighter(who.hair, 0.45), 0.42)
    for k, paint in ((-3, dark), (-2, light), (0, dark), (1, light), (3, dark)):
        x = k * 0.11
        pen.line([(t * 0.5 + x * 0.4, -0.57), (x * 0.9, -0.46), (x * 1.25, -0.30)], 0.018, paint, 0.004)


def hat(pen: Pen, who: Traits, pose: Pose) -> None:
    """The hat, when there is one."""
    t, tone = pose.turn * 0.05, who.hat_colour
    band = darker(tone, 0.35)
    kind = who.hat
    if kind in ("sailor", "cap"):
        pen.blob(
            [
                (-0.52 + t, -0.26),
                (-0.58 + t, -0.52),
                (-0.3 + t, -0.74),
                (0.3 + t, -0.74),
                (0.58 + t, -0.52),
                (0.52 + t, -0.26),
                (t, -0.36),
            ],
            tone,
        )
        pen.blob(
            [(-0.49 + t, -0.22), (-0.49 + t, -0.36), (t, -0.47), (0.49 + t, -0.36), (0.49 + t, -0.22), (t, -0.32)], band
        )
        pen.blob(
            [
                (-0.36 + t * 2, -0.26),
                (t * 2, -0.35),
                (0.36 + t * 2, -0.26),
                (0.28 + t * 3, -0.15),
                (t * 3, -0.19),
                (-0.28 + t * 3, -0.15),
            ],
            rgb("#23232c"),
        )
        if kind == "sailor":
            pen.oval(t * 2, -0.45, 0.055, 0.055, rgb("#e0b64c"))
    elif kind == "beanie":
        pen.blob([(-0.50, -0.2), (-0.50, -0.5), (-0.2, -0.76), (0.2, -0.76), (0.50, -0.5), (0.50, -0.2)], tone)
        pen.blob(
            [(-0.53, -0.14), (-0.53, -0.33), (0, -0.40), (0.53, -0.33), (0.53, -0.14), (0, -0.22)], lighter(tone, 0.16)
        )
        pen.oval(0, -0.80, 0.12, 0.11, lighter(tone, 0.3))
    elif kind in ("bowler", "top"):
        high = -1.15 if kind == "top" else -0.82
        pen.blob(
            [(-0.36, -0.34), (-0.36, high + 0.06), (-0.2, high), (0.2, high), (0.36, high + 0.06), (0.36, -0.34)], tone
        )
        pen.shape([(-0.37, -0.48), (0.37, -0.48), (0.37, -0.36), (-0.37, -0.36)], band)
        pen.oval(0, -0.33, 0.60, 0.10, tone)
    elif kind == "wide":
        pen.blob([(-0.34, -0.34), (-0.32, -0.68), (0, -0.76), (0.32, -0.68), (0.34, -0.34)], tone)
        pen.shape([(-0.35, -0.46), (0.35, -0.46), (0.36, -0.36), (-0.36, -0.36)], band)
        pen.oval(0, -0.32, 0.82, 0.15, lighter(tone, 0.08))
    elif kind == "witch":
        pen.blob(
            [(-0.40, -0.32), (-0.24, -0.75), (0.05, -1.30), (0.22, -1.36), (0.16, -1.15), (0.28, -0.75), (0.40, -0.32)],
            tone,
        )
        pen.oval(0, -0.32, 0.78, 0.13, tone)
        pen.shape([(-0.37, -0.46), (0.36, -0.46), (0.39, -0.36), (-0.40, -0.36)], who.accent)
    elif kind == "crown":
        gold = rgb("#e3b947")
        points = [
            (-0.42, -0.34),
            (-0.48, -0.70),
            (-0.26, -0.52),
            (0, -0.78),
            (0.26, -0.52),
            (0.48, -0.70),
            (0.42, -0.34),
        ]
        pen.shape(points, gold)
        for x in (-0.26, 0.0, 0.26):
            pen.oval(x, -0.43, 0.045, 0.05, rgb("#b8343c") if x else rgb("#3f6fb0"))
    elif kind in ("headscarf", "hood", "turban"):
        cloth = who.top if kind == "hood" else tone
        pen.blob(
            [
                (-0.50, 0.30),
                (-0.55, -0.2),
                (-0.34, -0.60),
                (0, -0.68),
                (0.34, -0.60),
                (0.55, -0.2),
                (0.50, 0.30),
                (0.42, 0.0),
                (0.30, -0.28),
                (0, -0.36),
                (-0.30, -0.28),
                (-0.42, 0.0),
            ],
            cloth,
        )
        if kind == "headscarf":
            pen.blob(
                [(-0.45, 0.22), (0, 0.56), (0.45, 0.22), (0.30, 0.60), (0, 0.72), (-0.30, 0.60)], darker(cloth, 0.1)
            )
    elif kind == "beret":
        pen.blob([(-0.50, -0.34), (-0.62, -0.58), (-0.1, -0.76), (0.50, -0.62), (0.48, -0.34), (0, -0.44)], tone)
        pen.oval(-0.08, -0.77, 0.04, 0.05, tone)
    elif kind == "helmet":
        steel = rgb("#a9b0ba")
        pen.blob(
            [
                (-0.52, 0.1),
                (-0.54, -0.3),
                (-0.3, -0.66),
                (0.3, -0.66),
                (0.54, -0.3),
                (0.52, 0.1),
                (0.36, -0.2),
                (-0.36, -0.2),
            ],
            steel,
        )
        pen.line([(0, -0.68), (0, -0.2)], 0.07, lighter(steel, 0.4))


def chin_shadow(pen: Pen, who: Traits) -> None:
    """The shadow that a head throws on its neck."""
    pen.shape(smooth([(-0.17, 0.40), (0.17, 0.40), (0.16, 0.58), (0, 0.64), (-0.16, 0.58)]), darker(who.skin, 0.22))


def mouth_at(pen: Pen, pose: Pose) -> Point:
    """Where the mouth is on the canvas: speech bubbles point at it."""
    return pen.at(pose.turn * 0.12, 0.34)


def skin_line(skin: RGB) -> RGB:
    """The tone of lines drawn on skin."""
    return darker(skin, 0.3)
