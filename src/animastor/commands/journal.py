"""`animastor journal`: what happened to a book and why, read from the database while others write it."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from animastor.app import Reading
from animastor.commands.errors import CommandError, Exit
from animastor.commands.homes import looking
from animastor.commands.importing import stored_book
from animastor.commands.places import Numbers, numbers_of, scene_of
from animastor.config import Settings
from animastor.display import Display
from animastor.engine.ports import BookRow, JournalEntry, JournalOf
from animastor.engine.replaying import Replayed, replay

LOOK_S = 0.5  # between two looks of --follow
PAGE = 1000
REPLAYS = 3  # a replay that raced with a writer is done again so often


@dataclass(frozen=True, slots=True)
class Selected:
    """Which rows are shown: of a scene, of a media type, how many, and behind or before which one."""

    scene: str = ""
    media: str = ""
    limit: int = 50
    after: int | None = None
    before: int | None = None


async def show_journal(settings: Settings, book: str, selected: Selected, display: Display, *, follow: bool) -> int:
    """Show a page: the newest rows, or those behind or before a row; then, with `follow`, what comes."""
    async with looking(settings) as opened:
        row = await stored_book(opened.storage, book)
        of = await _of(opened, row, selected)
        before = None if selected.after is not None else selected.before or 2**62
        entries = await opened.storage.book_journal(of, after=selected.after or 0, before=before, limit=selected.limit)
        numbers = await numbers_of(opened.storage, row)
        for entry in entries:
            _say(entry, numbers, display)
        if not entries and not follow:
            display.note(f"The journal tells nothing of {_what(row, selected)}.", event="journal_empty")
        if len(entries) == selected.limit and not follow:
            _say_more(entries, selected, display)
        if follow:
            await _follow(opened, row, of, _last(entries, selected), display)
    return Exit.OK


async def _follow(opened: Reading, row: BookRow, of: JournalOf, after: int, display: Display) -> None:
    """Show what comes, until the command is stopped."""
    while True:
        entries = await opened.storage.book_journal(of, after=after, limit=PAGE)
        numbers = await numbers_of(opened.storage, row) if entries else Numbers({})
        for entry in entries:
            _say(entry, numbers, display)
            after = entry.row.row_id
        if not entries:
            await asyncio.sleep(LOOK_S)


async def replay_journal(settings: Settings, display: Display) -> int:
    """Read the whole journal back, and say where the tables are not as it tells. Raises `CommandError`."""
    async with looking(settings) as opened:
        for _ in range(REPLAYS):
            replayed, wrong = await _replayed(opened)
            if not wrong:
                break
    told = Counter(state.name.lower() for state in replayed.states.values())
    counts = ", ".join(f"{count} {name}" for name, count in sorted(told.items())) or "no asset"
    fields = {"rows": replayed.last_row, "states": dict(told), "faults": wrong}
    for sentence in wrong[:PAGE]:
        display.note(f"{sentence[:1].upper()}{sentence[1:]}.", event="journal_fault")
    if wrong:
        raise CommandError(
            Exit.FAILURES, "journal_differs", f"The journal and the tables differ in {len(wrong)} points."
        )
    message = f"The journal, replayed, gives what the tables hold: {counts}."
    display.note(message, event="done", exit_code=0, **fields)
    return Exit.OK


async def _replayed(opened: Reading) -> tuple[Replayed, Sequence[str]]:
    replayed = Replayed()
    while page := await opened.storage.journal(after=replayed.last_row, limit=PAGE):
        replay(page, replayed)
    standings = await opened.storage.asset_standings()
    return replayed, [*replayed.faults, *replayed.differences(standings)]


async def _of(opened: Reading, row: BookRow, selected: Selected) -> JournalOf:
    chapter_id, scene_id = await scene_of(opened.storage, row, selected.scene) if selected.scene else ("", "")
    return JournalOf(row.book_key, chapter_id, scene_id, selected.media)


def _last(entries: Sequence[JournalEntry], selected: Selected) -> int:
    return entries[-1].row.row_id if entries else selected.after or 0


def _what(row: BookRow, selected: Selected) -> str:
    return " of ".join(
        one for one in (selected.media, selected.scene and f"scene {selected.scene}", row.book_id) if one
    )


def _say_more(entries: Sequence[JournalEntry], selected: Selected, display: Display) -> None:
    if not display.wants_tables:
        return
    first, last = entries[0].row.row_id, entries[-1].row.row_id
    where = f"later: --after {last}" if selected.after is not None else f"earlier: --before {first}"
    display.note(f"There may be more {where}.")


def _say(entry: JournalEntry, numbers: Numbers, display: Display) -> None:
    row = entry.row
    fields: dict[str, Any] = {
        "row": row.row_id,
        "at": row.at,
        "type": row.type.value,
        "chapter": entry.chapter_id,
        "scene": entry.scene_id,
        "media": entry.media,
        "state": None if row.state is None else row.state.name.lower(),
        "reason": row.reason,
        "dispatch": row.dispatch_id,
        "actor": row.actor,
        "observed": row.observed,
        "details": dict(row.details),
    }
    display.note(line_of(entry, numbers), event="journal", **fields)


def line_of(entry: JournalEntry, numbers: Numbers) -> str:
    """A row as one line: number, time, place, what happened, why."""
    row = entry.row
    at = datetime.fromtimestamp(row.at).astimezone().strftime("%m-%d %H:%M:%S")
    place = f"{numbers.scene(entry.chapter_id, entry.scene_id)} {entry.media}" if entry.media else "-"
    state = f" {row.state.name.lower()}" if row.state is not None else ""
    about = ", ".join(f"{name} {_short(value)}" for name, value in row.details.items())
    told = "; ".join(one for one in (row.reason, about) if one)
    return f"{row.row_id} {at} {place}: {row.type.value}{state}{f' ({told})' if told else ''}"


def _short(value: object) -> str:
    text = " ".join(str(value).split())
    return f"{text[:12]}…" if len(text) == 64 and text.isalnum() else text
