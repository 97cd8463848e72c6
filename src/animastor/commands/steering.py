"""The commands by which people steer what is being made: options and their sentences, as in `line`."""

from __future__ import annotations

import secrets
import time
from typing import TYPE_CHECKING, Annotated

import typer

from animastor.commands.options import BookName, Home, Jobs, Json, Media, ScopeText, UnitsScope
from animastor.commands.running import Options, run

if TYPE_CHECKING:
    from animastor.config import Settings
    from animastor.display import Display

RequestId = Annotated[
    int | None, typer.Option("--request", min=1, help="Only this request (`status` shows their numbers).")
]


def register(app: typer.Typer) -> None:
    """Add these commands to the program."""
    app.command(short_help="Stop making a book, or a part of it; keep what is finished.")(cancel)
    app.command(short_help="Make parts of a book again, or what is missing of them.")(regenerate)


def cancel(
    book: BookName = "",
    request: RequestId = None,
    media: Media = None,
    scope: ScopeText = "all",
    home: Home = None,
    json: Json = False,
) -> None:
    """Stop making a book, or some media types of it, or a part of it. What is finished is kept.

    What is being made at this moment is stopped before the command ends. Asking for it again starts it again.
    """

    async def main(settings: Settings, display: Display) -> int:
        from animastor.commands.cancelling import Cancelling
        from animastor.commands.performing import perform
        from animastor.commands.results import say_told
        from animastor.commands.selection import check_selection
        from animastor.commands.unfinished import requests_of

        check_selection(scope, media)
        row, requests = await requests_of(settings, book, request)
        asked = Cancelling(row.book_id, tuple(requests), scope, media)
        return say_told(await perform(settings, asked, display), display)

    run(main, Options(home=home, json=json))


def regenerate(
    book: BookName = "",
    scope: UnitsScope = "all",
    media: Media = None,
    rebuild: Annotated[
        bool, typer.Option("--rebuild", help="Make what is there again, too: as another take of each part.")
    ] = False,
    jobs: Jobs = None,
    home: Home = None,
    json: Json = False,
) -> None:
    """Make what is missing, failed or stale of a book or a part of it; with --rebuild also what is there.

    Pinned and given parts are never made again. The finished files are written by `make` and `export`.
    """

    async def main(settings: Settings, display: Display) -> int:
        from animastor.commands.homes import require_home
        from animastor.commands.performing import perform
        from animastor.commands.regenerating import Regenerating
        from animastor.commands.results import say_regenerated
        from animastor.commands.selection import check_selection

        require_home(settings)
        check_selection(scope, media, units=True)
        asked = Regenerating(book, secrets.token_hex(16), scope, media, rebuild)
        return say_regenerated(await perform(settings, asked, display), display, time.monotonic() - began)

    began = time.monotonic()
    run(main, Options(home=home, jobs=jobs, json=json))
