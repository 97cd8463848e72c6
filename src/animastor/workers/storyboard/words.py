"""Words of a text, for looking them up in the tables of what they mean to a picture."""

from __future__ import annotations

import re

_WORD = re.compile(r"[^\W\d_]+(?:['’][^\W\d_]+)?", re.UNICODE)


def words_of(text: str) -> list[str]:
    """The words of a text in order, without case, without a possessive ending."""
    return [re.sub(r"['’]s$", "", word) for word in _WORD.findall(text.casefold())]
