"""`animastor outline`: a book's chapters and scenes, or a scene's units: numbers, ids, and what of them is there."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby

from animastor.app import Reading
from animastor.books.codec import scene_from_json
from animastor.books.model import Unit
from animastor.commands.errors import Exit
from animastor.commands.homes import looking
from animastor.commands.importing import stored_book
from animastor.commands.naming import called, scenes_text
from animastor.commands.places import Numbers, numbers_of, scene_of
from animastor.commands.status import standing_of
from animastor.config import Settings
from animastor.display import Display
from animastor.engine.ports import BookRow, SceneExport, Scope, ScopeKind

WORDS = 22  # characters of a unit's text that are shown: with an id that was made up the line fits into 60 columns


async def show_outline(settings: Settings, book: str, scene: str, display: Display) -> int:
    """Show a book, or the units of one scene. Raises `CommandError` for what is not there."""
    async with looking(settings) as opened:
        row = await stored_book(opened.storage, book)
        numbers = await numbers_of(opened.storage, row)
        if scene:
            place = await scene_of(opened.storage, row, scene)
            (found,) = await opened.storage.export_rows(row.book_key, Scope(ScopeKind.SCENE, *place))
            _show_scene(opened, found, numbers, display)
        else:
            _show_book(opened, row, await opened.storage.export_rows(row.book_key, Scope()), numbers, display)
    if not display.wants_tables:
        display.note("Outlined.", event="done", exit_code=0)
    return Exit.OK


def _show_book(
    opened: Reading, row: BookRow, scenes: Sequence[SceneExport], numbers: Numbers, display: Display
) -> None:
    chapters = [(chapter, list(of)) for chapter, of in groupby(scenes, lambda one: one.chapter_id)]
    many = "1 chapter" if len(chapters) == 1 else f"{len(chapters)} chapters"
    display.note(f"{called(row)}: {many}, {scenes_text(len(scenes))}.", event="book", book=row.book_id)
    media = opened.registry.names
    for chapter_id, of in chapters:
        number = numbers.scene(chapter_id, of[0].scene_id).partition("/")[0]
        title = f", {of[0].chapter_title}" if of[0].chapter_title else ""
        display.note(
            f"Chapter {number}{title} ({chapter_id}):",
            event="chapter",
            chapter=chapter_id,
            number=int(number),
            title=of[0].chapter_title,
        )
        rows = [(f"  {numbers.scene(chapter_id, one.scene_id)}", *_states(one, media), one.scene_id) for one in of]
        display.table(("  scene", *media, "id"), rows)
        if not display.wants_tables:
            for one in of:
                _tell_scene(one, numbers, display)


def _show_scene(opened: Reading, scene: SceneExport, numbers: Numbers, display: Display) -> None:
    _tell_scene(scene, numbers, display)
    place = numbers.scene(scene.chapter_id, scene.scene_id)
    units = scene_from_json(scene.scene).units
    display.table(
        ("  unit", "id", "speaker", "text"),
        [
            (f"  {place}/{number}", unit.unit_id, unit.speaker or "·", _words(unit))
            for number, unit in enumerate(units, 1)
        ],
    )
    if not display.wants_tables:
        for number, unit in enumerate(units, 1):
            display.note(
                f"{place}/{number}: {unit.text}",
                event="unit",
                unit=unit.unit_id,
                numbers=f"{place}/{number}",
                type=str(unit.type),
                speaker=unit.speaker,
                text=unit.text,
            )


def _tell_scene(scene: SceneExport, numbers: Numbers, display: Display) -> None:
    place = numbers.scene(scene.chapter_id, scene.scene_id)
    title = f", {scene.title}" if scene.title else ""
    states = {media: standing_of(asset) for media, asset in scene.media.items()}
    told = ", ".join(f"{media} {how.word}" for media, how in states.items())
    display.note(
        f"Scene {place}{title} ({scene.scene_id}): {told}.",
        event="scene",
        chapter=scene.chapter_id,
        scene=scene.scene_id,
        numbers=place,
        title=scene.title,
        media=states,
    )


def _states(scene: SceneExport, media: Sequence[str]) -> list[str]:
    return [standing_of(scene.media[one]).word if one in scene.media else "·" for one in media]


def _words(unit: Unit) -> str:
    text = " ".join(unit.text.split())
    return text if len(text) <= WORDS else f"{text[: WORDS - 1]}…"
