"""The command line: options and their sentences. What is done with them lives in the other modules of `commands`.

Everything that takes time to import is imported by the command that needs it: `--help` and mistakes answer at once.
"""

from __future__ import annotations

import secrets
import sys
import time
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, NoReturn

import typer

from animastor import signals
from animastor.commands import inspecting, steering
from animastor.commands.errors import Exit
from animastor.commands.options import (
    AllowMissing,
    BookName,
    Home,
    Jobs,
    Json,
    Media,
    Out,
    ScopeText,
    Size,
    Source,
    Voice,
)
from animastor.commands.running import Options, leave, run
from animastor.signals import say

if TYPE_CHECKING:
    from animastor.config import Settings
    from animastor.display import Display

STOP_S = 10.0  # a server that was told to stop has so long to hand back what it claimed

app = typer.Typer(
    help="Turn a book into a narrated, illustrated film and an audiobook, and keep them true as the book is edited.",
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _say_version(wanted: bool) -> None:
    if wanted:
        print(f"animastor {version('animastor')}")
        raise typer.Exit


@app.callback(invoke_without_command=True)
def _without_command(
    context: typer.Context,
    _version: Annotated[
        bool, typer.Option("--version", help="Print the version.", callback=_say_version, is_eager=True)
    ] = False,
) -> None:
    if context.invoked_subcommand is None:
        print(context.get_help())


@app.command(short_help="Make what is missing or has changed, then film and audiobook.")
def make(
    source: Source,
    out: Out = Path("out"),
    media: Media = None,
    scope: ScopeText = "all",
    voice: Voice = None,
    size: Size = None,
    jobs: Jobs = None,
    keep: Annotated[bool, typer.Option("--keep", help="Keep the stored voice, size and backends of the book.")] = False,
    allow_missing: AllowMissing = False,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Say what would be made, and make nothing.")] = False,
    home: Home = None,
    json: Json = False,
) -> None:
    """Make film, audiobook and subtitles of a book: only what is missing or has changed.

    Run again after an interruption or an edit, it goes on where it was.
    """

    async def main(settings: Settings, display: Display) -> int:
        from animastor.commands.making import Making
        from animastor.commands.preflight import check_making

        asked = Making(
            source=str(source.absolute()),
            out=str(out.absolute()),
            key=secrets.token_hex(16),
            media=media,
            scope=scope,
            voice=voice,
            size=_sides(size),
            keep=keep,
            allow_missing=allow_missing,
        )
        check_making(asked)
        if dry_run:
            from animastor.commands.dry_run import rehearse

            return await rehearse(settings, asked, display)
        from animastor.commands.performing import perform
        from animastor.commands.results import say_made

        return say_made(await perform(settings, asked, display), display, time.monotonic() - began)

    began = time.monotonic()
    run(main, Options(home=home, jobs=jobs, json=json))


@app.command(name="import", short_help="Bring in a book, or its new version; make nothing yet.")
def import_(
    source: Source,
    voice: Voice = None,
    size: Size = None,
    keep: Annotated[bool, typer.Option("--keep", help="Keep the stored voice, size and backends of the book.")] = False,
    home: Home = None,
    json: Json = False,
) -> None:
    """Bring a book, or its new version, into the home without making anything yet."""

    async def main(settings: Settings, display: Display) -> int:
        from animastor.commands.importing import Importing, require_source
        from animastor.commands.performing import perform
        from animastor.commands.results import say_imported

        require_source(source)
        asked = Importing(str(source.absolute()), voice, _sides(size), keep=keep)
        return say_imported(await perform(settings, asked, display), display)

    run(main, Options(home=home, json=json))


@app.command(short_help="Show what is there, missing, failed or in work.")
def status(
    book: Annotated[str, typer.Argument(metavar="BOOK", help="A book's id; without it, all books.")] = "",
    home: Home = None,
    json: Json = False,
) -> None:
    """Show the books of the home, or what of one book is there, missing or failed."""

    async def main(settings: Settings, display: Display) -> int:
        from animastor.commands.status import show_status

        return await show_status(settings, book, display)

    run(main, Options(home=home, json=json, looks=True))


@app.command(short_help="Write finished files again; generate nothing.")
def export(
    book: BookName = "",
    film: Annotated[bool, typer.Option("--film", help="An MP4 with chapters and subtitles.")] = False,
    audiobook: Annotated[bool, typer.Option("--audiobook", help="An M4B with chapters and cover.")] = False,
    subtitles: Annotated[bool, typer.Option("--subtitles", help="A WebVTT file.")] = False,
    out: Out = Path("out"),
    scope: ScopeText = "all",
    allow_missing: AllowMissing = False,
    home: Home = None,
    json: Json = False,
) -> None:
    """Write films, audiobooks and subtitles of what is finished; nothing is generated.

    All of them, or those that are named.
    """

    async def main(settings: Settings, display: Display) -> int:
        from animastor.commands.exports import Exporting
        from animastor.commands.homes import require_home
        from animastor.commands.performing import perform
        from animastor.commands.preflight import require_folder
        from animastor.commands.results import say_exported
        from animastor.commands.selection import check_scope

        kinds = tuple(kind for kind, on in (("film", film), ("audiobook", audiobook), ("subtitles", subtitles)) if on)
        kinds = kinds or ("film", "audiobook", "subtitles")
        check_scope(scope)
        require_home(settings)
        require_folder(out)
        asked = Exporting(book, str(out.absolute()), kinds, scope, allow_missing=allow_missing)
        return say_exported(await perform(settings, asked, display), display)

    run(main, Options(home=home, json=json))


@app.command(short_help="Work for shared stores until told to stop; many may.")
def serve(
    scheduler: Annotated[
        bool, typer.Option("--scheduler/--no-scheduler", help="Decide what starts, too; else only work for others.")
    ] = True,
    drain: Annotated[
        bool, typer.Option("--drain", help="When told to stop, finish what runs first; else it is handed back.")
    ] = False,
    listen: Annotated[
        str, typer.Option("--listen", metavar="HOST:PORT", help="Where /healthz and /readyz answer (default: nowhere).")
    ] = "",
    jobs: Jobs = None,
    home: Home = None,
    json: Json = False,
) -> None:
    """Work on what is asked for in the database of ANIMASTOR_DATABASE_URL, together with all others that do."""

    if drain:
        wish = signals.Wish("nothing new is begun; what runs is finished first. Once more stops at once.", None)
    else:
        wish = signals.Wish("what has been claimed is handed back.", STOP_S)

    async def main(settings: Settings, display: Display) -> int:
        from animastor.app import Role
        from animastor.commands.serving import Serving
        from animastor.commands.serving import serve as serving

        asked = Serving(Role.REPLICA if scheduler else Role.WORKER, listen, drain)
        return await serving(settings, asked, wish, display)

    run(main, Options(home=home, jobs=jobs, json=json, wish=wish))


steering.register(app)
inspecting.register(app)


@app.command(short_help="Back up everything, also while it works.")
def backup(
    target: Annotated[Path, typer.Argument(metavar="TARGET", help="A folder, or a file that ends with .tar.")],
    home: Home = None,
    json: Json = False,
) -> None:
    """Copy the database, as it is at one moment, and the finished parts that it names; work goes on meanwhile.

    Into the same folder again, only what is new is copied.
    """

    async def main(settings: Settings, display: Display) -> int:
        from animastor.commands.backing_up import back_up

        return await back_up(settings, target, display)

    run(main, Options(home=home, json=json))


@app.command(short_help="Bring a database of an older version to this one.")
def upgrade(home: Home = None, json: Json = False) -> None:
    """Migrate the database of a home, or the shared one while no `serve` runs. Back up first."""

    async def main(settings: Settings, display: Display) -> int:
        from animastor.commands.upgrading import upgrade as upgrade_database

        return await upgrade_database(settings, display)

    run(main, Options(home=home, json=json))


@app.command(short_help="Make a home, or shared stores, of a backup.")
def restore(
    source: Annotated[Path, typer.Argument(metavar="SOURCE", help="A backup: its folder, or its file.")],
    replace: Annotated[bool, typer.Option("--replace", help="Replace what is there.")] = False,
    home: Home = None,
    json: Json = False,
) -> None:
    """Make a home, or the database and artifact store that the settings name, what a backup holds."""

    async def main(settings: Settings, display: Display) -> int:
        from animastor.commands.restoring import restore as restore_backup

        return await restore_backup(settings, source, display, replace=replace)

    run(main, Options(home=home, json=json))


def _sides(size: str | None) -> tuple[int, int] | None:
    from animastor.commands.selection import parse_size

    return parse_size(size) if size else None


def main() -> NoReturn:
    """Read the command line and run what it names."""
    try:
        app(standalone_mode=False)
    except typer.TyperException as error:
        say(f"{_sentence(error)} See `{_command(error)} --help`.")
        leave(Exit.USAGE)
    leave(Exit.OK)


def _command(error: typer.TyperException) -> str:
    """The command whose line is wrong, as far as it was understood."""
    context = getattr(error, "ctx", None)
    if context is not None and context.parent is not None:
        return f"animastor {context.info_name}"
    named = sys.argv[1] if context is None and len(sys.argv) > 1 else ""  # an option without its value has no context
    return f"animastor {named}" if named in getattr(typer.main.get_command(app), "commands", ()) else "animastor"


def _sentence(error: typer.TyperException) -> str:
    """A mistake of the command line as one sentence."""
    told = " ".join(error.format_message().split())
    return told if told.endswith((".", "?", "!")) else f"{told}."
