"""What server and worker say to each other, version 3: jobs, claims, tickets, verdicts (CONTRACT 6, 7, 12).

Frozen values and the protocols that both sides share. No transport lives here: `hub` carries these in process or
over HTTP, `workers` speaks them, `engine` orders with them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from enum import StrEnum
from hashlib import sha256
from pathlib import Path
from typing import Any, NewType, Protocol

from animastor.frozen import quick
from animastor.media.types import Facts, Structure

PROTOCOL = 3
ERA_BITS = 40  # a claim number is era << 40 | counter: it only grows, also across a lost coordination store
MERGE = "merge"  # the kind of the job that joins the parts of an asset

DispatchId = NewType("DispatchId", str)
JobId = NewType("JobId", str)
AssetId = NewType("AssetId", int)
BookKey = NewType("BookKey", int)


class Clock(Protocol):
    """Where time comes from. Virtual in tests: hours pass in milliseconds."""

    def now(self) -> float:
        """Seconds since the epoch."""
        ...

    async def sleep(self, seconds: float) -> None:
        """Return after so many seconds of this clock."""
        ...


class FailureType(StrEnum):
    """How a failure is treated (CONTRACT 9)."""

    TRANSIENT = "transient"
    INFRASTRUCTURE = "infrastructure"
    PERMANENT = "permanent"
    MISCONFIGURED = "misconfigured"
    ORCHESTRATION = "orchestration"


@dataclass(frozen=True, slots=True)
class Pair:
    """(media type, lane): what quotas and breakers are kept for."""

    media: str
    lane: str


def job_id(kind: str, asset: int, input_hash: str) -> JobId:
    """The id of the job for a part (or, with the combined hash, a merge) of an asset: the same job, the same id."""
    return JobId(sha256(f"{kind}\0{asset}\0{input_hash}".encode()).hexdigest()[:32])


@quick
@dataclass(frozen=True, slots=True)
class Job:
    """One order to a worker: produce one part, or merge the parts.

    `input_hash` is the part's (the combined one for a merge); `params` is the structure that was hashed; `inputs` are
    checksums of artifacts, in order. `not_before` (seconds since the epoch) delays it; `retry_of` is the failure type
    when this is a repeated attempt, which fleet budgets may delay. `timeout_s` bounds the time without progress.
    """

    job_id: JobId
    media: str
    kind: str
    asset: AssetId
    book_key: BookKey
    book: str
    chapter_id: str
    scene_id: str
    dispatch_id: DispatchId
    fence: int
    input_hash: str
    params: Structure
    inputs: tuple[str, ...]
    timeout_s: float
    profile: str
    lane: str
    not_before: float = 0.0
    retry_of: FailureType | None = None
    protocol: int = PROTOCOL

    @property
    def pair(self) -> Pair:
        """Whose quota and breaker it counts for."""
        return Pair(self.media, self.lane)


@dataclass(frozen=True, slots=True)
class Worker:
    """A worker instance: (credential, instance), what it is able to do, and how much at once.

    `profiles` maps each profile that it serves to how many jobs of it may run at once; merges are the profile
    "merge". `lanes` comes from the credential. Two processes with one credential are two workers.
    """

    credential: str
    instance: str
    profiles: Mapping[str, int]
    lanes: tuple[str, ...] = ("system",)
    workspace: str = "default"

    @property
    def key(self) -> str:
        """Unique over all workers."""
        return f"{self.credential}/{self.instance}"


@dataclass(frozen=True, slots=True)
class Claim:
    """A job in a worker's hands: its number (which only grows) and the signed ticket that proves it."""

    job: Job
    claim_no: int
    ticket: str = ""


@quick
@dataclass(frozen=True, slots=True)
class Ticket:
    """What a ticket says once its signature is verified (CONTRACT 12)."""

    job_id: JobId
    asset: AssetId
    claim_no: int
    dispatch_id: DispatchId
    fence: int
    input_hash: str
    kind: str
    media: str
    worker: str
    issued_at: float


@dataclass(frozen=True, slots=True)
class Running:
    """A line of a heartbeat: a claimed job with its progress (any number that grows while work goes on)."""

    job_id: JobId
    claim_no: int
    progress: float = 0.0


class Answer(StrEnum):
    """What a heartbeat is told of each running job."""

    CONTINUE = "continue"
    STOP = "stop"


@quick
@dataclass(frozen=True, slots=True)
class Uploaded:
    """Bytes that are in the artifact store: checksum (sha256, hex), size in bytes, probed facts."""

    checksum: str
    size: int
    suffix: str
    facts: Facts = field(default_factory=Facts)
    notes: Mapping[str, Any] = field(default_factory=dict)


class HubRefusedError(Exception):
    """Raised when the hub refuses a call for good; `reason` is the contract's word (`not_claimer`, …)."""

    def __init__(self, reason: str, message: str = "") -> None:
        super().__init__(message or reason)
        self.reason = reason


class Hub(Protocol):
    """The server's side as a worker sees it, in process or over HTTP. Every call may be repeated."""

    async def register(self, worker: Worker) -> None:
        """Make this instance known; an able worker for its profiles from now on."""
        ...

    async def claim(self, worker: Worker, limit: Mapping[str, int], wait: timedelta) -> Sequence[Claim]:
        """Up to `limit[profile]` jobs of each profile, waiting so long for the first. Waiting is a heartbeat."""
        ...

    async def heartbeat(self, worker: Worker, running: Sequence[Running]) -> Sequence[Answer]:
        """Say what runs; told for each whether to go on."""
        ...

    async def fetch(self, claim: Claim, checksum: str) -> Path:
        """A readable file with the bytes of an input. Raises `HubRefusedError("artifact_missing")`."""
        ...

    async def upload(self, claim: Claim, path: Path) -> Uploaded:
        """Put a finished file into the artifact store; it stays at `path`, and is not written any more."""
        ...

    async def finish(self, claim: Claim, uploaded: Uploaded) -> str:
        """Deliver a result; the answer is the reason word (`accepted`, `late_accept`, `stale_part`, …)."""
        ...

    async def fail(self, claim: Claim, failure: FailureType, code: str, message: str) -> str:
        """Report a failure; the answer is the reason word."""
        ...

    async def hand_back(self, worker: Worker, claims: Sequence[Claim]) -> None:
        """Give claimed work back untouched (shutdown): queued again at once, nothing counted."""
        ...

    async def goodbye(self, worker: Worker) -> None:
        """The instance ends; it is no able worker any more."""
        ...
