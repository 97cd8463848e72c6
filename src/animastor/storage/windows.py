"""Windows: how far ahead of the reader a request lets its assets run, as places in reading order (CONTRACT 10, window).

A request keeps the scene at which its reader stands (by key; 0: the first of its scope), and from that and the window
follow `position` and `horizon`, the first and last place within it. They are looked up when the request is opened or
steered, and after an edit that adds, moves or removes scenes.
"""

from __future__ import annotations

from dataclasses import astuple, dataclass, replace
from typing import Any, Final

from sqlalchemy import Connection

from animastor.storage.locking import lock_request
from animastor.storage.rows import Statement, fetch, scalar, tell
from animastor.storage.sweeping import sweep_later

BEFORE_ALL: Final = -(2**62)  # places in reading order
BEHIND_ALL: Final = 2**62

_STANDING = Statement(
    "standing",
    "How the unfinished requests of a book stand.",
    """
    SELECT r.id, r.kind, r.scope, r.chapter_key, r.scene_key, r.state, r.priority, r.ahead, r.reach, r.position_scene,
        r.position, r.horizon, r.now_scene
    FROM request r WHERE r.book_key = :book AND r.state IN ('preparing', 'open', 'paused') ORDER BY r.id
    """,
)
_STAND = Statement(
    "stand",
    "Requests that stand otherwise.",
    """
    UPDATE request SET state = n.state_, priority = n.priority_, ahead = n.ahead_, reach = n.reach_,
        position_scene = n.position_scene_, position = n.position_, horizon = n.horizon_, now_scene = n.now_scene_
    FROM {new} AS n WHERE request.id = n.request_id
    """,
    new={
        "request_id": int, "state_": str, "priority_": int, "ahead_": int, "reach_": int, "position_scene_": int,
        "position_": int, "horizon_": int, "now_scene_": int,
    },
)  # fmt: skip
_WINDOW = Statement("window_of", "The window of a book.", "SELECT b.ahead FROM book b WHERE b.book_key = :book")
_PLACE_OF = Statement(
    "place_of_scene", "Where a scene stands.", "SELECT s.position FROM scene s WHERE s.scene_key = :scene"
)
_AT = Statement(
    "first_scene_from",
    "Where the first scene from a place on stands.",
    "SELECT min(s.position) FROM scene s WHERE s.book_key = :book AND s.position >= :place",
)
_FIRST = Statement(
    "first_of_scope",
    "Where the first scene of a scope stands.",
    """
    SELECT min(s.position) FROM scene s
    WHERE s.book_key = :book AND (:chapter = 0 OR s.chapter_key = :chapter) AND (:scene = 0 OR s.scene_key = :scene)
    """,
)
_NTH = Statement(
    "nth_scene_behind",
    "Where the n-th scene behind a place stands.",
    """
    SELECT s.position FROM scene s WHERE s.book_key = :book AND s.position > :place
    ORDER BY s.position LIMIT 1 OFFSET :behind
    """,
)


@dataclass(frozen=True, slots=True)
class Standing:
    """How an unfinished request lets its assets run. `reach`: its window in scenes; 0: none."""

    state: str
    priority: int
    ahead: int
    reach: int
    position_scene: int
    position: int
    horizon: int
    now_scene: int


def standings(connection: Connection, book_key: int) -> dict[int, tuple[Any, Standing]]:
    """The unfinished requests of a book by id: as stored, and how they stand."""
    return {row.id: (row, Standing(*row[5:])) for row in fetch(connection, _STANDING, book=book_key)}


def stand(connection: Connection, changed: dict[int, Standing]) -> None:
    """Store how these requests stand; they are to be swept."""
    rows = [(id_, *astuple(one)) for id_, one in sorted(changed.items())]
    if rows:
        tell(connection, _STAND, new=rows)
        sweep_later(connection, changed)


def placed(connection: Connection, book_key: int, row: Any, ahead: int, scene: int) -> tuple[int, int, int]:
    """(reach, position, horizon) of a request whose reader stands at a scene, or at the first of its scope (0).

    The window is the smaller non-zero one of the request and its book; `make` has none.
    """
    window: int = scalar(connection, _WINDOW, book=book_key) or 0
    reach = 0 if row.kind == "make" else min((one for one in (ahead, window) if one), default=0)
    if not reach and not scene:
        return 0, BEFORE_ALL, BEHIND_ALL
    place = scalar(connection, _PLACE_OF, scene=scene) if scene else None
    if place is None:
        place = scalar(connection, _AT, book=book_key, place=row.position) if scene else None
        place = _first(connection, book_key, row) if place is None else place
    nth = scalar(connection, _NTH, book=book_key, place=place, behind=reach - 1) if reach else None
    return reach, place, BEHIND_ALL if nth is None else nth


def _first(connection: Connection, book_key: int, row: Any) -> int:
    chapter = row.chapter_key if row.scope == "chapter" else 0
    scene = row.scene_key if row.scope not in ("whole_book", "chapter") else 0
    first = scalar(connection, _FIRST, book=book_key, chapter=chapter, scene=scene)
    return BEFORE_ALL if first is None else first


def place_windows(connection: Connection, book_key: int) -> None:
    """Scenes or the book's window have changed: look the places of its requests up again."""
    changed = {}
    for id_, (row, was) in standings(connection, book_key).items():
        reach, position, horizon = placed(connection, book_key, row, was.ahead, was.position_scene)
        now = replace(was, reach=reach, position=position, horizon=horizon)
        if now != was:
            lock_request(connection, id_)
            changed[id_] = now
    stand(connection, changed)
