"""A coordination store under virtual time, spoken to in single questions: what the tests beside this file share."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import timedelta
from itertools import count
from typing import Any

from animastor.coordination import Limits, MemoryCoordination
from animastor.engine.ports import (
    Admission,
    Candidate,
    Circuit,
    Ended,
    Enqueued,
    Held,
    JobStatus,
    Lease,
    LostClaim,
    PairStatus,
    Renewal,
    Selection,
    Settled,
    Verdict,
)
from animastor.engine.reasons import Reason
from animastor.protocol import (
    MERGE,
    Answer,
    AssetId,
    BookKey,
    Claim,
    DispatchId,
    FailureType,
    Job,
    JobId,
    Pair,
    Running,
    Worker,
    job_id,
)
from virtual_clock import VirtualClock, now

AUDIO = Pair("audio", "system")
NO_WAIT = timedelta()

make_store: Callable[..., Any] = MemoryCoordination  # (clock, limits, window=…); the fixture `store_kind` sets another
TRANSIENT, INFRASTRUCTURE = FailureType.TRANSIENT, FailureType.INFRASTRUCTURE


def worker(name: str, slots: int = 4, *, lanes: Sequence[str] = ("system",), **profiles: int) -> Worker:
    """A worker that speaks (and whatever else is named)."""
    return Worker("cred", name, {"speech": slots, **profiles}, tuple(lanes))


def job(
    asset: int,
    dispatch: str,
    part: str = "p1",
    *,
    fence: int = 1,
    book: int = 1,
    kind: str = "speech",
    profile: str = "",
    pair: Pair = AUDIO,
    timeout_s: float = 600.0,
    not_before: float = 0.0,
    retry_of: FailureType | None = None,
) -> Job:
    """The job for a part of an asset."""
    return Job(
        job_id=job_id(kind, asset, part),
        media=pair.media,
        kind=kind,
        asset=AssetId(asset),
        book_key=BookKey(book),
        book=f"book-{book}",
        chapter_id="ch-1",
        scene_id=f"sc-{asset}",
        dispatch_id=DispatchId(dispatch),
        fence=fence,
        input_hash=part,
        params={},
        inputs=(),
        timeout_s=timeout_s,
        profile=profile or ("merge" if kind == MERGE else "speech"),
        lane=pair.lane,
        not_before=not_before,
        retry_of=retry_of,
    )


class World:
    """A store with an era, a server that is there, and questions to it."""

    def __init__(self, limits: Limits | None = None, *, window: bool = False, era: int | None = 1) -> None:
        self.clock = VirtualClock()
        self.numbers = count()
        self.store = make_store(self.clock, limits, window=window)
        if era is not None:
            now(self.store.set_era(era))
        now(self.store.serving())

    def passes(self, seconds: float) -> None:
        """Time goes by, with a server there all the time."""
        while seconds > 0:
            step = min(5.0, seconds)
            self.clock.jump(step)
            now(self.store.serving())
            seconds -= step

    def candidate(
        self, asset: int, dispatch: str, *, book: int = 1, pair: Pair = AUDIO, retrying: Sequence[FailureType] = ()
    ) -> Candidate:
        return Candidate(AssetId(asset), BookKey(book), pair, DispatchId(dispatch), frozenset(retrying))

    def admission(self, asset: int, dispatch: str, **more: object) -> Admission:
        return now(self.store.admit([self.candidate(asset, dispatch, **more)]))[0]  # type: ignore[arg-type]

    def admit(self, asset: int, dispatch: str, **more: object) -> Reason:
        return self.admission(asset, dispatch, **more).reason

    def renew(self, asset: int, dispatch: str, *, book: int = 1, pair: Pair = AUDIO) -> Renewal:
        return now(self.store.renew([Held(AssetId(asset), BookKey(book), pair, DispatchId(dispatch))]))[0]

    def grant(self, asset: int, dispatch: str) -> Renewal:
        return now(self.store.grant([Held(AssetId(asset), BookKey(1), AUDIO, DispatchId(dispatch))]))[0]

    def release(self, asset: int, dispatch: str) -> bool:
        return now(self.store.release([Ended(AssetId(asset), DispatchId(dispatch))]))[0]

    def leases(self, **of: object) -> Sequence[Lease]:
        return now(self.store.leases(Selection(**of)))  # type: ignore[arg-type]

    def lease(self, asset: int) -> Lease | None:
        return next(iter(self.leases(assets=[asset])), None)

    def jobs(self, **of: object) -> Sequence[JobStatus]:
        return now(self.store.jobs(Selection(**of)))  # type: ignore[arg-type]

    def pair(self, pair: Pair = AUDIO) -> PairStatus:
        return now(self.store.pairs([pair]))[0]

    @property
    def circuit(self) -> Circuit:
        return self.pair().circuit

    def enqueue(self, *jobs: Job) -> Enqueued:
        return now(self.store.enqueue(jobs))[-1]

    def entered(self, asset: int, dispatch: str, part: str = "p1", **more: object) -> Job:
        """An asset admitted (unless it is) and a job of it enqueued."""
        order = job(asset, dispatch, part, **more)  # type: ignore[arg-type]
        assert self.admit(asset, dispatch, book=order.book_key, pair=order.pair) is Reason.GRANTED
        assert self.enqueue(order) is Enqueued.STORED
        return order

    def claims(self, by: Worker, most: int = 1, *, profile: str = "speech") -> Sequence[Claim]:
        return now(self.store.claim(by, {profile: most}, NO_WAIT))

    def claim(self, by: Worker, *, profile: str = "speech") -> Claim:
        claims = self.claims(by, profile=profile)
        assert claims, "there was nothing to claim"
        return claims[0]

    def claim_all(self, by: Worker, limit: Mapping[str, int]) -> Sequence[Claim]:
        return now(self.store.claim(by, limit, NO_WAIT))

    def beat(self, by: Worker, claim: Claim, progress: float = 0.0) -> Answer:
        return now(self.store.heartbeat(by, [Running(claim.job.job_id, claim.claim_no, progress)]))[0]

    def settle(
        self,
        claim: Claim,
        by: Worker,
        failure: FailureType | None = None,
        *,
        called_backend: bool = True,
        counted: bool = True,
        requeue_at: float | None = None,
    ) -> Settled:
        verdict = Verdict(claim.job.job_id, claim.claim_no, by.key, failure, called_backend, counted, requeue_at)
        return now(self.store.settle([verdict]))[0]

    def hand_back(self, claim: Claim, by: Worker) -> Settled:
        return self.settle(claim, by, called_backend=False, counted=False, requeue_at=0.0)

    def discard(self, **of: object) -> int:
        return now(self.store.discard(Selection(**of)))  # type: ignore[arg-type]

    def discard_jobs(self, *jobs: JobId) -> int:
        return now(self.store.discard_jobs(jobs))

    def sweep(self) -> Sequence[LostClaim]:
        return now(self.store.sweep())

    def fail(self, by: Worker, asset: int, book: int = 1, failure: FailureType = TRANSIENT) -> Settled:
        """A whole dispatch whose only job fails for good."""
        dispatch = f"fails-{next(self.numbers)}"
        self.entered(asset, dispatch, book=book)
        settled = self.settle(self.claim(by), by, failure)
        self.release(asset, dispatch)
        return settled
