"""Coordination in this process's memory: the embedded implementation, and the model of the one in Redis.

No operation awaits anything between its first look and its last write (only a waiting claim waits, before it looks
again), so each is one atomic step, as a script is in Redis. The rules are in the small modules beside this one; here
they are put together. Nothing here is needed for correctness: losing all of it repeats no accepted work (DESIGN).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import timedelta
from itertools import islice

from animastor.coordination.bell import Bell
from animastor.coordination.budgets import Budgets
from animastor.coordination.entries import Entry, Stop
from animastor.coordination.era import Era
from animastor.coordination.fleet import Fleet
from animastor.coordination.leases import LeaseRecord, Leases
from animastor.coordination.limits import Limits
from animastor.coordination.marks import Marks
from animastor.coordination.pairs import PairRecord, Pairs
from animastor.coordination.queue import Queue
from animastor.coordination.ready import Choice, Waiting
from animastor.coordination.turns import Turns
from animastor.engine.ports import (
    Admission,
    Candidate,
    Circuit,
    CircuitChange,
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
from animastor.protocol import MERGE, Answer, Claim, Clock, FailureType, Job, JobId, Pair, Running, Worker

BREAKING = frozenset({FailureType.TRANSIENT, FailureType.INFRASTRUCTURE})  # what counts for a breaker

_GRANTED = Admission(granted=True)
_REFUSED = {reason: Admission(granted=False, reason=reason) for reason in Reason}
_STALE = Settled(present=False)


class MemoryCoordination:
    """`engine.ports.Coordination` in memory.

    A fresh one has no era, and until `set_era` gives it one, nothing is admitted, entered or claimed. `window`: that
    first `set_era` opens the era window of 40 s (CONTRACT 11); embedded, where every earlier worker is known to be
    dead, there is none. One instance belongs to one event loop.
    """

    def __init__(self, clock: Clock, limits: Limits | None = None, *, window: bool = False) -> None:
        self._clock = clock
        self._limits = limits or Limits()
        self._window = window
        self._bell = Bell(clock)
        self._woken: list[Callable[[], None]] = []
        self._forget_all()

    def _forget_all(self) -> None:
        limits = self._limits
        self._era = Era(limits.era_window if self._window else 0.0)
        self._pairs = Pairs(limits)
        self._leases = Leases()
        self._released = Marks(limits.released_for)
        self._budgets = Budgets(limits)
        self._queue = Queue(limits, self._pairs, self._budgets)
        self._fleet = Fleet(limits)
        self._turns = Turns()

    def lose(self) -> None:
        """Forget everything, as a store does that is emptied in the middle of a run: what tests of recovery do."""
        self._forget_all()
        self._bell.ring()

    def _begin_step(self) -> float:
        now = self._clock.now()
        self._leases.expire(now)
        self._released.expire(now)
        return now

    # --- admission and leases ---

    async def admit(self, candidates: Sequence[Candidate]) -> Sequence[Admission]:
        """Breaker, duplicate, quota, budget, lease: one atomic step, in the order of CONTRACT 5."""
        now = self._begin_step()
        if self._era.closed(now):
            return [_REFUSED[Reason.ERA_WINDOW]] * len(candidates)
        quotas: dict[PairRecord, int] = {}
        return [self._admit(candidate, quotas, now) for candidate in candidates]

    def _admit(self, candidate: Candidate, quotas: dict[PairRecord, int], now: float) -> Admission:
        if candidate.dispatch_id in self._released:
            return _REFUSED[Reason.RELEASED]
        lease = self._leases.of(candidate.asset)
        if lease is not None and lease.dispatch_id == candidate.dispatch_id:
            return _GRANTED
        pair = self._pairs.of(candidate.pair)
        reason = self._refusal(candidate, pair, lease, quotas, now)
        if reason is not None:
            return _REFUSED[reason]
        lease = self._leases.grant(candidate.asset, candidate.book_key, candidate.dispatch_id, pair)
        self._leases.pin(lease, self._limits.admission_ttl, now)
        if pair.breaker.state is Circuit.CLOSED:
            return _GRANTED
        self._leases.permit(lease)
        if not pair.breaker.begin_test():
            return _GRANTED
        return Admission(
            granted=True, circuit=CircuitChange(pair.pair, Circuit.OPEN, Circuit.HALF_OPEN, "half_open_test")
        )

    def _refusal(
        self,
        candidate: Candidate,
        pair: PairRecord,
        lease: LeaseRecord | None,
        quotas: dict[PairRecord, int],
        now: float,
    ) -> Reason | None:
        """The first refusal in the contract's order. Only the last check takes something, so nothing is given back."""
        reason = pair.breaker.refusal(now, len(pair.permits))
        if reason is not None:
            return reason
        if lease is not None:
            return Reason.DUPLICATE
        if pair not in quotas:
            quotas[pair] = self._quota(pair, now)
        if len(pair.leases) >= quotas[pair]:
            return Reason.BACKPRESSURE
        if candidate.retrying and not self._budgets.spend(candidate.retrying, candidate.book_key, now):
            return Reason.BACKOFF
        return None

    def _quota(self, pair: PairRecord, now: float) -> int:
        media, lane = pair.pair.media, pair.pair.lane
        return self._limits.quota_of(media, self._fleet.capacity(lane, self._pairs.profiles(media), now))

    async def renew(self, held: Sequence[Held]) -> Sequence[Renewal]:
        """Re-pin the leases of current dispatches with a live job; grant again what was lost (CONTRACT 6)."""
        now = self._begin_step()
        return [self._renew(one, now, alive=self._queue.entries.has_live(one.dispatch_id)) for one in held]

    async def grant(self, held: Sequence[Held]) -> Sequence[Renewal]:
        """As `renew`, for a current dispatch without any job that is about to enter its merge (CONTRACT 6)."""
        now = self._begin_step()
        alive = not self._era.closed(now)
        return [self._renew(one, now, alive=alive) for one in held]

    def _renew(self, held: Held, now: float, *, alive: bool) -> Renewal:
        lease = self._leases.of(held.asset)
        if held.dispatch_id in self._released or (lease is not None and lease.dispatch_id != held.dispatch_id):
            return Renewal.LOST
        if not alive:
            return Renewal.NO_JOB if lease is None else Renewal.UNCHANGED
        answer = Renewal.RENEWED
        if lease is None:
            lease = self._leases.grant(held.asset, held.book_key, held.dispatch_id, self._pairs.of(held.pair))
            answer = Renewal.REATTACHED
        self._leases.pin(lease, self._limits.ttl_of(held.pair.media), now)
        return answer

    async def release(self, ended: Sequence[Ended]) -> Sequence[bool]:
        """Free lease, slot and permit; drop queued and delayed jobs, mark running ones stop. True: found something."""
        now = self._begin_step()
        self._released.add([one.dispatch_id for one in ended], now)
        return [self._release(one) for one in ended]

    def _release(self, ended: Ended) -> bool:
        found = self._queue.discard_dispatch(ended.dispatch_id)
        lease = self._leases.of(ended.asset)
        if lease is None or lease.dispatch_id != ended.dispatch_id:
            return found
        self._leases.end(lease)
        return True

    async def leases(self, of: Selection) -> Sequence[Lease]:
        """The live leases of a selection, from an index."""
        now = self._begin_step()
        return [lease.seen(now) for lease in self._leases.select(of, self._selected_pair(of))]

    async def jobs(self, of: Selection) -> Sequence[JobStatus]:
        """The jobs of a selection, from an index."""
        return [entry.seen(label) for entry, label in self._queue.entries.select(of, self._selected_pair(of))]

    async def pairs(self, pairs: Sequence[Pair]) -> Sequence[PairStatus]:
        """Quota, leases, breaker and served profiles of pairs."""
        now = self._begin_step()
        return [self._status(self._pairs.of(pair), now) for pair in pairs]

    def _status(self, pair: PairRecord, now: float) -> PairStatus:
        return PairStatus(
            pair=pair.pair,
            quota=self._quota(pair, now),
            leases=len(pair.leases),
            circuit=pair.breaker.state,
            profiles=self._fleet.profiles(pair.pair.lane, now),
            circuit_left=max(0.0, pair.breaker.cooled_at - now),
        )

    def _selected_pair(self, of: Selection) -> PairRecord | None:
        return None if of.pair is None else self._pairs.of(of.pair)

    # --- jobs ---

    async def enqueue(self, jobs: Sequence[Job]) -> Sequence[Enqueued]:
        """Store or re-label jobs; pins the dispatch's lease to its full length; refused without a live lease."""
        now = self._begin_step()
        if self._era.closed(now):
            return [Enqueued.NO_ACTIVE_DISPATCH] * len(jobs)
        answers = [self._enqueue(job, now) for job in jobs]
        if any(answer is not Enqueued.NO_ACTIVE_DISPATCH for answer in answers):
            self._bell.ring()
        return answers

    def _enqueue(self, job: Job, now: float) -> Enqueued:
        lease = self._leases.of(job.asset)
        if lease is None and job.dispatch_id not in self._released and self._queue.entries.has_live(job.dispatch_id):
            lease = self._leases.grant(job.asset, job.book_key, job.dispatch_id, self._pairs.at(job.media, job.lane))
        if lease is None or lease.dispatch_id != job.dispatch_id:
            return Enqueued.NO_ACTIVE_DISPATCH
        self._leases.pin(lease, self._limits.ttl_of(job.media), now)
        self._learn(job)
        return self._queue.enqueue(job, now)

    def _learn(self, job: Job) -> None:
        if job.kind != MERGE:
            self._pairs.profiles(job.media).add(job.profile)

    async def discard(self, of: Selection) -> int:
        """Drop queued and delayed jobs of a selection and mark running ones stop; how many were touched."""
        selected = self._queue.entries.select(of, self._selected_pair(of))
        return sum([self._queue.discard(entry, label) for entry, label in selected])

    async def discard_jobs(self, jobs: Sequence[JobId]) -> int:
        """The same for exact jobs."""
        found = [entry for entry in map(self._queue.entries.get, dict.fromkeys(jobs)) if entry is not None]
        return sum([self._queue.discard(entry, label) for entry in found for label in tuple(entry.labels())])

    # --- workers ---

    async def register(self, worker: Worker) -> Sequence[str]:
        """Make a worker known, or known again. Gives the profiles that nobody served before."""
        return self._fleet.register(worker, self._clock.now())

    async def deregister(self, worker: Worker) -> None:
        """The worker is gone. Its claims stay until they are handed back, settled or swept; it gets no new ones."""
        self._fleet.deregister(worker.key, self._clock.now())
        self._bell.ring()

    async def claim(self, worker: Worker, limit: Mapping[str, int], wait: timedelta) -> Sequence[Claim]:
        """Up to `limit[profile]` jobs of each profile, book by book; waits for the first (tickets are empty here)."""
        until = self._clock.now() + wait.total_seconds()
        self._fleet.see(worker, self._clock.now())
        while self._fleet.knows(worker.key):
            now = self._begin_step()
            self._fleet.see(worker, now)
            claims = self._claim(worker, limit, now)
            if claims or now >= until:
                return claims
            await self._bell.wait(min(until - now, self._next_look(worker, now)))
        return []

    def _claim(self, worker: Worker, limit: Mapping[str, int], now: float) -> list[Claim]:
        if self._era.closed(now) or self._fleet.quarantined_until(worker.key, now):
            return []
        self._queue.move_due(now)
        first = self._era.claims % len(worker.lanes) if worker.lanes else 0  # no lane is always asked last
        lanes = (*worker.lanes[first:], *worker.lanes[:first])
        claims: list[Claim] = []
        for profile, most in limit.items():
            left = most
            for lane in lanes:
                choice = self._choice(worker.key, lane, profile, now)
                taken = self._queue.ready.take(lane, profile, left, choice)
                claims.extend(self._begin_claim(entry, worker.key, now) for entry in taken)
                left -= len(taken)
        return claims

    def _begin_claim(self, entry: Entry, worker: str, now: float) -> Claim:
        self._queue.begin_claim(entry, worker, self._era.next_claim(), now)
        return Claim(entry.job, entry.claim_no)

    def _choice(self, worker: str, lane: str, profile: str, now: float) -> Choice:
        """Which of a book's jobs this worker may have: by the pair's breaker, and by whom the job avoids."""

        def choose(pair: PairRecord, waiting: Waiting) -> Entry | None:
            for entry in self._claimable(pair, waiting):
                if entry.avoid != worker or not self._fleet.another_able(lane, profile, worker, now):
                    return entry
            return None

        return choose

    def _claimable(self, pair: PairRecord, waiting: Waiting) -> Iterator[Entry]:
        if pair.breaker.state is Circuit.CLOSED:
            yield from waiting.values()
        elif pair.breaker.state is Circuit.HALF_OPEN:
            for lease in pair.permits.values():
                for entry in self._queue.entries.of_dispatch(lease.dispatch_id):
                    if entry.job.job_id in waiting:  # queued, so this is its only label
                        yield entry

    def _next_look(self, worker: Worker, now: float) -> float:
        """Seconds until a waiting claim looks again by itself: what time alone changes, and often enough to be seen."""
        changes = max(self._era.closed_until(now), self._fleet.quarantined_until(worker.key, now))
        return min(self._limits.silence, (changes or self._queue.delays.next_at()) - now)

    async def heartbeat(self, worker: Worker, running: Sequence[Running]) -> Sequence[Answer]:
        """Keep claims alive; told `stop` by label, whatever the worker holds.

        A claim that is not known is told to stop, unless the store has just lost what it knew: then it goes on, and
        its ticket makes it known again.
        """
        now = self._begin_step()
        self._fleet.see_running(worker, now)
        unknown = Answer.CONTINUE if self._era.closed(now) else Answer.STOP
        return [self._queue.listed(worker.key, one, now) or unknown for one in running]

    async def settle(self, verdicts: Sequence[Verdict]) -> Sequence[Settled]:
        """End claims, feed breaker, budgets and quarantine, queue again where the verdict says so."""
        now = self._begin_step()
        return [self._settle(verdict, now) for verdict in verdicts]

    def _settle(self, verdict: Verdict, now: float) -> Settled:
        entry = self._queue.present(verdict.job_id, verdict.claim_no, verdict.worker)
        if entry is None:
            return _STALE
        job = entry.job
        circuit = None
        if verdict.counted and (verdict.failure is not None or verdict.requeue_at is None):
            self._count(verdict, now)
            if verdict.called_backend and job.kind != MERGE:
                circuit = self._feed(entry, verdict.failure, now)
        if self._queue.settle(entry, verdict, now) or circuit is not None:
            self._bell.ring()
        return Settled(True, job.dispatch_id, job.fence, circuit)

    def _count(self, verdict: Verdict, now: float) -> None:
        if verdict.failure is not None:
            self._fleet.failed(verdict.worker, now)
        else:
            self._fleet.succeeded(verdict.worker)

    def _feed(self, entry: Entry, failure: FailureType | None, now: float) -> CircuitChange | None:
        pair, job = entry.pair, entry.job
        before = pair.breaker.state
        lease = self._leases.of(job.asset)
        permit = lease is not None and lease.permit and lease.dispatch_id == job.dispatch_id
        if failure is None:
            moved = pair.breaker.succeeded(permit=permit)
        elif failure in BREAKING:
            moved = pair.breaker.failed(
                now, job.book_key, lambda: {other.book_key for other in pair.leases.values()}, permit=permit
            )
        else:
            moved = False
        if not moved:
            return None
        self._leases.revoke_permits(pair)
        reason = "failures" if before is Circuit.CLOSED else "test_success" if failure is None else "test_failure"
        return CircuitChange(pair.pair, before, pair.breaker.state, reason)

    async def reregister(self, claims: Sequence[tuple[Claim, str]]) -> None:
        """Make claims (with their worker's key) known again after the store was lost; known ones stay as they are."""
        now = self._begin_step()
        for claim, worker in claims:
            if claim.job.dispatch_id not in self._released:
                self._learn(claim.job)
                self._queue.adopt(claim, worker, now)

    # --- time ---

    async def silent(self, limit: int) -> Sequence[JobStatus]:
        """Up to so many of the claims that the next sweep ends because their workers are silent; nothing changes."""
        now = self._begin_step()
        self._queue.watch.check_presence(now)
        if self._era.closed(now):
            return []
        return [entry.seen(entry.job) for entry in islice(self._queue.watch.falling_silent(now), limit)]

    async def sweep(self) -> Sequence[LostClaim]:
        """End silent and overdue claims; move due delayed jobs; forget what has expired."""
        now = self._begin_step()
        self._fleet.forget(now)
        watch = self._queue.watch
        watch.check_presence(now)
        if self._era.closed(now):
            return []
        lost = [self._lose(entry, Reason.WORKER_SILENT, now) for entry in watch.silent(now)]
        lost += [self._lose(entry, Reason.JOB_TIMEOUT, now) for entry in watch.overdue(now)]
        if self._queue.move_due(now) or lost:
            self._bell.ring()
        return lost

    def _lose(self, entry: Entry, reason: Reason, now: float) -> LostClaim:
        again = entry.stop is Stop.NO and entry.job.dispatch_id not in self._released
        lost = LostClaim(entry.job, entry.claim_no, entry.worker, reason, requeued=again)
        self._queue.lose(entry, now, again=again)
        return lost

    async def era(self) -> int | None:
        """The era that the store holds, or None when it has lost it."""
        return self._era.number

    async def set_era(self, era: int, *, window: bool = True) -> None:
        """Write the era that the database gave; claim numbers start behind it. A lower one than is held is ignored."""
        self._era.set(era, self._clock.now(), window=window)
        self._bell.ring()

    async def serving(self) -> int | None:
        """Say that a server is there; whoever finds the mark too old starts every claim's silence anew."""
        self._queue.watch.present(self._clock.now())
        return self._era.number

    async def take_turns(self, names: Sequence[str], who: str, seconds: float) -> Sequence[float]:
        """Take what one process at a time does: 0, or the seconds until another's turn is over."""
        now = self._clock.now()
        return [self._turns.take(name, who, seconds, now) for name in names]

    async def keep_turns(self, names: Sequence[str], who: str, seconds: float) -> Sequence[bool]:
        """Whether they still are this one's; then for so long from now on."""
        now = self._clock.now()
        return [self._turns.keep(name, who, seconds, now) for name in names]

    async def end_turns(self, names: Sequence[str], who: str) -> Sequence[bool]:
        """Let go; whether somebody asked for it meanwhile."""
        now = self._clock.now()
        return [self._turns.end(name, who, now) for name in names]

    def listen(self, ring: Callable[[], None]) -> None:
        """From now on call `ring` at each `wake`."""
        self._woken.append(ring)

    def wake(self) -> None:
        """Something may be claimed or dispatched now."""
        self._bell.ring()
        for ring in self._woken:
            ring()
