"""The one asset of a batch that the engine itself cannot handle: FAILED (`orchestration`), with an alarm."""

from __future__ import annotations

from collections.abc import Iterable

from animastor.engine.alarms import Alarm, Report
from animastor.engine.ports import Storage
from animastor.engine.reasons import Reason
from animastor.engine.releasing import Releaser
from animastor.protocol import AssetId


class Failing:
    """Fails assets that no retry would help; never the batch that they were in."""

    def __init__(self, storage: Storage, releaser: Releaser, report: Report) -> None:
        self._storage = storage
        self._releaser = releaser
        self._report = report

    async def fail(self, faults: Iterable[tuple[AssetId, str]]) -> None:
        """Each asset with its own sentence."""
        for asset, message in faults:
            self.report([(asset, message)])
            await self._releaser.release(await self._storage.fail_assets([asset], Reason.ORCHESTRATION, message))

    def report(self, faults: Iterable[tuple[AssetId, str]]) -> None:
        """Only the alarm, for an asset that rests."""
        for asset, message in faults:
            self._report(Alarm(Reason.ORCHESTRATION, f"asset {asset}: {message}"))
