"""One child process as its parent sees it: started, given one order at a time, watched, ended, reaped."""

from __future__ import annotations

import asyncio
import os
import signal
import socket
import subprocess
import sys
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from animastor.protocol import FailureType
from animastor.workers import failures
from animastor.workers.backend import BackendError, Produced, Progress
from animastor.workers.frames import FrameError, Unpacker, pack
from animastor.workers.work import Work

_LAST_WORDS = 4096  # bytes of a dead child's log that are looked at
_LOOK_S = 1.0  # how often limits are looked at, at most
_GROWN = 1e-6  # what output that grows adds to the progress, so that whoever hears of that alone knows that it moves
_REAP_S = 10.0  # a killed process that is not gone by then is stuck in the kernel


class ChildGoneError(Exception):
    """Raised when the child's end of the channel closed: it died, or is not there any more."""


class ChildProcess(asyncio.Protocol):
    """A child. `served` are the profiles that it has worked for; `resident` its memory in bytes after the last order.

    Must be started in the thread of the event loop: on Linux the child dies with the thread that started it.
    """

    def __init__(self, process: subprocess.Popen[bytes], log: Path) -> None:
        self.served: set[str] = set()
        self.resident = 0
        self.idle_since = 0.0
        self._process = process
        self._log = log
        self._unpacker = Unpacker()
        self._transport: asyncio.Transport | None = None
        self._answer: asyncio.Future[Mapping[str, Any]] | None = None
        self._watch: _Watch | None = None
        self._taken = False  # it has begun with the order
        self._gone = False
        self._killed = False

    @classmethod
    async def start(cls, log: Path, environment: Mapping[str, str], nice: int) -> ChildProcess:
        """Start one. Its output goes to the file `log`. Raises `OSError`."""
        ours, its = socket.socketpair()
        try:
            with its, log.open("ab") as output:
                process = _spawn(its.fileno(), output.fileno(), environment, nice)
        except BaseException:
            ours.close()
            raise
        child = cls(process, log)
        ours.setblocking(False)
        await asyncio.get_running_loop().create_connection(lambda: child, sock=ours)
        return child

    @property
    def pid(self) -> int:
        """Its process id, which is also that of its group."""
        return self._process.pid

    @property
    def gone(self) -> bool:
        """It takes no more orders."""
        return self._gone

    async def perform(self, work: Work, progress: Progress) -> Produced:
        """Give it an order and wait for the answer. Broken limits end the child, and so does cancelling the caller.

        Raises:
            BackendError: the backend's, a broken limit, or how the child died.
            ChildGoneError: it had worked before, and was gone before it took this order.
        """
        if self._gone or self._transport is None:
            raise ChildGoneError
        frame, loop = pack(_order(work)), asyncio.get_running_loop()
        self._answer, self._taken = loop.create_future(), False
        self._watch = _Watch(self, work, progress, loop)
        try:
            self._transport.write(frame)
            answer = await self._answer
        except ChildGoneError:
            verdict = self._watch.verdict
            self.kill()
            if self.served and not self._taken and verdict is None:
                raise  # it died while it was idle, and its end had not been heard of
            code = await self.reap()
            raise verdict or failures.of_end(code, self._last_words()) from None
        except BaseException:
            self.kill()
            raise
        finally:
            self._watch.end()
            self._answer = self._watch = None
        self.served.add(work.profile)
        self.resident = answer["resident"]
        return _produced(answer)

    def kill(self) -> None:
        """End it and everything in its process group, now, also when it is dead already. May be repeated."""
        self._gone = True
        if self._killed:
            return
        self._killed = True
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(self._process.pid, signal.SIGKILL)  # not reaped yet, so its number is nobody else's
        if self._transport is not None:
            self._transport.abort()

    async def reap(self) -> int:
        """Wait until a child that was killed is no more; its exit code as `Popen.returncode`."""
        return await asyncio.to_thread(_wait, self._process)

    def forget(self) -> None:
        """Remove its log."""
        self._log.unlink(missing_ok=True)

    # asyncio.Protocol ---------------------------------------------------------------------------------------------

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """The channel is open."""
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport

    def data_received(self, data: bytes) -> None:
        """It says something: progress, or its answer."""
        try:
            for message in self._unpacker.feed(data):
                self._hear(message)
        except FrameError as error:
            if self._watch is not None:
                self._watch.verdict = BackendError(FailureType.TRANSIENT, "channel", str(error))
            self.kill()

    def connection_lost(self, exc: Exception | None) -> None:
        """It is gone, or about to be."""
        self._gone = True
        if self._answer is not None and not self._answer.done():
            self._answer.set_exception(ChildGoneError())

    def _hear(self, message: Mapping[str, Any]) -> None:
        if "taken" in message:
            self._taken = True
        elif "progress" in message:
            if self._watch is not None:
                self._watch.heard(message["progress"])
        elif self._answer is not None and not self._answer.done():
            self._answer.set_result(message)

    def _last_words(self) -> str:
        try:
            with self._log.open("rb") as log:
                log.seek(max(0, os.fstat(log.fileno()).st_size - _LAST_WORDS))
                return log.read().decode("utf-8", "replace")
        except OSError:
            return ""


