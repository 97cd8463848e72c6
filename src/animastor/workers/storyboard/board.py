"""What a picture is to show, read from its structure: setting, light, shot, people with their poses, things, text."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from hashlib import sha256
from typing import Any

from animastor.workers.storyboard import lexicon
from animastor.workers.storyboard.figures.pose import Pose
from animastor.workers.storyboard.figures.traits import Traits, colour_near, traits_of
from animastor.workers.storyboard.figures.wardrobe import COLOURS
from animastor.workers.storyboard.light import FOGS, Fog, Light, light_of
from animastor.workers.storyboard.words import words_of


@dataclass(frozen=True, slots=True)
class Actor:
    """A character in a picture: how they look, what they do, and the side the scene wants them on (-1, 0, 1)."""

    traits: Traits
    pose: Pose
    side: int = 0


@dataclass(frozen=True, slots=True)
class Board:
    """Everything a picture is drawn from."""

    size: tuple[int, int]
    seed: int
    setting: str
    light: Light
    shot: str
    actors: tuple[Actor, ...]
    things: tuple[str, ...]
    text: str
    lettering: str
    byline: str
    speaker: str  # the name on the tag
    place_seed: int  # the same for all pictures of a place

    @property
    def inside(self) -> bool:
        """Whether the setting is a room."""
        return self.setting in lexicon.INSIDE


def board_of(structure: Mapping[str, Any]) -> Board:
    """Read a picture's structure (`animastor.media.image.structure_of`)."""
    place, people = structure["place"], structure["people"]
    wish = str(structure["subject"])
    environment = _flat(structure["environment"])
    described = f"{place['description']} {_flat(place['cinematic_space'])}"
    setting = _setting(place, wish, described)
    speaking = next((person for person in people if person["speaking"]), None)
    return Board(
        size=(int(structure["size"][0]), int(structure["size"][1])),
        seed=int(structure["seed"]),
        setting=setting,
        light=_light(structure["environment"], environment, wish, described, str(structure.get("text", ""))),
        shot=str(structure["shot"]),
        actors=tuple(_actor(person, wish, str(structure.get("text", "")), len(people) == 1) for person in people),
        things=tuple(things_in(wish)),
        text=str(structure.get("text", "")),
        lettering=str(structure.get("lettering", "")),
        byline=str(structure.get("byline", "")),
        speaker=str(speaking["name"]) if speaking and structure.get("lettering") == "speech" else "",
        place_seed=_stable(str(place["id"])),
    )


def _stable(text: str) -> int:
    return int.from_bytes(sha256(text.encode()).digest()[:4], "big")


def _flat(value: Any) -> str:
    if isinstance(value, Mapping):
        return " ".join(_flat(value[key]) for key in sorted(value))
    if isinstance(value, list):
        return " ".join(map(_flat, value))
    return "" if value is None or isinstance(value, bool) else str(value)


@lru_cache(maxsize=32)
def _table(name: str) -> tuple[dict[str, list[str]], list[tuple[str, str]]]:
    """A table of the lexicon turned round: word -> meanings, and the words to be searched as text."""
    by_word: dict[str, list[str]] = {}
    as_text: list[tuple[str, str]] = []
    for meaning, words in getattr(lexicon, name).items():
        for word in words.split():
            if re.match("[\u3040-\u30ff\u3400-\u9fff]", word):
                as_text.append((word, meaning))
            else:
                by_word.setdefault(word, []).append(meaning)
    return by_word, as_text


def meanings(table: str, text: str) -> list[tuple[str, float]]:
    """The meanings of a text's words by a table of the lexicon, with their weight: early words count more."""
    by_word, as_text = _table(table)
    found: list[tuple[str, float]] = []
    for position, word in enumerate(words_of(text)):
        for meaning in by_word.get(word, ()):
            found.append((meaning, 1.0 / (1.0 + 0.08 * position)))  # noqa: PERF401 - a nested one reads worse
    found += [(meaning, 0.5) for word, meaning in as_text if word in text]
    return found


def first_meaning(table: str, *texts: str) -> str:
    """The weightiest meaning of the first text that has any; "" when none has."""
    for text in texts:
        found = meanings(table, text)
        if found:
            return max(found, key=lambda pair: pair[1])[0]
    return ""


def things_in(text: str) -> list[str]:
    """The things that a text names, in order, each once."""
    joined = re.sub(r"paper (ship|boat)s?", "paper-boat", text.casefold())
    joined = re.sub(r"\b(lamp[ -]?posts?|street[ -]?lamps?)\b", " ", joined)  # part of the setting
    found = ["paper boat"] if "paper-boat" in joined else []
    for meaning, _ in meanings("THINGS", joined.replace("paper-boat", " ")):
        if meaning not in found:
            found.append(meaning)
    return found


