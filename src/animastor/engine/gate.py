"""Whether anything may start: the artifact store answers, the disk has room, no era window is open (CONTRACT 11)."""

from __future__ import annotations

from animastor.engine.alarms import Alarm, Report
from animastor.engine.observing import Observer
from animastor.engine.ports import ArtifactStore, ArtifactStoreUnavailableError
from animastor.engine.reasons import Reason
from animastor.protocol import Clock

SENTENCES = {
    Reason.ARTIFACT_STORE_UNAVAILABLE: "the artifact store cannot be read: nothing starts until it is there again",
    Reason.OTHER_PLANNER: (
        "the plans of this database are of another version of the program: this process plans and starts nothing, and"
        " takes results; run one version everywhere, then `animastor upgrade`"
    ),
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
        self._may_plan = True
        self.reason: Reason | None = None
        self.told = ""  # what the store said of itself, when that is more than the reason

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

    @property
    def may_plan(self) -> bool:
        """Whether the database has the planner of this program, as far as is known."""
        return self._may_plan

    @property
    def sentence(self) -> str:
        """What the store said of itself, and what that leads to; empty where the reason says it all."""
        return f"{self.told}; nothing starts until then" if self.told else ""

    async def look(self) -> Reason | None:
        """Why nothing may start now, or None. The store is asked again when the last answer is too old."""
        if self._clock.now() - self._looked_at >= self._fresh_s:
            await self._ask()
        if self.reason is not None:
            return self.reason
        if self.in_window:
            return Reason.ERA_WINDOW
        return None if self._may_plan else Reason.OTHER_PLANNER

    async def plans_are_ours(self, ours: bool) -> None:
        """What the database said about the planner of its plans (CONTRACT 11, versions)."""
        before, self._may_plan = self._may_plan, ours
        if before is not ours:
            await self._changed(*((Reason.OTHER_PLANNER, None) if before else (None, Reason.OTHER_PLANNER)))

    def unavailable(self) -> None:
        """Somebody found the store away: ask it at the next look."""
        self._looked_at = float("-inf")

    async def _ask(self) -> None:
        self._looked_at = self._clock.now()
        told = ""
        try:
            reason = await self._artifacts.check()
        except ArtifactStoreUnavailableError as error:
            reason, told = Reason.ARTIFACT_STORE_UNAVAILABLE, str(error)
        if reason is self.reason and told == self.told:
            return
        before, self.reason, self.told = self.reason, reason, told
        await self._changed(reason, before)

    async def _changed(self, reason: Reason | None, before: Reason | None) -> None:
        if reason is not None:
            self._report(Alarm(reason, self.sentence or SENTENCES[reason]))
            await self._observer.recovered(reason, closed=True)
        elif before is not None:
            self._report(Alarm(before, "the cause is gone: work goes on"))
            await self._observer.recovered(before, closed=False)
