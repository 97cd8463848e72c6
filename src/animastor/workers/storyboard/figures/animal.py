"""Animals: sitting, curled up asleep, or leaping; birds and owls upright. One unit is the height of a head."""

from __future__ import annotations

from dataclasses import dataclass

from animastor.workers.storyboard.canvas import Canvas
from animastor.workers.storyboard.colour import RGB, darker, lighter, mix, rgb, veiled
from animastor.workers.storyboard.figures.pen import INK, Pen
from animastor.workers.storyboard.figures.pose import Pose
from animastor.workers.storyboard.figures.traits import Traits
from animastor.workers.storyboard.geometry import Point

PINK = rgb("#d98a8a")
WHITE = rgb("#f3eee4")


@dataclass(frozen=True, slots=True)
class Kind:
    """What sets one animal apart: ears, length of the muzzle, tail, its size to a person's head, a pale belly."""

    ears: str
    muzzle: float
    tail: str
    size: float
    pale: bool = False


KINDS = {
    "cat": Kind("pointed", 0.10, "slim", 0.66),
    "dog": Kind("floppy", 0.22, "up", 0.84),
    "fox": Kind("pointed", 0.24, "bushy", 0.74, pale=True),
    "wolf": Kind("pointed", 0.26, "bushy", 0.95, pale=True),
    "rabbit": Kind("long", 0.10, "puff", 0.60),
    "mouse": Kind("round", 0.18, "thin", 0.42),
    "bear": Kind("round", 0.20, "none", 1.30),
    "goat": Kind("horns", 0.26, "puff", 0.95),
    "horse": Kind("pointed", 0.34, "bushy", 1.30),
    "frog": Kind("none", 0.06, "none", 0.46, pale=True),
    "dragon": Kind("horns", 0.28, "thin", 1.45, pale=True),
}
HEIGHT = 2.35  # of a sitting animal, in its own heads


def animal(canvas: Canvas, who: Traits, pose: Pose) -> Point:
    """Draw the animal, its feet at (0, 0); returns where its mouth is."""
    if who.species in ("bird", "owl"):
        return _bird(canvas, who, pose)
    kind = KINDS[who.species]
    if pose.stance == "sleep" or pose.face == "asleep":
        return _curled(canvas, who, kind, pose)
    if pose.stance in ("leap", "walk"):
        return _leaping(canvas, who, kind, pose)
    return _sitting(canvas, who, kind, pose)


def _belly(who: Traits, kind: Kind) -> RGB:
    return WHITE if kind.pale or who.freckles else lighter(who.hair, 0.72)


def _tail(canvas: Canvas, who: Traits, kind: Kind, x: float, y: float, way: int) -> None:
    fur = who.hair
    if kind.tail == "slim":
        curl = [
            (x, y),
            (x + way * 0.62, y - 0.05),
            (x + way * 0.86, y - 0.55),
            (x + way * 0.62, y - 0.95),
            (x + way * 0.86, y - 1.2),
        ]
        canvas.stroke(curl, 0.24, darker(fur, 0.12), 0.15)
        for k in (1, 2, 3):
            canvas.oval(curl[k][0], curl[k][1], 0.11, 0.05, veiled(darker(fur, 0.5), 0.6))
    elif kind.tail == "bushy":
        canvas.blob(
            [
                (x, y - 0.1),
                (x + way * 0.7, y - 0.1),
                (x + way * 1.25, y - 0.6),
                (x + way * 1.15, y - 1.25),
                (x + way * 0.75, y - 0.85),
                (x + way * 0.4, y - 0.45),
            ],
            darker(fur, 0.08),
        )
        canvas.blob([(x + way * 1.2, y - 0.8), (x + way * 1.15, y - 1.28), (x + way * 0.85, y - 0.95)], WHITE)
    elif kind.tail == "up":
        canvas.stroke([(x, y), (x + way * 0.5, y - 0.3), (x + way * 0.6, y - 0.95)], 0.26, darker(fur, 0.1), 0.12)
    elif kind.tail == "puff":
        canvas.oval(x + way * 0.12, y - 0.1, 0.24, 0.22, WHITE)
    elif kind.tail == "thin":
        tone = PINK if who.species == "mouse" else fur
        canvas.stroke(
            [(x, y), (x + way * 0.6, y + 0.02), (x + way * 1.1, y - 0.25), (x + way * 1.5, y - 0.1)], 0.13, tone, 0.04
        )


