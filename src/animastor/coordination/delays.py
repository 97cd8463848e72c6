"""Jobs whose time has not come, and retries whose time has come but for which a fleet budget has nothing left."""

from __future__ import annotations

import heapq
from collections import OrderedDict
from itertools import count

from animastor.coordination.budgets import Budgets
from animastor.coordination.entries import Entry
from animastor.engine.ports import JobState
from animastor.protocol import BookKey, FailureType, JobId


class Delays:
    """A heap of what waits for its time; behind it, by failure type and book, what waits for its budget."""

    def __init__(self, budgets: Budgets) -> None:
        self._budgets = budgets
        self._heap: list[tuple[float, int, Entry]] = []
        self._numbers = count(1)
        self._waiting = 0  # entries in the heap that are not stale
        self._short: dict[FailureType, OrderedDict[BookKey, OrderedDict[JobId, Entry]]] = {}
        self._short_until = float("inf")

    def put(self, entry: Entry, due_at: float) -> None:
        """Delay a job until `due_at`."""
        entry.state = JobState.DELAYED
        entry.due_at = due_at
        entry.wait_no = next(self._numbers)
        self._waiting += 1
        heapq.heappush(self._heap, (due_at, entry.wait_no, entry))

    def drop(self, entry: Entry) -> None:
        """Take a delayed job out."""
        if entry.wait_no:
            entry.wait_no = 0
            self._waiting -= 1
            if len(self._heap) > 64 and len(self._heap) > 2 * self._waiting:
                self._heap = [item for item in self._heap if item[2].wait_no == item[1]]
                heapq.heapify(self._heap)
        elif entry.retry_of is not None:
            books = self._short[entry.retry_of]
            del books[entry.job.book_key][entry.job.job_id]
            self._tidy(entry.retry_of, entry.job.book_key)

    def next_at(self) -> float:
        """Before this time `due` gives nothing."""
        while self._heap and self._heap[0][2].wait_no != self._heap[0][1]:
            heapq.heappop(self._heap)
        return min(self._heap[0][0] if self._heap else float("inf"), self._short_until)

    def due(self, now: float) -> list[Entry]:
        """Take out the jobs that may go now: their time has come and, of retries, their budget had one left."""
        if now < self.next_at():
            return []
        gone: list[Entry] = []
        while self._heap and self._heap[0][0] <= now:
            _, number, entry = heapq.heappop(self._heap)
            if entry.wait_no != number:
                continue
            entry.wait_no = 0
            self._waiting -= 1
            if entry.retry_of is None:
                gone.append(entry)
            else:
                books = self._short.setdefault(entry.retry_of, OrderedDict())
                books.setdefault(entry.job.book_key, OrderedDict())[entry.job.job_id] = entry
        self._spend(now, gone)
        return gone

    def _spend(self, now: float, gone: list[Entry]) -> None:
        self._short_until = float("inf")
        for failure in list(self._short):
            for book in self._short[failure]:
                self._budgets.ask((failure,), book, now)
        for failure in list(self._short):
            self._serve(failure, now, gone)
            if failure in self._short:
                self._short_until = min(self._short_until, self._budgets.changes_at(failure, now))

    def _serve(self, failure: FailureType, now: float, gone: list[Entry]) -> None:
        """Book by book, until nobody gets anything any more."""
        books = self._short[failure]
        passed = 0
        while books and passed < len(books):
            book_key, waiting = next(iter(books.items()))
            books.move_to_end(book_key)
            if not self._budgets.spend((failure,), book_key, now):
                passed += 1
                continue
            passed = 0
            gone.append(waiting.popitem(last=False)[1])
            self._tidy(failure, book_key)

    def _tidy(self, failure: FailureType, book_key: BookKey) -> None:
        books = self._short[failure]
        if not books[book_key]:
            del books[book_key]
        if not books:
            del self._short[failure]
