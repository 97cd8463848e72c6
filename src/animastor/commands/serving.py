"""`animastor serve`: a process that works on shared stores until it is told to stop; there may be many of them.

There is no leader. Each schedules, keeps and reconciles whatever finds its turn, and works with a worker of its own
(DESIGN, embedded and distributed).
"""

from __future__ import annotations

import asyncio
from contextlib import AsyncExitStack

from animastor import logs
from animastor.app import Role, driving
from animastor.commands.errors import CommandError, Exit
from animastor.commands.homes import opening, sentence
from animastor.config import Settings
from animastor.display import Display
from animastor.engine.alarms import Alarm
from animastor.engine.errors import EngineFailedError
from animastor.stores import names_of


async def serve(settings: Settings, display: Display, role: Role) -> int:
    """Serve until cancelled. Raises `CommandError` when that cannot begin, or cannot go on."""
    if not settings.distributed:
        message = (
            "Set ANIMASTOR_DATABASE_URL, ANIMASTOR_COORDINATION_URL and ANIMASTOR_ARTIFACTS first (docs/operating.md); "
            "without them `animastor make` does all the work itself."
        )
        raise CommandError(Exit.USAGE, "not_distributed", message)
    settings.home.mkdir(parents=True, exist_ok=True)
    logs.to_home(settings.home)

    def report(alarm: Alarm) -> None:
        display.note(f"{alarm.message[:1].upper()}{alarm.message[1:]}.", event="alarm", reason=alarm.reason)

    async with AsyncExitStack() as stack:
        opened = await stack.enter_async_context(opening(settings, writable=True))
        try:
            drive = await stack.enter_async_context(driving(opened, report, role))
            database, coordination = names_of(settings)
            display.note(f"Serving {database} by {coordination}.", event="serving", role=role.name.lower())
            await drive.engine.wait()
        except EngineFailedError as error:
            raise CommandError(Exit.HOME, "engine_failed", sentence(error)) from error
    await asyncio.sleep(0)
    return Exit.OK
