"""`animastor upgrade`: a database of an older program becomes this program's, because a person says so.

A home upgrades by itself when it is worked on; shared stores never do, as processes of the older program may be at
work (CONTRACT 11, versions).
"""

from __future__ import annotations

from animastor.commands.errors import CommandError, Exit
from animastor.commands.homes import database_error, locked, opening, require_home, sentence
from animastor.config import Settings
from animastor.display import Display
from animastor.engine.ports import StorageUnavailableError
from animastor.storage.versions import PLANNER, SCHEMA, VersionError
from animastor.stores import PackageMissingError, upgraded


async def upgrade(settings: Settings, display: Display) -> int:
    """Migrate, and let this program plan from now on. Raises `CommandError`."""
    if not settings.distributed:
        await _upgrade_home(settings)
        display.note(f"{settings.place} is up to date.", event="done", exit_code=0)
        return Exit.OK
    try:
        schema, planner = await upgraded(settings)
    except LookupError as error:
        message = f"There is nothing in the database {settings.place} yet: nothing is to be upgraded."
        raise CommandError(Exit.HOME, "home_missing", message) from error
    except PackageMissingError as error:
        raise CommandError(Exit.MISSING_TOOL, "package_missing", sentence(error)) from error
    except (StorageUnavailableError, VersionError) as error:
        raise database_error(settings, error) from error
    steps = [
        f"{name} {was} is {now} now"
        for name, was, now in (("schema", schema, SCHEMA), ("planner", planner, PLANNER))
        if was != now
    ]
    told = f"{settings.place}: {', '.join(steps)}." if steps else f"{settings.place} is up to date."
    display.note(told, event="done", schema=SCHEMA, planner=PLANNER, exit_code=0)
    return Exit.OK


async def _upgrade_home(settings: Settings) -> None:
    """Opening a home to work on it is all that it takes: after a backup copy beside the database."""
    require_home(settings)
    with locked(settings) as lock:
        if lock is None:
            message = f"Another process is working on {settings.home}: let it end, then upgrade."
            raise CommandError(Exit.HOME, "home_held", message)
        async with opening(settings, writable=True):
            pass
