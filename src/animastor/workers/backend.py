"""The seam between the worker loop and what does the work: a backend is a function that runs in a child process.

The loop hands an `Order` to a child; the child calls the backend's function for the order's kind and profile; the
function writes one file into `workdir` and says what it made. It may run for minutes: it reports progress, and is
ended with its process when it does not.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeAlias

from animastor.frozen import quick
from animastor.media.types import Structure
from animastor.protocol import FailureType


class BackendError(Exception):
    """Raised by a backend that cannot make what was ordered. `code` is a stable reason, the message is for people.

    `retry_after_s`: the service behind it asked to be left alone for so many seconds (HTTP's `Retry-After`); 0: it
    did not.
    """

    def __init__(
        self,
        type: FailureType,  # noqa: A002 - the contract's word
        code: str,
        message: str,
        *,
        retry_after_s: float = 0.0,
    ) -> None:
        super().__init__(message)
        self.type = type
        self.code = code
        self.message = message
        self.retry_after_s = retry_after_s


@quick
@dataclass(frozen=True, slots=True)
class Order:
    """One piece of work: the hashed structure, and where the bytes of its input artifacts lie (checksum -> file).

    `ordered` is the job's inputs in its order, repeats included: what a merge joins may hold the same bytes twice.
    """

    media: str
    kind: str
    structure: Structure
    inputs: Mapping[str, Path] = field(default_factory=dict)
    ordered: tuple[str, ...] = ()

    def files(self) -> tuple[Path, ...]:
        """The input files in the job's order."""
        return tuple(self.inputs[checksum] for checksum in self.ordered or self.inputs)


@dataclass(frozen=True, slots=True)
class Produced:
    """A finished file in the work directory. `notes` is what only the backend knows (such as a measured gain)."""

    path: Path
    notes: Mapping[str, Any] = field(default_factory=dict)


Progress: TypeAlias = Callable[[float], None]  # a number that grows while work goes on, 0..1
Backend: TypeAlias = Callable[[Order, Path, Progress], Produced]
