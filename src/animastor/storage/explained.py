"""What is stored of one scene's assets, in a few statements; and how a book's assets stand (`engine.details`)."""

# ruff: noqa: S608 - fragments of this package are put together, nothing from outside

from __future__ import annotations

from collections import defaultdict
from dataclasses import replace
from typing import Any, Final

import orjson
from sqlalchemy import Connection

from animastor.engine.details import AssetDetail, MediaCount, PartDetail, SceneDetail
from animastor.engine.ports import Scope, ScopeKind
from animastor.engine.states import PartState, RequestState, Standing, State, Wait, standing
from animastor.protocol import AssetId, BookKey
from animastor.storage.coverage import CARRIED
from animastor.storage.due import DUE
from animastor.storage.inputs import seen_as
from animastor.storage.library import MADE
from animastor.storage.requests import scope_keys
from animastor.storage.rows import STATES, Statement, fetch, now, scalar

MOST_AHEAD: Final = 1000

_SCENE = Statement(
    "explain_scene",
    "A scene and its place in the book.",
    """
    SELECT s.scene_id, s.content, c.chapter_id, b.book_id, b.disabled,
           (SELECT count(*) FROM chapter n WHERE n.book_key = c.book_key AND n.position <= c.position) AS chapter,
           (SELECT count(*) FROM scene n WHERE n.chapter_key = s.chapter_key AND n.position <= s.position) AS number
    FROM scene s JOIN chapter c ON c.chapter_key = s.chapter_key JOIN book b ON b.book_key = s.book_key
    WHERE s.scene_key = :scene
    """,
)
_ASSETS = Statement(
    "explain_assets",
    "The assets of a scene as dispatching sees them.",
    f"""
    SELECT asset.id, asset.media, asset.lane, asset.state, asset.waits, asset.due_at, asset.plan_seq,
           asset.planned_seq, asset.wanted_hash, asset.artifact_hash, asset.reason, asset.error, asset.request_id,
           asset.dispatch_id, asset.book_key, asset.rank, asset.reading_order, {MADE} AS made,
           CASE WHEN {CARRIED} THEN 1 ELSE 0 END AS carried,
           (SELECT r.state FROM request r WHERE r.id = asset.request_id) AS request_state,
           (SELECT d.begun_at FROM dispatch d WHERE d.asset = asset.id AND d.fence = asset.fence) AS begun_at
    FROM asset WHERE asset.scene_key = :scene ORDER BY asset.id
    """,
)
_PARTS = Statement(
    "explain_parts",
    "The wanted parts of the assets of a scene, in order.",
    """
    SELECT p.asset, p.hash, p.kind, p.places, p.unit_id, p.state, p.profile, p.attempts, p.infra_attempts,
           p.not_before, p.failure, p.message
    FROM asset a JOIN part p ON p.asset = a.id AND p.wanted = 1
    WHERE a.scene_key = :scene ORDER BY p.asset, p.ordinal
    """,
)
_AHEAD = Statement(
    "explain_ahead",
    "How many of a book are due before one of its assets.",
    f"""
    SELECT count(*) FROM (
        SELECT n.id FROM asset n
        WHERE {DUE} AND n.book_key = :book AND (n.rank, n.reading_order, n.id) < (:rank, :order, :asset) LIMIT :most
    ) AS before
    """,
)
_COUNTS = Statement(
    "explain_counts",
    "The assets of a book by media type and how they stand, each with the first scene that has one.",
    f"""
    SELECT k.media, k.state, k.up_to_date, k.made, k.assets, k.first, c.chapter_id, s.scene_id FROM (
        SELECT media, state, up_to_date, made, count(*) AS assets, min(reading_order) AS first FROM (
            SELECT asset.media, asset.state, asset.reading_order, {MADE} AS made,
                   CASE WHEN asset.planned_seq = asset.plan_seq AND asset.wanted_hash = asset.artifact_hash
                        THEN 1 ELSE 0 END AS up_to_date
            FROM asset WHERE asset.book_key = :book
        ) AS each_one GROUP BY media, state, up_to_date, made
    ) AS k
    JOIN scene s ON s.book_key = :book AND s.position = k.first
    JOIN chapter c ON c.chapter_key = s.chapter_key
    ORDER BY k.media, k.first, s.scene_key
    """,
)


