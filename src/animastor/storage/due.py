"""What is due, and what has to be planned again: walks through indexes, fair among books (STORAGE, the due set).

The walk takes up to `each` assets of a book in reading order, then jumps to the next book, starting behind the book
served last. Its cost grows with what it returns, never with what is stored or due. (The unary plus in its comparison
of rows keeps SQLite from comparing affinities, and so from using the first column of the index alone.)
"""

# ruff: noqa: S608 - fragments of this package are put together, nothing from outside

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from types import MappingProxyType
from typing import Any, Final

from sqlalchemy import Connection

from animastor.engine.ports import DueWalk, Outlook, PlanRow
from animastor.media.registry import Registry
from animastor.protocol import Pair
from animastor.storage.inputs import plan_rows, settled
from animastor.storage.rows import Statement, fetch
from animastor.storage.whole import Gathering, gather

DUE: Final = "n.media = :media AND n.lane = :lane AND n.state = {PENDING} AND n.waits = 0"
"""A condition: what may start, of a pair; found by its index alone."""
DUE_WALK = Gathering(
    "due_walk",
    "Up to `limit` due assets of a pair in books behind `after` and up to `until`, `each` of a book at a time; of some"
    " books more or fewer.",
    f"""
    WITH RECURSIVE walk (id, book_key, rank, reading_order, nth, taken) AS (
        SELECT a.id, a.book_key, a.rank, a.reading_order, 1, 1
        FROM asset a
        WHERE a.id = (
            SELECT n.id FROM asset n WHERE {DUE} AND n.book_key > :after
            ORDER BY n.book_key, n.rank, n.reading_order, n.id LIMIT 1
        ) AND a.book_key <= :until
        UNION ALL
        SELECT a.id, a.book_key, a.rank, a.reading_order,
               CASE WHEN a.book_key = w.book_key THEN w.nth + 1 ELSE 1 END, w.taken + 1
        FROM walk w
        JOIN asset a ON a.id = COALESCE(
            CASE WHEN w.nth < COALESCE((SELECT x.most FROM {{weights}} AS x WHERE x.book = w.book_key), :each) THEN (
                SELECT n.id FROM asset n
                WHERE {DUE} AND n.book_key = w.book_key
                  AND (n.rank, n.reading_order, n.id) > (+w.rank, +w.reading_order, +w.id)
                ORDER BY n.rank, n.reading_order, n.id LIMIT 1
            ) END,
            (
                SELECT n.id FROM asset n WHERE {DUE} AND n.book_key > w.book_key
                ORDER BY n.book_key, n.rank, n.reading_order, n.id LIMIT 1
            )
        )
        WHERE w.taken < :limit AND a.book_key <= :until
    )
    SELECT w.id, w.book_key, w.nth, w.taken FROM walk w ORDER BY w.taken
    """,
    weights={"book": int, "most": int},
)
_WEIGHTED = Statement(
    "weighted_books",
    "Books with requests of another priority than the ordinary one, and the highest that each has.",
    """
    SELECT r.book_key, (
        SELECT max(q.priority) FROM request q
        WHERE q.book_key = r.book_key AND q.state IN ('preparing', 'open', 'paused')
    ) AS priority
    FROM request r WHERE r.priority <> 0 AND r.state IN ('preparing', 'open', 'paused') GROUP BY r.book_key
    """,
)
_WEIGHTS: Final = {-1: 1, 0: 2, 1: 4}  # by priority (CONTRACT 10)
_UNPLANNED: Final = (
    "n.planned_seq < n.plan_seq AND n.state IN ({GENERATING}, {DIRTY}, {READY}, {FAILED})"  # as in its index
)
UNPLANNED_WALK = Gathering(
    "unplanned_walk",
    "Up to `limit` assets whose plan is older than what it may read, `each` of a book.",
    f"""
    WITH RECURSIVE walk (id, book_key, nth, taken) AS (
        SELECT a.id, a.book_key, 1, 1
        FROM asset a
        WHERE a.id = (SELECT n.id FROM asset n WHERE {_UNPLANNED} AND n.book_key > :after
                      ORDER BY n.book_key, n.id LIMIT 1)
        UNION ALL
        SELECT a.id, a.book_key, CASE WHEN a.book_key = w.book_key THEN w.nth + 1 ELSE 1 END, w.taken + 1
        FROM walk w
        JOIN asset a ON a.id = COALESCE(
            (SELECT n.id FROM asset n WHERE {_UNPLANNED} AND n.book_key = w.book_key AND n.id > w.id
             AND w.nth < :each ORDER BY n.id LIMIT 1),
            (SELECT n.id FROM asset n WHERE {_UNPLANNED} AND n.book_key > w.book_key
             ORDER BY n.book_key, n.id LIMIT 1)
        )
        WHERE w.taken < :limit
    )
    SELECT w.id, w.book_key, w.nth, w.taken FROM walk w ORDER BY w.taken
    """,
)
_UNPLANNED_BOOKS = Statement(
    "unplanned_books",
    "How many books have something to plan, up to a bound.",
    f"""
    WITH RECURSIVE books (book_key, counted) AS (
        SELECT (SELECT n.book_key FROM asset n WHERE {_UNPLANNED} ORDER BY n.book_key LIMIT 1), 1
        UNION ALL
        SELECT (SELECT n.book_key FROM asset n WHERE {_UNPLANNED} AND n.book_key > b.book_key
                ORDER BY n.book_key LIMIT 1), b.counted + 1
        FROM books b WHERE b.book_key IS NOT NULL AND b.counted < :limit
    )
    SELECT count(b.book_key) FROM books b
    """,
)
_OUTLOOK: Final = Statement(
    "outlook",
    "For each of some pairs whether anything of it is due; beside it, whether anything is to be planned, and when the"
    " first delay is over. One entry of each index is looked at.",
    f"""
    SELECT p.media, p.lane, {{now}} AS at,
           (SELECT n.id FROM asset n WHERE n.media = p.media AND n.lane = p.lane AND n.state = {{PENDING}}
            AND n.waits = 0 ORDER BY n.book_key LIMIT 1) AS due,
           (SELECT n.id FROM asset n WHERE {_UNPLANNED} ORDER BY n.book_key LIMIT 1) AS unplanned,
           (SELECT min(a.due_at) FROM asset a WHERE a.state = {{PENDING}} AND a.due_at IS NOT NULL) AS next_wake,
           (SELECT m.value FROM meta m WHERE m.name = 'planner') AS planner
    FROM {{pairs}} AS p
    """,
    pairs={"media": str, "lane": str},
)
_LAST_KEY: Final = 2**62


