"""The content of a book as frozen values: book, chapters, scenes, units, and what the book says of its world.

Nothing here reads files, stores or plans. Fields that this version does not know are kept in `extra`, so that a
vbook survives a round trip (CONTRACT 2). Mappings inside these values are treated as immutable.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import NewType, TypeAlias

from animastor.frozen import quick

BookId = NewType("BookId", str)
ChapterId = NewType("ChapterId", str)
SceneId = NewType("SceneId", str)
UnitId = NewType("UnitId", str)

Json: TypeAlias = "bool | int | float | str | list[Json] | dict[str, Json] | None"
JsonObject: TypeAlias = Mapping[str, Json]


class SceneType(StrEnum):
    """What a scene is for; narration when the source does not say."""

    NARRATION = "narration"
    DIALOGUE = "dialogue"
    CHAPTER_INTRO = "chapter_intro"
    COVER = "cover"


class UnitType(StrEnum):
    """What a unit does. Only `typography` is never spoken (CONTRACT 14)."""

    TYPOGRAPHY = "typography"
    PERCEPTION = "perception"
    NARRATION = "narration"
    DESCRIPTION = "description"
    ACTION = "action"
    TRANSITION = "transition"
    PERFORMANCE = "performance"
    DIALOGUE = "dialogue"


@dataclass(frozen=True, slots=True)
class UnitAudio:
    """What is spoken inside a dialogue unit: `text` is part of the unit's text, `speaker` a character's id."""

    speaker: str = ""
    text: str = ""


@dataclass(frozen=True, slots=True)
class UnitImage:
    """How a unit is pictured: `shot` (wide, medium, close-up, …), the prompt, and whether the text is drawn."""

    shot: str = ""
    prompt: str = ""
    quality: str = ""
    negative: str = ""
    text_render: Json = None


@quick
@dataclass(frozen=True, slots=True)
class Unit:
    """The smallest piece that is narrated and illustrated."""

    unit_id: UnitId
    text: str
    type: UnitType = UnitType.NARRATION
    speaker: str = ""
    audio: UnitAudio = UnitAudio()
    image: UnitImage = UnitImage()
    action: str = ""  # vbook: video.action
    extra: JsonObject = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class SceneLocation:
    """Where a scene plays: a location's id, and an environment that adds to or overrides the location's own."""

    id: str = ""
    environment: Json = None  # text, or an object such as {"time": "dusk", "weather": "rain", "mood": "calm"}


@dataclass(frozen=True, slots=True)
class Visual:
    """A scene's picture wishes."""

    style: str = ""
    quality: str = ""
    negative: str = ""
    camera: Json = None


@quick
@dataclass(frozen=True, slots=True)
class Scene:
    """A stretch of a chapter in one place; the piece that assets belong to."""

    scene_id: SceneId
    units: tuple[Unit, ...]
    title: str = ""
    type: SceneType = SceneType.NARRATION
    location: SceneLocation = SceneLocation()
    participants: tuple[str, ...] = ()
    character_anchors: Json = None
    voice: str = ""  # vbook: audio.voice
    full_text: str = ""  # vbook: audio.full_text
    visual: Visual = Visual()
    extra: JsonObject = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Chapter:
    """A chapter, with its scenes in reading order."""

    chapter_id: ChapterId
    scenes: tuple[Scene, ...]
    title: str = ""
    display_number: str = ""
    type: str = ""
    extra: JsonObject = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Character:
    """Who appears or speaks. `appearance`, `clothes` and `video_tokens` are the passport; an empty voice is unset."""

    id: str
    name: str = ""
    appearance: str = ""
    clothes: str = ""
    video_tokens: str = ""
    voice: str = ""  # voice.instruction
    extra: JsonObject = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Location:
    """A place of the book."""

    id: str
    description: str = ""
    cinematic_space: Json = None
    environment: Json = None
    extra: JsonObject = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class BookHead:
    """Everything of a book but its chapters: what the plans of all its scenes read."""

    book_id: BookId
    title: str = ""
    author: str = ""
    language: str = ""  # BCP 47, lower case primary tag first; "" is unknown
    build_id: str = ""
    render_mode: str = ""
    narration_voice: str = ""  # book.defaults.narration_voice
    narrator_voice: str = ""  # bible.narrator.voice.instruction
    style: str = ""  # bible.render_rules.style
    voices: Mapping[str, str] = field(default_factory=dict)  # voices.{id}.instruction
    characters: tuple[Character, ...] = ()
    locations: tuple[Location, ...] = ()
    layer_config: JsonObject = field(default_factory=dict)
    identifier: str = ""  # of the source: EPUB unique identifier, else ""
    extra: JsonObject = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Cover:
    """A cover picture as the source holds it."""

    media_type: str  # image/jpeg, image/png, …
    data: bytes


@dataclass(frozen=True, slots=True)
class Book:
    """A whole book."""

    head: BookHead
    chapters: tuple[Chapter, ...]
    cover: Cover | None = None
    source: str = ""  # what it was read from: vbook, epub, markdown, text; "" when it was not read from a file

    def scenes(self) -> Iterator[tuple[Chapter, Scene]]:
        """Every scene with its chapter, in reading order."""
        for chapter in self.chapters:
            for scene in chapter.scenes:
                yield chapter, scene

    def units(self) -> Iterator[Unit]:
        """Every unit, in reading order."""
        for _, scene in self.scenes():
            yield from scene.units
