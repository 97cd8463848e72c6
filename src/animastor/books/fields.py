"""Single fields of a book by name, as a person edits them. Pure.

Names are those of the vbook (CONTRACT 2): a unit's `image.prompt`, a scene's `location.id`, a character's `appearance`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any, Final

import orjson

from animastor.books.model import Book, BookHead, Chapter, Character, Json, Scene, SceneType, Unit, UnitType


class FieldError(ValueError):
    """Raised for a field that there is not, or a value that it cannot have; the text names what there is."""


def _json(text: str) -> Json:
    """Text, unless it is written as a JSON value other than a string."""
    try:
        value: Json = orjson.loads(text)
    except orjson.JSONDecodeError:
        return text
    return text if isinstance(value, str) else value


def _type(kind: type[SceneType] | type[UnitType]) -> Callable[[str], Any]:
    def read(text: str) -> Any:
        if text not in tuple(kind):
            raise FieldError(f"{text!r} is none of {', '.join(kind)}")
        return kind(text)

    return read


def _list(text: str) -> tuple[str, ...]:
    return tuple(one.strip() for one in text.split(",") if one.strip())


_Path = tuple[tuple[str, ...], Callable[[str], Any]]
UNIT: Final[Mapping[str, _Path]] = {
    "text": (("text",), str),
    "type": (("type",), _type(UnitType)),
    "speaker": (("speaker",), str),
    "audio.speaker": (("audio", "speaker"), str),
    "audio.text": (("audio", "text"), str),
    "image.shot": (("image", "shot"), str),
    "image.prompt": (("image", "prompt"), str),
    "image.quality": (("image", "quality"), str),
    "image.negative": (("image", "negative"), str),
    "image.text_render": (("image", "text_render"), _json),
    "video.action": (("action",), str),
}
SCENE: Final[Mapping[str, _Path]] = {
    "scene_title": (("title",), str),
    "type": (("type",), _type(SceneType)),
    "location.id": (("location", "id"), str),
    "location.environment": (("location", "environment"), _json),
    "participants": (("participants",), _list),
    "audio.voice": (("voice",), str),
    "audio.full_text": (("full_text",), str),
    "visual.style": (("visual", "style"), str),
    "visual.quality": (("visual", "quality"), str),
    "visual.negative": (("visual", "negative"), str),
    "visual.camera": (("visual", "camera"), _json),
}
CHAPTER: Final[Mapping[str, _Path]] = {"chapter_title": (("title",), str), "display_number": (("display_number",), str)}
CHARACTER: Final[Mapping[str, _Path]] = {
    "name": (("name",), str),
    "appearance": (("appearance",), str),
    "clothes": (("clothes",), str),
    "video_tokens": (("video_tokens",), str),
    "voice": (("voice",), str),
}
BOOK: Final[Mapping[str, _Path]] = {
    "title": (("title",), str),
    "author": (("author",), str),
    "narration_voice": (("narration_voice",), str),
    "narrator.voice": (("narrator_voice",), str),
    "style": (("style",), str),
    "render.mode": (("render_mode",), str),
}


def split_field(text: str) -> tuple[str, str, str]:
    """`place.field=value` as (place, field, value): ids may hold dots, so the longest known field counts.

    Raises `FieldError`.
    """
    left, equals, value = text.partition("=")
    if not equals:
        raise FieldError(f"{text!r} is not PLACE.FIELD=VALUE, such as 1/2/3.text='…'")
    if left in UNIT:
        raise FieldError(f"{left!r} is of no place: name its unit, such as 1/2/3.{left}='…'")
    known = sorted({*UNIT, *SCENE, *CHAPTER, *CHARACTER, *BOOK}, key=len, reverse=True)
    for field in known:
        if left.endswith(f".{field}"):
            return left[: -len(field) - 1], field, value
    raise FieldError(f"{left!r} names no field: a unit has {', '.join(UNIT)}")


def with_field(owner: Any, field: str, value: str) -> Any:
    """A unit, scene, chapter, character or head with another value of one field. Raises `FieldError`."""
    fields, what = _fields_of(owner)
    if field not in fields:
        raise FieldError(f"a {what} has no field {field!r}: it has {', '.join(fields)}")
    path, read = fields[field]
    return _replaced(owner, path, read(value))


def _fields_of(owner: Any) -> tuple[Mapping[str, _Path], str]:
    tables: tuple[tuple[type, Mapping[str, _Path], str], ...] = (
        (Unit, UNIT, "unit"),
        (Scene, SCENE, "scene"),
        (Chapter, CHAPTER, "chapter"),
        (Character, CHARACTER, "character"),
        (BookHead, BOOK, "book"),
    )
    return next((fields, what) for kind, fields, what in tables if isinstance(owner, kind))


def _replaced(owner: Any, path: tuple[str, ...], value: Any) -> Any:
    first, *rest = path
    inner = value if not rest else _replaced(getattr(owner, first), tuple(rest), value)
    return replace(owner, **{first: inner})


def with_unit_field(scene: Scene, unit_id: str, field: str, value: str) -> Scene:
    """A scene with another value of one field of one of its units. Raises `FieldError`."""
    units = [with_field(one, field, value) if one.unit_id == unit_id else one for one in scene.units]
    return replace(scene, units=tuple(units))


def with_scene(book: Book, chapter_id: str, changed: Scene) -> Book:
    """A book with another version of one of its scenes."""
    return replace(book, chapters=tuple(_with_scene(one, changed) if one.chapter_id == chapter_id else one
                                        for one in book.chapters))  # fmt: skip


def _with_scene(chapter: Chapter, changed: Scene) -> Chapter:
    return replace(
        chapter, scenes=tuple(changed if one.scene_id == changed.scene_id else one for one in chapter.scenes)
    )
