"""Faces: eyes, brows, nose, mouth, wrinkles, freckles, beard, glasses. Measures as in `head`."""

from __future__ import annotations

from animastor.workers.storyboard.colour import darker, lighter, mix, rgb, veiled
from animastor.workers.storyboard.figures.pen import INK, Pen
from animastor.workers.storyboard.figures.pose import Pose
from animastor.workers.storyboard.figures.traits import Traits
from animastor.workers.storyboard.geometry import arc

LIPS = rgb("#a8423f")


_BROWS = {  # (height of the inner end, of the outer end), below the calm position
    "calm": (0.0, 0.01), "happy": (-0.03, -0.01), "sad": (-0.06, 0.04), "worried": (-0.07, 0.03),
    "angry": (0.06, -0.05), "amazed": (-0.08, -0.07), "asleep": (0.0, 0.02), "curious": (-0.05, -0.03),
    "shy": (-0.05, 0.01),
}  # fmt: skip


def draw_face(pen: Pen, who: Traits, pose: Pose) -> None:
    t = pose.turn * 0.17
    blush = veiled(mix(who.skin, rgb("#e0584f"), 0.62), 0.55 if who.age == "child" or who.feminine else 0.34)
    for side in (-1, 1):
        squeeze = 1 - 0.36 * max(0.0, side * pose.turn)
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
            beyond = max(0.0, dx * pose.turn) / max(1e-6, abs(dx))
            pen.oval(t + dx * (1 - 0.36 * beyond), dy, 0.014, 0.012, veiled(rgb("#a4603a"), 0.75))
    if who.age == "old":
        _wrinkles(pen, who, t)
    for side in (-1, 1):
        _eye(pen, who, pose, t + side * 0.185 * (1 - 0.26 * max(0.0, side * pose.turn)), side)
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
    look = pose.turn * 0.034
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


def draw_mouth(pen: Pen, who: Traits, pose: Pose) -> None:
    t, y = pose.turn * 0.155, 0.33
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


def draw_beard(pen: Pen, who: Traits, pose: Pose) -> None:
    t, tone = pose.turn * 0.11, who.hair
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


def draw_glasses(pen: Pen, pose: Pose) -> None:
    t, wire = pose.turn * 0.17, rgb("#6b5a44")
    for side in (-1, 1):
        x = t + side * 0.19
        ring = arc(x, 0.04, 0.145, 0.14, 0, 1, 28)
        pen.line(ring, 0.020, wire)
        pen.oval(x, 0.04, 0.13, 0.125, veiled(rgb("#eaf4ff"), 0.16))
        pen.line([(x - 0.07, 0.07), (x + 0.02, -0.04)], 0.018, veiled(rgb("#ffffff"), 0.6), 0.006)
    pen.line([(t - 0.05, 0.03), (t, 0.01), (t + 0.05, 0.03)], 0.018, wire)
