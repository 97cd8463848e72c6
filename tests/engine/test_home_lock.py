"""One process drives a home; the others ask it (engine.home, CONTRACT 11)."""

from __future__ import annotations

import asyncio
import os
import signal
import stat
import subprocess
import sys
from collections.abc import AsyncGenerator
from pathlib import Path
from typing import Any

import pytest

from animastor.engine.home import (
    ADDRESS,
    SOCKET,
    HolderGoneError,
    HolderRefusedError,
    HomeLock,
    HomeServer,
    Message,
    address_of,
    ask,
)

HOLD = """
import sys, time
from pathlib import Path
from animastor.engine.home import HomeLock
assert HomeLock(Path(sys.argv[1])).acquire()
print("held", flush=True)
time.sleep(60)
"""


@pytest.fixture
def home(tmp_path: Path) -> Path:
    return tmp_path / "home"


def test_a_home_is_held_by_one_at_a_time(home: Path) -> None:
    first, second = HomeLock(home), HomeLock(home)
    assert first.acquire()
    assert not second.acquire()
    first.release()
    assert second.acquire()
    second.release()


def test_the_socket_is_its_owners_alone_before_anybody_can_be_answered(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    home.mkdir()
    modes: list[int] = []
    start = asyncio.start_unix_server

    async def starting(*args: Any, **more: Any) -> asyncio.Server:
        server = await start(*args, **more)
        modes.append(stat.S_IMODE((home / SOCKET).stat().st_mode))
        return server

    async def nothing(message: Message) -> AsyncGenerator[Message, None]:
        yield message

    async def serve() -> None:
        monkeypatch.setattr(asyncio, "start_unix_server", starting)
        async with HomeServer(home, nothing):
            pass

    asyncio.run(serve())
    assert modes == [0o600]


def test_a_killed_holder_frees_its_home(home: Path) -> None:
    with subprocess.Popen([sys.executable, "-c", HOLD, str(home)], stdout=subprocess.PIPE) as holder:
        assert holder.stdout is not None
        assert holder.stdout.readline() == b"held\n"
        lock = HomeLock(home)
        assert not lock.acquire()
        holder.send_signal(signal.SIGKILL)
        holder.wait()
        assert lock.acquire()
        lock.release()


def test_a_forked_child_does_not_keep_the_home(home: Path) -> None:
    lock = HomeLock(home)
    assert lock.acquire()
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(writing)
        os.read(reading, 1)  # lives until the parent closes its end
        os._exit(0)
    os.close(reading)
    try:
        lock.release()
        assert HomeLock(home).acquire()
    finally:
        os.close(writing)
        os.waitpid(child, 0)


async def _count(message: Message) -> AsyncGenerator[Message, None]:
    for number in range(message["to"]):
        yield {"number": number}


async def test_a_question_is_answered_until_its_end(home: Path) -> None:
    home.mkdir()
    async with HomeServer(home, _count):
        assert [answer["number"] async for answer in ask(home, {"to": 3})] == [0, 1, 2]


async def test_without_a_holder_nobody_answers(home: Path) -> None:
    with pytest.raises(HolderGoneError, match="has ended"):
        await anext(ask(home, {"to": 3}))


async def test_a_holder_that_died_leaves_a_socket_that_the_next_one_replaces(home: Path) -> None:
    home.mkdir()
    (home / "holder.sock").touch()
    (home / "holder.address").write_bytes(os.fsencode(home / "holder.sock"))
    with pytest.raises(HolderGoneError):
        await anext(ask(home, {"to": 1}))
    async with HomeServer(home, _count):
        assert [answer async for answer in ask(home, {"to": 1})] == [{"number": 0}]


async def test_an_error_of_the_holder_is_the_callers_sentence(home: Path) -> None:
    async def refuse(message: Message) -> AsyncGenerator[Message, None]:
        yield {}
        raise ValueError("there is no such book")

    home.mkdir()
    async with HomeServer(home, refuse):
        answers = ask(home, {})
        await anext(answers)
        with pytest.raises(HolderRefusedError, match="there is no such book"):
            await anext(answers)


async def test_a_holder_that_ends_in_the_middle_tells_its_callers(home: Path) -> None:
    async def forever(message: Message) -> AsyncGenerator[Message, None]:
        yield {"begun": True}
        await asyncio.Event().wait()

    home.mkdir()
    async with HomeServer(home, forever):
        answers = ask(home, {})
        assert await anext(answers) == {"begun": True}
    with pytest.raises(HolderGoneError):
        await anext(answers)


async def test_a_holder_lives_until_nobody_waits(home: Path) -> None:
    ended = asyncio.Event()

    async def forever(message: Message) -> AsyncGenerator[Message, None]:
        try:
            yield {"begun": True}
            await asyncio.Event().wait()
        finally:
            ended.set()

    home.mkdir()
    async with HomeServer(home, forever) as server:
        await server.until_quiet()
        answers = ask(home, {})
        await anext(answers)
        quiet = asyncio.ensure_future(server.until_quiet())
        await asyncio.sleep(0)
        assert not quiet.done()
        await answers.aclose()  # the waiter goes away
        await quiet
        assert ended.is_set()


async def test_a_home_with_a_long_path_can_be_asked(tmp_path: Path) -> None:
    home = tmp_path / ("deep" * 15) / ("deeper" * 15)
    home.mkdir(parents=True)
    async with HomeServer(home, _count):
        address = Path(os.fsdecode((home / "holder.address").read_bytes()))
        assert home not in address.parents
        assert [answer async for answer in ask(home, {"to": 1})] == [{"number": 0}]
    assert not address.parent.exists()


async def test_a_large_message_arrives_whole(home: Path) -> None:
    async def size(message: Message) -> AsyncGenerator[Message, None]:
        yield {"size": len(message["text"])}

    home.mkdir()
    async with HomeServer(home, size):
        assert [answer async for answer in ask(home, {"text": "x" * 200_000})] == [{"size": 200_000}]


async def test_a_holder_that_dies_in_the_middle_of_an_answer_is_gone(home: Path) -> None:
    home.mkdir()

    async def half(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readline()
        writer.write(b'{"answer": {"number": 1}}\n{"answer": {"num')
        writer.close()

    address = home / SOCKET
    async with await asyncio.start_unix_server(half, address):
        (home / ADDRESS).write_bytes(os.fsencode(address))
        answers = ask(home, {"to": 3})
        assert await anext(answers) == {"number": 1}
        with pytest.raises(HolderGoneError):
            await anext(answers)


async def test_what_is_no_message_ends_the_call_and_nothing_else(home: Path) -> None:
    home.mkdir()
    async with HomeServer(home, _count):
        reader, writer = await asyncio.open_unix_connection(address_of(home))
        writer.write(b"hello\n")
        assert await reader.read() == b""
        writer.close()
        assert [answer["number"] async for answer in ask(home, {"to": 1})] == [0]
