"""What the command line says of a book's settings: an edit of those that are stored, or kept."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from animastor.books.importers.vbook_writer import write_vbook
from animastor.books.model import Book, BookHead, BookId, Chapter, ChapterId, Scene, SceneId, Unit, UnitId
from animastor.commands.importing import Wishes, kept_text, prepare, save
from animastor.media.registry import installed
from animastor.media.types import ContentSettings
from animastor.storage.database import InPlaceDatabase
from animastor.storage.sql import SqlStorage, open_storage

REGISTRY = installed()
UNITS = (Unit(UnitId("iu"), "Once upon a time."),)


@pytest.fixture
async def storage() -> AsyncIterator[SqlStorage]:
    """An empty home's storage."""
    opened = await open_storage(InPlaceDatabase(lambda: 1.0), REGISTRY, create=True)
    yield opened
    await opened.close()


async def _import(storage: SqlStorage, source: Path, wishes: Wishes) -> ContentSettings:
    return (await save(storage, REGISTRY, await prepare(storage, source), wishes)).settings


@pytest.mark.parametrize("keep", [False, True])
async def test_a_new_book_has_the_voice_and_size_that_were_named(
    storage: SqlStorage, tmp_path: Path, keep: bool
) -> None:
    source = tmp_path / "tale.txt"
    source.write_text("Once upon a time there was a lamp. It was never lit.")
    settings = await _import(storage, source, Wishes("oak", (640, 360), keep=keep))
    assert settings == ContentSettings(640, 360, narrator="oak", profiles=REGISTRY.profiles)


async def test_other_settings_are_an_edit_and_keeping_leaves_them(storage: SqlStorage, tmp_path: Path) -> None:
    source = tmp_path / "tale.txt"
    source.write_text("Once upon a time there was a lamp. It was never lit.")
    first = await _import(storage, source, Wishes("oak"))
    assert await _import(storage, source, Wishes()) == first
    assert await _import(storage, source, Wishes(size=(640, 360), keep=True)) == first
    assert (await _import(storage, source, Wishes(size=(640, 360)))).width == 640
    (row,) = await storage.books()
    (context,) = await storage.contexts([row.book_key])
    assert (context.settings.width, context.settings.narrator) == (640, "oak")


@pytest.mark.parametrize(
    ("wishes", "told"),
    [
        (Wishes("elm", keep=True), "Kept as stored: narrator oak, not elm. Leave out --keep to change it."),
        (
            Wishes("", (640, 360), keep=True),
            "Kept as stored: size 1280x720, not 640x360; narrator oak, not of the book."
            " Leave out --keep to change them.",
        ),
        (Wishes("oak", (1280, 720), keep=True), ""),
        (Wishes(keep=True), ""),
        (Wishes("elm"), ""),
    ],
)
def test_a_voice_and_size_that_give_way_to_those_that_are_kept_are_named(wishes: Wishes, told: str) -> None:
    assert kept_text(ContentSettings(narrator="oak"), wishes) == told


async def test_a_vbook_in_a_folder_that_is_called_like_that_of_another_one_is_a_book_of_its_own(
    storage: SqlStorage, tmp_path: Path
) -> None:
    for name in ("one", "two"):
        tale = Book(BookHead(BookId(name), title=name), (Chapter(ChapterId("ch"), (Scene(SceneId("sc"), UNITS),)),))
        write_vbook(tale, tmp_path / name / "book")
        prepared = await prepare(storage, tmp_path / name / "book")
        assert prepared.row is None
        imported = await save(storage, REGISTRY, prepared, Wishes("oak"))
        assert imported.settings_before is None, "nothing was changed"
        assert imported.settings.narrator == "oak"
    assert [row.book_id for row in await storage.books()] == ["one", "two"]
