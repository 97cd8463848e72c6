"""Tables as a home of many finished assets leaves them, with some that are still to be made; written by plain SQL.

Each scene has one asset of one part. Those to be made are spread evenly over all books, each in the lane that it was
given, and carried by the open request of its book.
"""

from __future__ import annotations

import hashlib
import sqlite3

from sqlalchemy import Connection, text

from animastor.storage.rows import driver

SCENES_PER_BOOK = 1000
CONTENT = '{"scene_id":"s","units":[{"unit_id":"u","text":"The words of a unit, some of them."}]}'
PROMPT = "a wide shot of a harbour at dusk, calm, two people on the quay, painted in gouache, warm light " * 6
_NUMBERS = (
    "(WITH RECURSIVE n (i) AS (SELECT CAST(0 AS bigint) UNION ALL SELECT i + 1 FROM n WHERE i < {count} - 1)"
    " SELECT i FROM n) AS n"
)
_HASH = "md5('{0}' || i) || md5(i || '{0}')"
_LIFE = (("REQUESTED", 1), ("DISPATCHED", 2), ("PART_ACCEPTED", 2), ("READY", 4))
_FACTS = '{"width":1280,"height":720,"codec":"png"}'


def fill(connection: Connection, assets: int, fresh: int, lanes: int) -> None:
    """So many assets, of them `fresh` PENDING and the others READY with all the rows of their lives.

    The k-th fresh one is in the lane `lane-{k % lanes}`.
    """
    if connection.dialect.name == "sqlite":
        _teach(driver(connection))
    step = assets // fresh
    is_fresh = f"(i % {step} = 0 AND i / {step} < {fresh})"
    _books(connection, -(-assets // SCENES_PER_BOOK))
    _scenes(connection, assets)
    _assets(connection, assets, is_fresh, f"'lane-' || (i / {step} % {lanes})")
    _lives(connection, assets, f"WHERE NOT {is_fresh}")


def _teach(connection: sqlite3.Connection) -> None:
    connection.create_function("md5", 1, lambda given: hashlib.md5(str(given).encode()).hexdigest(), deterministic=True)


def _insert(connection: Connection, table: str, columns: str, values: str, count: int, where: str = "") -> None:
    numbers = _NUMBERS.format(count=count)
    connection.execute(
        text(f"INSERT INTO {table} ({columns}) SELECT {values} FROM {numbers} {where}".replace(":", "\\:"))
    )


def _books(connection: Connection, count: int) -> None:
    _insert(connection, "book", "book_key, book_id", "i + 1, 'b' || i", count)
    _insert(connection, "chapter", "chapter_key, book_key, chapter_id", "i + 1, i + 1, 'c'", count)
    columns = "id, book_key, scope, media, state, idempotency_key, created_at"
    _insert(connection, "request", columns, "i + 1, i + 1, 'whole_book', 'picture', 'open', 'k' || i, 0.0", count)
    _insert(connection, "request_media", "request_id, media", "i + 1, 'picture'", count)


def _scenes(connection: Connection, count: int) -> None:
    book, position = f"1 + i / {SCENES_PER_BOOK}", f"(i % {SCENES_PER_BOOK}) * 1048576"
    columns = "scene_key, book_key, chapter_key, scene_id, position, content"
    _insert(connection, "scene", columns, f"i + 1, {book}, {book}, 's' || i, {position}, '{CONTENT}'", count)


def _assets(connection: Connection, count: int, is_fresh: str, lane: str) -> None:
    book, position = f"1 + i / {SCENES_PER_BOOK}", f"(i % {SCENES_PER_BOOK}) * 1048576"
    made = {
        "state": ("1", "4"),
        "lane": (lane, "'system'"),
        "planned_seq": ("0", "1"),
        "fence": ("0", "1"),
        "dispatch_id": ("''", "md5(i || 'd')"),
        "made_by": ("''", "md5(i || 'd')"),
        "wanted_hash": ("''", _HASH.format("w")),
        "artifact_hash": ("''", _HASH.format("w")),
    }
    columns = "id, book_key, chapter_key, scene_key, media, reading_order, request_id, " + ", ".join(made)
    values = ", ".join(f"CASE WHEN {is_fresh} THEN {new} ELSE {old} END" for new, old in made.values())
    _insert(
        connection, "asset", columns, f"i + 1, {book}, {book}, i + 1, 'picture', {position}, {book}, {values}", count
    )


def _lives(connection: Connection, count: int, ready: str) -> None:
    book, dispatch, sum_ = f"1 + i / {SCENES_PER_BOOK}", "md5(i || 'd')", _HASH.format("a")
    _insert(
        connection,
        "part",
        "asset, hash, kind, unit_id, state, plan_seq, artifact, last_claim, work, profile, places, facts, params",
        f"i + 1, {_HASH.format('p')}, 'picture', 'u', 1, 1, {sum_}, 1, 1, 'storyboard', '[[0,[\"u\"]]]', '{_FACTS}',"
        f' \'{{"prompt":"{PROMPT}","seed":\' || i || \'}}\'',
        count,
        ready,
    )
    _insert(connection, "artifact", "checksum, suffix, size", f"{sum_}, '.png', 100000", count, ready)
    _insert(
        connection, "asset_facts", "asset, facts", f'i + 1, \'{{"units":{{"u":"\' || {sum_} || \'"}}}}\'', count, ready
    )
    tally = f"{book}, 'picture', i + 1, 1, 1, 1, 1"
    _insert(connection, "tally", "book_key, media, asset, parts, parts_ready, work, work_ready", tally, count, ready)
    columns = "asset, fence, id, request_id, begun_at, outcome, ended_at, released_at"
    _insert(connection, "dispatch", columns, f"i + 1, 1, {dispatch}, {book}, 0.0, 'success', 0.0, 0.0", count, ready)
    for type_, state in _LIFE:
        columns = "at, asset, type, state, dispatch_id"
        _insert(connection, "journal", columns, f"0.0, i + 1, '{type_}', {state}, {dispatch}", count, ready)
