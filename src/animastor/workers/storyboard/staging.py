"""Who stands where: how a shot frames the setting, and the place, size and turn of each figure in it.

Everything is measured in units of the picture's shorter side. The stage is the part of the picture above the text.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from animastor.workers.storyboard.board import Actor, Board
from animastor.workers.storyboard.canvas import View
from animastor.workers.storyboard.figures.animal import HEIGHT, KINDS
from animastor.workers.storyboard.figures.joints import frame_of, hand_of
from animastor.workers.storyboard.sky import Upright

MAX_FIGURES = 8
HEADROOM = 0.06  # above the tallest head: a zoom of twelve percent takes it
NEST = 1.22  # how far below a sleeper the foot of its basket is, in its own heads


@dataclass(frozen=True, slots=True)
class Stage:
    """The frame in units: width and height of the picture, where text at its foot begins and text at its top ends.

    `aside` is how far one alone stands off the middle, as a share of the width: who speaks leaves room for the bubble.
    """

    width: float
    height: float
    floor: float
    ceiling: float = 0.0
    aside: float = 0.09

    @property
    def middle(self) -> float:
        """The middle of the picture."""
        return self.width / 2


@dataclass(frozen=True, slots=True)
class Placed:
    """A figure on the stage: the x and y of its feet, the size of an adult's head, and whether it is far back."""

    actor: Actor
    x: float
    foot: float
    head: float
    back_row: bool = False


@dataclass(frozen=True, slots=True)
class Framing:
    """What a shot means: the zoom of the setting, its blur, the head's size and the top of the tallest head.

    `feet` are shown by wide shots only; sizes are shares of the stage's height.
    """

    zoom: float
    blur: float
    head: float
    top: float
    feet: bool = False


FRAMINGS = {
    "establishing": Framing(1.0, 0.0, 0.070, 0.0, feet=True),
    "wide": Framing(1.0, 0.0, 0.138, 0.0, feet=True),
    "group": Framing(1.06, 0.0, 0.140, 0.0, feet=True),
    "full": Framing(1.12, 0.0, 0.165, 0.0, feet=True),
    "two-shot": Framing(1.30, 0.0035, 0.27, 0.15),
    "medium": Framing(1.35, 0.0035, 0.29, 0.14),
    "close-up": Framing(1.80, 0.0075, 0.51, 0.12),
    "over-the-shoulder": Framing(1.45, 0.005, 0.31, 0.16),
    "detail": Framing(2.00, 0.012, 0.0, 0.0),
}


def framing_of(board: Board) -> Framing:
    """The framing of the board's shot, loosened when there are more people than it can hold."""
    framing = FRAMINGS.get(board.shot, FRAMINGS["wide"])
    people = len(board.actors)
    room = board.size[0] / min(board.size)
    if board.shot in ("medium", "two-shot") and people <= 2 and _low(board):
        # Who sits or kneels is shown whole: a frame from the waist up would not tell it.
        return replace(FRAMINGS["full"], zoom=1.2, head=0.30 if people == 1 else 0.24)
    if not framing.feet and framing.head and people > 3:
        framing = FRAMINGS["group"]
    elif not framing.feet and framing.head and people > 1:
        widest = 0.62 * room / (people * 1.65)
        framing = replace(framing, head=min(framing.head, max(widest, 0.11)))
    if framing.feet and people > 4:
        framing = replace(framing, head=min(framing.head, 0.55 * room / (people * 1.25)))
    return framing


def _low(board: Board) -> bool:
    return any(actor.pose.stance in ("sit", "kneel") and actor.traits.species == "person" for actor in board.actors)


def view_of(board: Board, stage: Stage, framing: Framing, horizon: float) -> View:
    """The zoom of the setting about a point that keeps its landmark and its horizon in the picture."""
    if framing.feet:
        return _wide_view(board, stage, framing, horizon)
    if on_the_ground(board):
        ground = max(stage.floor - 0.02, horizon + 0.16)
        return View(framing.zoom, (stage.middle, ground), (stage.middle, stage.floor * 0.84))
    sideways = 0.5 + (0.16 if board.seed % 2 else -0.16) * min(1.0, framing.zoom - 1.0)
    if not board.actors:
        sideways = 0.5
    focus = (stage.width * sideways, horizon - 0.02)
    return View(framing.zoom, focus, (stage.middle, horizon + 0.02 * framing.zoom))


def on_the_ground(board: Board) -> bool:
    """Whether a close frame is lowered to the ground: only animals are in it, and they stand on it."""
    animals = bool(board.actors) and all(actor.traits.species != "person" for actor in board.actors)
    return animals and not framing_of(board).feet


