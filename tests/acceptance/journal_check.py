"""The journal of a home that nobody works on, replayed and held against its tables (CONTRACT 16)."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from pathlib import Path

from animastor.clock import SystemClock
from animastor.engine.replaying import Replayed, replay
from animastor.media.registry import installed
from animastor.storage.sql import open_home
from animastor.stores import DATABASE


def journal_differences(home: Path) -> Sequence[str]:
    """Where the tables are not as the journal tells; one sentence each."""
    return asyncio.run(_differences(home))


async def _differences(home: Path) -> Sequence[str]:
    storage = await open_home(home / DATABASE, installed(), SystemClock(), writable=False)
    try:
        replayed = Replayed()
        while page := await storage.journal(after=replayed.last_row, limit=1000):
            replay(page, replayed)
        return [*replayed.faults, *replayed.differences(await storage.asset_standings())]
    finally:
        await storage.close()
