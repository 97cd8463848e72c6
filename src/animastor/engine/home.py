"""Who drives a home: an exclusive lock that the kernel frees, and a socket on which the holder answers other commands.

One process at a time holds the lock of a home (CONTRACT 11, embedded home). It listens on a unix socket; whoever
finds the lock taken sends one message there and gets messages back until the answer ends. A message is one line of
JSON. This module knows nothing of what is said: `holder` does.
"""

from __future__ import annotations

import asyncio
import fcntl
import os
import shutil
import socket
import tempfile
from collections.abc import AsyncGenerator, AsyncIterator, Callable
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import Any, Self, TypeAlias

import orjson

Message: TypeAlias = dict[str, Any]
Answering: TypeAlias = Callable[[Message], AsyncGenerator[Message, None]]

LOCK = "lock"
SOCKET = "holder.sock"
ADDRESS = "holder.address"  # where the socket really is
LONGEST_ADDRESS = 100  # bytes; the kernels' limits are 104 to 108
LARGEST_MESSAGE = 16 * 2**20
TEMPORARY = "animastor-"


class HolderGoneError(Exception):
    """Raised when nobody answers for a home (any more): the lock may be free now, and the question be asked again."""

    def __init__(self, home: Path) -> None:
        super().__init__(f"the process that was working on {home} has ended")


class HolderRefusedError(Exception):
    """Raised when the holder answers with an error; the text is its sentence."""


