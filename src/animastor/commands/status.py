"""`animastor status`: what of a book is there, missing or failed, read from the database without a holder's help."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from rich.console import Console
from rich.table import Table

from animastor.app import Reading
from animastor.commands.errors import Exit
from animastor.commands.homes import looking
from animastor.commands.importing import stored_book
from animastor.config import Settings
from animastor.display import Display
from animastor.engine.ports import BookRow, SceneExport, Scope
from animastor.engine.states import State

SHOWN_FAILURES = 10


async def show_status(settings: Settings, name: str, display: Display) -> int:
    """Show all books, or one. Raises `CommandError` for a home or book that is not there."""
    async with looking(settings) as opened:
        rows = [await stored_book(opened.storage, name)] if name else list(await opened.storage.books())
        if not rows:
            display.note("There is no book in this home yet.", books=[])
        for row in rows:
            await _show_book(opened, row, display, failures=bool(name) or len(rows) == 1)
    return Exit.OK


async def _show_book(opened: Reading, row: BookRow, display: Display, *, failures: bool) -> None:
    scenes = await opened.storage.export_rows(row.book_key, Scope())
    counts = {name: _counts(scenes, name) for name in opened.registry.names}
    failed = list(_failures(scenes)) if failures else []
    if not display.wants_tables:
        fields = {"book": row.book_id, "title": row.title, "scenes": row.scenes, "media": counts, "failed": failed}
        display.note(f"{row.title or row.book_id}", **fields)
        return
    display.note(f"{row.title or row.book_id} ({row.book_id}): {row.scenes} scenes, from {row.source}")
    _print_counts(counts)
    for each in failed[:SHOWN_FAILURES]:
        display.note(f"  failed: {each['media']} of {each['scene']}: {each['error']}")
    if len(failed) > SHOWN_FAILURES:
        display.note(f"  and {len(failed) - SHOWN_FAILURES} more failed; --json lists all")


def _counts(scenes: Sequence[SceneExport], media: str) -> dict[str, int]:
    """Scenes by what is there: current, stale (an older version), failed, in work, and not made."""
    found: Counter[str] = Counter()
    for scene in scenes:
        asset = scene.media.get(media)
        if asset is None:
            continue
        if asset.current:
            found["ready"] += 1
        elif asset.state is State.FAILED:
            found["failed"] += 1
        elif asset.state in (State.PENDING, State.GENERATING):
            found["in_work"] += 1
        else:
            found["stale" if asset.artifact else "missing"] += 1
    return {name: found[name] for name in ("ready", "stale", "in_work", "failed", "missing")}


def _failures(scenes: Sequence[SceneExport]) -> list[dict[str, str]]:
    return [
        {"scene": f"{scene.chapter_id}/{scene.scene_id}", "media": media, "error": asset.error or "no reason was kept"}
        for scene in scenes
        for media, asset in scene.media.items()
        if asset.state is State.FAILED
    ]


def _print_counts(counts: dict[str, dict[str, int]]) -> None:
    table = Table(box=None, pad_edge=False, padding=(0, 2), header_style="dim")
    table.add_column("")
    for name in ("ready", "stale", "in work", "failed", "missing"):
        table.add_column(name, justify="right")
    for media, found in counts.items():
        table.add_row(f"  {media}", *(str(number) if number else "·" for number in found.values()))
    Console().print(table)
