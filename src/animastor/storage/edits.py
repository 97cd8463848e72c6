"""What an edit does to assets and requests: plans raised coarsely, open requests widened or narrowed."""

from __future__ import annotations

from collections.abc import Sequence

from sqlalchemy import Connection

from animastor.engine.reasons import JournalType, Reason
from animastor.media.registry import Registry
from animastor.storage import journal
from animastor.storage.rows import Statement, fetch, run

_TOUCH_BOOK = Statement(
    "touch_book",
    "Every plan of a book may read what changed.",
    "UPDATE asset SET plan_seq = plan_seq + 1 WHERE book_key = :book",
)
_TOUCH_SCENES = Statement(
    "touch_scenes",
    "Every plan of some scenes may read what changed.",
    "UPDATE asset SET plan_seq = plan_seq + 1 FROM {scenes} AS one WHERE asset.scene_key = one.scene",
    scenes={"scene": int},
)
_EDITED = Statement(
    "edited",
    "The assets of edited scenes, for the journal.",
    """
    INSERT INTO journal (at, asset, type, state, reason, details)
    SELECT {now}, a.id, :type, a.state, :reason, '' FROM {scenes} AS one JOIN asset a ON a.scene_key = one.scene
    """,
    scenes={"scene": int},
)
_REOPEN = Statement(
    "reopen_requests",
    "Open requests are entered again from where something is new.",
    """
    UPDATE request SET state = CASE WHEN state = 'open' THEN 'preparing' ELSE state END,
        cursor_asset = CASE WHEN cursor_order >= :position THEN 0 ELSE cursor_asset END,
        cursor_order = CASE WHEN cursor_order >= :position THEN :position - 1 ELSE cursor_order END
    WHERE book_key = :book AND state IN ('preparing', 'open', 'paused')
      AND scope IN ('whole_book', 'chapter', 'from_scene')
    """,
)
_SWEEP_SCOPES = Statement(
    "sweep_scopes",
    "Scenes moved or left: what unfinished requests for a part of the book no longer cover is to be swept.",
    """
    UPDATE request SET sweeping = 1
    WHERE book_key = :book AND state IN ('preparing', 'open', 'paused') AND scope <> 'whole_book'
    """,
)
_EXCLUDE = Statement(
    "exclude_media",
    "Unfinished requests of a book no longer cover some media types.",
    """
    INSERT INTO request_exclusion (request_id, scope, media)
    SELECT r.id, 'whole_book', m.media FROM request r
    JOIN request_media rm ON rm.request_id = r.id
    JOIN {media} AS m ON m.media = rm.media
    WHERE r.book_key = :book AND r.state IN ('preparing', 'open', 'paused')
    RETURNING request_id
    """,
    media={"media": str},
)
_SWEEP = Statement(
    "sweep_later",
    "What these requests no longer cover is to be swept.",
    "UPDATE request SET sweeping = 1 FROM {requests} AS one WHERE request.id = one.request_id",
    requests={"request_id": int},
)


def touch_book(connection: Connection, book_key: int) -> None:
    """The head or the settings changed."""
    run(connection, _TOUCH_BOOK, book=book_key).close()
    journal.record(connection, JournalType.EDITED, None, Reason.EDITED, [(None, None, journal.details(book=book_key))])


def touch_scenes(connection: Connection, scenes: Sequence[int], *, raised: bool) -> None:
    """These scenes changed; `raised`: their plans are raised with the whole book's already."""
    if not raised:
        run(connection, _TOUCH_SCENES, scenes=scenes).close()
    run(connection, _EDITED, scenes=scenes, type=JournalType.EDITED.value, reason=Reason.EDITED.value).close()


def reopen_requests(connection: Connection, book_key: int, position: int) -> None:
    """Scenes are new or stand elsewhere, the first at `position`: unfinished requests that include them enter them."""
    run(connection, _REOPEN, book=book_key, position=position).close()


def sweep_scopes(connection: Connection, book_key: int) -> None:
    """Scenes stand elsewhere, or left: scopes that are named by a chapter or a scene may have become smaller."""
    run(connection, _SWEEP_SCOPES, book=book_key).close()


def switch_off(connection: Connection, registry: Registry, book_key: int, media: Sequence[str]) -> None:
    """Layers were switched off: like a cancel of these media types and those that require them."""
    off = sorted({*media, *(name for one in media for name in registry.requiring(one))})
    if off:
        requests = sorted({row.request_id for row in fetch(connection, _EXCLUDE, book=book_key, media=off)})
        run(connection, _SWEEP, requests=requests).close()
