"""A job in the queue, and the indexes over all of them: by id, asset, book, pair and dispatch.

A job's *label* is the dispatch and fence in `Entry.job`: discard, liveness and what a heartbeat is told go by it,
never by what the worker holds (CONTRACT 7). An entry whose claim was told to stop may hold a second label, of the job
that waits for that claim's end.
"""

from __future__ import annotations

from collections.abc import Collection, Hashable, Iterable, Iterator
from enum import IntEnum
from typing import TypeVar

from animastor.coordination.pairs import PairRecord
from animastor.engine.ports import JobState, JobStatus, Selection
from animastor.protocol import AssetId, BookKey, DispatchId, Job, JobId

K = TypeVar("K", bound=Hashable)


class Stop(IntEnum):
    """Whether a claim is to stop. Once a heartbeat has carried that to the worker, it is final."""

    NO = 0
    MARKED = 1
    CARRIED = 2


class Entry:
    """A job, where it is, and who has it.

    `due_at` and `wait_no` belong to a delayed job (`wait_no` 0: its time has come, a budget holds it back); the
    fields from `claim_no` on to a claimed one. `avoid` is the worker that shall not get it while another can;
    `losses` how many of its claims a sweep has ended.
    """

    __slots__ = (
        "avoid",
        "claim_no",
        "claimed_at",
        "due_at",
        "held",
        "job",
        "losses",
        "pair",
        "progress",
        "progress_at",
        "retry_of",
        "seen_at",
        "state",
        "stop",
        "timeout_s",
        "wait_no",
        "worker",
    )

    def __init__(self, job: Job, pair: PairRecord) -> None:
        self.job = job
        self.pair = pair
        self.state = JobState.QUEUED
        self.held: Job | None = None
        self.due_at = job.not_before
        self.retry_of = job.retry_of
        self.avoid = ""
        self.losses = 0
        self.wait_no = 0
        self.claim_no = 0
        self.worker = ""
        self.claimed_at = self.seen_at = self.progress_at = 0.0
        self.timeout_s = 0.0
        self.progress = 0.0
        self.stop = Stop.NO

    @property
    def live(self) -> bool:
        """Queued, delayed, or claimed and not marked stop: a silent claim is live until a sweep has dealt with it."""
        return self.state is not JobState.CLAIMED or self.stop is Stop.NO

    def labels(self) -> Iterator[Job]:
        """The job under its label, and the one that waits for its end."""
        yield self.job
        if self.held is not None:
            yield self.held

    def seen(self, label: Job) -> JobStatus:
        """As the port shows it under one of its labels; one that waits for a stopped claim is delayed."""
        if label is self.job:
            return _status(self, label, self.state, live=self.live)
        return _status(self, label, JobState.DELAYED, live=True)


def _status(entry: Entry, label: Job, state: JobState, *, live: bool) -> JobStatus:
    claimed = state is JobState.CLAIMED
    return JobStatus(
        job_id=label.job_id,
        asset=label.asset,
        dispatch_id=label.dispatch_id,
        fence=label.fence,
        input_hash=label.input_hash,
        kind=label.kind,
        state=state,
        live=live,
        stopping=claimed and entry.stop is not Stop.NO,
        claim_no=entry.claim_no if claimed else 0,
        worker=entry.worker if claimed else "",
        due_at=entry.due_at if label is entry.job else label.not_before,
        progress=entry.progress if claimed else 0.0,
    )


