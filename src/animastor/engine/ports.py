"""The two ports of the engine, and every frozen value that crosses them.

`Storage` is the truth: each method is one transaction with its journal rows. `Coordination` is disposable: each
method is one atomic step for its whole batch (DESIGN, the two ports). Both are batch-first: a method takes and gives
sequences, and the n-th answer belongs to the n-th question. Implementations: `storage` (SQLite and PostgreSQL) and
`coordination` (memory; Redis).
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from enum import StrEnum
from pathlib import Path
from typing import Any, Final, NamedTuple, Protocol

from animastor.books.model import Book, BookHead, Scene
from animastor.engine.details import MediaCount, SceneDetail
from animastor.engine.reasons import JournalType, Reason
from animastor.engine.states import RequestState, State, Wait
from animastor.frozen import quick
from animastor.media.layers import Layers, Value
from animastor.media.types import ContentSettings, Dependency, Facts, Previous, Structure
from animastor.protocol import (
    Answer,
    AssetId,
    BookKey,
    Claim,
    DispatchId,
    FailureType,
    Job,
    JobId,
    Pair,
    Running,
    Uploaded,
    Worker,
)

VANISHED_LIMIT: Final = 3  # a part whose worker vanished so often is lost as `poison` (CONTRACT 9)

# --- Coordination ---


class Circuit(StrEnum):
    """The state of a breaker (CONTRACT 9)."""

    CLOSED = "closed"
    OPEN = "open"
    HALF_OPEN = "half_open"


@dataclass(frozen=True, slots=True)
class CircuitChange:
    """A breaker moved; for the journal."""

    pair: Pair
    before: Circuit
    after: Circuit
    reason: str


@quick
@dataclass(frozen=True, slots=True)
class Candidate:
    """An asset that would like to start. `retrying`: failure types of those of its parts that have attempts."""

    asset: AssetId
    book_key: BookKey
    pair: Pair
    dispatch_id: DispatchId
    retrying: frozenset[FailureType] = frozenset()


@dataclass(frozen=True, slots=True)
class Admission:
    """Granted (with a lease of 15 s), or refused with the first reason in the order of CONTRACT 5."""

    granted: bool
    reason: Reason = Reason.GRANTED
    circuit: CircuitChange | None = None


@dataclass(frozen=True, slots=True)
class Held:
    """A dispatch that the database says is current, whose lease is to be renewed."""

    asset: AssetId
    book_key: BookKey
    pair: Pair
    dispatch_id: DispatchId


class Renewal(StrEnum):
    """What renewing did. `no_job`: it has no live job and no lease, so nothing was granted."""

    RENEWED = "renewed"
    REATTACHED = "reattached"
    LOST = "lost"  # another dispatch holds the asset, or this one has been released
    NO_JOB = "no_job"
    UNCHANGED = "unchanged"  # it holds its lease but has no live job: nothing was pinned, the lease runs on


@dataclass(frozen=True, slots=True)
class Ended:
    """A dispatch that is over; releasing it may be repeated and may find nothing."""

    asset: AssetId
    dispatch_id: DispatchId


@dataclass(frozen=True, slots=True)
class Lease:
    """A live lease: `remaining` seconds until it dies by itself."""

    asset: AssetId
    book_key: BookKey
    pair: Pair
    dispatch_id: DispatchId
    remaining: float
    permit: bool = False


class JobState(StrEnum):
    """Where a job is."""

    QUEUED = "queued"
    DELAYED = "delayed"
    CLAIMED = "claimed"


@dataclass(frozen=True, slots=True)
class JobStatus:
    """A job as the queue sees it. `live` is the contract's word (section 6)."""

    job_id: JobId
    asset: AssetId
    dispatch_id: DispatchId
    fence: int
    input_hash: str
    kind: str
    state: JobState
    live: bool
    stopping: bool
    claim_no: int
    worker: str
    due_at: float
    progress: float


@dataclass(frozen=True, slots=True)
class Selection:
    """Which leases or jobs: each given field narrows; none given is everything."""

    assets: Collection[AssetId] | None = None
    dispatches: Collection[DispatchId] | None = None
    book_key: BookKey | None = None
    pair: Pair | None = None


class Enqueued(StrEnum):
    """What became of a job (CONTRACT 5, 7). `held`: the running one was told to stop; the new waits for its end."""

    STORED = "stored"
    RELABELLED = "relabelled"
    HELD = "held"
    NO_ACTIVE_DISPATCH = "no_active_dispatch"


@quick
@dataclass(frozen=True, slots=True)
class Verdict:
    """How a claim ended. The breaker is fed when `called_backend`; merges and cache hits never feed it.

    `requeue_at`: the same job goes back to the queue, not before that time (0: at once); None: the job is over.
    `counted` is False for a failure that is nobody's fault (hand-back, misconfigured).
    """

    job_id: JobId
    claim_no: int
    worker: str
    failure: FailureType | None = None
    called_backend: bool = True
    counted: bool = True
    requeue_at: float | None = None


