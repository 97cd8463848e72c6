"""What the tables say, in the words of tests."""

from __future__ import annotations

from collections import Counter

from invariants import rows
from stage import Stage

from animastor.engine.reasons import JournalType
from animastor.engine.states import State
from animastor.protocol import AssetId


async def states(stage: Stage, media: str) -> list[State]:
    """The states of the assets of a media type, in order."""
    found = await rows(stage, "SELECT state FROM asset WHERE media = :media ORDER BY id", media=media)
    return [State(row.state) for row in found]


async def reasons(stage: Stage) -> set[str]:
    """Why dispatches ended."""
    return {row.reason for row in await rows(stage, "SELECT reason FROM dispatch WHERE outcome IS NOT NULL")}


async def told(stage: Stage, asset: AssetId | None = None) -> Counter[JournalType]:
    """How often the journal tells of what."""
    return Counter(row.type for row in await stage.journal() if asset in (None, row.asset))
