"""Who stands where: how a shot frames the setting, and the place, size and turn of each figure in it.

Everything is measured in units of the picture's shorter side. The stage is the part of the picture above the text.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from animastor.workers.storyboard.board import Actor, Board
from animastor.workers.storyboard.canvas import View
from animastor.workers.storyboard.figures.animal import HEIGHT, KINDS

MAX_FIGURES = 8


@dataclass(frozen=True, slots=True)
class Stage:
    """The frame: width and height of the picture, and where the text begins, in units."""

    width: float
    height: float
    floor: float

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
    if not framing.feet and framing.head and people > 3:
        framing = FRAMINGS["group"]
    elif not framing.feet and framing.head and people > 1:
        widest = 0.62 * room / (people * 1.65)
        framing = replace(framing, head=min(framing.head, max(widest, 0.11)))
    if framing.feet and people > 4:
        framing = replace(framing, head=min(framing.head, 0.55 * room / (people * 1.25)))
    return framing


def view_of(board: Board, stage: Stage, framing: Framing, horizon: float) -> View:
    """The zoom of the setting about a point that keeps its landmark and its horizon in the picture."""
    if framing.feet:
        return _wide_view(board, stage, framing, horizon)
    sideways = 0.5 + (0.16 if board.seed % 2 else -0.16) * min(1.0, framing.zoom - 1.0)
    if not board.actors:
        sideways = 0.5
    focus = (stage.width * sideways, horizon - 0.02)
    return View(framing.zoom, focus, (stage.middle, horizon + 0.02 * framing.zoom))


def _wide_view(board: Board, stage: Stage, framing: Framing, horizon: float) -> View:
    """A wide shot comes a little nearer from unit to unit, and moves aside, so that no two are quite the same."""
    zoom = framing.zoom * (1.0, 1.07, 1.14)[board.seed % 3]
    slack = (zoom - 1.0) / zoom * stage.width / 2
    focus = stage.middle + slack * (0.9 if board.seed // 3 % 2 else -0.9)
    return View(zoom, (focus, horizon), (stage.middle, horizon))


def place(board: Board, stage: Stage, framing: Framing, ground: float) -> list[Placed]:
    """Every figure of the shot, from the back to the front."""
    actors = list(board.actors[:MAX_FIGURES])
    if not actors or framing.head == 0.0:
        return []
    ordered = sorted(actors, key=lambda actor: actor.side)
    xs = _spread(ordered, stage, framing)
    turned = _turned(ordered, xs, stage)
    placed = [_placed(actor, x, stage, framing, ground, turned) for actor, x in zip(turned, xs, strict=True)]
    return sorted(placed, key=lambda one: (one.actor.pose.speaking, one.actor.traits.species != "person"))


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
            xs.append(stage.middle + way * stage.width * (0.08 if framing.feet else 0.09))
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
        turned.append(replace(actor, pose=replace(actor.pose, turn=0.62 * way)))
    return turned


def _placed(actor: Actor, x: float, stage: Stage, framing: Framing, ground: float, everyone: list[Actor]) -> Placed:
    head = min(framing.head * stage.floor, 0.50 * stage.width / size_of(actor))
    if framing.feet:
        nearer = 0.0 if actor.traits.species == "person" else 0.018
        return Placed(actor, x, ground + nearer, head)
    if actor.traits.species != "person":
        return _close_animal(actor, x, stage, head, alone=len(everyone) == 1)
    tallest = max(height_of(other) for other in everyone)
    own, size = height_of(actor), size_of(actor)
    if sum(other.traits.species == "person" for other in everyone) == 1:
        # One alone fills the frame down to its lower edge, however small they are.
        head *= min(1.6, max(1.0, (stage.height + 0.02 - framing.top * stage.floor) / (own * head)))
    # Of people of different height the small ones are lifted a little, so that a close frame holds every face.
    drop = (tallest - own) * head * (0.62 if len(everyone) > 1 else 0.0)
    foot = framing.top * stage.floor + drop + (own + _crest(actor) * size) * head
    # Their feet are below the picture, unless that would hide a chin behind the text.
    lowest = stage.floor - 0.035 + head * (own - 1.06 * size)
    return Placed(actor, x, min(max(foot, stage.height + 0.02), lowest), head)


def _crest(actor: Actor) -> float:
    """How far hat or hair stand above the skull, in the figure's own heads; room is left for them."""
    traits = actor.traits
    tall = {"top": 0.62, "witch": 0.80, "beanie": 0.36, "bowler": 0.30, "crown": 0.26, "sailor": 0.22, "cap": 0.22}
    return max(tall.get(traits.hat, 0.1), 0.34 if traits.hair_style == "bun" else 0.0)


def _close_animal(actor: Actor, x: float, stage: Stage, head: float, alone: bool) -> Placed:
    """An animal in a close frame: alone it fills it; with people it sits at the very front, before the picture."""
    size = size_of(actor)
    if not alone:
        side = -1 if x < stage.middle else 1
        return Placed(actor, stage.middle + side * stage.width * 0.35, stage.height * 0.985, head * 1.3)
    share, foot = {"leap": (0.25, 0.74), "walk": (0.28, 0.90), "sleep": (0.38, 0.76)}.get(
        actor.pose.stance, (0.40, 1.10)
    )
    return Placed(actor, x, foot * stage.floor, share * stage.floor / size)
