"""Are the bytes of READY assets still there? A rotating look at the artifact store (CONTRACT 11).

A few files that are positively missing are made again. Many at once look like a store that was emptied or mounted
wrongly: then nothing is changed, and a person is asked.
"""

from __future__ import annotations

from collections.abc import Sequence

from animastor.engine.alarms import Alarm, Report
from animastor.engine.losses import give_up, too_many
from animastor.engine.observing import Observer
from animastor.engine.ports import ArtifactStore, Storage
from animastor.engine.reasons import Reason


class Presence:
    """Looks at so many artifacts a round, and starts anew when it has seen all."""

    def __init__(
        self, *, storage: Storage, artifacts: ArtifactStore, observer: Observer, report: Report, batch: int
    ) -> None:
        self._storage = storage
        self._artifacts = artifacts
        self._observer = observer
        self._report = report
        self._batch = batch
        self._start_cycle()

    def _start_cycle(self) -> None:
        self._after = ""
        self._looked = 0
        self._missing: list[tuple[str, str]] = []

    async def look(self) -> int:
        """One part of the cycle; at its end, how many artifacts were given up. Raises when the store is away."""
        if await self._page():
            return 0
        self._missing = await self._absent(self._missing)  # some may be back: a cycle takes its time
        if not too_many(len(self._missing), self._looked):
            return await self._give_up()
        self._report(
            Alarm(
                Reason.ARTIFACT_MISSING,
                f"{len(self._missing)} of {self._looked} artifacts are missing: nothing was changed; put the files "
                "back, or let them be made again with `animastor doctor --repair`",
            )
        )
        self._start_cycle()
        return 0

    async def _page(self) -> bool:
        """Look at the next artifacts; whether there may be more."""
        rows = await self._storage.artifacts_after(self._after, self._batch)
        self._missing += await self._absent([(checksum, suffix) for checksum, suffix, _ in rows])
        self._looked += len(rows)
        if rows:
            self._after = rows[-1][0]
        return len(rows) == self._batch

    async def _absent(self, artifacts: Sequence[tuple[str, str]]) -> list[tuple[str, str]]:
        return list(await self._artifacts.missing(artifacts))

    async def _give_up(self) -> int:
        missing = self._missing
        self._start_cycle()
        if not missing:
            return 0
        assets = await give_up(self._storage, self._artifacts, missing)
        await self._observer.recovered(Reason.ARTIFACT_MISSING, artifacts=len(missing), assets=assets)
        return len(missing)
