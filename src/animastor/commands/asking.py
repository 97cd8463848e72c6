"""Asking for something to be made, and telling how it goes until it has ended."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import aclosing
from dataclasses import dataclass
from typing import Any

from animastor.app import Driving
from animastor.commands import messages
from animastor.commands.attending import attended
from animastor.commands.errors import CommandError, Exit
from animastor.commands.expecting import expected_of
from animastor.commands.messages import Tell
from animastor.commands.naming import listed
from animastor.commands.pace import Pace
from animastor.commands.places import unit_numbers
from animastor.commands.standstill import Standstill
from animastor.engine.errors import EngineError
from animastor.engine.estimate import Expected, Known
from animastor.engine.home import Message
from animastor.engine.ports import KeptPart, NewRequest, RequestProgress, RequestRow
from animastor.engine.requests import RequestEvent
from animastor.engine.states import RequestState

SHOWN = 5


@dataclass(frozen=True, slots=True)
class Ended:
    """A request that has ended: its last event, whether it had work, the media types that were cancelled meanwhile."""

    last: RequestEvent
    worked: bool
    cancelled: tuple[str, ...] = ()


async def ask(drive: Driving, new: NewRequest, tell: Tell, *, force: bool = False) -> Ended:
    """Open a request and tell its progress to its end. Raises `CommandError`.

    With `force` the asset of its scene and only media type starts anew if it is at work.
    """
    requests, before = drive.engine.requests, drive.engine.effort.spent
    try:
        opening = await requests.open(new)
    except EngineError as error:
        raise CommandError(Exit.USAGE, "nothing_to_do", f"{error}.") from error
    if opening.added:
        tell(messages.note(f"Also making {', '.join(opening.added)}, which {', '.join(new.media)} needs."))
    if opening.disabled:
        tell(messages.note(f"Switched off in this book, and not made: {', '.join(opening.disabled)}."))
    if opening.superseded:
        tell(messages.note("An earlier, unfinished make of this book was for something else: it ends here."))
    if force and await requests.force(new.book_key, new.scope.scene_id, new.scope.chapter_id, new.media[0]):
        tell(messages.note("What was being made of it is stopped; it starts anew in a moment.", event="forced"))
    await _say_kept(drive, opening.request, tell)
    settings = drive.reading.settings
    pace = Pace.of(settings.home)
    known = None if settings.distributed else pace.known(settings.jobs)
    ended = await _watched(drive, opening.request.request_id, await expected_of(drive.reading, new), known, tell)
    pace.learned(_since(drive.engine.effort.spent, before)).keep(settings.home)
    state = ended.last.progress.request.state
    if state in (RequestState.CANCELLED, RequestState.SUPERSEDED):
        raise CommandError(Exit.FAILURES, f"request_{state}", f"This {new.kind} was {state} by another command.")
    if ended.cancelled:
        names = listed(ended.cancelled)
        tell(messages.note(f"Cancelled meanwhile, and not made: {names}.", event="narrowed", media=ended.cancelled))
    return ended


def outcome_of(last: RequestEvent) -> dict[str, Mapping[str, int]]:
    """What a request came to, for a result: `failed` assets of media types that have any, and finished `parts`."""
    return {
        "failed": {one.media: one.failed for one in last.progress.media if one.failed},
        "parts": {one.media: one.parts_ready for one in last.progress.media},
    }


async def _watched(
    drive: Driving, request_id: int, expected: Mapping[str, Expected], known: Known | None, tell: Tell
) -> Ended:
    """How a request ended; when it has no work, nothing is told. Raises `CommandError`.

    It is watched to its end, or until all within its window is settled.
    """
    standstill, busy, paused = Standstill(drive), False, False
    covered: dict[str, int] = {}  # the most assets that it ever was for
    seen = aclosing(drive.engine.requests.events(request_id, expected, known))  # type: ignore[type-var]
    async with attended(drive, tell), seen as events:
        async for event in events:
            last = event
            covered = {one.media: max(one.assets, covered.get(one.media, 0)) for one in event.progress.media}
            busy = busy or _has_work(event.progress)
            if busy:
                tell(messages.progress(event))
            if paused is not (paused := event.progress.request.state is RequestState.PAUSED):
                tell(_pause_note(request_id, paused=paused))
            if event.progress.idle:
                tell(messages.note("The rest lies beyond the window: `animastor position` moves it.", event="idle"))
                break
            standstill.look(event)
    return Ended(last, busy, tuple(one.media for one in last.progress.media if one.assets < covered[one.media]))


def _pause_note(request_id: int, *, paused: bool) -> Message:
    sentence = "Paused: `animastor resume` goes on." if paused else "Resumed."
    return messages.note(sentence, event="paused" if paused else "resumed", request=request_id)


def _has_work(progress: RequestProgress) -> bool:
    return any(one.pending or one.generating or one.dirty for one in progress.media)


def _since(now: Mapping[str, Any], before: Mapping[str, Any]) -> dict[str, Any]:
    return {media: spent.since(before.get(media)) for media, spent in now.items()}


async def _say_kept(drive: Driving, request: RequestRow, tell: Tell) -> None:
    """A rebuild leaves pinned and given parts alone, and names them."""
    storage = drive.reading.storage
    kept = await storage.kept_parts(request)
    if kept:
        row = next(row for row in await storage.books() if row.book_key == request.book_key)
        numbers = await unit_numbers(storage, row)
        told = [_kept_text(one, numbers) for one in kept]
        more = f" and {len(told) - SHOWN} more" if len(told) > SHOWN else ""
        tell(messages.note(f"Kept as they are: {', '.join(told[:SHOWN])}{more}.", event="kept", kept=told))


def _kept_text(one: KeptPart, numbers: Mapping[str, str]) -> str:
    how = "given" if one.given else "pinned"
    return f"{one.media} of {' and '.join(numbers.get(unit, unit) for unit in one.unit_ids)} ({how})"
