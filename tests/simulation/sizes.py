"""How large a run is. Most are short lives of small books, in which much happens at once; a good share is long.

What one run after the other shows grows with what happens in it, not with its steps; but some faults need many assets,
or one asset's long life. So sizes are mixed.
"""

from __future__ import annotations

from dataclasses import dataclass
from random import Random


@dataclass(frozen=True)
class Size:
    """A size. `steps`: of the storm, from and to. `fleets`: how likely it is a fleet; `lone`: how likely only one of
    its two servers schedules. `deed_every`, `event_every`: mean steps between two of what people do, and of what
    befalls nodes and stores; `eagerness`: by how much other faults are likelier than their rates; `ailing`: by how much
    likelier still it is that a backend fails, and once more when it is tried again; `stubborn`: how likely there is a
    scene whose pictures fail always."""

    steps: tuple[int, int]
    fleets: float
    lone: float
    books: tuple[int, ...]
    scenes: tuple[int, int]
    units: tuple[int, ...]
    deed_every: int
    event_every: int
    eagerness: float
    ailing: float = 1.0
    stubborn: float = 0.0


SMALL = Size((600, 900), 0.5, 0.3, (1,), (1, 2), (0, 1, 1, 1, 2, 2), 100, 110, 3.0)
MIDDLE = Size((900, 1600), 0.7, 0.3, (1, 1, 2), (1, 3), (0, 1, 2, 2), 100, 100, 2.0)
LARGE = Size((1500, 4000), 0.8, 0.1, (1, 2, 3), (2, 5), (0, 1, 2, 2, 3, 3), 110, 130, 1.0)
AILING = Size((800, 1300), 0.4, 0.2, (1,), (1, 5), (1,), 250, 300, 1.0, 3.0, 0.7)
SHARES = {SMALL: 74, MIDDLE: 10, LARGE: 4, AILING: 12}


def size_of(shape: Random) -> Size:
    """The size of a run."""
    (size,) = shape.choices(list(SHARES), list(SHARES.values()))
    return size
