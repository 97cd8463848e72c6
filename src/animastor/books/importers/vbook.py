"""Reading a vbook: a folder or zip of JSON files (CONTRACT 2). What is not known is kept and written back."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

from animastor.books.errors import BookError, Reason
from animastor.books.importers.files import Files
from animastor.books.importers.vbook_chapters import read_chapters
from animastor.books.importers.vbook_fields import Fields, parse_object
from animastor.books.languages import guess, normalize
from animastor.books.model import Book, BookHead, BookId, Chapter, Character, Cover, Location

MANIFEST = "manifest.json"
BOOK = "book.json"
COVERS = {"cover.jpg": "image/jpeg", "cover.jpeg": "image/jpeg", "cover.png": "image/png", "cover.webp": "image/webp"}


def load_vbook(files: Files, path: Path, root: str = "") -> Book:
    """The book in these files, below the folder `root` ("" or with a slash at its end). Raises BookError."""
    reader = _Reader(files, path, root)
    manifest, book = reader.fields(MANIFEST, required=True), reader.fields(BOOK, required=True)
    order = _order(book)
    head = _head(reader, manifest, book)
    chapters = read_chapters(files, root, order)
    if not any(scene.units for chapter in chapters for scene in chapter.scenes):
        raise BookError(Reason.BOOK_WITHOUT_TEXT, f"{path.name} has no unit in any scene, so that there is no book.")
    if not head.language:
        head = _with_language(head, chapters)
    return Book(head, chapters, _cover(files, root), source="vbook")


class _Reader:
    """The JSON files at the top of a vbook."""

    def __init__(self, files: Files, path: Path, root: str) -> None:
        self._files = files
        self._root = root
        self._source = path.name

    def value(self, name: str) -> Any:
        """What a file holds, None when it is absent."""
        if self._root + name not in self._files.names():
            return None
        return parse_object(self._files.read(self._root + name), self.where(name))

    def fields(self, name: str, *, required: bool = False) -> Fields:
        """A file's object, empty when it is absent and may be. Raises BookError (`file_missing`)."""
        value = self.value(name)
        if value is None:
            if required and self._root + name not in self._files.names():
                raise BookError(Reason.FILE_MISSING, f"{self._source} has no file {name}.")
            value = {} if not required else value
        return Fields(value, self.where(name))

    def where(self, name: str) -> str:
        """How a message calls a file."""
        return self._files.where(self._root + name)


def _order(book: Fields) -> list[str]:
    """The ids of the chapters in order. Raises BookError (`order_missing`, `order_empty`, `order_repeats`)."""
    field = "structure.chapters_order"
    value = book.take("structure", "chapters_order")
    if value is None:
        raise BookError(Reason.ORDER_MISSING, f"{book.where} has no {field}.")
    if not isinstance(value, list) or any(isinstance(item, bool) or not isinstance(item, str | int) for item in value):
        raise BookError(Reason.FIELD_TYPE, f"{book.where}: {field} must be a list of chapter ids.")
    order = [str(item).removeprefix("chapters/").removesuffix(".json") for item in value]
    if not order:
        raise BookError(Reason.ORDER_EMPTY, f"{book.where}: {field} names no chapter.")
    repeated = next((item for at, item in enumerate(order) if item in order[:at]), "")
    if repeated:
        raise BookError(Reason.ORDER_REPEATS, f"{book.where}: {field} names {repeated} twice.")
    return order


