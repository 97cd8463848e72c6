"""Counting failures: against the part, from its present claim only, and what follows for its asset (CONTRACT 9)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final

from sqlalchemy import Connection

from animastor.engine.backoff import backoff_s
from animastor.engine.ports import VANISHED_LIMIT, Counted, Ended, PartFailure
from animastor.engine.reasons import JournalType, Reason
from animastor.engine.states import PartState, State, Wait
from animastor.media.registry import Registry
from animastor.protocol import MERGE, DispatchId, FailureType
from animastor.storage import journal
from animastor.storage.failed import fail, last_errors
from animastor.storage.locking import lock_assets
from animastor.storage.rows import Statement, fetch, now
from animastor.storage.tally import refresh_tally
from animastor.storage.waiting import StepBack, step_back

HELD_S: Final = 30.0  # back-off longer than this never holds a slot
INFRA_FACTOR: Final = 3
VANISHED: Final = "worker_vanished"

_READ = Statement(
    "failures_read",
    "The parts that failures are of, with their assets.",
    """
    SELECT p.asset, p.hash, p.kind, p.wanted, p.attempts, p.infra_attempts, p.vanished, p.state AS part_state,
           p.not_before, a.book_key, a.media, a.state, a.dispatch_id, a.fence,
           CASE r.state WHEN 'paused' THEN 1 ELSE 0 END AS held
    FROM {keys} AS one
    JOIN part p ON p.asset = one.asset AND p.hash = one.hash
    JOIN asset a ON a.id = one.asset
    LEFT JOIN request r ON r.id = a.request_id
    """,
    keys={"asset": int, "hash": str},
)
_COUNT = Statement(
    "count_failures",
    "Counts where the part is still to be made and neither this nor a later claim was counted. What may have been paid"
    " for always counts, once: also of a claim that was taken for dead before it was heard again, else the job would be"
    " paid for a second time.",
    """
    UPDATE part SET attempts = attempts + CASE WHEN last_claim < f.claim THEN f.tries ELSE 0 END,
        infra_attempts = infra_attempts + f.infra, vanished = vanished + f.gone, corrupt = corrupt + f.bad,
        not_before = f.later,
        last_claim = CASE WHEN last_claim < f.claim THEN f.claim ELSE last_claim END,
        failure = f.type, code = f.word, message = f.text, worker = f.by,
        state = CASE WHEN f.lost = 1 THEN {PART_LOST} ELSE {PART_MISSING} END
    FROM {failures} AS f
    WHERE part.asset = f.of_asset AND part.hash = f.of_hash AND part.state = {PART_MISSING}
      AND (part.last_claim < f.claim OR (f.word = :uncertain AND part.code <> :uncertain))
    RETURNING part.asset, part.hash
    """,
    failures={
        "of_asset": int, "of_hash": str, "claim": int, "tries": int, "infra": int, "gone": int, "bad": int,
        "lost": int, "later": float, "type": str, "word": str, "text": str, "by": str,
    },
)  # fmt: skip
_LEFT = Statement(
    "left_to_make",
    "What is still to be made of some assets: how many parts, when the first may start; what was given up.",
    """
    SELECT p.asset,
           sum(CASE WHEN p.state = {PART_MISSING} AND p.kind <> :merge THEN 1 ELSE 0 END) AS missing,
           sum(CASE WHEN p.state = {PART_LOST} THEN 1 ELSE 0 END) AS lost,
           min(CASE WHEN p.state = {PART_MISSING} AND p.kind <> :merge THEN p.not_before END) AS parts_from,
           min(CASE WHEN p.state = {PART_MISSING} AND p.kind = :merge THEN p.not_before END) AS merge_from
    FROM {assets} AS one JOIN part p ON p.asset = one.asset
    WHERE p.wanted = 1 GROUP BY p.asset
    """,
    assets={"asset": int},
)


@dataclass(frozen=True, slots=True)
class _Judged:
    """What a failure does to its part. `tries` and `infra` are added to the counts."""

    tries: int
    infra: int
    gone: int
    lost: bool
    wait_s: float
    code: str


@dataclass(slots=True)
class _Moved:
    """The assets that failures of the batch moved."""

    ended: dict[int, Ended | None] = field(default_factory=dict)
    failed: set[int] = field(default_factory=set)


def count_failures(connection: Connection, registry: Registry, failures: Sequence[PartFailure]) -> list[Counted]:
    """Count failures; the n-th answer belongs to the n-th.

    Of one part, the failure of the newest claim counts, and before it what may have been paid for.
    """
    lock_assets(connection, (one.asset for one in failures))
    newest: dict[tuple[int, str], PartFailure] = {}
    for one in failures:
        key = (one.asset, one.hash)
        if key not in newest or _weight(newest[key]) < _weight(one):
            newest[key] = one
    rows = {(row.asset, row.hash): row for row in fetch(connection, _READ, keys=sorted(newest))}
    judged = {key: judge(registry, rows[key], newest[key]) for key in rows}
    at = now(connection)
    given = [_given(newest[key], one, at) for key, one in sorted(judged.items())]
    counted = {(row.asset, row.hash) for row in _count(connection, given)}
    _journal(connection, rows, newest, judged, counted, at)
    _journal_late(connection, [one for one in failures if (one.asset, one.hash) not in counted and _is_late(one, rows)])
    moved = _derive(connection, registry, [rows[key] for key in sorted(counted)], at)
    answers: list[Counted] = []
    for one in failures:
        key = (one.asset, one.hash)
        if key not in counted:
            answers.append(_stale(one, rows.get(key)))
            continue
        answer = _answer(one, rows[key], judged[key], moved, at)
        answers.append(answer if newest[key] is one else replace(answer, reason=Reason.STALE_CLAIM))
    return answers


def _weight(failure: PartFailure) -> tuple[bool, int]:
    return failure.code == Reason.UNCERTAIN, failure.claim_no


def _count(connection: Connection, given: Sequence[tuple[object, ...]]) -> Sequence[Any]:
    return fetch(connection, _COUNT, failures=given, uncertain=Reason.UNCERTAIN.value) if given else ()


def judge(registry: Registry, row: Any, failure: PartFailure) -> _Judged:
    """What this failure means for its part, by type and limits. Pure."""
    limit = registry[row.media].retry_limit
    infra = failure.failure is FailureType.INFRASTRUCTURE
    hopeless = failure.failure in (FailureType.PERMANENT, FailureType.ORCHESTRATION)
    counted = failure.failure is not FailureType.MISCONFIGURED
    tries, infra_tries = int(counted and not infra), int(infra)
    gone = int(failure.code == VANISHED)
    poison = gone and row.vanished + gone >= VANISHED_LIMIT
    attempts, infra_attempts = row.attempts + tries, row.infra_attempts + infra_tries
    worn = attempts >= limit or infra_attempts >= INFRA_FACTOR * limit
    lost = bool(hopeless or poison or (counted and worn))
    wait = backoff_s(infra_attempts if infra else attempts, failure.jitter) if counted else 0.0
    return _Judged(tries, infra_tries, gone, lost, wait, Reason.POISON if poison else failure.code)


def _given(failure: PartFailure, judged: _Judged, at: float) -> tuple[object, ...]:
    return (
        failure.asset,
        failure.hash,
        failure.claim_no,
        judged.tries,
        judged.infra,
        judged.gone,
        int(failure.code == Reason.CORRUPT_ARTIFACT),
        int(judged.lost),
        0.0 if judged.lost else at + judged.wait_s,
        failure.failure.value,
        judged.code,
        failure.message,
        failure.worker,
    )


def _journal(
    connection: Connection,
    rows: dict[tuple[int, str], Any],
    failures: dict[tuple[int, str], PartFailure],
    judged: dict[tuple[int, str], _Judged],
    counted: set[tuple[int, str]],
    at: float,
) -> None:
    for key in sorted(counted):
        row, failure, one = rows[key], failures[key], judged[key]
        about = _about(failure, lost=one.lost, not_before=0.0 if one.lost else at + one.wait_s)
        member = (failure.asset, row.dispatch_id or None, about)
        journal.record(connection, JournalType.PART_FAILED, State(row.state), one.code, [member])


def _about(failure: PartFailure, **more: object) -> str:
    """What the journal says of a failure."""
    return journal.details(
        hash=failure.hash,
        kind=failure.kind,
        type=failure.failure.value,
        message=failure.message,
        worker=failure.worker,
        **more,
    )


def _is_late(failure: PartFailure, rows: dict[tuple[int, str], Any]) -> bool:
    row = rows.get((failure.asset, failure.hash))
    return row is not None and row.state == State.READY


def _journal_late(connection: Connection, late: Sequence[PartFailure]) -> None:
    """An error of what is READY all the same is told, and changes nothing (CONTRACT 9)."""
    members = [(one.asset, None, _about(one, code=one.code)) for one in late]
    journal.record(connection, JournalType.PART_REFUSED, State.READY, Reason.STALE_CLAIM, members)


def _derive(connection: Connection, registry: Registry, rows: Sequence[Any], at: float) -> _Moved:
    """FAILED when a part is lost and nothing else can go on; rolled back when all that remains is long delayed."""
    assets = {row.asset: row for row in rows if row.wanted}
    moved = _Moved()
    if not assets:
        return moved
    left = fetch(connection, _LEFT, assets=sorted(assets), merge=MERGE)
    stuck = [one for one in left if one.lost and not one.missing]
    delayed = [one for one in left if not (one.lost and not one.missing) and _starts(one) > at + HELD_S]
    _fail(connection, registry, stuck, assets, rows, moved)
    running = [one for one in delayed if assets[one.asset].state == State.GENERATING]
    _wait(connection, registry, running, assets, moved)
    refresh_tally(connection, ((row.book_key, row.media, asset) for asset, row in assets.items()))
    return moved


def _starts(left: Any) -> float:
    """When the first of what is left may start; the merge only when no part is missing."""
    return float((left.parts_from if left.missing else left.merge_from) or 0.0)


def _fail(
    connection: Connection,
    registry: Registry,
    stuck: Iterable[Any],
    assets: dict[int, Any],
    rows: Sequence[Any],
    moved: _Moved,
) -> None:
    wanted = {one.asset for one in stuck if assets[one.asset].state in (State.PENDING, State.GENERATING)}
    messages = dict(last_errors(connection, sorted(wanted)))
    failed = fail(connection, registry, [(asset, Reason.PART_LOST, messages[asset]) for asset in sorted(wanted)])
    moved.ended.update(failed)
    moved.failed.update(failed)


def _wait(
    connection: Connection, registry: Registry, delayed: Sequence[Any], assets: dict[int, Any], moved: _Moved
) -> None:
    """Back-off never holds a slot for long: PENDING until the earliest part may start."""
    steps = [
        StepBack(one.asset, assets[one.asset].dispatch_id, Reason.WAITING_FOR_RETRY, Wait.BACKOFF, until=_starts(one))
        for one in delayed
    ]
    moved.ended.update({one.asset: one.ended for one in step_back(connection, registry, steps)})


def _answer(failure: PartFailure, row: Any, judged: _Judged, moved: _Moved, at: float) -> Counted:
    running = row.state == State.GENERATING and failure.asset not in moved.ended
    return Counted(
        reason=Reason.COUNTED,
        asset=failure.asset,
        lost=judged.lost,
        not_before=0.0 if judged.lost else at + judged.wait_s,
        ended=moved.ended.get(failure.asset),
        current=DispatchId(row.dispatch_id) if running else None,
        fence=row.fence if running else 0,
        held=bool(row.held),
    )


def _stale(failure: PartFailure, row: Any) -> Counted:
    """Counted before, or never to be: what its job still needs is told again, for whoever did not hear of it."""
    over = row is None or row.part_state != PartState.MISSING
    return Counted(Reason.STALE_CLAIM, failure.asset, lost=over, not_before=0.0 if over else row.not_before)
