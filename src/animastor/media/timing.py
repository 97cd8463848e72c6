"""When each unit of a scene begins and ends: in seconds, measured or estimated, and in frames. Pure.

Timings are lists of `(unit_id, start_s, end_s)`, contiguous from 0. Nothing here knows how sound or pictures are made.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from hashlib import sha256
from math import floor
from typing import TypeAlias

from animastor.books.model import Unit, UnitType

Timing: TypeAlias = tuple[str, float, float]

SILENT_S = 2.5  # a unit without sound (CONTRACT 14, Audio)
LEAST_S = 0.4  # no spoken unit is shorter: one word, with the pause behind it
# Characters of text per second of speech, spaces included: usual speeds of reading prose aloud. A script that writes
# syllables or words with one sign is slower in signs and the same in words.
_PER_SECOND = {"zh": 4.5, "ja": 6.5, "ko": 6.5, "th": 11.0, "ar": 11.5, "he": 11.5, "fa": 12.0, "hi": 12.0}
_USUAL_PER_SECOND = 15.0


def estimated_s(text: str, language: str) -> float:
    """How long speaking a text takes, in seconds, by the characters per second of the language (BCP 47)."""
    primary = language.partition("-")[0].casefold()
    return max(LEAST_S, len(text.strip()) / _PER_SECOND.get(primary, _USUAL_PER_SECOND))


def text_mark(text: str) -> str:
    """A short hash of the letters of a text: equal marks mean that speaking it lasts as long. White space is free."""
    return sha256("".join(text.split()).encode()).hexdigest()[:16]


def is_silent(unit: Unit) -> bool:
    """Whether nothing of a unit is spoken: typography, or no letter and no digit in it."""
    return unit.type is UnitType.TYPOGRAPHY or not any(unicodedata.category(sign)[0] in "LN" for sign in unit.text)


def in_order(durations: Iterable[tuple[str, float]]) -> tuple[Timing, ...]:
    """Timings of units that follow each other without a gap."""
    timings: list[Timing] = []
    at = 0.0
    for unit_id, duration in durations:
        timings.append((unit_id, at, at + duration))
        at += duration
    return tuple(timings)


def last_known_s(unit: Unit, facts: Mapping[str, object], language: str) -> float:
    """A unit's duration while there is no current sound of it.

    `facts` are the last measured ones of the sound: `timings`, and `texts`, which maps a unit to the mark of the text
    that was spoken. The last measured duration counts if the text is unchanged, else the estimate (CONTRACT 14).
    """
    if is_silent(unit):
        return SILENT_S
    texts, timings = facts.get("texts"), facts.get("timings")
    if isinstance(texts, Mapping) and isinstance(timings, Sequence) and texts.get(unit.unit_id) == text_mark(unit.text):
        for unit_id, start, end in timings:
            if unit_id == unit.unit_id:
                return float(end - start)
    return estimated_s(unit.text, language)


def border(seconds: float, fps: int) -> int:
    """The frame at which something that begins at `seconds` begins: the nearest one.

    Taken to a millionth of a frame first, so that the last bit of a sum of durations decides nothing.
    """
    return round(round(seconds * fps, 6))


def frame_counts(timings: Sequence[Timing], fps: int) -> tuple[int, ...]:
    """How many frames each unit has: unit k covers `border(start_k)` to `border(end_k)` (CONTRACT 14)."""
    return tuple(border(end, fps) - border(start, fps) for _, start, end in timings)


def room(duration: float, fps: int) -> int:
    """Frames that are enough for a unit of this duration wherever on the timeline it begins.

    A unit of d seconds has ⌊fps·d⌋ or ⌈fps·d⌉ frames, depending on what stands before it. What is rendered must not
    depend on that (CONTRACT 4: never a position), so one frame more than the whole ones is rendered and the merge
    takes what the timeline has room for.
    """
    return floor(round(duration * fps, 4)) + 1  # a sample is 0.0005 frames at 48 kHz and 24 fps
