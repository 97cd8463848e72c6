"""What of a unit is spoken, by whom, in which chunks, and with which pause behind each. Pure (CONTRACT 14, Audio).

Joined, the chunks of a unit are its text up to white space: nothing is left out, nothing said twice.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from animastor.books.model import Unit
from animastor.books.sentences import LIMIT, pack
from animastor.media.voices import is_narrator

_OPENING = re.compile(r"[\"'“‘«»„‚『「(\[¿¡—–]+\s*$")  # quotes before a speech belong to it
_CLOSING = re.compile(r"\s*[,.!?…;:、。！？]*[\"'”’»«」』)\]]+[,.!?…;:]*")
_TAIL = re.compile(r"[\"'”’»«“‘)\]」』\s]+$")
_SENTENCE_END = frozenset(".!?…。！？؟۔।॥։")
_CLAUSE_END = frozenset(",;:—–-、，；：،؛")
_UNSPACED = re.compile("[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff]")

# Seconds of silence behind a chunk. A joint inside a unit has to sound like one inside a chunk; a unit's end is a
# breath longer; a heading stands for itself.
PAUSE_CLAUSE_S = 0.18
PAUSE_SENTENCE_S = 0.38
PAUSE_UNIT_S = 0.5
PAUSE_HEADING_S = 0.9


@dataclass(frozen=True, slots=True)
class Piece:
    """A stretch of a unit's text that one speaker says; `""` is the narrator."""

    speaker: str
    text: str


@dataclass(frozen=True, slots=True)
class Chunk:
    """One part's text: at most `LIMIT` characters of one speaker, with the seconds of silence to leave behind it."""

    speaker: str
    text: str
    pause: float


def speakable(text: str) -> bool:
    """Whether there is a letter or a digit to say."""
    return any(unicodedata.category(char)[0] in "LN" for char in text)


def chunks_of(unit: Unit, language: str, *, heading: bool = False) -> list[Chunk]:
    """A unit's chunks in order; none when nothing of its text can be spoken."""
    if not speakable(unit.text):
        return []
    cut = [(piece.speaker, text) for piece in pieces_of(unit) for text in _packed(piece.text, language)]
    last = len(cut) - 1
    return [
        Chunk(speaker, text, pause_after(text, ends_unit=at == last, heading=heading))
        for at, (speaker, text) in enumerate(cut)
    ]


def pieces_of(unit: Unit) -> list[Piece]:
    """Narration before, speech, narration after; the whole text narrated when the speech is not found in it."""
    speaker = unit.audio.speaker or unit.speaker
    span = _span(unit.text, unit.audio.text)
    if span is None or is_narrator(speaker):
        return [Piece("", unit.text)]
    start, end = _with_quotes(unit.text, *span)
    before, speech, after = unit.text[:start], unit.text[start:end], unit.text[end:]
    if not speakable(before):
        before, speech = "", before + speech
    if not speakable(after):
        speech, after = speech + after, ""
    pieces = (Piece("", before), Piece(speaker, speech), Piece("", after))
    return [piece for piece in pieces if piece.text.strip()]


def pause_after(text: str, *, ends_unit: bool, heading: bool = False) -> float:
    """Seconds of silence that belong behind a chunk, by how its text ends."""
    if ends_unit and heading:
        return PAUSE_HEADING_S
    end = _TAIL.sub("", text)[-1:]
    if end in _CLAUSE_END:
        return PAUSE_CLAUSE_S
    if ends_unit:
        return PAUSE_UNIT_S
    return PAUSE_SENTENCE_S if end in _SENTENCE_END else PAUSE_CLAUSE_S


def _span(text: str, speech: str) -> tuple[int, int] | None:
    """Where a speech stands in a text, at word boundaries; white space counts as equal to white space."""
    words = speech.split()
    if not speakable(speech):
        return None
    for match in re.finditer(r"\s+".join(re.escape(word) for word in words), text):
        if not _inside_word(text, match.start()) and not _inside_word(text, match.end()):
            return match.span()
    return None


def _inside_word(text: str, at: int) -> bool:
    """Whether a word goes on over this place. Where a script has no spaces, every place is a boundary."""
    around = text[max(0, at - 1) : at + 1]
    return len(around) == 2 and at > 0 and all(char.isalnum() and not _UNSPACED.match(char) for char in around)


def _with_quotes(text: str, start: int, end: int) -> tuple[int, int]:
    """The span with the quotes and the punctuation that belong to it."""
    opening = _OPENING.search(text, 0, start)
    closing = _CLOSING.match(text, end)
    return (opening.start() if opening else start), (closing.end() if closing else end)


def _packed(text: str, language: str) -> list[str]:
    return list(_joined(pack(text, LIMIT, language)))


def _joined(texts: Sequence[str]) -> Iterator[str]:
    """The texts, those with nothing to say (a lone ellipsis) joined to the one before or after where there is room."""
    held = ""
    for text in texts:
        both = f"{held} {text}" if held else text
        if held and (len(both) > LIMIT or (speakable(held) and speakable(text))):
            yield held
            both = text
        held = both
    if held:
        yield held
