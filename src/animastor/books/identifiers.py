"""Identifiers: which strings may be one, and how the importers make theirs (CONTRACT 1).

An id made here depends on what a node says and on how many equal ones came before it, never on where it stands.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Iterable
from hashlib import sha256
from typing import Literal, TypeAlias

Kind: TypeAlias = Literal["chapter", "scene", "unit"]

PREFIXES: dict[Kind, str] = {"chapter": "ch-", "scene": "sc-", "unit": "iu-"}
HEX_DIGITS = 16  # 64 bits: a million nodes collide with a chance of 3 in 100 million, and collisions are stepped over
LONGEST = 128
_VALID = re.compile(r"[A-Za-z0-9_-][A-Za-z0-9._-]{0,127}")


def is_valid(identifier: str) -> bool:
    """Whether it has 1 to 128 characters of `[A-Za-z0-9._-]` and does not start with a dot (CONTRACT 1)."""
    return _VALID.fullmatch(identifier) is not None


def plain(text: str) -> str:
    """The text with each run of white space as one space: what identity and comparison look at."""
    return " ".join(text.split())


def node_id(kind: Kind, text: str, n: int) -> str:
    """`H(kind, text, n)` with the prefix of its kind; `n` counts the equal (kind, text) before it, from 0."""
    key = "\x00".join((kind, plain(text), str(n)))
    return PREFIXES[kind] + sha256(key.encode("utf-8", "surrogatepass")).hexdigest()[:HEX_DIGITS]


def slug(text: str, longest: int = 48) -> str:
    """A readable id part: lower case ASCII words joined by hyphens; "" when nothing of the text can be kept."""
    ascii_only = unicodedata.normalize("NFKD", text).encode("ascii", "ignore").decode("ascii")
    words = re.findall(r"[a-z0-9]+", ascii_only.replace("'", "").lower())
    out = ""
    for word in words:
        longer = f"{out}-{word}" if out else word
        if len(longer) > longest:
            break
        out = longer
    return out


def short_hash(text: str, digits: int = 8) -> str:
    """The first hexadecimal digits of a text's hash: tells apart what reads alike."""
    return sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:digits]


class Names:
    """Gives ids within one book: counts equal texts, and steps over ids that are taken."""

    def __init__(self, taken: Iterable[str] = ()) -> None:
        self._taken = set(taken)
        self._seen: Counter[tuple[Kind, str]] = Counter()

    def give(self, kind: Kind, text: str) -> str:
        """The next free id for a node of this kind with this text."""
        key = (kind, plain(text))
        while True:
            identifier = node_id(kind, text, self._seen[key])
            self._seen[key] += 1
            if identifier not in self._taken:
                self._taken.add(identifier)
                return identifier
