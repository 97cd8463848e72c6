"""A scene whose narration is given as one text: dividing it among its units (CONTRACT 14, Audio). Pure.

The words of the text are aligned with the words of the units in order. Words that align with none join the unit
before them. Without a word in any unit there is nothing to align with; the sentences are then dealt out evenly.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from difflib import SequenceMatcher
from itertools import pairwise

from animastor.books.model import Scene, Unit, UnitType
from animastor.books.sentences import split

_WORD = re.compile(r"\w+")
# A text that says not much more than the units do is a copy of them, and the units are what is edited.
_MORE = 1.25
_MOST_WORDS = 20_000  # of a longer one only the even division is tried: aligning takes the square of it at worst


def narrated(scene: Scene, language: str) -> tuple[Unit, ...]:
    """The scene's units with the text that is spoken in each: their own, or their share of the scene's."""
    if not tells_more(scene):
        return scene.units
    spoken = [at for at, unit in enumerate(scene.units) if unit.type is not UnitType.TYPOGRAPHY]
    texts = divided(scene.full_text, [scene.units[at].text for at in spoken], language)
    shares = dict(zip(spoken, texts, strict=True))
    return tuple(replace(unit, text=shares[at]) if at in shares else unit for at, unit in enumerate(scene.units))


def tells_more(scene: Scene) -> bool:
    """Whether the narration is that of the scene: it says clearly more than the units, and none has its own speech."""
    if not scene.full_text.strip() or any(unit.audio.text for unit in scene.units):
        return False
    units = [unit for unit in scene.units if unit.type is not UnitType.TYPOGRAPHY]
    told = sum(len(_WORD.findall(unit.text)) for unit in units)
    return bool(units) and len(_WORD.findall(scene.full_text)) > _MORE * told


def divided(text: str, units: Sequence[str], language: str) -> list[str]:
    """As many texts as there are units; joined, they are the text."""
    words = list(_WORD.finditer(text))
    owners = [at for at, unit in enumerate(units) for _ in _WORD.findall(unit)]
    known = [word.casefold() for unit in units for word in _WORD.findall(unit)]
    if not known or len(words) > _MOST_WORDS:
        return _evenly(text, len(units), language)
    starts = [0]
    matcher = SequenceMatcher(None, [word[0].casefold() for word in words], known, autojunk=False)
    for block in matcher.get_matching_blocks():
        for at in range(block.size):
            skipped = owners[block.b + at] + 1 - len(starts)
            starts += [_opening(text, words[block.a + at].start())] * skipped
    starts += [len(text)] * (len(units) + 1 - len(starts))
    return [text[start:end] for start, end in pairwise(starts)]


def _opening(text: str, at: int) -> int:
    """The place before the quotes and marks that open at a word."""
    while at > 0 and not text[at - 1].isspace() and not text[at - 1].isalnum():
        at -= 1
    return at


def _evenly(text: str, count: int, language: str) -> list[str]:
    """The sentences, dealt out so that each unit gets about as many characters."""
    shares = [""] * count
    at = 0
    for sentence in split(text, language):
        middle = at + len(sentence) / 2
        shares[min(count - 1, int(middle * count / max(1, len(text))))] += sentence
        at += len(sentence)
    return shares
