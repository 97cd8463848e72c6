"""Accepting results: a part comes in, by its hash; completion is derived from the parts each time (CONTRACT 7).

A result never acts in the name of its own dispatch: what it completes, it completes for the asset's current one.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

import orjson
from sqlalchemy import Connection

from animastor.engine.ports import Accepted, Ended, JobSource, PartResult
from animastor.engine.reasons import JournalType, Reason
from animastor.engine.states import PartState, State
from animastor.media.registry import Registry
from animastor.protocol import MERGE, AssetId, DispatchId
from animastor.storage import journal, reuse
from animastor.storage.failed import fail
from animastor.storage.locking import lock_assets
from animastor.storage.parts import missing_sources
from animastor.storage.ready import Finishing, finish
from animastor.storage.rows import Statement, tell
from animastor.storage.tally import refresh_tally
from animastor.storage.whole import Gathering, changed, gather

_READ = Gathering(
    "results_read",
    "The parts that results are for, with their assets; then, with no hash, of each of these assets how many wanted"
    " parts are not there, and how many were given up; merges counted apart.",
    """
    SELECT p.asset, p.hash, p.kind, p.state, p.wanted, p.artifact, a.book_key, a.scene_key, a.media,
           a.state AS asset_state, a.dispatch_id, a.fence, a.made_by, a.wanted_hash,
           0 AS missing, 0 AS lost, 0 AS unmerged, 0 AS merge_lost
    FROM {keys} AS one
    JOIN part p ON p.asset = one.asset AND p.hash = one.hash
    JOIN asset a ON a.id = one.asset
    UNION ALL
    SELECT p.asset, '', '', 0, 0, '', 0, 0, '', 0, '', 0, '', '',
           sum(CASE WHEN p.state = {PART_MISSING} AND p.kind <> :merge THEN 1 ELSE 0 END),
           sum(CASE WHEN p.state = {PART_LOST} AND p.kind <> :merge THEN 1 ELSE 0 END),
           sum(CASE WHEN p.state = {PART_MISSING} AND p.kind = :merge THEN 1 ELSE 0 END),
           sum(CASE WHEN p.state = {PART_LOST} AND p.kind = :merge THEN 1 ELSE 0 END)
    FROM (SELECT DISTINCT one.asset FROM {keys} AS one) AS given JOIN part p ON p.asset = given.asset
    WHERE p.wanted = 1 GROUP BY p.asset
    """,
    keys={"asset": int, "hash": str},
)
_ARTIFACTS = Statement(
    "use_new_artifacts",
    "Bytes are there and in use; those that are being collected cannot be taken.",
    """
    INSERT INTO artifact (checksum, suffix, size) SELECT f.checksum, f.suffix, f.size FROM {files} AS f WHERE true
    ON CONFLICT (checksum) DO UPDATE SET unused_since = NULL WHERE artifact.collecting = 0
    RETURNING checksum
    """,
    files={"checksum": str, "suffix": str, "size": int},
)
_ACCEPT = Statement(
    "accept_parts",
    "A part is there: its artifact and facts. What failed before counts no more, but bytes that were not right do:"
    " else a part that is withdrawn again and again would never reach its limit.",
    """
    UPDATE part SET state = {PART_READY}, artifact = r.sum, facts = r.known, attempts = corrupt,
        infra_attempts = 0, vanished = 0, not_before = 0, failure = '', code = '', message = '',
        last_claim = CASE WHEN last_claim < r.claim THEN r.claim ELSE last_claim END
    FROM {rows} AS r
    WHERE part.asset = r.of_asset AND part.hash = r.of_hash AND part.state <> {PART_READY}
    RETURNING part.asset, part.hash
    """,
    rows={"of_asset": int, "of_hash": str, "sum": str, "known": str, "claim": int},
)
_LOOK_AGAIN = Statement(
    "look_again",
    "An asset that rests has got what it wanted: its plan is looked at again, and may restore it. What is just about to"
    " begin does so with what is missing now; it may lack nothing that a worker would have to make.",
    """
    UPDATE asset SET plan_seq = plan_seq + 1, waits = asset.waits & ~{WAIT_NO_WORKER} FROM {assets} AS one
    WHERE asset.id = one.asset AND asset.state IN ({still_PENDING}, {still_DIRTY}, {still_FAILED})
      AND asset.planned_seq = asset.plan_seq
    """,
    assets={"asset": int},
)
_KEPT: Final = (Reason.ACCEPTED, Reason.LATE_ACCEPT, Reason.ALREADY_ACCEPTED)


@dataclass(slots=True)
class _Touched:
    """An asset that results of the batch were for, and what follows for it."""

    row: Any
    running: bool
    merge: JobSource | None = None
    ended: Ended | None = None
    replan: bool = False
    ready: bool = False


@dataclass(slots=True)
class _Open:
    """How many wanted parts of an asset are not there, and how many were given up; merges apart."""

    missing: int
    lost: int
    unmerged: int
    merge_lost: int

    def take(self, row: Any) -> None:
        """A part is there now that was not."""
        was, merge = row.state, row.kind == MERGE
        self.missing -= was == PartState.MISSING and not merge
        self.lost -= was == PartState.LOST and not merge
        self.unmerged -= was == PartState.MISSING and merge
        self.merge_lost -= was == PartState.LOST and merge


@dataclass(slots=True)
class _Batch:
    """What is known of a batch while it is written."""

    rows: dict[tuple[int, str], Any]
    open: dict[int, _Open]
    reasons: dict[tuple[int, str], Reason] = field(default_factory=dict)
    touched: dict[int, _Touched] = field(default_factory=dict)


def accept(connection: Connection, registry: Registry, results: Sequence[PartResult]) -> list[Accepted]:
    """Take results in; the n-th answer belongs to the n-th result. The first of equal ones counts, as ever."""
    lock_assets(connection, (one.asset for one in results))
    first: dict[tuple[int, str], PartResult] = {}
    for one in results:
        first.setdefault((one.asset, one.hash), one)
    batch = _read(connection, sorted(first))
    _take_in(connection, batch, first)
    _derive(connection, registry, batch)
    return [_answer(batch, one, repeated=first[one.asset, one.hash] is not one) for one in results]


def _read(connection: Connection, keys: Sequence[tuple[int, str]]) -> _Batch:
    rows = gather(connection, _READ, keys=keys, merge=MERGE)
    counts = {row.asset: _Open(row.missing, row.lost, row.unmerged, row.merge_lost) for row in rows if not row.hash}
    return _Batch({(row.asset, row.hash): row for row in rows if row.hash}, counts)


def _take_in(connection: Connection, batch: _Batch, first: dict[tuple[int, str], PartResult]) -> None:
    new = {key: one for key, one in first.items() if key in batch.rows and batch.rows[key].state != PartState.READY}
    files = {one.uploaded.checksum: (one.uploaded.suffix, one.uploaded.size) for one in new.values()}
    usable = _use(connection, files)
    taken = {key: one for key, one in new.items() if one.uploaded.checksum in usable}
    rows = [
        (*key, one.uploaded.checksum, orjson.dumps(one.uploaded.facts).decode(), one.claim_no)
        for key, one in sorted(taken.items())
    ]
    if rows:
        tell(connection, _ACCEPT, rows=rows)
        reuse.let_go(connection, (one.uploaded.checksum for key, one in taken.items() if not batch.rows[key].wanted))
    for key, one in first.items():
        batch.reasons[key] = _reason(batch.rows.get(key), one, new=key in new, taken=key in taken)
    _journal(connection, batch, taken)
    for key, row in batch.rows.items():
        if row.wanted and key in taken:
            batch.open[row.asset].take(row)
        if row.wanted and batch.reasons[key] in _KEPT:
            batch.touched[row.asset] = _Touched(row, row.asset_state == State.GENERATING)


def _use(connection: Connection, files: dict[str, tuple[str, int]]) -> set[str]:
    if not files:
        return set()
    rows = [(checksum, *rest) for checksum, rest in sorted(files.items())]
    return set(changed(connection, _ARTIFACTS, [row[0] for row in rows], files=rows))


def _reason(row: Any, result: PartResult, *, new: bool, taken: bool) -> Reason:
    if row is None:
        return Reason.UNKNOWN_PART
    if not new:
        return Reason.ALREADY_ACCEPTED
    if not taken:
        return Reason.ARTIFACT_GONE
    if not row.wanted:
        return Reason.STALE_PART
    current = row.asset_state == State.GENERATING and row.dispatch_id == result.dispatch_id
    return Reason.ACCEPTED if current else Reason.LATE_ACCEPT


def _journal(connection: Connection, batch: _Batch, taken: dict[tuple[int, str], PartResult]) -> None:
    told: dict[tuple[bool, int, Reason], list[journal.Member]] = defaultdict(list)
    for key, one in taken.items():
        row = batch.rows[key]
        about = journal.details(kind=row.kind, hash=row.hash)
        told[row.kind == MERGE, row.asset_state, batch.reasons[key]].append((one.asset, one.dispatch_id, about))
    for (merged, state, reason), members in told.items():
        type_ = JournalType.MERGED if merged else JournalType.PART_ACCEPTED
        journal.record(connection, type_, State(state), reason, members)


def _derive(connection: Connection, registry: Registry, batch: _Batch) -> None:
    """What the parts that are there now mean for each touched asset."""
    if not batch.touched:
        return
    whole: list[_Touched] = []
    merging: list[int] = []
    stuck: list[_Touched] = []
    for asset, touched in batch.touched.items():
        count = batch.open[asset]
        if count.missing:
            continue
        if count.lost or count.merge_lost:
            stuck.append(touched)
        elif count.unmerged:
            merging.append(asset)
        else:
            whole.append(touched)
    _finish(connection, registry, whole)
    _fail(connection, registry, stuck)
    _merges(connection, batch, merging)
    _look_again(connection, batch, [*(one.row.asset for one in whole), *merging])
    refresh_tally(connection, ((one.row.book_key, one.row.media, asset) for asset, one in batch.touched.items()))


def _look_again(connection: Connection, batch: _Batch, complete: Iterable[int]) -> None:
    resting = {asset for asset in complete if not batch.touched[asset].running}
    resting |= {asset for asset, one in batch.touched.items() if one.row.asset_state == State.PENDING}
    if resting:
        tell(connection, _LOOK_AGAIN, assets=sorted(resting))


def _finish(connection: Connection, registry: Registry, whole: Iterable[_Touched]) -> None:
    running = [one for one in whole if one.running]
    done = finish(connection, registry, [_finishing(one.row) for one in running])
    for one in running:
        asset = one.row.asset
        one.ready, one.replan, one.ended = asset in done.ready, asset not in done.ready, done.ended.get(asset)


def _finishing(row: Any) -> Finishing:
    return Finishing(
        row.asset,
        row.scene_key,
        row.media,
        State.GENERATING,
        row.dispatch_id,
        row.fence,
        row.wanted_hash,
        Reason.ACCEPTED,
    )


def _fail(connection: Connection, registry: Registry, stuck: Iterable[_Touched]) -> None:
    """The last part that could come has come, and another one was given up."""
    message = "a part of it was given up after too many failures"
    rows = {one.row.asset: one for one in stuck if one.running}
    failed = fail(connection, registry, [(asset, Reason.PART_LOST, message) for asset in sorted(rows)])
    for asset, ended in failed.items():
        rows[asset].ended = ended


def _merges(connection: Connection, batch: _Batch, merging: Iterable[int]) -> None:
    running = [asset for asset in merging if batch.touched[asset].running]
    sources = missing_sources(connection, running) if running else {}
    for asset in running:
        batch.touched[asset].merge = next(iter(sources.get(asset, ())), None)


def _answer(batch: _Batch, one: PartResult, *, repeated: bool) -> Accepted:
    key = (one.asset, one.hash)
    reason = batch.reasons[key]
    if repeated and reason in (Reason.ACCEPTED, Reason.LATE_ACCEPT):
        reason = Reason.ALREADY_ACCEPTED
    touched = batch.touched.get(one.asset)
    if touched is None or reason not in _KEPT:
        return Accepted(reason, one.asset)
    row = touched.row
    if touched.replan and batch.rows[key].kind == MERGE:
        reason = Reason.STALE_VERSION
    ended = touched.ended
    if row.asset_state == State.READY and row.made_by:  # the answer was lost: releasing is repeated with it
        ended = Ended(AssetId(row.asset), DispatchId(row.made_by))
    return Accepted(
        reason=reason,
        asset=one.asset,
        current=DispatchId(row.dispatch_id) if touched.running else None,
        fence=row.fence if touched.running else 0,
        merge=touched.merge,
        ended=ended,
        replan=touched.replan,
        ready=touched.ready or row.asset_state == State.READY,
    )
