"""Getting an errand done: by driving the home here, or by the process that already does (CONTRACT 11).

Whoever finds the home free drives it, and stays until nobody waits for it any more. Whoever finds it held hands its
errand over and shows what it is told; when the holder ends first, one of those who wait takes over.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Awaitable
from contextlib import aclosing
from typing import TypeVar

from animastor import signals
from animastor.app import Driving, driving, reading
from animastor.commands.errands import Exporting, Importing, Making, errand_message, errands
from animastor.commands.errors import CommandError, Exit
from animastor.commands.homes import home_errors, locked
from animastor.config import Settings
from animastor.display import Display
from animastor.engine.alarms import Alarm
from animastor.engine.errors import EngineFailedError
from animastor.engine.holder import Holder, event_from_json
from animastor.engine.home import HolderGoneError, HolderRefusedError, HomeServer, Message, ask
from animastor.engine.ports import StorageFullError, StorageUnavailableError

TAKE_OVER_S = 0.2  # between two tries to reach or become the holder

T = TypeVar("T")


async def perform(settings: Settings, name: str, asked: Making | Importing | Exporting, display: Display) -> Message:
    """Do an errand and show its progress; its result. Raises `CommandError`."""
    message = errand_message(name, asked)
    told_of_holder = False
    while True:
        with locked(settings) as lock, home_errors(settings.home):
            if lock is not None:
                return await _drive(settings, message, display)
        if not told_of_holder:
            display.note(f"Another process is working on {settings.home}; it does this too.")
            told_of_holder = True
        try:
            return await _shown(ask(settings.home, message), display)  # type: ignore[arg-type]
        except HolderGoneError:
            await asyncio.sleep(TAKE_OVER_S)
        except HolderRefusedError as error:
            raise CommandError(Exit.HOME, "holder_refused", f"{error}.") from error


async def _drive(settings: Settings, message: Message, display: Display) -> Message:
    try:
        async with (
            reading(settings, writable=True) as opened,
            driving(opened, lambda alarm: _alarm(display, alarm)) as drive,
        ):
            holder = Holder(drive.engine.requests, errands(drive))
            async with HomeServer(settings.home, holder.answer) as server:
                result = await _unless_failed(drive, _shown(holder.answer(message), display))
                if not server.quiet:
                    display.note("Others wait for this home: going on until their work is done.")
                await _unless_failed(drive, server.until_quiet())
                return result
    except StorageFullError as error:
        raise CommandError(Exit.DISK_FULL, "disk_full", f"{error}.") from error
    except StorageUnavailableError as error:
        raise CommandError(Exit.HOME, "database_unavailable", f"{error}.") from error


async def _shown(messages: AsyncGenerator[Message, None], display: Display) -> Message:
    """Show messages as they come; the result is the last. Raises `CommandError` for a failure."""
    result: Message = {}
    async with aclosing(messages):
        async for said in messages:
            if "failed" in said:
                failed = said["failed"]
                raise CommandError(Exit(failed["code"]), failed["reason"], failed["message"])
            result = said.get("result", result)
            try:
                _show(said, display)
            except OSError:  # nobody reads what is shown any more
                signals.hurry_out(signals.EXIT_PIPE)
                raise
    return result


def _show(said: Message, display: Display) -> None:
    if "note" in said:
        display.note(said["note"], **said["fields"])
    elif "progress" in said:
        event = event_from_json(said["progress"])
        display.progress(event.progress, event.seconds_left)
    elif "exporting" in said:
        display.exporting(*said["exporting"])


async def _unless_failed(drive: Driving, main: Awaitable[T]) -> T:
    """The result of `main`, unless the engine fails first. Raises `CommandError` then."""
    working = asyncio.ensure_future(main)
    engine = asyncio.ensure_future(drive.engine.wait())
    try:
        await asyncio.wait((working, engine), return_when=asyncio.FIRST_COMPLETED)
        if engine.done():
            engine.result()
        return await working
    except EngineFailedError as error:
        full = isinstance(error.__cause__, StorageFullError)
        code, reason = (Exit.DISK_FULL, "disk_full") if full else (Exit.HOME, "engine_failed")
        raise CommandError(code, reason, f"{error}.") from error
    finally:
        for task in (working, engine):
            task.cancel()
        await asyncio.gather(working, engine, return_exceptions=True)


def _alarm(display: Display, alarm: Alarm) -> None:
    display.note(f"{alarm.message[:1].upper()}{alarm.message[1:]}.", alarm=alarm.reason)
