"""The commands by which people steer what is being made: options and their sentences, as in `line`."""

from __future__ import annotations

import secrets
import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NoReturn

import typer

from animastor.commands.errors import CommandError, Exit
from animastor.commands.options import BookName, Home, Jobs, Json, Media, ScopeText, UnitsScope
from animastor.commands.running import Options, run

if TYPE_CHECKING:
    from animastor.config import Settings
    from animastor.display import Display

PlaceText = Annotated[str, typer.Argument(metavar="CHAPTER/SCENE", help="Where; ids, or numbers counted from 1.")]
Priority = Annotated[
    str | None,
    typer.Option(
        "--priority",
        metavar="LEVEL",
        help="low, normal or high (when nothing is said): shares of 1, 2 and 4 among books.",
    ),
]
RequestId = Annotated[
    int | None, typer.Option("--request", metavar="N", min=1, help="Only this request (`status` shows their numbers).")
]


def register(app: typer.Typer) -> None:
    """Add these commands to the program."""
    app.command(short_help="Change a book; first see what is made again.")(edit)
    app.command(short_help="Stop making a book, or a part of it; keep what is finished.")(cancel)
    app.command(short_help="Make parts of a book again, or what is missing of them.")(regenerate)
    app.command(short_help="Try again what failed.")(retry)
    app.command(short_help="Start nothing more of a book for now; what runs is finished.")(pause)
    app.command(short_help="Go on with a paused book.")(resume)
    app.command(short_help="Make a book before others, or one scene before all.")(prioritize)
    app.command(short_help="Show or set which media types of a book are made.")(layers)
    app.command(short_help="Say where the reader is: what lies ahead is made first.")(position)


def edit(
    book: Annotated[str, typer.Argument(metavar="BOOK", help="A book's id.")],
    source: Annotated[
        Path | None, typer.Argument(metavar="FILE", help="Its new content: any file or folder that `make` reads.")
    ] = None,
    sets: Annotated[
        list[str] | None,
        typer.Option(
            "--set",
            metavar="PLACE.FIELD=VALUE",
            help="Such as 1/2/3.text='…' of a unit, 1/2.FIELD of a scene, 1.FIELD of a chapter, characters/ID.FIELD or "
            "book.FIELD; may be given again.",
        ),
    ] = None,
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask.")] = False,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only show what would be made again.")] = False,
    home: Home = None,
    json: Json = False,
) -> None:
    """Change a book: by a new version of its file, or single fields. Shows what will be made again, then asks.

    Only what the edit touches is made again, by what is being made already, or by the next `make`.
    """

    async def main(settings: Settings, display: Display) -> int:
        from animastor.commands.differences import agreed, shown
        from animastor.commands.editing import Editing, check_sets
        from animastor.commands.homes import looking
        from animastor.commands.importing import require_source, stored_book
        from animastor.commands.performing import perform
        from animastor.commands.results import say_told

        if (source is None) is not bool(sets):
            raise CommandError(Exit.USAGE, "nothing_named", "Name either a file with the new content, or --set.")
        check_sets(sets or ())
        if source is not None:
            require_source(source)
        async with looking(settings) as opened:
            row = await stored_book(opened.storage, book)
            asked = Editing(row.book_id, row.revision, str(source.absolute()) if source else "", tuple(sets or ()))
            if not await shown(opened, row, asked, display) or dry_run:
                return Exit.OK
        if not await agreed(display, yes=yes):
            display.note("Nothing was changed.", event="done", exit_code=0)
            return Exit.OK
        return say_told(await perform(settings, asked, display), display)

    run(main, Options(home=home, json=json))


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


def retry(
    book: BookName = "",
    scope: ScopeText = "all",
    media: Media = None,
    accept_charge: Annotated[
        bool,
        typer.Option("--accept-charge", help="Send paid calls again whose answers were lost: they may be paid twice."),
    ] = False,
    force: Annotated[
        bool, typer.Option("--force", help="Start one media type of one scene anew, even while it is being made.")
    ] = False,
    jobs: Jobs = None,
    home: Home = None,
    json: Json = False,
) -> None:
    """Try again what failed of a book or a part of it, as if it had never been tried."""

    async def main(settings: Settings, display: Display) -> int:
        from animastor.commands.homes import require_home
        from animastor.commands.performing import perform
        from animastor.commands.results import say_regenerated
        from animastor.commands.retrying import Retrying
        from animastor.commands.selection import check_selection

        require_home(settings)
        check_selection(scope, media)
        asked = Retrying(book, secrets.token_hex(16), scope, media, accept_charge=accept_charge, force=force)
        return say_regenerated(await perform(settings, asked, display), display, time.monotonic() - began)

    began = time.monotonic()
    run(main, Options(home=home, jobs=jobs, json=json))


