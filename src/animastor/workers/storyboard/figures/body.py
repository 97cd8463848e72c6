"""Bodies of people: legs, garments, arms, hands. Feet stand at (0, 0); one unit is the height of the figure's head."""

from __future__ import annotations

import math
from dataclasses import dataclass

from animastor.workers.storyboard.canvas import Canvas
from animastor.workers.storyboard.colour import RGB, darker, lighter, mix, rgb, veiled
from animastor.workers.storyboard.figures import head as heads
from animastor.workers.storyboard.figures.pose import ARMS, Pose
from animastor.workers.storyboard.figures.traits import Traits
from animastor.workers.storyboard.geometry import Point


@dataclass(frozen=True, slots=True)
class Frame:
    """Where the joints of a body are. `lift` is how far sitting or kneeling has lowered it."""

    top: float  # y of the top of the head
    shoulder: float  # y
    half: float  # half the width at the shoulders
    waist: float  # y
    hip: float  # y
    hem: float  # y of the lower edge of a coat
    lean: float  # the head's x


def frame_of(who: Traits, pose: Pose) -> Frame:
    """The joints of a figure in a pose."""
    tall = who.heads * {"sit": 0.80, "kneel": 0.74}.get(pose.stance, 1.0)
    child = who.age == "child"
    half = (0.47 if child else 0.54 if who.feminine else 0.63) * who.bulk
    lean = pose.turn * (0.12 if who.age == "old" else 0.04)
    return Frame(
        top=-tall,
        shoulder=-tall + (1.10 if child else 1.17),
        half=half,
        waist=-tall + (1.10 if child else 1.17) + 0.85 * (tall - 1.15) / 3.6,
        hip=-tall * 0.40,
        hem=-tall * (0.24 if child else 0.22),
        lean=lean,
    )


def person(canvas: Canvas, who: Traits, pose: Pose) -> Point:
    """Draw the whole figure; returns where its mouth is."""
    frame = frame_of(who, pose)
    pen = heads.Pen(canvas, frame.lean, frame.top + 0.5, 1.0, tilt=0.05 * pose.turn if who.age == "old" else 0.0)
    heads.hair_behind(pen, who, pose)
    near = 1 if pose.turn >= 0 else -1
    _arm(canvas, who, pose, frame, -near, near_arm=False)
    _legs(canvas, who, pose, frame)
    _neck(canvas, who, frame)
    _garment(canvas, who, pose, frame)
    _details(canvas, who, pose, frame)
    if not pose.back:
        heads.chin_shadow(pen, who)
    _scarf_or_shawl(canvas, who, frame, pose)
    heads.head(pen, who, pose)
    heads.braids(pen, who)
    _arm(canvas, who, pose, frame, near, near_arm=True)
    return heads.mouth_at(pen, pose)


def _neck(canvas: Canvas, who: Traits, frame: Frame) -> None:
    w = 0.15 if who.feminine or who.age == "child" else 0.2
    x = frame.lean * 0.6
    canvas.shape(
        [
            (x - w, frame.shoulder - 0.35),
            (x + w, frame.shoulder - 0.35),
            (x + w * 1.3, frame.shoulder + 0.12),
            (x - w * 1.3, frame.shoulder + 0.12),
        ],
        darker(who.skin, 0.12),
    )


def _legs(canvas: Canvas, who: Traits, pose: Pose, frame: Frame) -> None:
    long = who.garment in ("dress", "robe")
    if pose.stance == "kneel":
        _kneeling(canvas, who, frame, pose)
        return
    trousers = who.bottom if not long else mix(who.skin, who.bottom, 0.3)
    width = (0.36 if who.age != "child" else 0.28) * who.bulk
    stride: float = 0.34 if pose.stance == "walk" else 0.0
    for side in (-1, 1):
        foot = side * (0.21 * who.bulk + stride)
        hip = side * 0.2 * who.bulk
        tone = trousers if side == (1 if pose.turn >= 0 else -1) else darker(trousers, 0.14)
        if not long:
            canvas.stroke(
                [(hip, frame.hip), ((hip + foot) / 2 + 0.02, frame.hip / 2), (foot, -0.18)], width, tone, width * 0.82
            )
        else:
            canvas.stroke([(hip, -0.6), (foot, -0.15)], 0.17, darker(trousers, 0.2), 0.15, curved=False)
        _shoe(canvas, who, foot, pose.turn, boot=not long)