def outlook(connection: Connection, planner: int, pairs: Sequence[Pair]) -> Outlook:
    """What there is to do, in one statement, for a program with this planner."""
    rows = fetch(connection, _OUTLOOK, pairs=[(pair.media, pair.lane) for pair in pairs])
    first = rows[0]
    return Outlook(
        due=frozenset(Pair(row.media, row.lane) for row in rows if row.due is not None),
        unplanned=first.unplanned is not None,
        wake_in_s=None if first.next_wake is None else max(0.0, first.next_wake - first.at),
        may_plan=first.planner == planner,
    )


def due(
    connection: Connection,
    registry: Registry,
    pair: Pair,
    limit: int,
    each: int,
    after_book: int,
    besides: Collection[int] = (),
) -> DueWalk:
    """A round of the walk, in the order (n-th of its book, book), and the book served last.

    `each` is for a book of ordinary priority; of others there are half and twice as many. `besides` are left out; they
    count for `each` of their books. Nothing has to be of one snapshot: a row's `plan_seq` is read before whatever else
    its plan reads, and what changes that raises it; so a plan of both is refused.
    """
    weights = {row.book_key: _WEIGHTS[row.priority] for row in fetch(connection, _WEIGHTED)}
    picks = walk(connection, pair, limit + len(besides), each, after_book, weights)
    if besides:
        picks = [pick for pick in picks if pick.id not in besides][:limit]
    last = picks[-1].book_key if picks else after_book
    order = [pick.id for pick in sorted(picks, key=lambda pick: (pick.nth - 1) * 4 // weights.get(pick.book_key, 2))]
    return DueWalk(rows=plan_rows(connection, registry, order) if order else (), last_book=last)


def walk(
    connection: Connection,
    pair: Pair,
    limit: int,
    each: int,
    after_book: int,
    weights: Mapping[int, int] = MappingProxyType({}),
) -> Sequence[Any]:
    """The picks (id, book_key, nth, taken): the books behind `after_book` first, then from the first one to it."""
    each = max(each, 2) if weights else each  # so that half of it is something
    most = [(book, each * weight // 2) for book, weight in weights.items()]
    given = {"media": pair.media, "lane": pair.lane, "each": each, "weights": most}
    picks = list(gather(connection, DUE_WALK, **given, after=after_book, until=_LAST_KEY, limit=limit))
    if len(picks) < limit and after_book > 0:
        picks += gather(connection, DUE_WALK, **given, after=0, until=after_book, limit=limit - len(picks))
    return picks


def unplanned(connection: Connection, registry: Registry, limit: int) -> Sequence[PlanRow]:
    """DIRTY, READY, FAILED and GENERATING assets to be planned again, those first that others are waiting for."""
    books = fetch(connection, _UNPLANNED_BOOKS, limit=limit)[0][0]
    if not books:
        return ()
    wider = limit * len(registry.names)  # of a scene's assets, some stand behind the others
    picks = gather(connection, UNPLANNED_WALK, after=0, each=-(-wider // books), limit=wider)
    return plan_rows(connection, registry, settled(connection, registry, [pick.id for pick in picks])[:limit])