class _Watch:
    """Looks at a running order now and then; ends its child when it breaks a limit, and remembers why."""

    def __init__(self, child: ChildProcess, work: Work, progress: Progress, loop: asyncio.AbstractEventLoop) -> None:
        self.verdict: BackendError | None = None
        self._child, self._work, self._progress, self._loop = child, work, progress, loop
        self._began = self._moved = loop.time()
        self._size = 0
        self._told = 0.0
        self._every = min(_LOOK_S, work.limits.idle_s / 4, work.limits.hard_s / 4)
        self._next = loop.call_later(self._every, self._look)

    def heard(self, value: float) -> None:
        """Its progress has grown."""
        self._moved = self._loop.time()
        self._told = max(self._told, value)
        self._progress(self._told)

    def end(self) -> None:
        """The order is over."""
        self._next.cancel()

    def _look(self) -> None:
        now, size, limits = self._loop.time(), size_of(self._work.folder), self._work.limits
        if size != self._size:
            self._size = size
            self.heard(self._told + _GROWN)
        if size > limits.output_bytes:
            self.verdict = failures.too_large(limits.output_bytes)
        elif now - self._moved >= limits.idle_s:
            self.verdict = failures.no_progress(limits.idle_s)
        elif now - self._began >= limits.hard_s:
            self.verdict = failures.too_long(limits.hard_s)
        if self.verdict is not None:
            self._child.kill()
        else:
            self._next = self._loop.call_later(self._every, self._look)


def size_of(folder: Path) -> int:
    """Bytes of all files in a folder and below; what disappears meanwhile counts for nothing."""
    total = 0
    try:
        with os.scandir(folder) as entries:
            for entry in entries:
                with suppress(OSError):
                    is_folder = entry.is_dir(follow_symlinks=False)
                    total += size_of(Path(entry.path)) if is_folder else entry.stat(follow_symlinks=False).st_size
    except OSError:
        return total
    return total


def _spawn(channel: int, output: int, environment: Mapping[str, str], nice: int) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        [sys.executable, "-m", "animastor.workers.child", str(channel), str(os.getpid()), str(nice)],
        stdin=subprocess.DEVNULL,
        stdout=output,
        stderr=output,
        pass_fds=(channel,),
        start_new_session=True,  # a group of its own, to be ended as one; no interrupts from the terminal
        env=dict(environment),
    )


def _wait(process: subprocess.Popen[bytes]) -> int:
    try:
        return process.wait(_REAP_S)
    except subprocess.TimeoutExpired:
        return -signal.SIGKILL


def _order(work: Work) -> dict[str, Any]:
    return {
        "function": work.function,
        "media": work.order.media,
        "kind": work.order.kind,
        "structure": work.order.structure,
        "inputs": work.order.inputs,
        "ordered": work.order.ordered,
        "workdir": work.folder,
        "claim": work.claim,
    }


def _produced(answer: Mapping[str, Any]) -> Produced:
    if "failed" in answer:
        type_, code, message, retry_after_s = answer["failed"]
        raise BackendError(FailureType(type_), code, message, retry_after_s=retry_after_s)
    return Produced(Path(answer["made"]), answer["notes"])
