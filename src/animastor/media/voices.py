"""Casting: which voice says what, as the parameters that the worker receives. Pure.

A character's voice depends on nothing but the character: the id and what the book says of how the voice sounds. So a
new character changes nobody's voice, and an edited voice changes only its own chunks (CONTRACT 10). What somebody
looks like never counts, since a passport dirties pictures only.

The palette was measured with an independent recogniser: see docs/voices.md.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from hashlib import sha256
from typing import Any

from animastor.books.model import BookHead, Scene
from animastor.media.cast import NARRATOR


@dataclass(frozen=True, slots=True)
class Colour:
    """How a voice differs from the plain one.

    `semitones` moves the pitch (never beyond ±3), `formant` multiplies the resonances of the throat (below 1: a
    larger body), `pace` multiplies the speed, `span` the liveliness of the melody, `breath` is noise in decibels,
    `tilt` brightness in decibels an octave.
    """

    semitones: float = 0.0
    formant: float = 1.0
    pace: float = 1.0
    span: float = 1.0
    breath: float = 0.0
    tilt: float = 0.0


PLAIN = Colour()
PALETTE: Mapping[str, Colour] = {
    "oak": Colour(-3.0, 0.86, 0.97, 0.90, 0.0, -0.6),
    "slate": Colour(-2.5, 0.83, 1.04, 0.80, 0.0, 0.4),
    "walnut": Colour(-1.9, 0.87, 0.94, 1.15, 1.0, -0.8),
    "iron": Colour(-2.9, 0.90, 1.09, 1.05, -1.0, 0.8),
    "ash": Colour(-2.3, 0.89, 0.90, 1.20, 3.0, 0.0),
    "thistle": Colour(-0.9, 0.93, 0.90, 1.25, 3.0, 0.5),
    "clay": Colour(-1.5, 0.94, 1.00, 0.85, 0.0, -0.8),
    "moss": Colour(-1.0, 0.97, 0.94, 0.80, 1.5, -1.0),
    "amber": Colour(-0.6, 0.94, 1.07, 1.15, 0.0, 0.6),
    "linen": Colour(0.6, 1.00, 0.95, 1.00, 2.5, -0.8),
    "silver": Colour(1.0, 1.05, 1.03, 1.05, 0.0, 0.8),
    "willow": Colour(1.4, 1.02, 0.98, 1.25, 1.0, 0.0),
    "robin": Colour(1.9, 1.06, 1.10, 1.10, 0.0, 0.4),
    "finch": Colour(2.4, 1.12, 1.06, 1.15, 0.0, 0.2),
    "wren": Colour(3.0, 1.14, 1.02, 1.25, 1.0, -0.4),
    "lark": Colour(2.7, 1.09, 0.97, 1.35, 0.5, 0.6),
}
_KINDS: Mapping[str, tuple[str, ...]] = {
    "child": ("finch", "wren", "lark"),
    "old man": ("ash", "walnut"),
    "old woman": ("thistle", "moss"),
    "man": ("oak", "slate", "walnut", "iron"),
    "woman": ("linen", "silver", "willow", "robin", "moss"),
    "old": ("ash", "thistle"),
    "deep": ("oak", "slate", "iron", "walnut", "clay"),
    "bright": ("silver", "robin", "lark", "amber", "willow"),
}
_WORDS: Mapping[str, str] = {
    "child": "child boy girl kid toddler son daughter schoolboy schoolgirl",
    "old": "old elderly aged ancient grandfather grandmother granny grandma grandpa quavering",
    "man": "man male gentleman he his mr sir uncle father king prince lord baron monsieur herr señor grandfather "
    "grandpa brother bass baritone tenor masculine husband wizard",
    "woman": "woman female lady she her mrs ms miss madam madame aunt mother queen princess grandmother granny grandma "
    "sister soprano alto contralto feminine wife witch",
    "deep": "deep low dark gruff heavy bass baritone resonant rumbling gravelly",
    "bright": "bright high light clear thin cheerful soprano lively young shrill",
}
_KIND_OF_WORD = {word: kind for kind, words in _WORDS.items() for word in words.split()}
_ADULTS = tuple(name for name in PALETTE if name not in ("ash", "thistle", *_KINDS["child"]))  # when nothing is said
_VARIANTS = ((0.88, "m3"), (0.92, "m7"), (1.01, ""), (1.08, "f2"), (9.9, "f5"))  # up to this formant factor
_LEAST_PACE, _MOST_PACE = 0.9, 1.12


def speaker_voice(head: BookHead, scene: Scene, narrator: str, speaker: str, profile: str) -> dict[str, Any]:
    """The voice of a speaker (`""` is the narrator), as it stands in the structure that is hashed.

    `narrator` is the stored setting that overrides the book's narrator. An empty instruction is left out, never sent.
    """
    if is_narrator(speaker):
        instruction = narrator_instruction(head, scene, narrator)
        colour = narrator_colour(instruction)
    else:
        instruction = character_instruction(head, speaker)
        colour = character_colour(speaker, _name(head, speaker), instruction)
    voice = _PARAMETERS.get(profile, _spoken_of)(colour)
    return {**voice, "instruction": instruction} if instruction else voice


def is_narrator(speaker: str) -> bool:
    """Whether an id names the narrator rather than a character."""
    return speaker.strip().casefold() in ("", NARRATOR)


def character_instruction(head: BookHead, speaker: str) -> str:
    """What the book says of a character's voice: `voices[id]`, else the character's own; "" when nothing."""
    given = head.voices.get(speaker, "").strip()
    if given:
        return given
    return next((one.voice.strip() for one in head.characters if one.id == speaker), "")


def narrator_instruction(head: BookHead, scene: Scene, narrator: str) -> str:
    """What is said of the narrator's voice: the setting, the scene, the bible, the book. A name in `voices` is read."""
    for given in (narrator, scene.voice, head.narrator_voice, head.narration_voice, head.voices.get(NARRATOR, "")):
        if given.strip():
            return head.voices.get(given.strip(), given).strip()
    return ""


