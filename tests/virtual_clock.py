"""Virtual time for tests: hours pass in milliseconds, in an order that depends on nothing but the program.

Two ways to use it, which may be mixed:

- `clock.run(coroutine)` runs a whole asynchronous test on a loop whose time jumps to the next timer as soon as every
  task waits. `clock.sleep`, `asyncio.sleep`, time-outs and `call_later` are all virtual there.
- `clock.jump(seconds)` moves time without a loop, for state machines that drive operations which never wait
  (`now(coroutine)` runs such a one to its end).

Work in threads (`asyncio.to_thread`, `run_in_executor`) takes real time, during which virtual time stands still. For
other waits of the real world (a child process, a thread's own future) there is `with clock.real():`. When every task
waits for something that no timer and no real work will bring, the run ends with `NothingHappensError` instead of
hanging.
"""

from __future__ import annotations

import asyncio
import selectors
from collections.abc import Coroutine, Iterator
from contextlib import contextmanager
from typing import Any, TypeVar

T = TypeVar("T")
EPOCH = 1_700_000_000.0


class NothingHappensError(Exception):
    """Raised by `VirtualClock.run` when every task waits for ever."""


class VirtualClock:
    """A `protocol.Clock` whose time moves only when nothing else can."""

    def __init__(self, start: float = EPOCH) -> None:
        self._start = start
        self.elapsed = 0.0  # seconds since this clock began
        self.busy = 0  # real work that virtual time waits for

    def now(self) -> float:
        """Seconds since the epoch."""
        return self._start + self.elapsed

    async def sleep(self, seconds: float) -> None:
        """Return after so many virtual seconds (on the loop of `run`)."""
        await asyncio.sleep(max(0.0, seconds))

    async def advance(self, seconds: float) -> None:
        """Let so many virtual seconds pass, and everything happen that happens in them."""
        await asyncio.sleep(seconds)

    def jump(self, seconds: float) -> None:
        """Move time at once, without letting anything happen in between."""
        assert seconds >= 0
        self.elapsed += seconds

    @contextmanager
    def real(self) -> Iterator[None]:
        """Virtual time stands still inside: something in the real world is waited for."""
        self.busy += 1
        try:
            yield
        finally:
            self.busy -= 1

    def run(self, main: Coroutine[Any, Any, T]) -> T:
        """Run a coroutine on a loop of this clock; tasks that it leaves behind are cancelled."""
        loop = VirtualLoop(self)
        try:
            return loop.run_until_complete(main)
        finally:
            self._close(loop)

    def _close(self, loop: VirtualLoop) -> None:
        async def cancel(tasks: set[asyncio.Task[Any]]) -> None:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)

        try:
            loop.run_until_complete(cancel(asyncio.all_tasks(loop)))
            loop.run_until_complete(loop.shutdown_asyncgens())
            with self.real():
                loop.run_until_complete(loop.shutdown_default_executor())
        finally:
            loop.close()


class VirtualLoop(asyncio.SelectorEventLoop):
    """An event loop whose time is a clock's, and jumps over every wait."""

    def __init__(self, clock: VirtualClock) -> None:
        super().__init__(_VirtualSelector(clock))
        self._clock = clock

    def time(self) -> float:
        """The clock's time."""
        return self._clock.elapsed

    def run_in_executor(self, executor: Any, func: Any, *args: Any) -> asyncio.Future[Any]:
        future = super().run_in_executor(executor, func, *args)
        if not future.done():
            self._clock.busy += 1
            future.add_done_callback(self._executor_done)
        return future

    def _executor_done(self, _future: asyncio.Future[Any]) -> None:
        self._clock.busy -= 1


class _VirtualSelector(selectors.DefaultSelector):
    """Never waits for time: instead of that it moves the clock."""

    def __init__(self, clock: VirtualClock) -> None:
        super().__init__()
        self._clock = clock

    def select(self, timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:
        found = super().select(0)
        if found or (timeout is not None and timeout <= 0):
            return found
        if self._clock.busy:
            return super().select(1.0)
        if timeout is None:
            raise NothingHappensError("every task waits, and there is no timer that could wake one")
        self._clock.elapsed += timeout
        return super().select(0)


def now(operation: Coroutine[Any, Any, T]) -> T:
    """Run an operation that never waits to its end, without a loop. Raises `AssertionError` when it does wait."""
    try:
        operation.send(None)
    except StopIteration as done:
        return done.value
    operation.close()
    raise AssertionError("the operation waited")
