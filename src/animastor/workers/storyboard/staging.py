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
    "establishing": Framing(1.0, 0.0, 0.055, 0.0, feet=True),
    "wide": Framing(1.0, 0.0, 0.118, 0.0, feet=True),
    "group": Framing(1.06, 0.0, 0.125, 0.0, feet=True),
    "full": Framing(1.12, 0.0, 0.150, 0.0, feet=True),
    "two-shot": Framing(1.30, 0.0035, 0.27, 0.15),
    "medium": Framing(1.35, 0.0035, 0.29, 0.14),
    "close-up": Framing(1.80, 0.0075, 0.56, 0.12),
    "over-the-shoulder": Framing(1.45, 0.005, 0.31, 0.16),
    "detail": Framing(2.00, 0.012, 0.0, 0.0),
}


def framing_of(board: Board) -> Framing:
    """The framing of the board's shot, loosened when there are more people than it can hold."""
    framing = FRAMINGS.get(board.shot, FRAMINGS["wide"])
    people = len(board.actors)
    room = board.size[0] / min(board.size)
    if not framing.feet and framing.head and people > 1:
        widest = 0.62 * room / (people * 2.1)
        framing = replace(framing, head=min(framing.head, max(widest, 0.11)))
    if framing.feet and people > 4:
        framing = replace(framing, head=min(framing.head, 0.55 * room / (people * 1.25)))
    return framing


def view_of(board: Board, stage: Stage, framing: Framing, horizon: float) -> View:
    """The zoom of the setting about a point that keeps its landmark and its horizon in the picture."""
    if framing.zoom == 1.0:
        return View()
    sideways = 0.5 + (0.16 if board.seed % 2 else -0.16) * min(1.0, framing.zoom - 1.0)
    if not board.actors:
        sideways = 0.5
    focus = (stage.width * sideways, horizon - 0.02)
    return View(framing.zoom, focus, (stage.middle, horizon + 0.02 * framing.zoom))


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
    if len(actors) == 1:
        way = actors[0].side or (-1 if sum(actors[0].traits.id.encode()) % 2 else 1)
        return [stage.middle + way * stage.width * (0.10 if not framing.feet else 0.08)]
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
    head = framing.head * stage.floor
    if framing.feet:
        return Placed(actor, x, ground, head)
    tallest = max(height_of(other) for other in everyone)
    top = framing.top * stage.floor
    own = height_of(actor)
    # Of people of different height the small ones are lifted a little, so that a close frame holds every face.
    drop = (tallest - own) * head * (0.62 if len(everyone) > 1 else 0.0)
    foot = top + drop + own * head
    lowest = stage.floor + head * (own - 1.35 * size_of(actor))
    return Placed(actor, x, min(foot, lowest), head)