def _sitting(canvas: Canvas, who: Traits, kind: Kind, pose: Pose) -> Point:
    way = 1 if pose.turn >= 0 else -1
    fur, belly = who.hair, _belly(who, kind)
    if who.species == "dragon":
        _wings(canvas, who)
    _tail(canvas, who, kind, -way * 0.35, -0.14, -way)
    canvas.blob(
        [
            (-0.62, 0.0),
            (-0.70, -0.45),
            (-0.46, -1.05),
            (-0.26, -1.45),
            (0.26, -1.45),
            (0.46, -1.05),
            (0.70, -0.45),
            (0.62, 0.0),
        ],
        fur,
    )
    canvas.blob([(-0.30, -0.06), (-0.34, -0.6), (-0.20, -1.25), (0.20, -1.25), (0.34, -0.6), (0.30, -0.06)], belly)
    for side in (-1, 1):
        canvas.oval(side * 0.50, -0.26, 0.26, 0.30, darker(fur, 0.10))
        canvas.stroke([(side * 0.20, -0.85), (side * 0.19, -0.10)], 0.25, fur, 0.20, curved=False)
        canvas.oval(side * 0.20, -0.06, 0.17, 0.10, belly if belly == WHITE else lighter(fur, 0.3))
    _stripes(canvas, who, [(-0.60, -0.5), (-0.54, -0.75), (-0.44, -1.0)])
    pen = Pen(canvas, way * 0.06, -1.78, 1.0)
    return _animal_head(pen, who, kind, pose)


def _curled(canvas: Canvas, who: Traits, kind: Kind, pose: Pose) -> Point:
    way = 1 if pose.turn >= 0 else -1
    fur = who.hair
    canvas.blob(
        [(-1.15, -0.05), (-1.2, -0.5), (-0.7, -0.98), (0.1, -1.02), (0.85, -0.75), (1.15, -0.3), (0.95, 0.0)], fur
    )
    _stripes(canvas, who, [(-0.5, -0.92), (-0.15, -0.98), (0.2, -0.97)])
    pen = Pen(canvas, way * 0.72, -0.46, 0.92, tilt=way * 0.12)
    mouth = _animal_head(pen, who, kind, Pose(turn=way * 0.4, face="asleep"))
    wrap = [(-way * 1.1, -0.12), (-way * 0.4, 0.0), (way * 0.4, -0.02), (way * 0.85, -0.1)]
    canvas.stroke(wrap, 0.26, darker(fur, 0.12), 0.16)
    return mouth


def _leaping(canvas: Canvas, who: Traits, kind: Kind, pose: Pose) -> Point:
    way = 1 if pose.turn >= 0 else -1
    fur = who.hair
    high = 0.55 if pose.stance == "leap" else 0.0
    _tail(canvas, who, kind, -way * 1.0, -0.95 - high, -way)
    for x, reach, tone in (
        (-0.75, -0.55, darker(fur, 0.2)),
        (0.62, 0.50, darker(fur, 0.2)),
        (-0.9, -0.25, fur),
        (0.5, 0.75, fur),
    ):
        drop = -0.10 if not high else -0.35
        knee = (way * (x + reach * 0.4), -0.5 - high * 0.7)
        canvas.stroke([(way * x, -0.85 - high), knee, (way * (x + reach), drop - high * 0.6)], 0.27, tone, 0.18)
    canvas.blob(
        [
            (-way * 1.1, -0.8 - high),
            (-way * 0.8, -1.22 - high),
            (0, -1.2 - high),
            (way * 0.75, -1.30 - high),
            (way * 0.95, -0.85 - high),
            (way * 0.1, -0.62 - high),
        ],
        fur,
    )
    pen = Pen(canvas, way * 1.08, -1.5 - high, 0.95, tilt=-way * 0.1)
    return _animal_head(pen, who, kind, pose)


def _stripes(canvas: Canvas, who: Traits, at: list[Point]) -> None:
    if who.species != "cat":
        return
    for x, y in at:
        for side in (-1, 1):
            canvas.stroke(
                [(side * x, y), (side * x * 0.72, y + 0.06)],
                0.09,
                veiled(darker(who.hair, 0.5), 0.6),
                0.02,
                curved=False,
            )


