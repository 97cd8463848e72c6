"""What an error of a database driver means for the transaction that raised it.

Three answers: run it again with the same arguments, nothing can be done here (typed errors of the port), or the
arguments are at fault, and then the driver's own error goes on to the caller, who splits the batch.
"""

from __future__ import annotations

import errno
import sqlite3
from enum import Enum
from typing import Final

from sqlalchemy.exc import DBAPIError

from animastor.engine.ports import StorageFullError, StorageUnavailableError


class Fate(Enum):
    """What to do after an error."""

    AGAIN = "again"  # lost against another transaction: at once
    RECONNECT = "reconnect"  # the connection or server is gone: after a pause
    FULL = "full"
    UNAVAILABLE = "unavailable"
    MEMBER = "member"


_SQLITE: Final = {
    sqlite3.SQLITE_FULL: Fate.FULL,
    sqlite3.SQLITE_IOERR: Fate.UNAVAILABLE,
    sqlite3.SQLITE_CANTOPEN: Fate.UNAVAILABLE,
    sqlite3.SQLITE_BUSY: Fate.UNAVAILABLE,
    sqlite3.SQLITE_LOCKED: Fate.UNAVAILABLE,
    sqlite3.SQLITE_READONLY: Fate.UNAVAILABLE,
    sqlite3.SQLITE_CORRUPT: Fate.UNAVAILABLE,
    sqlite3.SQLITE_NOTADB: Fate.UNAVAILABLE,
    sqlite3.SQLITE_NOMEM: Fate.UNAVAILABLE,
    sqlite3.SQLITE_PERM: Fate.UNAVAILABLE,
}
_DAMAGED: Final = (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB)
_SQLSTATES: Final = {
    "40001": Fate.AGAIN,  # serialization failure
    "40P01": Fate.AGAIN,  # deadlock
    "55P03": Fate.AGAIN,  # lock not available
    "25P03": Fate.RECONNECT,  # idle in a transaction for too long
    "25P04": Fate.RECONNECT,
    "53100": Fate.FULL,
    "53200": Fate.RECONNECT,  # out of memory
    "53300": Fate.RECONNECT,  # too many connections
    "57014": Fate.RECONNECT,  # a statement took too long: the server is overloaded, no member is at fault
    "57P01": Fate.RECONNECT,  # the server is shutting down, crashed, or starting
    "57P02": Fate.RECONNECT,
    "57P03": Fate.RECONNECT,
    "57P05": Fate.RECONNECT,  # idle for too long
}


def fate_of(error: BaseException) -> Fate:
    """What an error means, by its type and codes only."""
    if isinstance(error, DBAPIError):
        if error.connection_invalidated:
            return Fate.RECONNECT
        return fate_of(error.orig) if error.orig is not None else Fate.MEMBER
    return _fate_of_driver(error)


def _fate_of_driver(error: BaseException) -> Fate:
    if isinstance(error, sqlite3.Error):
        return _SQLITE.get(getattr(error, "sqlite_errorcode", 0) & 0xFF, Fate.MEMBER)
    if isinstance(error, OSError):
        return Fate.FULL if error.errno in (errno.ENOSPC, errno.EDQUOT) else Fate.RECONNECT
    state = getattr(error, "sqlstate", None) or getattr(error, "pgcode", None)
    if isinstance(state, str):
        return Fate.RECONNECT if state.startswith("08") else _SQLSTATES.get(state, Fate.MEMBER)
    return Fate.MEMBER


def typed(fate: Fate, where: str, error: BaseException) -> StorageUnavailableError:
    """The port's error for a fate that no repetition cures; one sentence for a person."""
    if fate is Fate.FULL:
        return StorageFullError(f"no space is left for the database {where}: free some and start again")
    cause = getattr(error, "orig", None) or error
    if getattr(cause, "sqlite_errorcode", 0) & 0xFF in _DAMAGED:
        return StorageUnavailableError(
            f"the database {where} is damaged ({cause}): restore a backup (`animastor restore SOURCE --replace`), or "
            "move it away, and `animastor make` makes everything anew"
        )
    return StorageUnavailableError(f"the database {where} cannot be used: {cause}")
