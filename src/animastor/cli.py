"""The command line. Options and sentences live here; what is done lives in `commands`.

Everything that takes time to import is imported by the command that needs it: `--help` and mistakes answer at once.
"""

from __future__ import annotations

import errno
import os
import secrets
import sys
import time
from collections.abc import Callable, Coroutine
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NoReturn

import typer

from animastor import signals
from animastor.commands.errors import CommandError, Exit

if TYPE_CHECKING:
    from animastor.config import Settings
    from animastor.display import Display

GO_ON = "Finished parts are kept; run the same command again to go on."

app = typer.Typer(
    help="Turn a book into a narrated, illustrated film and an audiobook, and keep them true as the book is edited.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"]},
)

Home = Annotated[
    Path | None,
    typer.Option("--home", help="The folder that keeps everything (default .animastor)."),
]
Json = Annotated[bool, typer.Option("--json", help="Print one JSON event a line, for programs.")]
Source = Annotated[Path, typer.Argument(help="A vbook (folder or zip), an EPUB, Markdown or plain text.")]
Media = Annotated[str | None, typer.Option("--media", help="Media types, by commas: audio,image,video (default all).")]
ScopeText = Annotated[
    str,
    typer.Option("--scope", help="all, chapter:CHAPTER, scene:CHAPTER/SCENE or from:CHAPTER/SCENE; ids or numbers."),
]
Voice = Annotated[str | None, typer.Option("--voice", help="The narrator's voice (docs/voices.md lists them).")]
Size = Annotated[str | None, typer.Option("--size", help="Of pictures and film, such as 1280x720 (the default).")]
Jobs = Annotated[int | None, typer.Option("--jobs", min=1, help="Parts made at once (default: the usable cores).")]
Out = Annotated[Path, typer.Option("--out", help="The folder for finished films, audiobooks and subtitles.")]
AllowMissing = Annotated[bool, typer.Option("--allow-missing", help="Export what there is, and list what is missing.")]


@app.command()
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
        from animastor.commands.errands import MAKE, Making
        from animastor.commands.performing import perform
        from animastor.commands.results import say_made
        from animastor.commands.selection import parse_size

        sides = parse_size(size) if size else None
        if dry_run:
            from animastor.commands.dry_run import Rehearsal, rehearse

            return await rehearse(settings, Rehearsal(source, media, scope, voice, sides, keep), display)
        asked = Making(
            source=str(source.absolute()),
            out=str(out.absolute()),
            key=secrets.token_hex(16),
            media=media,
            scope=scope,
            voice=voice,
            size=sides,
            keep=keep,
            allow_missing=allow_missing,
        )
        return say_made(await perform(settings, MAKE, asked, display), display, time.monotonic() - began)

    began = time.monotonic()
    _run(main, home=home, jobs=jobs, json=json)


@app.command(name="import")
def import_(source: Source, voice: Voice = None, size: Size = None, home: Home = None, json: Json = False) -> None:
    """Bring a book, or its new version, into the home without making anything yet."""

    async def main(settings: Settings, display: Display) -> int:
        from animastor.commands.errands import IMPORT, Importing
        from animastor.commands.performing import perform
        from animastor.commands.selection import parse_size

        asked = Importing(str(source.absolute()), voice, parse_size(size) if size else None)
        await perform(settings, IMPORT, asked, display)
        return Exit.OK

    _run(main, home=home, json=json)


@app.command()
def status(
    book: Annotated[str, typer.Argument(help="A book's id; without it, all books.")] = "",
    home: Home = None,
    json: Json = False,
) -> None:
    """Show the books of the home, or what of one book is there, missing or failed."""

    async def main(settings: Settings, display: Display) -> int:
        from animastor.commands.status import show_status

        return await show_status(settings, book, display)

    _run(main, home=home, json=json)


@app.command()
def export(
    book: Annotated[str, typer.Argument(help="A book's id; it may be left out when there is only one.")] = "",
    film: Annotated[bool, typer.Option("--film", help="An MP4 with chapters and subtitles.")] = False,
    audiobook: Annotated[bool, typer.Option("--audiobook", help="An M4B with chapters and cover.")] = False,
    subtitles: Annotated[bool, typer.Option("--subtitles", help="A WebVTT file.")] = False,
    out: Out = Path("out"),
    scope: ScopeText = "all",
    allow_missing: AllowMissing = False,
    home: Home = None,
    json: Json = False,
) -> None:
    """Write films, audiobooks and subtitles of what is finished; nothing is generated."""

    async def main(settings: Settings, display: Display) -> int:
        from animastor.commands.errands import EXPORT, Exporting
        from animastor.commands.performing import perform
        from animastor.commands.results import say_exported

        kinds = tuple(kind for kind, on in (("film", film), ("audiobook", audiobook), ("subtitles", subtitles)) if on)
        if not kinds:
            raise CommandError(Exit.USAGE, "nothing_named", "Name what to export: --film, --audiobook or --subtitles.")
        asked = Exporting(book, str(out.absolute()), kinds, scope, allow_missing)
        return say_exported(await perform(settings, EXPORT, asked, display), display)

    _run(main, home=home, json=json)


def _run(
    command: Callable[[Settings, Display], Coroutine[Any, Any, int]],
    *,
    home: Path | None,
    json: bool,
    jobs: int | None = None,
) -> NoReturn:
    """Run a command to its exit code: its errors as one sentence, its signals as CONTRACT 11 wants them."""
    from animastor.books.errors import BookError
    from animastor.display import choose

    display = choose(json=json, now=time.monotonic)
    code: int = Exit.INTERNAL
    try:
        code = signals.run(command(_settings(home, jobs), display), how_to_go_on=GO_ON)
        display.close()
    except signals.StoppedError as stopped:
        display.close()
        code = stopped.exit_code
    except CommandError as error:
        code = _fail(display, error, json=json)
    except BookError as error:
        code = _fail(display, CommandError(Exit.BAD_INPUT, error.reason, error.message), json=json)
    except OSError as error:
        if error.errno not in (errno.EPIPE, errno.EIO):  # a closed pipe, a closed terminal
            raise
        signals.say(f"Nobody reads the output any more: stopped. {GO_ON}")
        code = signals.EXIT_PIPE
    _leave(code)


def _settings(home: Path | None, jobs: int | None) -> Settings:
    from pydantic import ValidationError

    from animastor.config import Settings as Table

    given: dict[str, Any] = {name: value for name, value in (("home", home), ("jobs", jobs)) if value is not None}
    try:
        return Table(**given)
    except ValidationError as error:
        first = error.errors()[0]
        name = "ANIMASTOR_" + "_".join(map(str, first["loc"])).upper()
        raise CommandError(Exit.USAGE, "setting_invalid", f"{name}: {first['msg']}.") from error


def _fail(display: Display, error: CommandError, *, json: bool) -> int:
    display.close()
    if json:
        display.note(error.message, error=error.reason, exit_code=int(error.exit_code))
    signals.say(error.message)
    return error.exit_code


def _leave(code: int) -> NoReturn:
    """End with a code, even when standard output went away with something still in its buffer."""
    try:
        sys.stdout.flush()
    except (OSError, ValueError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        code = code or signals.EXIT_PIPE
    sys.exit(code)


def main() -> None:
    """The program `animastor`."""
    app()