def _ears(pen: Pen, who: Traits, kind: Kind) -> None:
    fur, inner = who.hair, mix(who.hair, PINK, 0.65)
    for side in (-1, 1):
        if kind.ears == "pointed":
            pen.shape([(side * 0.46, -0.16), (side * 0.50, -0.74), (side * 0.10, -0.42)], fur)
            pen.shape([(side * 0.41, -0.26), (side * 0.44, -0.62), (side * 0.19, -0.42)], inner)
        elif kind.ears == "round":
            pen.oval(side * 0.40, -0.38, 0.26, 0.26, fur)
            pen.oval(side * 0.40, -0.37, 0.16, 0.16, inner)
        elif kind.ears == "long":
            pen.blob(
                [
                    (side * 0.10, -0.38),
                    (side * 0.14, -1.15),
                    (side * 0.34, -1.25),
                    (side * 0.40, -0.9),
                    (side * 0.32, -0.36),
                ],
                fur,
            )
            pen.blob([(side * 0.19, -0.5), (side * 0.22, -1.02), (side * 0.31, -1.05), (side * 0.27, -0.5)], inner)
        elif kind.ears == "horns":
            pen.line([(side * 0.22, -0.36), (side * 0.36, -0.75), (side * 0.26, -1.0)], 0.13, rgb("#d8cba8"), 0.03)
            pen.blob([(side * 0.42, -0.2), (side * 0.78, -0.28), (side * 0.50, -0.02)], fur)


def _animal_head(pen: Pen, who: Traits, kind: Kind, pose: Pose) -> Point:
    fur, t = who.hair, pose.turn * 0.10
    _ears(pen, who, kind)
    pen.blob(
        [
            (-0.56, 0.10),
            (-0.50, -0.26),
            (-0.2, -0.46),
            (0.2, -0.46),
            (0.50, -0.26),
            (0.56, 0.10),
            (0.34, 0.38),
            (0, 0.47),
            (-0.34, 0.38),
        ],
        fur,
    )
    if kind.ears == "floppy":
        for side in (-1, 1):
            pen.blob(
                [
                    (side * 0.36, -0.42),
                    (side * 0.62, -0.32),
                    (side * 0.72, 0.18),
                    (side * 0.56, 0.34),
                    (side * 0.44, 0.0),
                ],
                darker(fur, 0.28),
            )
    if who.species == "cat":
        for dx in (-0.12, 0.0, 0.12):
            pen.line([(t + dx, -0.44), (t + dx * 0.7, -0.24)], 0.05, veiled(darker(fur, 0.5), 0.6), 0.015)
    pale = WHITE if kind.pale or who.species == "cat" else lighter(fur, 0.45)
    pen.blob(
        [
            (t - 0.30, 0.16),
            (t * 1.4, 0.02),
            (t + 0.30, 0.16),
            (t * 1.4 + 0.2, 0.38),
            (t * 1.6, 0.40 + kind.muzzle * 0.3),
            (t * 1.4 - 0.2, 0.38),
        ],
        pale,
    )
    for side in (-1, 1):
        _animal_eye(pen, who, pose, t + side * 0.235)
    nose_y = 0.12 + kind.muzzle * 0.3
    pen.blob(
        [(t * 1.8 - 0.085, nose_y - 0.04), (t * 1.8 + 0.085, nose_y - 0.04), (t * 1.8, nose_y + 0.06)],
        PINK if who.species in ("cat", "rabbit", "mouse") else INK,
    )
    mouth = (t * 1.7, nose_y + 0.15)
    if pose.speaking:
        pen.blob(
            [(mouth[0] - 0.1, mouth[1] - 0.04), (mouth[0] + 0.1, mouth[1] - 0.04), (mouth[0], mouth[1] + 0.13)],
            rgb("#7a2a34"),
        )
    else:
        for side in (-1, 1):
            pen.line(
                [
                    (mouth[0], mouth[1] - 0.05),
                    (mouth[0] + side * 0.06, mouth[1] + 0.02),
                    (mouth[0] + side * 0.13, mouth[1] - 0.02),
                ],
                0.024,
                INK,
                0.014,
            )
    if who.species in ("cat", "mouse", "rabbit"):
        for side in (-1, 1):
            for k in (-1, 0, 1):
                pen.line(
                    [(t + side * 0.22, 0.22 + 0.03 * k), (t + side * 0.72, 0.18 + 0.09 * k)],
                    0.012,
                    veiled(WHITE, 0.85),
                    0.005,
                )
    return pen.at(*mouth)


