"""Storing plans: compared inside statements, and what follows from the comparison at once (CONTRACT 4).

A batch is written in few statements: the plans, where each was made from what still stands; their parts; what of them
is there already. Then every asset moves by the one transition that its state and its parts allow.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Final

from sqlalchemy import Connection

from animastor.engine.ports import Ended, JobSource, PlanStored, StorePlan
from animastor.engine.reasons import JournalType, Reason
from animastor.engine.states import PartState, State, Wait
from animastor.media.registry import Registry
from animastor.protocol import AssetId, DispatchId
from animastor.storage import dependants, journal
from animastor.storage.entering import enter_required
from animastor.storage.failed import fail, last_errors
from animastor.storage.locking import lock_assets
from animastor.storage.planparts import HeldParts, distinct, job_source, write_parts
from animastor.storage.ready import Finishing, finish
from animastor.storage.rows import STATES, Statement, fetch, need_not_last
from animastor.storage.tally import Tally, drop_tally, write_tally
from animastor.storage.waiting import Reopening, StepBack, reopen, step_back
from animastor.storage.whole import Gathering, changed, gather

_BEFORE = Gathering(
    "plan_before",
    "Assets as they are before their plans are stored.",
    """
    SELECT a.id, a.book_key, a.scene_key, a.media, a.workspace, a.state, a.plan_seq, a.planned_seq, a.wanted_hash,
           a.artifact_hash, a.dispatch_id, a.fence, a.reason
    FROM {assets} AS one JOIN asset a ON a.id = one.asset
    """,
    assets={"asset": int},
)
_STORE = Statement(
    "store_plan",
    "Stores what is wanted, where it was made from what still stands; waiting clears it and sets the wait bits. Why a"
    " due asset could not start is kept: it is planned each time that it is looked at.",
    """
    UPDATE asset SET planned_seq = p.seq, wanted_hash = p.wanted,
        reason = CASE WHEN asset.state = {FAILED} THEN asset.reason
            WHEN asset.state = {PENDING} AND p.why = '' AND asset.reason NOT LIKE 'waiting_on%' THEN asset.reason
            ELSE p.why END,
        waits = (waits & ~({WAIT_REQUIRES} | {WAIT_FOLLOWS})) | p.bits
    FROM {plans} AS p
    WHERE asset.id = p.asset AND asset.plan_seq = p.seq
        AND (SELECT m.value FROM meta m WHERE m.name = 'planner') = :planner
    RETURNING asset.id
    """,
    plans={"asset": int, "seq": int, "wanted": str, "bits": int, "why": str},
)
_DROPPED = Statement(
    "dropped_parts",
    "Unwanted parts whose jobs may still be there.",
    """
    SELECT p.asset, p.kind, p.hash FROM {assets} AS one JOIN part p ON p.asset = one.asset
    WHERE p.wanted = 0 AND p.state = {PART_MISSING} ORDER BY p.asset, p.hash
    """,
    assets={"asset": int},
)
_FAILED_BESIDE = Statement(
    "failed_beside",
    "FAILED assets beside some, in their scenes.",
    """
    SELECT a.id, o.media FROM {assets} AS one JOIN asset a ON a.id = one.asset
    JOIN asset o ON o.scene_key = a.scene_key AND o.state = {still_FAILED}
    """,
    assets={"asset": int},
)
_RESTORED: Final = (Reason.EMPTY, Reason.RESTORED, Reason.REUSED)


@dataclass(slots=True)
class _Item:
    """An asset with its plan, and what becomes of both. `lost`: parts that were given up."""

    plan: StorePlan
    before: Any
    state: State
    missing: list[JobSource] = field(default_factory=list)
    lost: int = 0
    reason: Reason = Reason.GRANTED
    ended: Ended | None = None
    dropped: list[tuple[str, str]] = field(default_factory=list)

    @property
    def changed(self) -> bool:
        """The plan wants something else than the one before it."""
        return bool(self.before.wanted_hash != self.plan.wanted_hash)

    @property
    def current(self) -> bool:
        """READY, and still what is wanted."""
        return self.state is State.READY and bool(self.before.artifact_hash == self.plan.wanted_hash)

    @property
    def only_planned(self) -> bool:
        """PENDING as before, with something to make: nothing but its plan was written."""
        return self.before.state == State.PENDING == self.state and self.reason is Reason.GRANTED

    @property
    def scene_media(self) -> tuple[int, str]:
        return self.before.scene_key, self.before.media

    @property
    def place(self) -> tuple[int, str, int]:
        return self.before.book_key, self.before.media, self.plan.asset


def store_plans(
    connection: Connection, registry: Registry, planner: int, plans: Sequence[StorePlan]
) -> list[PlanStored]:
    """Store plans and move their assets accordingly; the n-th answer belongs to the n-th plan.

    Those of another planner than the database's are stale: plans of both would take turns (CONTRACT 11, versions).
    """
    lock_assets(connection, (plan.asset for plan in plans))
    before = {row.id: row for row in gather(connection, _BEFORE, assets=sorted({plan.asset for plan in plans}))}
    stored = _store(
        connection, registry, planner, [(plan, before[plan.asset]) for plan in plans if plan.asset in before]
    )
    items = [
        _Item(plan, before[plan.asset], STATES[before[plan.asset].state]) for plan in plans if plan.asset in stored
    ]
    _settle_planned(connection, registry, [item for item in items if not item.plan.waiting_on])
    _settle_waiting(connection, registry, [item for item in items if item.plan.waiting_on])
    if all(item.only_planned for item in items):
        need_not_last(connection)  # it is planned again, or begins by a commit that comes later
    by_asset = {item.plan.asset: item for item in items}
    return [_answer(plan, by_asset.get(plan.asset), before.get(plan.asset)) for plan in plans]


def _store(
    connection: Connection, registry: Registry, planner: int, plans: Sequence[tuple[StorePlan, Any]]
) -> set[int]:
    rows = [
        (plan.asset, plan.plan_seq, plan.wanted_hash if not plan.waiting_on else "", *_waiting(registry, row, plan))
        for plan, row in plans
    ]
    if not rows:
        return set()
    return set(changed(connection, _STORE, [row[0] for row in rows], plans=rows, planner=planner))


def _waiting(registry: Registry, row: Any, plan: StorePlan) -> tuple[int, str]:
    """The wait bits and the reason of a plan."""
    if not plan.waiting_on:
        return 0, ""
    media, bits = registry[row.media], Wait(0)
    for on in plan.waiting_on:
        if on in media.requires:
            bits |= Wait.REQUIRES
        elif on in media.follows:
            bits |= Wait.FOLLOWS
    return int(bits), f"{Reason.WAITING_ON}:{plan.waiting_on[0]}"


def _answer(plan: StorePlan, item: _Item | None, row: Any) -> PlanStored:
    if item is None:
        return PlanStored(plan.asset, Reason.STALE_PLAN, STATES[row.state] if row is not None else State.NEW)
    running = item.state is State.GENERATING
    return PlanStored(
        asset=plan.asset,
        reason=item.reason,
        state=item.state,
        missing=tuple(item.missing) if item.state in (State.PENDING, State.GENERATING) else (),
        dropped=tuple(item.dropped) if running else (),
        ended=item.ended,
        dispatch_id=DispatchId(item.before.dispatch_id) if running else None,
        fence=item.before.fence if running else 0,
    )


# --- plans that say what to make ---


def _settle_planned(connection: Connection, registry: Registry, items: Sequence[_Item]) -> None:
    if not items:
        return
    held, reused = write_parts(
        connection, [(item.plan, item.before.workspace, item.before.planned_seq > 0) for item in items]
    )
    for item in items:
        _look(item, held)
    _reopen_changed(connection, registry, items)
    _finish_whole(connection, registry, items, {asset for asset, _ in reused})
    _fail_lost(connection, registry, items)
    _list_dropped(connection, [item for item in items if item.state is State.GENERATING])
    write_tally(connection, [_tally(item, held) for item in items])
    dependants.raise_waiting(connection, registry, [item.scene_media for item in items if item.current])


def _look(item: _Item, held: HeldParts) -> None:
    """What is missing and lost of a plan; the merge only when everything else is there."""
    plan = item.plan
    parts = [(part, held[plan.asset, part.hash]) for part in distinct(plan.parts)]
    merge = held[plan.asset, plan.merge.hash] if plan.merge is not None else None
    if merge is not None and merge.ready and all(one.known for _, one in parts):
        return
    item.lost = sum(one.state is PartState.LOST for _, one in parts)
    item.missing = [job_source(part, one) for part, one in parts if one.state is PartState.MISSING]
    if plan.merge is None or merge is None or item.lost or item.missing:
        return
    if merge.state is PartState.LOST:
        item.lost = 1
    else:
        inputs = tuple(held[plan.asset, part.hash].artifact for part in plan.parts)
        item.missing = [job_source(plan.merge, merge, inputs)]


def _reopen_changed(connection: Connection, registry: Registry, items: Sequence[_Item]) -> None:
    """READY with another wanted hash, and FAILED whose wanted hash changed: DIRTY, or PENDING if covered."""
    moving = {
        item.plan.asset: item
        for item in items
        if (item.state is State.READY and not item.current) or (item.state is State.FAILED and item.changed)
    }
    for rested in reopen(connection, registry, map(partial(_reopening, registry), moving.values())):
        moving[AssetId(rested.asset)].state = rested.state


def _reopening(registry: Registry, item: _Item) -> Reopening:
    bits, why = _waiting(registry, item.before, item.plan)
    return Reopening(item.plan.asset, item.state, item.plan.plan_seq, bits, why or Reason.EDITED)


def _finish_whole(connection: Connection, registry: Registry, items: Sequence[_Item], reused: set[int]) -> None:
    whole = [item for item in items if not item.missing and not item.lost and not item.current]
    for item in whole:
        if not item.plan.parts:
            item.reason = Reason.EMPTY
        else:
            item.reason = Reason.REUSED if item.plan.asset in reused else Reason.RESTORED
    done = finish(connection, registry, [_finishing(item) for item in whole if item.state is not State.READY])
    for item in whole:
        if item.plan.asset in done.ready:
            item.state, item.ended = State.READY, done.ended.get(item.plan.asset)


def _finishing(item: _Item) -> Finishing:
    row = item.before
    return Finishing(
        row.id, row.scene_key, row.media, item.state, row.dispatch_id, row.fence, item.plan.wanted_hash, item.reason
    )


def _fail_lost(connection: Connection, registry: Registry, items: Sequence[_Item]) -> None:
    """A part was given up and nothing else can go on."""
    stuck = [item for item in items if item.lost and not item.missing]
    stuck = [item for item in stuck if item.state in (State.PENDING, State.GENERATING)]
    messages = dict(last_errors(connection, [item.plan.asset for item in stuck]))
    failed = fail(connection, registry, [(asset, Reason.PART_LOST, message) for asset, message in messages.items()])
    for item in stuck:
        if item.plan.asset in failed:
            item.state, item.reason, item.ended = State.FAILED, Reason.PART_LOST, failed[item.plan.asset]


def _list_dropped(connection: Connection, running: Sequence[_Item]) -> None:
    if not running:
        return
    by_asset = {item.plan.asset: item for item in running}
    for row in fetch(connection, _DROPPED, assets=sorted(by_asset)):
        by_asset[row.asset].dropped.append((row.kind, row.hash))
    members = [(item.plan.asset, item.before.dispatch_id, "") for item in running if item.changed]
    journal.record(connection, JournalType.REPLANNED, State.GENERATING, Reason.EDITED, members)


def _tally(item: _Item, held: HeldParts) -> Tally:
    plan, whole = item.plan, item.state is State.READY
    count = ready = lost = 0
    work = done = 0.0
    for part in (*distinct(plan.parts), plan.merge):
        if part is None:
            continue
        state = held[plan.asset, part.hash].state
        count += 1
        work += part.work
        if whole or state is PartState.READY:
            ready += 1
            done += part.work
        elif state is PartState.LOST:
            lost += 1
    return (*item.place, count, ready, lost, work, done)


# --- plans that wait for another media type ---


def _settle_waiting(connection: Connection, registry: Registry, items: Sequence[_Item]) -> None:
    if not items:
        return
    for item in items:
        item.reason = Reason.WAITING_ON
    _step_back(connection, registry, [item for item in items if item.state is State.GENERATING])
    _reopen_changed(connection, registry, items)
    pending = [item for item in items if item.state is State.PENDING]
    skipped = [
        (item.plan.asset, None, why)
        for item in pending
        if (why := _waiting(registry, item.before, item.plan)[1]) != item.before.reason
    ]
    journal.record_each(connection, JournalType.SKIPPED, State.PENDING, skipped)
    drop_tally(connection, (item.place for item in items))
    _fail_hopeless(connection, registry, pending)
    awaited = sorted(_awaited(registry, pending))
    dependants.wait_for_nothing_in_vain(connection, awaited)
    enter_required(connection, registry, awaited)


def _awaited(registry: Registry, pending: Iterable[_Item]) -> Iterator[tuple[int, str, int]]:
    """Each asset with what its plan waits for, and the bit by which it does."""
    for item in pending:
        media = registry[item.before.media]
        for on in item.plan.waiting_on:
            if on in media.requires:
                yield item.plan.asset, on, int(Wait.REQUIRES)
            elif on in media.follows:
                yield item.plan.asset, on, int(Wait.FOLLOWS)


def _step_back(connection: Connection, registry: Registry, running: Sequence[_Item]) -> None:
    """A replan that waits ends the dispatch."""
    by_asset = {item.plan.asset: item for item in running}
    steps = []
    for item in running:
        bits, why = _waiting(registry, item.before, item.plan)
        steps.append(StepBack(item.plan.asset, item.before.dispatch_id, why, bits))
    for rested in step_back(connection, registry, steps):
        item = by_asset[AssetId(rested.asset)]
        item.state, item.ended = rested.state, rested.ended


def _fail_hopeless(connection: Connection, registry: Registry, pending: Iterable[_Item]) -> None:
    """What waits for a required asset that has FAILED, has failed as well."""
    by_asset: dict[int, _Item] = {item.plan.asset: item for item in pending}
    if not by_asset:
        return
    rows = [
        (row.id, f"{Reason.REQUIRES_FAILED}:{row.media}", f"the {row.media} of this scene could not be made")
        for row in fetch(connection, _FAILED_BESIDE, assets=sorted(by_asset))
        if row.media in registry[by_asset[row.id].before.media].requires
    ]
    for asset, ended in fail(connection, registry, rows).items():
        by_asset[asset].state, by_asset[asset].ended = State.FAILED, by_asset[asset].ended or ended
