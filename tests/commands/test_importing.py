"""What the command line says of a book's settings: an edit of those that are stored, or kept."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from animastor.commands.importing import Wishes, prepare, save
from animastor.media.registry import installed
from animastor.media.types import ContentSettings
from animastor.storage.database import InPlaceDatabase
from animastor.storage.sql import SqlStorage, open_storage

REGISTRY = installed()


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
