"""Whether the coordination store answers. While it does not, what it was asked for is left for later (DESIGN)."""

from __future__ import annotations

from animastor.engine.alarms import Alarm, Report
from animastor.engine.ports import CoordinationUnavailableError
from animastor.engine.reasons import Reason

MEANWHILE = "(results are accepted meanwhile, nothing starts)"
BACK = "the coordination store answers again: work goes on"


class Reach:
    """Tells once when the store is lost, and once when it is back. Nothing in the database depends on it."""

    def __init__(self, report: Report) -> None:
        self._report = report
        self._lost = False

    @property
    def away(self) -> bool:
        """Whether it was lost and is not known to be back: then it is asked only to find that out."""
        return self._lost

    def lost(self, error: CoordinationUnavailableError) -> None:
        """It did not answer. Whatever it was for is found again by a later tick, or by the keeper."""
        if not self._lost:
            self._lost = True
            self._report(Alarm(Reason.COORDINATION_UNAVAILABLE, f"{error} {MEANWHILE}"))

    def back(self) -> None:
        """It has answered."""
        if self._lost:
            self._lost = False
            self._report(Alarm(Reason.COORDINATION_UNAVAILABLE, BACK))
