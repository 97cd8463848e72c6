"""The states of an asset and the one table of allowed transitions (CONTRACT 3). Pure."""

from __future__ import annotations

from enum import IntEnum, IntFlag, StrEnum


class State(IntEnum):
    """The state of an asset, as the small integer that the database stores."""

    NEW = 0
    PENDING = 1
    GENERATING = 2
    DIRTY = 3
    READY = 4
    FAILED = 5


class Standing(StrEnum):
    """How an asset stands, for people: the words of every command that shows it."""

    READY = "ready"
    STALE = "stale"  # an older version is there
    IN_WORK = "in_work"
    WAITING = "waiting"
    FAILED = "failed"
    MISSING = "missing"

    @property
    def word(self) -> str:
        """As it is written in a sentence or a table."""
        return self.value.replace("_", " ")


def standing(state: State, *, current: bool, made: bool) -> Standing:
    """How an asset stands. `current`: it is what is wanted now; `made`: a version of it is there, now or still."""
    if current:
        return Standing.READY
    if state in (State.PENDING, State.GENERATING, State.FAILED):
        return {State.PENDING: Standing.WAITING, State.GENERATING: Standing.IN_WORK}.get(state, Standing.FAILED)
    return Standing.STALE if made else Standing.MISSING


class Wait(IntFlag):
    """Why a PENDING asset cannot start; stored bits, pushed by whoever changes the cause (CONTRACT 5)."""

    REQUIRES = 1
    FOLLOWS = 2
    WINDOW = 4
    BACKOFF = 8
    NO_WORKER = 16
    PAUSED = 32


class PartState(IntEnum):
    """The state of a part: not there yet, there, or given up."""

    MISSING = 0
    READY = 1
    LOST = 2


class Outcome(StrEnum):
    """How a dispatch ended; set exactly once (CONTRACT 8)."""

    SUCCESS = "success"
    FAILURE = "failure"
    CANCELLED = "cancelled"


class RequestState(StrEnum):
    """The state of a request (CONTRACT 10). `preparing` and `open` cover assets; the others are its ends."""

    PREPARING = "preparing"
    OPEN = "open"
    PAUSED = "paused"
    DONE = "done"
    DONE_WITH_FAILURES = "done_with_failures"
    CANCELLED = "cancelled"
    SUPERSEDED = "superseded"


_S = State
ALLOWED: frozenset[tuple[State, State]] = frozenset(
    {
        (_S.NEW, _S.DIRTY),
        (_S.NEW, _S.PENDING),
        (_S.DIRTY, _S.PENDING),
        (_S.PENDING, _S.DIRTY),
        (_S.PENDING, _S.GENERATING),
        (_S.PENDING, _S.FAILED),
        (_S.GENERATING, _S.DIRTY),
        (_S.GENERATING, _S.READY),
        (_S.GENERATING, _S.FAILED),
        (_S.READY, _S.DIRTY),
        (_S.FAILED, _S.DIRTY),
        (_S.FAILED, _S.PENDING),
    }
)
RESTORABLE = frozenset({_S.NEW, _S.DIRTY, _S.PENDING, _S.FAILED})


def may_move(before: State, after: State, *, restore: bool = False) -> bool:
    """Whether CONTRACT 3 allows the transition; `restore` is READY without any work."""
    if restore:
        return after is State.READY and before in RESTORABLE
    return (before, after) in ALLOWED
