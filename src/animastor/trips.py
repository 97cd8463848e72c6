"""Natural batches through a thread: what arrived while the trip before was under way travels together on the next."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from typing import Generic, TypeVar

In = TypeVar("In")
Out = TypeVar("Out")
_Waiting = tuple[In, "asyncio.Future[Out]"]


class Trips(Generic[In, Out]):
    """Carries single calls to a function that serves many of them in a thread, one batch at a time.

    `serve` answers each of its members with a value or with the exception that the caller shall get; what it raises
    itself, all of them get. A caller that is cancelled does not wait any more; its member is served all the same.
    """

    def __init__(self, serve: Callable[[Sequence[In]], Sequence[Out | Exception]]) -> None:
        self._serve = serve
        self._arrived: list[_Waiting[In, Out]] = []
        self._trip: asyncio.Task[None] | None = None

    async def __call__(self, item: In) -> Out:
        """The answer to one item."""
        future: asyncio.Future[Out] = asyncio.get_running_loop().create_future()
        self._arrived.append((item, future))
        if self._trip is None:
            self._trip = asyncio.create_task(self._travel())
        return await future

    async def _travel(self) -> None:
        batch: list[_Waiting[In, Out]] = []
        try:
            while self._arrived:
                batch, self._arrived = self._arrived, []
                _answer(batch, await asyncio.to_thread(self._guarded, [item for item, _ in batch]))
        finally:
            self._trip = None
            for _, future in (*batch, *self._arrived):  # only when this task was cancelled is anybody left
                future.cancel()
            self._arrived = []

    def _guarded(self, items: Sequence[In]) -> Sequence[Out | Exception]:
        try:
            return self._serve(items)
        except Exception as error:  # noqa: BLE001 - every caller of the batch is told
            return [error] * len(items)


def _answer(batch: Sequence[_Waiting[In, Out]], answers: Sequence[Out | Exception]) -> None:
    for (_, future), answer in zip(batch, answers, strict=True):
        if future.done():
            continue
        if isinstance(answer, Exception):
            future.set_exception(answer)
        else:
            future.set_result(answer)