@dataclass(frozen=True, slots=True)
class Settled:
    """`present`: the claim was the job's present one, labelled with this dispatch and fence; else `stale_claim`."""

    present: bool
    dispatch_id: DispatchId | None = None
    fence: int = 0
    circuit: CircuitChange | None = None


@dataclass(frozen=True, slots=True)
class LostClaim:
    """A claim that a sweep ended: `reason` is `worker_silent` or `job_timeout`; the job is queued again, or dropped."""

    job: Job
    claim_no: int
    worker: str
    reason: Reason
    requeued: bool


@dataclass(frozen=True, slots=True)
class PairStatus:
    """What dispatching asks before it asks the database: how many more may start, and for whom there is nobody."""

    pair: Pair
    quota: int
    leases: int
    circuit: Circuit
    profiles: frozenset[str]  # served by an able worker of the lane
    circuit_left: float = 0.0  # seconds until an open breaker lets a test through

    @property
    def free(self) -> int:
        """Slots that are free."""
        return max(0, self.quota - self.leases)


class CoordinationUnavailableError(Exception):
    """Raised when the coordination store cannot be reached, or cannot write. The text is one sentence for a person.

    What was asked for may have happened: repeating the call is harmless, and so is leaving it to a later tick.
    """


class Coordination(Protocol):
    """Leases, quotas, breakers, budgets and the queue. Disposable: nothing here is needed for correctness."""

    async def admit(self, candidates: Sequence[Candidate]) -> Sequence[Admission]:
        """Breaker, duplicate, quota, budget, lease: one atomic step, in the order of CONTRACT 5."""
        ...

    async def renew(self, held: Sequence[Held]) -> Sequence[Renewal]:
        """Re-pin the leases of current dispatches with a live job; grant again what was lost (CONTRACT 6)."""
        ...

    async def grant(self, held: Sequence[Held]) -> Sequence[Renewal]:
        """As `renew`, for a current dispatch without any job that is about to enter its merge (CONTRACT 6)."""
        ...

    async def release(self, ended: Sequence[Ended]) -> Sequence[bool]:
        """Free lease, slot and permit; drop queued and delayed jobs, mark running ones stop. True: found something."""
        ...

    async def leases(self, of: Selection) -> Sequence[Lease]:
        """The live leases of a selection, from an index."""
        ...

    async def jobs(self, of: Selection) -> Sequence[JobStatus]:
        """The jobs of a selection, from an index."""
        ...

    async def pairs(self, pairs: Sequence[Pair]) -> Sequence[PairStatus]:
        """Quota, leases, breaker and served profiles of pairs."""
        ...

    async def enqueue(self, jobs: Sequence[Job]) -> Sequence[Enqueued]:
        """Store or re-label jobs; pins the dispatch's lease to its full length; refused without a live lease."""
        ...

    async def register(self, worker: Worker) -> Sequence[str]:
        """Make a worker known, or known again. Gives the profiles that nobody served before."""
        ...

    async def deregister(self, worker: Worker) -> None:
        """The worker is gone. Its claims stay until they are handed back, settled or swept."""
        ...

    async def claim(self, worker: Worker, limit: Mapping[str, int], wait: timedelta) -> Sequence[Claim]:
        """Up to `limit[profile]` jobs of each profile, book by book; waits for the first (tickets are empty here)."""
        ...

    async def heartbeat(self, worker: Worker, running: Sequence[Running]) -> Sequence[Answer]:
        """Keep claims alive; told `stop` by label, whatever the worker holds."""
        ...

    async def settle(self, verdicts: Sequence[Verdict]) -> Sequence[Settled]:
        """End claims, feed breaker, budgets and quarantine, queue again where the verdict says so."""
        ...

    async def reregister(self, claims: Sequence[tuple[Claim, str]]) -> None:
        """Make claims (with their worker's key) known again after the store was lost; known ones stay as they are."""
        ...

    async def discard(self, of: Selection) -> int:
        """Drop queued and delayed jobs of a selection and mark running ones stop; how many were touched."""
        ...

    async def discard_jobs(self, jobs: Sequence[JobId]) -> int:
        """The same for exact jobs."""
        ...

    async def silent(self, limit: int) -> Sequence[JobStatus]:
        """Up to so many of the claims that the next sweep ends because their workers are silent; nothing changes."""
        ...

    async def sweep(self) -> Sequence[LostClaim]:
        """End silent and overdue claims; move due delayed jobs; forget what has expired."""
        ...

    async def era(self) -> int | None:
        """The era that the store holds, or None when it has lost it."""
        ...

    async def set_era(self, era: int, *, window: bool = True) -> None:
        """Write the era that the database gave; claim numbers start behind it. `window`: workers may still be heard."""
        ...

    async def serving(self) -> int | None:
        """Say that a server is there; whoever finds the mark too old starts every claim's silence anew.

        Gives the era that the store holds, as `era` does.
        """
        ...

    async def take_turns(self, names: Sequence[str], who: str, seconds: float) -> Sequence[float]:
        """Take what one process at a time does, each for so long: 0, or the seconds until another's turn is over.

        `who` is a word that is used for these turns only. Taken again by the same one, it is taken once.
        """
        ...

    async def keep_turns(self, names: Sequence[str], who: str, seconds: float) -> Sequence[bool]:
        """Whether they still are this one's; then for so long from now on."""
        ...

    async def end_turns(self, names: Sequence[str], who: str) -> Sequence[bool]:
        """Let go; whether somebody asked for it meanwhile. What is another's by now is left alone."""
        ...

    def listen(self, ring: Callable[[], None]) -> None:
        """From now on call `ring` at each `wake`, of any process. Missing one is harmless: ticks come by themselves."""
        ...

    def wake(self) -> None:
        """Something may be claimed or dispatched now: here at once, in other processes soon. Within a running loop."""
        ...