class HomeLock:
    """The exclusive lock of a home. It ends with the process, however that ends; a forked child does not inherit it."""

    def __init__(self, home: Path) -> None:
        self._path = home / LOCK
        self._file: int | None = None
        os.register_at_fork(after_in_child=self._drop)

    @property
    def held(self) -> bool:
        """Whether this object holds the lock."""
        return self._file is not None

    def acquire(self) -> bool:
        """Take the lock if nobody else has it; at once. Raises `OSError` when the home cannot be written."""
        while self._file is None:
            self._path.parent.mkdir(parents=True, exist_ok=True)
            try:
                file = os.open(self._path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except FileNotFoundError:  # a home that was made for nothing has just been removed
                continue
            except BlockingIOError:
                os.close(file)
                return False
            if os.fstat(file).st_nlink:
                self._file = file
            else:  # removed between opening and locking: the lock of this home is another file by now
                os.close(file)
        return True

    def release(self) -> None:
        """Let go of it."""
        if self._file is not None:
            fcntl.flock(self._file, fcntl.LOCK_UN)
            self._drop()

    def _drop(self) -> None:
        if self._file is not None:
            os.close(self._file)
            self._file = None


class HomeServer:
    """Listens for other commands while this process holds the home's lock. Use with `async with`.

    `answer` is called with each message; what it yields is sent back. It is closed when the caller goes away. Its
    exceptions become the caller's `HolderRefusedError`.
    """

    def __init__(self, home: Path, answer: Answering) -> None:
        self._home = home
        self._answer = answer
        self._server: asyncio.Server | None = None
        self._calls: set[asyncio.Task[None]] = set()
        self._quiet = asyncio.Event()
        self._quiet.set()

    async def __aenter__(self) -> Self:
        _remove_address(self._home)
        address = _new_address(self._home)
        self._server = await asyncio.start_unix_server(self._serve, sock=_bound(address), limit=LARGEST_MESSAGE)
        temporary = self._home / f"{ADDRESS}.new"
        temporary.write_bytes(os.fsencode(address))
        temporary.replace(self._home / ADDRESS)
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        assert self._server is not None, "the server was entered"
        _remove_address(self._home)
        self._server.close()
        for call in self._calls:
            call.cancel()
        await asyncio.gather(*self._calls, return_exceptions=True)

    @property
    def quiet(self) -> bool:
        """Whether nobody is being answered."""
        return self._quiet.is_set()

    async def until_quiet(self) -> None:
        """Return when nobody is being answered."""
        await self._quiet.wait()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        call = asyncio.current_task()
        assert call is not None, "the server calls from a task"
        self._calls.add(call)
        self._quiet.clear()
        try:
            with suppress(OSError, ValueError, asyncio.CancelledError):  # ValueError: what was said is no message
                await self._converse(reader, writer)
        finally:
            writer.close()
            self._calls.discard(call)
            if not self._calls:
                self._quiet.set()

    async def _converse(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        line = await reader.readline()
        if not line:
            return
        telling = asyncio.ensure_future(self._tell(orjson.loads(line), writer))
        leaving = asyncio.ensure_future(reader.read(1))  # a caller says nothing more: this ends when it goes away
        try:
            await asyncio.wait((telling, leaving), return_when=asyncio.FIRST_COMPLETED)
        finally:
            for task in (telling, leaving):
                task.cancel()
            await asyncio.gather(telling, leaving, return_exceptions=True)

    async def _tell(self, message: Message, writer: asyncio.StreamWriter) -> None:
        answers = self._answer(message)
        try:
            async for answer in answers:
                await _send(writer, {"answer": answer})
            await _send(writer, {"end": True})
        except OSError:
            raise
        except Exception as error:  # noqa: BLE001 - told to the caller, who asked
            await _send(writer, {"error": str(error) or type(error).__name__})
        finally:
            await answers.aclose()


def address_of(home: Path) -> str:
    """Where the holder of a home listens. Raises `OSError` when there is none."""
    return os.fsdecode((home / ADDRESS).read_bytes())


async def ask(home: Path, message: Message) -> AsyncIterator[Message]:
    """Send a message to the holder of a home and yield its answers until their end.

    Raises `HolderGoneError` when there is no holder or it goes away before the end, `HolderRefusedError` when it
    answers with an error.
    """
    try:
        reader, writer = await asyncio.open_unix_connection(address_of(home), limit=LARGEST_MESSAGE)
    except OSError as error:
        raise HolderGoneError(home) from error
    try:
        await _send(writer, message)
        while (line := await reader.readline()).endswith(b"\n"):  # else the holder died in the middle of a line
            said = orjson.loads(line)
            if "error" in said:
                raise HolderRefusedError(said["error"])
            if "end" in said:
                return
            yield said["answer"]
    except OSError as error:
        raise HolderGoneError(home) from error
    finally:
        writer.close()
    raise HolderGoneError(home)


async def _send(writer: asyncio.StreamWriter, message: Message) -> None:
    writer.write(orjson.dumps(message) + b"\n")
    await writer.drain()


def _new_address(home: Path) -> Path:
    """A path for the socket that is short enough: in the home, else in a new private folder for temporary files."""
    address = (home / SOCKET).absolute()
    if len(os.fsencode(address)) <= LONGEST_ADDRESS:
        return address
    for folder in (tempfile.gettempdir(), "/tmp"):  # noqa: S108 - mkdtemp makes a folder that only we can enter
        if len(os.fsencode(folder)) + len(SOCKET) + 20 <= LONGEST_ADDRESS:
            return Path(tempfile.mkdtemp(prefix=TEMPORARY, dir=folder)) / SOCKET
    raise OSError(f"the path of {home} is too long for a socket, and so is that of the folder for temporary files")


def _bound(address: Path) -> socket.socket:
    """A socket at this path that has always been its owner's alone."""
    listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    before = os.umask(0o077)  # nobody else's from the first moment; owners' bits stay, for files of other threads
    try:
        os.fchmod(listener.fileno(), 0o600)  # Linux takes the mode from here
        listener.bind(str(address))
        address.chmod(0o600)
    except OSError:
        listener.close()
        raise
    finally:
        os.umask(before)
    return listener


def _remove_address(home: Path) -> None:
    """Remove the socket of the last holder, which may have died without doing so."""
    note = home / ADDRESS
    with suppress(FileNotFoundError):
        address = Path(os.fsdecode(note.read_bytes()))
        note.unlink()
        if address.name == SOCKET and address.parent.name.startswith(TEMPORARY):
            shutil.rmtree(address.parent, ignore_errors=True)
        elif address == (home / SOCKET).absolute():
            address.unlink(missing_ok=True)
    (home / SOCKET).unlink(missing_ok=True)
