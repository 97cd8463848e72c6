"""The errand of `animastor regenerate`: make again, or make what is missing, down to single units."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from animastor.app import Driving
from animastor.commands import messages
from animastor.commands.asking import ask, outcome_of
from animastor.commands.importing import stored_book
from animastor.commands.messages import Tell
from animastor.commands.naming import called
from animastor.commands.selection import parse_media, scope_of
from animastor.engine.ports import NewRequest


@dataclass(frozen=True, slots=True)
class Regenerating:
    """What `animastor regenerate` was asked for. `key`: idempotency key, new for each invocation."""

    book: str
    key: str
    scope: str = "all"
    media: str | None = None
    rebuild: bool = False


async def regenerate(drive: Driving, told: Mapping[str, Any], tell: Tell) -> None:
    """Open the request and watch it to its end. Raises `CommandError`."""
    asked = Regenerating(**told)
    row = await stored_book(drive.reading.storage, asked.book)
    scope = await scope_of(drive.reading.storage, row, asked.scope, units=True)
    media = parse_media(asked.media, drive.reading.registry)
    new = NewRequest(row.book_key, scope, media, asked.key, kind="regenerate", rebuild=asked.rebuild)
    await drive.engine.planned()
    await drive.engine.reconciliation.looked.wait()
    ended = await ask(drive, new, tell)
    tell(
        messages.result(
            worked=ended.worked,
            rebuild=asked.rebuild,
            book=row.book_id,
            called=called(row),
            **outcome_of(ended.last),
        )
    )
