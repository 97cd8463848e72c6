"""Subtitles: what is said, while it is said. A cue never reaches over the measured border of a unit.

Within a unit that needs several cues its time is divided by what there is to say in each, pauses counted.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import pysubs2

from animastor.exports.wrapping import cues

_RIGHT_TO_LEFT = frozenset({"ar", "arc", "ckb", "dv", "fa", "he", "ku", "ps", "sd", "ug", "ur", "yi"})
_RLM = "\u200f"


@dataclass(frozen=True, slots=True)
class Spoken:
    """A text with the seconds of the whole film at which it begins and ends, as measured."""

    start: float
    end: float
    text: str


def subtitles(spoken: Iterable[Spoken], language: str = "") -> pysubs2.SSAFile:
    """The cues of a film, in order. A text that is empty, or takes no time, has none."""
    found = pysubs2.SSAFile()
    right_to_left = language.partition("-")[0].casefold() in _RIGHT_TO_LEFT
    for one in spoken:
        at = one.start
        for cue in cues(one.text):
            start, at = at, at + cue.share * (one.end - one.start)
            begin, end = round(start * 1000), round(at * 1000)
            if end > begin:
                found.append(_event(begin, end, cue.lines, right_to_left))
    return found


def webvtt(found: pysubs2.SSAFile) -> str:
    """The cues as a WebVTT file (also what ffmpeg reads, to make the track of the film)."""
    return found.to_string("vtt", keep_ssa_tags=True)


def _event(begin: int, end: int, lines: Sequence[str], right_to_left: bool) -> pysubs2.SSAEvent:
    shown = [_directed(line) if right_to_left else line for line in lines]
    return pysubs2.SSAEvent(start=begin, end=end, text="\\N".join(map(_escaped, shown)))


def _directed(line: str) -> str:
    """A line that is read from right to left also where its first letter is of another script."""
    strong = [way for sign in line if (way := unicodedata.bidirectional(sign)) in ("L", "R", "AL")]
    return f"{_RLM}{line}{_RLM}" if strong[:1] == ["L"] and len(set(strong)) > 1 else line


def _escaped(line: str) -> str:
    """Marks that WebVTT gives a meaning, as entities; a backslash, which pysubs2 would read, kept from its letter."""
    return line.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;").replace("\\", "\\\u2060")
