"""Small things that tests with real processes share. Not a test module."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from pathlib import Path

import psutil

HERE = Path(__file__).parent  # where children find `child_backends`
PATIENT_S = 100.0  # a machine that does much else needs its time to start a process


ENCODED_S = 0.01  # more than files that grow add to the progress: ffmpeg itself has said how far it is


def ignore(_: float) -> None:
    """Nobody looks at the progress."""


async def until(condition: Callable[[], bool]) -> None:
    """Wait for something that other processes do."""
    async with asyncio.timeout(PATIENT_S):
        while not condition():  # noqa: ASYNC110 - another process has no event of ours
            await asyncio.sleep(0.005)


def watch_until(condition: Callable[[], bool]) -> None:
    """The same for a test without an event loop."""
    deadline = time.monotonic() + PATIENT_S
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.005)


def is_gone(pid: int) -> bool:
    """No such process, or only what its parent has not asked after yet."""
    try:
        return psutil.Process(pid).status() == psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return True
