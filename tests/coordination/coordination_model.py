"""An independent model of the coordination: plain records, everything found by scanning all of them.

It knows the contract and nothing of the implementation's indexes, lines, heaps or caches. Where the contract leaves a
choice (which of the claimable jobs, which of the retries that wait for a budget), the model checks that the choice
is an allowed one, and follows it.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from animastor.coordination import Limits
from animastor.engine.ports import Candidate, Circuit, Enqueued, Held, JobState, Renewal, Verdict
from animastor.engine.reasons import Reason
from animastor.protocol import MERGE, Answer, Claim, FailureType, Job, Pair, Running, Worker

BREAKING = (FailureType.TRANSIENT, FailureType.INFRASTRUCTURE)


@dataclass
class ModelLease:
    dispatch: str
    book: int
    pair: Pair
    until: float
    permit: bool = False


@dataclass
class ModelJob:
    job: Job
    state: JobState
    due: float = 0.0
    retry: FailureType | None = None
    avoid: str = ""
    claim_no: int = 0
    worker: str = ""
    claimed_at: float = 0.0
    seen_at: float = 0.0
    progress: float = 0.0
    progress_at: float = 0.0
    timeout_s: float = 0.0
    stop: bool = False
    carried: bool = False
    held: Job | None = None
    losses: int = 0

    @property
    def live(self) -> bool:
        return self.state is not JobState.CLAIMED or not self.stop


@dataclass
class ModelBreaker:
    state: Circuit = Circuit.CLOSED
    opened_at: float = 0.0
    failures: list[tuple[float, int]] = field(default_factory=list)


@dataclass
class ModelWorker:
    worker: Worker
    seen: float
    failures: list[float] = field(default_factory=list)
    level: int = 0
    held_until: float = 0.0


class Model:
    """The state, and what each operation must answer. `now` is set before each operation."""

    def __init__(self, limits: Limits, window: float) -> None:
        self.limits = limits
        self.window = window
        self.now = 0.0
        self.present_at = float("-inf")
        self.lose()

    def lose(self) -> None:
        self.era: int | None = None
        self.open_at = float("inf")
        self.counter = 0
        self.leases: dict[int, ModelLease] = {}
        self.released: dict[str, float] = {}
        self.jobs: dict[str, ModelJob] = {}
        self.breakers: dict[Pair, ModelBreaker] = {}
        self.workers: dict[str, ModelWorker] = {}
        self.left: dict[str, float] = {}
        self.profiles: dict[str, set[str]] = {}
        self.spent: list[tuple[float, FailureType, int]] = []
        self.charged: list[tuple[float, int]] = []  # the budget of all types together
        self.asked: list[tuple[float, FailureType, int]] = []
        self.present_at = self.silence_from = float("-inf")

    def step(self, now: float) -> None:
        """Time has come to `now`: what has run out is gone."""
        self.now = now
        self.leases = {asset: lease for asset, lease in self.leases.items() if lease.until > now}
        self.released = {dispatch: until for dispatch, until in self.released.items() if until > now}

    @property
    def closed(self) -> bool:
        return self.era is None or self.now < self.open_at

    def set_era(self, era: int) -> None:
        if self.era is None:
            self.open_at = self.now + self.window
        if self.era is None or era > self.era:
            self.era, self.counter = era, 0

    # --- workers ---

    def able(self, worker: ModelWorker) -> bool:
        return self.now - worker.seen < self.limits.able_for and self.now >= worker.held_until

    def able_workers(self, lane: str, profile: str) -> list[ModelWorker]:
        return [
            worker
            for worker in self.workers.values()
            if self.able(worker) and lane in worker.worker.lanes and worker.worker.profiles.get(profile, 0) > 0
        ]

    def served(self, lane: str) -> set[str]:
        names = {name for worker in self.workers.values() for name in worker.worker.profiles}
        return {name for name in names if self.able_workers(lane, name)}

    def quota(self, pair: Pair) -> int:
        capacity = sum(
            worker.worker.profiles[profile]
            for profile in self.profiles.get(pair.media, set())
            for worker in self.able_workers(pair.lane, profile)
        )
        return max(2 * capacity, self.limits.min_quota.get(pair.media, self.limits.least_quota))

    def see(self, worker: Worker) -> None:
        self.left.pop(worker.key, None)
        self.workers.setdefault(worker.key, ModelWorker(worker, self.now)).seen = self.now

    def register(self, worker: Worker) -> tuple[str, ...]:
        new = tuple(name for name in worker.profiles if any(not self.able_workers(lane, name) for lane in worker.lanes))
        self.see(worker)
        return new

    def deregister(self, worker: Worker) -> None:
        self.workers.pop(worker.key, None)
        self.left[worker.key] = self.now + self.limits.released_for

    # --- leases ---

    def in_pair(self, pair: Pair) -> list[ModelLease]:
        return [lease for lease in self.leases.values() if lease.pair == pair]

    def permits(self, pair: Pair) -> list[ModelLease]:
        return [lease for lease in self.in_pair(pair) if lease.permit]

    def breaker(self, pair: Pair) -> ModelBreaker:
        return self.breakers.setdefault(pair, ModelBreaker())

    def admit(self, candidate: Candidate, answer: Reason) -> Reason:
        """What the answer must be. Where a budget decides, the given answer is judged."""
        lease = self.leases.get(candidate.asset)
        breaker = self.breaker(candidate.pair)
        if self.closed:
            return Reason.ERA_WINDOW
        if candidate.dispatch_id in self.released:
            return Reason.RELEASED
        if lease is not None and lease.dispatch == candidate.dispatch_id:
            return Reason.GRANTED
        cooled = self.now >= breaker.opened_at + self.limits.breaker_cool
        if breaker.state is Circuit.OPEN and not cooled:
            return Reason.CIRCUIT_OPEN
        if breaker.state is Circuit.HALF_OPEN and len(self.permits(candidate.pair)) >= self.limits.permits:
            return Reason.HALF_OPEN_LIMIT
        if lease is not None:
            return Reason.DUPLICATE
        if len(self.in_pair(candidate.pair)) >= self.quota(candidate.pair):
            return Reason.BACKPRESSURE
        if candidate.retrying:
            self.ask(candidate.retrying, candidate.book_key)
            if answer is Reason.BACKOFF:
                assert any(self.may_refuse(kind, candidate.book_key) for kind in candidate.retrying)
                return Reason.BACKOFF
            self.spend(candidate.retrying, candidate.book_key)
        until = self.now + self.limits.admission_ttl
        test = breaker.state is not Circuit.CLOSED
        self.leases[candidate.asset] = ModelLease(
            candidate.dispatch_id, candidate.book_key, candidate.pair, until, permit=test
        )
        if test:
            breaker.state = Circuit.HALF_OPEN
        return Reason.GRANTED

    def has_live(self, dispatch: str) -> bool:
        return any(
            (job.live and job.job.dispatch_id == dispatch)
            or (job.held is not None and job.held.dispatch_id == dispatch)
            for job in self.jobs.values()
        )

    def renew(self, held: Held, *, merge: bool) -> Renewal:
        lease = self.leases.get(held.asset)
        if held.dispatch_id in self.released or (lease is not None and lease.dispatch != held.dispatch_id):
            return Renewal.LOST
        alive = not self.closed if merge else self.has_live(held.dispatch_id)
        if not alive:
            return Renewal.NO_JOB if lease is None else Renewal.UNCHANGED
        until = self.now + self.limits.lease_ttl
        if lease is None:
            self.leases[held.asset] = ModelLease(held.dispatch_id, held.book_key, held.pair, until)
            return Renewal.REATTACHED
        lease.until = until
        return Renewal.RENEWED

    def release(self, asset: int, dispatch: str) -> bool:
        self.released[dispatch] = self.now + self.limits.released_for
        found = self.discard(lambda job: job.dispatch_id == dispatch) > 0
        lease = self.leases.get(asset)
        if lease is not None and lease.dispatch == dispatch:
            del self.leases[asset]
            return True
        return found

    # --- jobs ---

    def enqueue(self, job: Job) -> Enqueued:
        lease = self.leases.get(job.asset)
        if self.closed or job.dispatch_id in self.released:
            return Enqueued.NO_ACTIVE_DISPATCH
        until = self.now + self.limits.lease_ttl
        if lease is None and self.has_live(job.dispatch_id):
            lease = self.leases[job.asset] = ModelLease(job.dispatch_id, job.book_key, job.pair, until)
        if lease is None or lease.dispatch != job.dispatch_id:
            return Enqueued.NO_ACTIVE_DISPATCH
        lease.until = until
        if job.kind != MERGE:
            self.profiles.setdefault(job.media, set()).add(job.profile)
        known = self.jobs.get(job.job_id)
        if known is None:
            state = JobState.DELAYED if job.not_before > self.now else JobState.QUEUED
            self.jobs[job.job_id] = ModelJob(job, state, due=job.not_before, retry=job.retry_of)
            return Enqueued.STORED
        if known.carried:
            known.held = job
            return Enqueued.HELD
        known.job, known.stop = job, False
        return Enqueued.RELABELLED

    def discard(self, chosen) -> int:  # type: ignore[no-untyped-def]
        touched = 0
        for name, known in list(self.jobs.items()):
            if known.held is not None and chosen(known.held):
                known.held = None
                touched += 1
            if not chosen(known.job):
                continue
            if known.state is not JobState.CLAIMED:
                del self.jobs[name]
                touched += 1
            elif not known.stop:
                known.stop = True
                touched += 1
        return touched

    def claimable(self, known: ModelJob, worker: Worker) -> bool:
        job = known.job
        if known.state is not JobState.QUEUED or job.lane not in worker.lanes:
            return False
        others = [other for other in self.able_workers(job.lane, job.profile) if other.worker.key != worker.key]
        if known.avoid == worker.key and others:
            return False
        circuit = self.breaker(job.pair).state
        if circuit is Circuit.HALF_OPEN:
            return any(lease.dispatch == job.dispatch_id for lease in self.permits(job.pair))
        return circuit is Circuit.CLOSED

    def claim(self, worker: Worker, profile: str, limit: int, claims: list[Claim]) -> None:
        """Judge the claims, and follow them."""
        open_to = [
            known for known in self.jobs.values() if known.job.profile == profile and self.claimable(known, worker)
        ]
        quarantined = self.now < self.workers[worker.key].held_until
        expected = 0 if self.closed or quarantined else min(limit, len(open_to))
        assert len(claims) == expected, f"{len(claims)} claims, not {expected}"
        given = [self.jobs[claim.job.job_id] for claim in claims]
        assert all(any(known is one for one in open_to) for known in given)
        self._fair(open_to, given, lanes=len(worker.lanes))
        for claim, known in zip(claims, given, strict=True):
            self.counter += 1
            assert claim.claim_no == ((self.era or 0) << 40) + self.counter
            assert claim.job == known.job
            self.begin_claim(known, claim.claim_no, worker.key)

    def _fair(self, open_to: list[ModelJob], given: list[ModelJob], *, lanes: int) -> None:
        """Of one lane, no book is a whole turn ahead of one that still has something to claim."""
        if lanes > 1:
            return
        for book in {known.job.book_key for known in open_to}:
            mine = sum(known.job.book_key == book for known in given)
            left = sum(known.job.book_key == book for known in open_to) - mine
            for other in {known.job.book_key for known in given}:
                theirs = sum(known.job.book_key == other for known in given)
                assert left == 0 or theirs <= mine + 1

    def begin_claim(self, known: ModelJob, claim_no: int, worker: str) -> None:
        known.state = JobState.CLAIMED
        known.claim_no, known.worker, known.avoid = claim_no, worker, ""
        known.claimed_at = known.seen_at = known.progress_at = self.now
        known.progress, known.timeout_s = 0.0, known.job.timeout_s
        known.stop = known.carried = False

    def heartbeat(self, worker: Worker, running: Running) -> Answer:
        known = self.present(running.job_id, running.claim_no, worker.key)
        if known is None:
            return Answer.CONTINUE if self.closed else Answer.STOP
        known.seen_at = self.now
        if running.progress > known.progress:
            known.progress, known.progress_at = running.progress, self.now
        known.carried = known.carried or known.stop
        return Answer.STOP if known.stop else Answer.CONTINUE

    def beat(self, worker: Worker) -> None:
        if self.left.get(worker.key, float("-inf")) <= self.now:
            self.see(worker)

    def present(self, job_id: str, claim_no: int, worker: str) -> ModelJob | None:
        known = self.jobs.get(job_id)
        if known is None or known.state is not JobState.CLAIMED:
            return None
        return known if (known.claim_no, known.worker) == (claim_no, worker) else None

    # --- verdicts ---

    def settle(self, verdict: Verdict) -> tuple[bool, str | None]:
        """(present, the dispatch of the label)."""
        known = self.present(verdict.job_id, verdict.claim_no, verdict.worker)
        if known is None:
            return False, None
        label = known.job
        counted = verdict.counted and not (verdict.failure is None and verdict.requeue_at is not None)
        if counted:
            self._count(verdict)
            if verdict.called_backend and label.kind != MERGE:
                self._feed(label, verdict.failure)
        failure = verdict.failure if verdict.counted else None
        again = verdict.requeue_at if not known.stop else None
        self._end(known, again, failure, held_from=verdict.requeue_at or 0.0)
        if again is not None and failure is not FailureType.TRANSIENT:
            known.avoid = verdict.worker if failure is not None or not verdict.counted else ""
        return True, label.dispatch_id

    def _end(self, known: ModelJob, again: float | None, failure: FailureType | None, *, held_from: float) -> None:
        held, known.held = known.held, None
        if held is not None:
            known.job = held
            again = max(held.not_before, held_from)
        known.stop = known.carried = False
        known.claim_no, known.worker, known.avoid = 0, "", ""
        if again is None:
            del self.jobs[known.job.job_id]
            return
        known.due, known.retry = again, failure
        known.state = JobState.DELAYED if failure is not None or again > self.now else JobState.QUEUED

    def _count(self, verdict: Verdict) -> None:
        worker = self.workers.get(verdict.worker)
        if worker is None:
            return
        if verdict.failure is None:
            worker.level = 0
            return
        worker.failures = [at for at in worker.failures if self.now - at <= self.limits.quarantine_period]
        worker.failures.append(self.now)
        if len(worker.failures) > self.limits.quarantine_failures and self.now >= worker.held_until:
            length = min(self.limits.quarantine_first * 2**worker.level, self.limits.quarantine_longest)
            worker.held_until, worker.failures, worker.level = self.now + length, [], worker.level + 1

    def _feed(self, label: Job, failure: FailureType | None) -> None:
        breaker = self.breaker(label.pair)
        lease = self.leases.get(label.asset)
        permit = lease is not None and lease.permit and lease.dispatch == label.dispatch_id
        failed = failure in BREAKING
        if breaker.state is Circuit.HALF_OPEN and permit and (failed or failure is None):
            self._move(label.pair, Circuit.OPEN if failed else Circuit.CLOSED)
        elif breaker.state is Circuit.CLOSED and failure is None:
            breaker.failures = []
        elif breaker.state is Circuit.CLOSED and failed:
            breaker.failures.append((self.now, label.book_key))
            recent = [one for one in breaker.failures if self.now - one[0] <= self.limits.breaker_period]
            books = {book for _, book in recent}
            at_work = {other.book for other in self.in_pair(label.pair)} | {label.book_key}
            if len(recent) >= self.limits.breaker_failures and (len(books) > 1 or len(at_work) == 1):
                self._move(label.pair, Circuit.OPEN)

    def _move(self, pair: Pair, to: Circuit) -> None:
        breaker = self.breaker(pair)
        breaker.state, breaker.failures, breaker.opened_at = to, [], self.now
        for lease in self.in_pair(pair):
            lease.permit = False

    def reregister(self, claim: Claim, worker: str) -> None:
        if claim.job.dispatch_id in self.released:
            return
        if claim.job.kind != MERGE:
            self.profiles.setdefault(claim.job.media, set()).add(claim.job.profile)
        known = self.jobs.setdefault(claim.job.job_id, ModelJob(claim.job, JobState.QUEUED))
        if known.state is not JobState.CLAIMED:
            self.begin_claim(known, claim.claim_no, worker)

    # --- time ---

    def serving(self) -> None:
        self.look_for_server()
        self.present_at = self.now

    def look_for_server(self) -> None:
        if self.now - self.present_at > self.limits.serving_for:
            self.silence_from = self.now

    def sweep(self) -> set[tuple[int, str, bool]]:
        """(claim number, reason, requeued) of what has to end."""
        self.look_for_server()
        if self.closed:
            return set()
        lost = set()
        for known in list(self.jobs.values()):
            reason = self._over(known)
            if reason:
                again = not known.stop and known.job.dispatch_id not in self.released
                lost.add((known.claim_no, reason, again))
                worker, held = known.worker, known.held is not None
                known.losses += 1
                suspect = known.losses >= self.limits.vanished_limit
                due = self.now + self.limits.vanished_pause if suspect else 0.0
                self._end(known, due if again else None, None, held_from=0.0)
                known.avoid = worker if again or held else ""
        return lost

    def _over(self, known: ModelJob) -> str:
        if known.state is not JobState.CLAIMED:
            return ""
        if self.now - max(known.seen_at, self.silence_from) >= self.limits.silence:
            return "worker_silent"
        grace = self.limits.timeout_grace
        stuck = self.now - known.progress_at >= known.timeout_s + grace
        long = self.now - known.claimed_at >= self.limits.hard_factor * known.timeout_s + grace
        return "job_timeout" if stuck or long else ""

    # --- budgets: bounds instead of an order ---

    def move_due(self, moved: set[str]) -> None:
        """Delayed jobs whose time has come: first attempts have moved; of retries, those in `moved`."""
        due = [known for known in self.jobs.values() if known.state is JobState.DELAYED and known.due <= self.now]
        for known in due:
            if known.retry is not None:
                self.ask([known.retry], known.job.book_key)
        for known in due:
            if known.retry is None:
                known.state = JobState.QUEUED
            elif known.job.job_id in moved:
                self.spend([known.retry], known.job.book_key)
                known.state = JobState.QUEUED
        for known in due:
            if known.state is JobState.DELAYED:
                assert known.retry is not None
                assert self.may_refuse(known.retry, known.job.book_key), "a retry waits though its budget has some"

    def ask(self, kinds, book: int) -> None:  # type: ignore[no-untyped-def]
        self.asked.extend((self.now, kind, book) for kind in kinds)

    def spend(self, kinds, book: int) -> None:  # type: ignore[no-untyped-def]
        """Take from the budgets; fails when one was spent, or when a book takes more than its half."""
        for kind in [*kinds, None]:
            limit, used = self._used(kind)
            mine = sum(other == book for other in used)
            assert len(used) < limit, "a budget was overdrawn"
            assert mine < max(1, limit // 2) or all(other == book for other in used), "more than half of a budget"
        self.spent.extend((self.now, kind, book) for kind in kinds)
        self.charged.append((self.now, book))

    def may_refuse(self, kind: FailureType, book: int) -> bool:
        for one in (kind, None):
            limit, used = self._used(one)
            period = self.limits.budget_all_period if one is None else self.limits.budget_type_period
            others = any(
                other != book
                for at, asked, other in self.asked
                if at + period > self.now and (one is None or asked is one)
            )
            if len(used) >= limit or (sum(other == book for other in used) >= max(1, limit // 2) and others):
                return True
        return False

    def _used(self, kind: FailureType | None) -> tuple[int, list[int]]:
        if kind is None:
            period = self.limits.budget_all_period
            return self.limits.budget_all, [book for at, book in self.charged if at + period > self.now]
        period = self.limits.budget_type_period
        return self.limits.budget_per_type, [
            book for at, spent, book in self.spent if spent is kind and at + period > self.now
        ]
