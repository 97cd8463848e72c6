"""The hub in process: the worker's calls go straight to engine and coordination, with real claims and signed tickets.

What it does is what a hub over HTTP does, without the transport: it proves who claimed what, makes claims known again
that a lost store has forgotten, and carries bytes. What a result means is decided by `engine.results` alone.
"""

from __future__ import annotations

from collections.abc import Awaitable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Protocol

from animastor.engine.ports import (
    Active,
    ArtifactStore,
    ArtifactStoreUnavailableError,
    Coordination,
    CoordinationUnavailableError,
    Verdict,
)
from animastor.engine.reasons import Reason
from animastor.hub.tickets import KeyStore, Tickets
from animastor.media.registry import Registry
from animastor.protocol import (
    ERA_BITS,
    Answer,
    AssetId,
    Claim,
    Clock,
    FailureType,
    HubRefusedError,
    Running,
    Ticket,
    Uploaded,
    Worker,
)

MOST_GIVEN = 10_000  # claims that are remembered, for the case that the store forgets them
LONGEST_MESSAGE = 2000  # characters of a failure's message
STORE_S = 5.0  # so long the artifact store's answer holds


class Results(Protocol):
    """What becomes of results and failures (`engine.results`)."""

    async def finish(self, ticket: Ticket, uploaded: Uploaded, first: Awaitable[None]) -> Reason:
        """Take a result, once `first` has been done."""
        ...

    async def fail(self, ticket: Ticket, failure: FailureType, code: str, message: str) -> Reason:
        """Take a failure."""
        ...


class Truth(KeyStore, Protocol):
    """What of the database (`engine.ports.Storage`) the hub needs."""

    async def artifact_suffix(self, checksums: Sequence[str]) -> Mapping[str, str]:
        """Checksum → file suffix, of those that are known."""
        ...

    async def clear_no_worker(self, profiles: Sequence[str]) -> int:
        """Wake the assets that waited for a worker of these profiles."""
        ...

    async def wanted_of(self, keys: Sequence[tuple[AssetId, str]]) -> frozenset[tuple[AssetId, str]]:
        """Those of these (asset, hash) that are missing, wanted, and of an asset that is being made."""
        ...

    async def active_of(self, assets: Sequence[AssetId]) -> Sequence[Active]:
        """Those of some assets that are being made, with what is missing of them."""
        ...