def _setting(place: Mapping[str, Any], wish: str, described: str) -> str:
    scores: dict[str, float] = {}
    identity = re.sub(r"[._-]+", " ", str(place["id"]))
    for text, weight in ((described, 3.0), (identity, 2.5), (wish, 0.8)):
        for meaning, share in meanings("SETTINGS", text):
            # "a castle hall" is a hall: the room is the nearer setting
            nearer = 1.2 if meaning in lexicon.INSIDE else 1.0
            scores[meaning] = scores.get(meaning, 0.0) + weight * share * nearer
    if not scores:
        return ("field", "village", "garden", "road")[_stable(str(place["id"])) % 4]
    return max(scores, key=lambda meaning: scores[meaning])


def _light(given: Mapping[str, Any], environment: str, wish: str, described: str, text: str) -> Light:
    def field(*names: str) -> str:
        return " ".join(_flat(given.get(name)) for name in names)

    time = first_meaning("TIMES", field("time", "time_of_day"), environment, wish, described) or "day"
    weather = first_meaning("WEATHERS", field("weather"), environment, wish, described) or "clear"
    mood = first_meaning("MOODS", field("mood"), environment, wish) or "calm"
    if weather == "clear" and first_meaning("WEATHERS", wish) in FOGS:
        weather = first_meaning("WEATHERS", wish)  # under a clear sky, what the picture itself says of fog counts
    texts = (wish, field("weather"), environment, text, described)
    return light_of(time, weather, mood, fog_told(weather, *texts) if weather in FOGS else None)


def fog_told(weather: str, *texts: str) -> Fog:
    """How dense fog or mist is: as the words beside the fog's own word say.

    The first text that says anything decides, but that fog breaks up counts wherever it stands.
    """
    plain = FOGS[weather]
    densities = {
        "dense": Fog(min(1.0, plain + 0.22)),
        "thin": Fog(plain * 0.7),
        "torn": Fog(max(0.6, plain * 0.9), torn=True),
    }
    told = [meaning for text in texts for meaning in _beside_fog(text)]
    return densities["torn" if "torn" in told else told[0]] if told else Fog(plain)


def _beside_fog(text: str) -> list[str]:
    """What a text says of fog: the densities among the three words before and the two after a word of fog."""
    by_word, as_text = _table("DENSITIES")
    fogs, _ = _table("WEATHERS")
    words, found = words_of(text), [kind for word, kind in as_text if word in text]
    for at, word in enumerate(words):
        if set(fogs.get(word, ())) & set(FOGS):
            found += [meaning for near in words[max(0, at - 3) : at + 3] for meaning in by_word.get(near, ())]
    return found


def _actor(person: Mapping[str, Any], wish: str, text: str, alone: bool) -> Actor:
    """What a person does is read from the clauses of the picture's wish that name them; all of it, if alone."""
    traits = traits_of(person)
    own = wish if alone else _clauses_about(str(person["name"]), wish)
    speaking = bool(person["speaking"])
    gesture = first_meaning("GESTURES", own)
    things = things_in(own)
    holds = (
        things[0]
        if things
        and gesture in ("hold", "raise", "")
        and re.search(r"\b(hold|carr|in (her|his) hand|with a|lifts|read(s|ing)|follows a|pulls|ties)", own)
        else ""
    )
    if holds and not gesture:
        gesture = "hold"
    told = text if alone and not speaking else ""  # what the text says of one alone, it says of them
    pose = Pose(
        stance=first_meaning("STANCES", own, told) or "stand",
        gesture=gesture or ("speak" if speaking else "rest"),
        holds="wool" if gesture == "knit" else holds,
        face=first_meaning("FACES", own) or _spoken_face(text, speaking),
        speaking=speaking,
        tone=colour_near(own, "|".join(lexicon.THINGS[holds].split()), COLOURS) if holds in lexicon.THINGS else None,
    )
    return Actor(traits, pose, _side(_flat(person.get("anchor"))))


def _spoken_face(text: str, speaking: bool) -> str:
    if not speaking:
        return "calm"
    return (
        "amazed" if "!" in text or "！" in text else "curious" if "?" in text or "？" in text or "؟" in text else "calm"
    )


def _clauses_about(name: str, wish: str) -> str:
    """The clauses that name a person, with those after them that name nobody new (no capital letter)."""
    parts = [part for part in name.split() if len(part) > 2] or [name]
    kept, active = [], False
    for clause in re.split(r"[,;.]|\band\b", wish):
        if any(re.search(rf"(?<!\w){re.escape(part)}(?!\w)", clause) for part in parts):
            active = True
        elif re.search(r"\b[A-Z]\w+", clause):
            active = False
        if active:
            kept.append(clause)
    return ", ".join(kept)


def _side(anchor: str) -> int:
    words = words_of(anchor)
    return -1 if "left" in words else 1 if "right" in words else 0
