"""Heads of people: skull, face, hair, hat. The middle of the head is (0, 0), its height 1."""

from __future__ import annotations

from animastor.workers.storyboard.colour import darker, lighter, veiled
from animastor.workers.storyboard.figures.face import draw_beard, draw_face, draw_glasses, draw_mouth
from animastor.workers.storyboard.figures.hair import hair_before
from animastor.workers.storyboard.figures.hats import hat
from animastor.workers.storyboard.figures.pen import Pen
from animastor.workers.storyboard.figures.pose import Pose
from animastor.workers.storyboard.figures.traits import Traits
from animastor.workers.storyboard.geometry import Point, smooth


def head(pen: Pen, who: Traits, pose: Pose) -> None:
    """Skull, face and hair, seen from the front or turned a little; or from behind."""
    if pose.back:
        _from_behind(pen, who)
        return
    _skull(pen, who, pose)
    draw_face(pen, who, pose)
    draw_beard(pen, who, pose)
    draw_mouth(pen, who, pose)
    if who.glasses:
        draw_glasses(pen, pose)
    hair_before(pen, who, pose)
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
                [(k * 0.05, -0.5), (k * 0.11, -0.1), (k * 0.11, 0.34)],
                0.022,
                veiled(lighter(who.hair, 0.35), 0.5) if k % 2 else veiled(darker(who.hair, 0.5), 0.4),
                0.006,
            )
    if who.hair_style == "bun":
        pen.oval(0, -0.30, 0.26, 0.24, darker(who.hair, 0.14))
    hat(pen, who, Pose(turn=0.0, back=True))


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
    away = -1 if pose.turn > 0 else 1
    for k in range(4):  # the cheek turns away softly: no edge runs across the face
        inner = 0.40 - 0.045 * k
        cheek = [(0.45, -0.16), (0.44, 0.15), (0.31, 0.40), (0.10, 0.50), (inner - 0.12, 0.36), (inner, 0.06)]
        pen.blob([(away * x, y) for x, y in cheek], veiled(darker(who.skin, 0.30), 0.09))


def chin_shadow(pen: Pen, who: Traits) -> None:
    """The shadow that a head throws on its neck."""
    pen.shape(smooth([(-0.17, 0.40), (0.17, 0.40), (0.16, 0.58), (0, 0.64), (-0.16, 0.58)]), darker(who.skin, 0.22))


def mouth_at(pen: Pen, pose: Pose) -> Point:
    """Where the mouth is on the canvas: speech bubbles point at it."""
    return pen.at(pose.turn * 0.155, 0.34)
