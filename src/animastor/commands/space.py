"""`animastor du` and `gc`: what uses the space, what will be collected when, and collecting it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from animastor.app import Driving, Reading
from animastor.commands import messages
from animastor.commands.errors import Exit
from animastor.commands.homes import looking
from animastor.commands.messages import Tell
from animastor.commands.results import bytes_of
from animastor.config import Settings
from animastor.display import Display, size_text
from animastor.engine.ports import Unused, Usage
from animastor.stores import DATABASE
from animastor.workers.child_process import size_of

DAY_S = 86_400.0


@dataclass(frozen=True, slots=True)
class Collecting:
    """What `animastor gc` was asked for. `now`: whatever nothing uses, however short the time."""

    now: bool = False


async def collect(drive: Driving, told: Mapping[str, Any], tell: Tell) -> None:
    """Collect everything that may be. Raises `ArtifactStoreUnavailableError` and `StorageUnavailableError`."""
    asked = Collecting(**told)
    storage = drive.reading.storage
    _, before = await storage.artifact_total()
    sizes = {one.checksum: one.bytes for one in await storage.unused()}
    gone = await drive.engine.collector.collect_all(at_once=asked.now)
    left = [one for one in await storage.unused() if one.due_at > drive.reading.clock.now()]
    held = sum(one.bytes for one in left if one.held)
    waiting = held if asked.now else sum(one.bytes for one in left)
    freed = max(0, sum(sizes.values()) - waiting) if gone else 0
    said = f"Deleted {gone} finished part{'s' * (gone != 1)} that nothing used ({size_text(freed)})."
    if not gone:
        said = "There is nothing to delete: all finished parts are used, or kept for a while."
    if short := waiting - held:
        said = f"{said} {size_text(short)} more have been unused for less than the time that they are kept."
    if held:
        said = f"{said} {size_text(held)} more are kept until six hours after the last backup."
    tell(messages.result(said=said, artifacts=gone, bytes=freed, waiting=waiting, before=before))


async def show_usage(settings: Settings, display: Display) -> int:
    """Show what uses the space. Raises `CommandError`."""
    async with looking(settings) as opened:
        usage = await opened.storage.usage()
        files, bytes_ = await opened.storage.artifact_total()
        unused = await opened.storage.unused()
        now = opened.clock.now()
    _say_usage(usage, display)
    due = [one for one in unused if one.due_at <= now]
    other = [(name, size) for name, size in _beside(opened) if size]
    display.note(
        f"Finished parts: {files} files, {size_text(bytes_)}. {_when(unused, due, now)}",
        event="space",
        files=files,
        bytes=bytes_,
        unused=len(unused),
        unused_bytes=sum(one.bytes for one in unused),
        due=len(due),
        due_bytes=sum(one.bytes for one in due),
        **dict(other),
    )
    if other and display.wants_tables:
        display.note(f"Beside them: {', '.join(f'{name} {size_text(size)}' for name, size in other)}.")
    if not display.wants_tables:
        display.note("Shown.", event="done", exit_code=0)
    return Exit.OK


def _say_usage(usage: Sequence[Usage], display: Display) -> None:
    if usage:
        display.table(
            ("book", "what", "files", "size"),
            [(one.book_id, _what(one), str(one.files), size_text(one.bytes)) for one in usage],
        )
    if not display.wants_tables:
        for one in usage:
            display.note(
                f"{one.book_id}: {_what(one)}: {one.files} files, {size_text(one.bytes)}",
                event="usage",
                book=one.book_id,
                media=one.media,
                kind=one.kind,
                wanted=one.wanted,
                files=one.files,
                bytes=one.bytes,
            )


def _what(one: Usage) -> str:
    return f"{one.media} {one.kind}{'' if one.wanted else ', earlier takes'}"


def _when(unused: Sequence[Unused], due: Sequence[Unused], now: float) -> str:
    if not unused:
        return "All of them are used or kept."
    told = f"{len(unused)} of them ({size_text(sum(one.bytes for one in unused))}) are used by nothing: "
    if due:
        told += f"{len(due)} ({size_text(sum(one.bytes for one in due))}) may be collected now"
    if later := [one for one in unused if one.due_at > now]:
        days = max(one.due_at - now for one in later) / DAY_S
        within = "a day" if days <= 1 else f"{days:.0f} days"
        told += f"{', the others' if due else 'they are collected'} within {within}"
    return f"{told} (`animastor gc` does it now)."


def _beside(opened: Reading) -> list[tuple[str, int]]:
    home = opened.settings.home
    database = sum(bytes_of(home / f"{DATABASE}{end}") for end in ("", "-wal", "-shm"))
    return [("database", database), ("work", size_of(home / "work")), ("copies", size_of(home / "copies"))]