def _shoe(canvas: Canvas, who: Traits, x: float, turn: float, boot: bool) -> None:
    way = 1 if turn >= 0 else -1
    if boot:
        canvas.blob([(x - 0.15, -0.52), (x + 0.15, -0.52), (x + 0.16, -0.1), (x - 0.16, -0.1)], who.shoes)
        canvas.stroke([(x - 0.15, -0.51), (x + 0.15, -0.51)], 0.07, lighter(who.shoes, 0.2), curved=False)
    outline = [(-0.18, 0.0), (-0.17, -0.17), (0.05, -0.21), (0.24, -0.12), (0.30, 0.0)]
    canvas.blob([(x + way * dx, dy) for dx, dy in outline], who.shoes)
    canvas.stroke([(x - way * 0.17, -0.015), (x + way * 0.28, -0.015)], 0.045, darker(who.shoes, 0.4), curved=False)


def _kneeling(canvas: Canvas, who: Traits, frame: Frame, pose: Pose) -> None:
    near = 1 if pose.turn >= 0 else -1
    tone = who.bottom
    canvas.stroke([(0, frame.hip), (near * 0.45, -0.55), (near * 0.5, -0.1)], 0.34 * who.bulk, tone, 0.26)
    _shoe(canvas, who, near * 0.5, pose.turn, boot=False)
    canvas.stroke(
        [(0, frame.hip), (-near * 0.2, -0.16), (-near * 0.7, -0.12)], 0.34 * who.bulk, darker(tone, 0.14), 0.2
    )


def _garment(canvas: Canvas, who: Traits, pose: Pose, frame: Frame) -> None:
    """The main piece, from the shoulders to its hem."""
    s, w, h = frame.shoulder, frame.waist, frame.half
    waist = h * (0.78 if who.feminine and who.age != "child" else 0.94)
    low, flare = {
        "dress": (-0.30, h * 1.45), "robe": (-0.10, h * 1.35), "coat": (frame.hem, h * 1.22),
        "jersey": (frame.hip + 0.14, h * 0.90), "shirt": (frame.hip + 0.08, h * 0.86), "suit": (frame.hip + 0.24, h * 0.98),
    }.get(who.garment, (frame.hem, h))  # fmt: skip
    if pose.stance in ("kneel", "sit"):
        low = min(low, -0.12) if who.garment in ("dress", "robe") else max(low, frame.hip + 0.2)
        low = min(low, -0.06)
    x = frame.lean * 0.6
    left = [
        (x - 0.18, s - 0.10),
        (x - h * 0.80, s + 0.02),
        (-h, s + 0.24),
        (-waist, w),
        (-(waist + flare) / 2, (w + low) / 2),
        (-flare, low),
    ]
    right = [(-px + 2 * x * (py < w), py) for px, py in reversed(left)]
    middle = [(-flare * 0.4, low + 0.06), (flare * 0.4, low + 0.06)]
    canvas.blob([*left, *middle, *right, (x, s - 0.04)], who.top)
    away = -1 if pose.turn >= 0 else 1
    shade = [
        (away * h, s + 0.25),
        (away * waist, w),
        (away * flare, low),
        (away * flare * 0.35, low + 0.02),
        (away * waist * 0.5, w),
        (away * h * 0.62, s + 0.2),
    ]
    canvas.blob(shade, veiled(darker(who.top, 0.5), 0.34))
    if who.stripes:
        for k in range(6):
            y = s + 0.30 + 0.22 * k
            if y < low - 0.05:
                canvas.stroke([(-waist * 0.98, y), (0, y + 0.05), (waist * 0.98, y)], 0.075, veiled(who.stripes, 0.9))
    _folds(canvas, who, w, low, flare)


def _folds(canvas: Canvas, who: Traits, waist: float, low: float, flare: float) -> None:
    dark, light = veiled(darker(who.top, 0.55), 0.30), veiled(lighter(who.top, 0.5), 0.26)
    for k, paint in ((-0.62, dark), (-0.28, light), (0.12, dark), (0.45, light), (0.70, dark)):
        canvas.stroke(
            [(k * flare * 0.7, waist + (low - waist) * 0.35), (k * flare, low - 0.03)], 0.02, paint, 0.05, curved=False
        )


