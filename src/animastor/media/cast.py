"""Who is shown in a unit. Pictures of a unit, and only those, depend on the passports of these characters.

Shown are, in this order:
1. the speaker, also when the book has no passport of them (the narrator is nobody);
2. every character whose name stands in the unit's picture wish, at word boundaries;
3. every character whose name stands in the unit's text and who takes part in the scene (anyone, when the scene lists
   nobody: a text may name somebody who is far away); in a close-up only when 1 and 2 found nobody;
4. in a wide shot, everyone who takes part in the scene;
5. in a shot of people (medium, close-up, …) in which nobody was found, everyone who takes part: it is about "they".
An establishing, landscape or detail shot shows nobody who is not named.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import TypeAlias

from animastor.books.model import BookHead, Character, Json, Scene, SceneType, Unit, UnitType

NARRATOR = "narrator"
_WIDE = frozenset({"wide", "long", "full", "group", "two-shot"})
_OF_PEOPLE = frozenset({"medium", "close-up", "over-the-shoulder"})
_HONORIFICS = ("mr", "mrs", "ms", "miss", "dr", "sir", "lady", "lord", "king", "queen", "captain", "aunt", "uncle")
_TITLES = frozenset((*_HONORIFICS, "old", "young", "little", "big", "the"))
_WORD = re.compile(r"\w+")
# Scripts that put no space between words: a name is found wherever it stands.
_UNSPACED = re.compile("[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff]")
_SHOTS = {
    "over-the-shoulder": ("over-the-shoulder", "over-shoulder", "ots", "shoulder"),
    "detail": ("detail", "insert", "macro", "object"),
    "close-up": ("close", "closeup", "portrait", "face"),
    "two-shot": ("two-shot", "two", "couple"),
    "medium": ("medium", "mid", "waist", "cowboy", "american"),
    "establishing": ("establishing", "aerial", "landscape", "panorama", "panoramic", "bird"),
    "full": ("full",),
    "group": ("group",),
    "wide": ("wide", "long", "master", "far"),
}

SHOTS = tuple(_SHOTS)


@dataclass(frozen=True, slots=True)
class Shown:
    """A character in a picture: whether they speak in it, and where the scene wants them to stand (its anchor)."""

    character: Character
    speaking: bool = False
    anchor: Json = None


def speaker_of(unit: Unit) -> str:
    """The id of the character who speaks in the unit; empty when only the narrator does."""
    speaker = unit.audio.speaker or unit.speaker
    return "" if speaker.casefold() == NARRATOR else speaker


def shot_of(unit: Unit) -> str:
    """The unit's shot in the words of this project; chosen from the kind of unit where the book does not say."""
    if unit.image.shot and (shot := shot_named(unit.image.shot)):
        return shot
    if unit.type in (UnitType.DESCRIPTION, UnitType.TYPOGRAPHY, UnitType.TRANSITION):
        return "establishing"
    return "medium" if speaker_of(unit) else "wide"


@lru_cache(maxsize=256)
def shot_named(wish: str) -> str:
    """The shot of `SHOTS` that a book's words mean; empty when they mean none."""
    words = re.findall(r"[a-z]+", wish.casefold())
    joined = "-".join(words)
    for shot, names in _SHOTS.items():
        if any(name in words or (name in joined and "-" in name) for name in names):
            return shot
    return ""


def shown(head: BookHead, scene: Scene, unit: Unit) -> tuple[Shown, ...]:
    """The characters in the unit's picture, by id (so that the order of the book's list changes nothing)."""
    speaker, shot = speaker_of(unit), shot_of(unit)
    known = {character.id: character for character in head.characters}
    found = _named(head.characters, unit.image.prompt) | {speaker} - {""}
    if shot != "close-up" or not found:
        named = _named(head.characters, unit.text)
        found |= named & set(scene.participants) if scene.participants else named
    if scene.participants and _takes_everyone(scene, unit, shot, bool(found)):
        found |= {one for one in scene.participants if one in known}
    return tuple(
        [
            Shown(known.get(one) or Character(id=one, name=one), one == speaker, _anchor(scene, one))
            for one in sorted(found)
        ]
    )


def _takes_everyone(scene: Scene, unit: Unit, shot: str, has_found: bool) -> bool:
    if scene.type is SceneType.COVER or unit.type is UnitType.TYPOGRAPHY:
        return False
    return shot in _WIDE or (shot in _OF_PEOPLE and not has_found)


def _named(characters: tuple[Character, ...], text: str) -> set[str]:
    """The ids of the characters whose name, or a part of it that is theirs alone, stands in the text."""
    if not text or not characters:
        return set()
    words, phrases = _names(tuple(one.name for one in characters))
    found = {words[word] for word in words.keys() & _WORD.findall(text)}
    found |= {index for name, pattern, index in phrases if name in text and pattern.search(text)}
    return {characters[index].id for index in found}


_Phrase: TypeAlias = tuple[str, re.Pattern[str], int]


@lru_cache(maxsize=64)
def _names(names: tuple[str, ...]) -> tuple[dict[str, int], tuple[_Phrase, ...]]:
    """What each is known by: single words, looked up; longer names and unspaced scripts, searched for."""
    parts = [_parts(name) for name in names]
    sharing = Counter(part for of_one in parts for part in of_one)
    owners = {part: index for index, of_one in enumerate(parts) for part in of_one if sharing[part] == 1}
    owners |= {name: index for index, name in enumerate(names) if name.strip()}
    words = {name: index for name, index in owners.items() if _WORD.fullmatch(name) and not _UNSPACED.search(name)}
    phrases = [(name, _bounded(name), index) for name, index in owners.items() if name not in words]
    return words, tuple(phrases)


def _bounded(name: str) -> re.Pattern[str]:
    before = "" if _UNSPACED.match(name[0]) else r"(?<!\w)"
    after = "" if _UNSPACED.match(name[-1]) else r"(?!\w)"
    return re.compile(before + re.escape(name) + after)


def _parts(name: str) -> frozenset[str]:
    """The parts of a name that name the person on their own: no titles, nothing shorter than three letters."""
    words = _WORD.findall(name)
    return frozenset(w for w in words if len(w) >= 3 and w.casefold() not in _TITLES and w[0].isupper())


def _anchor(scene: Scene, character_id: str) -> Json:
    anchors = scene.character_anchors
    return anchors.get(character_id) if isinstance(anchors, Mapping) else None
