"""The unfinished requests of a book, as they are when a person decides about them.

A command names the requests that it found, so that handing it over a second time never touches a newer one.
"""

from __future__ import annotations

from collections.abc import Sequence

from animastor.commands.errors import CommandError, Exit
from animastor.commands.homes import looking
from animastor.commands.importing import stored_book
from animastor.config import Settings
from animastor.engine.ports import BookRow


async def requests_of(settings: Settings, name: str, request: int | None) -> tuple[BookRow, Sequence[int]]:
    """The book and its unfinished requests, or the one that is named. Raises `CommandError`."""
    async with looking(settings) as opened:
        row = await stored_book(opened.storage, name)
        rows = await opened.storage.requests(open_only=request is None)
    known = [one.request_id for one in rows if one.book_key == row.book_key]
    if request is None:
        return row, known
    if request not in known:
        raise CommandError(Exit.BAD_INPUT, "request_unknown", f"There is no request {request} of {row.book_id}.")
    return row, [request]
