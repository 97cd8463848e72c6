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
from animastor.workers.storyboard.figures.sprite import Sprite, cropped, cut_out, lit
from animastor.workers.storyboard.figures.traits import Traits
from animastor.workers.storyboard.geometry import Point
from animastor.workers.storyboard.props import draw_props, nest
from animastor.workers.storyboard.scenery import boats
from animastor.workers.storyboard.sky import Scene, toward_light
from animastor.workers.storyboard.staging import Framing, Placed, Stage, crest_of, height_of, size_of
from animastor.workers.storyboard.things import LUMINOUS, draw_thing

_COARSE = 4  # the cover of figures is kept this much coarser than the canvas


@dataclass(frozen=True, slots=True)
class Drawn:
    """A figure in the picture: where its mouth is, how high its head (units), its colour, whether it speaks.

    `foot` is what it stands on, None when that is below the picture or in a boat.
    """

    mouth: Point
    head: float
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
        lift = 0.2 if framing.feet else 0.0
        return _afloat(stage, framing, scene, [replace(one, foot=one.foot - one.head * lift) for one in placed])
    drawn = []
    for one in placed:
        drawn.append(_draw(scene, one, stage))
        if one.actor.pose.stance == "sleep" and "basket" in board.things:
            nest(scene, one)
    draw_props(board, stage, framing, scene, placed)
    return drawn


def _draw(scene: Scene, one: Placed, stage: Stage, below: float | None = None) -> Drawn:
    """One figure with its shadow, lit from where the light is; nothing of it lower than `below` (units)."""
    canvas, traits, pose = scene.canvas, one.actor.traits, one.actor.pose
    own = one.head * size_of(one.actor)
    sprite = _sprite(traits, pose, own * canvas.unit)
    toward = toward_light(scene, one.x)
    shown = lit(sprite, scene.light, own * canvas.unit, toward, 0.95 if pose.speaking else 0.6)
    at = (one.x * canvas.unit - shown.foot[0], one.foot * canvas.unit - shown.foot[1])
    if below is not None:
        shown = cropped(shown, round(below * canvas.unit - at[1]))
    elif one.foot < stage.height:
        _shadow(canvas, one, own, toward)
    _lay(scene, shown, at)
    if pose.holds in LUMINOUS and traits.species == "person":
        hand = hand_of(traits, pose, 1 if pose.turn >= 0 else -1, near_arm=True)[2]
        light = (one.x + hand[0] * own, one.foot + (hand[1] - 0.45) * own)
        scene.shine(light[0], light[1], own * 2.4, strength=0.42, near=True)
    mouth = ((at[0] + shown.mouth[0]) / canvas.unit, (at[1] + shown.mouth[1]) / canvas.unit)
    _note(scene, one, mouth, own)
    return Drawn(mouth, own, _colour_of(traits), pose.speaking)


def _note(scene: Scene, one: Placed, mouth: Point, own: float) -> None:
    """Note face and held thing of a figure: text keeps clear of them."""
    traits, pose = one.actor.traits, one.actor.pose
    high = 0.84 + crest_of(one.actor)
    scene.subjects.append((mouth[0] - 0.56 * own, mouth[1] - high * own, mouth[0] + 0.56 * own, mouth[1] + 0.26 * own))
    if traits.species != "person":
        return
    hand = hand_of(traits, pose, 1 if pose.turn >= 0 else -1, near_arm=True)[2]
    x, y = one.x + hand[0] * own, one.foot + hand[1] * own
    if pose.holds or pose.gesture == "knit":
        low = 0.80 if pose.gesture == "knit" else 0.10
        scene.subjects.append((x - 0.34 * own, y - 0.55 * own, x + 0.34 * own, y + low * own))
    elif pose.gesture in ("speak", "point", "wave", "raise"):
        scene.subjects.append((x - 0.24 * own, y - 0.26 * own, x + 0.24 * own, y + 0.16 * own))


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
        draw_thing(canvas, pose.holds, hand[0], hand[1] - 0.24, 0.62, pose.tone)
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


@dataclass(frozen=True, slots=True)
class _Boat:
    """The boat that everyone sits in: its middle, its length, its water line, and the height of its rim (units)."""

    middle: float
    length: float
    line: float
    rim: float


def _boat_for(framing: Framing, placed: list[Placed]) -> _Boat:
    xs, head = [one.x for one in placed], placed[0].head
    length = max(xs) - min(xs) + head * (7.0 if framing.feet else 5.2)
    tallest = min(one.foot - height_of(one.actor) * one.head for one in placed)
    rim = tallest + head * (2.6 if framing.feet else 2.3)
    return _Boat((min(xs) + max(xs)) / 2, length, rim + length * 0.17, rim)


def _afloat(stage: Stage, framing: Framing, scene: Scene, placed: list[Placed]) -> list[Drawn]:
    """Figures in a boat: drawn down to below its rim, the near side of the hull before them, a lantern at the bow."""
    boat, head = _boat_for(framing, placed), placed[0].head
    drawn = [_draw(scene, one, stage, below=boat.rim + head * 0.35) for one in placed]
    boats.rowing_boat(scene, boat.middle, boat.line, boat.length, 0.0, boats.HULLS[1], figures_inside=True)
    bow = -1 if boat.middle > stage.middle else 1  # on the side where there is more room
    lamp = (boat.middle + bow * boat.length * 0.40, boat.line - boat.length * 0.24 - head * 0.30)
    draw_thing(scene.canvas, "lantern", lamp[0], lamp[1], head * 0.85)
    scene.shine(lamp[0], lamp[1], max(0.35, head * 3.0), strength=0.8, near=True)
    return drawn


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
    sprite = _sprite(listener.actor.traits, pose, head * canvas.unit / 2)
    dim = replace(scene.light, tint=tuple(part * 0.85 for part in scene.light.tint))  # type: ignore[arg-type]
    half = lit(sprite, dim, head * canvas.unit / 2, 1.0 if left else -1.0, 1.0)
    # Painted at half the size and enlarged: so near, it is out of focus.
    size = (half.image.width * 2, half.image.height * 2)
    image, mask = (layer.resize(size, Image.Resampling.BICUBIC) for layer in (half.image, half.mask))
    x, top = stage.width * (0.17 if left else 0.83), stage.floor * 0.30
    _lay(scene, replace(half, image=image, mask=mask), (x * canvas.unit - half.foot[0] * 2, top * canvas.unit))
    mouth = (x, top + head * 0.8)
    scene.subjects.append((x - head * 0.5, top, x + head * 0.5, top + head))
    return Drawn(mouth, head, _colour_of(listener.actor.traits), False)
