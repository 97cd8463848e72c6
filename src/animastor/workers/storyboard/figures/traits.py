"""What a character looks like: read from the words of the passport, and where these are silent, chosen by the id.

The same passport and id always give the same traits, so a character is known again from picture to picture.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from hashlib import sha256
from random import Random
from typing import Any, TypeVar

from animastor.workers.storyboard.colour import RGB, mix, rgb
from animastor.workers.storyboard.figures.wardrobe import (
    ANIMALS,
    BOYS,
    COLOURS,
    GARMENTS,
    GIRLS,
    HAIR_COLOURS,
    HAIR_STYLES,
    HATS,
    SKINS,
)
from animastor.workers.storyboard.words import words_of

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Traits:
    """Everything that the drawing of a figure depends on, besides its pose. Lengths are in heads."""

    id: str
    name: str
    species: str  # "person", or an animal
    age: str  # child, adult, old
    feminine: bool
    heads: float  # the height of the figure in its own heads
    head: float  # the size of its head, relative to an adult's
    bulk: float  # the width of its body, relative to the usual
    skin: RGB
    hair: RGB
    hair_style: str
    beard: str  # "", stubble, moustache, full, long
    glasses: bool
    freckles: bool
    garment: str  # coat, dress, jersey, shirt, suit, robe
    top: RGB
    bottom: RGB
    shoes: RGB
    accent: RGB
    scarf: RGB | None
    shawl: RGB | None
    apron: bool
    collar: RGB | None
    stripes: RGB | None
    hat: str
    hat_colour: RGB
    eyes: RGB


def traits_of(person: Mapping[str, Any]) -> Traits:
    """The traits of a person of a picture's structure (`id`, `name`, `appearance`, `clothes`)."""
    looks = f"{person['appearance']}".casefold()
    hints = f"{person['name']} {person['id']} {looks}".casefold()
    rng = Random(int.from_bytes(sha256(str(person["id"]).encode()).digest()[:8], "big"))
    base = _by_chance(rng, str(person["id"]), str(person["name"]))
    bodied = _body(base, words_of(hints), looks)
    return _dressed(_faced(bodied, looks, rng), str(person["clothes"]).casefold(), rng)


_TOPS = tuple(
    map(
        rgb,
        ("#b5473f", "#3f6f8f", "#d29b3c", "#55805a", "#7b5a8f", "#c77a52", "#4d5d86", "#8a3f55", "#6f8a3f", "#4f8f8a"),
    )
)
_SHOES = (rgb("#4b3a33"), rgb("#3a3a46"), rgb("#6b4630"))


def _by_chance(rng: Random, own: str, name: str) -> Traits:
    top = rng.choice(_TOPS)
    return Traits(
        id=own, name=name, species="person", age="adult", feminine=_sounds_feminine(name, rng), heads=4.7, head=1.0,
        bulk=1.0, skin=rng.choice(SKINS[:5]), hair=rng.choice(list(HAIR_COLOURS.values())[:7]), hair_style="", beard="",
        glasses=rng.random() < 0.12, freckles=rng.random() < 0.15, garment="", top=top,
        bottom=mix(top, rgb("#2d2f45"), 0.6), shoes=rng.choice(_SHOES),
        accent=rng.choice([tone for tone in _TOPS if tone != top]), scarf=None, shawl=None, apron=False, collar=None,
        stripes=None, hat="", hat_colour=rgb("#3c4052"), eyes=rgb("#2b2230"),
    )  # fmt: skip


def _sounds_feminine(name: str, rng: Random) -> bool:
    """A guess from the first name, where it is a common one; else by its ending; else by chance."""
    first = next(iter(words_of(name)), "")
    chance = rng.random() < 0.5
    if first in GIRLS or first in BOYS:
        return first in GIRLS
    return True if len(first) > 2 and first[-1] in "aàäа" else chance


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


