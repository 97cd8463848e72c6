"""Where requests stand, and ending those that nothing is left of: the one place that progress comes from.

Counts come from two narrow partial indexes and the tally, so that a book of 100,000 scenes costs some tens of
milliseconds: what is READY is the rest of all.
"""

# ruff: noqa: S608 - fragments of this package are put together, nothing from outside

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from math import floor
from typing import Any, Final

from sqlalchemy import Connection

from animastor.engine.ports import MediaProgress, RequestProgress, RequestRow
from animastor.engine.states import RequestState, State
from animastor.storage.coverage import EXCLUDED, in_scope
from animastor.storage.locking import lock_request
from animastor.storage.requests import UNFINISHED, request_row, stored_request
from animastor.storage.rows import Statement, fetch, tell

NEARLY: Final = 0.99  # the most that is shown of a request that has not ended
STEP: Final = 1000  # the fraction moves in thousandths, so that its floor is rarely written

_UNPLANNED: Final = f"""EXISTS (
        SELECT 1 FROM asset JOIN request_media rm ON rm.request_id = r.id AND rm.media = asset.media
        WHERE asset.book_key = r.book_key AND asset.planned_seq < asset.plan_seq
          AND asset.state IN ({{GENERATING}}, {{DIRTY}}, {{READY}}, {{FAILED}})
          AND {in_scope("r")} AND NOT {EXCLUDED}
    )"""  # something that the request covers is to be planned again

