"""What the holder of a home does for other commands: it makes, cancels, and whatever else the program adds.

A command that finds a home held sends its write here and is answered after commit (CONTRACT 11, embedded home). The
caller of `make` is a waiter: the holder lives until nobody waits, and when the holder ends early the caller takes the
lock itself and asks again with the same idempotency key, which gives it the same request.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Mapping
from typing import Any

import orjson

from animastor.engine.home import Answering, Message
from animastor.engine.ports import MediaProgress, NewRequest, RequestProgress, RequestRow, Scope, ScopeKind
from animastor.engine.requests import OpenedRequest, RequestEvent, Requests
from animastor.engine.states import RequestState
from animastor.protocol import BookKey


class UnknownCommandError(Exception):
    """Raised for a command that this holder does not know: the two programs are of different versions."""


class Holder:
    """Answers messages. `commands` adds to, or replaces, `make` and `cancel`."""

    def __init__(self, requests: Requests, commands: Mapping[str, Answering] | None = None) -> None:
        self._requests = requests
        self._commands: dict[str, Answering] = {"make": self._make, "cancel": self._cancel, **(commands or {})}

    async def answer(self, message: Message) -> AsyncGenerator[Message, None]:
        """The answers to one message. Raises `UnknownCommandError`, and what the command raises."""
        name = message.get("command")
        if not isinstance(name, str) or name not in self._commands:
            raise UnknownCommandError(f"the process that holds this home does not know the command {name!r}")
        answers = self._commands[name](message)
        try:
            async for answer in answers:
                yield answer
        finally:
            await answers.aclose()

    async def _make(self, message: Message) -> AsyncGenerator[Message, None]:
        """Opens a request and tells its progress until it has ended."""
        opened = await self._requests.open(request_from_json(message["request"]))
        yield {"opened": _plain(opened)}
        events = self._requests.events(opened.request.request_id)
        async for event in events:
            yield {"event": _plain(event)}

    async def _cancel(self, message: Message) -> AsyncGenerator[Message, None]:
        """Cancels a request; answered after the release of what it had running."""
        yield {"cancelled": await self._requests.cancel(int(message["request_id"]))}


def make_message(new: NewRequest) -> Message:
    """The message that hands a request over."""
    return {"command": "make", "request": _plain(new)}


def request_from_json(data: Mapping[str, Any]) -> NewRequest:
    """A request as it was handed over."""
    return NewRequest(
        book_key=BookKey(data["book_key"]),
        scope=_scope(data["scope"]),
        media=tuple(data["media"]),
        idempotency_key=data["idempotency_key"],
        kind=data["kind"],
        priority=data["priority"],
        rebuild=data["rebuild"],
    )


def opened_from_json(data: Mapping[str, Any]) -> OpenedRequest:
    """The answer `opened` as the value that it was."""
    return OpenedRequest(
        request=_row(data["request"]),
        added=tuple(data["added"]),
        disabled=tuple(data["disabled"]),
        superseded=tuple(data["superseded"]),
    )


def event_from_json(data: Mapping[str, Any]) -> RequestEvent:
    """The answer `event` as the value that it was."""
    progress = data["progress"]
    return RequestEvent(
        progress=RequestProgress(
            request=_row(progress["request"]),
            fraction=progress["fraction"],
            media=tuple(MediaProgress(**one) for one in progress["media"]),
        ),
        seconds_left=data["seconds_left"],
        expected_parts=data["expected_parts"],
    )


def _plain(value: object) -> Any:
    """A frozen value as JSON values."""
    return orjson.loads(orjson.dumps(value))


def _row(data: Mapping[str, Any]) -> RequestRow:
    return RequestRow(
        request_id=data["request_id"],
        book_key=BookKey(data["book_key"]),
        scope=_scope(data["scope"]),
        media=tuple(data["media"]),
        state=RequestState(data["state"]),
        kind=data["kind"],
        created_at=data["created_at"],
    )


def _scope(data: Mapping[str, Any]) -> Scope:
    return Scope(ScopeKind(data["kind"]), data["chapter_id"], data["scene_id"], tuple(data["unit_ids"]))