# --- Storage: content ---


@dataclass(frozen=True, slots=True)
class SavedBook:
    """An import or edit that is committed. Counts are of scenes; `unchanged`: nothing was written."""

    book_key: BookKey
    revision: int
    added: int
    changed: int
    removed: int
    unchanged: bool


@dataclass(frozen=True, slots=True)
class Deleting:
    """A batch of a deletion. `ended`: attempts to be released, and marked so, before the next batch."""

    scenes: int
    ended: tuple[Ended, ...] = ()
    done: bool = False


@dataclass(frozen=True, slots=True)
class BookRow:
    """A stored book in a list."""

    book_key: BookKey
    book_id: str
    title: str
    language: str
    source: str
    source_key: str
    source_sha256: str
    revision: int
    scenes: int


@dataclass(frozen=True, slots=True)
class SceneEdit:
    """A scene as an edit would have it; `scene_key` 0: it is new."""

    chapter_id: str
    scene: Scene
    scene_key: int = 0


@dataclass(frozen=True, slots=True)
class Touched:
    """What an edit would touch. `head` is None when it stays; else `others` are all scenes that stay as they are.

    `removed`: how many scenes would go; `moved`: how many scenes, or chapters, would only stand or be called otherwise.
    `scenes`: how many there would be.
    """

    changed: tuple[SceneEdit, ...] = ()
    added: tuple[SceneEdit, ...] = ()
    removed: int = 0
    moved: int = 0
    head: BookHead | None = None
    others: tuple[SceneEdit, ...] = ()
    scenes: int = 0

    @property
    def nothing(self) -> bool:
        """Whether the edit would change nothing at all."""
        return not (self.changed or self.added or self.removed or self.moved or self.head)

    @property
    def planned(self) -> tuple[SceneEdit, ...]:
        """The scenes whose plans may come out otherwise."""
        changed = {one.scene_key for one in self.changed}
        return (*self.changed, *self.added, *(one for one in self.others if one.scene_key not in changed))


@dataclass(frozen=True, slots=True)
class MadeBefore:
    """A part that is there: its artifact's checksum and its facts."""

    artifact: str
    facts: Facts


@dataclass(frozen=True, slots=True)
class BookContext:
    """What all plans of a book read, at one revision."""

    book_key: BookKey
    book_id: str
    revision: int
    head: BookHead
    settings: ContentSettings
    disabled: frozenset[str] = frozenset()  # media types switched off (CONTRACT 15)
    layers: Layers = field(default_factory=dict)  # set for this book; they come before those of its head


# --- Storage: plans and dispatches ---


@quick
@dataclass(frozen=True, slots=True)
class PlanRow:
    """An asset that is due, or whose plan is older than what it may read; with everything that its plan reads."""

    asset: AssetId
    book_key: BookKey
    revision: int  # of the book: which BookContext belongs to it
    chapter_id: str
    scene_id: str
    media: str
    lane: str
    state: State
    plan_seq: int
    scene: Mapping[str, Any]  # the scene's stored JSON (books.codec)
    takes: Mapping[str, int]
    dependencies: Mapping[str, Dependency]
    previous: tuple[Previous, ...]


@dataclass(frozen=True, slots=True)
class DueWalk:
    """A round of the fair walk: what is due, in the order (n-th of its book, book), and the book served last."""

    rows: Sequence[PlanRow]
    last_book: int


@dataclass(frozen=True, slots=True)
class Outlook:
    """What a tick would find: `due`, the pairs with something due; `unplanned`, whether anything is to be planned.

    `wake_in_s`: seconds until the first delay is over, by the database's time; 0 when one is. `may_plan`: the database
    has the planner of this program; while it has another, this program plans and starts nothing (CONTRACT 11).
    """

    due: frozenset[Pair]
    unplanned: bool
    wake_in_s: float | None
    may_plan: bool = True


@quick
@dataclass(frozen=True, slots=True)
class PartRow:
    """A wanted part as it is stored. `params` is the hashed structure."""

    hash: str
    kind: str
    unit_ids: tuple[str, ...]
    params: Structure
    inputs: tuple[str, ...]
    profile: str
    estimate_s: float
    work: float
    own_hash: str = ""  # of a given part: the hash that it would have had …
    outdated: bool = False  # … and whether it is another one than that for which it was given


