"""The options that several commands share, each with its one sentence."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

Home = Annotated[
    str | None, typer.Option("--home", metavar="DIR", help="The folder that keeps everything (default .animastor).")
]
Json = Annotated[bool, typer.Option("--json", help="Print one JSON event a line, for programs.")]
Source = Annotated[
    Path, typer.Argument(metavar="SOURCE", help="A vbook (folder or zip), an EPUB, Markdown or plain text.")
]
Media = Annotated[
    str | None,
    typer.Option("--media", metavar="TYPES", help="Media types, by commas: audio,image,video (default all)."),
]
ScopeText = Annotated[
    str,
    typer.Option(
        "--scope",
        metavar="SCOPE",
        help="all, chapter:CHAPTER, scene:CHAPTER/SCENE or from:CHAPTER/SCENE; ids or numbers.",
    ),
]
UnitsScope = Annotated[
    str,
    typer.Option(
        "--scope", metavar="SCOPE", help="all, chapter:C, scene:C/S, from:C/S or units:C/S/U,U; ids or numbers."
    ),
]
Voice = Annotated[
    str | None, typer.Option("--voice", metavar="NAME", help="The narrator's voice (docs/voices.md lists them).")
]
Size = Annotated[
    str | None, typer.Option("--size", metavar="SIZE", help="Of pictures and film, such as 1280x720 (the default).")
]
Jobs = Annotated[
    int | None, typer.Option("--jobs", metavar="N", min=1, help="Parts made at once (default: the usable cores).")
]
Out = Annotated[
    Path, typer.Option("--out", metavar="DIR", help="The folder for finished films, audiobooks and subtitles.")
]
AllowMissing = Annotated[bool, typer.Option("--allow-missing", help="Export what there is, and list what is missing.")]
BookName = Annotated[
    str, typer.Argument(metavar="BOOK", help="A book's id; it may be left out when there is only one.")
]
