"""The settings a picture can be set in: a name of the lexicon, and the functions that paint it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from animastor.workers.storyboard.scenery import coast, land, rooms, streets
from animastor.workers.storyboard.sky import Scene

Painter = Callable[[Scene], None]


@dataclass(frozen=True, slots=True)
class Setting:
    """How a setting is painted: what is behind the figures, and what is before them (in wide shots).

    `horizon` is where sky or wall ends, as a share of the height above the text; `afloat`: figures sit in a boat.
    """

    back: Painter
    front: Painter | None = None
    horizon: float = 0.64
    afloat: bool = False


SETTINGS: dict[str, Setting] = {
    "harbour": Setting(coast.harbour, coast.harbour_front),
    "sea": Setting(coast.open_sea, coast.swell, 0.60, afloat=True),
    "ship": Setting(streets.ship_deck),
    "beach": Setting(coast.beach),
    "lighthouse": Setting(coast.lighthouse),
    "river": Setting(coast.river),
    "lake": Setting(coast.lake),
    "forest": Setting(land.forest, land.forest_front),
    "village": Setting(streets.village),
    "town": Setting(streets.town),
    "house": Setting(streets.house),
    "garden": Setting(land.garden),
    "field": Setting(land.field),
    "mountain": Setting(land.mountain),
    "desert": Setting(land.desert),
    "castle": Setting(streets.castle),
    "road": Setting(land.road),
    "station": Setting(streets.station, None, 0.58),
    "cave": Setting(rooms.cave, None, 0.74),
    "church": Setting(streets.church),
    "graveyard": Setting(land.graveyard),
    "night sky": Setting(land.night_sky),
    "kitchen": Setting(rooms.kitchen, rooms.kitchen_front, 0.78),
    "bedroom": Setting(rooms.bedroom, None, 0.78),
    "library": Setting(rooms.library, None, 0.78),
    "hall": Setting(rooms.hall, None, 0.78),
    "parlour": Setting(rooms.parlour, None, 0.78),
    "cellar": Setting(rooms.cellar, None, 0.78),
}


def setting_of(name: str) -> Setting:
    """The setting of a name; a meadow for an unknown one."""
    return SETTINGS.get(name, SETTINGS["field"])