_FEMININE = _words(
    "girl woman lady mother grandmother granny nan nana aunt sister queen princess daughter wife widow she her mrs "
    "miss ms witch maid madam herself"
)
_MASCULINE = _words(
    "boy man gentleman father grandfather grandpa grandad uncle brother king prince son husband he his him mr sir monk "
    "wizard himself fisherman captain"
)
_CHILD = _words("child girl boy kid little small baby toddler schoolboy schoolgirl young daughter son")
_OLD = _words("old elderly aged ancient grandmother granny nan nana grandfather grandpa grandad wrinkled lined")
_GROWN = _words("man woman lady adult mother father captain")
_NOT_ONLY_HUMAN = _words("small little young old her his she he")


def _body(base: Traits, words: Sequence[str], looks: str) -> Traits:
    found = set(words)
    human = found & (_FEMININE | _MASCULINE | _CHILD | _OLD) - {
        "small",
        "little",
        "young",
        "old",
        "her",
        "his",
        "she",
        "he",
    }
    species = "person" if human else next((ANIMALS[w] for w in words_of(looks) if w in ANIMALS), "person")
    feminine = base.feminine
    if found & _FEMININE or found & _MASCULINE:
        feminine = len(found & _FEMININE) >= len(found & _MASCULINE)
    age = "old" if found & _OLD else "child" if found & _CHILD and not found & _GROWN else "adult"
    years = re.search(r"(\d{1,3})[- ]year|\bof (\d{1,3})\b|aged? (\d{1,3})", looks)
    if years:
        count = int(next(filter(None, years.groups())))
        age = "child" if count < 15 else "old" if count >= 65 else "adult"
    heads, head = {"child": (3.3, 0.90), "old": (4.15, 0.99), "adult": (4.35, 1.0)}[age]
    heads += 0.3 if found & {"tall", "lanky", "long"} and age != "child" else 0
    heads -= 0.45 if found & {"short", "tiny", "small"} and age != "child" else 0
    bulk = 1.22 if found & {"broad", "stout", "fat", "plump", "round", "burly", "big", "heavy", "large"} else 1.0
    bulk = 0.86 if found & {"thin", "slim", "slender", "lean", "lanky", "gaunt"} else bulk
    bulk = min(bulk, 1.08) if age == "child" else bulk
    return replace(base, species=species, feminine=feminine, age=age, heads=heads, head=head, bulk=bulk)


def _faced(base: Traits, looks: str, rng: Random) -> Traits:
    hair = colour_near(looks, r"hair|braid|bun|curl|plait|locks|mane|ponytail|beard|moustache|fur|coat", HAIR_COLOURS)
    hair = hair or (rgb("#c9c7c4") if base.age == "old" else base.hair)
    if base.species != "person":
        hair = colour_near(looks, r".", {**COLOURS, **HAIR_COLOURS}) or ANIMAL_COLOURS.get(base.species, hair)
    eyes = colour_near(looks, r"eyes?", COLOURS) or base.eyes
    default = (
        rng.choice(("bob", "long", "bun", "ponytail", "curly"))
        if base.feminine
        else rng.choice(("short", "tousled", "curly", "short"))
    )
    style = next((style for word, style in HAIR_STYLES if re.search(rf"\b{word}", looks)), default)
    usual = SKINS[1] if "freckle" in looks else base.skin
    skin = next((SKINS[i] for word, i in _SKIN_WORDS if re.search(rf"\b{word}\b", looks)), usual)
    return replace(
        base,
        hair=hair,
        hair_style=style,
        skin=skin,
        eyes=mix(eyes, (20, 16, 26), 0.55) if base.species == "person" else eyes,
        beard=_beard(looks, base, rng),
        glasses="glasses" in looks or "spectacles" in looks or (base.glasses and not looks),
        freckles="freckle" in looks,
    )