class LocalHub:
    """`protocol.Hub` for a worker in the same process."""

    def __init__(
        self,
        coordination: Coordination,
        results: Results,
        artifacts: ArtifactStore,
        storage: Truth,
        *,
        media: Registry,
        clock: Clock,
    ) -> None:
        self._coordination, self._results, self._artifacts, self._storage = coordination, results, artifacts, storage
        self._media, self._clock = media, clock
        self._tickets = Tickets(storage, clock)
        self._given: dict[tuple[str, int], tuple[Claim, Ticket]] = {}  # (job, claim number) → as it was signed here
        self._known_in: dict[tuple[str, int], int] = {}  # … → the era in which it was made known again
        self._store_there_at = float("-inf")
        self._suffixes: dict[str, str] = {}  # of artifacts that were seen; an artifact never changes

    async def register(self, worker: Worker) -> None:
        """Make the worker known; what waited for one like it is woken.

        Raises `ArtifactStoreUnavailableError` as `claim` does: it is no able worker then.
        """
        if worker.profiles:
            await self._require_store()
        served = await self._coordination.register(worker)
        if served:
            await self._storage.clear_no_worker(served)
            self._coordination.wake()

    async def claim(self, worker: Worker, limit: Mapping[str, int], wait: timedelta) -> Sequence[Claim]:
        """Claims with their tickets, of what is still to be made.

        The queue may hold what was made or cancelled since it was entered, or was entered again by a replica that
        stood still meanwhile. So the database is asked about each job before it is given out. Raises
        `ClockSkewError` when no ticket can be signed; `ArtifactStoreUnavailableError` while this machine does not
        reach the store, as no result could be delivered; `StorageUnavailableError`: the jobs are for those that can.
        """
        await self._tickets.ready()
        await self._require_store()
        claims = await self._coordination.claim(worker, limit, wait)
        if not claims:
            return []
        try:
            wanted = await self._storage.wanted_of([(claim.job.asset, claim.job.input_hash) for claim in claims])
        except BaseException:
            with suppress(CoordinationUnavailableError):  # then their silence tells
                await self.hand_back(worker, claims)
            raise
        if over := [claim for claim in claims if (claim.job.asset, claim.job.input_hash) not in wanted]:
            await self._coordination.settle([_uncounted(claim, worker) for claim in over])
        return [self._signed(claim, worker.key) for claim in claims if claim not in over]

    async def heartbeat(self, worker: Worker, running: Sequence[Running]) -> Sequence[Answer]:
        """Keep claims alive; those that a lost store has forgotten are made known first."""
        given = [self._given.get((line.job_id, line.claim_no)) for line in running]
        await self._make_known([(claim, ticket.worker) for claim, ticket in filter(None, given)])
        return await self._coordination.heartbeat(worker, running)

    async def fetch(self, claim: Claim, checksum: str) -> Path:
        """The file of an input in the artifact store itself. Raises `HubRefusedError` (`artifact_missing`)."""
        suffix = await self._suffix(checksum) if checksum in claim.job.inputs else None
        path = None if suffix is None else await self._artifacts.path(checksum, suffix)
        if path is None:
            raise HubRefusedError(Reason.ARTIFACT_MISSING, f"the artifact {checksum} is not there")
        return path

    async def upload(self, claim: Claim, path: Path) -> Uploaded:
        """Put a file into the store. Whether it is what was ordered is looked at when the job is finished.

        Raises `HubRefusedError` (`not_claimer`).
        """
        await self._proven(claim)
        suffix = self._media[claim.job.media].suffixes[claim.job.kind]
        checksum, size = await self._artifacts.put(path, suffix)
        self._suffixes[checksum] = suffix
        return Uploaded(checksum, size, suffix)

    async def finish(self, claim: Claim, uploaded: Uploaded) -> str:
        """Deliver a result. Raises `HubRefusedError` (`not_claimer`)."""
        ticket = await self._proven(claim)
        answer = await self._results.finish(ticket, uploaded, self._make_known_if_heard(claim, ticket.worker))
        self._forget(claim)
        return answer

    async def fail(self, claim: Claim, failure: FailureType, code: str, message: str) -> str:
        """Report a failure. Raises `HubRefusedError` (`not_claimer`)."""
        ticket = await self._proven(claim)
        await self._make_known_if_heard(claim, ticket.worker)
        answer = await self._results.fail(ticket, failure, code, message[:LONGEST_MESSAGE])
        self._forget(claim)
        return answer

    async def hand_back(self, worker: Worker, claims: Sequence[Claim]) -> None:
        """Queue claims again, at once and uncounted; those that were told to stop are dropped by their label."""
        await self._coordination.settle([_uncounted(claim, worker, requeue_at=0.0) for claim in claims])
        for claim in claims:
            self._forget(claim)

    async def goodbye(self, worker: Worker) -> None:
        """The worker is no able one any more."""
        await self._coordination.deregister(worker)

    async def _require_store(self) -> None:
        if self._clock.now() - self._store_there_at < STORE_S:
            return
        if await self._artifacts.check() is Reason.ARTIFACT_STORE_UNAVAILABLE:
            raise ArtifactStoreUnavailableError(f"the artifact store {self._artifacts.where} cannot be read")
        self._store_there_at = self._clock.now()

    def _signed(self, claim: Claim, worker: str) -> Claim:
        job = claim.job
        ticket = Ticket(
            job_id=job.job_id,
            asset=job.asset,
            claim_no=claim.claim_no,
            dispatch_id=job.dispatch_id,
            fence=job.fence,
            input_hash=job.input_hash,
            kind=job.kind,
            media=job.media,
            worker=worker,
            issued_at=self._clock.now(),
        )
        signed = Claim(job, claim.claim_no, self._tickets.sign(ticket))
        self._given[job.job_id, claim.claim_no] = (signed, ticket)
        if len(self._given) > MOST_GIVEN:
            del self._given[next(iter(self._given))]
        return signed

    async def _proven(self, claim: Claim) -> Ticket:
        """The verified ticket of a claim, which must be for this very job. A claim as it was given proves itself."""
        given, ticket = self._given.get((claim.job.job_id, claim.claim_no), (None, None))
        if ticket is not None and given is claim:
            return ticket
        ticket, job = await self._tickets.verify(claim.ticket), claim.job
        told = (ticket.job_id, ticket.claim_no, ticket.dispatch_id, ticket.fence, ticket.input_hash)
        if told != (job.job_id, claim.claim_no, job.dispatch_id, job.fence, job.input_hash):
            raise HubRefusedError(Reason.NOT_CLAIMER, "the ticket is for another job")
        return ticket

    async def _make_known(self, claims: Sequence[tuple[Claim, str]]) -> None:
        """Register claims again of which the store cannot know: it was lost since they were given (CONTRACT 7, 11).

        They are labelled with the dispatch that wants them now; those that none wants are told to stop.
        """
        era = await self._coordination.era()
        lost = [(claim, worker) for claim, worker in claims if self._era_of(claim) != era]
        if not lost:
            return
        actives = await self._storage.active_of(sorted({claim.job.asset for claim, _ in lost}))
        wanting = {(one.asset, source.hash): one for one in actives for source in one.missing}
        labels = [(wanting.get((claim.job.asset, claim.job.input_hash)), claim, worker) for claim, worker in lost]
        await self._coordination.reregister([(_labelled(claim, active), worker) for active, claim, worker in labels])
        if unwanted := [claim.job.job_id for active, claim, _ in labels if active is None]:
            await self._coordination.discard_jobs(unwanted)
        if era is not None:
            self._known_in.update(((claim.job.job_id, claim.claim_no), era) for claim, _ in lost)

    async def _make_known_if_heard(self, claim: Claim, worker: str) -> None:
        """A result is taken in without the coordination store, too: the database alone decides about it."""
        with suppress(CoordinationUnavailableError):
            await self._make_known([(claim, worker)])

    def _era_of(self, claim: Claim) -> int:
        return self._known_in.get((claim.job.job_id, claim.claim_no), claim.claim_no >> ERA_BITS)

    def _forget(self, claim: Claim) -> None:
        """The claim is over."""
        self._given.pop((claim.job.job_id, claim.claim_no), None)
        self._known_in.pop((claim.job.job_id, claim.claim_no), None)

    async def _suffix(self, checksum: str) -> str | None:
        if checksum not in self._suffixes:
            self._suffixes.update(await self._storage.artifact_suffix([checksum]))
        return self._suffixes.get(checksum)


def _uncounted(claim: Claim, worker: Worker, requeue_at: float | None = None) -> Verdict:
    """The end of a claim that counts for nothing; its job goes back to the queue when that is said."""
    return Verdict(
        job_id=claim.job.job_id,
        claim_no=claim.claim_no,
        worker=worker.key,
        called_backend=False,
        counted=False,
        requeue_at=requeue_at,
    )


def _labelled(claim: Claim, active: Active | None) -> Claim:
    """A claim under the dispatch that wants it; as it was given, when none does."""
    if active is None:
        return claim
    return replace(claim, job=replace(claim.job, dispatch_id=active.dispatch_id, fence=active.fence))
