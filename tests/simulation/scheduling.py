"""One thread, a virtual clock, and a seeded choice of what runs next.

The loop knows *nodes*: processes of the simulated world. Whatever is started on behalf of a node carries it in its
context. A dead node's callbacks are never run (its memory is gone: no `except`, no `finally`); a frozen one's wait
until it goes on. One step is one callback: between two of them anything may happen.
"""

from __future__ import annotations

import asyncio
import heapq
from collections.abc import Callable, Coroutine
from contextlib import suppress
from contextvars import Context, ContextVar, copy_context
from itertools import count
from random import Random
from typing import Any

MOST_STEPS = 150_000
EPOCH = 1_700_000_000.0


class NothingHappensError(Exception):
    """Raised when everything waits for ever."""


class Broken(BaseException):
    """Raised inside a step that broke an invariant; the loop ends with it."""


class Node:
    """A process. `skew`: seconds that its clock is off the true time; `slow_s`: that its ways to stores take."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.dead = False
        self.frozen = False
        self.halted = False
        self.skew = 0.0
        self.slow_s = 0.0
        self.backlog: list[Call] = []
        self.context = copy_context()
        self.context.run(NODE.set, self)

    def __repr__(self) -> str:
        return self.name


NODE: ContextVar[Node | None] = ContextVar("node", default=None)


class Call:
    """A callback on its way. Cancelling it is all that asyncio asks of a handle."""

    __slots__ = ("args", "callback", "cancelled_", "context", "when_")

    def __init__(self, callback: Callable[..., object], args: tuple[Any, ...], context: Context, when: float) -> None:
        self.callback, self.args, self.context, self.when_ = callback, args, context, when
        self.cancelled_ = False

    def cancel(self) -> None:
        """Never run it."""
        self.cancelled_ = True

    def cancelled(self) -> bool:
        """Whether it will never run."""
        return self.cancelled_

    def when(self) -> float:
        """When it is due."""
        return self.when_


class SimLoop(asyncio.AbstractEventLoop):
    """An event loop whose next callback is drawn. `shuffle`: how often the draw is not simply the oldest."""

    def __init__(self, random: Random, shuffle: float = 1.0) -> None:
        self._random = random
        self._shuffle = shuffle
        self._ready: list[Call] = []
        self._timers: list[tuple[float, int, Call]] = []
        self._numbers = count()
        self._open = True
        self.elapsed = 0.0
        self.steps = 0
        self.broken: Broken | None = None
        self.each_step: Callable[[], None] = lambda: None
        self.next_look = 0  # the step before which `each_step` is called
        self.complaints: list[str] = []
        self._tasks: list[asyncio.Task[Any]] = []

    # --- what asyncio asks ---

    def time(self) -> float:
        return self.elapsed

    def call_soon(self, callback: Any, *args: Any, context: Context | None = None) -> Any:
        call = Call(callback, args, copy_context() if context is None else context, 0.0)
        if self._open:
            self._ready.append(call)
        return call

    call_soon_threadsafe = call_soon

    def call_later(self, delay: float, callback: Any, *args: Any, context: Context | None = None) -> Any:
        return self.call_at(self.elapsed + delay, callback, *args, context=context)

    def call_at(self, when: float, callback: Any, *args: Any, context: Context | None = None) -> Any:
        call = Call(callback, args, copy_context() if context is None else context, when)
        if self._open:
            heapq.heappush(self._timers, (when, next(self._numbers), call))
        return call

    def create_future(self) -> asyncio.Future[Any]:
        return asyncio.Future(loop=self)

    def create_task(self, coro: Any, *, name: Any = None, context: Context | None = None) -> Any:
        task: asyncio.Task[Any] = asyncio.Task(coro, loop=self, name=name, context=context)
        self._tasks.append(task)
        if len(self._tasks) > 4000:
            self._tasks = [one for one in self._tasks if not one.done()]
        return task

    def run_in_executor(self, executor: Any, func: Any, *args: Any) -> Any:
        """Work for a thread is done here, at once; its answer comes when it is drawn."""
        future = self.create_future()
        try:
            result = func(*args)
        except Exception as error:  # noqa: BLE001 - given to whoever waits
            future.set_exception(error)
        else:
            future.set_result(result)
        return future

    def get_debug(self) -> bool:
        return False

    def is_running(self) -> bool:
        return True

    def is_closed(self) -> bool:
        return not self._open

    def call_exception_handler(self, context: Any) -> None:
        if self._open:
            self.complaints.append(f"{context.get('message')}: {context.get('exception')!r}")

    # --- running ---

    def run(self, main: Coroutine[Any, Any, Any]) -> Any:
        """Run until `main` is done. Raises `Broken`, `NothingHappensError`, or what it raised."""
        asyncio._set_running_loop(self)
        try:
            task = self.create_task(main)
            while not task.done():
                self._step()
                if self.broken is not None:
                    raise self.broken
            return task.result()
        finally:
            self._close()
            asyncio._set_running_loop(None)

    def _step(self) -> None:
        ready = self._ready
        if not ready:
            self._move_time()
        if self.steps >= self.next_look:
            self.each_step()
        call = self._draw()
        if call.cancelled_:
            return
        node = call.context.get(NODE)
        if node is not None and node.halted:
            if not node.dead:
                node.backlog.append(call)
            return
        self.steps += 1
        if self.steps > MOST_STEPS:
            raise NothingHappensError(f"{MOST_STEPS} steps are enough for any life: something goes round in circles")
        call.context.run(call.callback, *call.args)

    def _draw(self) -> Call:
        ready = self._ready
        if len(ready) == 1:
            return ready.pop()
        if self._shuffle < 1.0 and self._random.random() >= self._shuffle:
            return ready.pop(0)
        place = int(self._random.random() * len(ready))
        last = ready.pop()
        if place == len(ready):
            return last
        call, ready[place] = ready[place], last
        return call

    def _move_time(self) -> None:
        timers = self._timers
        while timers and timers[0][2].cancelled_:
            heapq.heappop(timers)
        if not timers:
            raise NothingHappensError("everything waits, and there is no timer that could wake anything")
        self.elapsed = max(self.elapsed, timers[0][0])
        while timers and timers[0][0] <= self.elapsed:
            call = heapq.heappop(timers)[2]
            if not call.cancelled_:
                self._ready.append(call)

    def jump(self, seconds: float) -> None:
        """The whole world stood still for so long, as a suspended machine does: every timer of that time is due."""
        self.elapsed += seconds
        while self._timers and self._timers[0][0] <= self.elapsed:
            call = heapq.heappop(self._timers)[2]
            if not call.cancelled_:
                self._ready.append(call)

    # --- nodes ---

    def outside(self, seconds: float, act: Callable[..., object], *args: object) -> None:
        """Do something after so long that belongs to no node, and so outlives every one."""
        self.call_later(seconds, act, *args, context=Context())

    def kill(self, node: Node) -> None:
        """The memory of a node is gone."""
        node.dead = node.halted = True
        node.backlog.clear()

    def freeze(self, node: Node, seconds: float) -> None:
        """A node stands still for so long, and does not know it."""
        node.frozen = node.halted = True
        self.outside(seconds, self.thaw, node)

    def thaw(self, node: Node) -> None:
        """A node goes on."""
        if node.frozen and not node.dead:
            node.frozen = node.halted = False
            self._ready += node.backlog
            node.backlog = []

    def _close(self) -> None:
        """Close what was left behind, dead or alive; nothing of it can act any more."""
        self._open = False
        for task in self._tasks:
            if not task.done():
                task._log_destroy_pending = False  # type: ignore[attr-defined]
                coroutine = task.get_coro()
                with suppress(BaseException):
                    coroutine.close()  # type: ignore[union-attr]
            elif not task.cancelled():
                task.exception()
        self._tasks.clear()
        self._ready.clear()
        self._timers.clear()


class SimClock:
    """The clock of a node, or with none the true one. `protocol.Clock`."""

    def __init__(self, loop: SimLoop, node: Node | None = None) -> None:
        self._loop, self._node = loop, node

    def now(self) -> float:
        """Seconds since the epoch, as this node believes."""
        return EPOCH + self._loop.elapsed + (self._node.skew if self._node is not None else 0.0)

    async def sleep(self, seconds: float) -> None:
        """Sleeping goes by monotonic time, which is never off."""
        await asyncio.sleep(max(0.0, seconds))
