"""`animastor serve`: a process that works on shared stores until it is told to stop; there may be many of them.

There is no leader. Each schedules, keeps and reconciles whatever finds its turn, and works with a worker of its own
(DESIGN, embedded and distributed). Told to stop, it hands back what it has claimed; told to drain, it ends that first.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from contextlib import AsyncExitStack, suppress
from dataclasses import dataclass

from animastor import logs
from animastor.app import Driving, Reading, Role, driving
from animastor.commands.errors import CommandError, Exit
from animastor.commands.homes import opening, sentence
from animastor.config import Settings
from animastor.display import Display
from animastor.engine.alarms import Alarm
from animastor.engine.errors import EngineFailedError
from animastor.engine.ports import ArtifactStoreUnavailableError, CoordinationUnavailableError, StorageUnavailableError
from animastor.health import OK, AddressError, Check, Health, parse_address
from animastor.signals import Wish
from animastor.stores import PackageMissingError, names_of, require_coordination

AGAIN_S = 1.0  # between two tries to reach stores that do not answer yet
_AWAY = (ArtifactStoreUnavailableError, CoordinationUnavailableError, StorageUnavailableError)


@dataclass(frozen=True, slots=True)
class Serving:
    """What `animastor serve` was asked for. `listen`: where health is told, or nothing; `drain`: end what runs."""

    role: Role
    listen: str = ""
    drain: bool = False


async def serve(settings: Settings, asked: Serving, wish: Wish, display: Display) -> int:
    """Serve until told to stop. Raises `CommandError` when that cannot begin."""
    _require_shared(settings)
    try:
        address = parse_address(asked.listen) if asked.listen else None
        settings.home.mkdir(parents=True, exist_ok=True)
        logs.to_home(settings.home)
        async with AsyncExitStack() as stack:
            health = Health({"process": _starting})
            bound = await stack.enter_async_context(health.listening(*address)) if address is not None else None
            listen = None if bound is None else f"{bound[0]}:{bound[1]}"
            opened = await _opened(stack, settings, wish, display, listen)
            if opened is not None:
                drive = await stack.enter_async_context(driving(opened, lambda alarm: _say(display, alarm), asked.role))
                health.checks = _checks(drive)
                _say_serving(settings, asked, listen, display)
                await _until_told(drive, wish)
                if asked.drain:
                    health.draining = True
                    await drive.worker.drain()
    except AddressError as error:
        raise CommandError(Exit.USAGE, "address_unusable", sentence(error)) from error
    except EngineFailedError as error:
        raise CommandError(Exit.HOME, "engine_failed", sentence(error)) from error
    display.note("Stopped; what was not finished is others' work now.", event="done", exit_code=0)
    return Exit.OK


def _say_serving(settings: Settings, asked: Serving, listen: str | None, display: Display) -> None:
    database, coordination = names_of(settings)
    where = f"; health at http://{listen}/readyz" if listen is not None else ""
    told = f"Serving {database} by {coordination}{where}."
    display.note(told, event="serving", role=asked.role.name.lower(), listen=listen)


def _require_shared(settings: Settings) -> None:
    if not settings.distributed:
        message = (
            "Set ANIMASTOR_DATABASE_URL, ANIMASTOR_COORDINATION_URL and ANIMASTOR_ARTIFACTS first (docs/operating.md); "
            "without them `animastor make` does all the work itself."
        )
        raise CommandError(Exit.USAGE, "not_distributed", message)


async def _opened(
    stack: AsyncExitStack, settings: Settings, wish: Wish, display: Display, listen: str | None
) -> Reading | None:
    """The stores, once all of them answer: where everything starts at once they may be later. None: told to stop.

    Raises `CommandError` when they did not answer in time, or there is another reason.
    """
    loop, said = asyncio.get_running_loop(), ""
    until = loop.time() + settings.start_wait_s
    while not wish.told.is_set():
        try:
            async with AsyncExitStack() as trying:
                opened = await trying.enter_async_context(opening(settings, writable=True))
                await _require_coordination(opened)
                stack.push_async_exit(trying.pop_all())
                return opened
        except CommandError as error:
            if not isinstance(error.__cause__, _AWAY) or loop.time() >= until:
                raise
            if error.message != said:
                said = error.message
                told = f"{said.rstrip('.')}: waiting for it, {settings.start_wait_s:g} s at most."
                display.note(told, event="waiting", reason=error.reason, listen=listen)
        with suppress(TimeoutError):
            await asyncio.wait_for(wish.told.wait(), AGAIN_S)
    return None


async def _starting() -> str:
    return "starting: not all stores have answered yet"


async def _require_coordination(opened: Reading) -> None:
    try:
        await require_coordination(opened.settings, opened.registry, opened.clock)
    except CoordinationUnavailableError as error:
        raise CommandError(Exit.HOME, "coordination_unavailable", sentence(error)) from error
    except PackageMissingError as error:
        raise CommandError(Exit.MISSING_TOOL, "package_missing", sentence(error)) from error


def _say(display: Display, alarm: Alarm) -> None:
    display.note(f"{alarm.message[:1].upper()}{alarm.message[1:]}.", event="alarm", reason=alarm.reason)


async def _until_told(drive: Driving, wish: Wish) -> None:
    """Return when told to stop. Raises `EngineFailedError`."""
    engine, told = asyncio.ensure_future(drive.engine.wait()), asyncio.ensure_future(wish.told.wait())
    try:
        await asyncio.wait((engine, told), return_when=asyncio.FIRST_COMPLETED)
        if engine.done():
            engine.result()
    finally:
        for task in (engine, told):
            task.cancel()
        await asyncio.gather(engine, told, return_exceptions=True)


def _checks(drive: Driving) -> Mapping[str, Check]:
    """Ready is who reaches all three stores and finds that work may start."""

    async def database() -> str:
        await drive.reading.storage.untouched()
        return OK

    async def coordination() -> str:
        return OK if await drive.coordination.era() is not None else "empty: an era begins at the next tick"

    async def artifacts() -> str:
        try:
            return str(await drive.reading.artifacts.check() or OK)
        except ArtifactStoreUnavailableError as error:
            return str(error)

    return {"database": database, "coordination": coordination, "artifacts": artifacts}
