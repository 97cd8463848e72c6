"""Figures in a picture: each cut out, lit, laid on the canvas with its shadow and what it holds."""

from __future__ import annotations

from dataclasses import dataclass, replace

from PIL import Image, ImageFilter

from animastor.workers.storyboard.board import Board
from animastor.workers.storyboard.canvas import Canvas
from animastor.workers.storyboard.colour import RGB, rgb
from animastor.workers.storyboard.figures.animal import HEIGHT, animal
from animastor.workers.storyboard.figures.body import person
from animastor.workers.storyboard.figures.joints import hand_of
from animastor.workers.storyboard.figures.pose import Pose
from animastor.workers.storyboard.figures.sprite import Sprite, cut_out, lit
from animastor.workers.storyboard.figures.traits import Traits
from animastor.workers.storyboard.geometry import Point
from animastor.workers.storyboard.scenery import boats
from animastor.workers.storyboard.sky import Scene
from animastor.workers.storyboard.staging import Framing, Placed, Stage, height_of, size_of
from animastor.workers.storyboard.things import LUMINOUS, draw_thing

_COARSE = 4  # the cover of figures is kept this much coarser than the canvas


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
        return _over_the_shoulder(stage, scene, placed)
    if afloat:
        placed = [replace(one, foot=one.foot - one.head * 0.2) for one in placed]
    drawn = []
    for one in placed:
        drawn.append(_draw(scene, one, stage))
        if one.actor.pose.stance == "sleep" and "basket" in board.things:
            nest(scene, one)
    if afloat:
        _boat(scene, framing, placed)
    else:
        draw_props(board, stage, framing, scene, placed)
    return drawn


def _draw(scene: Scene, one: Placed, stage: Stage) -> Drawn:
    """One figure with its shadow, lit from where the light is."""
    canvas, traits, pose = scene.canvas, one.actor.traits, one.actor.pose
    own = one.head * size_of(one.actor)
    sprite = _sprite(traits, pose, own * canvas.unit)
    toward = _toward(scene, one.x)
    shown = lit(sprite, scene.light, own * canvas.unit, toward, 0.95 if pose.speaking else 0.6)
    at = (one.x * canvas.unit - shown.foot[0], one.foot * canvas.unit - shown.foot[1])
    if one.foot < stage.height:
        _shadow(canvas, one, own, toward)
    _lay(scene, shown, at)
    if pose.holds in LUMINOUS and traits.species == "person":
        hand = hand_of(traits, pose, 1 if pose.turn >= 0 else -1, near_arm=True)[2]
        light = (one.x + hand[0] * own, one.foot + (hand[1] - 0.45) * own)
        scene.shine(light[0], light[1], own * 2.4, strength=0.42, near=True)
    mouth = ((at[0] + shown.mouth[0]) / canvas.unit, (at[1] + shown.mouth[1]) / canvas.unit)
    return Drawn(mouth, _colour_of(traits), pose.speaking)


