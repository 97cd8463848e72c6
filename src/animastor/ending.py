"""Ending tasks for certain.

A cancellation that comes together with an answer is swallowed by some libraries (and by `asyncio.wait_for` before
Python 3.12): the task then goes on as if nobody had asked it to end. So it is asked again.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from typing import Any

AGAIN_S = 1.0  # what tidies up when it is cancelled has so long before it is cancelled once more


async def ended(*tasks: asyncio.Task[Any] | None) -> None:
    """Cancel tasks and return when all have ended; how they did is somebody else's to look at.

    Being cancelled meanwhile waits for that, too.
    """
    await ended_all(task for task in tasks if task is not None)


async def ended_all(tasks: Iterable[asyncio.Task[Any]]) -> None:
    """The same for any number."""
    left = [task for task in tasks if not task.done()]  # in order: the same run is ended in the same way
    interrupted: asyncio.CancelledError | None = None
    while left:
        for task in left:
            task.cancel()
        try:
            await asyncio.wait(left, timeout=AGAIN_S)
        except asyncio.CancelledError as error:
            interrupted = error
        left = [task for task in left if not task.done()]
    if interrupted is not None:
        raise interrupted
