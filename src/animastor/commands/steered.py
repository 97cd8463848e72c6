"""The errand of `animastor pause`, `resume`, `prioritize` and `position`: unfinished requests go on otherwise."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from animastor.app import Driving
from animastor.commands import messages
from animastor.commands.importing import stored_book
from animastor.commands.messages import Tell
from animastor.commands.naming import called
from animastor.commands.places import Numbers, numbers_of
from animastor.commands.selection import scope_of
from animastor.engine.ports import BookRow, Scope, Steer

PRIORITIES: Mapping[str, int] = {"low": -1, "normal": 0, "high": 1}


@dataclass(frozen=True, slots=True)
class Steering:
    """What was asked for. `requests`: those that there were when it was asked. `position` and `now`: CHAPTER/SCENE."""

    book: str
    requests: tuple[int, ...]
    paused: bool | None = None
    priority: str | None = None
    position: str | None = None
    ahead: int | None = None
    now: str | None = None


async def steer(drive: Driving, told: Mapping[str, Any], tell: Tell) -> None:
    """Steer, and say what is otherwise now. Raises `CommandError`."""
    asked = Steering(**told)
    row = await stored_book(drive.reading.storage, asked.book)
    position, now = [await _place(drive, row, one) for one in (asked.position, asked.now)]
    priority = None if asked.priority is None else PRIORITIES[asked.priority]
    of = Steer(row.book_key, tuple(asked.requests), asked.paused, priority, position, asked.ahead, now)
    changed = await drive.engine.requests.steer(of)
    numbers = await numbers_of(drive.reading.storage, row)
    said = _sentence(asked, of, called(row), numbers, changed=bool(changed))
    tell(messages.result(said=said, book=row.book_id, changed=list(changed)))


async def _place(drive: Driving, row: BookRow, text: str | None) -> Scope | None:
    return None if text is None else await scope_of(drive.reading.storage, row, f"scene:{text}")


def _sentence(asked: Steering, of: Steer, book: str, numbers: Numbers, *, changed: bool) -> str:
    if not asked.requests:
        return f"Nothing is being made of {book}: nothing was changed."
    if of.paused is not None:
        return _paused(asked, book, changed)
    already = "" if changed else " already"
    if of.now is not None:
        return f"Scene {_name(of.now, numbers)} of {book} is{already or ' now'} made before everything else."
    if of.position is not None:
        reach = "" if not of.ahead else f", {of.ahead} scene{'s' * (of.ahead > 1)} far"
        where = f"{_name(of.position, numbers)}{already or ' now'}"
        return f"The reader of {book} is at scene {where}: what lies ahead is made first{reach}."
    return f"{book} has {asked.priority} priority{already or ' now'}."


def _paused(asked: Steering, book: str, changed: bool) -> str:
    if not changed:
        return f"{book} is paused already." if asked.paused else f"Nothing of {book} is paused."
    if asked.paused:
        return (
            f"Paused: {book}. What is being made at this moment is finished; `animastor resume {asked.book}` goes on."
        )
    return f"Resumed: {book}."


def _name(scope: Scope, numbers: Numbers) -> str:
    return numbers.scene(scope.chapter_id, scope.scene_id)