_COUNT_BUSY = Statement(
    "count_busy",
    "PENDING and GENERATING assets of a book.",
    """
    SELECT asset.media, {PENDING} AS state, count(*) AS n FROM asset
    WHERE asset.book_key = :book AND asset.state IN ({PENDING}, {GENERATING}) GROUP BY asset.media
    """,
)
_COUNT_GENERATING = Statement(
    "count_generating",
    "GENERATING assets of a book: they are few, and have an index of their own (+ 0 keeps SQLite to it).",
    """
    SELECT asset.media, {GENERATING} AS state, count(*) AS n FROM asset
    WHERE asset.state = {GENERATING} AND asset.book_key + 0 = :book GROUP BY asset.media
    """,
)
_COUNT_IDLE = Statement(
    "count_idle",
    "NEW, DIRTY and FAILED assets of a book.",
    """
    SELECT asset.media, asset.state, count(*) AS n FROM asset
    WHERE asset.book_key = :book AND asset.state IN ({NEW}, {DIRTY}, {FAILED}) GROUP BY asset.media, asset.state
    """,
)
_COUNT_SCENES = Statement("count_scenes", "Scenes of a book.", "SELECT count(*) FROM scene s WHERE s.book_key = :book")
_SUMS: Final = """
    count(t.asset) AS planned, COALESCE(sum(t.parts), 0) AS parts, COALESCE(sum(t.parts_ready), 0) AS ready,
    COALESCE(sum(t.parts_lost), 0) AS lost, COALESCE(sum(t.work), 0) AS work, COALESCE(sum(t.work_ready), 0) AS done
"""
_SUM_TALLY = Statement(
    "sum_tally",
    "What is planned and done of a book.",
    f"SELECT t.media, {_SUMS} FROM tally t WHERE t.book_key = :book GROUP BY t.media",
)
_SCOPED: Final = """
    FROM request r JOIN request_media rm ON rm.request_id = r.id
    JOIN asset ON asset.book_key = r.book_key AND asset.media = rm.media
"""
_COUNT_SCOPE = Statement(
    "count_scope",
    "The same counts within the scope of a request.",
    f"""
    SELECT asset.media, asset.state, count(*) AS n {_SCOPED}
    WHERE r.id = :id AND {in_scope("r")} AND NOT {EXCLUDED} GROUP BY asset.media, asset.state
    """,
)
_SUM_SCOPE = Statement(
    "sum_scope",
    "The same sums within the scope of a request.",
    f"""
    SELECT asset.media, {_SUMS} {_SCOPED}
    JOIN tally t ON t.book_key = asset.book_key AND t.media = asset.media AND t.asset = asset.id
    WHERE r.id = :id AND {in_scope("r")} AND NOT {EXCLUDED} GROUP BY asset.media
    """,
)
_FLOOR = Statement(
    "raise_floor",
    "The fraction that was shown; it never runs backwards.",
    "UPDATE request SET progress_floor = :fraction WHERE id = :id AND progress_floor < :fraction",
)
_CANDIDATES = Statement(
    "finishing_candidates",
    "Open requests that cover nothing PENDING or GENERATING, and nothing that is to be planned again.",
    f"""
    SELECT r.id FROM request r
    WHERE r.state = 'open' AND NOT EXISTS (
        SELECT 1 FROM asset JOIN request_media rm ON rm.request_id = r.id AND rm.media = asset.media
        WHERE asset.book_key = r.book_key AND asset.state IN ({{PENDING}}, {{GENERATING}})
          AND {in_scope("r")} AND NOT {EXCLUDED}
    ) AND NOT {_UNPLANNED}
    ORDER BY r.id
    """,
)
_FINISH = Statement(
    "finish_request",
    "Ends an open request: done, or done with failures.",
    f"""
    UPDATE request AS r SET ended_at = {{now}}, state = CASE WHEN EXISTS (
        SELECT 1 FROM asset JOIN request_media rm ON rm.request_id = r.id AND rm.media = asset.media
        WHERE asset.book_key = r.book_key AND asset.state IN ({{NEW}}, {{DIRTY}}, {{FAILED}})
          AND asset.state = {{FAILED}} AND {in_scope("r")} AND NOT {EXCLUDED}
    ) THEN 'done_with_failures' ELSE 'done' END
    WHERE r.id = :id AND r.state = 'open' AND {UNFINISHED}
    """,
)
_IDLE = Statement(
    "idle_request",
    "A request of which nothing runs, is to be planned again, or waits for anything but its window.",
    f"""
    SELECT r.id FROM request r
    WHERE r.id = :id AND NOT EXISTS (
        SELECT 1 FROM asset JOIN request_media rm ON rm.request_id = r.id AND rm.media = asset.media
        WHERE asset.book_key = r.book_key AND asset.state IN ({{PENDING}}, {{GENERATING}})
          AND (asset.state = {{GENERATING}} OR (asset.waits & {{WAIT_WINDOW}}) = 0)
          AND {in_scope("r")} AND NOT {EXCLUDED}
    ) AND NOT {_UNPLANNED}
    """,
)
_EXCLUSIONS = Statement(
    "has_exclusions", "Whether a request has exclusions.",
    "SELECT x.id FROM request_exclusion x WHERE x.request_id = :id LIMIT 1",
)  # fmt: skip


def progress(connection: Connection, request_id: int) -> tuple[RequestProgress, bool]:
    """Where a request stands, and whether its floor has risen (see `keep_floor`). Raises `LookupError`."""
    stored = stored_request(connection, request_id)
    row = request_row(stored)
    media = tuple(_media_progress(connection, row))
    fraction, held = _fraction(row.state, media), stored.progress_floor
    shown = fraction if row.state is RequestState.DONE else max(fraction, held)
    idle = stored.reach > 0 and stored.state == RequestState.OPEN and bool(fetch(connection, _IDLE, id=request_id))
    return RequestProgress(row, shown, media, idle), shown > held


def keep_floor(connection: Connection, request_id: int, fraction: float) -> None:
    """Store what was shown."""
    tell(connection, _FLOOR, id=request_id, fraction=fraction)


