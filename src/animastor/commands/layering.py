"""`animastor layers`: which media types of a book are made, their limits, and the window; shown and set."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from animastor.app import Driving
from animastor.commands import messages
from animastor.commands.errors import CommandError, Exit
from animastor.commands.homes import looking
from animastor.commands.importing import stored_book
from animastor.commands.messages import Tell
from animastor.commands.naming import called
from animastor.config import Settings
from animastor.display import Display
from animastor.media.layers import LayerError, Value, effective, parse, table
from animastor.media.registry import Registry, installed


@dataclass(frozen=True, slots=True)
class Layering:
    """What `animastor layers` was asked to set; null gives a setting back to the book's own, or the default."""

    book: str
    changes: Mapping[str, Value | None]


def parsed(sets: Sequence[str]) -> dict[str, Value | None]:
    """The settings that a command line names. Raises `CommandError` that names the ranges."""
    try:
        return dict(parse(installed(), one) for one in sets)
    except LayerError as error:
        raise CommandError(Exit.USAGE, "layer_invalid", f"--set: {error}.") from error


async def show(settings: Settings, name: str, display: Display) -> int:
    """Show the layers of a book. Raises `CommandError`."""
    async with looking(settings) as opened:
        row = await stored_book(opened.storage, name)
        (context,) = await opened.storage.contexts([row.book_key])
        held = effective(opened.registry, context.head.layer_config, context.layers)
        known = table(opened.registry)
    display.note(f"{called(row)}:", event="layers", book=row.book_id, layers=held, set=dict(context.layers))
    display.table(
        ("", "", "default", "may be"),
        [(f"  {one}", _text(held[one]), _text(known[one].default), known[one].range_text) for one in known],
    )
    return Exit.OK


async def layer(drive: Driving, told: Mapping[str, Any], tell: Tell) -> None:
    """The errand: set, and answer when what was running of a layer that is switched off has been stopped."""
    asked = Layering(**told)
    row = await stored_book(drive.reading.storage, asked.book)
    try:
        answer, stopped = await drive.engine.requests.set_layers(row.book_key, asked.changes)
    except LayerError as error:
        raise CommandError(Exit.USAGE, "layer_invalid", f"--set: {error}.") from error
    await drive.engine.planned()
    said = _sentence(drive.reading.registry, called(row), answer.changed, stopped)
    tell(messages.result(said=said, book=row.book_id, changed=dict(answer.changed), stopped=stopped))


def _sentence(registry: Registry, book: str, changed: Mapping[str, Value], stopped: int) -> str:
    if not changed:
        return f"The layers of {book} are so already."
    said = f"Set for {book}: {', '.join(f'{name} = {_text(value)}' for name, value in changed.items())}."
    if stopped:
        said += f" Stopped: {stopped} running attempt{'s' * (stopped > 1)}. What is finished is kept."
    if any(changed.get(f"{name}_enabled") is True for name in registry.names):
        said += " `animastor make` makes what is switched on."
    return said


def _text(value: Value) -> str:
    return str(value).lower()
