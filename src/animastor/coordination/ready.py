"""The jobs that may be claimed, by (lane, profile), served book by book (CONTRACT 5): no book waits behind another's
long queue."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from typing import TypeAlias

from animastor.coordination.entries import Entry
from animastor.coordination.pairs import PairRecord
from animastor.protocol import BookKey, JobId

Waiting: TypeAlias = OrderedDict[JobId, Entry]
Choice: TypeAlias = Callable[[PairRecord, Waiting], Entry | None]  # the first that may be claimed of a book's


class Ready:
    """Queues of queues: a line of books for each (lane, profile); in it each book's jobs by pair, oldest first."""

    def __init__(self) -> None:
        self._lines: dict[tuple[str, str], OrderedDict[BookKey, dict[PairRecord, Waiting]]] = {}

    def put(self, entry: Entry, *, first: bool = False) -> None:
        """Add a job, behind those of its book (or before them)."""
        job = entry.job
        place = (job.lane, job.profile)
        line = self._lines.get(place)
        if line is None:
            line = self._lines[place] = OrderedDict()
        book = line.get(job.book_key)
        if book is None:
            book = line[job.book_key] = {}
        waiting = book.get(entry.pair)
        if waiting is None:
            waiting = book[entry.pair] = OrderedDict()
        waiting[job.job_id] = entry
        if first:
            waiting.move_to_end(job.job_id, last=False)

    def drop(self, entry: Entry) -> None:
        """Take a job out."""
        job = entry.job
        place = (job.lane, job.profile)
        line = self._lines[place]
        book = line[job.book_key]
        waiting = book[entry.pair]
        del waiting[job.job_id]
        if waiting:
            return
        del book[entry.pair]
        if not book:
            del line[job.book_key]
        if not line:
            del self._lines[place]

    def take(self, lane: str, profile: str, limit: int, choose: Choice) -> list[Entry]:
        """Up to `limit` jobs, a book at a time; each is taken out."""
        line = self._lines.get((lane, profile))
        taken: list[Entry] = []
        passed = 0  # books in a row that had nothing to give
        while line and len(taken) < limit and passed < len(line):
            book_key, book = next(iter(line.items()))
            line.move_to_end(book_key)
            entry = next(filter(None, (choose(pair, waiting) for pair, waiting in book.items())), None)
            if entry is None:
                passed += 1
                continue
            self.drop(entry)
            taken.append(entry)
            passed = 0
        return taken