def _animal_eye(pen: Pen, who: Traits, pose: Pose, x: float) -> None:
    if pose.face in ("asleep", "happy"):
        bend = 0.05 if pose.face == "asleep" else -0.05
        pen.line([(x - 0.1, -0.02), (x, -0.02 + bend), (x + 0.1, -0.02)], 0.032, INK, 0.022)
        return
    eye = who.eyes if sum(who.eyes) > 160 else rgb("#c9a53f")
    pen.oval(x, -0.03, 0.125, 0.135, INK)
    pen.oval(x, -0.03, 0.105, 0.115, lighter(eye, 0.15))
    slim = 0.035 if who.species in ("cat", "fox") and pose.face != "amazed" else 0.07
    pen.oval(x + pose.turn * 0.02, -0.03, slim, 0.10, INK)
    pen.oval(x + 0.035, -0.075, 0.03, 0.03, rgb("#ffffff"))


def _wings(canvas: Canvas, who: Traits) -> None:
    for side in (-1, 1):
        wing = [
            (side * 0.3, -1.0),
            (side * 1.0, -2.1),
            (side * 1.9, -2.0),
            (side * 1.6, -1.4),
            (side * 1.7, -0.9),
            (side * 1.1, -0.9),
            (side * 0.6, -0.5),
        ]
        canvas.shape(wing, darker(who.hair, 0.25))
        for tip in wing[2:5]:
            canvas.stroke([wing[1], tip], 0.05, darker(who.hair, 0.45), 0.02, curved=False)


def _bird(canvas: Canvas, who: Traits, pose: Pose) -> Point:
    way = 1 if pose.turn >= 0 else -1
    fur, belly = who.hair, lighter(who.hair, 0.6)
    owl = who.species == "owl"
    for x in (-0.2, 0.2):
        canvas.stroke([(x, -0.5), (x, -0.02)], 0.07, rgb("#d79a3f"), curved=False)
        canvas.stroke([(x - 0.12, 0), (x + 0.14, 0)], 0.07, rgb("#d79a3f"), curved=False)
    canvas.blob([(-way * 1.25, -0.35), (-way * 0.5, -0.9), (-way * 0.3, -0.4)], darker(fur, 0.25))
    canvas.blob(
        [
            (-0.62, -0.7),
            (-0.52, -1.4),
            (-0.2, -1.95),
            (0.2, -1.95),
            (0.52, -1.4),
            (0.62, -0.7),
            (0.3, -0.3),
            (-0.3, -0.3),
        ],
        fur,
    )
    canvas.blob([(way * 0.1, -0.36), (way * 0.5, -0.8), (way * 0.38, -1.3), (0, -1.2), (-way * 0.2, -0.7)], belly)
    canvas.blob([(-way * 0.2, -1.3), (-way * 0.68, -0.9), (-way * 0.80, -0.3), (-way * 0.30, -0.55)], darker(fur, 0.2))
    eyes = (-0.2, 0.2) if owl else (way * 0.16,)
    if owl:
        for side in (-1, 1):
            canvas.shape([(side * 0.42, -1.75), (side * 0.44, -2.2), (side * 0.1, -1.98)], fur)
    for x in eyes:
        canvas.oval(x, -1.65, 0.20 if owl else 0.11, 0.20 if owl else 0.11, lighter(fur, 0.75))
        if pose.face == "asleep":
            canvas.stroke([(x - 0.1, -1.65), (x, -1.6), (x + 0.1, -1.65)], 0.04, INK)
        else:
            canvas.oval(x + way * 0.02, -1.65, 0.10 if owl else 0.07, 0.10 if owl else 0.07, INK)
            canvas.oval(x + 0.03, -1.69, 0.03, 0.03, rgb("#ffffff"))
    gape = 0.14 if pose.speaking else 0.05
    beak = rgb("#e0a33a")
    bx = 0.0 if owl else way * 0.40
    tip = (bx + (0 if owl else way * 0.35), -1.45 if owl else -1.58)
    canvas.shape([(bx - 0.08, -1.62), (bx + 0.08, -1.62), tip], beak)
    canvas.shape([(bx - 0.06, -1.55), (bx + 0.06, -1.55), (tip[0] * 0.9, tip[1] + gape)], darker(beak, 0.2))
    return tip
