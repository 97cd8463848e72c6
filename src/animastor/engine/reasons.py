"""Reason codes: stable words that appear in answers, the journal, the API and metrics."""

from __future__ import annotations

from enum import StrEnum


class Reason(StrEnum):
    """Why something was refused, accepted, rolled back or failed. Names and meanings: CONTRACT."""

    # admission
    GRANTED = "granted"
    CIRCUIT_OPEN = "circuit_open"
    HALF_OPEN_LIMIT = "half_open_limit"
    DUPLICATE = "duplicate"
    BACKPRESSURE = "backpressure"
    BACKOFF = "backoff"
    RELEASED = "released"  # this dispatch id has ended
    ERA_WINDOW = "era_window"
    DISK_LOW = "disk_low"
    ARTIFACT_STORE_UNAVAILABLE = "artifact_store_unavailable"
    OTHER_PLANNER = "other_planner"  # the database's plans are of another version of the program
    COORDINATION_UNAVAILABLE = "coordination_unavailable"
    DATABASE_UNAVAILABLE = "database_unavailable"
    # plans and dispatches
    EMPTY = "empty"
    RESTORED = "restored"
    REUSED = "reused"
    STALE_PLAN = "stale_plan"
    NO_ACTIVE_DISPATCH = "no_active_dispatch"
    ENQUEUE_FAILED = "enqueue_failed"
    NO_WORKER = "no_worker"
    SCENE_REMOVED = "scene_removed"
    DELETED = "deleted"  # with its book
    FORCED = "forced"
    RESTART = "restart"
    LOST_BOTH = "lost_both"  # neither lease nor job
    WAITING_FOR_RETRY = "waiting_for_retry"
    WAIT_DRIFT = "wait_drift"  # a wait bit whose cause was gone; never, unless there is a fault
    WAITING_ON = "waiting_on"  # followed by :<media>
    REQUIRES_FAILED = "requires_failed"  # followed by :<media>
    EDITED = "edited"
    REBUILD = "rebuild"  # other takes were asked for
    PINNED = "pinned"
    UNPINNED = "unpinned"
    SUPPLIED = "supplied"
    CHOSEN = "chosen"  # another take
    GIVEN_LOST = "given_lost"  # the bytes of a pinned or supplied part are gone: the plan makes its own
    REQUESTED = "requested"
    CANCELLED = "cancelled"
    PAUSED = "paused"
    RESUMED = "resumed"
    PRIORITY = "priority"
    POSITION = "position"
    LAYERS = "layers"
    SUPERSEDED = "superseded"
    PART_LOST = "part_lost"
    UNCERTAIN = "uncertain"  # a paid call whose answer was lost
    ORCHESTRATION = "orchestration"
    INVALID_TRANSITION = "invalid_transition"
    # results
    ACCEPTED = "accepted"
    ALREADY_ACCEPTED = "already_accepted"
    LATE_ACCEPT = "late_accept"
    STALE_PART = "stale_part"
    STALE_VERSION = "stale_version"
    STALE_CLAIM = "stale_claim"
    UNKNOWN_PART = "unknown_part"
    NOT_CLAIMER = "not_claimer"
    CORRUPT_ARTIFACT = "corrupt_artifact"
    ARTIFACT_MISSING = "artifact_missing"
    ARTIFACT_GONE = "artifact_gone"
    BAD_INPUT = "bad_input"
    COUNTED = "counted"
    MISCONFIGURED = "misconfigured"  # the job went back, nothing was counted
    # workers
    JOB_TIMEOUT = "job_timeout"
    WORKER_SILENT = "worker_silent"
    WORKER_VANISHED = "worker_vanished"  # a claim that went with its silent worker; three times is poison
    POISON = "poison"


class JournalType(StrEnum):
    """What a journal row says happened to an asset (CONTRACT 16)."""

    REQUESTED = "REQUESTED"
    DISPATCHED = "DISPATCHED"
    SKIPPED = "SKIPPED"
    PART_ACCEPTED = "PART_ACCEPTED"
    PART_REFUSED = "PART_REFUSED"
    PART_FAILED = "PART_FAILED"
    MERGED = "MERGED"
    READY = "READY"
    DIRTY = "DIRTY"
    FAILED = "FAILED"
    ROLLED_BACK = "ROLLED_BACK"
    CANCELLED = "CANCELLED"
    FINALIZED = "FINALIZED"
    REPLANNED = "REPLANNED"
    INVALID_TRANSITION = "INVALID_TRANSITION"
    CIRCUIT_OPENED = "CIRCUIT_OPENED"
    CIRCUIT_HALF_OPENED = "CIRCUIT_HALF_OPENED"
    CIRCUIT_CLOSED = "CIRCUIT_CLOSED"
    RECOVERED = "RECOVERED"
    EDITED = "EDITED"
    SWEPT = "SWEPT"
    RELABELLED = "RELABELLED"
    STEERED = "STEERED"  # a request was paused, resumed, narrowed, moved
    SNAPSHOT = "SNAPSHOT"  # what is left of pruned rows: where the asset stood
    REMOVED = "REMOVED"  # the asset left with its scene