def pause(book: BookName = "", request: RequestId = None, home: Home = None, json: Json = False) -> None:
    """Start nothing more of a book until `resume`. What is being made at this moment is finished and kept."""
    _steer(book, request, Options(home=home, json=json), paused=True)


def resume(book: BookName = "", request: RequestId = None, home: Home = None, json: Json = False) -> None:
    """Go on with a paused book."""
    _steer(book, request, Options(home=home, json=json), paused=False)


def prioritize(
    book: BookName = "",
    priority: Priority = None,
    scene: Annotated[
        str | None,
        typer.Option(
            "--scene", metavar="CHAPTER/SCENE", help="The scene that is to be made before everything else of its book."
        ),
    ] = None,
    request: RequestId = None,
    home: Home = None,
    json: Json = False,
) -> None:
    """Make a book before others, or after them; with --scene, make that scene before everything else of its book."""
    options = Options(home=home, json=json)
    if scene is None:
        _steer(book, request, options, priority=priority or "high")
    _steer(book, request, options, now=scene, **({} if priority is None else {"priority": priority}))


def layers(
    book: BookName = "",
    sets: Annotated[
        list[str] | None,
        typer.Option(
            "--set", metavar="NAME=VALUE", help="Or NAME=default; may be given again. Without it, all are shown."
        ),
    ] = None,
    home: Home = None,
    json: Json = False,
) -> None:
    """Show which media types of a book are made, their time limits, and the window; or set them.

    Switching a media type off stops what is being made of it; switching it on starts nothing.
    """

    async def main(settings: Settings, display: Display) -> int:
        from animastor.commands.homes import require_home
        from animastor.commands.layering import Layering, parsed, show
        from animastor.commands.performing import perform
        from animastor.commands.results import say_told

        if not sets:
            return await show(settings, book, display)
        changes = parsed(sets)
        require_home(settings)
        return say_told(await perform(settings, Layering(book, changes), display), display)

    run(main, Options(home=home, json=json))


def position(
    book: Annotated[str, typer.Argument(metavar="BOOK", help="A book's id.")],
    place: PlaceText,
    ahead: Annotated[
        int | None,
        typer.Option(
            "--ahead", metavar="N", min=0, help="Only so many scenes ahead (0: all); a make always makes all."
        ),
    ] = None,
    request: RequestId = None,
    home: Home = None,
    json: Json = False,
) -> None:
    """Say at which scene the reader is: what lies ahead of it is made first, what lies behind it last."""
    _steer(book, request, Options(home=home, json=json), position=place, ahead=ahead)


def _steer(book: str, request: int | None, options: Options, **how: Any) -> NoReturn:
    async def main(settings: Settings, display: Display) -> int:
        from animastor.commands.performing import perform
        from animastor.commands.results import say_told
        from animastor.commands.status import is_held
        from animastor.commands.steered import PRIORITIES, Steering
        from animastor.commands.unfinished import requests_of

        if "now" in how and "priority" in how:
            message = "--scene puts one scene before everything else of its book: it has no --priority."
            raise CommandError(Exit.USAGE, "scene_or_priority", message)
        if how.get("priority", "high") not in PRIORITIES:
            message = f"--priority {how['priority']!r} is none of {', '.join(PRIORITIES)}."
            raise CommandError(Exit.USAGE, "priority_unknown", message)
        row, requests = await requests_of(settings, book, request)
        result = dict(await perform(settings, Steering(row.book_id, tuple(requests), **how), display))
        if how.get("paused") is False and result["changed"] and not settings.distributed and not is_held(settings.home):
            result["said"] += " Nobody is working on it: run `animastor make` to go on."
        return say_told(result, display)

    run(main, options)