def _head(reader: _Reader, manifest: Fields, book: Fields) -> BookHead:
    """Everything but the chapters; what is left of each file goes into `extra` under that file's name."""
    bible = reader.fields("bible.json")
    characters, more_characters = _listed(reader, "characters", _character)
    locations, more_locations = _listed(reader, "locations", _location)
    voices, more_voices = _voices(reader)
    title, own_title = book.text("title"), manifest.text("title")
    head = BookHead(
        book_id=BookId(manifest.identifier("book_id")),
        title=title or own_title,
        author=book.text("author"),
        language=normalize(book.text("defaults", "language")),
        build_id=manifest.label("build_id"),
        render_mode=manifest.text("render", "mode"),
        narration_voice=book.text("defaults", "narration_voice"),
        narrator_voice=bible.text("narrator", "voice", "instruction"),
        style=bible.text("render_rules", "style"),
        voices=voices,
        characters=characters,
        locations=locations,
        layer_config=book.mapping("layer_config"),
        identifier=book.text("identifier"),
    )
    if own_title not in ("", head.title):
        manifest.rest["title"] = own_title
    rests = {"manifest": manifest.rest, "book": book.rest, "bible": bible.rest}
    rests |= {"characters": more_characters, "locations": more_locations, "voices": more_voices}
    return replace(head, extra={name: rest for name, rest in rests.items() if rest})


def _listed(reader: _Reader, name: str, make: Callable[[Fields, str], Any]) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """The values of a file that is a list, an object with that list, or an object by id; and the rest of the file."""
    value = reader.value(f"{name}.json")
    where = reader.where(f"{name}.json")
    rest: dict[str, Any] = {}
    if isinstance(value, dict) and isinstance(value.get(name), list | dict):
        rest = {key: held for key, held in value.items() if key != name}
        value = value[name]
    made = [make(fields, key) for fields, key in _entries(value, where)]
    ids = [item.id for item in made]
    repeated = next((item for at, item in enumerate(ids) if item in ids[:at]), None)
    if repeated is not None:
        raise BookError(Reason.ID_DUPLICATE, f"{where} has two entries with the id {repeated}.")
    return tuple(made), rest


def _entries(value: object, where: str) -> Iterator[tuple[Fields, str]]:
    """The objects of a list or of an object by id, each with its key ("" in a list)."""
    if value is None:
        return
    if isinstance(value, list):
        yield from ((Fields(item, f"{where}, entry {at + 1}"), "") for at, item in enumerate(value))
    elif isinstance(value, dict):
        yield from ((Fields(item, f"{where}: {key}"), key) for key, item in value.items())
    else:
        raise BookError(Reason.FIELD_TYPE, f"{where} must be a list or an object.")


def _character(fields: Fields, key: str) -> Character:
    return Character(
        id=fields.label("id") or key or fields.identifier("id"),
        name=fields.text("name"),
        appearance=fields.text("passport", "appearance"),
        clothes=fields.text("passport", "clothes"),
        video_tokens=fields.text("passport", "video_tokens"),
        voice=fields.text("voice", "instruction"),
        extra=fields.rest,
    )


def _location(fields: Fields, key: str) -> Location:
    return Location(
        id=fields.label("id") or key or fields.identifier("id"),
        description=fields.text("description"),
        cinematic_space=fields.take("cinematic_space"),
        environment=fields.take("environment"),
        extra=fields.rest,
    )


def _voices(reader: _Reader) -> tuple[dict[str, str], dict[str, Any]]:
    """The instructions of voices by id, and the rest of the file."""
    fields = reader.fields("voices.json")
    wrapped = isinstance(fields.rest.get("voices"), dict)
    table = fields.rest.pop("voices") if wrapped else fields.rest
    rest: dict[str, Any] = dict(fields.rest) if wrapped else {}
    voices: dict[str, str] = {}
    more: dict[str, Any] = {}
    for key, value in table.items():
        voice = Fields(value, f"{fields.where}: {key}")
        voices[key] = voice.text("instruction")
        if voice.rest:
            more[key] = voice.rest
    return voices, {name: held for name, held in (("file", rest), ("entries", more)) if held}


def _with_language(head: BookHead, chapters: tuple[Chapter, ...]) -> BookHead:
    """The head with the language that the text seems to be in."""
    texts = [unit.text for chapter in chapters for scene in chapter.scenes for unit in scene.units]
    return replace(head, language=guess("\n".join(texts[:200])))


def _cover(files: Files, root: str) -> Cover | None:
    for name, media_type in COVERS.items():
        if root + name in files.names():
            return Cover(media_type, files.read(root + name))
    return None