def narrator_colour(instruction: str) -> Colour:
    """The plain voice, unless the instruction names a colour or a kind of voice."""
    name = _named(instruction) or _chosen(NARRATOR, _kind(_words(instruction)), ())
    return PALETTE[name] if name else PLAIN


def character_colour(speaker: str, name: str, instruction: str) -> Colour:
    """A character's colour: the named one; else one of its kind, chosen and shaded by the id."""
    named = _named(instruction)
    if named:
        return PALETTE[named]
    words = _words(instruction)
    kind = _kind(words) or _kind(_words(f"{name} {speaker}"))
    return _shaded(PALETTE[_chosen(speaker, kind, _ADULTS)], speaker)


def _name(head: BookHead, speaker: str) -> str:
    return next((one.name for one in head.characters if one.id == speaker), "")


def _words(text: str) -> frozenset[str]:
    return frozenset(re.findall(r"[^\W\d_]+", text.casefold()))


def _named(instruction: str) -> str:
    return instruction.casefold() if instruction.casefold() in PALETTE else ""


def _kind(words: frozenset[str]) -> str:
    """The kind of voice that words speak of; a child before an age, an age before a sex, a sex before a sound."""
    told = {_KIND_OF_WORD[word] for word in words if word in _KIND_OF_WORD}
    if "child" in told:
        return "child"
    sex = next((one for one in ("woman", "man") if one in told), "")
    if "old" in told:
        return f"old {sex}".strip()
    return sex or next((one for one in ("deep", "bright") if one in told), "")


def _chosen(speaker: str, kind: str, otherwise: tuple[str, ...]) -> str:
    names = _KINDS.get(kind, otherwise)
    return names[_share(speaker, 0) % len(names)] if names else ""


def _shaded(colour: Colour, speaker: str) -> Colour:
    """A shade of a colour, within what was measured: two characters of one colour still differ."""
    pitch, formant, pace = (_share(speaker, at) % 2001 / 1000 - 1 for at in (1, 2, 3))
    return Colour(
        semitones=round(min(3.0, max(-3.0, colour.semitones + 0.4 * pitch)), 2),
        formant=round(colour.formant * (1 + 0.015 * formant), 4),
        pace=round(min(_MOST_PACE, max(_LEAST_PACE, colour.pace + 0.02 * pace)), 3),
        span=colour.span,
        breath=colour.breath,
        tilt=colour.tilt,
    )


def _share(speaker: str, at: int) -> int:
    """Four bytes of the hash of an id: a stable number for each question."""
    return int.from_bytes(sha256(speaker.encode()).digest()[4 * at : 4 * at + 4], "big")


def _hibari(colour: Colour) -> dict[str, Any]:
    return {
        "name": "heart",
        "semitones": colour.semitones,
        "formant": colour.formant,
        "pace": colour.pace,
        "span": colour.span,
        "breath": colour.breath,
        "tilt": colour.tilt,
    }


def _espeak(colour: Colour) -> dict[str, Any]:
    """A variant of eSpeak's own by the size of the body, and the rest of the difference as pitch and resonances."""
    variant = next(name for most, name in _VARIANTS if colour.formant <= most)
    return {
        "variant": variant,
        "semitones": colour.semitones,
        "span": colour.span,
        "pace": colour.pace,
        "formant": round(1 + (colour.formant - 1) * 0.4, 4),
    }


def _spoken_of(colour: Colour) -> dict[str, Any]:
    """What any other engine is told beside the instruction."""
    return {"pace": colour.pace}


_PARAMETERS = {"hibari": _hibari, "espeak": _espeak}