def _details(canvas: Canvas, who: Traits, pose: Pose, frame: Frame) -> None:
    if pose.back:
        return
    s, low = frame.shoulder, frame.hem
    t = pose.turn * 0.16
    dark = darker(who.top, 0.38)
    if who.garment == "coat":
        canvas.stroke([(t, s + 0.1), (t * 1.2, low)], 0.03, dark, curved=False)
        for k in range(3):
            canvas.oval(t + 0.10, s + 0.42 + 0.42 * k, 0.055, 0.055, lighter(who.top, 0.55))
        for side in (-1, 1):
            canvas.stroke([(side * 0.30 + t, low - 0.46), (side * 0.50 + t, low - 0.50)], 0.05, dark, curved=False)
    elif who.garment == "suit":
        shirt = rgb("#f0ebe0")
        canvas.shape([(t - 0.2, s - 0.02), (t, frame.waist + 0.1), (t + 0.2, s - 0.02)], shirt)
        canvas.shape(
            [(t - 0.05, s + 0.05), (t + 0.05, s + 0.05), (t + 0.07, s + 0.5), (t, s + 0.62), (t - 0.07, s + 0.5)],
            who.accent,
        )
        for side in (-1, 1):
            canvas.shape(
                [(t + side * 0.20, s - 0.04), (t, frame.waist + 0.12), (t + side * 0.40, s + 0.25)],
                lighter(who.top, 0.12),
            )
    elif who.garment == "shirt":
        canvas.stroke([(t, s + 0.08), (t, frame.hip)], 0.022, dark, curved=False)
        for side in (-1, 1):
            canvas.stroke(
                [(side * frame.half * 0.55, s), (side * frame.half * 0.5, frame.hip)],
                0.10,
                darker(who.bottom, 0.1),
                curved=False,
            )
    elif who.garment == "jersey":
        canvas.stroke([(-0.24, s - 0.02), (t * 0.3, s + 0.10), (0.24, s - 0.02)], 0.13, lighter(who.top, 0.14))
        canvas.stroke(
            [(-frame.half * 0.9, frame.hip + 0.06), (0, frame.hip + 0.12), (frame.half * 0.9, frame.hip + 0.06)],
            0.10,
            lighter(who.top, 0.12),
        )
    elif who.garment in ("dress", "robe"):
        canvas.stroke(
            [
                (-frame.half * 0.74, frame.waist + 0.06),
                (t, frame.waist + 0.12),
                (frame.half * 0.74, frame.waist + 0.06),
            ],
            0.11,
            who.accent if who.garment == "robe" else darker(who.top, 0.25),
        )
    if who.collar:
        for side in (-1, 1):
            canvas.blob(
                [(t, s + 0.02), (t + side * 0.30, s - 0.10), (t + side * 0.40, s + 0.08), (t + side * 0.16, s + 0.22)],
                who.collar,
            )
    if who.apron:
        cloth = rgb("#f1ebdd")
        canvas.blob(
            [
                (-0.26 + t, s + 0.35),
                (0.26 + t, s + 0.35),
                (0.50 + t, frame.waist + 0.25),
                (0.56 + t, low + 0.1),
                (-0.56 + t, low + 0.1),
                (-0.50 + t, frame.waist + 0.25),
            ],
            cloth,
        )


def _scarf_or_shawl(canvas: Canvas, who: Traits, frame: Frame, pose: Pose) -> None:
    s, h, x = frame.shoulder, frame.half, frame.lean * 0.6
    if who.shawl:
        tone = who.shawl
        canvas.blob(
            [
                (x - 0.20, s - 0.14),
                (-h * 1.08, s + 0.16),
                (-h * 1.22, s + 0.72),
                (-h * 0.62, s + 0.86),
                (x, s + 1.12),
                (h * 0.62, s + 0.86),
                (h * 1.22, s + 0.72),
                (h * 1.08, s + 0.16),
                (x + 0.20, s - 0.14),
                (x, s - 0.02),
            ],
            tone,
        )
        edge = [(-h * 1.2, s + 0.72), (-h * 0.62, s + 0.88), (x, s + 1.12), (h * 0.62, s + 0.88), (h * 1.2, s + 0.72)]
        canvas.stroke(edge, 0.055, lighter(tone, 0.3))
        for k in range(13):
            px = -h * 1.15 + k * h * 2.3 / 12
            py = s + 0.74 + 0.36 * (1 - abs(px) / (h * 1.2))
            canvas.stroke([(px, py), (px, py + 0.14)], 0.028, lighter(tone, 0.18), 0.012, curved=False)
        canvas.stroke(
            [(x - 0.18, s - 0.08), (x + 0.02, s + 0.42), (x + 0.12, s + 0.86)], 0.05, darker(tone, 0.28), 0.02
        )
    if who.scarf:
        tone = who.scarf
        canvas.blob(
            [
                (x - 0.34, s - 0.20),
                (x - 0.40, s + 0.02),
                (x, s + 0.20),
                (x + 0.40, s + 0.02),
                (x + 0.34, s - 0.20),
                (x, s - 0.08),
            ],
            tone,
        )
        canvas.stroke([(x - 0.32, s - 0.06), (x, s + 0.07), (x + 0.32, s - 0.06)], 0.03, darker(tone, 0.25))
        side = 1 if pose.turn < 0 else -1
        tail = [(x + side * 0.18, s + 0.04), (x + side * 0.26, s + 0.40), (x + side * 0.22, s + 0.78)]
        canvas.stroke(tail, 0.22, darker(tone, 0.08), 0.24)
        for fringe in (-0.08, 0.0, 0.08):
            canvas.stroke(
                [(tail[2][0] + fringe, tail[2][1]), (tail[2][0] + fringe, tail[2][1] + 0.13)],
                0.035,
                tone,
                0.02,
                curved=False,
            )


