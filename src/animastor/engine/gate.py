"""Whether anything may start: the artifact store answers, the disk has room, no era window is open (CONTRACT 11)."""

from __future__ import annotations

from animastor.engine.alarms import Alarm, Report
from animastor.engine.observing import Observer
from animastor.engine.ports import ArtifactStore, ArtifactStoreUnavailableError
from animastor.engine.reasons import Reason
from animastor.protocol import Clock

SENTENCES = {
    Reason.ARTIFACT_STORE_UNAVAILABLE: "the artifact store cannot be read: nothing starts until it is there again",
    Reason.DISK_LOW: "the disk for artifacts is nearly full: nothing starts until there is room again",
}


class Gate:
    """Closed while a cause lasts; opens by itself. An alarm and a journal row tell of each change."""

    def __init__(
        self, *, artifacts: ArtifactStore, clock: Clock, observer: Observer, report: Report, fresh_s: float
    ) -> None:
        self._artifacts = artifacts
        self._clock = clock
        self._observer = observer
        self._report = report
        self._fresh_s = fresh_s
        self._looked_at = float("-inf")
        self._window_until = float("-inf")
        self.reason: Reason | None = None

    def hold(self, seconds: float) -> None:
        """Open an era window: nothing is admitted, rolled back, requeued or entered for so long."""
        self._window_until = max(self._window_until, self._clock.now() + seconds)

    @property
    def in_window(self) -> bool:
        """Whether an era window is open."""
        return self._clock.now() < self._window_until

    @property
    def stores_bytes(self) -> bool:
        """Whether the artifact store answered when it was last asked: while not, no state is changed on its word."""
        return self.reason is not Reason.ARTIFACT_STORE_UNAVAILABLE

    async def look(self) -> Reason | None:
        """Why nothing may start now, or None. The store is asked again when the last answer is too old."""
        if self._clock.now() - self._looked_at >= self._fresh_s:
            await self._ask()
        return self.reason or (Reason.ERA_WINDOW if self.in_window else None)

    def unavailable(self) -> None:
        """Somebody found the store away: ask it at the next look."""
        self._looked_at = float("-inf")

    async def _ask(self) -> None:
        self._looked_at = self._clock.now()
        try:
            reason = await self._artifacts.check()
        except ArtifactStoreUnavailableError:
            reason = Reason.ARTIFACT_STORE_UNAVAILABLE
        if reason is self.reason:
            return
        before, self.reason = self.reason, reason
        if reason is not None:
            self._report(Alarm(reason, SENTENCES[reason]))
            await self._observer.recovered(reason, closed=True)
        elif before is not None:
            self._report(Alarm(before, "the cause is gone: work goes on"))
            await self._observer.recovered(before, closed=False)
