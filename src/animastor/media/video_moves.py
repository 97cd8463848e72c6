"""How the camera moves over a unit's picture, directed by its shot and its action. Pure.

A move is a name and a path: views `[x, y, w]`, the centre of what is seen and its width, as shares of the picture.
They are the control points of a curve that stays within their hull, so what holds for each view holds all the way:
it shows the picture's middle four fifths, where the lettering is, and crops at most 12 %.
"""

from __future__ import annotations

import re
from math import ceil, hypot
from random import Random
from typing import Any, TypeAlias

from animastor.media.hashing import seed_of

View: TypeAlias = tuple[float, float, float]  # centre and width, as shares of the picture

CLOSEST = 0.88  # the least share of the picture's width that is seen
SAFE = 0.8  # the share in the middle that always is

_PAN_WIDTH = 0.9  # the width at which the way from side to side is longest
_PAN_PER_S, _ZOOM_PER_S = 0.02, 0.015  # shares of the width; calm enough to read by, never slow enough to stand still
_LEAST_S = 1.5  # what is shorter moves as far as if it lasted this long
_LEG_S = 7.0  # a longer unit turns into another direction about this often

_WORDS = tuple(
    (name, re.compile(rf"\b(?:{words})"))
    for name, words in (
        ("push in", r"push(?:es|ing)? in|zoom(?:s|ing)? in|dolly in|move(?:s)? in|closer|approach\w*|lean\w*"),
        ("pull out", r"pull(?:s|ing)? (?:out|back)|zoom(?:s|ing)? out|dolly (?:out|back)|reveal\w*|recede\w*|widen\w*"),
        ("tilt up", r"tilt\w* up|crane\w* up|rise\w*|rising|ascend\w*|climb\w*|look\w* up|upwards?"),
        ("tilt down", r"tilt\w* down|crane\w* down|descend\w*|fall\w*|sink\w*|look\w* down|downwards?"),
        ("pan left", r"left\b|westwards?"),
        ("pan right", r"right\b|eastwards?"),
        ("track", r"track\w*|pan\w*|follow\w*|walk\w*|run\w*|ride\w*|rush\w*|pass\w*|sweep\w*|across"),
    )
)
_WAYS = {"pan left": (-1, 0), "pan right": (1, 0), "tilt up": (0, -1), "tilt down": (0, 1)}  # across, down
_BY_SHOT = {
    "establishing": ("pan left", "pan right", "pull out"),
    "wide": ("push in", "pan left", "pan right"),
    "full": ("push in", "tilt up", "pan right"),
    "group": ("push in", "pan left", "pan right"),
    "two-shot": ("drift", "push in"),
    "medium": ("drift", "push in"),
    "over-the-shoulder": ("drift", "push in"),
    "close-up": ("push in",),
    "detail": ("push in", "drift"),
}


def move_of(unit_id: str, shot: str, action: str, seconds: float, take: int) -> dict[str, Any]:
    """The move over a unit: `{"name", "views": [[x, y, w], …]}`, shares to four places.

    `shot` is one of the words of `cast.shot_of`. What the action says of the camera or of a direction comes before
    what is usual for the shot; the unit's seed chooses between equals, so a move stays when its neighbours change.
    """
    random = Random(seed_of(unit_id, "move", 0, take))
    name = _named(action) or random.choice(_BY_SHOT.get(shot, _BY_SHOT["wide"]))
    if name == "track":
        name = random.choice(("pan left", "pan right"))
    legs = max(1, ceil(seconds / _LEG_S - 0.25))
    views = _views(name, max(_LEAST_S, seconds / legs), shot, random)
    while len(views) < legs + 1:
        views.append(_onwards(views, random))
    return {"name": name, "views": [[round(share, 4) for share in view] for view in views]}


def is_safe(view: View) -> bool:
    """Whether a view lies within the picture, shows its middle four fifths and is not too close."""
    x, y, width = view
    edge, reach = (1 - SAFE) / 2 + 1e-4, 1 + 1e-4
    return width >= CLOSEST - 1e-4 and all(
        -1e-4 <= centre - width / 2 <= edge and 1 - edge <= centre + width / 2 <= reach for centre in (x, y)
    )


def _named(action: str) -> str | None:
    text = action.casefold()
    return next((name for name, words in _WORDS if words.search(text)), None) if text else None


def _views(name: str, seconds: float, shot: str, random: Random) -> list[View]:
    """The first two views of a move that takes so long."""
    slide = min(_PAN_WIDTH * 0.11, _PAN_PER_S * seconds) / 2
    zoom = min(1 - CLOSEST, _ZOOM_PER_S * seconds)
    near = CLOSEST if shot in ("close-up", "detail") else 0.91
    lift = random.uniform(-0.02, 0.02)
    if name in _WAYS:
        (across, down), cross = _WAYS[name], abs(_WAYS[name][0])
        x, y = across * slide + (1 - cross) * lift, down * slide + cross * lift
        return [(0.5 - x, 0.5 - y, _PAN_WIDTH), (0.5 + x, 0.5 + y, _PAN_WIDTH)]
    if name == "push in":
        return [(0.5, 0.5, min(1.0, near + zoom)), _aimed(near, random)]
    if name == "pull out":
        return [_aimed(near, random), (0.5, 0.5, min(1.0, near + zoom))]
    side = random.choice((-1, 1)) * slide * 0.7  # drift: a little of each
    return [(0.5 - side, 0.5 - lift, 0.93), (0.5 + side, 0.5 + lift, max(CLOSEST, 0.93 - zoom / 2))]


def _aimed(width: float, random: Random) -> View:
    """A view of this width, somewhat off the middle."""
    reach = _reach(width) * 0.6
    return 0.5 + random.uniform(-reach, reach), 0.5 + random.uniform(-reach, reach), width


def _reach(width: float) -> float:
    """How far from the middle the centre of a view may lie."""
    return min((1 - width) / 2, (width - SAFE) / 2)


def _onwards(views: list[View], random: Random) -> View:
    """Where a long move goes next: of some places, the one that it gets to without slowing down in the turn."""
    before, here = views[-2:]
    choices = []
    for _ in range(48):
        width = random.uniform(CLOSEST + 0.01, 0.97)
        reach = _reach(width)
        place = (0.5 + random.uniform(-reach, reach), 0.5 + random.uniform(-reach, reach), width)
        choices.append((_slowest(_leg(before, here), _leg(here, place)), place))
    return max(choices)[1]


def _leg(start: View, end: View) -> View:
    """From one view to the next as it is seen: pictures are wide, and a new width moves the edges by half of it."""
    return end[0] - start[0], (end[1] - start[1]) * 9 / 16, (end[2] - start[2]) / 2


def _slowest(came: View, goes: View) -> float:
    """The least speed while one leg turns into the next: the distance of rest from the way between the velocities."""
    turn = [q - p for p, q in zip(came, goes, strict=True)]
    square = sum(t * t for t in turn)
    share = min(1.0, max(0.0, -sum(p * t for p, t in zip(came, turn, strict=True)) / max(1e-12, square)))
    return hypot(*(p + share * t for p, t in zip(came, turn, strict=True)))
