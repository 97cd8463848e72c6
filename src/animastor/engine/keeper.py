"""The keeper: what any replica does every 10 s so that nothing hangs (CONTRACT 6).

It sweeps silent claims and counts them, releases what ended, renews the leases of current dispatches with live jobs,
and looks for what is missing: jobs that nobody has, dispatches with neither lease nor job, or without a worker.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass

from animastor.engine.config import EngineConfig
from animastor.engine.eras import Eras
from animastor.engine.gate import Gate
from animastor.engine.isolating import Isolation
from animastor.engine.pausing import Pauses
from animastor.engine.ports import (
    Active,
    Circuit,
    Coordination,
    JobState,
    JobStatus,
    PairStatus,
    Renewal,
    Selection,
    Storage,
)
from animastor.engine.reasons import Reason
from animastor.engine.recovering import Recovery, held_of
from animastor.engine.releasing import Releaser
from animastor.engine.replanning import Replanner
from animastor.engine.starting import is_served
from animastor.engine.states import Wait
from animastor.engine.sweeping import Sweeper
from animastor.media.registry import Registry
from animastor.protocol import AssetId, Clock, DispatchId, JobId, Pair, job_id


@dataclass(frozen=True, slots=True)
class _Queue:
    """The jobs as they were before the database was read."""

    by_id: Mapping[JobId, JobStatus]
    by_dispatch: Mapping[DispatchId, Sequence[JobStatus]]

    def runs(self, dispatch_id: DispatchId) -> bool:
        """Whether a worker holds a job of this dispatch."""
        return any(job.state is JobState.CLAIMED for job in self.by_dispatch.get(dispatch_id, ()))


class Keeper:
    """Keeps leases, jobs and the database together. Works the same from any replica, or from two at once."""

    def __init__(
        self,
        *,
        storage: Storage,
        coordination: Coordination,
        registry: Registry,
        sweeper: Sweeper,
        releaser: Releaser,
        recovery: Recovery,
        replanner: Replanner,
        pauses: Pauses,
        eras: Eras,
        gate: Gate,
        isolation: Isolation,
        clock: Clock,
        config: EngineConfig,
    ) -> None:
        self._storage = storage
        self._coordination = coordination
        self._sweeper = sweeper
        self._releaser = releaser
        self._recovery = recovery
        self._replanner = replanner
        self._pauses = pauses
        self._eras = eras
        self._gate = gate
        self._isolation = isolation
        self._clock = clock
        self._config = config
        self._pairs = [Pair(media.name, lane) for lane in config.lanes for media in registry]
        self._unserved_since: dict[DispatchId, float] = {}
        self._found: set[tuple[DispatchId, str]] = set()

    async def run(self) -> None:
        """Look for ever. Raises `StorageUnavailableError`."""
        while True:
            await self._clock.sleep(self._config.keeper_s)
            await self.look()

    async def look(self) -> None:
        """One round."""
        if not await self._isolation.step("saying that a server is there", self._eras.present()):
            return
        await self._isolation.step("sweeping", self._sweeper.sweep())
        await self._isolation.step("releasing", self._releaser.release_unreleased(self._config.batch))
        await self._isolation.step("keeping dispatches", self._keep())

    async def _keep(self) -> None:
        queue = await self._queue()
        pairs = {status.pair: status for status in await self._coordination.pairs(self._pairs)}
        found: set[tuple[DispatchId, str]] = set()
        unserved: set[DispatchId] = set()
        current: set[DispatchId] = set()
        after = AssetId(0)
        while actives := await self._storage.active(after, self._config.batch):
            after = actives[-1].asset
            current.update(one.dispatch_id for one in actives)
            await self._renew(actives)
            if not self._gate.in_window:
                await self._pauses.hold_back(actives)
                await self._drop_needless(actives, queue)
                found |= self._without_job(actives, queue)
                unserved |= await self._without_worker(actives, queue, pairs)
                await self._without_permit(actives, queue, pairs)
        if not self._gate.in_window:
            await self._drop_orphans(current, queue)
        self._found = found
        self._unserved_since = {key: since for key, since in self._unserved_since.items() if key in unserved}

    async def _queue(self) -> _Queue:
        """The jobs are read before the database: what it then calls missing, and had no job, is nobody's work."""
        jobs = await self._coordination.jobs(Selection())
        by_dispatch: defaultdict[DispatchId, list[JobStatus]] = defaultdict(list)
        for job in jobs:
            by_dispatch[job.dispatch_id].append(job)
        return _Queue({job.job_id: job for job in jobs}, by_dispatch)

    async def _renew(self, actives: Sequence[Active]) -> None:
        renewals = await self._coordination.renew([held_of(one) for one in actives])
        suspects = [
            one
            for one, renewal in zip(actives, renewals, strict=True)
            if renewal not in (Renewal.RENEWED, Renewal.REATTACHED)
        ]
        if suspects and not self._gate.in_window and self._gate.stores_bytes:
            await self._recovery.recover(suspects)

    async def _drop_needless(self, actives: Sequence[Active], queue: _Queue) -> None:
        """Jobs of current dispatches that the database does not call missing: made, or given up, by another replica."""
        needless = [
            job.job_id
            for one in actives
            for job in queue.by_dispatch.get(one.dispatch_id, ())
            if not job.stopping and not any(job.input_hash == source.hash for source in one.missing)
        ]
        if needless:
            await self._coordination.discard_jobs(needless)

    async def _drop_orphans(self, current: Set[DispatchId], queue: _Queue) -> None:
        """Jobs of dispatches that are over: a job is entered after its dispatch began, so it was current once."""
        over = [dispatch for dispatch in queue.by_dispatch if dispatch not in current]
        if over:
            await self._coordination.discard(Selection(dispatches=over))

    def _without_job(self, actives: Sequence[Active], queue: _Queue) -> set[tuple[DispatchId, str]]:
        """Wanted parts and merges without a live job; those found in two rounds running are replanned.

        Once is not enough: a dispatch may just have begun, or a result just have been accepted.
        """
        found: set[tuple[DispatchId, str]] = set()
        for one in actives:
            for source in () if one.held else one.missing:
                job = queue.by_id.get(job_id(source.kind, one.asset, source.hash))
                if job is None or not job.live:
                    found.add((one.dispatch_id, source.hash))
        again = {dispatch for dispatch, hash_ in found & self._found}
        self._replanner.ask(one.asset for one in actives if one.dispatch_id in again)
        return found

    async def _without_worker(
        self, actives: Sequence[Active], queue: _Queue, pairs: Mapping[Pair, PairStatus]
    ) -> set[DispatchId]:
        """Dispatches whose jobs are all unclaimed and that no able worker serves; after 5 min they are rolled back."""
        now = self._clock.now()
        unserved = [one for one in actives if _is_unserved(one, queue, pairs)]
        for one in unserved:
            self._unserved_since.setdefault(one.dispatch_id, now)
        stuck = [one for one in unserved if now - self._unserved_since[one.dispatch_id] >= self._config.no_worker_s]
        await self._recovery.give_up(stuck, Reason.NO_WORKER, Wait.NO_WORKER)
        return {one.dispatch_id for one in unserved}

    async def _without_permit(self, actives: Sequence[Active], queue: _Queue, pairs: Mapping[Pair, PairStatus]) -> None:
        """Dispatches that an open breaker holds give their slots back: they would keep out the test that closes it.

        While a breaker is not closed, only jobs of permit holders are claimed, and permits come from admissions. So
        those that run nothing and hold no permit are rolled back, and are admitted again, two at a time, as tests.
        """
        closed = {pair for pair, status in pairs.items() if status.circuit is Circuit.CLOSED}
        held = [one for one in actives if _pair(one) not in closed and not queue.runs(one.dispatch_id)]
        if not held:
            return
        of = Selection(assets=[one.asset for one in held], dispatches=[one.dispatch_id for one in held])
        permits = {lease.dispatch_id for lease in await self._coordination.leases(of) if lease.permit}
        stuck = [one for one in held if one.dispatch_id not in permits]
        await self._recovery.give_up(stuck, Reason.CIRCUIT_OPEN, Wait(0))


def _pair(one: Active) -> Pair:
    return Pair(one.media, one.lane)


def _is_unserved(one: Active, queue: _Queue, pairs: Mapping[Pair, PairStatus]) -> bool:
    status = pairs.get(_pair(one))
    served = status.profiles if status is not None else frozenset()
    return (
        bool(queue.by_dispatch.get(one.dispatch_id))
        and not queue.runs(one.dispatch_id)
        and not is_served((source.profile for source in one.missing), served)
    )
