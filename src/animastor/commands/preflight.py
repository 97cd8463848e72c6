"""What can be known to be wrong before a home is opened: nothing is made, moved or waited for on its account."""

from __future__ import annotations

import os
from pathlib import Path

from animastor.commands.errors import CommandError, Exit
from animastor.commands.importing import require_source
from animastor.commands.making import Making
from animastor.commands.selection import check_scope, parse_media
from animastor.media.registry import installed


def check_making(asked: Making) -> None:
    """Raises `CommandError` and `BookError`."""
    check_scope(asked.scope)
    parse_media(asked.media, installed())
    require_source(Path(asked.source))
    require_folder(Path(asked.out))


def require_file(path: Path) -> Path:
    """The file, from the root on. Raises `CommandError`."""
    if not path.is_file() or not os.access(path, os.R_OK):
        why = "cannot be read" if path.exists() else "does not exist"
        raise CommandError(Exit.BAD_INPUT, "file_missing", f"{path} {why}.")
    return path.absolute()


def require_folder(out: Path) -> None:
    """Raises `CommandError` when finished files could not be written there: better now than after the work."""
    there = next(each for each in (out, *out.absolute().parents) if each.exists())
    if not there.is_dir():
        raise CommandError(Exit.HOME, "out_unusable", f"--out {out}: {there} is a file, no folder.")
    if not os.access(there, os.W_OK | os.X_OK):
        raise CommandError(Exit.HOME, "out_unusable", f"--out {out}: {there} cannot be written.")
