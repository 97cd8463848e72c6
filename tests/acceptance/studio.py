"""The engine's stage with the real media types: only bytes are doubles, and a check that says what they would be."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import orjson
from invariants import rows
from stage import Stage

from animastor.books.model import (
    Book,
    BookHead,
    BookId,
    Chapter,
    ChapterId,
    Character,
    Scene,
    SceneId,
    SceneLocation,
    Unit,
    UnitAudio,
    UnitId,
    UnitImage,
    UnitType,
)
from animastor.media.hashing import digest
from animastor.media.registry import installed
from animastor.media.types import Facts, Structure

MEDIA = ("audio", "image", "video")
PROFILES = ("hibari", "espeak", "storyboard", "motion", "merge")
RATE = 24_000
PER_CHARACTER_S = 0.07
SCENES = ("one", "two")
UNITS = 6  # of each scene
SPOKEN = {1: "ann", 4: "bob"}  # who speaks in which unit of each scene; nobody is named anywhere else


class KnowingChecker:
    """Says of each artifact what it would be, had a backend made what was ordered."""

    def __init__(self) -> None:
        self.samples: dict[str, int] = {}
        self.structures: list[Structure] = []

    async def check(self, media: str, kind: str, structure: Structure, _path: Path) -> tuple[Facts, str | None]:
        facts = self._facts(media, kind, structure)
        return facts, installed()[media].check(structure, facts)

    def _facts(self, media: str, kind: str, structure: Structure) -> Facts:
        if media == "image":
            width, height = structure["size"]
            return Facts(width=width, height=height, frames=1)
        if media == "video":
            return self._moving(structure)
        if kind == "merge":
            samples = sum(self.samples[part] for part in structure["parts"])
        else:
            samples = self._spoken(structure)
            self.samples[digest(structure)] = samples
        return Facts(samples=samples, sample_rate=RATE, duration=samples / RATE)

    def _moving(self, structure: Structure) -> Facts:
        width, height = structure.get("size", (1280, 720))
        if structure["kind"] == "merge":
            frames = sum(sum(shot["taken"]) for shot in structure["shots"])
        else:
            frames = structure["render_frames"]
        fps = structure["fps"]
        return Facts(width=width, height=height, frames=frames, fps=fps, duration=frames / fps)

    def _spoken(self, structure: Structure) -> int:
        if structure["kind"] == "silence":
            return round(structure["seconds"] * RATE)
        return round((len(structure["text"]) * PER_CHARACTER_S + structure["pause"]) * RATE)


def unit(scene: str, number: int) -> Unit:
    text = f"In scene {scene} this is sentence number {number}, of a decent length."
    picture = UnitImage(shot="medium", prompt=f"a picture of {scene} {number}", text_render=False)
    speaker = SPOKEN.get(number, "")
    if not speaker:
        return Unit(UnitId(f"{scene}-{number}"), text, image=picture)
    return Unit(
        UnitId(f"{scene}-{number}"),
        text,
        type=UnitType.DIALOGUE,
        speaker=speaker,
        audio=UnitAudio(speaker, text),
        image=picture,
    )


def scene(name: str) -> Scene:
    return Scene(SceneId(name), tuple(unit(name, n) for n in range(UNITS)), location=SceneLocation("hill"))


BOOK = Book(
    BookHead(
        BookId("edited"),
        title="Edited",
        language="en",
        characters=(
            Character("ann", "Annabel", appearance="red hair", voice="a bright voice"),
            Character("bob", "Roberto", appearance="a grey beard", voice="a deep voice"),
        ),
    ),
    (Chapter(ChapterId("ch"), tuple(scene(name) for name in SCENES)),),
)


class Studio(Stage):
    """The engine's stage with the media types of this installation."""

    def __init__(self) -> None:
        super().__init__(installed(), profiles=PROFILES)
        self.checker = KnowingChecker()

    async def parts(self) -> Mapping[str, tuple[str, str, tuple[str, ...], str]]:
        """By hash: (media, kind, units, scene) of every part that is wanted now."""
        found = await rows(
            self,
            "SELECT p.hash, a.media, p.kind, p.places, s.scene_id FROM part p JOIN asset a ON a.id = p.asset"
            " JOIN scene s ON s.scene_key = a.scene_key WHERE p.wanted = 1",
        )
        return {
            row.hash: (row.media, row.kind, tuple(u for _, units in _places(row.places) for u in units), row.scene_id)
            for row in found
        }


def _places(text: str) -> Sequence[tuple[int, Sequence[str]]]:
    found: Sequence[tuple[int, Sequence[str]]] = orjson.loads(text or "[]")
    return found
