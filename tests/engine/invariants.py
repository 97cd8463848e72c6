"""The invariants of CONTRACT 17, looked at from outside: tables, leases, jobs and bytes, never the engine's own word.

`always` holds at any moment between two steps; `at_rest` holds once nothing is left to do.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from typing import TYPE_CHECKING, Any

import orjson
from sqlalchemy import text
from toys import content_of

from animastor.engine.ports import Selection
from animastor.engine.reasons import Reason
from animastor.engine.replaying import replay
from animastor.engine.states import State
from animastor.media.giving import GIVEN
from animastor.protocol import MERGE, Pair

if TYPE_CHECKING:
    from stage import Stage

ENDS = ("done", "done_with_failures", "cancelled", "superseded")


async def always(stage: Stage) -> None:
    """Raises `AssertionError` with the first invariant that does not hold."""
    await _no_pair_above_its_quota(stage)
    await _ready_is_true(stage)
    await _one_outcome_each(stage)
    await _jobs_belong_to_dispatches(stage)
    await _only_the_covered_are_busy(stage)


async def at_rest(stage: Stage) -> None:
    """Raises `AssertionError` with the first invariant that does not hold when nothing is left to do."""
    await always(stage)
    assert await stage.coordination.leases(Selection()) == [], "3: a lease remains"
    assert await stage.coordination.jobs(Selection()) == [], "3: a job remains"
    assert not await rows(stage, "SELECT asset, id FROM dispatch WHERE outcome IS NULL"), "3: an outcome is missing"
    assert not await rows(stage, "SELECT asset, id FROM dispatch WHERE released_at IS NULL"), "3: not released"
    open_requests = [row for row in await rows(stage, "SELECT id, state FROM request") if row.state not in ENDS]
    assert not open_requests, f"7: requests that never end: {open_requests}"
    assert not await rows(stage, "SELECT id FROM asset WHERE state IN (1, 2)"), "7: assets that never settle"
    await _bytes_are_as_ordered(stage)
    await _journal_replays(stage)
    drifted = [row for row in await stage.journal() if row.reason == Reason.WAIT_DRIFT]
    assert not drifted, f"a wait bit outlived its cause: {drifted}"


async def rows(stage: Stage, sql: str, **values: object) -> list[Any]:
    """Rows of the database, read past every layer."""
    return await stage.database.read(lambda connection: list(connection.execute(text(sql), values).fetchall()))


async def _no_pair_above_its_quota(stage: Stage) -> None:
    leases = await stage.coordination.leases(Selection())
    assert len({lease.asset for lease in leases}) == len(leases), "1: two leases for one asset"
    held = Counter(lease.pair for lease in leases)
    for status in await stage.coordination.pairs([Pair(media.name, "system") for media in stage.registry]):
        assert held[status.pair] <= max(status.quota, stage.largest_quota), f"1: {status} holds {held[status.pair]}"


async def _ready_is_true(stage: Stage) -> None:
    for asset in await rows(
        stage, "SELECT id, artifact, artifact_hash, wanted_hash, plan_seq, planned_seq FROM asset WHERE state = 4"
    ):
        current = asset.artifact_hash == asset.wanted_hash or asset.planned_seq < asset.plan_seq
        assert current, f"2: asset {asset.id} is READY with another hash than it wants"


async def _one_outcome_each(stage: Stage) -> None:
    running = await rows(
        stage,
        "SELECT d.asset, d.id, a.state, a.dispatch_id FROM dispatch d LEFT JOIN asset a ON a.id = d.asset"
        " WHERE d.outcome IS NULL",
    )
    for one in running:
        current = one.state == State.GENERATING and one.dispatch_id == one.id
        assert current, f"3: dispatch {one.id} has no outcome, but its asset has moved on"
    busy = await rows(
        stage,
        "SELECT a.id FROM asset a LEFT JOIN dispatch d ON d.asset = a.id AND d.id = a.dispatch_id"
        " WHERE a.state = 2 AND (d.id IS NULL OR d.outcome IS NOT NULL)",
    )
    assert not busy, f"5: GENERATING without a running dispatch: {busy}"


async def _jobs_belong_to_dispatches(stage: Stage) -> None:
    known = {row.id for row in await rows(stage, "SELECT id FROM dispatch")}
    jobs = await stage.coordination.jobs(Selection())
    foreign = [job for job in jobs if job.dispatch_id not in known and not job.stopping]  # else it was deleted
    assert not foreign, f"4: jobs of dispatches that never were: {foreign}"
    merges = Counter(job.asset for job in jobs if job.kind == MERGE and job.live and not job.stopping)
    assert all(count == 1 for count in merges.values()), f"9: two merges at once: {merges}"
    claimed = Counter(job.job_id for job in jobs if job.claim_no)
    assert all(count == 1 for count in claimed.values()), f"15: two claims for one part: {claimed}"


async def _only_the_covered_are_busy(stage: Stage) -> None:
    uncovered = await rows(
        stage,
        "SELECT a.id, a.state, r.state AS request FROM asset a LEFT JOIN request r ON r.id = a.request_id"
        " WHERE a.state IN (1, 2) AND (r.id IS NULL OR (r.state IN ('done', 'done_with_failures')))",
    )
    assert not uncovered, f"3: busy, but no request covers it: {uncovered}"


async def _bytes_are_as_ordered(stage: Stage) -> None:
    """2, 9: every artifact in use is, byte for byte, what its order makes of its inputs, in order."""
    kept = stage.bytes.content
    parts = await rows(
        stage, "SELECT asset, hash, kind, params, inputs, artifact, wanted, places FROM part WHERE state = 1"
    )
    ordered: defaultdict[int, list[tuple[int, bytes]]] = defaultdict(list)
    for part in parts:
        if part.kind == MERGE:
            continue
        inputs = [kept[checksum] for checksum in orjson.loads(part.inputs or "[]")]
        content = content_of(part.kind, _order(part.params), inputs)
        assert kept.get(part.artifact) == content, f"2: part {part.hash} of asset {part.asset} has wrong bytes"
        if part.wanted:
            ordered[part.asset] += [(place[0], content) for place in orjson.loads(part.places)]
    merges = {(part.asset, part.hash): part for part in parts if part.kind == MERGE}
    for asset in await rows(stage, "SELECT id, media, artifact, artifact_hash FROM asset WHERE state = 4"):
        if not ordered[asset.id] or not stage.registry[asset.media].merges:
            continue
        inputs = [content for _, content in sorted(ordered[asset.id])]
        merge = merges[asset.id, asset.artifact_hash]
        content = content_of(MERGE, orjson.loads(merge.params), inputs)
        assert kept.get(asset.artifact) == content, f"2: the merge of asset {asset.id} has wrong bytes"


def _order(params: str) -> dict[str, Any]:
    """What a part was made from; a pinned one tells beside it that it is pinned."""
    return {name: value for name, value in orjson.loads(params).items() if name != GIVEN}


async def _journal_replays(stage: Stage) -> None:
    """What the journal tells of all assets is what the tables hold; and each step was allowed."""
    replayed = replay(await stage.journal())
    assert not replayed.faults, replayed.faults
    different = replayed.differences(await stage.storage.asset_standings())
    assert not different, different
