"""The books of examples/: the tale has what it is to show, and large books come by seed."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from types import ModuleType

import pytest

from animastor.books.importers import load
from animastor.books.model import Book, UnitType
from animastor.media.image import structure_of
from animastor.media.types import ContentSettings, PlanInput
from animastor.workers.storyboard.board import Board, board_of

EXAMPLES = Path(__file__).parents[2] / "examples"


@pytest.fixture(scope="module")
def tale() -> Book:
    return load(EXAMPLES / "tale")


@pytest.fixture(scope="module")
def boards(tale: Book) -> dict[str, Board]:
    return {
        unit.unit_id: board_of(structure_of(PlanInput(tale.head, scene, ContentSettings()), unit))
        for _, scene in tale.scenes()
        for unit in scene.units
    }


@pytest.fixture(scope="module")
def large() -> ModuleType:
    spec = importlib.util.spec_from_file_location("large", EXAMPLES / "large.py")
    assert spec
    assert spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_tale_is_about_two_minutes_long_in_two_chapters(tale: Book) -> None:
    spoken = [unit for unit in tale.units() if unit.type is not UnitType.TYPOGRAPHY]
    words = sum(len(unit.text.split()) for unit in spoken)
    assert len(tale.chapters) == 2
    assert 22 <= len(list(tale.units())) <= 30
    assert 290 <= words <= 340


def test_three_characters_speak_in_the_tale_and_every_quote_stands_in_its_text(tale: Book) -> None:
    quotes = [unit for unit in tale.units() if unit.type is UnitType.DIALOGUE]
    assert {unit.audio.speaker for unit in quotes} == {"wren", "orla", "bram"}
    assert all(unit.audio.text and unit.audio.text in unit.text for unit in quotes)


def test_every_character_of_the_tale_has_a_passport_and_every_speaker_a_voice(tale: Book) -> None:
    assert all(one.appearance for one in tale.head.characters)
    assert {one.id for one in tale.head.characters if one.voice} == {"wren", "orla", "bram"}


def test_the_tale_goes_from_dusk_through_night_to_dawn_in_three_places(boards: dict[str, Board]) -> None:
    assert {board.setting for board in boards.values()} == {"harbour", "kitchen", "sea"}
    times = [board.light.time for board in boards.values()]
    assert list(dict.fromkeys(times)) == ["dusk", "night", "dawn"]


def test_nobody_is_in_a_picture_who_is_not_there(tale: Book, boards: dict[str, Board]) -> None:
    for _, scene in tale.scenes():
        for unit in scene.units:
            there = {actor.traits.id for actor in boards[unit.unit_id].actors}
            assert there <= set(scene.participants), unit.unit_id


def test_the_same_seed_gives_the_same_large_book(large: ModuleType) -> None:
    assert large.generate(120, 7) == large.generate(120, 7)
    assert large.generate(120, 7) != large.generate(120, 8)


def test_a_large_book_has_as_many_scenes_and_units_as_asked_and_its_own_ids(large: ModuleType) -> None:
    book = large.generate(120, 7, units_per_scene=4)
    ids = [unit.unit_id for unit in book.units()]
    assert len(list(book.scenes())) == 120
    assert len(ids) == len(set(ids)) == 480
    assert [len(chapter.scenes) for chapter in book.chapters] == [50, 50, 20]


def test_a_large_book_is_written_as_a_vbook_that_can_be_read(large: ModuleType, tmp_path: Path) -> None:
    book = large.generate(60, 3)
    large.write_vbook(book, tmp_path / "book")
    assert [unit.text for unit in load(tmp_path / "book").units()] == [unit.text for unit in book.units()]
