"""The errand of `animastor cancel`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from animastor.app import Driving
from animastor.commands import messages
from animastor.commands.importing import stored_book
from animastor.commands.messages import Tell
from animastor.commands.naming import called
from animastor.commands.selection import chosen_media, scope_of
from animastor.engine.ports import BookRow, Cancel, Cancelled


@dataclass(frozen=True, slots=True)
class Cancelling:
    """What `animastor cancel` was asked for. `requests`: those that there were when it was asked."""

    book: str
    requests: tuple[int, ...]
    scope: str = "all"
    media: str | None = None


async def cancel(drive: Driving, told: Mapping[str, Any], tell: Tell) -> None:
    """Cancel, and answer when what was running has been released. Raises `CommandError`."""
    asked = Cancelling(**told)
    row = await stored_book(drive.reading.storage, asked.book)
    scope = await scope_of(drive.reading.storage, row, asked.scope)
    media = chosen_media(asked.media, drive.reading.registry)
    cancelled, stopped = await drive.engine.requests.cancel_part(
        Cancel(row.book_key, tuple(asked.requests), scope, media)
    )
    tell(
        messages.result(
            said=_sentence(cancelled, stopped, _what(row, media, asked.scope)),
            book=row.book_id,
            closed=list(cancelled.closed),
            narrowed=list(cancelled.narrowed),
            stopped=stopped,
        )
    )


def _what(row: BookRow, media: Sequence[str], scope: str) -> str:
    parts = [", ".join(media)] if media else []
    parts += [scope.strip()] if scope.strip() not in ("", "all") else []
    return " of ".join([*parts, called(row)])


def _sentence(cancelled: Cancelled, stopped: int, what: str) -> str:
    if not cancelled.closed and not cancelled.narrowed:
        return f"Nothing is being made of {what}: there is nothing to cancel."
    running = f"{stopped} running attempt{'s' * (stopped > 1)}" if stopped else "nothing, as nothing of it was running"
    return f"Cancelled: {what}. Stopped: {running}. What is finished is kept; `animastor make` asks for it again."
