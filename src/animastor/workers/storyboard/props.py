"""Things that nobody holds: on the ground or a stand beside figures, a sleeper's basket."""

from __future__ import annotations

from animastor.workers.storyboard.board import Board
from animastor.workers.storyboard.canvas import Canvas
from animastor.workers.storyboard.colour import darker, lighter, rgb
from animastor.workers.storyboard.figures.sprite import cut_out, lit
from animastor.workers.storyboard.geometry import Point
from animastor.workers.storyboard.sky import Scene, toward_light
from animastor.workers.storyboard.staging import NEST, Framing, Placed, Stage, on_the_ground, size_of
from animastor.workers.storyboard.things import LUMINOUS, draw_thing


def draw_props(board: Board, stage: Stage, framing: Framing, scene: Scene, placed: list[Placed]) -> None:
    """Things that the picture's wish names and nobody holds: they stand on the ground beside the figures."""
    held = {one.actor.pose.holds for one in placed}
    hearth = {"fire"} if board.inside else set()  # a room has its own
    standing = [name for name in board.things if name in STANDING and name not in held | hearth][:2]
    if "basket" in standing:  # wool that is named with a basket lies in it
        standing = [name for name in standing if name != "wool"]
    asleep = any(one.actor.pose.stance == "sleep" for one in placed)
    for index, name in enumerate(standing):
        if name == "basket" and asleep:
            continue
        if framing.feet and placed:
            head = placed[0].head
            edge = max(one.x for one in placed) + head * (1.5 + 1.6 * index)
            _prop(scene, name, min(edge, stage.width * 0.92), scene.ground + 0.012, head * STANDING[name])
        elif on_the_ground(board) and not asleep:
            _before_animal(scene, stage, name, placed[0], index)
        elif placed and len(placed) <= 2:
            _on_a_stand(scene, stage, name, placed, index)


def _before_animal(scene: Scene, stage: Stage, name: str, one: Placed, index: int) -> None:
    """What a large animal acts on: on the ground before it, where it looks."""
    own, way = one.head * size_of(one.actor), 1 if one.actor.pose.turn >= 0 else -1
    x = one.x + way * own * (2.5 + 1.2 * index)
    _prop(scene, name, min(max(x, 0.12), stage.width - 0.12), one.foot + 0.012, own * 1.5 * STANDING[name])


def _on_a_stand(scene: Scene, stage: Stage, name: str, placed: list[Placed], index: int) -> None:
    """Beside people whose feet are not seen: on a low stand, its top above the text."""
    head = placed[0].head
    side = -1 if sum(one.x for one in placed) / len(placed) > stage.middle else 1
    x = stage.middle + side * stage.width * (0.37 - 0.13 * index)
    top, size = stage.floor - 0.05, min(head * 1.15 * STANDING[name], stage.floor * 0.36)
    if index == 0:
        _stand(scene, stage.middle + side * stage.width * 0.36, top, stage.width * 0.20)
    _prop(scene, name, x, top + 0.012, size)


def _stand(scene: Scene, x: float, top: float, half: float) -> None:
    canvas, wood = scene.canvas, scene.light.figure(rgb("#8a6244"))
    canvas.shaded(
        [(x - half, top), (x + half, top), (x + half, canvas.height + 0.1), (x - half, canvas.height + 0.1)],
        darker(wood, 0.15),
        darker(wood, 0.55),
    )
    for k in (-0.5, 0.0, 0.5):
        seam = [(x + k * half, top + 0.03), (x + k * half, canvas.height)]
        canvas.stroke(seam, 0.004, darker(wood, 0.5), curved=False)
    canvas.box(x - half - 0.012, top - 0.012, x + half + 0.012, top + 0.022, lighter(wood, 0.12))


STANDING = {"basket": 1.35, "box": 1.3, "lantern": 0.95, "rope": 0.9, "fire": 1.2, "wool": 0.62, "bottle": 0.6,
            "flower": 0.9, "umbrella": 1.2, "candle": 0.6, "book": 0.6}  # fmt: skip  # sizes in adult heads


def _prop(scene: Scene, name: str, x: float, foot: float, size: float) -> None:
    canvas = scene.canvas

    def draw(own: Canvas) -> Point:
        draw_thing(own, name, 0.0, -0.44, 1.0)
        return (0.0, 0.0)

    sprite = cut_out(draw, size * canvas.unit, 1.0)
    shown = lit(sprite, scene.light, size * canvas.unit, toward_light(scene, x), 0.5)
    at = x * canvas.unit - shown.foot[0], foot * canvas.unit - shown.image.height
    canvas.lay(shown.image, shown.mask, at)
    left, top = at[0] / canvas.unit, at[1] / canvas.unit
    scene.subjects.append((left, top, left + shown.image.width / canvas.unit, foot))
    if name in LUMINOUS:
        scene.shine(x, foot - size * 0.5, size * LUMINOUS[name].reach, strength=0.9)


def nest(scene: Scene, one: Placed) -> None:
    """A basket that a sleeping animal lies in: its near side hides half of it."""
    own = one.head * size_of(one.actor)
    _prop(scene, "nest", one.x, one.foot + own * NEST, own * 2.9)