def _wide_view(board: Board, stage: Stage, framing: Framing, horizon: float) -> View:
    """A wide shot comes a little nearer from unit to unit, and moves aside, so that no two are quite the same."""
    zoom = framing.zoom * (1.0, 1.07, 1.14)[board.seed % 3]
    slack = (zoom - 1.0) / zoom * stage.width / 2
    focus = stage.middle + slack * (0.9 if board.seed // 3 % 2 else -0.9)
    return View(zoom, (focus, horizon), (stage.middle, horizon))


def place(
    board: Board, stage: Stage, framing: Framing, ground: float, uprights: Sequence[Upright] = ()
) -> list[Placed]:
    """Every figure of the shot, from the back to the front, with no upright of the setting behind a head."""
    actors = list(board.actors[:MAX_FIGURES])
    if not actors or framing.head == 0.0:
        return []
    ordered = sorted(actors, key=lambda actor: actor.side)
    xs = _spread(ordered, stage, framing)
    if on_the_ground(board) and len(ordered) == 1 and ordered[0].pose.stance != "sleep":
        # What it acts on lies before it: it keeps to the side that it comes from.
        xs = [stage.middle + (stage.middle - xs[0]) * 1.6]
    turned = _turned(ordered, xs, stage)
    nested = "basket" in board.things
    placed = [_placed(actor, x, stage, framing, ground, turned, nested) for actor, x in zip(turned, xs, strict=True)]
    placed = _clear_of(uprights, _within(placed, stage, ground) if framing.feet else placed, stage)
    return sorted(placed, key=lambda one: (one.actor.pose.speaking, one.actor.traits.species != "person"))


def _within(placed: list[Placed], stage: Stage, ground: float) -> list[Placed]:
    """Whole figures made smaller together until the tallest fits under what is written above."""
    tallest = max((height_of(one.actor) + crest_of(one.actor) * size_of(one.actor)) * one.head for one in placed)
    share = min(1.0, (ground - max(stage.ceiling + 0.03, HEADROOM)) / tallest)
    return [replace(one, head=one.head * share) for one in placed]


def _clear_of(uprights: Sequence[Upright], placed: list[Placed], stage: Stage) -> list[Placed]:
    """Everyone moved aside together, by as little as leaves the fewest uprights behind heads."""

    def behind(shift: float) -> int:
        return sum(_grows_out(post, one, shift) for one in placed for post in uprights if post.slim)

    edge = 0.09 * stage.width
    low, high = min(one.x for one in placed) - edge, stage.width - edge - max(one.x for one in placed)
    shifts = [way * step * 0.02 for step in range(13) for way in (1, -1)]
    allowed = [0.0, *(shift for shift in shifts if -low <= shift <= high)]
    best = min(allowed, key=lambda shift: (behind(shift), abs(shift)))
    return [replace(one, x=one.x + best) for one in placed]


def _grows_out(post: Upright, one: Placed, shift: float) -> bool:
    own = one.head * size_of(one.actor)
    top = one.foot - height_of(one.actor) * one.head
    return abs(post.x - one.x - shift) < 0.85 * own + 0.02 and post.top < top + 0.5 * own and post.foot > top


def _spread(actors: list[Actor], stage: Stage, framing: Framing) -> list[float]:
    """Where figures stand from left to right: people spaced by their width, one alone off the middle."""
    people = [actor for actor in actors if actor.traits.species == "person"]
    if len(actors) == 1 or (len(people) == 1 and not framing.feet):
        return _one_and_animals(actors, stage, framing)
    widths = [_width(actor) * framing.head for actor in actors]
    gap = framing.head * (0.55 if framing.feet else 0.10)
    total = sum(widths) + gap * (len(actors) - 1)
    room = stage.width * 0.78
    squeeze = min(1.0, room / total)
    x = stage.middle - total * squeeze / 2
    xs = []
    for width in widths:
        xs.append(x + width * squeeze / 2)
        x += (width + gap) * squeeze
    return xs


def _one_and_animals(actors: list[Actor], stage: Stage, framing: Framing) -> list[float]:
    """One off the middle, animals beside."""
    xs, aside = [], 0
    for actor in actors:
        way = actor.side or (-1 if sum(actor.traits.id.encode()) % 2 else 1)
        if len(actors) == 1 or actor.traits.species == "person":
            xs.append(stage.middle + way * stage.width * stage.aside * (0.9 if framing.feet else 1.0))
        else:
            xs.append(stage.middle + (-1 if aside % 2 else 1) * stage.width * 0.3)
            aside += 1
    return xs


def _width(actor: Actor) -> float:
    """The width that a figure takes, in adult heads."""
    if actor.traits.species == "person":
        return 1.95 * actor.traits.bulk * actor.traits.head
    return 2.0 * size_of(actor)


def size_of(actor: Actor) -> float:
    """The size of a figure's head, in adult heads."""
    traits = actor.traits
    if traits.species == "person":
        return traits.head
    kind = KINDS.get(traits.species)
    return kind.size if kind else 0.5


def height_of(actor: Actor) -> float:
    """The height of a figure in adult heads."""
    traits = actor.traits
    if traits.species != "person":
        return size_of(actor) * HEIGHT
    stance = {"sit": 0.80, "kneel": 0.74}.get(actor.pose.stance, 1.0)
    return traits.head * traits.heads * stance


def _turned(actors: list[Actor], xs: list[float], stage: Stage) -> list[Actor]:
    """Everyone looks at the one who speaks; the speaker, or one alone, looks across the picture."""
    speaker = next((x for actor, x in zip(actors, xs, strict=True) if actor.pose.speaking), None)
    turned = []
    for actor, x in zip(actors, xs, strict=True):
        others = [other for other in xs if other != x]
        goal = stage.middle if not others else sum(others) / len(others)
        if speaker is not None and not actor.pose.speaking:
            goal = speaker
        way = 1.0 if goal > x else -1.0
        turned.append(replace(actor, pose=replace(actor.pose, turn=(0.95 if others else 0.62) * way)))
    return turned


def _placed(
    actor: Actor, x: float, stage: Stage, framing: Framing, ground: float, everyone: list[Actor], nested: bool
) -> Placed:
    head = min(framing.head * stage.floor, 0.50 * stage.width / size_of(actor))
    if framing.feet:
        nearer = 0.0 if actor.traits.species == "person" else 0.018
        if nested and actor.pose.stance == "sleep":
            nearer = -NEST * head * size_of(actor)  # what it lies in stands on the ground
        return Placed(actor, x, ground + nearer, head)
    if actor.traits.species != "person":
        return _close_animal(actor, x, stage, head, everyone, nested)
    tallest = max(height_of(other) for other in everyone)
    own, size = height_of(actor), size_of(actor)
    if sum(other.traits.species == "person" for other in everyone) == 1:
        # One alone fills the frame down to its lower edge, however small they are.
        head *= min(1.6, max(1.0, (stage.height + 0.02 - framing.top * stage.floor) / (own * head)))
    crest = crest_of(actor)
    shown = crest + reach_of(actor)
    head = min(head, (stage.floor - 0.035 - max(stage.ceiling, HEADROOM)) / (shown * size))
    # Of people of different height the small ones are lifted a little, so that a close frame holds every face.
    drop = (tallest - own) * head * (0.62 if len(everyone) > 1 else 0.0)
    foot = max(framing.top * stage.floor, stage.ceiling) + drop + (own + crest * size) * head
    # Their feet are below the picture, unless that would hide a chin, or what they hold, behind the text.
    lowest = stage.floor - 0.035 + head * (own - (shown - crest) * size)
    return Placed(actor, x, min(max(foot, stage.height + 0.02), lowest), head)


def reach_of(actor: Actor) -> float:
    """How far down a figure must be seen, in its own heads below the top of its skull: the chin, and what it holds."""
    traits, pose = actor.traits, actor.pose
    if traits.species != "person":
        return HEIGHT
    if not (pose.holds or pose.gesture in ("knit", "speak", "point", "wave")):
        return 1.06
    near = 1 if pose.turn >= 0 else -1
    hand = hand_of(traits, pose, near, near_arm=True)[2][1] - frame_of(traits, pose).top
    return max(1.06, hand + (0.86 if pose.gesture == "knit" else 0.16))


def crest_of(actor: Actor) -> float:
    """How far hat or hair stand above the skull, in the figure's own heads; room is left for them."""
    traits = actor.traits
    tall = {"top": 0.62, "witch": 0.80, "beanie": 0.36, "bowler": 0.30, "crown": 0.26, "sailor": 0.42, "cap": 0.34}
    return max(tall.get(traits.hat, 0.1), 0.34 if traits.hair_style == "bun" else 0.0)


def _close_animal(actor: Actor, x: float, stage: Stage, head: float, everyone: list[Actor], nested: bool) -> Placed:
    """An animal in a close frame: with people it sits at the very front; otherwise it is large, on the ground."""
    size = size_of(actor)
    if any(other.traits.species == "person" for other in everyone):
        side = -1 if x < stage.middle else 1
        foot = min(stage.height * 0.985, stage.floor + 1.1 * head * 1.3 * size)
        # Beside the card, as far as the picture reaches.
        aside = min(0.44 * stage.width, max(0.40 * stage.width, 0.325 * stage.width + 1.0 * head * size))
        return Placed(actor, stage.middle + side * aside, foot, head * 1.3)
    room = stage.floor - max(0.04, stage.ceiling)
    crowd = 1.0 if len(everyone) == 1 else 1.6 / len(everyone)
    if actor.pose.stance == "sleep" and nested:
        own = 0.37 * room * crowd
        return Placed(actor, x, stage.floor - 0.03 - NEST * own, own / size)
    share = {"leap": 0.26, "walk": 0.29, "sleep": 0.40}.get(actor.pose.stance, 0.33)
    return Placed(actor, x, stage.floor - 0.05, share * room * crowd / size)