def _lay(scene: Scene, sprite: Sprite, at: Point) -> None:
    """Lay a figure on the canvas, and note on the coarse cover that it hides the lights behind it."""
    canvas = scene.canvas
    canvas.lay(sprite.image, sprite.mask, at)
    size = (canvas.image.width // _COARSE, canvas.image.height // _COARSE)
    if scene.cover is None:
        scene.cover = Image.new("L", size, 0)
    small = sprite.mask.resize((max(1, sprite.mask.width // _COARSE), max(1, sprite.mask.height // _COARSE)))
    scene.cover.paste(255, (round(at[0] / _COARSE), round(at[1] / _COARSE)), small)


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


def _boat(scene: Scene, framing: Framing, placed: list[Placed]) -> None:
    """The boat that everyone sits in: its near side hides them from the waist down."""
    xs = [one.x for one in placed]
    middle, spread = (min(xs) + max(xs)) / 2, max(xs) - min(xs)
    head = placed[0].head
    length = spread + head * (7.0 if framing.feet else 5.2)
    tallest = min(one.foot - height_of(one.actor) * one.head for one in placed)
    rim = tallest + head * (2.7 if framing.feet else 2.2)
    line = rim + length * 0.17
    boats.rowing_boat(scene, middle, line, length, 0.0, boats.HULLS[1], figures_inside=True)
    lamp = (middle + length * 0.40, line - length * 0.24 - head * 0.30)
    draw_thing(scene.canvas, "lantern", lamp[0], lamp[1], head * 0.85)
    scene.shine(lamp[0], lamp[1], max(0.35, head * 3.0), strength=0.8, near=True)


def draw_props(board: Board, stage: Stage, framing: Framing, scene: Scene, placed: list[Placed]) -> None:
    """Things that the picture's wish names and nobody holds: they stand on the ground beside the figures."""
    held = {one.actor.pose.holds for one in placed}
    standing = [name for name in board.things if name in STANDING and name not in held][:2]
    asleep = any(one.actor.pose.stance == "sleep" for one in placed)
    for index, name in enumerate(standing):
        if name == "basket" and asleep:
            continue
        if framing.feet and placed:
            head = placed[0].head
            edge = max(one.x for one in placed) + head * (1.5 + 1.6 * index)
            _prop(scene, name, min(edge, stage.width * 0.92), scene.ground + 0.012, head * STANDING[name])
        elif placed and len(placed) <= 2:
            head = placed[0].head
            side = -1 if sum(one.x for one in placed) / len(placed) > stage.middle else 1
            x = stage.middle + side * stage.width * (0.33 - 0.16 * index)
            _prop(scene, name, x, stage.height * 0.95, head * 1.15 * STANDING[name])


STANDING = {"basket": 1.35, "box": 1.3, "lantern": 0.95, "rope": 0.9, "fire": 1.2, "wool": 0.62, "bottle": 0.6,
            "flower": 0.9, "umbrella": 1.2, "candle": 0.6, "book": 0.6}  # fmt: skip  # sizes in adult heads


def _prop(scene: Scene, name: str, x: float, foot: float, size: float) -> None:
    canvas = scene.canvas

    def draw(own: Canvas) -> Point:
        draw_thing(own, name, 0.0, -0.44, 1.0)
        return (0.0, 0.0)

    sprite = cut_out(draw, size * canvas.unit, 1.0)
    shown = lit(sprite, scene.light, size * canvas.unit, _toward(scene, x), 0.5)
    canvas.lay(shown.image, shown.mask, (x * canvas.unit - shown.foot[0], foot * canvas.unit - shown.foot[1]))
    if name in LUMINOUS:
        scene.shine(x, foot - size * 0.5, size * LUMINOUS[name].reach, strength=0.9)


def draw_thread(board: Board, stage: Stage, framing: Framing, scene: Scene, placed: list[Placed]) -> None:
    """A red thread through a wide picture: from the hand of the first figure into the distance, or all across it."""
    if "thread" not in board.things or not framing.feet:
        return
    red, canvas = rgb("#d8382f"), scene.canvas
    if not placed:
        xs = [stage.width * k / 8 for k in range(-1, 10)]
        line = [(x, scene.horizon - 0.02 - 0.05 * ((k * 7) % 3)) for k, x in enumerate(xs)]
        canvas.stroke(line, 0.008, red, 0.006)
        return
    one = placed[0]
    near = 1 if one.actor.pose.turn >= 0 else -1
    hand = hand_of(one.actor.traits, one.actor.pose, near, near_arm=True)[2]
    own = one.head * size_of(one.actor)
    start = (one.x + hand[0] * own, one.foot + hand[1] * own)
    end = (stage.middle + near * stage.width * 0.47, scene.horizon + 0.015)
    third = ((end[0] - start[0]) / 3, (end[1] - start[1]) / 3)
    points = [
        start,
        (start[0] + third[0], start[1] + third[1] + 0.05),
        (end[0] - third[0], end[1] - third[1] + 0.03),
        end,
    ]
    canvas.stroke(points, 0.008, red, 0.003)
    scene.shine(end[0], end[1] - 0.02, 0.22, strength=0.8)


def nest(scene: Scene, one: Placed) -> None:
    """A basket that a sleeping animal lies in: its near side hides half of it."""
    own = one.head * size_of(one.actor)
    _prop(scene, "nest", one.x, one.foot + own * 0.98, own * 2.9)


def _over_the_shoulder(stage: Stage, scene: Scene, placed: list[Placed]) -> list[Drawn]:
    """The one who speaks, seen past the dark shoulder of another."""
    speaker = next((one for one in placed if one.actor.pose.speaking), placed[-1])
    others = [one for one in placed if one is not speaker]
    listener = next((one for one in others if one.actor.traits.species == "person"), others[0])
    left = listener.x < speaker.x
    x = stage.width * (0.62 if left else 0.38)
    aside = x + (0.30 if left else -0.30)
    rest = [replace(one, x=aside, head=one.head * 0.85) for one in others if one is not listener]
    drawn = [_draw(scene, one, stage) for one in rest]
    turned = replace(speaker.actor.pose, turn=-0.6 if left else 0.6)
    drawn.append(_draw(scene, replace(speaker, x=x, actor=replace(speaker.actor, pose=turned)), stage))
    drawn.append(_shoulder(scene, stage, listener, left))
    return drawn


def _shoulder(scene: Scene, stage: Stage, listener: Placed, left: bool) -> Drawn:
    canvas = scene.canvas
    head = stage.floor * 0.50
    pose = Pose(turn=0.5 if left else -0.5, back=True)
    sprite = _sprite(listener.actor.traits, pose, head * canvas.unit)
    dim = replace(scene.light, tint=tuple(part * 0.55 for part in scene.light.tint))  # type: ignore[arg-type]
    shown = lit(sprite, dim, head * canvas.unit, 1.0 if left else -1.0, 0.7)
    x, top = stage.width * (0.17 if left else 0.83), stage.floor * 0.30
    at = (x * canvas.unit - shown.foot[0], top * canvas.unit)
    soft = shown.mask.filter(ImageFilter.GaussianBlur(0.003 * canvas.unit))
    blurred = shown.image.filter(ImageFilter.GaussianBlur(0.003 * canvas.unit))
    _lay(scene, replace(shown, image=blurred, mask=soft), at)
    mouth = (x, top + head * 0.8)
    return Drawn(mouth, _colour_of(listener.actor.traits), False)
