"""How parent and child talk: frames of JSON, each behind its length. Nothing here knows what is said."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import orjson

LONGEST = 64 * 2**20  # bytes of a frame; more is not ours
_HEAD = 4  # bytes of the length, big-endian


class FrameError(Exception):
    """Raised when what arrives is no frame: something else wrote to the channel."""


def pack(message: Any) -> bytes:
    """A frame. Dataclasses, enums and numpy values are written as their JSON; paths as text.

    Raises `TypeError` for a value that JSON cannot carry, `FrameError` for one that is too long.
    """
    body = orjson.dumps(message, default=_plain, option=orjson.OPT_NON_STR_KEYS)
    if len(body) > LONGEST:
        raise FrameError(f"a message of {len(body)} bytes is longer than {LONGEST}")
    return len(body).to_bytes(_HEAD, "big") + body


class Unpacker:
    """Cuts what arrives, in any pieces, into messages."""

    def __init__(self) -> None:
        self._data = bytearray()

    def feed(self, piece: bytes) -> Iterator[Any]:
        """The messages that are complete with this piece. Raises `FrameError`."""
        self._data += piece
        while len(self._data) >= _HEAD:
            end = _HEAD + int.from_bytes(self._data[:_HEAD], "big")
            if end > _HEAD + LONGEST:
                raise FrameError("what arrived is no frame")
            if len(self._data) < end:
                return
            body = bytes(self._data[_HEAD:end])
            del self._data[:end]
            try:
                yield orjson.loads(body)
            except orjson.JSONDecodeError as error:
                raise FrameError(f"what arrived is no JSON: {error}") from error


def _plain(value: object) -> object:
    """Numbers and arrays of numpy as Python's, sets and tuples as lists, paths as text."""
    if hasattr(value, "tolist"):  # orjson's own way for these imports numpy, in the parent too
        return value.tolist()
    if isinstance(value, (set, frozenset)):
        return sorted(value)
    if hasattr(value, "__fspath__"):
        return value.__fspath__()
    if hasattr(value, "keys") and hasattr(value, "__getitem__"):
        return {key: value[key] for key in value.keys()}  # noqa: SIM118 - any mapping
    raise TypeError(f"{type(value).__name__} cannot be told to another process")
