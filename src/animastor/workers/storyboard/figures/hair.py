"""Hair: what is behind the head, what frames the face, braids, strands. Measures as in `head`."""

from __future__ import annotations

import math

from animastor.workers.storyboard.colour import darker, lighter, veiled
from animastor.workers.storyboard.figures.pen import Pen
from animastor.workers.storyboard.figures.pose import Pose
from animastor.workers.storyboard.figures.traits import Traits


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


def hair_before(pen: Pen, who: Traits, pose: Pose) -> None:
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
        base = -0.36 - 0.14 * (1 - abs(x) / 0.45)
        tip = (x + (0.07 if k % 2 else -0.06), base - 0.20 - 0.05 * math.sin(k * 2.1))
        pen.blob([(x - 0.13, base), (x - 0.05, base - 0.12), tip, (x + 0.07, base - 0.1), (x + 0.13, base)], who.hair)


def _strands(pen: Pen, who: Traits, t: float) -> None:
    dark, light = veiled(darker(who.hair, 0.45), 0.35), veiled(lighter(who.hair, 0.45), 0.42)
    for k, paint in ((-3, dark), (-2, light), (0, dark), (1, light), (3, dark)):
        x = k * 0.11
        pen.line([(t * 0.5 + x * 0.4, -0.57), (x * 0.9, -0.50), (x * 1.2, -0.43)], 0.018, paint, 0.004)
