"""Watches claims: which are silent, which are overdue (CONTRACT 5, 6). A look costs as much as what has run out.

Each line holds claims in the order in which they were last touched, so that only its head has to be looked at.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Iterator
from functools import partial
from itertools import takewhile
from typing import TypeAlias

from animastor.coordination.entries import Entry
from animastor.coordination.limits import Limits
from animastor.protocol import JobId

Line: TypeAlias = OrderedDict[JobId, Entry]


class Watch:
    """Claims by when they were last listed, by when they last progressed, and by when they began.

    Silence counts only while a server was there: `present` says that one is, and whoever finds that mark too old
    lets the silence of every claim begin anew.
    """

    def __init__(self, limits: Limits) -> None:
        self._limits = limits
        self._seen: Line = OrderedDict()
        self._begun: dict[float, Line] = {}  # by the job's `timeout_s`
        self._progressed: dict[float, Line] = {}
        self._present_at = float("-inf")
        self._silence_from = float("-inf")

    def begin(self, entry: Entry, now: float) -> None:
        """A claim was given, or became known again."""
        name = entry.job.job_id
        timeout = entry.timeout_s = entry.job.timeout_s
        entry.claimed_at = entry.seen_at = entry.progress_at = now
        entry.progress = 0.0
        self._seen[name] = entry
        if timeout not in self._begun:
            self._begun[timeout] = OrderedDict()
            self._progressed[timeout] = OrderedDict()
        self._begun[timeout][name] = self._progressed[timeout][name] = entry

    def end(self, entry: Entry) -> None:
        """The claim is over."""
        name = entry.job.job_id
        del self._seen[name], self._begun[entry.timeout_s][name], self._progressed[entry.timeout_s][name]

    def listed(self, entry: Entry, progress: float, now: float) -> None:
        """A heartbeat of the claim's own worker listed it."""
        name = entry.job.job_id
        entry.seen_at = now
        self._seen.move_to_end(name)
        if progress > entry.progress:
            entry.progress = progress
            entry.progress_at = now
            self._progressed[entry.timeout_s].move_to_end(name)

    def present(self, now: float) -> None:
        """A server is there."""
        self.check_presence(now)
        self._present_at = now

    def check_presence(self, now: float) -> None:
        """When no server was there for a while, nobody could have been heard."""
        if now - self._present_at > self._limits.serving_for:
            self._silence_from = now

    def falling_silent(self, now: float) -> Iterator[Entry]:
        """Claims that were not listed for too long, the longest first; none ends meanwhile."""
        limit = self._limits.silence
        if now - self._silence_from >= limit:
            yield from takewhile(lambda entry: now - entry.seen_at >= limit, self._seen.values())

    def silent(self, now: float) -> Iterator[Entry]:
        """The same. The caller ends each before it asks for the next."""
        limit = self._limits.silence
        if now - self._silence_from >= limit:
            yield from _heads(self._seen, lambda entry: now - entry.seen_at >= limit)

    def overdue(self, now: float) -> Iterator[Entry]:
        """Claims past a time limit that their worker should have enforced. The caller ends each."""
        limits = self._limits
        for timeout, line in self._progressed.items():
            latest = now - timeout - limits.timeout_grace
            yield from _heads(line, partial(_progressed_before, latest))
        for timeout, line in self._begun.items():
            latest = now - limits.hard_factor * timeout - limits.timeout_grace
            yield from _heads(line, partial(_begun_before, latest))


def _progressed_before(latest: float, entry: Entry) -> bool:
    return entry.progress_at <= latest


def _begun_before(latest: float, entry: Entry) -> bool:
    return entry.claimed_at <= latest


def _heads(line: Line, over: Callable[[Entry], bool]) -> Iterator[Entry]:
    while line:
        entry = next(iter(line.values()))
        if not over(entry):
            return
        yield entry
