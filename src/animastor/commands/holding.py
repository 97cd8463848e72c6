"""Asking whoever writes a database to collect no artifact for a while, so that a backup finds what it names."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from animastor.commands import messages
from animastor.commands.errors import CommandError, Exit
from animastor.commands.homes import locked, opening
from animastor.commands.messages import Tell
from animastor.config import Settings
from animastor.engine.home import HolderGoneError, HolderRefusedError, Message, ask

if TYPE_CHECKING:
    from animastor.app import Driving

ASK_AGAIN_S = 0.2  # between two tries to reach or become the holder


@dataclass(frozen=True, slots=True)
class Holding:
    """Collect nothing for so many seconds."""

    seconds: float


async def hold(drive: Driving, told: Mapping[str, Any], tell: Tell) -> None:
    """The errand, for the process that drives the home."""
    await drive.reading.storage.hold_collecting(Holding(**told).seconds)
    tell(messages.result())


async def hold_collecting(settings: Settings, message: Message, seconds: float) -> None:
    """Have it done: by ourselves where anybody may write, else by the holder of the home. Raises `CommandError`."""
    while True:
        if settings.distributed:
            return await _hold_here(settings, seconds)
        with locked(settings) as lock:
            if lock is not None:
                return await _hold_here(settings, seconds)
        try:
            async for _ in ask(settings.home, message):
                pass
            return None
        except HolderGoneError:
            await asyncio.sleep(ASK_AGAIN_S)
        except HolderRefusedError as error:
            raise CommandError(Exit.HOME, "holder_refused", f"{error}.") from error


async def _hold_here(settings: Settings, seconds: float) -> None:
    async with opening(settings, writable=not settings.distributed) as opened:
        await opened.storage.hold_collecting(seconds)
