"""Bodies of people: legs, garments, arms, hands. Feet stand at (0, 0); one unit is the height of the figure's head."""

from __future__ import annotations

import math

from animastor.workers.storyboard.canvas import Canvas
from animastor.workers.storyboard.colour import RGB, darker, lighter, mix
from animastor.workers.storyboard.figures.garments import draw_details, draw_garment, draw_wraps
from animastor.workers.storyboard.figures.hair import braids, hair_behind
from animastor.workers.storyboard.figures.head import chin_shadow, head, mouth_at
from animastor.workers.storyboard.figures.joints import Frame, frame_of, hand_of
from animastor.workers.storyboard.figures.pen import Pen
from animastor.workers.storyboard.figures.pose import Pose
from animastor.workers.storyboard.figures.seated import draw_lap, draw_legs, draw_seat, legs_of
from animastor.workers.storyboard.figures.traits import Traits
from animastor.workers.storyboard.geometry import Point


def person(canvas: Canvas, who: Traits, pose: Pose) -> Point:
    """Draw the whole figure; returns where its mouth is."""
    frame = frame_of(who, pose)
    pen = Pen(canvas, frame.lean, frame.top + 0.5, 1.0, tilt=0.05 * pose.turn if who.age == "old" else 0.0)
    hair_behind(pen, who, pose)
    if pose.stance == "sit":
        draw_seat(canvas, pose, frame)
    near = 1 if pose.turn >= 0 else -1
    _arm(canvas, who, pose, frame, -near, near_arm=False)
    _legs(canvas, who, pose, frame)
    _neck(canvas, who, frame)
    draw_garment(canvas, who, pose, frame)
    if pose.stance == "sit" and who.garment in ("dress", "robe"):
        draw_lap(canvas, who, pose, frame)
    draw_details(canvas, who, pose, frame)
    if not pose.back:
        chin_shadow(pen, who)
    draw_wraps(canvas, who, frame, pose)
    head(pen, who, pose)
    braids(pen, who)
    _arm(canvas, who, pose, frame, near, near_arm=True)
    return mouth_at(pen, pose)


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
    if pose.stance == "sit":
        draw_legs(canvas, who, pose, frame, trousers)
        for _, _, ankle in legs_of(who, pose, frame):
            _shoe(canvas, who, ankle[0], pose.turn, boot=not long)
        return
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


def _arm(canvas: Canvas, who: Traits, pose: Pose, frame: Frame, side: int, near_arm: bool) -> None:
    shoulder, elbow, hand = hand_of(who, pose, side, near_arm)
    sleeve = who.shawl if who.shawl and near_arm is None else who.top
    tone = sleeve if near_arm else darker(sleeve, 0.12)
    wide = (0.30 if who.age != "child" else 0.27) * (0.5 + 0.5 * who.bulk)
    wrist = (elbow[0] + (hand[0] - elbow[0]) * 0.78, elbow[1] + (hand[1] - elbow[1]) * 0.78)
    if near_arm:
        # Set off from the body by a darker edge, which leaves the shoulder out: the sleeve grows from it.
        below = (shoulder[0] + (elbow[0] - shoulder[0]) * 0.42, shoulder[1] + (elbow[1] - shoulder[1]) * 0.42)
        _sleeve(canvas, (below, elbow, wrist), wide * 1.12, darker(tone, 0.26))
    _hand(canvas, who, hand, side, pose, near_arm)
    _sleeve(canvas, (shoulder, elbow, wrist), wide, tone)
    _cuff(canvas, elbow, wrist, wide, tone)


def _cuff(canvas: Canvas, elbow: Point, wrist: Point, wide: float, tone: RGB) -> None:
    """The end of a sleeve: a band across the wrist."""
    dx, dy = wrist[0] - elbow[0], wrist[1] - elbow[1]
    far = max(1e-6, math.hypot(dx, dy))
    across, half = (-dy / far, dx / far), wide * 0.35
    at = wrist[0] + dx / far * wide * 0.16, wrist[1] + dy / far * wide * 0.16
    ends = [(at[0] + way * across[0] * half, at[1] + way * across[1] * half) for way in (-1, 1)]
    canvas.stroke(ends, wide * 0.22, darker(tone, 0.16), curved=False)


def _sleeve(canvas: Canvas, joints: tuple[Point, Point, Point], wide: float, tone: RGB) -> None:
    """Upper and lower arm as two tapered strokes: one bent stroke would cross itself at a sharp elbow."""
    shoulder, elbow, wrist = joints
    canvas.stroke([shoulder, elbow], wide * 1.08, tone, wide * 0.88, curved=False)
    canvas.stroke([elbow, wrist], wide * 0.88, tone, wide * 0.70, curved=False)


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
