"""The joints of a body: where head, shoulders, waist, hips and hem of a figure are, and its arms."""

from __future__ import annotations

import math
from dataclasses import dataclass

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
    sits = pose.stance == "sit"
    lean = pose.turn * (0.12 if who.age == "old" else 0.04)
    return Frame(
        top=-tall,
        shoulder=-tall + (1.10 if child else 1.17),
        half=half,
        waist=-tall + (1.10 if child else 1.17) + 0.85 * ((who.heads if sits else tall) - 1.15) / 3.6,
        hip=-who.heads * 0.22 if sits else -tall * 0.40,
        hem=-tall * (0.24 if child else 0.22),
        lean=lean,
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