def scene_detail(connection: Connection, book_key: BookKey, chapter_id: str, scene_id: str) -> SceneDetail:
    """A scene with all that is stored of its assets. Raises `ScopeError`."""
    _, key = scope_keys(connection, book_key, Scope(ScopeKind.SCENE, chapter_id, scene_id))
    (scene,) = fetch(connection, _SCENE, scene=key)
    parts: dict[int, list[PartDetail]] = defaultdict(list)
    for row in fetch(connection, _PARTS, scene=key):
        parts[row.asset].append(_part(row))
    disabled = frozenset(scene.disabled.split())
    return SceneDetail(
        book_key=book_key,
        book_id=scene.book_id,
        chapter_id=scene.chapter_id,
        scene_id=scene.scene_id,
        place=f"{scene.chapter}/{scene.number}",
        units=tuple(unit["unit_id"] for unit in orjson.loads(scene.content).get("units", ())),
        now=now(connection),
        assets={
            row.media: _asset(row, tuple(parts[row.id]), row.media in disabled, _ahead(connection, row))
            for row in fetch(connection, _ASSETS, scene=key)
        },
    )


def media_counts(connection: Connection, book_key: BookKey) -> list[MediaCount]:
    """How the assets of a book stand."""
    counts: dict[tuple[str, Standing], MediaCount] = {}
    for row in fetch(connection, _COUNTS, book=book_key):
        state = STATES[row.state]
        how = standing(state, current=state is State.READY and bool(row.up_to_date), made=bool(row.made))
        first = counts.get((row.media, how)) or MediaCount(row.media, how, 0, row.chapter_id, row.scene_id)
        counts[row.media, how] = replace(first, assets=first.assets + row.assets)
    return list(counts.values())


def _ahead(connection: Connection, row: Any) -> int:
    if row.state != State.PENDING or row.waits:
        return 0
    given = {"media": row.media, "lane": row.lane, "book": row.book_key}
    place = {"rank": row.rank, "order": row.reading_order, "asset": row.id}
    return int(scalar(connection, _AHEAD, **given, **place, most=MOST_AHEAD))


def _asset(row: Any, parts: tuple[PartDetail, ...], disabled: bool, ahead: int) -> AssetDetail:
    state, planned = STATES[row.state], row.planned_seq >= row.plan_seq
    return AssetDetail(
        asset=AssetId(row.id),
        media=row.media,
        lane=row.lane,
        state=state,
        waits=Wait(row.waits) if state is State.PENDING else Wait(0),
        due_at=row.due_at,
        planned=planned,
        current=state is State.READY and planned and row.wanted_hash == row.artifact_hash,
        made=bool(row.made),
        reason=row.reason,
        error=row.error,
        carried=bool(row.carried),
        request_id=row.request_id,
        request_state=RequestState(row.request_state) if row.request_state else None,
        dispatch_id=row.dispatch_id,
        begun_at=row.begun_at or 0.0,
        seen_as=seen_as(state, planned=planned, disabled=disabled),
        disabled=disabled,
        ahead=ahead,
        parts=parts,
    )


def _part(row: Any) -> PartDetail:
    places = orjson.loads(row.places) if row.places else []
    return PartDetail(
        hash=row.hash,
        kind=row.kind,
        unit_ids=tuple(dict.fromkeys(unit for _, units in places for unit in units)),
        state=PartState(row.state),
        profile=row.profile,
        tries=row.attempts + row.infra_attempts,
        not_before=row.not_before,
        failure=row.failure,
        message=row.message,
    )
