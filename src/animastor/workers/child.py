"""The inside of a child process: it takes orders from its parent, calls the backend that each names, and answers.

`python -m animastor.workers.child FD PARENT NICE`, FD being one end of a socket pair. One order at a time; models that
a backend has loaded stay loaded for the next. It leads a process group of its own, so that what it starts ends with
it, and it does not outlive its parent: on Linux the kernel sees to that, and everywhere the closed socket does.
Interrupts from a terminal are the parent's to answer. Whatever libraries print goes to the log that the parent gave.
"""

from __future__ import annotations

import faulthandler
import json
import os
import signal
import socket
import sys
import tempfile
import threading
import time
import traceback
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import cache
from importlib import import_module
from pathlib import Path
from queue import SimpleQueue
from typing import Any

from animastor.protocol import FailureType
from animastor.workers import failures, receipts
from animastor.workers.backend import Backend, BackendError, Order, Produced
from animastor.workers.frames import Unpacker, pack

LOG_VARIABLE = "ANIMASTOR_BACKEND_LOG"  # an environment variable, as `config.Settings` documents it
_PROGRESS_S = 0.2  # the least time between two reports
_LOG_BYTES = 64 * 1024  # a longer log is emptied before the next order
_PR_SET_PDEATHSIG = 1  # linux/prctl.h


class _Channel:
    """The socket to the parent. Backends may report from threads of their own."""

    def __init__(self, ends_at: socket.socket) -> None:
        self._socket = ends_at
        self._lock = threading.Lock()

    def say(self, message: Mapping[str, Any]) -> None:
        frame = pack(message)
        with self._lock:
            self._socket.sendall(frame)

    def listen(self, orders: SimpleQueue[Any]) -> None:
        """Pass on what the parent says; when it is gone, end everything in this group at once."""
        unpacker = Unpacker()
        try:
            while piece := self._socket.recv(65536):
                for order in unpacker.feed(piece):
                    orders.put(order)
        finally:
            os.killpg(0, signal.SIGKILL)


class _Reporter:
    """The progress of one order: told to the parent when it has grown, and not more often than is of use."""

    def __init__(self, channel: _Channel) -> None:
        self._channel = channel
        self._value = -1.0
        self._at = 0.0

    def __call__(self, value: float) -> None:
        now = time.monotonic()
        if value > self._value and now - self._at >= _PROGRESS_S:
            self._value, self._at = value, now
            self._channel.say({"progress": float(value)})


def main() -> None:
    """Serve until the parent is gone."""
    fd, parent, nice = map(int, sys.argv[1:4])
    _end_with(parent)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    os.nice(nice)
    faulthandler.enable()
    os.set_inheritable(fd, False)
    channel = _Channel(socket.socket(fileno=fd))
    orders: SimpleQueue[Any] = SimpleQueue()
    threading.Thread(target=channel.listen, args=(orders,), name="parent", daemon=True).start()
    while True:
        _serve(orders.get(), channel)


def _end_with(parent: int) -> None:
    """Die when the parent dies, also if it died before this line."""
    if sys.platform == "linux":
        import ctypes

        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
    if os.getppid() != parent:
        os._exit(1)


def _serve(told: Mapping[str, Any], channel: _Channel) -> None:
    channel.say({"taken": True})  # from here on its death is this order's
    _shorten_log()
    try:
        made = _make(told, _Reporter(channel))
        answer: dict[str, Any] = {"made": made.path, "notes": made.notes, "resident": _resident()}
        channel.say(answer)
    except Exception as error:  # noqa: BLE001 - the boundary: whatever a backend raises is an answer
        traceback.print_exc()
        failure = failures.of_exception(error)
        failed = [failure.type, failure.code, failure.message, failure.retry_after_s]
        channel.say({"failed": failed, "resident": _resident()})


def _make(told: Mapping[str, Any], progress: _Reporter) -> Produced:
    workdir = Path(told["workdir"])
    tempfile.tempdir = told["workdir"]
    order = Order(
        media=told["media"],
        kind=told["kind"],
        structure=told["structure"],
        inputs={checksum: Path(path) for checksum, path in told["inputs"].items()},
        ordered=tuple(told["ordered"]),
    )
    backend = _backend(told["function"])
    with _logged(told):
        made = backend(order, workdir, progress)
        if told["claim"] is not None:
            receipts.write(workdir, made.path, made.notes, told["claim"])
    return made


@contextmanager
def _logged(told: Mapping[str, Any]) -> Iterator[None]:
    """Append a line when a backend starts and when its work is safe, in a file that the setting `backend_log` names.

    A line is one write to a file opened for appending, so those of several children stand whole beside each other.
    """
    claim = told["claim"]
    if LOG_VARIABLE not in os.environ or claim is None:
        yield
        return
    job = claim["job"]
    line = {"hash": job["input_hash"], "kind": job["kind"], "claim": claim["claim_no"], "pid": os.getpid()}
    _append({"event": "start", **line, "time": time.time()})
    try:
        yield
    finally:
        _append({"event": "end", **line, "time": time.time()})


def _append(line: Mapping[str, Any]) -> None:
    log = os.open(os.environ[LOG_VARIABLE], os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
    try:
        os.write(log, json.dumps(line).encode() + b"\n")
    finally:
        os.close(log)


@cache
def _backend(named: str) -> Backend:
    module, _, function = named.partition(":")
    try:
        found: Backend = getattr(import_module(module), function)
    except (ImportError, AttributeError) as error:
        message = f"the backend {named} cannot be loaded: {error}"
        raise BackendError(FailureType.MISCONFIGURED, "backend_missing", message) from error
    return found


def _shorten_log() -> None:
    """The log is for the last words of a child that dies; it is appended to, so emptying it is safe."""
    if os.fstat(2).st_size > _LOG_BYTES:
        os.ftruncate(2, 0)


def _resident() -> int:
    """The memory of this process, in bytes; the most that it ever was where the present is not told."""
    try:
        pages = Path("/proc/self/statm").read_text(encoding="ascii").split()[1]
        return int(pages) * os.sysconf("SC_PAGE_SIZE")
    except OSError:
        import resource

        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1024)


if __name__ == "__main__":
    main()