class Entries:
    """Every job that the store knows."""

    def __init__(self) -> None:
        self._by_id: dict[JobId, Entry] = {}
        self._by_asset: dict[AssetId, dict[JobId, Entry]] = {}
        self._by_book: dict[BookKey, dict[JobId, Entry]] = {}
        self._by_dispatch: dict[DispatchId, dict[JobId, Entry]] = {}

    def __len__(self) -> int:
        return len(self._by_id)

    def get(self, job: JobId) -> Entry | None:
        """The entry of a job."""
        return self._by_id.get(job)

    def of_dispatch(self, dispatch: DispatchId) -> Collection[Entry]:
        """The entries that carry this label."""
        found = self._by_dispatch.get(dispatch)
        return found.values() if found else ()

    def has_live(self, dispatch: DispatchId) -> bool:
        """Whether a dispatch has a live job; one that waits for a stopped claim is live."""
        return any(
            (entry.live and entry.job.dispatch_id == dispatch)
            or (entry.held is not None and entry.held.dispatch_id == dispatch)
            for entry in self.of_dispatch(dispatch)
        )

    def add(self, entry: Entry) -> None:
        """Index a new entry."""
        job = entry.job
        name = job.job_id
        self._by_id[name] = entry.pair.jobs[name] = entry
        _put(self._by_asset, job.asset, name, entry)
        _put(self._by_book, job.book_key, name, entry)
        _put(self._by_dispatch, job.dispatch_id, name, entry)

    def remove(self, entry: Entry) -> None:
        """Forget an entry under all its labels."""
        job = entry.job
        name = job.job_id
        del self._by_id[name], entry.pair.jobs[name]
        _pull(self._by_asset, job.asset, name)
        _pull(self._by_book, job.book_key, name)
        for label in entry.labels():
            _pull(self._by_dispatch, label.dispatch_id, name)

    def relabel(self, entry: Entry, job: Job, pair: PairRecord) -> None:
        """The job now belongs to another dispatch (or, with another lane, to another pair)."""
        name = job.job_id
        _pull(self._by_dispatch, entry.job.dispatch_id, name)
        del entry.pair.jobs[name]
        entry.job = job
        entry.pair = pair
        pair.jobs[name] = entry
        _put(self._by_dispatch, job.dispatch_id, name, entry)

    def hold(self, entry: Entry, job: Job | None) -> None:
        """Let a job wait for the end of this entry's claim, or (None) nothing any more."""
        name = entry.job.job_id
        if entry.held is not None and entry.held.dispatch_id != entry.job.dispatch_id:
            _pull(self._by_dispatch, entry.held.dispatch_id, name)
        entry.held = job
        if job is not None:
            _put(self._by_dispatch, job.dispatch_id, name, entry)

    def select(self, of: Selection, pair: PairRecord | None) -> list[tuple[Entry, Job]]:
        """The labels that a selection names; `pair` is the record of the selected pair, if one is selected."""
        assets = None if of.assets is None else frozenset(of.assets)
        dispatches = None if of.dispatches is None else frozenset(of.dispatches)
        return [
            (entry, label)
            for entry in self._narrowest(assets, dispatches, of.book_key, pair)
            for label in entry.labels()
            if (assets is None or label.asset in assets)
            and (dispatches is None or label.dispatch_id in dispatches)
            and (of.book_key is None or label.book_key == of.book_key)
            and (pair is None or label.pair == pair.pair)
        ]

    def _narrowest(
        self,
        assets: frozenset[AssetId] | None,
        dispatches: frozenset[DispatchId] | None,
        book_key: BookKey | None,
        pair: PairRecord | None,
    ) -> Iterable[Entry]:
        if dispatches is not None:
            return _union(self._by_dispatch, dispatches)
        if assets is not None:
            return _union(self._by_asset, assets)
        if book_key is not None:
            return self._by_book.get(book_key, {}).values()
        return (self._by_id if pair is None else pair.jobs).values()


def _union(index: dict[K, dict[JobId, Entry]], keys: Iterable[K]) -> Iterable[Entry]:
    found: dict[JobId, Entry] = {}
    for key in keys:
        found.update(index.get(key, {}))
    return found.values()


def _put(index: dict[K, dict[JobId, Entry]], key: K, name: JobId, entry: Entry) -> None:
    found = index.get(key)
    if found is None:
        index[key] = {name: entry}
    else:
        found[name] = entry


def _pull(index: dict[K, dict[JobId, Entry]], key: K, name: JobId) -> None:
    found = index.get(key)
    if found is not None:
        found.pop(name, None)
        if not found:
            del index[key]
