"""Writing a book as a vbook, in the present form: what was read and not understood is written back."""

from __future__ import annotations

import os
import shutil
import tempfile
import zipfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import orjson

from animastor.books.errors import BookError, Reason
from animastor.books.model import (
    Book,
    BookHead,
    Chapter,
    Character,
    Location,
    Scene,
    SceneType,
    Unit,
    UnitType,
)

_SUFFIXES = {"image/jpeg": "jpg", "image/png": "png", "image/webp": "webp"}
_EPOCH = (1980, 1, 1, 0, 0, 0)  # of zip; the same book gives the same bytes


def write_vbook(book: Book, target: Path, *, replace: bool = False) -> None:
    """Writes a book to a folder, or to a zip when the name ends in `.zip` or `.vbook`; all of it or nothing.

    Raises BookError (`target_exists`) unless `replace` is set, and OSError when the disk refuses.
    """
    if target.exists() and not replace:
        raise BookError(Reason.TARGET_EXISTS, f"{target} exists already.")
    target.parent.mkdir(parents=True, exist_ok=True)
    if target.suffix.lower() in (".zip", ".vbook"):
        _write_zip(book, target)
    else:
        _write_folder(book, target)


def vbook_files(book: Book) -> Iterator[tuple[str, bytes]]:
    """The files of a vbook: names with forward slashes, and bytes."""
    head = book.head
    yield "manifest.json", _dump(_manifest(head))
    yield "book.json", _dump(_book(book))
    yield "bible.json", _dump(_bible(head))
    yield "characters.json", _dump(_wrapped(head, "characters", [_character(item) for item in head.characters]))
    yield "locations.json", _dump(_wrapped(head, "locations", [_location(item) for item in head.locations]))
    yield "voices.json", _dump(_voices(head))
    for chapter in book.chapters:
        yield f"chapters/{chapter.chapter_id}.json", _dump(_chapter(chapter))
    suffix = _SUFFIXES.get(book.cover.media_type) if book.cover else None
    if book.cover and suffix:
        yield f"cover.{suffix}", book.cover.data


def _write_zip(book: Book, target: Path) -> None:
    handle, name = tempfile.mkstemp(prefix=f".{target.name}-", dir=target.parent)
    temporary = Path(name)
    try:
        with os.fdopen(handle, "wb") as file, zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
            for path, data in vbook_files(book):
                info = zipfile.ZipInfo(path, _EPOCH)
                info.compress_type = zipfile.ZIP_DEFLATED
                archive.writestr(info, data)
        temporary.replace(target)
    finally:
        temporary.unlink(missing_ok=True)


def _write_folder(book: Book, target: Path) -> None:
    temporary = Path(tempfile.mkdtemp(prefix=f".{target.name}-", dir=target.parent))
    made, old = temporary / "new", temporary / "old"
    try:
        for path, data in vbook_files(book):
            place = made / path
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_bytes(data)
        if target.exists():
            target.rename(old)
        made.rename(target)
    finally:
        if old.exists() and not target.exists():
            old.rename(target)
        shutil.rmtree(temporary, ignore_errors=True)


def _manifest(head: BookHead) -> dict[str, Any]:
    out = _rest(head, "manifest")
    out["book_id"] = head.book_id
    out.setdefault("title", head.title)
    _put(out, head.build_id, "build_id")
    _put(out, head.render_mode, "render", "mode")
    return out


def _book(book: Book) -> dict[str, Any]:
    head = book.head
    out = _rest(head, "book")
    _put(out, head.title, "title")
    _put(out, head.author, "author")
    _put(out, head.identifier, "identifier")
    _put(out, [chapter.chapter_id for chapter in book.chapters], "structure", "chapters_order")
    _put(out, head.language, "defaults", "language")
    _put(out, head.narration_voice, "defaults", "narration_voice")
    _put(out, dict(head.layer_config), "layer_config")
    return out


