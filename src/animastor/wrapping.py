"""Sentences that fit a terminal: broken between words, and never within a command that is quoted. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator
from unicodedata import combining, east_asian_width

_WORD = re.compile(r"(?:[^\s`]|`[^`]*`)+|`\S*")  # what stands between backticks is one word


def wrapped(text: str, columns: int) -> str:
    """The text in lines of at most `columns` columns; a word that is longer (a path) is left to the terminal.

    A line that is indented goes on two columns further in. Of a terminal that does not know its width, nothing is
    broken.
    """
    if columns <= 0:
        return text
    return "\n".join(line for one in text.split("\n") for line in _lines(one, columns))


def width(text: str) -> int:
    """The columns that a text takes on a terminal."""
    return sum(0 if combining(one) else 2 if east_asian_width(one) in "WF" else 1 for one in text)


def _lines(text: str, columns: int) -> Iterator[str]:
    if width(text) <= columns:
        yield text
        return
    indent = text[: len(text) - len(text.lstrip())]
    further = f"{indent}  " if indent else ""
    line = ""
    for word in _words(text[len(indent) :], columns - len(further)):
        longer = f"{line} {word}" if line.strip() else f"{line}{word}"
        if line.strip() and width(longer) > columns:
            yield line
            longer = f"{further}{word}"
        elif not line:
            longer = f"{indent}{word}"
        line = longer
    yield line


def _words(text: str, columns: int) -> Iterator[str]:
    """What is quoted stays together, unless that would not fit into a line."""
    for word in _WORD.findall(text):
        yield from [word] if width(word) <= columns else word.split()
