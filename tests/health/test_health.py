"""What a serving process says of itself: exactly two questions are answered, and nothing hangs on a bad caller."""

from __future__ import annotations

import asyncio

import pytest

from animastor import health
from animastor.health import AddressError, Health, parse_address


async def _ok() -> str:
    return "ok"


async def _asked(address: tuple[str, int], text: str) -> str:
    reader, writer = await asyncio.open_connection(*address)
    writer.write(text.encode())
    answer = await reader.read()
    writer.close()
    return answer.decode()


async def _get(address: tuple[str, int], path: str, method: str = "GET") -> tuple[int, str]:
    answer = await _asked(address, f"{method} {path} HTTP/1.1\r\nHost: x\r\n\r\n")
    head, _, body = answer.partition("\r\n\r\n")
    return int(head.split(" ")[1]), body


async def test_who_reaches_everything_is_ready() -> None:
    async with Health({"database": _ok, "coordination": _ok}).listening("127.0.0.1", 0) as address:
        assert await _get(address, "/healthz") == (200, '{"process":"ok"}')
        assert await _get(address, "/readyz") == (200, '{"database":"ok","coordination":"ok"}')
        assert await _get(address, "/readyz?verbose") == (200, '{"database":"ok","coordination":"ok"}')
        assert await _get(address, "/readyz", "HEAD") == (200, "")


async def test_who_is_told_what_is_wrong_is_not_told_more(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(health, "CHECK_S", 0.01)

    async def away() -> str:
        raise ConnectionError("at postgresql://user:secret@host")

    async def silent() -> str:
        await asyncio.Event().wait()
        return "ok"

    async def low() -> str:
        return "disk_low"

    async with Health({"one": away, "two": silent, "three": low}).listening("127.0.0.1", 0) as address:
        assert await _get(address, "/readyz") == (
            503,
            '{"one":"ConnectionError","two":"no answer within 0.01 s","three":"disk_low"}',
        )
        assert (await _get(address, "/healthz"))[0] == 200


async def test_who_drains_is_alive_and_not_ready() -> None:
    made = Health({"database": _ok})
    async with made.listening("127.0.0.1", 0) as address:
        made.draining = True
        assert await _get(address, "/readyz") == (503, '{"database":"ok","process":"draining"}')
        assert (await _get(address, "/healthz"))[0] == 200


async def test_other_questions_get_their_status_and_nonsense_no_more_than_that(monkeypatch: pytest.MonkeyPatch) -> None:
    async with Health({}).listening("127.0.0.1", 0) as address:
        assert (await _get(address, "/"))[0] == 404
        assert (await _get(address, "/readyz", "POST"))[0] == 405
        assert (await _asked(address, "nonsense\r\n\r\n")).startswith("HTTP/1.1 400 ")
        assert await _asked(address, "x" * 20_000) == ""
        with monkeypatch.context() as patience:
            patience.setattr(health, "HEAD_S", 0.2)
            assert await _asked(address, "GET /readyz") == ""  # it never ends: closed after a while
        assert (await _get(address, "/healthz"))[0] == 200


@pytest.mark.parametrize(
    ("text", "address"),
    [("127.0.0.1:80", ("127.0.0.1", 80)), (":8080", ("", 8080)), ("[::1]:1", ("::1", 1)), ("host:0", ("host", 0))],
)
def test_addresses_are_read(text: str, address: tuple[str, int]) -> None:
    assert parse_address(text) == address


@pytest.mark.parametrize("text", ["8080", "host", "host:", "host:x", "host:70000", "host:-1"])
def test_what_is_no_address_is_refused_in_a_sentence(text: str) -> None:
    with pytest.raises(AddressError, match="write host:port"):
        parse_address(text)


async def test_an_address_that_is_taken_is_named() -> None:
    async with Health({}).listening("127.0.0.1", 0) as (host, port):
        with pytest.raises(AddressError, match=f"127.0.0.1:{port} cannot be listened at"):
            async with Health({}).listening(host, port):
                raise AssertionError("it listens twice")
