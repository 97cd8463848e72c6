"""The journal read back: the states and running dispatches that it tells of, to be held against the tables.

Every transition writes its row in its own transaction, so rows in the order of their ids give the states of all
assets at any moment (CONTRACT 16). What is `observed` tells of the coordination store and moves nothing. Pure.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Final

from animastor.engine.ports import AssetStanding, JournalRow
from animastor.engine.reasons import JournalType
from animastor.engine.states import State, may_move
from animastor.protocol import AssetId

MOVES: Final = frozenset(
    {
        JournalType.REQUESTED,
        JournalType.DISPATCHED,
        JournalType.READY,
        JournalType.DIRTY,
        JournalType.FAILED,
        JournalType.ROLLED_BACK,
        JournalType.CANCELLED,
        JournalType.SNAPSHOT,
    }
)
"""The rows that tell of a transition (or, a SNAPSHOT, of where one stood); others tell what happened in a state."""


@dataclass(slots=True)
class Replayed:
    """What a journal tells. `dispatches`: of assets that are GENERATING. `faults`: sentences, none in a sound journal.

    `refused`: how many transitions were asked for that may not be. `last_row`: the id of the last row that was read. An
    asset that is not in `states` is NEW, or was pruned away.
    """

    states: dict[AssetId, State] = field(default_factory=dict)
    dispatches: dict[AssetId, str] = field(default_factory=dict)
    faults: list[str] = field(default_factory=list)
    refused: int = 0
    last_row: int = 0

    def differences(self, standings: Iterable[AssetStanding]) -> list[str]:
        """Where the tables, read at the moment of the last row, are not as the journal tells; one sentence each."""
        tables = {one.asset: one for one in standings}
        found = [
            f"asset {asset} is gone, but the journal leaves it {state.name}"
            for asset, state in self.states.items()
            if asset not in tables
        ]
        for asset, there in tables.items():
            told = self.states.get(asset, State.NEW)
            if told is not there.state:
                found.append(f"asset {asset} is {there.state.name}, but the journal tells {told.name}")
            elif told is State.GENERATING and self.dispatches.get(asset) != there.dispatch_id:
                found.append(f"asset {asset} is in dispatch {there.dispatch_id}, but the journal tells another one")
        return found


def replay(rows: Iterable[JournalRow], onto: Replayed | None = None) -> Replayed:
    """Read journal rows, oldest first, on top of what was read before (`onto`, which is changed and given back).

    This is the check of the journal for every test and for the simulator: no `faults`, and no `differences` from
    `Storage.asset_standings()`. The journal may be read in pages; asset ids are never used again.
    """
    replayed = onto if onto is not None else Replayed()
    for row in rows:
        replayed.last_row = row.row_id
        replayed.refused += row.type is JournalType.INVALID_TRANSITION
        if not row.observed and row.asset is not None:
            _take(replayed, row, row.asset)
    return replayed


def _take(replayed: Replayed, row: JournalRow, asset: AssetId) -> None:
    if row.type is JournalType.REMOVED:
        replayed.states.pop(asset, None)
        replayed.dispatches.pop(asset, None)
    elif row.type in MOVES and row.state is not None:
        _move(replayed, row, asset, row.state)
    elif row.state is not None and asset in replayed.states and replayed.states[asset] is not row.state:
        replayed.faults.append(
            f"row {row.row_id}: {row.type} of asset {asset} tells {row.state.name} "
            f"where the rows before it tell {replayed.states[asset].name}"
        )


def _move(replayed: Replayed, row: JournalRow, asset: AssetId, after: State) -> None:
    before = replayed.states.get(asset)
    if before is not None and before is not after and not _allowed(before, after):
        replayed.faults.append(
            f"row {row.row_id}: {before.name} → {after.name} of asset {asset} is no transition ({row.reason})"
        )
    replayed.states[asset] = after
    if after is State.GENERATING:
        if row.dispatch_id:
            replayed.dispatches[asset] = row.dispatch_id
    else:
        replayed.dispatches.pop(asset, None)


def _allowed(before: State, after: State) -> bool:
    return may_move(before, after) or may_move(before, after, restore=True)
