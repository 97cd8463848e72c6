"""What an edit does to assets and requests: plans raised coarsely, open requests widened or narrowed."""

# ruff: noqa: S608 - fragments of this package are put together, nothing from outside

from __future__ import annotations

from collections.abc import Sequence

from sqlalchemy import Connection

from animastor.engine.ports import Scope
from animastor.engine.reasons import JournalType, Reason
from animastor.media.registry import Registry
from animastor.storage import journal
from animastor.storage.cancelling import exclude
from animastor.storage.requests import unfinished_of
from animastor.storage.rows import Statement, tell
from animastor.storage.sweeping import SWEEP_AGAIN

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
    "Scenes moved or left: what unfinished requests for a part of the book, or without one, cover, and what lies ahead"
    " of their readers, is to be looked at.",
    f"""
    UPDATE request SET sweeping = {SWEEP_AGAIN}
    WHERE book_key = :book AND state IN ('preparing', 'open', 'paused') AND (scope <> 'whole_book' OR reach > 0
        OR position_scene <> 0
        OR EXISTS (SELECT 1 FROM request_exclusion x WHERE x.request_id = request.id AND x.scope <> 'whole_book'))
    """,
)


def touch_book(connection: Connection, book_key: int) -> None:
    """The head or the settings changed."""
    tell(connection, _TOUCH_BOOK, book=book_key)
    journal.record(connection, JournalType.EDITED, None, Reason.EDITED, [(None, None, journal.details(book=book_key))])


def touch_scenes(connection: Connection, scenes: Sequence[int], *, raised: bool) -> None:
    """These scenes changed; `raised`: their plans are raised with the whole book's already."""
    if not raised:
        tell(connection, _TOUCH_SCENES, scenes=scenes)
    tell(connection, _EDITED, scenes=scenes, type=JournalType.EDITED.value, reason=Reason.EDITED.value)


def reopen_requests(connection: Connection, book_key: int, position: int) -> None:
    """Scenes are new or stand elsewhere, the first at `position`: unfinished requests that include them enter them."""
    tell(connection, _REOPEN, book=book_key, position=position)


def sweep_scopes(connection: Connection, book_key: int) -> None:
    """Scenes stand elsewhere, or left: what is named by a chapter or a scene may have become smaller or larger."""
    tell(connection, _SWEEP_SCOPES, book=book_key)


def switch_off(connection: Connection, registry: Registry, book_key: int, media: Sequence[str]) -> None:
    """Layers were switched off: a cancel of these media types and those that require them."""
    if media:
        requests = [one.request_id for one in unfinished_of(connection, book_key)]
        exclude(connection, registry, book_key, requests, Scope(), media)
