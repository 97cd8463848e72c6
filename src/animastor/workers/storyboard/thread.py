"""A thread through a picture: it hangs between what holds it, and lies on what is below it."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from animastor.workers.storyboard.board import Board
from animastor.workers.storyboard.canvas import Canvas
from animastor.workers.storyboard.colour import darker, rgb
from animastor.workers.storyboard.figures.joints import hand_of
from animastor.workers.storyboard.geometry import Point
from animastor.workers.storyboard.sky import Scene, Upright
from animastor.workers.storyboard.staging import Framing, Placed, Stage, size_of

RED = rgb("#d8382f")


def draw_thread(board: Board, stage: Stage, framing: Framing, scene: Scene, placed: list[Placed]) -> None:
    """A thread that a wide picture names: from a hand into the distance, or from roof to mast to post."""
    if "thread" not in board.things or not framing.feet:
        return
    people = [one for one in placed if one.actor.traits.species == "person"]
    if people:
        _from_hand(stage, scene, people[0])
        return
    held = anchors(scene.uprights, stage)
    if len(held) < 2:
        y = scene.ground - 0.02
        held = [(-0.05, y), (stage.width * 0.35, y - 0.01), (stage.width * 0.7, y), (stage.width + 0.05, y - 0.01)]
        scene.canvas.stroke(held, 0.007, RED, 0.006)
        return
    for start, end in pairwise(held):
        hang(scene.canvas, start, end, 0.007)
    for x, y in held:
        scene.canvas.oval(x, y, 0.008, 0.008, darker(RED, 0.15))
    for (x, y), way in ((held[0], -1), (held[-1], 1)):
        scene.canvas.stroke([(x, y), (x + way * 0.008, y + 0.03), (x + way * 0.004, y + 0.06)], 0.006, RED, 0.002)


def anchors(uprights: Sequence[Upright], stage: Stage) -> list[Point]:
    """What a thread is tied to, from left to right: the tops of uprights, well apart, above the ground."""
    inside = [
        (post.x, post.top + (0.02 if post.slim else 0.0))
        for post in uprights
        if 0.02 < post.x < stage.width - 0.02 and 0.06 < post.top < stage.floor - 0.12
    ]
    chosen: list[Point] = []
    for x, y in sorted(inside):
        if not chosen or x - chosen[-1][0] > stage.width * 0.13:
            chosen.append((x, y))
    # The last one is the farthest, so that the thread goes as far as it can.
    return [*chosen[:-1], max(inside)] if len(chosen) > 1 else chosen


def hang(canvas: Canvas, start: Point, end: Point, width: float) -> None:
    """A thread between two points, sagging by its own weight."""
    sag = 0.015 + 0.14 * abs(end[0] - start[0])
    steps = 14
    points = []
    for k in range(steps + 1):
        t = k / steps
        x, y = (a + (b - a) * t for a, b in zip(start, end, strict=True))
        points.append((x, y + 4 * sag * t * (1 - t)))
    canvas.stroke(points, width, RED, curved=False)


def _from_hand(stage: Stage, scene: Scene, one: Placed) -> None:
    """Out of the hand, down by its weight, then over water or ground to a light in the distance."""
    near = 1 if one.actor.pose.turn >= 0 else -1
    hand = hand_of(one.actor.traits, one.actor.pose, near, near_arm=True)[2]
    own = one.head * size_of(one.actor)
    start = (one.x + hand[0] * own, one.foot + hand[1] * own)
    end = (stage.middle + near * stage.width * 0.47, scene.horizon + 0.015)
    low = max(start[1] + 0.05, (scene.horizon + scene.ground) / 2 + 0.02)
    out = abs(end[0] - start[0])
    points = [
        start,
        (start[0] + near * out * 0.14, start[1] + (low - start[1]) * 0.66),
        (start[0] + near * out * 0.34, low),
        (start[0] + near * out * 0.58, low - (low - end[1]) * 0.22),
        (start[0] + near * out * 0.80, low - (low - end[1]) * 0.70),
        end,
    ]
    scene.canvas.stroke(points, 0.009, RED, 0.003)
    scene.shine(end[0], end[1] - 0.02, 0.22, strength=0.8)
