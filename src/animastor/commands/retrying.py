"""The errand of `animastor retry`: what failed is tried again, with its attempts at 0."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from animastor.app import Driving
from animastor.commands import messages
from animastor.commands.asking import ask, outcome_of
from animastor.commands.errors import CommandError, Exit
from animastor.commands.importing import stored_book
from animastor.commands.messages import Tell
from animastor.commands.naming import called
from animastor.commands.selection import chosen_media, scope_of
from animastor.engine.ports import NewRequest, ScopeKind


@dataclass(frozen=True, slots=True)
class Retrying:
    """What `animastor retry` was asked for. `key`: idempotency key, new for each invocation."""

    book: str
    key: str
    scope: str = "all"
    media: str | None = None
    accept_charge: bool = False
    force: bool = False


async def retry(drive: Driving, told: Mapping[str, Any], tell: Tell) -> None:
    """Open the request and watch it to its end. Raises `CommandError`."""
    asked = Retrying(**told)
    storage = drive.reading.storage
    row = await stored_book(storage, asked.book)
    scope = await scope_of(storage, row, asked.scope)
    named = chosen_media(asked.media, drive.reading.registry)
    if asked.force and (len(named) != 1 or scope.kind is not ScopeKind.SCENE):
        raise CommandError(Exit.USAGE, "force_too_wide", "--force needs --scope scene:CHAPTER/SCENE and one --media.")
    await drive.engine.planned()
    failed = [media for media in await storage.failed_media(row.book_key, scope) if not named or media in named]
    wanted = tuple(named) if asked.force else tuple(failed)
    if not wanted:
        where = "" if asked.scope.strip() in ("", "all") else f"{asked.scope.strip()} of "
        said = f"Nothing of {where}{called(row)} has failed."
        tell(messages.result(said=said, book=row.book_id, failed={}, parts={}))
        return
    new = NewRequest(row.book_key, scope, wanted, asked.key, kind="retry", accept_charge=asked.accept_charge)
    ended = await ask(drive, new, tell, force=asked.force)
    tell(
        messages.result(
            worked=True,
            rebuild=False,
            book=row.book_id,
            **outcome_of(ended.last),
        )
    )
