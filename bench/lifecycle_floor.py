"""The floor of `lifecycle`: the rows of lives, written by statements of the same shape that decide nothing.

Each function is one transaction for a batch of assets whose lives are known beforehand.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from hashlib import sha256
from typing import Final, TypeAlias

from sqlalchemy import Connection

from animastor.storage.rows import Statement, run
from filled import PROMPT

_PLANNED = Statement(
    "floor_planned", "", """
    UPDATE asset SET planned_seq = r.seq, wanted_hash = r.wanted FROM {rows} AS r WHERE asset.id = r.of_asset
    """,
    rows={"of_asset": int, "seq": int, "wanted": str},
)  # fmt: skip
_PART = Statement(
    "floor_part", "", """
    INSERT INTO part (asset, hash, kind, ordinal, unit_id, plan_seq, workspace, estimate_s, work, profile, places,
                      inputs, params)
    SELECT r.asset, r.hash, r.kind, r.ordinal, r.unit, r.seq, r.workspace, r.estimate, r.work, r.profile, r.places,
           r.inputs, r.params
    FROM {rows} AS r
    """,
    rows={
        "asset": int, "hash": str, "kind": str, "ordinal": int, "unit": str, "seq": int, "workspace": str,
        "estimate": float, "work": float, "profile": str, "places": str, "inputs": str, "params": str,
    },
)  # fmt: skip
_TALLY = Statement(
    "floor_tally", "", """
    INSERT INTO tally (book_key, media, asset, parts, work)
    SELECT r.book, r.media, r.asset, r.parts, r.work FROM {rows} AS r
    """,
    rows={"book": int, "media": str, "asset": int, "parts": int, "work": float},
)  # fmt: skip
_BEGUN = Statement(
    "floor_begun", "", """
    UPDATE asset SET state = {GENERATING}, fence = 1, dispatch_id = r.dispatch FROM {rows} AS r
    WHERE asset.id = r.of_asset
    """,
    rows={"of_asset": int, "dispatch": str},
)  # fmt: skip
_DISPATCH = Statement(
    "floor_dispatch", "", """
    INSERT INTO dispatch (asset, fence, id, request_id, begun_at)
    SELECT r.asset, r.fence, r.id, r.request, {now} FROM {rows} AS r
    """,
    rows={"asset": int, "fence": int, "id": str, "request": int},
)  # fmt: skip
_JOURNAL = Statement(
    "floor_journal", "", """
    INSERT INTO journal (at, asset, type, state, reason, dispatch_id, details)
    SELECT {now}, r.asset, :type, CAST(:state AS smallint), :reason, r.dispatch, r.details FROM {rows} AS r
    """,
    rows={"asset": int, "dispatch": str, "details": str},
)  # fmt: skip
_ARTIFACT = Statement(
    "floor_artifact", "",
    "INSERT INTO artifact (checksum, suffix, size) SELECT r.sum, r.suffix, r.size FROM {rows} AS r",
    rows={"sum": str, "suffix": str, "size": int},
)  # fmt: skip
_ACCEPTED = Statement(
    "floor_accepted", "", """
    UPDATE part SET state = {PART_READY}, artifact = r.sum, facts = r.facts, last_claim = r.claim FROM {rows} AS r
    WHERE part.asset = r.of_asset AND part.hash = r.of_hash
    """,
    rows={"of_asset": int, "of_hash": str, "sum": str, "facts": str, "claim": int},
)  # fmt: skip
_READY = Statement(
    "floor_ready", "", """
    UPDATE asset SET state = {READY}, artifact_hash = r.wanted, made_by = r.dispatch FROM {rows} AS r
    WHERE asset.id = r.of_asset
    """,
    rows={"of_asset": int, "wanted": str, "dispatch": str},
)  # fmt: skip
_ENDED = Statement(
    "floor_ended", "", """
    UPDATE dispatch SET outcome = 'success', ended_at = {now} FROM {rows} AS r
    WHERE dispatch.asset = r.of_asset AND dispatch.fence = 1
    """,
    rows={"of_asset": int},
)  # fmt: skip
_FACTS = Statement(
    "floor_facts", "", "INSERT INTO asset_facts (asset, facts) SELECT r.asset, r.facts FROM {rows} AS r",
    rows={"asset": int, "facts": str},
)  # fmt: skip
_DONE = Statement(
    "floor_done", "", """
    UPDATE tally SET parts_ready = 1, work_ready = 1 FROM {rows} AS r
    WHERE tally.book_key = r.book AND tally.media = 'picture' AND tally.asset = r.of_asset
    """,
    rows={"book": int, "of_asset": int},
)  # fmt: skip
_RELEASED = Statement(
    "floor_released", "", """
    UPDATE dispatch SET released_at = {now} FROM {rows} AS r
    WHERE dispatch.asset = r.of_asset AND dispatch.fence = 1
    """,
    rows={"of_asset": int},
)  # fmt: skip
_FACTS_OF_PART: Final = '{"codec":"png","duration":0.0,"frames":0,"height":720,"width":1280}'


def _hash(asset: int) -> str:
    return sha256(f"part {asset}".encode()).hexdigest()


def _sum(asset: int) -> str:
    return sha256(f"bytes {asset}".encode()).hexdigest()


def _write(connection: Connection, statement: Statement, rows: Sequence[object], **values: object) -> None:
    run(connection, statement, rows=rows, **values).close()


def _journal(
    connection: Connection, type_: str, state: int, assets: Sequence[int], reason: str = "", details: str = ""
) -> None:
    members = [(one, f"{one:032x}", details) for one in assets]
    _write(connection, _JOURNAL, members, type=type_, state=state, reason=reason)


def _book(asset: int) -> int:
    return 1 + (asset - 1) // 1000


def plan(connection: Connection, assets: Sequence[int]) -> None:
    """Plans are stored."""
    _write(connection, _PLANNED, [(one, 1, _hash(one)) for one in assets])
    parts = [
        (
            one, _hash(one), "picture", 0, f"u{one}", 1, "default", 0.0, 1.0, "storyboard", f'[[0,["u{one}"]]]', "",
            f'{{"prompt":"{PROMPT}","seed":{one}}}',
        )
        for one in assets
    ]  # fmt: skip
    _write(connection, _PART, parts)
    _write(connection, _TALLY, [(_book(one), "picture", one, 1, 1.0) for one in assets])


def begin(connection: Connection, assets: Sequence[int]) -> None:
    """Dispatches begin."""
    _write(connection, _BEGUN, [(one, f"{one:032x}") for one in assets])
    _write(connection, _DISPATCH, [(one, 1, f"{one:032x}", 1) for one in assets])
    _journal(connection, "DISPATCHED", 2, assets)


def accept(connection: Connection, assets: Sequence[int]) -> None:
    """Results come in and complete their assets."""
    _write(connection, _ARTIFACT, [(_sum(one), ".png", 100_000) for one in assets])
    _write(connection, _ACCEPTED, [(one, _hash(one), _sum(one), _FACTS_OF_PART, 1) for one in assets])
    _journal(connection, "PART_ACCEPTED", 2, assets, "accepted", f'{{"kind":"picture","hash":"{"0" * 64}"}}')
    _write(connection, _READY, [(one, _hash(one), f"{one:032x}") for one in assets])
    _write(connection, _ENDED, assets)
    _write(connection, _FACTS, [(one, f'{{"units":{{"u{one}":"{_sum(one)}"}}}}') for one in assets])
    _journal(connection, "READY", 4, assets, "accepted")
    _write(connection, _DONE, [(_book(one), one) for one in assets])


def release(connection: Connection, assets: Sequence[int]) -> None:
    """That they were released is written down."""
    _write(connection, _RELEASED, assets)


Step: TypeAlias = Callable[[Connection, Sequence[int]], None]
STARTED: Final[Sequence[Step]] = (plan, begin)
COMPLETED: Final[Sequence[Step]] = (accept, release)
