"""The job queue: what happens to a job from its entering to its end (CONTRACT 5, 6, 7, 12).

It knows nothing of leases, breakers or workers' abilities: `memory` asks those first, in the same atomic step. A job
is queued (`ready`), delayed (`delays`) or claimed (`watch`), and in exactly one of these three.
"""

from __future__ import annotations

from animastor.coordination.budgets import Budgets
from animastor.coordination.delays import Delays
from animastor.coordination.entries import Entries, Entry, Stop
from animastor.coordination.limits import Limits
from animastor.coordination.pairs import Pairs
from animastor.coordination.ready import Ready
from animastor.coordination.watch import Watch
from animastor.engine.ports import Enqueued, JobState, Verdict
from animastor.protocol import Answer, Claim, DispatchId, FailureType, Job, JobId, Running


class Queue:
    """Jobs and their claims."""

    def __init__(self, limits: Limits, pairs: Pairs, budgets: Budgets) -> None:
        self._pairs = pairs
        self._limits = limits
        self.entries = Entries()
        self.ready = Ready()
        self.delays = Delays(budgets)
        self.watch = Watch(limits)

    def enqueue(self, job: Job, now: float) -> Enqueued:
        """Store a job; re-label the one that is alive under its id; or let it wait for the end of a stopped one."""
        entry = self.entries.get(job.job_id)
        if entry is None:
            self._store(job, now)
            return Enqueued.STORED
        if entry.stop is Stop.CARRIED:
            self.entries.hold(entry, job)
            return Enqueued.HELD
        entry.stop = Stop.NO
        self._relabel(entry, job)
        return Enqueued.RELABELLED

    def _store(self, job: Job, now: float) -> None:
        entry = Entry(job, self._pairs.at(job.media, job.lane))
        self.entries.add(entry)
        if job.not_before > now:
            self.delays.put(entry, job.not_before)
        else:
            self.ready.put(entry)

    def _relabel(self, entry: Entry, job: Job) -> None:
        if entry.state is JobState.QUEUED and (entry.job.lane, entry.job.profile) != (job.lane, job.profile):
            self.ready.drop(entry)
            self.entries.relabel(entry, job, self._pairs.at(job.media, job.lane))
            self.ready.put(entry)
        else:
            self.entries.relabel(entry, job, self._pairs.at(job.media, job.lane))

    def move_due(self, now: float) -> bool:
        """Queue the delayed jobs that may go now. True: there were some."""
        due = self.delays.due(now)
        for entry in due:
            entry.state = JobState.QUEUED
            self.ready.put(entry)
        return bool(due)

    def begin_claim(self, entry: Entry, worker: str, claim_no: int, now: float) -> None:
        """A job that was taken out of its place is in a worker's hands."""
        entry.state = JobState.CLAIMED
        entry.claim_no = claim_no
        entry.worker = worker
        entry.stop = Stop.NO
        entry.avoid = ""
        self.watch.begin(entry, now)

    def adopt(self, claim: Claim, worker: str, now: float) -> None:
        """Make a claim known that the store has lost. A job that is there keeps its label; a present claim stays."""
        entry = self.entries.get(claim.job.job_id)
        if entry is None:
            entry = Entry(claim.job, self._pairs.at(claim.job.media, claim.job.lane))
            self.entries.add(entry)
        elif entry.state is JobState.CLAIMED:
            return
        else:
            self._take_out(entry)
        self.begin_claim(entry, worker, claim.claim_no, now)

    def listed(self, worker: str, running: Running, now: float) -> Answer | None:
        """A heartbeat listed a claim; what it is told. None: this is no present claim of that worker."""
        entry = self.present(running.job_id, running.claim_no, worker)
        if entry is None:
            return None
        self.watch.listed(entry, running.progress, now)
        if entry.stop is Stop.NO:
            return Answer.CONTINUE
        entry.stop = Stop.CARRIED
        return Answer.STOP

    def present(self, job_id: JobId, claim_no: int, worker: str) -> Entry | None:
        """The entry whose present claim this is."""
        entry = self.entries.get(job_id)
        if entry is None or entry.claim_no != claim_no or entry.worker != worker:
            return None
        return entry

    def settle(self, entry: Entry, verdict: Verdict, now: float) -> bool:
        """End a claim by its verdict. True: a job is queued again, or one that waited for this end is."""
        counted = verdict.failure if verdict.counted else None
        due = verdict.requeue_at or 0.0
        avoid = "" if verdict.failure in (None, FailureType.TRANSIENT) and verdict.counted else entry.worker
        wanted = entry.stop is Stop.NO and verdict.requeue_at is not None
        self._end_claim(entry)
        if entry.held is not None:
            self._enter_held(entry, max(due, entry.held.not_before), counted, now)
        elif wanted:
            entry.avoid = avoid
            self._enter(entry, due, counted, now)
        else:
            self.entries.remove(entry)
            return False
        return True

    def lose(self, entry: Entry, now: float, *, again: bool) -> None:
        """End a claim that is silent or overdue. `again`: its job is queued at once, for another worker if it can.

        One that was lost so often that it may be poison waits a little: the database is about to say so (CONTRACT 9).
        """
        worker = entry.worker
        entry.losses += 1
        self._end_claim(entry)
        if entry.held is not None:
            self._enter_held(entry, entry.held.not_before, None, now)
        elif again:
            suspect = entry.losses >= self._limits.vanished_limit
            self._enter(entry, now + self._limits.vanished_pause if suspect else 0.0, None, now)
        else:
            self.entries.remove(entry)
            return
        entry.avoid = worker

    def discard(self, entry: Entry, label: Job) -> bool:
        """Drop a job that is queued, delayed or waiting; mark a running one stop. True: something changed."""
        if label is entry.held:
            self.entries.hold(entry, None)
        elif entry.state is JobState.CLAIMED:
            if entry.stop is not Stop.NO:
                return False
            entry.stop = Stop.MARKED
        else:
            self._take_out(entry)
            self.entries.remove(entry)
        return True

    def discard_dispatch(self, dispatch: DispatchId) -> bool:
        """Discard what carries this label. True: something changed."""
        touched = [
            self.discard(entry, label)
            for entry in tuple(self.entries.of_dispatch(dispatch))
            for label in tuple(entry.labels())
            if label.dispatch_id == dispatch
        ]
        return any(touched)

    def _end_claim(self, entry: Entry) -> None:
        self.watch.end(entry)
        entry.claim_no = 0
        entry.worker = ""
        entry.stop = Stop.NO

    def _enter_held(self, entry: Entry, due: float, failure: FailureType | None, now: float) -> None:
        job = entry.held
        assert job is not None
        self.entries.hold(entry, None)
        self.entries.relabel(entry, job, self._pairs.at(job.media, job.lane))
        self._enter(entry, due, failure, now)

    def _enter(self, entry: Entry, due: float, failure: FailureType | None, now: float) -> None:
        """Queue a job again: a retry asks its budget when its time comes, what is nobody's fault goes first."""
        entry.retry_of = failure
        if failure is not None or due > now:
            self.delays.put(entry, due)
            return
        entry.due_at = due
        entry.state = JobState.QUEUED
        self.ready.put(entry, first=True)

    def _take_out(self, entry: Entry) -> None:
        if entry.state is JobState.QUEUED:
            self.ready.drop(entry)
        else:
            self.delays.drop(entry)