@dataclass(frozen=True, slots=True)
class TakeRow:
    """A part that serves a unit: what is wanted, or was and is kept. `ordinal` within the unit; -1: not known."""

    asset: AssetId
    media: str
    kind: str
    hash: str
    ordinal: int
    unit_ids: tuple[str, ...]
    wanted: bool
    ready: bool
    pinned: bool
    supplied: bool
    outdated: bool
    artifact: str
    suffix: str
    size: int
    facts: Facts
    params: Structure
    unwanted_at: float | None


@dataclass(frozen=True, slots=True)
class Gift:
    """A part to be fixed in a place: a take to pin, or a file that was supplied. `base`: the hash it was made for.

    `fresh`: its bytes were put into the store just now; those of any other have to be known.
    """

    asset: AssetId
    kind: str
    ordinal: int
    unit_ids: tuple[str, ...]
    artifact: str
    suffix: str
    size: int
    facts: Facts
    params: Structure
    base: str
    supplied: bool
    fresh: bool = False


@quick
@dataclass(frozen=True, slots=True)
class StorePlan:
    """A plan to store for an asset, made from `plan_seq`. Waiting: `waiting_on` names media types; no parts."""

    asset: AssetId
    plan_seq: int
    wanted_hash: str = ""
    parts: tuple[PartRow, ...] = ()
    merge: PartRow | None = None  # the merge as a part of its own; None for a media type without a merge step
    waiting_on: tuple[str, ...] = ()


@quick
@dataclass(frozen=True, slots=True)
class JobSource:
    """A wanted part that is not there, with what its job needs. A merge has the parts' checksums as inputs."""

    hash: str
    kind: str
    params: Structure
    inputs: tuple[str, ...]
    profile: str
    not_before: float
    retry_of: FailureType | None
    work: float = 0.0  # as planned


@quick
@dataclass(frozen=True, slots=True)
class PlanStored:
    """What storing a plan did.

    `reason`: GRANTED (stored, to be dispatched or replanned), EMPTY/RESTORED/REUSED (READY without work), STALE_PLAN
    (the content moved on: plan again later), WAITING_ON (wait bits set, or the running dispatch was ended: `ended`).
    `missing`: jobs wanted now (parts, or the merge when all parts are in). For a GENERATING asset `dropped` lists the
    job hashes no longer wanted.
    """

    asset: AssetId
    reason: Reason
    state: State
    missing: tuple[JobSource, ...] = ()
    dropped: tuple[tuple[str, str], ...] = ()  # (kind, hash)
    ended: Ended | None = None
    dispatch_id: DispatchId | None = None
    fence: int = 0


@dataclass(frozen=True, slots=True)
class Begin:
    """PENDING → GENERATING for an admitted candidate, if its stored plan is still the one of `plan_seq`."""

    asset: AssetId
    dispatch_id: DispatchId
    plan_seq: int


@dataclass(frozen=True, slots=True)
class Begun:
    """Begun with its fence; or not, and then it never was a dispatch."""

    asset: AssetId
    dispatch_id: DispatchId
    begun: bool
    fence: int = 0


@dataclass(frozen=True, slots=True)
class Active:
    """A GENERATING asset, as keeper and reconciliation see it. `missing` as in `PlanStored`.

    `held`: the request that it carries is paused.
    """

    asset: AssetId
    book_key: BookKey
    book_id: str
    chapter_id: str
    scene_id: str
    media: str
    lane: str
    dispatch_id: DispatchId
    fence: int
    missing: tuple[JobSource, ...]
    held: bool = False


# --- Storage: results and ends ---


@quick
@dataclass(frozen=True, slots=True)
class PartResult:
    """A result whose bytes were checked: the part or merge with this hash is `uploaded`."""

    asset: AssetId
    hash: str
    kind: str
    dispatch_id: DispatchId
    fence: int
    claim_no: int
    uploaded: Uploaded


@quick
@dataclass(frozen=True, slots=True)
class Accepted:
    """What the database made of a result.

    `reason`: ACCEPTED, ALREADY_ACCEPTED, LATE_ACCEPT, STALE_PART, STALE_VERSION, UNKNOWN_PART, ARTIFACT_GONE.
    `merge`: all parts are in; this is the merge to enqueue under (`current`, `fence`). `ended`: the asset's dispatch
    ended in this transaction (READY or FAILED). `replan`: the merge lost against an edit.
    """

    reason: Reason
    asset: AssetId
    current: DispatchId | None = None
    fence: int = 0
    merge: JobSource | None = None
    ended: Ended | None = None
    replan: bool = False
    ready: bool = False


@dataclass(frozen=True, slots=True)
class PartFailure:
    """A failure of the present claim of a part. `jitter` in [0, 1) is the draw for the back-off."""

    asset: AssetId
    hash: str
    kind: str
    claim_no: int
    failure: FailureType
    code: str
    message: str
    worker: str
    jitter: float


