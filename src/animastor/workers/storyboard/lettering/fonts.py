"""The fonts of pictures, and which of them draws which part of a text.

All three come inside Python packages under the SIL Open Font License: Noto Serif (Latin, Greek, Cyrillic), Noto Sans
Arabic, Noto Sans CJK (Chinese, Japanese, Korean). A character that none of them has is left out.
"""

from __future__ import annotations

import unicodedata
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from PIL import ImageFont

from animastor.workers.font_files import font_paths
from animastor.workers.storyboard.lettering.coverage import Coverage, coverage_of

_WEIGHT = {False: 500, True: 760}
_RTL = frozenset(("R", "AL"))


@dataclass(frozen=True, slots=True)
class Run:
    """A piece of a line that one font draws. `rtl` pieces are shaped from right to left."""

    text: str
    font: int
    rtl: bool


@lru_cache(maxsize=1)
def _paths() -> tuple[Path, ...]:
    return font_paths()


@lru_cache(maxsize=64)
def face(font: int, size: int, bold: bool = False) -> ImageFont.FreeTypeFont:
    """A font by its number in the order of preference, `size` pixels high."""
    loaded = ImageFont.truetype(_paths()[font], size, layout_engine=ImageFont.Layout.RAQM)
    if "wght" in _paths()[font].name:
        loaded.set_variation_by_axes([100, _WEIGHT[bold]] if _width_first(loaded) else [_WEIGHT[bold], 100])
    return loaded


def _width_first(loaded: ImageFont.FreeTypeFont) -> bool:
    name = loaded.get_variation_axes()[0]["name"] or b""
    return b"idth" in name if isinstance(name, bytes) else "idth" in name


def is_rtl(text: str) -> bool:
    """Whether the first strong letter of a text is written from right to left."""
    for character in text:
        kind = unicodedata.bidirectional(character)
        if kind in _RTL:
            return True
        if kind == "L":
            return False
    return False


def runs_of(text: str) -> list[Run]:
    """The text in pieces of one font and one direction, in reading order. Characters no font has are left out."""
    runs: list[Run] = []
    base = is_rtl(text)
    for character in text:
        font = _font_for(character, runs[-1].font if runs else _main(text))
        if font is None:
            continue
        kind = unicodedata.bidirectional(character)
        rtl = kind in _RTL or (kind not in ("L", "EN", "AN") and (runs[-1].rtl if runs else base))
        if runs and runs[-1].font == font and runs[-1].rtl == rtl:
            runs[-1] = Run(runs[-1].text + character, font, rtl)
        else:
            runs.append(Run(character, font, rtl))
    return _spaced(runs) if base else runs


def _spaced(runs: list[Run]) -> list[Run]:
    """In a line from right to left, the space after a foreign word belongs to the line, not to the word."""
    spaced: list[Run] = []
    for run in runs:
        bare = run.text.rstrip()
        if run.rtl or bare == run.text:
            spaced.append(run)
            continue
        spaced += [Run(bare, run.font, False), Run(run.text[len(bare) :], run.font, True)]
    return spaced


def drawable(text: str) -> str:
    """The text as it can be drawn: control characters and characters without a font are gone, spaces are single."""
    plain = "".join(" " if c.isspace() else c for c in unicodedata.normalize("NFC", text))
    kept = [c for c in plain if unicodedata.category(c)[0] != "C" or c in "\u200c\u200d"]
    return " ".join("".join(c for c in kept if c == " " or _font_for(c, 0) is not None).split())


def width_of(text: str, size: int, bold: bool = False) -> float:
    """The width of a line in pixels."""
    return sum(face(run.font, size, bold).getlength(run.text, direction=_direction(run)) for run in runs_of(text))


def _direction(run: Run) -> str:
    return "rtl" if run.rtl else "ltr"


@lru_cache(maxsize=256)
def _main(text: str) -> int:
    """The font that has most of the letters of a text: shared punctuation is then drawn by it."""
    letters = [c for c in text if c.isalpha()][:200]
    counts = [sum(c in coverage for c in letters) for coverage in _coverages()]
    return max(range(len(counts)), key=lambda font: (counts[font], -font))


@lru_cache(maxsize=4096)
def _font_for(character: str, preferred: int) -> int | None:
    if character in ("\u200c", "\u200d") or unicodedata.combining(character):
        return preferred
    if character in _coverages()[preferred]:
        return preferred
    return next((font for font, coverage in enumerate(_coverages()) if character in coverage), None)


@lru_cache(maxsize=1)
def _coverages() -> tuple[Coverage, ...]:
    return tuple(coverage_of(path) for path in _paths())
