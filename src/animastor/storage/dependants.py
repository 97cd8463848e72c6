"""What a change of one media type does to those that read it, in the same scene and transaction (CONTRACT 4, 9).

These statements and those that clear a wait bit are the only way in which completing one media type reaches another.
"""

# ruff: noqa: S608 - fragments of this package are put together, nothing from outside

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, Final

from sqlalchemy import Connection

from animastor.engine.reasons import JournalType, Reason
from animastor.engine.states import State, Wait
from animastor.media.registry import Registry
from animastor.storage import journal
from animastor.storage.coverage import COVERED_BY
from animastor.storage.holding import hold
from animastor.storage.rows import Statement, fetch, tell

Changed = tuple[int, str]  # scene, media type
_READERS: Final = {"scene": int, "reader": str, "bit": int}

_RAISE = Statement(
    "raise_readers",
    "Plans that may read what changed are looked at again, and wait for it no more.",
    """
    UPDATE asset SET plan_seq = plan_seq + 1, waits = waits & ~d.bit
    FROM {readers} AS d
    WHERE asset.scene_key = d.scene AND asset.media = d.reader AND asset.state <> {NEW}
    """,
    readers=_READERS,
)
_RAISE_WAITING = Statement(
    "raise_waiting",
    "The same for those only that wait for it.",
    """
    UPDATE asset SET plan_seq = plan_seq + 1, waits = waits & ~d.bit
    FROM {readers} AS d
    WHERE asset.scene_key = d.scene AND asset.media = d.reader AND asset.state = {still_PENDING}
      AND (asset.waits & d.bit) <> 0
    """,
    readers=_READERS,
)
_NOT_COMING = Statement(
    "wait_in_vain",
    "What a plan that has just been stored waits for was there already, or has come to rest since the plan was made.",
    """
    UPDATE asset SET plan_seq = plan_seq + 1, waits = waits & ~({WAIT_REQUIRES} | {WAIT_FOLLOWS})
    FROM {waiting} AS w
    WHERE asset.id = w.asset AND asset.state = {still_PENDING} AND EXISTS (
        SELECT 1 FROM asset o WHERE o.scene_key = asset.scene_key AND o.media = w.need
          AND ((o.state = {READY} AND o.planned_seq >= o.plan_seq)
               OR (w.bit = {WAIT_FOLLOWS} AND o.state IN ({NEW}, {DIRTY}, {FAILED})))
    )
    """,
    waiting={"asset": int, "need": str, "bit": int},
)
_FAIL = Statement(
    "fail_readers",
    "What requires a FAILED asset cannot be made.",
    """
    UPDATE asset SET state = {FAILED}, reason = d.why, error = d.message, waits = 0, due_at = NULL
    FROM {readers} AS d
    WHERE asset.scene_key = d.scene AND asset.media = d.reader AND asset.state = {still_PENDING}
    RETURNING asset.id, asset.scene_key, asset.media, asset.reason
    """,
    readers={"scene": int, "reader": str, "why": str, "message": str},
)
_LIFT = Statement(
    "lift_readers",
    "What failed only because of a required asset may be made again.",
    f"""
    UPDATE asset SET plan_seq = plan_seq + 1, waits = 0, due_at = NULL, error = '', reason = '',
        state = CASE WHEN {COVERED_BY} IS NULL THEN {{DIRTY}} ELSE {{PENDING}} END,
        request_id = COALESCE({COVERED_BY}, 0)
    FROM {{readers}} AS d
    WHERE asset.scene_key = d.scene AND asset.media = d.reader AND asset.state = {{still_FAILED}}
      AND asset.reason = d.why
    RETURNING asset.id, asset.scene_key, asset.media, asset.state
    """,
    readers={"scene": int, "reader": str, "why": str},
)


def _bits(registry: Registry, media: str) -> list[tuple[str, int]]:
    """The media types that read one, with the wait bit by which they wait for it."""
    return [
        (name, int(Wait.REQUIRES if media in registry[name].requires else Wait.FOLLOWS))
        for name in registry.dependants(media)
    ]


def _readers(registry: Registry, changed: Iterable[Changed]) -> list[tuple[int, str, int]]:
    """Each reader once, with all bits: a statement changes a row once."""
    known = {media: _bits(registry, media) for media in registry.names}
    bits: dict[tuple[int, str], int] = {}
    for scene, media in changed:
        for reader, bit in known.get(media, ()):
            bits[scene, reader] = bits.get((scene, reader), 0) | bit
    return sorted((*key, bit) for key, bit in bits.items())


def raise_readers(connection: Connection, registry: Registry, changed: Iterable[Changed]) -> None:
    """These became READY: whoever requires or follows them is planned again."""
    if readers := _readers(registry, changed):
        tell(connection, _RAISE, readers=readers)


def raise_followers(connection: Connection, registry: Registry, changed: Iterable[Changed]) -> None:
    """These left PENDING or GENERATING for good: whoever follows them waits no more."""
    readers = [(scene, name, bit & Wait.FOLLOWS) for scene, name, bit in _readers(registry, changed)]
    if readers := [one for one in readers if one[2]]:
        tell(connection, _RAISE, readers=readers)


def raise_waiting(connection: Connection, registry: Registry, changed: Iterable[Changed]) -> None:
    """These turned out to be as they were, or rest now: whoever waits for them is planned again."""
    if readers := _readers(registry, changed):
        tell(connection, _RAISE_WAITING, readers=readers)


def wait_for_nothing_in_vain(connection: Connection, waiting: Sequence[tuple[int, str, int]]) -> None:
    """Plans that wait (asset, media type, its bit) were stored; those whose wait is over already are planned again.

    Whoever became READY or came to rest told only those that waited for it then: a plan made before and stored after
    would wait for ever.
    """
    if waiting:
        tell(connection, _NOT_COMING, waiting=waiting)


def fail_readers(connection: Connection, registry: Registry, failed: Sequence[Changed]) -> None:
    """These FAILED: PENDING assets that require them FAIL too, at any distance; those that follow them go on."""
    while failed:
        raise_followers(connection, registry, failed)
        readers = [
            (scene, reader, f"{Reason.REQUIRES_FAILED}:{media}", f"the {media} of this scene could not be made")
            for scene, media in failed
            for reader, bit in _bits(registry, media)
            if bit == Wait.REQUIRES
        ]
        rows = fetch(connection, _FAIL, readers=readers) if readers else ()
        journal.record_each(connection, JournalType.FAILED, State.FAILED, [(row.id, None, row.reason) for row in rows])
        failed = [(row.scene_key, row.media) for row in rows]


def lift_readers(connection: Connection, registry: Registry, left: Sequence[Changed]) -> None:
    """These left FAILED: what failed because of them is PENDING if covered, else DIRTY."""
    while left:
        readers = [
            (scene, reader, f"{Reason.REQUIRES_FAILED}:{media}")
            for scene, media in left
            for reader, bit in _bits(registry, media)
            if bit == Wait.REQUIRES
        ]
        rows = fetch(connection, _LIFT, readers=readers) if readers else ()
        hold(connection, [row.id for row in rows if row.state == State.PENDING])
        for state, type_ in ((State.PENDING, JournalType.REQUESTED), (State.DIRTY, JournalType.DIRTY)):
            lifted: list[Any] = [row for row in rows if row.state == state]
            members = [(row.id, None, "") for row in lifted]
            journal.record(connection, type_, state, "requires_lifted", members)
        left = [(row.scene_key, row.media) for row in rows]