@dataclass(frozen=True, slots=True)
class Counted:
    """COUNTED or STALE_CLAIM, and what becomes of the job: tried again at `not_before`, or `lost` (not any more).

    `ended`: the asset FAILED, or waits for retry. `held`: its request is paused, so it is not tried again for now.
    """

    reason: Reason
    asset: AssetId
    lost: bool = False
    not_before: float = 0.0
    ended: Ended | None = None
    merge: JobSource | None = None
    current: DispatchId | None = None
    fence: int = 0
    held: bool = False


@quick
@dataclass(frozen=True, slots=True)
class PartOrder:
    """A stored part (or merge), wanted or not, as results look at it before they look at its bytes.

    `params` is the hashed structure. `artifact` is the checksum when it is READY, else None. `corrupt` counts how
    often what came for it was not as ordered (`corrupt_artifact`: transient twice, then permanent). `work` as planned.
    `facts` are those of the artifact when it is READY.
    """

    asset: AssetId
    hash: str
    kind: str
    media: str
    params: Structure
    artifact: str | None = None
    suffix: str = ""
    corrupt: int = 0
    work: float = 0.0
    facts: Facts = field(default_factory=Facts)


@dataclass(frozen=True, slots=True)
class RollBack:
    """End a dispatch as cancelled: its asset is PENDING if covered, else DIRTY. `delay_s` sets the back-off bit."""

    asset: AssetId
    dispatch_id: DispatchId
    reason: str
    delay_s: float = 0.0
    wait: Wait = field(default=Wait(0))


# --- Storage: requests, journal, artifacts ---


class ScopeKind(StrEnum):
    """How much of a book a request is for (CONTRACT 10)."""

    WHOLE_BOOK = "whole_book"
    CHAPTER = "chapter"
    FROM_SCENE = "from_scene"
    SCENE = "scene"
    UNITS = "units"


@dataclass(frozen=True, slots=True)
class Scope:
    """A part of a book, by its own ids."""

    kind: ScopeKind = ScopeKind.WHOLE_BOOK
    chapter_id: str = ""
    scene_id: str = ""
    unit_ids: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class NewRequest:
    """What a person asks for. `media` is closed under `requires` already. `kind` is `make` for the main job.

    `priority`, `ahead` and `position` as in `Steer`. `rebuild`: the parts of the media types `named` (empty: of
    `media`) are made again, as other takes, even if they are there; what only comes along as required is not.
    `accept_charge`: paid calls whose answers were lost are sent again. `kind` `retry` enters only what has failed.
    """

    book_key: BookKey
    scope: Scope
    media: tuple[str, ...]
    idempotency_key: str
    kind: str = "make"
    priority: int = 0
    rebuild: bool = False
    named: tuple[str, ...] = ()
    ahead: int = 0
    position: Scope | None = None
    accept_charge: bool = False


@dataclass(frozen=True, slots=True)
class KeptPart:
    """A part that a rebuild leaves alone: pinned, or `given` by a person. It serves these units."""

    chapter_id: str
    scene_id: str
    media: str
    unit_ids: tuple[str, ...]
    given: bool


@dataclass(frozen=True, slots=True)
class RequestRow:
    """A request and where it stands."""

    request_id: int
    book_key: BookKey
    scope: Scope
    media: tuple[str, ...]
    state: RequestState
    kind: str
    created_at: float


@dataclass(frozen=True, slots=True)
class Opened:
    """An opened request (or the first one with its key), and the earlier `make` requests that it superseded.

    `resumed`: earlier ones for the same that were paused.
    """

    request: RequestRow
    superseded: tuple[int, ...] = ()
    resumed: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class Cancel:
    """What is to be cancelled of a book: of these requests (None: all that are unfinished) what lies in `scope`.

    `media`: these media types and those that require them; empty: all. A scope of units cannot be cancelled.
    """

    book_key: BookKey
    requests: tuple[int, ...] | None = None
    scope: Scope = Scope()
    media: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Steer:
    """How unfinished requests of a book (None: all of them) are to go on; what is None stays as it is.

    `paused`: pause or resume. `priority`: -1, 0 or 1 against other books. `position`: the scene at which the reader
    stands, what lies ahead of it is made first. `ahead`: the window in scenes behind it (0: none). `now`: the scene
    that is made before all others.
    """

    book_key: BookKey
    requests: tuple[int, ...] | None = None
    paused: bool | None = None
    priority: int | None = None
    position: Scope | None = None
    ahead: int | None = None
    now: Scope | None = None


@dataclass(frozen=True, slots=True)
class LayersSet:
    """All layers of a book as they hold now, those that are otherwise now, and the requests that may be touched."""

    layers: Layers
    changed: Layers
    requests: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class Cancelled:
    """Requests that were closed, and those that go on without what was cancelled."""

    closed: tuple[int, ...] = ()
    narrowed: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class Entered:
    """A chunk of at most 1,000 assets was entered; `done` when the cursor has passed the scope."""

    entered: int
    done: bool
    state: RequestState


