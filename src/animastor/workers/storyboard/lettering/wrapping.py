"""Breaking a text into lines of even length: at spaces, and in Chinese and Japanese between characters."""

from __future__ import annotations

import re
from collections.abc import Callable

from animastor.workers.storyboard.lettering.fonts import width_of

_NOT_FIRST = "、。，．・：；？！）」』】〉》’”…ー々ぁぃぅぇぉっゃゅょァィゥェォッャュョ,.!?:;)]}»"
_NOT_LAST = "（「『【〈《‘“([{«"
_WIDE = re.compile("[\u3000-\u30ff\u3400-\u9fff\uf900-\ufaff\uff00-\uffef]")


def pieces_of(text: str) -> list[str]:
    """The pieces that a line may end after; each keeps the space that follows it."""
    pieces: list[str] = []
    for word in re.findall(r"\S+\s*", text):
        pieces += _split_wide(word) if _WIDE.search(word) else [word]
    return pieces


def _split_wide(word: str) -> list[str]:
    pieces: list[str] = []
    for character in word:
        glued = pieces and (
            character in _NOT_FIRST
            or character.isspace()
            or pieces[-1][-1] in _NOT_LAST
            or not (_WIDE.match(character) or _WIDE.match(pieces[-1][-1]))
        )
        if glued:
            pieces[-1] += character
        else:
            pieces.append(character)
    return pieces


def wrap(text: str, size: int, width: float, bold: bool = False) -> list[str]:
    """Lines no wider than `width` pixels, as even as they can be for their number."""
    pieces = _with_articles(_fitting(pieces_of(text), size, width, bold), size, width, bold)
    widths = [width_of(piece.rstrip(), size, bold) for piece in pieces]
    full = [width_of(piece, size, bold) for piece in pieces]
    lines = _greedy(pieces, widths, full, width)
    low, high = max(widths, default=0.0), width
    for _ in range(8):
        middle = (low + high) / 2
        if len(_greedy(pieces, widths, full, middle)) <= len(lines):
            high = middle
        else:
            low = middle
    return _greedy(pieces, widths, full, high)


_ARTICLES = {
    "en": ("a", "an", "the"),
    "de": ("der", "die", "das", "ein", "eine"),
    "fr": ("le", "la", "les", "un", "une", "des"),
    "es": ("el", "los", "las", "una"),
    "it": ("il", "lo", "gli"),
    "pt": ("o", "os", "as", "um", "uma"),
}
_ARTICLE = frozenset(word for words in _ARTICLES.values() for word in words)


def _with_articles(pieces: list[str], size: int, width: float, bold: bool) -> list[str]:
    """An article is kept with the word after it, where both fit on a line: no line ends with a lonely "a"."""
    kept: list[str] = []
    for piece in pieces:
        alone = kept and kept[-1].strip("“‘«¿¡ ").casefold() in _ARTICLE
        if alone and width_of((kept[-1] + piece).rstrip(), size, bold) <= width:
            kept[-1] += piece
        else:
            kept.append(piece)
    return kept


def _greedy(pieces: list[str], widths: list[float], full: list[float], limit: float) -> list[str]:
    lines: list[str] = []
    line, used = "", 0.0
    for piece, bare, whole in zip(pieces, widths, full, strict=True):
        if line and used + bare > limit:
            lines.append(line.rstrip())
            line, used = "", 0.0
        line, used = line + piece, used + whole
    return [*lines, line.rstrip()] if line else lines


def _fitting(pieces: list[str], size: int, width: float, bold: bool) -> list[str]:
    """Pieces wider than a line are cut."""
    fitting: list[str] = []
    for piece in pieces:
        rest = piece
        while width_of(rest.rstrip(), size, bold) > width and len(rest) > 1:
            cut = _longest(rest, lambda part: width_of(part, size, bold) <= width)
            fitting.append(rest[:cut])
            rest = rest[cut:]
        fitting.append(rest)
    return fitting


def _longest(text: str, fits: Callable[[str], bool]) -> int:
    low, high = 1, len(text) - 1
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if fits(text[:middle]) else (low, middle - 1)
    return low
