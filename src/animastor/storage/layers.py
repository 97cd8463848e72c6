"""The layer config of a book as it is stored, and setting it (CONTRACT 15)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import orjson
from sqlalchemy import Connection

from animastor.engine.ports import LayersSet
from animastor.engine.reasons import JournalType, Reason
from animastor.media.layers import WINDOW, Value, effective, require, switched_off
from animastor.media.registry import Registry
from animastor.protocol import BookKey
from animastor.storage import journal
from animastor.storage.edits import switch_off, touch_book
from animastor.storage.locking import lock_book, lock_whole_book
from animastor.storage.requests import unfinished_of
from animastor.storage.rows import Statement, fetch, tell
from animastor.storage.windows import place_windows

_LAYERS = Statement(
    "layers_of", "What a book says of its layers, and what was set.",
    "SELECT b.head, b.layers, b.disabled FROM book b WHERE b.book_key = :book",
)  # fmt: skip
_SET = Statement(
    "set_layers",
    "Other layers.",
    """
    UPDATE book SET layers = :layers, disabled = :disabled, ahead = CAST(:ahead AS bigint), revision = revision + 1
    WHERE book_key = :book
    """,
)


def set_layers(
    connection: Connection, registry: Registry, book_key: BookKey, changes: Mapping[str, Value | None]
) -> LayersSet:
    """Set layers of a book; None gives one back to the book's own, or the default. Raises `LayerError`, `LookupError`.

    Switching one off is a cancel of that media type; switching one on starts nothing.
    """
    lock_book(connection, book_key)
    rows = fetch(connection, _LAYERS, book=book_key)
    if not rows:
        raise LookupError(f"there is no book {book_key}")
    row, own = rows[0], orjson.loads(rows[0].head).get("layer_config", {})
    held: dict[str, Value] = orjson.loads(row.layers or "{}")
    before = effective(registry, own, held)
    for name, value in changes.items():
        if value is None:
            held.pop(name, None)
        else:
            require(registry, name, value)
            held[name] = value
    now = effective(registry, own, held)
    changed = {name: value for name, value in now.items() if value != before[name]}
    sweeping = [one.request_id for one in unfinished_of(connection, book_key)] if changed else []
    _write(connection, registry, book_key, held, now)
    if changed:  # a request that wanted nothing else ends with it, and has to be looked through as well
        _follow(connection, registry, book_key, changed, row.disabled.split())
    return LayersSet(now, changed, tuple(sweeping))


def _write(
    connection: Connection, registry: Registry, book_key: int, held: Mapping[str, Value], now: Mapping[str, Value]
) -> None:
    given: dict[str, Any] = {
        "layers": orjson.dumps(held, option=orjson.OPT_SORT_KEYS).decode() if held else "",
        "disabled": " ".join(switched_off(now, registry)),
        "ahead": int(now[WINDOW]),
    }
    tell(connection, _SET, book=book_key, **given)


def _follow(
    connection: Connection, registry: Registry, book_key: int, changed: Mapping[str, Value], was_off: list[str]
) -> None:
    switched = [name for name in registry.names if f"{name}_enabled" in changed]
    if switched:  # plans read which media types are switched off
        lock_whole_book(connection, book_key)
        touch_book(connection, book_key)
        off = [name for name in switched if changed[f"{name}_enabled"] is False and name not in was_off]
        switch_off(connection, registry, book_key, off)
    if WINDOW in changed:
        place_windows(connection, book_key)
    told = [(None, None, journal.details(book=book_key, **changed))]
    journal.record(connection, JournalType.STEERED, None, Reason.LAYERS, told)