ANIMAL_COLOURS = {
    animal: rgb(code)
    for animal, code in {
        "cat": "#8d8a88", "dog": "#a9793f", "fox": "#d2682e", "rabbit": "#b59a80", "mouse": "#9a938f",
        "bear": "#7a5236", "wolf": "#7d828c", "bird": "#46536e", "owl": "#8d6b4a", "horse": "#8a5a3a",
        "goat": "#e2dccf", "frog": "#6a9a4a", "dragon": "#4f8a6a",
    }.items()
}  # fmt: skip
_SKIN_WORDS = (
    ("pale", 0), ("fair", 1), ("tanned", 3), ("tan", 3), ("olive", 3), ("weathered", 3), ("brown skin", 4),
    ("brown-skinned", 4), ("dark skin", 5), ("dark-skinned", 5), ("black skin", 5), ("ebony", 5),
)  # fmt: skip


def _beard(looks: str, base: Traits, rng: Random) -> str:
    if base.species != "person":
        return ""
    if "beard" in looks:
        bare = re.search(r"(without|no) (a )?beard|beardless", looks)
        return "" if bare else "long" if re.search(r"long[^,]*beard", looks) else "full"
    if "moustache" in looks or "mustache" in looks:
        return "moustache"
    if "stubble" in looks or "unshaven" in looks:
        return "stubble"
    if base.feminine or base.age == "child" or looks:
        return ""
    return rng.choice(("", "", "", "moustache", "full"))


def _dressed(base: Traits, clothes: str, rng: Random) -> Traits:
    """Garments from clauses such as "a plum shawl over a long teal dress, green boots"."""
    worn = base
    garment = ""
    for clause in re.split(r",|;|\bover\b|\band\b|\bwith\b|\bunder\b|\babove\b", clothes):
        kind = next((kind for word, kind in GARMENTS if re.search(rf"\b{word}", clause)), "")
        colour = _first_colour(clause, COLOURS)
        if kind in _BODY_GARMENTS and not garment:
            garment = kind
            worn = replace(worn, garment=kind, top=colour or worn.top)
            if kind in ("dress", "robe"):
                worn = replace(worn, bottom=worn.top)
        else:
            worn = _with_extra(worn, kind, clause, colour)
    if not garment:
        garment = rng.choice(("dress", "coat", "jersey") if base.feminine else ("coat", "jersey", "suit", "shirt"))
        worn = replace(worn, garment=garment, bottom=worn.top if garment == "dress" else worn.bottom)
    if re.search(r"strip(ed|es)", clothes):
        worn = replace(worn, stripes=rgb("#f2ece0"))
    hat = next((hat for word, hat in HATS if re.search(rf"\b{word}", clothes)), "")
    return replace(worn, hat=hat or worn.hat)


_BODY_GARMENTS = ("coat", "dress", "jersey", "shirt", "suit", "robe")


def _with_extra(worn: Traits, kind: str, clause: str, colour: RGB | None) -> Traits:
    """Everything that is not the main garment: the field it sets, and its colour when the clause names none."""
    field, default = _EXTRAS.get(kind, ("", None))
    if field == "apron":
        return replace(worn, apron=True)
    if field:
        usual = default or (getattr(worn, field) or worn.accent)
        return replace(worn, **{field: colour or usual})  # type: ignore[arg-type]
    if any(re.search(rf"\b{word}", clause) for word, _ in HATS):
        return replace(worn, hat_colour=colour or worn.hat_colour)
    return worn


_EXTRAS: dict[str, tuple[str, RGB | None]] = {
    "scarf": ("scarf", None), "shawl": ("shawl", None), "apron": ("apron", None), "shoes": ("shoes", None),
    "legs": ("bottom", None), "collar": ("collar", rgb("#f2ece0")),
}  # fmt: skip


def colour_near(text: str, noun: str, table: Mapping[str, RGB]) -> RGB | None:
    """The colour named in the clause that names the noun."""
    for clause in re.split(r",|;|\band a\b|\bwith\b", text):
        if re.search(noun, clause):
            colour = _first_colour(clause, table)
            if colour:
                return colour
    return None


def _first_colour(clause: str, table: Mapping[str, RGB]) -> RGB | None:
    return next((table[word] for word in words_of(clause) if word in table), None)
