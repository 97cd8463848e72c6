"""`animastor status`: what of a book is there, missing or failed, read from the database without a holder's help."""

from __future__ import annotations

import socket
from collections import Counter
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from animastor.app import Reading
from animastor.commands.errors import Exit
from animastor.commands.homes import looking
from animastor.commands.importing import stored_book
from animastor.commands.naming import called, scenes_text
from animastor.commands.places import Numbers, numbers_of
from animastor.commands.running import shown_path
from animastor.config import Settings
from animastor.display import Display
from animastor.engine.home import address_of
from animastor.engine.ports import AssetExport, BookRow, RequestRow, SceneExport, Scope
from animastor.engine.states import RequestState, Standing, State, standing

SHOWN_FAILURES = 10


async def show_status(settings: Settings, name: str, display: Display) -> int:
    """Show all books, or one. Raises `CommandError` for a home or book that is not there."""
    async with looking(settings) as opened:
        rows = [await stored_book(opened.storage, name)] if name else list(await opened.storage.books())
        asked = list(await opened.storage.requests())
        if not rows:
            display.note("There is no book in this home yet.", event="books", books=[])
        for row in rows:
            await _show_book(opened, row, asked, display, failures=bool(name) or len(rows) == 1)
    return Exit.OK


async def _show_book(
    opened: Reading, row: BookRow, asked: Sequence[RequestRow], display: Display, *, failures: bool
) -> None:
    scenes = await opened.storage.export_rows(row.book_key, Scope())
    counts = {name: _counts(scenes, name) for name in opened.registry.names}
    numbers = await numbers_of(opened.storage, row)
    failed = list(_failures(scenes, numbers))
    now = [await _under_way(opened, one) for one in asked if one.book_key == row.book_key]
    display.note(
        f"{called(row)}: {scenes_text(row.scenes)}, from {shown_path(Path(row.source))}",
        event="book",
        book=row.book_id,
        title=row.title,
        scenes=row.scenes,
        source=row.source,
        media=counts,
        failed=failed,
        requests=now,
    )
    display.table(
        ("  scenes", *(each.word for each in Standing)),
        [
            (f"  {media}", *(str(found[each]) if found[each] else "·" for each in Standing))
            for media, found in counts.items()
        ],
    )
    if display.wants_tables:
        _say_requests(now, display)
        _say_failures(failed if failures else [], display)


async def _under_way(opened: Reading, request: RequestRow) -> dict[str, Any]:
    """A request that is not finished: how far it is, and whether anybody works on it (None: not known of a fleet)."""
    progress = await opened.storage.progress(request.request_id)
    return {
        "request": request.request_id,
        "kind": request.kind,
        "media": list(request.media),
        "state": str(request.state),
        "idle": progress.idle,
        "fraction": round(progress.fraction, 3),
        "worked_on": None if opened.settings.distributed else is_held(opened.settings.home),
    }


def is_held(home: Path) -> bool:
    """Whether a process answers for this home."""
    with suppress(OSError), socket.socket(socket.AF_UNIX) as caller:
        caller.connect(address_of(home))
        return True
    return False


def _say_requests(now: Sequence[dict[str, Any]], display: Display) -> None:
    alike: dict[tuple[str, str], list[int]] = {}  # a make that was repeated is a request of its own
    for each in now:
        alike.setdefault((f"{each['fraction']:.0%}", _how(each)), []).append(each["request"])
    for (there, how), asked in alike.items():
        named = f"request{'s' * (len(asked) > 1)} {' and '.join(map(str, asked))}"
        display.note(f"  {there} of what was asked for ({named}) is there; {how}.")


def _how(request: dict[str, Any]) -> str:
    if request["state"] == RequestState.PAUSED:
        return "paused: `animastor resume` goes on"
    if request["idle"]:
        return "the rest lies beyond its window"
    if request["worked_on"] is None:
        return "made by those who serve"
    return "being made now" if request["worked_on"] else "interrupted: run make again to go on"


def _say_failures(failed: Sequence[dict[str, str]], display: Display) -> None:
    for each in failed[:SHOWN_FAILURES]:
        display.note(f"  failed: {each['media']} of {each['scene']}: {each['error']}")
    if len(failed) > SHOWN_FAILURES:
        display.note(f"  and {len(failed) - SHOWN_FAILURES} more failed; --json lists all")


def _counts(scenes: Sequence[SceneExport], media: str) -> dict[str, int]:
    """Scenes by how their assets stand."""
    found = Counter(standing_of(scene.media[media]) for scene in scenes if media in scene.media)
    return {str(each): found[each] for each in Standing}


def standing_of(asset: AssetExport) -> Standing:
    """How an asset stands."""
    return standing(asset.state, current=asset.current, made=asset.made)


def _failures(scenes: Sequence[SceneExport], numbers: Numbers) -> list[dict[str, str]]:
    return [
        {
            "scene": numbers.scene(scene.chapter_id, scene.scene_id),
            "media": media,
            "error": asset.error or "no reason was kept",
        }
        for scene in scenes
        for media, asset in scene.media.items()
        if asset.state is State.FAILED
    ]
