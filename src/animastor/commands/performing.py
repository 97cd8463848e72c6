"""Getting an errand done: by driving the home here, or by the process that already does (CONTRACT 11).

With shared stores there is nothing to hold: the errand asks and watches here, and those that serve do the work.

Whoever finds the home free drives it, and stays until nobody waits for it any more. Whoever finds it held hands its
errand over and shows what it is told; when the holder ends first, one of those who wait takes over.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Awaitable
from contextlib import aclosing
from typing import TypeVar

from animastor import logs, signals
from animastor.app import Driving, Role, driving, reading
from animastor.commands.errands import BRIEF, Asked, errand_message, errands
from animastor.commands.errors import CommandError, Exit
from animastor.commands.homes import NewHome, database_error, disk_error, home_errors, locked, lost_database, opening
from animastor.config import Settings
from animastor.display import Display
from animastor.engine.alarms import Alarm
from animastor.engine.errors import EngineFailedError
from animastor.engine.holder import Holder, event_from_json
from animastor.engine.home import HolderGoneError, HolderRefusedError, HomeServer, Message, ask
from animastor.engine.ports import StorageUnavailableError
from animastor.output import OutputGoneError
from animastor.storage.versions import VersionError

TAKE_OVER_S = 0.2  # between two tries to reach or become the holder

T = TypeVar("T")


async def perform(settings: Settings, asked: Asked, display: Display) -> Message:
    """Do an errand and show its progress; its result. Raises `CommandError`."""
    message = errand_message(asked)
    if settings.distributed:
        return await _ask_fleet(settings, message, display)
    told_of_holder = False
    while True:
        new = NewHome(settings.home)
        with locked(settings) as lock, new.removed_when_useless(lock), home_errors(settings.home):
            if lock is not None:
                return await _drive(settings, message, display, new, brief=isinstance(asked, BRIEF))
        if not told_of_holder:
            display.note(f"Another process is working on {settings.home}; it carries this out.", event="held")
            told_of_holder = True
        try:
            return await _shown(ask(settings.home, message), display)  # type: ignore[arg-type]
        except HolderGoneError:
            await asyncio.sleep(TAKE_OVER_S)
        except HolderRefusedError as error:
            raise CommandError(Exit.HOME, "holder_refused", f"{error}.") from error


async def ask_holder(settings: Settings, asked: Asked, display: Display) -> Message | None:
    """The answer of those who work on an installation; None when nobody works on this home. Raises `CommandError`."""
    message = errand_message(asked)
    if settings.distributed:
        return await _ask_fleet(settings, message, display)
    try:
        return await _shown(ask(settings.home, message), display)  # type: ignore[arg-type]
    except HolderGoneError:
        return None
    except HolderRefusedError as error:
        raise CommandError(Exit.HOME, "holder_refused", f"{error}.") from error


async def _drive(settings: Settings, message: Message, display: Display, new: NewHome, *, brief: bool) -> Message:
    """Do it here. What is brief is done without a worker, and others wait until the home is free again."""
    logs.to_home(settings.home)
    if lost_database(settings):
        told = f"{settings.home} holds finished parts, but no database that knows them: everything is made anew."
        display.note(told, event="alarm", reason="database_missing")
    try:
        async with (
            reading(settings, writable=True) as opened,
            driving(opened, lambda alarm: _alarm(display, alarm), Role.KEEPER if brief else Role.REPLICA) as drive,
        ):
            try:
                return await (_do(drive, message, display) if brief else _serve(drive, message, display))
            except CommandError:  # the errand is over, and nothing is being written for it
                new.useless = await opened.storage.never_held_a_book()
                raise
    except (StorageUnavailableError, VersionError) as error:
        raise database_error(settings, error) from error


async def _ask_fleet(settings: Settings, message: Message, display: Display) -> Message:
    settings.home.mkdir(parents=True, exist_ok=True)
    logs.to_home(settings.home)
    async with (
        opening(settings, writable=True, asks=True) as opened,
        driving(opened, lambda alarm: _alarm(display, alarm), Role.CLIENT) as drive,
    ):
        return await _do(drive, message, display)


async def _do(drive: Driving, message: Message, display: Display) -> Message:
    return await _unless_failed(drive, _shown(Holder(errands(drive)).answer(message), display))


async def _serve(drive: Driving, message: Message, display: Display) -> Message:
    """Do the errand, and whatever others ask for meanwhile."""
    holder = Holder(errands(drive))
    async with HomeServer(drive.reading.settings.home, holder.answer) as server:
        try:
            result = await _unless_failed(drive, _shown(holder.answer(message), display))
        except CommandError:  # it may be one of the others that ended it, and wants its answer
            await _until_quiet(drive, server, display)
            raise
        await _until_quiet(drive, server, display)
        return result


async def _until_quiet(drive: Driving, server: HomeServer, display: Display) -> None:
    if not server.quiet:
        display.note("Others wait for this home: going on until their work is done.")
    await _unless_failed(drive, server.until_quiet())


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
            except OutputGoneError:
                signals.cut_short_after(signals.HURRY_S, signals.EXIT_PIPE, display)
                raise
    return result


def _show(said: Message, display: Display) -> None:
    if "note" in said:
        display.note(said["note"], said["event"], **said["fields"])
    elif "progress" in said:
        event = event_from_json(said["progress"])
        display.progress(event)
    elif "exporting" in said:
        display.exporting(*said["exporting"])


async def _unless_failed(drive: Driving, main: Awaitable[T]) -> T:
    """The result of `main`, unless the engine fails or the disk is found full first. Raises `CommandError` then."""
    working = asyncio.ensure_future(main)
    engine = asyncio.ensure_future(drive.engine.wait())
    full = asyncio.ensure_future(drive.room.wait())
    try:
        await asyncio.wait((working, engine, full), return_when=asyncio.FIRST_COMPLETED)
        if working.done():
            return working.result()
        if full.done():
            raise disk_error(full.result().place, full.result().error)
        engine.result()
        return await working
    except EngineFailedError as error:
        cause = error.__cause__ if isinstance(error.__cause__, StorageUnavailableError) else error
        raise database_error(drive.reading.settings, cause) from error
    finally:
        for task in (working, engine, full):
            task.cancel()
        await asyncio.gather(working, engine, full, return_exceptions=True)


def _alarm(display: Display, alarm: Alarm) -> None:
    display.note(f"{alarm.message[:1].upper()}{alarm.message[1:]}.", event="alarm", reason=alarm.reason)
