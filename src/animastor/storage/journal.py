"""The append-only record: rows written in the transaction that they describe, and rows observed after the fact.

Ids are given when rows are written, and with many writers a row may be committed after another one with a higher id.
Who reads on behind the last id would never see it. So readers see rows up to a horizon: behind it stands every row
of a transaction that is not over. What they do not see yet, they see next time.
"""

# ruff: noqa: S608 - fragments of this package are put together, nothing from outside

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, Final

import orjson
from sqlalchemy import Connection

from animastor.engine.ports import AssetStanding, JournalRow
from animastor.engine.reasons import JournalType
from animastor.engine.states import State
from animastor.protocol import AssetId
from animastor.storage.rows import STATES, Statement, fetch, locks_rows, scalar, tell

_RECORD = Statement(
    "journal_record",
    "One row for each of a batch to which the same happened.",
    """
    INSERT INTO journal (at, asset, type, state, reason, dispatch_id, details)
    SELECT {now}, m.asset, :type, CAST(:state AS smallint), :reason, m.dispatch_id, m.details FROM {members} AS m
    """,
    members={"asset": int, "dispatch_id": str, "details": str},
)
_RECORD_REASONS = Statement(
    "journal_record_reasons",
    "The same where each has its own reason.",
    """
    INSERT INTO journal (at, asset, type, state, reason, dispatch_id, details)
    SELECT {now}, m.asset, :type, CAST(:state AS smallint), m.reason, m.dispatch_id, '' FROM {members} AS m
    """,
    members={"asset": int, "dispatch_id": str, "reason": str},
)
_OBSERVE = Statement(
    "journal_observe",
    "Rows about the coordination store.",
    """
    INSERT INTO journal (at, asset, type, state, reason, dispatch_id, actor, observed, details)
    SELECT CASE WHEN m.at > 0 THEN m.at ELSE {now} END, m.asset, m.type, CAST(m.state AS smallint), m.reason,
           m.dispatch_id, m.actor, 1, m.details
    FROM {members} AS m
    """,
    members={
        "at": float, "asset": int, "type": str, "state": int, "reason": str, "dispatch_id": str, "actor": str,
        "details": str,
    },
)  # fmt: skip
COLUMNS: Final = "j.id, j.at, j.asset, j.type, j.state, j.reason, j.dispatch_id, j.actor, j.observed, j.details"
_READ = Statement(
    "journal_read",
    "Rows of the whole journal behind an id.",
    f"SELECT {COLUMNS} FROM journal j WHERE j.id > :after AND j.id <= :until ORDER BY j.id LIMIT :limit",
)
_READ_ASSET = Statement(
    "journal_read_asset",
    "Rows of one asset behind an id.",
    f"""
    SELECT {COLUMNS} FROM journal j WHERE j.asset = :asset AND j.id > :after AND j.id <= :until
    ORDER BY j.id LIMIT :limit
    """,
)

_STANDINGS = Statement(
    "asset_standings",
    "The states that the journal must tell of.",
    "SELECT a.id, a.state, a.dispatch_id FROM asset a ORDER BY a.id",
)
_GIVEN = Statement(
    "journal_given",
    "The highest id that was given to a row.",
    "SELECT CASE WHEN is_called THEN last_value ELSE 0 END AS id FROM journal_id_seq",
)
_WRITING = Statement(
    "journal_writing",
    "The highest id before the rows of any transaction that is writing (its mark: `journal_mark` of the first schema).",
    """
    SELECT min((CAST(l.classid AS bigint) - 1073741824) * 4294967296 + CAST(l.objid AS bigint)) AS id FROM pg_locks l
    WHERE l.locktype = 'advisory' AND l.objsubid = 1 AND CAST(l.classid AS bigint) BETWEEN 1073741824 AND 2147483647
      AND l.database = (SELECT d.oid FROM pg_database d WHERE d.datname = current_database())
    """,
)
_EVERYTHING: Final = 2**62

Member = tuple[int | None, str | None, str]  # asset, dispatch, details as JSON


def record(
    connection: Connection, type_: JournalType, state: State | None, reason: str, members: Sequence[Member]
) -> None:
    """The same happened to each of these, in this transaction."""
    if members:
        number = None if state is None else int(state)
        tell(connection, _RECORD, type=type_.value, state=number, reason=reason, members=members)


def record_each(
    connection: Connection, type_: JournalType, state: State | None, members: Sequence[tuple[int, str | None, str]]
) -> None:
    """The same for members (asset, dispatch, reason) that each have their own reason."""
    if members:
        number = None if state is None else int(state)
        tell(connection, _RECORD_REASONS, type=type_.value, state=number, members=members)


def details(**facts: Any) -> str:
    """Details of a row, as they are stored."""
    return orjson.dumps(facts).decode()


def observe(connection: Connection, rows: Iterable[JournalRow]) -> None:
    """Write what was seen in the coordination store. A row without a time gets the database's."""
    members = [
        (
            row.at, row.asset, row.type.value, None if row.state is None else int(row.state), row.reason,
            row.dispatch_id, row.actor, details(**row.details) if row.details else "",
        )
        for row in rows
    ]  # fmt: skip
    if members:
        tell(connection, _OBSERVE, members=members)


def horizon(connection: Connection) -> int:
    """The id up to which no row is missing, for a transaction that begins after this one has ended.

    The order matters: a row with an id that was given before the first statement belongs to a transaction that was
    marked before; so either the second statement finds the mark, or the transaction is over and its rows are there.
    """
    if not locks_rows(connection):  # one writer: ids and commits have one order
        return _EVERYTHING
    given = int(scalar(connection, _GIVEN))
    writing = scalar(connection, _WRITING)
    return given if writing is None else min(given, int(writing))


def read(connection: Connection, asset: AssetId | None, after: int, until: int, limit: int) -> list[JournalRow]:
    """Rows with an id above `after` and up to `until` (a `horizon`), oldest first."""
    if asset is None:
        rows = fetch(connection, _READ, after=after, until=until, limit=limit)
    else:
        rows = fetch(connection, _READ_ASSET, asset=asset, after=after, until=until, limit=limit)
    return [row_from(row) for row in rows]


def row_from(row: Any) -> JournalRow:
    """A stored row."""
    return JournalRow(
        at=row.at,
        asset=None if row.asset is None else AssetId(row.asset),
        type=JournalType(row.type),
        state=None if row.state is None else State(row.state),
        reason=row.reason,
        dispatch_id=row.dispatch_id,
        actor=row.actor,
        observed=bool(row.observed),
        details=orjson.loads(row.details) if row.details else {},
        row_id=row.id,
    )


def standings(connection: Connection) -> list[AssetStanding]:
    """All assets with their states, by id."""
    return [AssetStanding(AssetId(row.id), STATES[row.state], row.dispatch_id) for row in fetch(connection, _STANDINGS)]
