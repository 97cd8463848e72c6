"""Figures in a picture: each cut out, lit, laid on the canvas with its shadow and what it holds."""

from __future__ import annotations

from dataclasses import dataclass, replace

from PIL import Image, ImageFilter

from animastor.workers.storyboard.board import Board
from animastor.workers.storyboard.canvas import Canvas
from animastor.workers.storyboard.colour import RGB, rgb
from animastor.workers.storyboard.figures.animal import HEIGHT, animal
from animastor.workers.storyboard.figures.body import hand_of, person
from animastor.workers.storyboard.figures.pose import Pose
from animastor.workers.storyboard.figures.sprite import Sprite, cut_out, lit
from animastor.workers.storyboard.figures.traits import Traits
from animastor.workers.storyboard.geometry import Point
from animastor.workers.storyboard.scenery import boats
from animastor.workers.storyboard.sky import Scene
from animastor.workers.storyboard.staging import Framing, Placed, Stage, size_of
from animastor.workers.storyboard.things import LUMINOUS, draw_thing


@dataclass(frozen=True, slots=True)
class Drawn:
    """A figure that is in the picture: where its mouth is (units), the colour it is known by, whether it speaks."""

    mouth: Point
    colour: RGB
    speaking: bool


def draw_figures(
    board: Board, stage: Stage, framing: Framing, scene: Scene, placed: list[Placed], afloat: bool
) -> list[Drawn]:
    """Draw every figure, from the back to the front; on the open sea they sit in a boat."""
    if not placed:
        return []
    if board.shot == "over-the-shoulder" and len(placed) > 1:
        return _over_the_shoulder(board, stage, scene, placed)
    if afloat:
        placed = [replace(one, foot=one.foot - one.head * 0.2) for one in placed]
    drawn = [_draw(scene, one, stage) for one in placed]
    if afloat:
        _boat(scene, stage, framing, placed)
    return drawn


def _draw(scene: Scene, one: Placed, stage: Stage) -> Drawn:
    """One figure with its shadow, lit from where the light is."""
    canvas, traits = scene.canvas, one.actor.traits
    own = one.head * size_of(one.actor)
    sprite = _sprite(traits, one.actor.pose, own * canvas.unit)
    toward = _toward(scene, one.x)
    rim = 0.95 if one.actor.pose.speaking else 0.6
    shown = lit(sprite, scene.light, own * canvas.unit, toward, rim)
    at = (one.x * canvas.unit - sprite.foot[0], one.foot * canvas.unit - sprite.foot[1])
    if one.foot < stage.height:
        _shadow(canvas, one, own, toward)
    canvas.lay(shown.image, shown.mask, at)
    mouth = ((at[0] + sprite.mouth[0]) / canvas.unit, (at[1] + sprite.mouth[1]) / canvas.unit)
    return Drawn(mouth, _colour_of(traits), one.actor.pose.speaking)


def _sprite(traits: Traits, pose: Pose, head_px: float) -> Sprite:
    if traits.species == "person":
        return cut_out(lambda canvas: _holding(canvas, traits, pose), head_px, traits.heads + 0.6)
    return cut_out(lambda canvas: animal(canvas, traits, pose), head_px, HEIGHT + 0.6)


def _holding(canvas: Canvas, traits: Traits, pose: Pose) -> Point:
    """The person, and in the near hand what it holds."""
    mouth = person(canvas, traits, pose)
    near = 1 if pose.turn >= 0 else -1
    if pose.gesture == "knit":
        _needles(canvas, traits, pose, near)
    elif pose.holds:
        _, _, hand = hand_of(traits, pose, near, near_arm=True)
        draw_thing(canvas, pose.holds, hand[0], hand[1] - 0.24, 0.62)
    return mouth


def _needles(canvas: Canvas, traits: Traits, pose: Pose, near: int) -> None:
    """Two needles and a length of grey knitting between the hands."""
    _, _, hand = hand_of(traits, pose, near, near_arm=True)
    _, _, other = hand_of(traits, pose, -near, near_arm=False)
    middle = ((hand[0] + other[0]) / 2, min(hand[1], other[1]))
    wool = rgb("#c3c7cf")
    canvas.blob(
        [
            (hand[0], hand[1]),
            (other[0], other[1]),
            (other[0] * 0.7, other[1] + 0.55),
            (middle[0], middle[1] + 0.8),
            (hand[0] * 0.7, hand[1] + 0.5),
        ],
        wool,
    )
    for k in range(4):
        y = middle[1] + 0.14 + 0.15 * k
        canvas.stroke([(middle[0] - 0.25, y), (middle[0], y + 0.05), (middle[0] + 0.25, y)], 0.035, rgb("#a3a8b3"))
    for start, way in ((hand, -1), (other, 1)):
        tip = (start[0] + way * near * 0.75, start[1] - 0.42)
        canvas.stroke([start, tip], 0.05, rgb("#8a5d3d"), 0.03, curved=False)


