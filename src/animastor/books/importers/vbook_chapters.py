"""The chapters of a vbook: chapter files, scenes, units; legacy keys are read, ids are checked."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from enum import StrEnum
from typing import Any, TypeVar

from animastor.books.errors import BookError, Reason
from animastor.books.importers.files import Files
from animastor.books.importers.vbook_fields import Fields, checked_id, parse_object
from animastor.books.model import (
    Chapter,
    ChapterId,
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

FOLDER = "chapters/"
_Kind = TypeVar("_Kind", bound=StrEnum)


def read_chapters(files: Files, root: str, order: Sequence[str]) -> tuple[Chapter, ...]:
    """The chapters that the book's order names, in that order. Raises BookError."""
    folder = root + FOLDER
    names = sorted(name for name in files.names() if name.startswith(folder) and name.endswith(".json"))
    found = {name: parse_object(files.read(name), files.where(name)) for name in names}
    by_id: dict[str, list[str]] = {}
    for name, value in found.items():
        by_id.setdefault(_declared_id(value), []).append(name)
    units: dict[str, str] = {}
    chapters: list[Chapter] = []
    for wanted in order:
        name = _file_of(wanted, folder, found, by_id, files)
        chapters.append(_chapter(Fields(found[name], files.where(name)), wanted, units))
    return tuple(chapters)


def _declared_id(value: object) -> str:
    """The id that a chapter file gives itself; "" when it gives none."""
    if not isinstance(value, dict):
        return ""
    held = value.get("chapter_id", value.get("chapter"))
    return str(held) if isinstance(held, str | int) else ""


def _file_of(
    wanted: str, folder: str, found: Mapping[str, Any], by_id: Mapping[str, Sequence[str]], files: Files
) -> str:
    """The file of a chapter: by the id inside, else by its name. Raises BookError."""
    checked_id(wanted, f"{files.where(folder[: -len(FOLDER)] + 'book.json')}: structure.chapters_order")
    named = by_id.get(wanted, ())
    if len(named) > 1:
        others = " and ".join(files.where(name) for name in named)
        raise BookError(Reason.ID_DUPLICATE, f"{others} both have the chapter id {wanted}.")
    if named:
        return named[0]
    name = f"{folder}{wanted}.json"
    if name not in found:
        message = f"{files.where(name)} is absent, but structure.chapters_order names the chapter {wanted}."
        raise BookError(Reason.CHAPTER_FILE_MISSING, message)
    held = _declared_id(found[name])
    if held:
        raise BookError(Reason.CHAPTER_MISMATCH, f"{files.where(name)} calls itself {held}, not {wanted}.")
    return name


def _chapter(fields: Fields, wanted: str, units: dict[str, str]) -> Chapter:
    chapter_id = ChapterId(checked_id(fields.label("chapter_id") or fields.label("chapter") or wanted, fields.where))
    scenes: list[Scene] = []
    seen: set[str] = set()
    for at, value in enumerate(fields.objects("scenes"), 1):
        scene = _scene(Fields(value, f"{fields.where}, scene {at}"), units)
        if scene.scene_id in seen:
            message = f"{fields.where} has two scenes with the id {scene.scene_id}."
            raise BookError(Reason.ID_DUPLICATE, message)
        seen.add(scene.scene_id)
        scenes.append(scene)
    return Chapter(
        chapter_id,
        tuple(scenes),
        title=fields.text("chapter_title"),
        display_number=fields.label("display_number"),
        type=fields.text("type"),
        extra=fields.rest,
    )


def _scene(fields: Fields, units: dict[str, str]) -> Scene:
    scene_id = SceneId(fields.identifier("scene_id"))
    return Scene(
        scene_id,
        _units(fields, units),
        title=fields.text("scene_title"),
        type=_member(fields, SceneType, SceneType.NARRATION),
        location=SceneLocation(fields.text("location", "id"), fields.take("location", "environment")),
        participants=fields.texts("participants"),
        character_anchors=fields.take("character_anchors"),
        voice=fields.text("audio", "voice"),
        full_text=fields.text("audio", "full_text"),
        visual=Visual(
            fields.text("visual", "style"),
            fields.text("visual", "quality"),
            fields.text("visual", "negative"),
            fields.take("visual", "camera"),
        ),
        extra=fields.rest,
    )


def _units(fields: Fields, seen: dict[str, str]) -> tuple[Unit, ...]:
    """The scene's units, and behind them those of legacy dialogue blocks. Raises BookError (`id_duplicate`)."""
    places = [(value, f"unit {at}") for at, value in enumerate(fields.objects("units"), 1)]
    rests = []
    for block_at, value in enumerate(fields.objects("dialogue_blocks"), 1):
        block = Fields(value, f"{fields.where}, dialogue block {block_at}")
        inside = block.objects("units")
        places.extend((item, f"dialogue block {block_at}, unit {at}") for at, item in enumerate(inside, 1))
        rests.append(block.rest)
    if any(rests):
        fields.rest["dialogue_blocks"] = rests
    units = []
    for value, place in places:
        unit = _unit(Fields(value, f"{fields.where}, {place}"))
        if unit.unit_id in seen:
            message = f"{fields.where}, {place} has the id {unit.unit_id}, as {seen[unit.unit_id]} has."
            raise BookError(Reason.ID_DUPLICATE, message)
        seen[unit.unit_id] = f"{fields.where}, {place}"
        units.append(unit)
    return tuple(units)


def _unit(fields: Fields) -> Unit:
    picture = "image" if "image" in fields.rest else "visual"  # legacy key
    return Unit(
        UnitId(fields.identifier("id")),
        fields.text("text"),
        type=_member(fields, UnitType, UnitType.NARRATION),
        speaker=fields.text("speaker"),
        audio=UnitAudio(fields.text("audio", "speaker"), fields.text("audio", "text")),
        image=UnitImage(
            fields.text(picture, "shot"),
            fields.text(picture, "prompt"),
            fields.text(picture, "quality"),
            fields.text(picture, "negative"),
            fields.take(picture, "text_render"),
        ),
        action=fields.text("video", "action"),
        extra=_present_form(fields.rest, picture),
    )


def _present_form(rest: dict[str, Any], picture: str) -> dict[str, Any]:
    """What is left of a unit, with the rest of a legacy picture under the present key."""
    if picture == "visual" and "visual" in rest:
        rest["image"] = rest.pop("visual")
    return rest


def _member(fields: Fields, kind: type[_Kind], default: _Kind) -> _Kind:
    """The `type` field as a member of an enumeration. Raises BookError (`value_unknown`)."""
    value = fields.text("type")
    if not value:
        return default
    try:
        return kind(value)
    except ValueError:
        known = ", ".join(member.value for member in kind)
        message = f"{fields.where}: type is {value!r}, which is none of {known}."
        raise BookError(Reason.VALUE_UNKNOWN, message) from None
