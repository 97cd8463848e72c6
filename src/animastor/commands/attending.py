"""Whether anybody works for shared stores: who asks there only watches, and would wait without knowing for what."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from animastor.app import LANE, Driving
from animastor.commands import messages
from animastor.commands.messages import Tell
from animastor.ending import ended
from animastor.engine.ports import CoordinationUnavailableError
from animastor.engine.reasons import Reason
from animastor.protocol import Pair

LOOK_S = 5.0
NOBODY = "Nobody works for this database now: start `animastor serve`; until then this waits."
AWAY = "until then nothing starts, and this waits."


@asynccontextmanager
async def attended(drive: Driving, tell: Tell) -> AsyncIterator[None]:
    """While the block runs, tell once when nobody is there to do what it waits for."""
    looking = asyncio.create_task(_look(drive, tell)) if drive.reading.settings.distributed else None
    try:
        yield
    finally:
        await ended(looking)


async def _look(drive: Driving, tell: Tell) -> None:
    pairs = [Pair(media.name, LANE) for media in drive.reading.registry]
    while True:
        await drive.reading.clock.sleep(LOOK_S)
        try:
            statuses = await drive.coordination.pairs(pairs)
        except CoordinationUnavailableError as error:
            tell(messages.note(f"{error}; {AWAY}", event="alarm", reason=Reason.COORDINATION_UNAVAILABLE))
            return
        if not any(status.profiles for status in statuses):
            tell(messages.note(NOBODY, event="alarm", reason="nobody_serves"))
            return
