"""The commands by which people look into what is there and why: options and their sentences, as in `line`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from animastor.commands.options import BookName, Home, Json
from animastor.commands.running import Options, run

if TYPE_CHECKING:
    from animastor.config import Settings
    from animastor.display import Display


def register(app: typer.Typer) -> None:
    """Add these commands to the program."""
    app.command(short_help="Show a book's chapters, scenes and units: numbers, ids, states.")(outline)
    app.command(short_help="Say what something waits for, or why it failed.")(explain)
    app.command(short_help="Show what happened to a book, and why.")(journal)
    app.command(short_help="Look whether everything is installed, there and in order; --repair mends.")(doctor)
    app.command(short_help="Show what uses the space, and what will be collected.")(du)
    app.command(short_help="Delete finished parts that nothing uses any more.")(gc)
    app.command(short_help="List the takes of a unit; choose, pin or supply one.")(takes)
    app.command(short_help="Delete a book, or a part of it, with all that was made of it.")(delete)


def outline(
    book: BookName = "",
    scene: Annotated[str, typer.Argument(metavar="CHAPTER/SCENE", help="Ids or numbers: its units are shown.")] = "",
    home: Home = None,
    json: Json = False,
) -> None:
    """Show the chapters and scenes of a book with their numbers and ids, and what of them is there.

    With a scene: its units. Numbers and ids are how other commands are told where in a book something is.
    """

    async def main(settings: Settings, display: Display) -> int:
        from animastor.commands.outlining import show_outline

        return await show_outline(settings, book, scene, display)

    run(main, Options(home=home, json=json, looks=True))


def explain(
    book: BookName = "",
    scene: Annotated[
        str,
        typer.Argument(
            metavar="SCENE", help="CHAPTER/SCENE (ids or numbers), a scene's id, or its number in the book."
        ),
    ] = "",
    media: Annotated[
        str, typer.Argument(metavar="MEDIA", help="A media type: audio, image or video (default all).")
    ] = "",
    home: Home = None,
    json: Json = False,
) -> None:
    """Say why something is not there yet: what it waits for, how far that is, and what is in trouble.

    Without a scene: how the book stands, and the first of each media type that is not finished.
    """

    async def main(settings: Settings, display: Display) -> int:
        from animastor.commands.explaining import Explaining, explain_unheld, say_explained
        from animastor.commands.performing import ask_holder
        from animastor.commands.selection import check_selection

        check_selection("all", media or None)
        asked = Explaining(book, scene, media)
        result = await ask_holder(settings, asked, display)
        return say_explained(result if result is not None else await explain_unheld(settings, asked), display)

    run(main, Options(home=home, json=json, looks=True))


def journal(
    book: BookName = "",
    scene: Annotated[
        str, typer.Option("--scene", metavar="SCENE", help="Only this scene: CHAPTER/SCENE, its id or number.")
    ] = "",
    media: Annotated[
        str, typer.Option("--media", metavar="TYPE", help="Only this media type: audio, image or video.")
    ] = "",
    limit: Annotated[
        int, typer.Option("--limit", metavar="N", min=1, max=10_000, help="How many rows (the newest ones).")
    ] = 50,
    after: Annotated[
        int | None, typer.Option("--after", metavar="ROW", min=0, help="Only rows behind this one, oldest first.")
    ] = None,
    before: Annotated[
        int | None, typer.Option("--before", metavar="ROW", min=1, help="Only rows in front of this one.")
    ] = None,
    follow: Annotated[bool, typer.Option("--follow", help="Go on showing what comes, until stopped.")] = False,
    replay: Annotated[
        bool, typer.Option("--replay", help="Read the whole journal back and compare it with the tables.")
    ] = False,
    home: Home = None,
    json: Json = False,
) -> None:
    """Show what happened to a book, and why: each state that something took, each refusal, each repair.

    What is older than 30 days is pruned to one row for each media type of a scene.
    """

    async def main(settings: Settings, display: Display) -> int:
        from animastor.commands.journal import Selected, replay_journal, show_journal
        from animastor.commands.selection import check_selection

        check_selection("all", media or None)
        if replay:
            return await replay_journal(settings, display)
        return await show_journal(settings, book, Selected(scene, media, limit, after, before), display, follow=follow)

    if after is not None and before is not None:
        raise typer.BadParameter("--after and --before exclude each other")
    run(main, Options(home=home, json=json, looks=True))


def delete(
    book: BookName = "",
    scope: Annotated[
        str,
        typer.Option("--scope", metavar="SCOPE", help="Only chapter:CHAPTER or scene:CHAPTER/SCENE; ids or numbers."),
    ] = "",
    unit: Annotated[
        list[str] | None,
        typer.Option("--unit", metavar="UNIT", help="Only this: CHAPTER/SCENE/UNIT, or its id. May be given again."),
    ] = None,
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask.")] = False,
    home: Home = None,
    json: Json = False,
) -> None:
    """Delete a book, or a chapter, scene or unit of it, with everything that was made of it. Asks first.

    Finished films and audiobooks in your own folders stay. The source stays too: importing it again brings back what
    it holds.
    """

    async def main(settings: Settings, display: Display) -> int:
        from animastor.commands.deleting import Removing, confirmed, resolved
        from animastor.commands.performing import perform
        from animastor.commands.results import say_told
        from animastor.commands.selection import check_scope

        check_scope(scope)
        asked = await resolved(settings, Removing(book, scope, tuple(unit or ())))
        if not yes and not confirmed(asked.what):
            display.note("Nothing was deleted.", event="done", exit_code=0)
            return 0
        return say_told(await perform(settings, asked, display), display)

    run(main, Options(home=home, json=json))


def takes(
    book: Annotated[str, typer.Argument(metavar="BOOK", help="A book's id.")],
    unit: Annotated[str, typer.Argument(metavar="UNIT", help="CHAPTER/SCENE/UNIT; ids or numbers. Or the unit's id.")],
    media: Annotated[
        str, typer.Option("--media", metavar="TYPE", help="Only this media type: audio, image or video.")
    ] = "",
    part: Annotated[
        int,
        typer.Option(
            "--part", metavar="N", min=0, show_default=False, help="Which part of the unit, where it has several."
        ),
    ] = 0,
    choose: Annotated[
        str, typer.Option("--choose", metavar="TAKE", help="Want this earlier take again, until the unit changes.")
    ] = "",
    pin: Annotated[
        str, typer.Option("--pin", metavar="TAKE", help="Keep this take, whatever is edited or rebuilt.")
    ] = "",
    unpin: Annotated[bool, typer.Option("--unpin", help="Pin and supply nothing for this unit any more.")] = False,
    supply: Annotated[
        Path | None, typer.Option("--supply", metavar="FILE", help="Use this file of your own in its place.")
    ] = None,
    home: Home = None,
    json: Json = False,
) -> None:
    """List the takes of a unit: what is wanted, and what is kept of earlier versions and rebuilds.

    A take is named by the first characters that the list shows of it.
    """

    async def main(settings: Settings, display: Display) -> int:
        from animastor.commands.homes import require_home
        from animastor.commands.performing import perform
        from animastor.commands.preflight import require_file
        from animastor.commands.results import say_told
        from animastor.commands.selection import check_selection
        from animastor.commands.taking import Taking, show_takes

        check_selection("all", media or None)
        own = str(require_file(supply)) if supply is not None else ""
        asked = Taking(book, unit, media, part, choose, pin, unpin, own)
        if not (choose or pin or unpin or own):
            return await show_takes(settings, asked, display)
        require_home(settings)
        return say_told(await perform(settings, asked, display), display)

    if sum(map(bool, (choose, pin, unpin, supply))) > 1:
        raise typer.BadParameter("--choose, --pin, --unpin and --supply exclude one another")
    run(main, Options(home=home, json=json))


def doctor(
    repair: Annotated[
        bool,
        typer.Option("--repair", help="Put right what is undone, and give up parts whose bytes are gone or damaged."),
    ] = False,
    home: Home = None,
    json: Json = False,
) -> None:
    """Look whether everything is installed, whether the home can be used, and what in it is not as it should be.

    Without --repair nothing is changed. With it, what is lost is made again by the next make, however much it is.
    """

    async def main(settings: Settings, display: Display) -> int:
        from animastor.commands.doctor import Examining, examine_unheld
        from animastor.commands.homes import require_home
        from animastor.commands.performing import ask_holder, perform
        from animastor.commands.results import say_examined

        require_home(settings)
        asked = Examining(repair=repair)
        if repair:
            return say_examined(await perform(settings, asked, display), display)
        result = await ask_holder(settings, asked, display)
        return say_examined(result if result is not None else await examine_unheld(settings, display), display)

    run(main, Options(home=home, json=json, looks=not repair))


def du(home: Home = None, json: Json = False) -> None:
    """Show what uses the space, by book, media type and kind, and what will be collected when."""

    async def main(settings: Settings, display: Display) -> int:
        from animastor.commands.space import show_usage

        return await show_usage(settings, display)

    run(main, Options(home=home, json=json, looks=True))


def gc(
    now: Annotated[bool, typer.Option("--now", help="Also what has been unused for a short time only.")] = False,
    home: Home = None,
    json: Json = False,
) -> None:
    """Delete the bytes of finished parts that nothing has used for a week. `du` shows which.

    Kept takes stay: the last five of each unit and kind, others for 30 days after they were last wanted.
    """

    async def main(settings: Settings, display: Display) -> int:
        from animastor.commands.homes import require_home
        from animastor.commands.performing import perform
        from animastor.commands.results import say_told
        from animastor.commands.space import Collecting

        require_home(settings)
        return say_told(await perform(settings, Collecting(now=now), display), display)

    run(main, Options(home=home, json=json))