def hand_of(who: Traits, pose: Pose, side: int, near_arm: bool) -> tuple[Point, Point, Point]:
    """Shoulder, elbow and hand of an arm."""
    frame = frame_of(who, pose)
    upper, lower = ARMS.get(pose.gesture, ARMS["rest"])[0 if near_arm else 1]
    reach = (who.heads - 1.15) / 3.6
    up, low = 0.92 * reach, 0.80 * reach
    shoulder = (side * (frame.half - 0.10), frame.shoulder + 0.20)
    elbow = _along(shoulder, side, upper, up)
    return shoulder, elbow, _along(elbow, side, upper + lower, low)


def _along(start: Point, side: int, turns: float, length: float) -> Point:
    angle = math.tau * turns
    return start[0] + side * math.sin(angle) * length, start[1] + math.cos(angle) * length


def _arm(canvas: Canvas, who: Traits, pose: Pose, frame: Frame, side: int, near_arm: bool) -> None:
    shoulder, elbow, hand = hand_of(who, pose, side, near_arm)
    sleeve = who.shawl if who.shawl and near_arm is None else who.top
    tone = sleeve if near_arm else darker(sleeve, 0.12)
    wide = (0.30 if who.age != "child" else 0.27) * (0.5 + 0.5 * who.bulk)
    wrist = (elbow[0] + (hand[0] - elbow[0]) * 0.86, elbow[1] + (hand[1] - elbow[1]) * 0.86)
    if near_arm:
        edge = darker(tone, 0.30)
        canvas.stroke([shoulder, elbow, wrist], wide * 1.16, edge, wide * 0.92)
    _hand(canvas, who, hand, side, pose, near_arm)
    canvas.stroke([shoulder, elbow, wrist], wide, tone, wide * 0.76)
    canvas.oval(*wrist, wide * 0.40, wide * 0.40, darker(tone, 0.18))
    canvas.oval(wrist[0], wrist[1], wide * 0.30, wide * 0.30, tone)


def _hand(canvas: Canvas, who: Traits, hand: Point, side: int, pose: Pose, near_arm: bool) -> None:
    tone: RGB = who.skin
    x, y = hand
    canvas.oval(x, y, 0.135, 0.145, tone)
    if pose.gesture in ("speak", "raise", "wave") and near_arm:
        for k in range(4):
            angle = math.tau * (-0.25 + side * (0.02 + 0.055 * (k - 1.2)))
            tip = (x + 0.24 * math.cos(angle), y + 0.24 * math.sin(angle))
            canvas.stroke([(x, y), tip], 0.075, tone, 0.06, curved=False)
        canvas.stroke([(x, y), (x - side * 0.19, y - 0.04)], 0.075, tone, 0.06, curved=False)
    elif pose.gesture == "point" and near_arm:
        canvas.stroke([(x, y), (x + side * 0.27, y - 0.02)], 0.085, tone, 0.06, curved=False)
        canvas.oval(x + side * 0.04, y + 0.06, 0.10, 0.08, darker(tone, 0.06))
    else:
        canvas.stroke([(x - side * 0.05, y - 0.04), (x - side * 0.12, y + 0.06)], 0.07, tone, 0.05, curved=False)
