"""Large books by seed, for tests of scale: the same seed and sizes give the same book, everywhere.

    python examples/large.py --scenes 1000 --seed 7 OUT        writes a vbook (a folder, or a zip by its suffix)

`generate` makes a whole book in memory; `chapters` makes it chapter by chapter, for books that would not fit.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from pathlib import Path
from random import Random

from animastor.books.importers.vbook_writer import write_vbook
from animastor.books.model import (
    Book,
    BookHead,
    BookId,
    Chapter,
    ChapterId,
    Character,
    Location,
    Scene,
    SceneId,
    SceneLocation,
    Unit,
    UnitAudio,
    UnitId,
    UnitImage,
    UnitType,
)

SCENES_PER_CHAPTER = 50
_NAMES = ("Ada", "Bruno", "Cora", "Dov", "Edda", "Finn", "Greta", "Hale", "Ines", "Jon")
_LOOKS = ("a tall woman, black hair", "a stout man, red beard", "a girl, blond braids", "an old man, white hair")
_CLOTHES = ("a green coat", "a blue jersey", "a yellow dress", "a grey suit", "a red cloak")
_PLACES = (
    "a village street",
    "a dark forest",
    "a harbour",
    "a castle hall",
    "a kitchen",
    "a mountain pass",
    "a library",
)
_TIMES = ("dawn", "day", "dusk", "night")
_WEATHERS = ("clear", "rain", "fog", "snow", "wind")
_SHOTS = ("wide", "medium", "close-up", "establishing", "detail", "over-the-shoulder")
_OPENINGS = ("Slowly", "At once", "Towards evening", "For a moment", "Without a word", "Once more", "Far away")
_SUBJECTS = ("the wind", "an old song", "the last cart", "a door", "the river", "somebody", "a lamp", "the whole town")
_VERBS = ("went by", "fell silent", "turned back", "began again", "was waiting", "came nearer", "stood still", "shone")
_ENDINGS = ("under the bridge", "behind the houses", "as if nothing had happened", "for the third time", "in the rain")
_SAYINGS = ("We should go home.", "Did you hear that?", "Nobody will believe us.", "Hold the light higher!", "Not yet.")


def head_of(seed: int, language: str = "en") -> BookHead:
    """The head of the book of a seed: ten characters with passports and voices, seven locations."""
    rng = Random(seed)
    characters = tuple(
        Character(name.lower(), name, rng.choice(_LOOKS), rng.choice(_CLOTHES), voice=f"voice {index}")
        for index, name in enumerate(_NAMES)
    )
    locations = tuple(
        Location(f"place-{index}", place, None, {"time": rng.choice(_TIMES), "weather": rng.choice(_WEATHERS)})
        for index, place in enumerate(_PLACES)
    )
    return BookHead(
        BookId(f"large-{seed}"),
        title=f"A Large Book, number {seed}",
        author="A generator",
        language=language,
        render_mode="picture book",
        characters=characters,
        locations=locations,
    )


def chapters(scenes: int, seed: int, units_per_scene: int = 3) -> Iterator[Chapter]:
    """The chapters of the book of a seed, one after another; each has up to 50 scenes."""
    rng = Random(f"{seed}/chapters")
    for first in range(0, scenes, SCENES_PER_CHAPTER):
        number = first // SCENES_PER_CHAPTER + 1
        inside = range(first, min(first + SCENES_PER_CHAPTER, scenes))
        yield Chapter(
            ChapterId(f"ch-{number}"),
            tuple(_scene(rng, index, units_per_scene) for index in inside),
            title=f"Chapter {number}",
            display_number=str(number),
            type="chapter",
        )


def generate(scenes: int, seed: int, units_per_scene: int = 3) -> Book:
    """A book of `scenes` scenes with `units_per_scene` units each, of which every third is a dialogue."""
    return Book(head_of(seed), tuple(chapters(scenes, seed, units_per_scene)))


def _scene(rng: Random, index: int, units: int) -> Scene:
    people = rng.sample(_NAMES, 2)
    return Scene(
        SceneId(f"sc-{index}"),
        tuple(_unit(rng, f"iu-{index}-{k}", people[k % 2], dialogue=k % 3 == 2) for k in range(units)),
        title=f"Scene {index}",
        location=SceneLocation(f"place-{rng.randrange(len(_PLACES))}"),
        participants=tuple(name.lower() for name in people),
    )


def _unit(rng: Random, unit_id: str, name: str, dialogue: bool) -> Unit:
    image = UnitImage(shot=rng.choice(_SHOTS))
    if dialogue:
        saying = rng.choice(_SAYINGS)
        text = f"“{saying}” said {name}, {rng.choice(_ENDINGS)}."
        return Unit(UnitId(unit_id), text, UnitType.DIALOGUE, audio=UnitAudio(name.lower(), saying), image=image)
    return Unit(UnitId(unit_id), f"{_sentence(rng)} {_sentence(rng)}", image=image)


def _sentence(rng: Random) -> str:
    opening, subject, verb = rng.choice(_OPENINGS), rng.choice(_SUBJECTS), rng.choice(_VERBS)
    return (
        f"{opening} {subject} {verb} {rng.choice(_ENDINGS)}, {rng.randrange(2, 1000)} steps from {rng.choice(_NAMES)}."
    )


def main() -> None:
    """Write the book that the command line asks for."""
    parser = argparse.ArgumentParser(description="Write a large book, by seed, as a vbook.")
    parser.add_argument("--scenes", type=int, default=1000, help="how many scenes (1000)")
    parser.add_argument("--units", type=int, default=3, help="units in each scene (3)")
    parser.add_argument("--seed", type=int, default=7, help="the same seed gives the same book (7)")
    parser.add_argument("out", type=Path, metavar="OUT", help="a folder that does not exist yet, or a .zip")
    options = parser.parse_args()
    write_vbook(generate(options.scenes, options.seed, options.units), options.out)


if __name__ == "__main__":
    main()
