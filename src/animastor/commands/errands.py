"""The errands of the command line, done by whoever drives the home and told message by message.

An errand is started with a message (what the command line said) and yields messages (notes, progress, its result).
So it is the same errand whether this process drives the home or hands it to the one that does (CONTRACT 11).
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping
from dataclasses import asdict
from functools import partial
from typing import Any, TypeAlias

import orjson

from animastor.app import Driving
from animastor.books.errors import BookError
from animastor.commands import (
    cancelling,
    doctor,
    editing,
    exports,
    holding,
    importing,
    inspections,
    layering,
    making,
    messages,
    regenerating,
    retrying,
    steered,
)
from animastor.commands.cancelling import Cancelling
from animastor.commands.doctor import Examining
from animastor.commands.editing import Editing
from animastor.commands.errors import CommandError, Exit
from animastor.commands.exports import Exporting
from animastor.commands.holding import Holding
from animastor.commands.homes import database_error, disk_error, sentence
from animastor.commands.importing import Importing
from animastor.commands.inspections import Inspection
from animastor.commands.layering import Layering
from animastor.commands.making import Making
from animastor.commands.messages import Tell
from animastor.commands.regenerating import Regenerating
from animastor.commands.retrying import Retrying
from animastor.commands.steered import Steering
from animastor.engine.home import Message
from animastor.engine.ports import ArtifactStoreUnavailableError, CoordinationUnavailableError, StorageUnavailableError

Asked: TypeAlias = (
    Making | Importing | Exporting | Examining | Inspection | Holding
    | Cancelling | Editing | Layering | Regenerating | Retrying | Steering
)  # fmt: skip
Errand: TypeAlias = Callable[[Driving, Mapping[str, Any], Tell], Awaitable[None]]

_STORES_AWAY = (ArtifactStoreUnavailableError, CoordinationUnavailableError, StorageUnavailableError)
_NAMES: Mapping[type[Any], str] = {
    Making: "errand:make",
    Importing: "errand:import",
    Exporting: "errand:export",
    Examining: "errand:doctor",
    Holding: "errand:hold",
    Cancelling: "errand:cancel",
    Regenerating: "errand:regenerate",
    Steering: "errand:steer",
    Retrying: "errand:retry",
    Editing: "errand:edit",
    Layering: "errand:layers",
    **inspections.NAMES,
}
_ERRANDS: Mapping[str, Errand] = {
    "errand:make": making.make,
    "errand:import": importing.bring,
    "errand:export": exports.write,
    "errand:doctor": doctor.look,
    "errand:hold": holding.hold,
    "errand:cancel": cancelling.cancel,
    "errand:regenerate": regenerating.regenerate,
    "errand:steer": steered.steer,
    "errand:retry": retrying.retry,
    "errand:edit": editing.edit,
    "errand:layers": layering.layer,
    **inspections.ERRANDS,
}
# Done without a worker: nothing is made by these.
BRIEF: tuple[type[Any], ...] = (Cancelling, Steering, *inspections.BRIEF)


def errands(drive: Driving) -> Mapping[str, Callable[[Message], AsyncGenerator[Message, None]]]:
    """The errands as the holder of a home offers them to other commands."""
    return {name: partial(run, drive, errand) for name, errand in _ERRANDS.items()}


def errand_message(asked: Asked) -> Message:
    """The message that starts an errand."""
    return {"command": _NAMES[type(asked)], "asked": orjson.loads(orjson.dumps(asdict(asked)))}


async def run(drive: Driving, errand: Errand, message: Message) -> AsyncGenerator[Message, None]:
    """The messages of an errand; an expected failure is the last of them."""
    told: asyncio.Queue[Message | None] = asyncio.Queue()

    async def work() -> None:
        try:
            await errand(drive, message["asked"], told.put_nowait)
        except CommandError as error:
            told.put_nowait(messages.failed(error))
        except (BookError, OSError, *_STORES_AWAY) as error:
            told.put_nowait(messages.failed(_command_error(drive, error)))
        finally:
            told.put_nowait(None)

    working = asyncio.ensure_future(work())
    try:
        while (said := await told.get()) is not None:
            yield said
        await working
    finally:
        working.cancel()
        await asyncio.gather(working, return_exceptions=True)


def _command_error(drive: Driving, error: Exception) -> CommandError:
    home = drive.reading.settings.home
    if isinstance(error, BookError):
        return CommandError(Exit.BAD_INPUT, error.reason, error.message)
    if isinstance(error, OSError):
        return disk_error(home, error)
    if isinstance(error, ArtifactStoreUnavailableError):
        return CommandError(Exit.HOME, "artifact_store_unavailable", sentence(error))
    if isinstance(error, CoordinationUnavailableError):
        return CommandError(Exit.HOME, "coordination_unavailable", sentence(error))
    return database_error(drive.reading.settings, error)