@dataclass(frozen=True, slots=True)
class MediaProgress:
    """Counts of one media type within a request's scope. Parts include merges; estimates are marked by `estimated`.

    `work_*` are in the media type's own units (characters, pictures, frames), for the time left.
    """

    media: str
    assets: int
    ready: int
    failed: int
    pending: int
    generating: int
    dirty: int
    parts_planned: int
    parts_ready: int
    parts_lost: int
    unplanned: int
    work_planned: float
    work_ready: float


@dataclass(frozen=True, slots=True)
class RequestProgress:
    """Where a request stands; the one place that progress comes from (CONTRACT 10).

    `idle`: all within its window is settled; what lies beyond is made when its reader moves on.
    """

    request: RequestRow
    fraction: float
    media: tuple[MediaProgress, ...]
    idle: bool = False


@dataclass(frozen=True, slots=True)
class JournalRow:
    """A row of the journal. `observed` rows tell what happened in the coordination store, after the fact."""

    at: float
    asset: AssetId | None
    type: JournalType
    state: State | None
    reason: str
    dispatch_id: str | None = None
    actor: str = ""
    observed: bool = False
    details: Mapping[str, Any] = field(default_factory=dict)
    row_id: int = 0  # what `journal(after=…)` counts by; given by the database


@dataclass(frozen=True, slots=True)
class JournalOf:
    """Whose rows of the journal: a book's; `scene_id` (its chapter may be left open) and `media` narrow."""

    book_key: BookKey
    chapter_id: str = ""
    scene_id: str = ""
    media: str = ""


@dataclass(frozen=True, slots=True)
class JournalEntry:
    """A row of the journal with the place that it is about; empty words for what concerns the whole book or home."""

    row: JournalRow
    chapter_id: str = ""
    scene_id: str = ""
    media: str = ""


@dataclass(frozen=True, slots=True)
class AssetStanding:
    """An asset as its row has it, to be held against what the journal tells (`engine.replaying`)."""

    asset: AssetId
    state: State
    dispatch_id: str


@dataclass(frozen=True, slots=True)
class Usage:
    """Artifacts of a book, media type and kind: those that plans want, or takes that are kept."""

    book_id: str
    media: str
    kind: str
    wanted: bool
    files: int
    bytes: int


@dataclass(frozen=True, slots=True)
class Unused:
    """An artifact that nothing uses, and from when on it may be collected. `held`: a backup is why not earlier."""

    checksum: str
    bytes: int
    due_at: float
    held: bool = False


class ScenePlace(NamedTuple):
    """A scene by its ids and by its numbers: `numbers` is CHAPTER/SCENE, counted from 1, as people name it."""

    chapter_id: str
    scene_id: str
    numbers: str


@dataclass(frozen=True, slots=True)
class SceneExport:
    """A scene in reading order with what an export needs: per media type the artifact and facts, current or not."""

    chapter_id: str
    chapter_title: str
    scene_id: str
    title: str
    scene: Mapping[str, Any]
    media: Mapping[str, AssetExport]


@dataclass(frozen=True, slots=True)
class AssetExport:
    """An asset as an export sees it. `artifact` is None when there never was one, or it is empty.

    `made`: a version of it is there, the current one or an older one; a lost one is not.
    """

    state: State
    current: bool
    made: bool
    artifact: str | None
    suffix: str
    facts: Mapping[str, Any]
    error: str = ""


class StorageUnavailableError(Exception):
    """Raised when the database cannot answer at all (disk full, I/O error, connection lost): nothing was changed.

    The text is one sentence for a person. Every other error means that one member of a batch is at fault.
    """


class RevisionError(Exception):
    """Raised for an edit of a book that has been edited otherwise since it was looked at."""


class StorageFullError(StorageUnavailableError):
    """Raised when there is no room left for the database or its artifacts; work goes on once there is."""


