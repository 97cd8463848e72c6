"""Loops of an engine that wait for a database that is away, and go on when it answers again."""

from __future__ import annotations

from typing import Protocol

from animastor.engine.alarms import Alarm, Report
from animastor.engine.ports import Storage, StorageUnavailableError
from animastor.engine.reasons import Reason
from animastor.protocol import Clock

AGAIN_S = 1.0  # between two questions whether it is back; the database's own retries come on top
BACK = "the database answers again: work goes on"


class Loop(Protocol):
    """What an engine does all the time. May be run again after it has failed."""

    async def run(self) -> None:
        """For ever. Raises `StorageUnavailableError`."""
        ...


class Patience:
    """Runs loops. That the database is away is told once, and once that it is back."""

    def __init__(self, storage: Storage, clock: Clock, report: Report) -> None:
        self._storage = storage
        self._clock = clock
        self._report = report
        self._away = False

    async def run(self, loop: Loop) -> None:
        """Run it again whenever the database was away and is back. Nothing is lost: what failed is found again."""
        while True:
            try:
                await loop.run()
                return
            except StorageUnavailableError as error:
                self._lost(error)
            await self._until_back()

    def _lost(self, error: StorageUnavailableError) -> None:
        if not self._away:
            self._away = True
            self._report(Alarm(Reason.DATABASE_UNAVAILABLE, f"{error} (work goes on when it is back)"))

    async def _until_back(self) -> None:
        while True:
            await self._clock.sleep(AGAIN_S)
            try:
                await self._storage.untouched()
            except StorageUnavailableError as error:
                self._lost(error)
                continue
            if self._away:
                self._away = False
                self._report(Alarm(Reason.DATABASE_UNAVAILABLE, BACK))
            return
