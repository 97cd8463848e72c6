"""Sitting: the seat, the legs bent over its edge, the lap of a long garment. Measures as in `body`."""

from __future__ import annotations

from animastor.workers.storyboard.canvas import Canvas
from animastor.workers.storyboard.colour import RGB, darker, lighter, rgb, veiled
from animastor.workers.storyboard.figures.joints import Frame
from animastor.workers.storyboard.figures.pose import Pose
from animastor.workers.storyboard.figures.traits import Traits
from animastor.workers.storyboard.geometry import Point

_WOOD = rgb("#8f6848")


def draw_seat(canvas: Canvas, pose: Pose, frame: Frame) -> None:
    """A low bench that the figure sits on, from its hips to the ground."""
    way, top = 1 if pose.turn >= 0 else -1, frame.hip + 0.16
    left, right = sorted((-way * 1.0, way * 0.42))
    canvas.box(left, top, right, 0.0, darker(_WOOD, 0.30))
    for k in (0.25, 0.5, 0.75):
        x = left + (right - left) * k
        canvas.stroke([(x, top + 0.1), (x, -0.02)], 0.03, darker(_WOOD, 0.55), curved=False)
    canvas.box(left - 0.06, top - 0.06, right + 0.06, top + 0.10, lighter(_WOOD, 0.08))


def legs_of(who: Traits, pose: Pose, frame: Frame) -> list[tuple[Point, Point, Point]]:
    """Hip, knee and ankle of the far and of the near leg."""
    way = 1 if pose.turn >= 0 else -1
    legs = []
    for shift in (-0.12, 0.10):
        knee = (way * (0.60 + shift) * who.bulk, frame.hip + 0.06)
        legs.append(((way * shift, frame.hip), knee, (knee[0] + way * 0.03, -0.16)))
    return legs


def draw_legs(canvas: Canvas, who: Traits, pose: Pose, frame: Frame, tone: RGB) -> None:
    """Thighs along the seat, shins down from its edge."""
    wide = (0.36 if who.age != "child" else 0.28) * who.bulk
    for (hip, knee, ankle), paint in zip(legs_of(who, pose, frame), (darker(tone, 0.14), tone), strict=True):
        canvas.stroke([hip, knee], wide * 1.1, paint, wide, curved=False)
        canvas.stroke([knee, ankle], wide, paint, wide * 0.75, curved=False)


def draw_lap(canvas: Canvas, who: Traits, pose: Pose, frame: Frame) -> None:
    """The skirt of a long garment over the knees, falling to the ankles."""
    way, y = 1 if pose.turn >= 0 else -1, frame.hip
    skirt = [
        (-0.55, y),
        (0.0, y - 0.16),
        (0.62, y - 0.18),
        (0.88, y + 0.10),
        (0.92, -0.20),
        (0.25, -0.14),
        (-0.35, -0.2),
    ]
    canvas.blob([(way * x, py) for x, py in skirt], who.top)
    shade = [(0.05, y + 0.22), (0.55, y + 0.16), (0.80, y + 0.22), (0.72, -0.22), (0.3, -0.2)]
    canvas.blob([(way * x, py) for x, py in shade], veiled(darker(who.top, 0.5), 0.30))
    canvas.stroke([(way * 0.05, y - 0.10), (way * 0.80, y + 0.0)], 0.05, veiled(lighter(who.top, 0.4), 0.35), 0.02)
