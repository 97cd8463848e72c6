"""Dispatches that have neither a live lease nor a live job: completed where everything is in, else rolled back.

The order matters: the database is read before leases and jobs are. A dispatch that begins holds its lease before the
database knows it, so one that the database knew and that holds neither *afterwards* is lost, or has ended meanwhile,
and then the conditional statement finds nothing to roll back.
"""

from __future__ import annotations

from collections.abc import Sequence

from animastor.engine.completing import Successors
from animastor.engine.entering import Entrance
from animastor.engine.jobs import Jobs, place_of
from animastor.engine.observing import Observer
from animastor.engine.ports import Active, Coordination, Held, JobSource, Renewal, RollBack, Selection, Storage
from animastor.engine.reasons import Reason
from animastor.engine.states import Wait
from animastor.protocol import MERGE, AssetId, DispatchId, Job, Pair

NOTHING = Wait(0)


class Recovery:
    """Puts right what lost its lease and its jobs."""

    def __init__(
        self,
        *,
        storage: Storage,
        coordination: Coordination,
        jobs: Jobs,
        entrance: Entrance,
        successors: Successors,
        observer: Observer,
        batch: int,
    ) -> None:
        self._storage = storage
        self._coordination = coordination
        self._jobs = jobs
        self._entrance = entrance
        self._successors = successors
        self._observer = observer
        self._batch = batch

    async def restart(self) -> int:
        """At the start of an embedded home: every attempt that nothing in this process holds is over (`restart`).

        No attempt is counted. How many dispatches were rolled back.
        """
        after, ended = AssetId(0), 0
        while actives := await self._storage.active(after, self._batch):
            after = actives[-1].asset
            ended += await self._roll_back(await self._lost(actives), Reason.RESTART)
        if ended:
            await self._observer.recovered(Reason.RESTART, dispatches=ended)
        return ended

    async def recover(self, suspects: Sequence[Active]) -> int:
        """Of these current dispatches, read from the database just now, those that lost both; how many.

        They are given their lease again first. A store that was lost itself does not do that while its window is open:
        then nobody knows yet which of them will be heard of (this replica may not even know of the loss).
        """
        lost = await self._granted(await self._lost(suspects))
        merges = [one for one in lost if _merge_of(one) is not None]
        await self._entrance.enter([self._merge_job(one) for one in merges])
        await self._roll_back([one for one in lost if _merge_of(one) is None], Reason.LOST_BOTH)
        if lost:
            await self._observer.recovered(Reason.LOST_BOTH, dispatches=len(lost), merges=len(merges))
        return len(lost)

    async def give_up(self, stuck: Sequence[Active], reason: Reason, wait: Wait) -> int:
        """Roll back dispatches that nobody can serve; they wait for what is missing."""
        return await self._roll_back(stuck, reason, wait)

    async def _lost(self, actives: Sequence[Active]) -> list[Active]:
        """Those that hold neither a live lease nor a live job now."""
        if not actives:
            return []
        of = Selection(assets=[one.asset for one in actives], dispatches=[one.dispatch_id for one in actives])
        held: set[DispatchId] = {lease.dispatch_id for lease in await self._coordination.leases(of)}
        held.update(job.dispatch_id for job in await self._coordination.jobs(of) if job.live)
        return [one for one in actives if one.dispatch_id not in held]

    async def _granted(self, lost: Sequence[Active]) -> list[Active]:
        """Those whose lease is theirs again; and those that can have none, because another dispatch has it."""
        if not lost:
            return []
        renewals = await self._coordination.grant([held_of(one) for one in lost])
        return [one for one, renewal in zip(lost, renewals, strict=True) if renewal is not Renewal.NO_JOB]

    def _merge_job(self, one: Active) -> Job:
        source = _merge_of(one)
        assert source is not None, "only dispatches whose parts are all in get here"
        return self._jobs.make(place_of(one), source, one.dispatch_id, one.fence)

    async def _roll_back(self, lost: Sequence[Active], reason: Reason, wait: Wait = NOTHING) -> int:
        if not lost:
            return 0
        ended = await self._storage.roll_back([RollBack(one.asset, one.dispatch_id, reason, wait=wait) for one in lost])
        await self._successors.release_and_wake(ended)
        return sum(one is not None for one in ended)


def held_of(one: Active) -> Held:
    """A current dispatch, as the coordination store is asked about it."""
    return Held(one.asset, one.book_key, Pair(one.media, one.lane), one.dispatch_id)


def _merge_of(one: Active) -> JobSource | None:
    """The merge, when it is all that is missing."""
    return next((source for source in one.missing if source.kind == MERGE), None)