def _toward(scene: Scene, x: float) -> float:
    """-1 when the brightest light is to the left of x, 1 when it is to the right."""
    if not scene.glows:
        return 1.0
    brightest = max(scene.glows, key=lambda glow: glow.strength * glow.radius)
    return 1.0 if brightest.at[0] > x else -1.0


def _colour_of(traits: Traits) -> RGB:
    return traits.shawl or traits.scarf or (traits.top if traits.species == "person" else traits.hair)


def _shadow(canvas: Canvas, one: Placed, head: float, toward: float) -> None:
    """A soft shadow on the ground, away from the light."""
    wide = round(head * 2.6 * canvas.unit)
    tall = max(2, round(wide * 0.16))
    stencil = Image.new("L", (wide, tall * 2), 0)
    stencil.paste(120, (wide // 6, tall // 2, wide - wide // 6, tall + tall // 2))
    soft = stencil.filter(ImageFilter.GaussianBlur(tall * 0.38))
    at = (round((one.x - toward * head * 0.3) * canvas.unit - wide / 2), round(one.foot * canvas.unit - tall))
    canvas.image.paste((18, 12, 36), at, soft)


def _boat(scene: Scene, stage: Stage, framing: Framing, placed: list[Placed]) -> None:
    """The boat that everyone sits in: its near side hides their legs."""
    middle = (min(one.x for one in placed) + max(one.x for one in placed)) / 2
    head = placed[0].head
    spread = max(one.x for one in placed) - min(one.x for one in placed)
    length = spread + head * 7.0
    line = (
        min(stage.floor + 0.02, max(one.foot for one in placed) - head * 0.15) if framing.feet else stage.floor + 0.06
    )
    boats.rowing_boat(scene, middle, line, length, 0.0, boats.HULLS[1], figures_inside=True)
    lamp = (middle + length * 0.44, line - length * 0.20 * 1.75)
    draw_thing(scene.canvas, "lantern", lamp[0], lamp[1], head * 0.9)
    scene.shine(lamp[0], lamp[1], max(0.35, head * 3.5), strength=0.9)
    del stage


def _over_the_shoulder(board: Board, stage: Stage, scene: Scene, placed: list[Placed]) -> list[Drawn]:
    """The one who speaks, seen past the dark shoulder of another."""
    speaker = next((one for one in placed if one.actor.pose.speaking), placed[-1])
    others = [one for one in placed if one is not speaker]
    listener = next((one for one in others if one.actor.traits.species == "person"), others[0])
    left = listener.x < speaker.x
    x = stage.width * (0.62 if left else 0.38)
    drawn = []
    for extra in others:
        if extra is not listener:
            drawn.append(_draw(scene, replace(extra, x=x + (0.30 if left else -0.30), head=extra.head * 0.85), stage))
    turned = replace(speaker.actor.pose, turn=-0.6 if left else 0.6)
    drawn.append(_draw(scene, replace(speaker, x=x, actor=replace(speaker.actor, pose=turned)), stage))
    drawn.append(_shoulder(scene, stage, listener, left))
    del board
    return drawn


def _shoulder(scene: Scene, stage: Stage, listener: Placed, left: bool) -> Drawn:
    canvas = scene.canvas
    head = stage.floor * 0.50
    pose = Pose(turn=0.5 if left else -0.5, back=True)
    sprite = _sprite(listener.actor.traits, pose, head * canvas.unit)
    dim = replace(scene.light, tint=tuple(part * 0.55 for part in scene.light.tint))  # type: ignore[arg-type]
    shown = lit(sprite, dim, head * canvas.unit, 1.0 if left else -1.0, 0.7)
    x, top = stage.width * (0.17 if left else 0.83), stage.floor * 0.30
    at = (x * canvas.unit - sprite.foot[0], top * canvas.unit - sprite.top)
    soft = shown.mask.filter(ImageFilter.GaussianBlur(0.003 * canvas.unit))
    canvas.lay(shown.image.filter(ImageFilter.GaussianBlur(0.003 * canvas.unit)), soft, at)
    mouth = (x, top + head * 0.8)
    return Drawn(mouth, _colour_of(listener.actor.traits), False)


def luminous(name: str) -> bool:
    """Whether a thing gives light."""
    return name in LUMINOUS
