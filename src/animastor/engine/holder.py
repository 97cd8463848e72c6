"""The holder of a home answers other commands; which commands there are, the program says.

A command that finds a home held sends its write here and is answered after commit (CONTRACT 11, embedded home). The
caller of `make` is a waiter: the holder lives until nobody waits, and when the holder ends early the caller takes the
lock itself and asks again with the same idempotency key, which gives it the same request.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Mapping
from typing import Any

from animastor.engine.home import Answering, Message
from animastor.engine.ports import MediaProgress, RequestProgress, RequestRow, Scope, ScopeKind
from animastor.engine.requests import RequestEvent
from animastor.engine.states import RequestState
from animastor.protocol import BookKey


class UnknownCommandError(Exception):
    """Raised for a command that this holder does not know: the two programs are of different versions."""


class Holder:
    """Answers messages by the command that each names."""

    def __init__(self, commands: Mapping[str, Answering]) -> None:
        self._commands = commands

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


def event_from_json(data: Mapping[str, Any]) -> RequestEvent:
    """The answer `event` as the value that it was."""
    progress = data["progress"]
    return RequestEvent(
        progress=RequestProgress(
            request=_row(progress["request"]),
            fraction=progress["fraction"],
            media=tuple(MediaProgress(**one) for one in progress["media"]),
            idle=progress["idle"],
        ),
        seconds_left=data["seconds_left"],
        expected_parts=data["expected_parts"],
    )


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
