"""One transaction on one connection, with the port's errors."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TypeVar

from sqlalchemy import Connection

from animastor.engine.ports import StorageUnavailableError
from animastor.storage.failures import Fate, fate_of, typed
from animastor.storage.whole import UnsureError

R = TypeVar("R")
Now = Callable[[], float]


@contextmanager
def typed_errors(where: str) -> Iterator[None]:
    """Turn a driver's errors into those of the port, but for errors that are a member's own."""
    try:
        yield
    except Exception as error:
        fate = fate_of(error)
        if fate is Fate.MEMBER or isinstance(error, StorageUnavailableError):
            raise
        raise typed(fate, where, error) from error


def transact(connection: Connection, clock: Now, where: str, call: Callable[[Connection], R]) -> R:
    """Run a function as one transaction, at one time of the database."""
    with typed_errors(where):
        connection.info["now"] = clock()
        try:
            with connection.begin():
                return call(connection)
        except UnsureError:
            return _carefully(connection, call)


def _carefully(connection: Connection, call: Callable[[Connection], R]) -> R:
    """Again, asking of each row whether it was changed."""
    connection.info["careful"] = True
    try:
        with connection.begin():
            return call(connection)
    finally:
        del connection.info["careful"]
