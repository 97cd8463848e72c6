"""Numbers that only grow: keys of rows, and the era."""

from __future__ import annotations

import secrets

from sqlalchemy import Connection

from animastor.storage.rows import Statement, fetch, now, scalar, tell
from animastor.storage.sentinel import UNNUMBERED

_RAISE = Statement(
    "raise_number", "Takes the next numbers of a name.",
    "UPDATE meta SET value = value + :count WHERE name = :name RETURNING value",
)  # fmt: skip
_KEYS = Statement(
    "ticket_keys", "The keys that sign and verify.", "SELECT k.id, k.secret, k.created_at FROM ticket_key k"
)
_ADD_KEY = Statement(
    "add_ticket_key", "A new key; the same id again changes nothing.",
    "INSERT INTO ticket_key (id, secret, created_at) VALUES (:id, :secret, {now}) ON CONFLICT (id) DO NOTHING",
)  # fmt: skip

_STORE = Statement(
    "artifact_store", "The number of the artifact store.",
    "SELECT m.value FROM meta m WHERE m.name = 'artifact_store'",
)  # fmt: skip
_KEEP_STORE = Statement(
    "keep_artifact_store", "Keeps the number of the artifact store, unless there is one.",
    "INSERT INTO meta (name, value) VALUES ('artifact_store', :number) ON CONFLICT (name) DO NOTHING",
)  # fmt: skip
_FORGET_STORE = Statement(
    "forget_artifact_store", "The artifacts are in another store from now on.",
    "DELETE FROM meta WHERE name = 'artifact_store'",
)  # fmt: skip
_NAME = Statement(
    "name_installation", "A number by which the coordination store tells installations apart; one that is there stays.",
    "INSERT INTO meta (name, value) VALUES ('installation', :number) ON CONFLICT (name) DO NOTHING",
)  # fmt: skip
_UNNAME = Statement(
    "unname_installation", "That of the data that was loaded.", "DELETE FROM meta WHERE name = 'installation'"
)  # fmt: skip
_BOOKS = Statement("books_ever", "The last number of a book.", "SELECT m.value FROM meta m WHERE m.name = 'book'")
KEYS_KEPT_S = 9 * 86_400 + 3_600  # tickets are verified for 9 days (CONTRACT 12); an hour for clocks that differ
_DROP_KEYS = Statement(
    "drop_ticket_keys", "Keys that verify nothing any more.",
    f"DELETE FROM ticket_key WHERE created_at < {{now}} - {KEYS_KEPT_S}",  # noqa: S608 - a number of this module
)  # fmt: skip


def take(connection: Connection, name: str, count: int = 1) -> int:
    """Take `count` new keys of a name (book, chapter, scene, asset, request); the first of them. Never given again."""
    return int(scalar(connection, _RAISE, name=name, count=count)) - count + 1


def never_held_a_book(connection: Connection) -> bool:
    """Whether no book was ever kept; the number of one that was deleted is not given again (CONTRACT 1)."""
    return int(scalar(connection, _BOOKS)) == 0


def raise_era(connection: Connection) -> int:
    """The next era."""
    return take(connection, "era")


def ticket_keys(connection: Connection) -> tuple[float, dict[str, tuple[bytes, float]]]:
    """The database's time; secrets by key id, with when they were made."""
    return now(connection), {row.id: (bytes.fromhex(row.secret), row.created_at) for row in fetch(connection, _KEYS)}


def add_ticket_key(connection: Connection, key_id: str, secret: bytes) -> None:
    """Keep a key; those that are too old to verify are removed."""
    tell(connection, _DROP_KEYS)
    tell(connection, _ADD_KEY, id=key_id, secret=secret.hex())


def name_installation(connection: Connection) -> None:
    """Give a new database its number, in the transaction that makes it.

    A database that was made without one goes without, as the programs that work on it side by side must agree.
    """
    tell(connection, _NAME, number=secrets.randbits(62) + 1)


def rename_installation(connection: Connection, held: int) -> None:
    """The number is that of the database, not of the data in it: what was loaded gets the one that was held, or a new
    one, so that two databases made of one backup are two.
    """
    tell(connection, _UNNAME)
    tell(connection, _NAME, number=held or secrets.randbits(62) + 1)


def artifact_store(connection: Connection) -> int:
    """The number of the artifact store that this database's artifacts are in; UNNUMBERED while it is not known."""
    return next((int(row.value) for row in fetch(connection, _STORE)), UNNUMBERED)


def keep_artifact_store(connection: Connection, number: int) -> int:
    """Keep the number of the artifact store, unless one is kept; the one that is kept."""
    tell(connection, _KEEP_STORE, number=number)
    return artifact_store(connection)


def move_to_artifact_store(connection: Connection, number: int) -> None:
    """The artifacts are in this store from now on; UNNUMBERED: in whichever is found."""
    tell(connection, _FORGET_STORE)
    if number != UNNUMBERED:
        keep_artifact_store(connection, number)
