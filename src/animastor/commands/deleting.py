"""The errand of `animastor delete`, and the question before it."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any

from animastor.app import Driving
from animastor.commands import messages
from animastor.commands.errors import CommandError, Exit
from animastor.commands.homes import looking
from animastor.commands.importing import stored_book
from animastor.commands.messages import Tell
from animastor.commands.naming import called
from animastor.commands.places import Numbers, numbers_of, unit_numbers, unit_of, unit_unknown
from animastor.commands.selection import scope_of
from animastor.config import Settings
from animastor.engine.deleting import Deleted, NothingLeftError, without
from animastor.engine.ports import BookRow, Scope, ScopeKind
from animastor.protocol import BookKey


@dataclass(frozen=True, slots=True)
class Removing:
    """What `animastor delete` was asked for. `scope` and `units` empty: the whole book.

    `key` and `what` are found before it is handed over: repeated after a holder died, it is still about the same book.
    """

    book: str
    scope: str = ""
    units: tuple[str, ...] = ()
    key: int = 0
    what: str = ""


async def resolved(settings: Settings, asked: Removing) -> Removing:
    """With the book's key, and what it is in words. Raises `CommandError` for what is not there."""
    async with looking(settings) as opened:
        row = await stored_book(opened.storage, asked.book)
        if asked.scope or asked.units:
            scope = await scope_of(opened.storage, row, asked.scope)
            _check(scope, asked)
            units = [await unit_of(opened.storage, row, one) for one in asked.units]
            numbers = await unit_numbers(opened.storage, row)
            if unknown := [one for one in units if one not in numbers]:
                raise unit_unknown(row, unknown[0])
            try:
                without(await opened.storage.load_book(row.book_key), scope, units)
            except NothingLeftError as error:
                raise _refused(error) from error
            what = _part(scope, [numbers[one] for one in units], await numbers_of(opened.storage, row))
            asked = replace(asked, scope=_by_ids(scope), units=tuple(units), what=f"{what} of {called(row)}")
    return replace(asked, book=row.book_id, key=row.book_key, what=asked.what or _whole(row))


def _by_ids(scope: Scope) -> str:
    """A scope in ids: repeated, a number would name the next one."""
    if scope.kind is ScopeKind.WHOLE_BOOK:
        return ""
    return f"{scope.kind}:{'/'.join(one for one in (scope.chapter_id, scope.scene_id) if one)}"


def _part(scope: Scope, units: Sequence[str], numbers: Numbers) -> str:
    """What is deleted of a book, in words."""
    if units:
        return f"unit{'s' * (len(units) > 1)} {', '.join(units)}"
    if scope.kind is ScopeKind.SCENE:
        return f"scene {numbers.scene(scope.chapter_id, scope.scene_id)}"
    return f"chapter {numbers.chapter(scope.chapter_id)}"


def confirmed(what: str) -> bool:
    """Ask the person at the terminal. Raises `CommandError` where there is none to ask."""
    if not (sys.stdin.isatty() and sys.stderr.isatty()):
        raise CommandError(
            Exit.USAGE, "confirmation_missing", f"Deleting {what} cannot be undone: add --yes to do it without asking."
        )
    print(f"Delete {what}, with everything that was made of it? This cannot be undone. [y/N] ", end="", file=sys.stderr)
    sys.stderr.flush()
    return sys.stdin.readline().strip().lower() in ("y", "yes")


async def delete(drive: Driving, told: Mapping[str, Any], tell: Tell) -> None:
    """Delete, and answer when nothing of it is left. Raises `CommandError`."""
    asked = Removing(**{**told, "units": tuple(told["units"])})
    deleted = await _deleted(drive, asked)
    await drive.engine.planned()
    held = sum(one.held for one in await drive.reading.storage.unused())
    tell(
        messages.result(
            said=_sentence(asked.what, deleted, held),
            book=asked.book,
            scenes=deleted.scenes,
            stopped=deleted.stopped,
            artifacts=deleted.artifacts,
        )
    )


async def _deleted(drive: Driving, asked: Removing) -> Deleted:
    """What is gone already, as the command was interrupted after that, counts for nothing."""
    storage, deletion = drive.reading.storage, drive.engine.deletion
    if not asked.scope and not asked.units:
        return await deletion.book(BookKey(asked.key))
    for row in await storage.books():
        if row.book_key == asked.key:
            with suppress(NothingLeftError, CommandError):
                return await deletion.part(row, await scope_of(storage, row, asked.scope), asked.units)
    return Deleted(0, 0, 0)


def _check(scope: Scope, asked: Removing) -> None:
    if asked.units and scope.kind is not ScopeKind.WHOLE_BOOK:
        raise CommandError(
            Exit.USAGE, "scope_invalid", "Name units or a --scope, not both: a unit's id says where it is."
        )
    if scope.kind not in (ScopeKind.WHOLE_BOOK, ScopeKind.CHAPTER, ScopeKind.SCENE):
        raise CommandError(Exit.USAGE, "scope_invalid", "Only a chapter, a scene or units are deleted out of a book.")


def _refused(error: NothingLeftError) -> CommandError:
    text = str(error)
    return CommandError(Exit.BAD_INPUT, "nothing_to_delete", f"{text[:1].upper()}{text[1:]}.")


def _whole(row: BookRow) -> str:
    return f"{called(row)} with its {row.scenes} scenes" if row.scenes != 1 else f"{called(row)} with its scene"


def _sentence(what: str, deleted: Deleted, held: int) -> str:
    count, many = deleted.artifacts, "s" * (deleted.artifacts != 1)
    files = f", and {count} artifact{many} that nothing else uses" if count else ""
    attempts = "attempt was" if deleted.stopped == 1 else "attempts were"
    stopped = f" {deleted.stopped} running {attempts} stopped." if deleted.stopped else ""
    more = "artifact is" if held == 1 else "artifacts are"
    later = f" {held} {more} kept until six hours after the last backup." if held else ""
    return f"Deleted: {what}{files}.{stopped}{later}"
