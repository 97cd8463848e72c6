"""How sentences name books, and count what is in them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from animastor.engine.ports import BookRow
from animastor.exports.kinds import SUBTITLES

SHOWN_GAPS = 5


def called(row: BookRow) -> str:
    """A book as sentences name it."""
    return f"{row.title} ({row.book_id})" if row.title else row.book_id


def scenes_text(count: int) -> str:
    """So many scenes."""
    return "1 scene" if count == 1 else f"{count} scenes"


def lacks_text(lacking: Mapping[str, Sequence[str]]) -> str:
    """Which scenes files lack, as a sentence; files that lack the same are named together."""
    kinds: dict[tuple[str, ...], list[str]] = {}
    for kind, missing in lacking.items():
        kinds.setdefault(tuple(missing), []).append(kind)
    told = "; ".join(_lacks(names, missing) for missing, names in kinds.items())
    return f"{told[:1].upper()}{told[1:]}."


def _lacks(kinds: Sequence[str], missing: Sequence[str]) -> str:
    shown = ", ".join(missing[:SHOWN_GAPS]) + (f" and {len(missing) - SHOWN_GAPS} more" * (len(missing) > SHOWN_GAPS))
    verb = "lacks" if len(kinds) == 1 and kinds[0] != SUBTITLES else "lack"
    return f"{listed([f'the {kind}' for kind in kinds])} {verb} {scenes_text(len(missing))}: {shown}"


def listed(names: Sequence[str]) -> str:
    """`a`, `a and b`, `a, b and c`."""
    return " and ".join(part for part in (", ".join(names[:-1]), *names[-1:]) if part)
