"""A text cut into what fits on the screen: at most two lines of 42 columns, broken where a reader would pause. Pure.

A wide sign (Chinese, Japanese, Korean) takes two columns; scripts without spaces break between signs, but no line
begins with a closing mark or ends with an opening one.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

COLUMNS = 42
LINES = 2

_CUE, _PHRASE, _WORD, _SHORT = 10.0, 4.0, 16.0, 6.0  # the cost of a cue, of ending one so, of one under _FEW columns
_FEW = 15
_ENDS = ".!?…。！？؟۔॥।։።"
_PAUSES = ",;:—–、，；：،؛·"
_CLOSERS = "\"'”’»›)]}」』）】〉》〕"
_OPENERS = "“‘«‹([{「『（【〈《〔¿¡"
_NEVER_FIRST = _ENDS + _PAUSES + _CLOSERS + "ーぁぃぅぇぉっゃゅょゎァィゥェォッャュョヮ々〻‐"
_SHORTENED = re.compile(r"(?:[^\W\d_]|Mr|Mrs|Ms|Dr|St|Prof|Mme|Mlle|Sr|Jr|vs|etc|Hr|Fr)\.")
_UNSPACED = re.compile("[\u3005-\u3007\u3040-\u30ff\u31f0-\u31ff\u3400-\u9fff\uf900-\ufaff\uff66-\uff9f]")


@dataclass(frozen=True, slots=True)
class Cue:
    """What is shown at once: its lines, and the share of the text's speech that it takes."""

    lines: tuple[str, ...]
    share: float


@dataclass(frozen=True, slots=True)
class _Piece:
    """What is not broken: a word with its marks, or one sign of a script without spaces."""

    text: str
    spaced: bool  # a space follows
    columns: int
    ending: float  # what it costs to end a cue here
    weight: float  # how long it takes to say


def columns(text: str) -> int:
    """The width of a text in columns: marks that combine take none, wide signs two."""
    return sum(_width(sign) for sign in text)


def cues(text: str) -> tuple[Cue, ...]:
    """A text as cues, in order; none when there is nothing to show. Joined, they are the text up to white space."""
    pieces = list(_pieces(text))
    total = sum(piece.weight for piece in pieces)
    found = []
    for start, end in pairwise(_cuts(pieces)):
        group = pieces[start:end]
        found.append(Cue(_lines(group), sum(piece.weight for piece in group) / total))
    return tuple(found)


def _width(sign: str) -> int:
    if unicodedata.category(sign) in ("Mn", "Me", "Cf"):
        return 0
    return 2 if unicodedata.east_asian_width(sign) in "WF" else 1


def _pieces(text: str) -> Iterator[_Piece]:
    visible = "".join(sign if unicodedata.category(sign) != "Cc" else " " for sign in text)
    for word in visible.split():
        parts = [part for signs in _signs(word) for part in _fitting(signs)]
        yield from (_piece(part, spaced=False) for part in parts[:-1])
        yield _piece(parts[-1], spaced=True)


def _signs(word: str) -> Iterator[str]:
    """A word cut where it may be broken without a space: around the signs of scripts that have none."""
    start = 0
    for at in range(1, len(word)):
        before, after = word[at - 1], word[at]
        if not (_UNSPACED.match(before) or _UNSPACED.match(after) or before in "。、！？」』"):
            continue
        if after in _NEVER_FIRST or before in _OPENERS or unicodedata.combining(after):
            continue
        yield word[start:at]
        start = at
    yield word[start:]


def _fitting(word: str) -> Iterator[str]:
    """A word, cut where a line is full if it is longer than one."""
    part = ""
    for sign in word:
        if columns(part + sign) > COLUMNS:
            yield part
            part = ""
        part += sign
    yield part


def _piece(text: str, *, spaced: bool) -> _Piece:
    core = text.rstrip(_CLOSERS)
    last = core[-1:] or text[-1]
    ending, pause = _WORD, 0.0
    if last in _ENDS and not _SHORTENED.fullmatch(core.lstrip(_OPENERS)):
        ending, pause = 0.0, 6.0  # signs that could have been said in the pause
    elif last in _PAUSES:
        ending, pause = _PHRASE, 2.0
    return _Piece(text, spaced, columns(text), ending, len(text) + pause)


def _cuts(pieces: Sequence[_Piece]) -> list[int]:
    """Where cues begin, and the end: at the least cost over the whole text."""
    best: list[tuple[float, int]] = [(0.0, 0)]
    for end in range(1, len(pieces) + 1):
        ending = pieces[end - 1].ending if end < len(pieces) else 0.0
        found = (float("inf"), end - 1)
        for start, span in _starts(pieces, end):
            few = _SHORT if span < _FEW else 0.0
            found = min(found, (best[start][0] + _CUE + ending + few, start))
        best.append(found)
    cuts = [len(pieces)]
    while cuts[-1]:
        cuts.append(best[cuts[-1]][1])
    return cuts[::-1]


def _span(pieces: Sequence[_Piece]) -> int:
    return sum(piece.columns + piece.spaced for piece in pieces) - pieces[-1].spaced


def _starts(pieces: Sequence[_Piece], end: int) -> Iterator[tuple[int, int]]:
    """Where a cue that ends here may begin, nearest first, and its width: as long as it fits, filled from its end."""
    lines, used, span = 1, 0, 0
    for start in range(end - 1, -1, -1):
        width = pieces[start].columns + (pieces[start].spaced if used else 0)
        span += pieces[start].columns + (pieces[start].spaced if span else 0)
        used += width
        if used > COLUMNS:
            lines, used = lines + 1, pieces[start].columns
        if lines > LINES:
            return
        yield start, span


def _lines(pieces: Sequence[_Piece]) -> tuple[str, ...]:
    """One line if it is enough; else two of like width, broken at a pause if there is one near the middle."""
    if _span(pieces) <= COLUMNS or len(pieces) == 1:
        return (_joined(pieces),)

    def cost(at: int) -> tuple[bool, float]:
        first, second = _span(pieces[:at]), _span(pieces[at:])
        return max(first, second) > COLUMNS, abs(first - second) + pieces[at - 1].ending

    at = min(range(1, len(pieces)), key=cost)
    return _joined(pieces[:at]), _joined(pieces[at:])


def _joined(pieces: Sequence[_Piece]) -> str:
    return "".join(piece.text + " " * piece.spaced for piece in pieces).rstrip(" ")
