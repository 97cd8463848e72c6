"""A piece of work for another process, its limits, and who can run it: the seam between the loop and the children."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Protocol

from animastor.frozen import quick
from animastor.protocol import Claim
from animastor.workers.backend import Order, Produced, Progress

OUTPUT_BYTES = 8 * 2**30


@dataclass(frozen=True, slots=True)
class Limits:
    """What a piece of work may take.

    `idle_s`: seconds in which neither its progress nor the size of its folder grows; `hard_s`: seconds in all;
    `output_bytes`: the size of everything in its folder.
    """

    idle_s: float = 1800.0
    hard_s: float = 7200.0
    output_bytes: int = OUTPUT_BYTES

    @classmethod
    @lru_cache(maxsize=64)
    def of_job(cls, timeout_s: float) -> Limits:
        """The limits of a job: its time without progress, and four times that in all (CONTRACT 6)."""
        return cls(idle_s=timeout_s, hard_s=4 * timeout_s)


@quick
@dataclass(frozen=True, slots=True)
class Work:
    """An order, the backend function that does it ("module:function"), and the folder that it writes to.

    `profile` names the model that is worth keeping loaded. With a `claim`, a receipt is left beside the result.
    """

    function: str
    order: Order
    folder: Path
    profile: str = ""
    limits: Limits = field(default_factory=Limits)
    claim: Claim | None = None


class Runner(Protocol):
    """Runs work outside the process that keeps time."""

    @property
    def count(self) -> int:
        """How many pieces of work run at once; more wait."""
        ...

    async def run(self, work: Work, progress: Progress) -> Produced:
        """The finished file. Makes the folder. Cancelling ends the work at once. Raises `BackendError`."""
        ...