class Storage(Protocol):
    """The truth. Every method is one transaction with its journal rows, and may be repeated with the same ids."""

    # content ------------------------------------------------------------------------------------------------------
    async def save_book(  # import or edit: content, plan_seq of what may be touched, rows locked in order
        self,
        book: Book,
        *,
        settings: ContentSettings | None,
        source: str,
        source_key: str,
        source_sha256: str,
        for_good: bool = False,  # nothing is kept of what leaves the book: a deletion
        revision: int | None = None,  # which the stored book must have
    ) -> SavedBook: ...
    async def touched(self, book_key: BookKey, book: Book) -> Touched: ...  # what saving this version would touch
    async def stored_scene(self, book_key: BookKey, scope: Scope) -> SceneEdit: ...
    async def asked_media(self, book_key: BookKey) -> Sequence[str]: ...  # of which anything was ever asked for
    async def assets_touched(self, scenes: Collection[int]) -> Mapping[AssetId, int]: ...  # with their scenes' keys
    async def made_before(self, book_key: BookKey, hashes: Collection[str]) -> Mapping[str, MadeBefore]: ...
    async def begin_deletion(self, book_key: BookKey) -> Sequence[int]: ...  # the requests that it closed
    async def deletions(self) -> Sequence[BookKey]: ...  # begun and not done
    async def delete_some(self, book_key: BookKey) -> Deleting: ...
    async def load_book(self, book_key: BookKey) -> Book: ...
    async def find_book(self, *, book_id: str = "", source_key: str = "") -> BookRow | None: ...
    async def books(self) -> Sequence[BookRow]: ...
    async def outline(self, book_key: BookKey) -> Sequence[ScenePlace]: ...  # in reading order
    async def contexts(self, books: Collection[BookKey]) -> Sequence[BookContext]: ...
    async def save_settings(self, book_key: BookKey, settings: ContentSettings) -> SavedBook: ...

    # plans and dispatches -----------------------------------------------------------------------------------------
    async def outlook(self, pairs: Sequence[Pair]) -> Outlook: ...  # one look, however much there is
    async def due(
        self, pair: Pair, limit: int, each: int, after_book: int, besides: Collection[AssetId] = ()
    ) -> DueWalk: ...
    async def unplanned(self, limit: int) -> Sequence[PlanRow]: ...  # DIRTY, READY, FAILED, GENERATING
    async def plan_rows(self, assets: Sequence[AssetId]) -> Sequence[PlanRow]: ...
    async def store_plans(self, plans: Sequence[StorePlan]) -> Sequence[PlanStored]: ...
    async def begin(self, begins: Sequence[Begin]) -> Sequence[Begun]: ...
    async def skip(self, refused: Sequence[tuple[AssetId, str]]) -> None: ...  # journalled where the reason is new
    async def set_waits(self, assets: Sequence[AssetId], wait: Wait, reason: str) -> None: ...
    async def clear_no_worker(self, profiles: Collection[str]) -> int: ...
    async def recheck_waits(self, after: int) -> tuple[int, int | None]: ...  # how many were wrong; where to go on
    async def drifted_waits(self, after: int) -> tuple[int, int | None]: ...  # the same, looked for only
    async def wake_later(self) -> float | None: ...  # clears back-off bits that are due; when the next one comes

    # results and ends ---------------------------------------------------------------------------------------------
    async def part_orders(self, keys: Sequence[tuple[AssetId, str]]) -> Sequence[PartOrder | None]: ...  # (asset, hash)
    async def missing_of(self, keys: Sequence[tuple[AssetId, str]]) -> frozenset[tuple[AssetId, str]]: ...  # of these
    async def wanted_of(
        self, keys: Sequence[tuple[AssetId, str]]
    ) -> frozenset[tuple[AssetId, str]]: ...  # and waited for
    async def wanted_parts(self, asset: AssetId) -> Sequence[PartOrder]: ...  # in order, without the merge
    async def accept(self, results: Sequence[PartResult]) -> Sequence[Accepted]: ...
    async def count_failures(self, failures: Sequence[PartFailure]) -> Sequence[Counted]: ...
    async def withdraw(self, asset: AssetId, artifacts: Collection[str]) -> None: ...  # parts that do not decode
    async def roll_back(self, endings: Sequence[RollBack]) -> Sequence[Ended | None]: ...
    async def fail_assets(self, assets: Sequence[AssetId], reason: str, message: str) -> Sequence[Ended | None]: ...
    async def unreleased(self, limit: int) -> Sequence[Ended]: ...
    async def mark_released(self, ended: Sequence[Ended]) -> None: ...
    async def active(self, after: int, limit: int) -> Sequence[Active]: ...  # GENERATING, by asset id
    async def active_of(self, assets: Sequence[AssetId]) -> Sequence[Active]: ...

    async def scene_detail(self, book_key: BookKey, chapter_id: str, scene_id: str) -> SceneDetail: ...
    async def media_counts(self, book_key: BookKey) -> Sequence[MediaCount]: ...  # by media type and state

    # takes ----------------------------------------------------------------------------------------------------------
    async def takes_of(self, book_key: BookKey, unit_id: str) -> Sequence[TakeRow] | None: ...  # None: no such unit
    async def give(self, gift: Gift) -> bool: ...  # False: its bytes are being collected; LookupError: no such scene
    async def take_back(
        self, asset: AssetId, kind: str, unit_id: str, hash_: str = ""
    ) -> int: ...  # how many were fixed there; only the part with this hash, if one is named
    async def choose_take(self, asset: AssetId, unit_id: str, take: int) -> None: ...
    async def highest_take(self, book_key: BookKey, media: str, unit_id: str) -> int: ...

    # requests -----------------------------------------------------------------------------------------------------
    async def open_request(self, new: NewRequest, entry: int = 0) -> Opened: ...  # `entry`: assets entered with it
    async def enter(self, request_id: int, limit: int) -> Entered: ...
    async def failed_media(self, book_key: BookKey, scope: Scope) -> Sequence[str]: ...  # of which something FAILED
    async def kept_parts(self, request: RequestRow) -> Sequence[KeptPart]: ...  # which a rebuild leaves alone
    async def preparing(self) -> Sequence[RequestRow]: ...
    async def books_at_work(self) -> int: ...  # how many have unfinished requests
    async def requests(self, *, open_only: bool = True) -> Sequence[RequestRow]: ...
    async def close_request(self, request_id: int, state: RequestState) -> bool: ...
    async def set_layers(self, book_key: BookKey, changes: Mapping[str, Value | None]) -> LayersSet: ...
    async def steer(self, of: Steer) -> Sequence[int]: ...  # the requests that changed; they are to be swept
    async def cancel(self, of: Cancel) -> Cancelled: ...  # the tombstone; what rests because of it is swept
    async def sweep_uncovered(self, request_id: int, limit: int) -> Sequence[Ended]: ...  # empty: nothing is left
    async def uncovered(self) -> Sequence[int]: ...  # ended requests whose sweep was interrupted
    async def finish_requests(self) -> Sequence[RequestRow]: ...  # those that nothing is left of: done
    async def progress(self, request_id: int) -> RequestProgress: ...

    # journal, artifacts, numbers ----------------------------------------------------------------------------------
    async def observe(self, rows: Sequence[JournalRow]) -> None: ...
    async def journal(
        self, *, asset: AssetId | None = None, after: int = 0, limit: int = 1000
    ) -> Sequence[JournalRow]: ...
    async def book_journal(
        self, of: JournalOf, *, after: int = 0, before: int | None = None, limit: int = 1000
    ) -> Sequence[JournalEntry]: ...  # oldest first; with `before`, the last ones in front of that row
    async def prune(self, after: int) -> tuple[int, int | None]: ...  # journal rows that went; where to go on
    async def prune_dispatches(self, after: int) -> tuple[int, int | None]: ...
    async def asset_standings(self) -> Sequence[AssetStanding]: ...  # all assets, by id
    async def export_rows(self, book_key: BookKey, scope: Scope) -> Sequence[SceneExport]: ...
    async def artifact_suffix(self, checksums: Collection[str]) -> Mapping[str, str]: ...
    async def artifacts_after(
        self, after: str, limit: int
    ) -> Sequence[tuple[str, str, int]]: ...  # checksum, suffix, size
    async def bytes_missing(self, checksums: Collection[str]) -> int: ...  # READY that used them → DIRTY/PENDING
    async def uploaded_in_vain(self, uploaded: Uploaded) -> None: ...  # refused bytes: to be collected
    async def usage(self) -> Sequence[Usage]: ...
    async def artifact_total(self) -> tuple[int, int]: ...  # how many, and their bytes
    async def unused(self) -> Sequence[Unused]: ...
    async def collectable(
        self, limit: int, *, after: str = "", at_once: bool = False
    ) -> Sequence[tuple[str, str]]: ...  # marked for collecting by this call
    async def collected(self, checksums: Collection[str]) -> None: ...
    async def raise_era(self) -> int: ...
    async def untouched(self) -> bool: ...  # no dispatch ever began
    async def ticket_keys(
        self,
    ) -> tuple[float, Mapping[str, tuple[bytes, float]]]: ...  # the database's time, key id -> (secret, created)
    async def add_ticket_key(self, key_id: str, secret: bytes) -> None: ...


