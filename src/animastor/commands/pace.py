"""How long work takes on this machine, as it was measured when it last worked on this home.

A small file that may be lost at any time: then the table of typical costs is used, which only fits one machine. What
is known includes the starting of children, which weighs little once some minutes were measured (`engine.estimate`).
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import orjson

from animastor.engine.effort import Spent
from animastor.engine.estimate import Known, costs

NAME = "pace.json"
KEPT = 0.5  # of what was known before, each time something new is learned


@dataclass(frozen=True, slots=True)
class Pace:
    """Busy seconds of children and the work done in them, by media type."""

    spent: Mapping[str, Spent]

    @classmethod
    def of(cls, home: Path) -> Pace:
        """What is known of a home."""
        try:
            told = orjson.loads((home / NAME).read_bytes())
            return cls({media: Spent(float(seconds), float(work)) for media, (seconds, work) in told.items()})
        except (OSError, ValueError, TypeError, AttributeError):
            return cls({})

    def cost(self, media: str) -> float:
        """Busy seconds per unit of work."""
        return costs(self.spent, [media])[media]

    def knows(self, media: str) -> bool:
        """Whether any of it was ever made here: else its cost is a guess."""
        return media in self.spent and self.spent[media].work > 0

    def known(self, workers: int) -> Known:
        """For the time left of what is made now."""
        return Known({media: self.cost(media) for media in self.spent if self.knows(media)}, workers)

    def learned(self, spent: Mapping[str, Spent]) -> Pace:
        """With what has just been measured; what was measured long ago counts less and less."""
        mixed = dict(self.spent)
        for media, new in spent.items():
            if new.work > 0:
                old = mixed.get(media, Spent())
                mixed[media] = Spent(KEPT * old.seconds + new.seconds, KEPT * old.work + new.work)
        return Pace(mixed)

    def keep(self, home: Path) -> None:
        """Store it; a failure is nobody's concern."""
        told = {media: [round(spent.seconds, 3), round(spent.work, 3)] for media, spent in self.spent.items()}
        fresh = home / f".{NAME}-{os.getpid()}"
        with suppress(OSError):
            try:
                fresh.write_bytes(orjson.dumps(told))
                fresh.replace(home / NAME)
            finally:
                fresh.unlink(missing_ok=True)
