"""The JSON in which heads, chapters and scenes are stored: lossless, without fields that hold their default.

Each function pair is an exact inverse: `scene_from_json(scene_to_json(s)) == s`, also through the bytes of a JSON
library. Reading trusts what this module wrote; it checks nothing. It is on the hot path of planning.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import MISSING, fields
from typing import Any

from animastor.books.model import (
    BookHead,
    BookId,
    Chapter,
    ChapterId,
    Character,
    Location,
    Scene,
    SceneId,
    SceneLocation,
    SceneType,
    Unit,
    UnitAudio,
    UnitId,
    UnitImage,
    UnitType,
    Visual,
)

_UNIT_TYPES = {member.value: member for member in UnitType}
_SCENE_TYPES = {member.value: member for member in SceneType}
_SILENT = UnitAudio()
_UNPICTURED = UnitImage()
_NOWHERE = SceneLocation()
_PLAIN = Visual()


def _defaults(kind: type[Any], *nested: str) -> tuple[tuple[str, Any], ...]:
    """The fields of a dataclass that are stored as they are, with the value that is left out (None: always stored)."""
    found = []
    for item in fields(kind):
        if item.name not in nested:
            default = item.default if item.default is not MISSING else {} if item.default_factory is dict else MISSING
            found.append((item.name, default))
    return tuple(found)


_UNIT = _defaults(Unit, "audio", "image", "type")
_IMAGE = _defaults(UnitImage)
_AUDIO = _defaults(UnitAudio)
_SCENE = _defaults(Scene, "units", "location", "visual", "type", "participants")
_LOCATION = _defaults(SceneLocation)
_VISUAL = _defaults(Visual)
_CHAPTER = _defaults(Chapter, "scenes")
_HEAD = _defaults(BookHead, "characters", "locations", "voices")
_CHARACTER = _defaults(Character)
_PLACE = _defaults(Location)


def _plain(value: object, layout: tuple[tuple[str, Any], ...]) -> dict[str, Any]:
    """The fields of a value that do not hold their default."""
    out: dict[str, Any] = {}
    for name, default in layout:
        held = getattr(value, name)
        if default is MISSING or held != default or type(held) is not type(default):
            out[name] = dict(held) if isinstance(held, Mapping) else held
    return out


def unit_to_json(unit: Unit) -> dict[str, Any]:
    """A unit as a JSON object."""
    out = _plain(unit, _UNIT)
    if unit.type is not UnitType.NARRATION:
        out["type"] = unit.type.value
    if unit.audio != _SILENT:
        out["audio"] = _plain(unit.audio, _AUDIO)
    if unit.image != _UNPICTURED:
        out["image"] = _plain(unit.image, _IMAGE)
    return out


def unit_from_json(data: Mapping[str, Any]) -> Unit:
    """The unit that `unit_to_json` wrote."""
    get = data.get
    audio, image, kind = get("audio"), get("image"), get("type")
    return Unit(
        UnitId(data["unit_id"]),
        data["text"],
        _UNIT_TYPES[kind] if kind else UnitType.NARRATION,
        get("speaker", ""),
        UnitAudio(**audio) if audio else _SILENT,
        UnitImage(**image) if image else _UNPICTURED,
        get("action", ""),
        get("extra") or {},
    )


def scene_to_json(scene: Scene) -> dict[str, Any]:
    """A scene with its units as a JSON object."""
    out = _plain(scene, _SCENE)
    out["units"] = [unit_to_json(unit) for unit in scene.units]
    if scene.type is not SceneType.NARRATION:
        out["type"] = scene.type.value
    if scene.participants:
        out["participants"] = list(scene.participants)
    if scene.location != _NOWHERE:
        out["location"] = _plain(scene.location, _LOCATION)
    if scene.visual != _PLAIN:
        out["visual"] = _plain(scene.visual, _VISUAL)
    return out


def scene_from_json(data: Mapping[str, Any]) -> Scene:
    """The scene that `scene_to_json` wrote."""
    get = data.get
    location, visual, kind = get("location"), get("visual"), get("type")
    return Scene(
        SceneId(data["scene_id"]),
        tuple([unit_from_json(unit) for unit in data["units"]]),
        get("title", ""),
        _SCENE_TYPES[kind] if kind else SceneType.NARRATION,
        SceneLocation(**location) if location else _NOWHERE,
        tuple(get("participants", ())),
        get("character_anchors"),
        get("voice", ""),
        get("full_text", ""),
        Visual(**visual) if visual else _PLAIN,
        get("extra") or {},
    )


def chapter_to_json(chapter: Chapter) -> dict[str, Any]:
    """A chapter as a JSON object, without its scenes."""
    return _plain(chapter, _CHAPTER)


def chapter_from_json(data: Mapping[str, Any], scenes: tuple[Scene, ...] = ()) -> Chapter:
    """The chapter that `chapter_to_json` wrote, with these scenes."""
    rest = {key: value for key, value in data.items() if key != "chapter_id"}
    return Chapter(ChapterId(data["chapter_id"]), scenes, **rest)


def head_to_json(head: BookHead) -> dict[str, Any]:
    """Everything of a book but its chapters, as a JSON object."""
    out = _plain(head, _HEAD)
    if head.voices:
        out["voices"] = dict(head.voices)
    if head.characters:
        out["characters"] = [_plain(character, _CHARACTER) for character in head.characters]
    if head.locations:
        out["locations"] = [_plain(location, _PLACE) for location in head.locations]
    return out


def head_from_json(data: Mapping[str, Any]) -> BookHead:
    """The head that `head_to_json` wrote."""
    rest = {key: value for key, value in data.items() if key not in ("book_id", "characters", "locations")}
    return BookHead(
        BookId(data["book_id"]),
        characters=tuple(Character(**character) for character in data.get("characters", ())),
        locations=tuple(Location(**location) for location in data.get("locations", ())),
        **rest,
    )
