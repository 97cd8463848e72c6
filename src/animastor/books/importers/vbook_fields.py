"""Taking known fields out of JSON objects, checked, so that what is left over is what this version does not know."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import orjson

from animastor.books.errors import BookError, Reason
from animastor.books.identifiers import is_valid
from animastor.books.model import Json

_KINDS = {dict: "an object", list: "a list", str: "text", bool: "true or false", int: "a number", float: "a number"}


def parse_object(data: bytes, where: str) -> Any:
    """The value in a JSON file. Raises BookError (`encoding_broken`, `json_broken`)."""
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        message = f"{where} is not valid UTF-8: byte {error.start} cannot be read."
        raise BookError(Reason.ENCODING_BROKEN, message) from None
    try:
        return orjson.loads(text)
    except orjson.JSONDecodeError as error:
        message = f"{where} is not valid JSON: line {error.lineno}, column {error.colno}."
        raise BookError(Reason.JSON_BROKEN, message) from None


def kind_of(value: object) -> str:
    """What a JSON value is, for a message."""
    return "null" if value is None else _KINDS.get(type(value), type(value).__name__)


class Fields:
    """A JSON object from which fields are taken; `rest` is what nobody took. `where` names file and place."""

    def __init__(self, data: object, where: str) -> None:
        if not isinstance(data, dict):
            raise BookError(Reason.FIELD_TYPE, f"{where} must be an object, not {kind_of(data)}.")
        self.rest: dict[str, Any] = data
        self.where = where

    def take(self, *path: str) -> Json:
        """The value at a path of keys, None when it is absent; objects that become empty go with it."""
        holders: list[tuple[dict[str, Any], str]] = []
        at: object = self.rest
        for depth, key in enumerate(path):
            if not isinstance(at, dict):
                raise self._wrong(path[:depth], at, "an object")
            if key not in at:
                return None
            holders.append((at, key))
            at = at[key]
        for holder, key in reversed(holders):
            del holder[key]
            if holder:
                break
        return at  # type: ignore[return-value]

    def text(self, *path: str) -> str:
        """The text at a path, "" when it is absent or null."""
        value = self.take(*path)
        if value is None:
            return ""
        if not isinstance(value, str):
            raise self._wrong(path, value, "text")
        return value

    def label(self, *path: str) -> str:
        """Text that may be written as a number."""
        value = self.take(*path)
        if isinstance(value, int) and not isinstance(value, bool):
            return str(value)
        if value is not None and not isinstance(value, str):
            raise self._wrong(path, value, "text or a number")
        return value or ""

    def identifier(self, *keys: str) -> str:
        """The id under the first of these keys that is there. Raises BookError (`id_missing`, `id_invalid`)."""
        found = next((label for key in keys if (label := self.label(key))), "")
        if not found:
            raise BookError(Reason.ID_MISSING, f"{self.where} has no {keys[0]}.")
        return checked_id(found, f"{self.where}: {keys[0]}")

    def objects(self, *path: str) -> list[Any]:
        """The list at a path, empty when it is absent."""
        value = self.take(*path)
        if value is None:
            return []
        if not isinstance(value, list):
            raise self._wrong(path, value, "a list")
        return value

    def texts(self, *path: str) -> tuple[str, ...]:
        """The list of texts at a path, empty when it is absent."""
        found = self.objects(*path)
        for at, value in enumerate(found):
            if not isinstance(value, str):
                raise self._wrong((*path, str(at)), value, "text")
        return tuple(found)

    def mapping(self, *path: str) -> Mapping[str, Json]:
        """The object at a path, empty when it is absent."""
        value = self.take(*path)
        if value is None:
            return {}
        if not isinstance(value, dict):
            raise self._wrong(path, value, "an object")
        return value

    def _wrong(self, path: tuple[str, ...], value: object, wanted: str) -> BookError:
        name = ".".join(path) or "it"
        return BookError(Reason.FIELD_TYPE, f"{self.where}: {name} must be {wanted}, not {kind_of(value)}.")


def checked_id(value: str, where: str) -> str:
    """The id, if it may be one. Raises BookError (`id_invalid`)."""
    if not is_valid(value):
        message = f"{where} is {value[:140]!r}; an id has 1 to 128 of A-Z a-z 0-9 . _ - and no dot first."
        raise BookError(Reason.ID_INVALID, message)
    return value
