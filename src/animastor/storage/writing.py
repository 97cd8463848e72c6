"""The one writer of a SQLite file: a thread, and one commit for all that was waiting for it (group commit).

As far as anybody can tell each member is a transaction of its own: it sees what those before it wrote, and it is
answered after the commit that holds it. When one of a group fails, the whole group is taken back and each of its
members is run again by itself, in the same order; storage functions may be repeated (`engine.ports.Storage`).
"""

from __future__ import annotations

import asyncio
import threading
import time
from collections import deque
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from typing import Any, Final, TypeVar

from sqlalchemy import Connection

from animastor.engine.ports import StorageUnavailableError
from animastor.storage.transacting import Now, transact, typed_errors
from animastor.storage.whole import UnsureError

R = TypeVar("R")

GROUP_S: Final = 0.02  # nothing more joins a transaction that has lasted so long: none may hold the writer over 50 ms


class _Member:
    """A call that waits to be written, then its answer or error."""

    __slots__ = ("answer", "call", "error", "future", "loop")

    def __init__(self, call: Callable[[Connection], Any], loop: asyncio.AbstractEventLoop) -> None:
        self.call = call
        self.loop = loop
        self.future: asyncio.Future[Any] = loop.create_future()
        self.answer: Any = None
        self.error: Exception | None = None

    def tell(self) -> None:
        """Answer the caller, in its own loop."""
        if self.future.done():
            return
        if self.error is not None:
            self.future.set_exception(self.error)
        else:
            self.future.set_result(self.answer)


class Writer:
    """Writes in `thread` on the connection that `connect` gives there."""

    def __init__(self, thread: ThreadPoolExecutor, connect: Callable[[], Connection], clock: Now, where: str) -> None:
        self._thread = thread
        self._connect = connect
        self._clock = clock
        self._where = where
        self._guard = threading.Lock()
        self._waiting: deque[_Member] = deque()
        self._busy = False

    async def write(self, call: Callable[[Connection], R]) -> R:
        """The answer of a function, after its commit. Raises what it raised, or `StorageUnavailableError`."""
        member = _Member(call, asyncio.get_running_loop())
        with self._guard:
            self._waiting.append(member)
            idle, self._busy = not self._busy, True
        if idle:
            self._begin(member.loop)
        answer: R = await member.future
        return answer

    def _begin(self, loop: asyncio.AbstractEventLoop) -> None:
        try:
            loop.run_in_executor(self._thread, self._drain)
        except RuntimeError as error:  # the thread has been shut down
            with self._guard:
                self._waiting.clear()
                self._busy = False
            raise StorageUnavailableError(f"the database {self._where} is closed") from error

    def _drain(self) -> None:
        """Write until nothing waits."""
        while True:
            with self._guard:
                if not self._waiting:
                    self._busy = False
                    return
            group: list[_Member] = []
            try:
                self._together(group)
            except Exception as error:  # noqa: BLE001 - told to the caller, or each finds its own again
                self._one_by_one(group, error)
            _tell(group)

    def _together(self, group: list[_Member]) -> None:
        """Run what waits in one transaction; `group` is filled with what was taken."""
        group.append(self._waiting.popleft())
        with typed_errors(self._where):
            connection = self._connect()
            until = time.perf_counter() + GROUP_S
            with connection.begin():
                self._run(group[0], connection)
                while self._waiting and time.perf_counter() < until:
                    group.append(self._waiting.popleft())
                    self._run(group[-1], connection)

    def _run(self, member: _Member, connection: Connection) -> None:
        if not member.future.cancelled():  # a caller that has gone before its turn wants nothing written
            connection.info["now"] = self._clock()
            member.answer = member.call(connection)

    def _one_by_one(self, group: Sequence[_Member], error: Exception) -> None:
        if len(group) == 1 and not isinstance(error, UnsureError):
            group[0].error = error
            return
        for member in group:
            try:
                member.answer = transact(self._connect(), self._clock, self._where, member.call)
            except Exception as own:  # noqa: BLE001 - told to the caller
                member.error = own


def _tell(group: Sequence[_Member]) -> None:
    """Answer callers; most groups are of one loop, and wake it once."""
    for loop in {member.loop for member in group}:
        with suppress(RuntimeError):  # a loop that was closed meanwhile: nobody waits there
            loop.call_soon_threadsafe(_answer, [member for member in group if member.loop is loop])


def _answer(members: Sequence[_Member]) -> None:
    for member in members:
        member.tell()