# --- Artifacts, checks ---


class ArtifactStoreUnavailableError(Exception):
    """Raised when the store's sentinel cannot be read: no state changes, no admissions (CONTRACT 11)."""


class ArtifactStore(Protocol):
    """Bytes by checksum. Immutable: what is there under a checksum is whole."""

    @property
    def where(self) -> str:
        """Where the store is, for people."""
        ...

    async def put(self, source: Path, suffix: str) -> tuple[str, int]:
        """Take a finished file in, whole or not at all: (checksum, size). The source stays where it is.

        Raises `StorageFullError` and `ArtifactStoreUnavailableError`.
        """
        ...

    async def path(self, checksum: str, suffix: str) -> Path | None:
        """A readable file with these bytes, or None when they are positively absent.

        The file may be a copy of what the store holds: whether the store still holds it, `missing` says.
        Raises `ArtifactStoreUnavailableError`.
        """
        ...

    async def missing(self, artifacts: Sequence[tuple[str, str]]) -> Sequence[tuple[str, str]]:
        """Those (checksum, suffix) of whose bytes the store positively holds none.

        Raises `ArtifactStoreUnavailableError`.
        """
        ...

    async def whole(self, checksum: str, suffix: str) -> bool | None:
        """Whether the bytes that the store holds are the right ones, read from the store; None when it holds none.

        Raises `ArtifactStoreUnavailableError`, and `OSError` when they cannot be read, which proves nothing.
        """
        ...

    async def delete(self, checksum: str, suffix: str) -> None:
        """Remove the bytes; absent is fine."""
        ...

    async def check(self) -> Reason | None:
        """ARTIFACT_STORE_UNAVAILABLE, DISK_LOW, or None when all is well.

        Raises `ArtifactStoreUnavailableError` where there is more to be said than that it cannot be read.
        """
        ...


class Checker(Protocol):
    """Decides whether bytes are as ordered, outside the process that keeps time (decoding happens in a child)."""

    async def check(self, media: str, kind: str, structure: Structure, path: Path) -> tuple[Facts, str | None]:
        """The probed facts, and one sentence when the bytes are not what was ordered."""
        ...
