"""The pool of child processes: where all heavy work is done, so that the process that keeps time only waits.

Children start when they are needed, are used again while they live (models stay loaded), and are replaced when they
die, hang, run away or have grown too large. None outlives this process, whatever happens to it.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import Mapping
from pathlib import Path
from tempfile import mkstemp

from animastor.protocol import FailureType
from animastor.workers.backend import BackendError, Produced, Progress
from animastor.workers.child_process import ChildGoneError, ChildProcess
from animastor.workers.failures import OUT_OF_MEMORY, of_exception
from animastor.workers.work import Work

_ONE_THREAD = (
    "OMP_NUM_THREADS",
    "OPENBLAS_NUM_THREADS",
    "MKL_NUM_THREADS",
    "NUMEXPR_NUM_THREADS",
    "VECLIB_MAXIMUM_THREADS",
    "RAYON_NUM_THREADS",
)


class Children:
    """At most `count` children, each with one piece of work at a time; more work waits in the order of its coming.

    `scratch`: a folder for their logs and temporary files. `nice`: added to their niceness, so that the process that
    keeps time comes first. A child above `most_resident` bytes after an order, or without one for `idle_s` seconds,
    is ended; the next takes its place when there is work. `environment` is added to this process's own.

    Each child has one thread for numerics, as there is a child for each core already.
    """

    def __init__(
        self,
        count: int,
        scratch: Path,
        *,
        nice: int = 5,
        most_resident: int = 768 * 2**20,
        idle_s: float = 60.0,
        environment: Mapping[str, str] | None = None,
    ) -> None:
        self._count, self._scratch, self._nice = count, scratch, nice
        self._most_resident, self._idle_s = most_resident, idle_s
        single = dict.fromkeys(_ONE_THREAD, "1")
        self._environment = {**os.environ, **single, "MALLOC_ARENA_MAX": "2", **(environment or {})}
        self._slots = asyncio.Semaphore(count)
        self._idle: list[ChildProcess] = []
        self._busy: set[ChildProcess] = set()
        self._reaping: set[asyncio.Task[int]] = set()
        self._sweep: asyncio.TimerHandle | None = None
        self._running = 0  # pieces of work that have a child, or are about to have one
        self._closed = False

    @property
    def count(self) -> int:
        """How many pieces of work run at once."""
        return self._count

    @property
    def pids(self) -> tuple[int, ...]:
        """The process ids of the children that are there."""
        return tuple(child.pid for child in (*self._busy, *self._idle))

    async def run(self, work: Work, progress: Progress) -> Produced:
        """Have the work done by a child; waits for a free one first. Cancelling ends the work at once.

        Makes the work's folder. Raises `BackendError`.
        """
        async with self._slots:
            self._running += 1
            try:
                work.folder.mkdir(parents=True, exist_ok=True)
                return await self._perform(work, progress)
            except OSError as error:
                raise of_exception(error) from error
            finally:
                self._running -= 1

    async def aclose(self) -> None:
        """End all children and wait until they are gone."""
        self._closed = True
        if self._sweep is not None:
            self._sweep.cancel()
        for child in (*self._busy, *self._idle):
            self._end(child)
        self._idle.clear()
        while self._reaping:
            await asyncio.gather(*self._reaping)

    async def _perform(self, work: Work, progress: Progress) -> Produced:
        while True:
            child = self._take(work.profile) or await self._start()
            self._busy.add(child)
            try:
                return await child.perform(work, progress)
            except ChildGoneError:
                continue  # it had died while it was idle: not this work's fault
            except BackendError as error:
                if error.code == OUT_OF_MEMORY:
                    child.kill()
                raise
            finally:
                self._busy.discard(child)
                self._put_back(child)

    def _take(self, profile: str) -> ChildProcess | None:
        """An idle child that knows the profile; else, when no more may be started, the idle one that knows least."""
        for child in [child for child in self._idle if child.gone]:
            self._idle.remove(child)
            self._end(child)
        fit = [child for child in self._idle if profile in child.served]
        if not fit and self._running + len(self._idle) > self._count:
            fit = sorted(self._idle, key=lambda child: len(child.served))[:1]
        if not fit:
            return None
        self._idle.remove(fit[0])
        return fit[0]

    async def _start(self) -> ChildProcess:
        if self._closed:
            raise BackendError(FailureType.INFRASTRUCTURE, "closing", "the worker is ending")
        self._scratch.mkdir(parents=True, exist_ok=True)
        handle, log = mkstemp(prefix="child-", suffix=".log", dir=self._scratch)
        os.close(handle)
        return await ChildProcess.start(Path(log), {**self._environment, "TMPDIR": str(self._scratch)}, self._nice)

    def _put_back(self, child: ChildProcess) -> None:
        if child.gone or self._closed or child.resident > self._most_resident:
            self._end(child)
            return
        loop = asyncio.get_running_loop()
        child.idle_since = loop.time()
        self._idle.append(child)
        if self._sweep is None:
            self._sweep = loop.call_later(self._idle_s, self._end_the_idle)

    def _end_the_idle(self) -> None:
        loop = asyncio.get_running_loop()
        self._sweep = None
        for child in [child for child in self._idle if loop.time() - child.idle_since >= self._idle_s]:
            self._idle.remove(child)
            self._end(child)
        if self._idle:
            oldest = min(child.idle_since for child in self._idle)
            self._sweep = loop.call_at(oldest + self._idle_s, self._end_the_idle)

    def _end(self, child: ChildProcess) -> None:
        child.kill()
        task = asyncio.get_running_loop().create_task(child.reap())
        self._reaping.add(task)
        task.add_done_callback(self._reaping.discard)
        task.add_done_callback(lambda _: child.forget())