def _media_progress(connection: Connection, row: RequestRow) -> Iterable[MediaProgress]:
    whole = row.scope.kind.value == "whole_book" and not _excluded(connection, row.request_id)
    counts = _whole_counts(connection, row) if whole else _scope_counts(connection, row)
    sums = _sums(connection, row, whole=whole)
    for media in row.media:
        of = counts.get(media, {})
        total = sum(of.values())
        done = sums.get(media)
        planned = done.planned if done is not None else 0
        yield MediaProgress(
            media=media,
            assets=total,
            ready=of.get(State.READY, 0),
            failed=of.get(State.FAILED, 0),
            pending=of.get(State.PENDING, 0),
            generating=of.get(State.GENERATING, 0),
            dirty=of.get(State.DIRTY, 0) + of.get(State.NEW, 0),
            parts_planned=int(done.parts) if done is not None else 0,
            parts_ready=int(done.ready) if done is not None else 0,
            parts_lost=int(done.lost) if done is not None else 0,
            unplanned=max(0, total - planned),
            work_planned=float(done.work) if done is not None else 0.0,
            work_ready=float(done.done) if done is not None else 0.0,
        )


def _excluded(connection: Connection, request_id: int) -> bool:
    return bool(fetch(connection, _EXCLUSIONS, id=request_id))


def _whole_counts(connection: Connection, row: RequestRow) -> Mapping[str, Mapping[State, int]]:
    scenes = fetch(connection, _COUNT_SCENES, book=row.book_key)[0][0]
    counts: dict[str, dict[State, int]] = {media: {} for media in row.media}
    for statement in (_COUNT_BUSY, _COUNT_GENERATING, _COUNT_IDLE):
        for one in fetch(connection, statement, book=row.book_key):
            counts.setdefault(one.media, {})[State(one.state)] = one.n
    for of in counts.values():
        of[State.PENDING] = of.get(State.PENDING, 0) - of.get(State.GENERATING, 0)
        of[State.READY] = scenes - sum(of.values())
    return counts


def _scope_counts(connection: Connection, row: RequestRow) -> Mapping[str, Mapping[State, int]]:
    counts: dict[str, dict[State, int]] = {}
    for one in fetch(connection, _COUNT_SCOPE, id=row.request_id):
        counts.setdefault(one.media, {})[State(one.state)] = one.n
    return counts


def _sums(connection: Connection, row: RequestRow, *, whole: bool) -> Mapping[str, Any]:
    if whole:
        return {one.media: one for one in fetch(connection, _SUM_TALLY, book=row.book_key)}
    return {one.media: one for one in fetch(connection, _SUM_SCOPE, id=row.request_id)}


def _fraction(state: RequestState, media: Sequence[MediaProgress]) -> float:
    """The mean over the media types; what is not planned yet counts like the average of what is."""
    if state in (RequestState.DONE, RequestState.DONE_WITH_FAILURES):
        return 1.0
    shares = [share for one in media if (share := _share(one)) is not None]
    reached = sum(shares) / len(shares) if shares else 0.0
    return min(NEARLY, floor(reached * STEP) / STEP)


def _share(one: MediaProgress) -> float | None:
    if not one.assets:
        return None
    settled = (one.ready + one.failed) / one.assets
    planned = one.assets - one.unplanned
    if not planned or not one.work_planned:
        return settled
    expected = one.work_planned * one.assets / planned
    return max(0.0, min(1.0, max(one.work_ready / expected, settled)))


def finish_requests(connection: Connection) -> list[RequestRow]:
    """End the open requests that nothing is left of."""
    finished = []
    for candidate in [row.id for row in fetch(connection, _CANDIDATES)]:
        lock_request(connection, candidate)
        if candidate in [row.id for row in fetch(connection, _CANDIDATES)]:
            tell(connection, _FINISH, id=candidate)
            finished.append(request_row(stored_request(connection, candidate)))
    return finished


def any_finished(connection: Connection) -> bool:
    """Whether there is a request to end; a look before the writer is asked."""
    return bool(fetch(connection, _CANDIDATES))