def _bible(head: BookHead) -> dict[str, Any]:
    out = _rest(head, "bible")
    _put(out, head.narrator_voice, "narrator", "voice", "instruction")
    _put(out, head.style, "render_rules", "style")
    return out


def _character(character: Character) -> dict[str, Any]:
    out = _copied(character.extra)
    out["id"] = character.id
    _put(out, character.name, "name")
    _put(out, character.appearance, "passport", "appearance")
    _put(out, character.clothes, "passport", "clothes")
    _put(out, character.video_tokens, "passport", "video_tokens")
    _put(out, character.voice, "voice", "instruction")
    return out


def _location(location: Location) -> dict[str, Any]:
    out = _copied(location.extra)
    out["id"] = location.id
    _put(out, location.description, "description")
    _put(out, location.cinematic_space, "cinematic_space")
    _put(out, location.environment, "environment")
    return out


def _voices(head: BookHead) -> dict[str, Any]:
    kept = _rest(head, "voices")
    entries = kept.get("entries", {})
    table = {key: {"instruction": text, **entries.get(key, {})} for key, text in head.voices.items()}
    return {**kept["file"], "voices": table} if kept.get("file") else table


def _chapter(chapter: Chapter) -> dict[str, Any]:
    out = _copied(chapter.extra)
    out["chapter_id"] = chapter.chapter_id
    _put(out, chapter.title, "chapter_title")
    _put(out, chapter.display_number, "display_number")
    _put(out, chapter.type, "type")
    out["scenes"] = [_scene(scene) for scene in chapter.scenes]
    return out


def _scene(scene: Scene) -> dict[str, Any]:
    out = _copied(scene.extra)
    out["scene_id"] = scene.scene_id
    _put(out, scene.title, "scene_title")
    _put(out, "" if scene.type is SceneType.NARRATION else scene.type.value, "type")
    _put(out, scene.location.id, "location", "id")
    _put(out, scene.location.environment, "location", "environment")
    _put(out, list(scene.participants), "participants")
    _put(out, scene.character_anchors, "character_anchors")
    _put(out, scene.voice, "audio", "voice")
    _put(out, scene.full_text, "audio", "full_text")
    for name in ("style", "quality", "negative", "camera"):
        _put(out, getattr(scene.visual, name), "visual", name)
    out["units"] = [_unit(unit) for unit in scene.units]
    return out


def _unit(unit: Unit) -> dict[str, Any]:
    out = _copied(unit.extra)
    out["id"] = unit.unit_id
    _put(out, "" if unit.type is UnitType.NARRATION else unit.type.value, "type")
    out["text"] = unit.text
    _put(out, unit.speaker, "speaker")
    _put(out, unit.audio.speaker, "audio", "speaker")
    _put(out, unit.audio.text, "audio", "text")
    for name in ("shot", "prompt", "quality", "negative", "text_render"):
        _put(out, getattr(unit.image, name), "image", name)
    _put(out, unit.action, "video", "action")
    return out


def _wrapped(head: BookHead, name: str, values: list[dict[str, Any]]) -> dict[str, Any]:
    """A file that holds a list beside what else was in it."""
    return {**_rest(head, name), name: values}


def _rest(head: BookHead, name: str) -> dict[str, Any]:
    """What this version does not know of a file."""
    held = head.extra.get(name)
    return _copied(held) if isinstance(held, Mapping) else {}


def _copied(extra: Mapping[str, Any]) -> dict[str, Any]:
    """The objects of `extra` anew, so that known fields can be put among them."""
    return {key: _copied(value) if isinstance(value, dict) else value for key, value in extra.items()}


def _put(out: dict[str, Any], value: object, *path: str) -> None:
    """Puts a value at a path of keys, unless it says nothing."""
    if value is None or value in ("", [], {}):
        return
    for key in path[:-1]:
        out = out.setdefault(key, {})
    out[path[-1]] = value


def _dump(value: object) -> bytes:
    return orjson.dumps(value, option=orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE)
