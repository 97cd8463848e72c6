"""Scenes that left a book take their assets along; their dispatches end in the same transaction (CONTRACT 5)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from sqlalchemy import Connection

from animastor.engine.reasons import JournalType, Reason
from animastor.engine.states import Outcome
from animastor.storage import ends, journal
from animastor.storage.purging import purge_assets
from animastor.storage.reuse import let_go
from animastor.storage.rows import Statement, fetch, tell
from animastor.storage.tally import drop_tally

CHUNK: Final = 2000

_ASSETS = Statement(
    "assets_of_scenes",
    "The assets of scenes.",
    """
    SELECT a.id, a.book_key, a.media, a.dispatch_id, a.artifact
    FROM {scenes} AS one JOIN asset a ON a.scene_key = one.scene
    """,
    scenes={"scene": int},
)
_LEAVE_PARTS = Statement(
    "leave_parts",
    "Finished parts stay for a while: the same hash elsewhere takes them over.",
    """
    UPDATE part SET wanted = 0, unwanted_at = {now} FROM {assets} AS one
    WHERE part.asset = one.of_asset AND part.state = {PART_READY} RETURNING part.artifact
    """,
    assets={"of_asset": int},
)
_DROP_PARTS = Statement(
    "drop_unfinished_parts",
    "Parts that were not made.",
    "DELETE FROM part WHERE asset IN (SELECT one.of_asset FROM {assets} AS one) AND state <> {PART_READY}",
    assets={"of_asset": int},
)
_DROP_FACTS = Statement(
    "drop_facts", "What was known of them.",
    "DELETE FROM asset_facts WHERE asset IN (SELECT one.of_asset FROM {assets} AS one)", assets={"of_asset": int},
)  # fmt: skip
_DROP_ASSETS = Statement(
    "drop_assets", "The assets.",
    "DELETE FROM asset WHERE id IN (SELECT one.of_asset FROM {assets} AS one)", assets={"of_asset": int},
)  # fmt: skip
_DROP_SCENES = Statement(
    "drop_scenes", "The scenes.",
    "DELETE FROM scene WHERE scene_key IN (SELECT one.scene FROM {scenes} AS one)", scenes={"scene": int},
)  # fmt: skip


def remove_scenes(connection: Connection, scenes: Sequence[int], *, for_good: bool = False) -> None:
    """Remove scenes with all that hangs on them, but for dispatches, journal, and parts that may be used again.

    `for_good`: those go, too; but for dispatches that are still to be released.
    """
    for start in range(0, len(scenes), CHUNK):
        chunk = list(scenes[start : start + CHUNK])
        rows = fetch(connection, _ASSETS, scenes=chunk)
        if rows:
            _end(connection, rows, told=not for_good)
            _leave(connection, rows, for_good=for_good)
        tell(connection, _DROP_SCENES, scenes=chunk)


def drop_scenes(connection: Connection, scenes: Sequence[int]) -> None:
    """Scenes whose assets are at rest and released go for good, with all that hangs on them."""
    remove_scenes(connection, scenes, for_good=True)


def _end(connection: Connection, rows: Sequence[Any], *, told: bool) -> None:
    why = Reason.SCENE_REMOVED
    ended = ends.end(connection, Outcome.CANCELLED, [(row.id, row.dispatch_id, why) for row in rows])
    if told:
        members = [(asset, one.dispatch_id, "") for asset, one in ended.items()]
        journal.record(connection, JournalType.FINALIZED, None, why, members)
        left = [(row.id, None, journal.details(book=row.book_key)) for row in rows]
        journal.record(connection, JournalType.REMOVED, None, why, left)


def _leave(connection: Connection, rows: Sequence[Any], *, for_good: bool) -> None:
    assets = sorted(row.id for row in rows)
    shown = [row.artifact for row in rows]
    if for_good:
        purge_assets(connection, assets, shown)
    else:
        let_go(connection, [*(row.artifact for row in fetch(connection, _LEAVE_PARTS, assets=assets)), *shown])
        tell(connection, _DROP_PARTS, assets=assets)
    for statement in (_DROP_FACTS, _DROP_ASSETS):
        tell(connection, statement, assets=assets)
    drop_tally(connection, ((row.book_key, row.media, row.id) for row in rows))
