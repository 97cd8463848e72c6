"""A tiny book that was made once, for tests that look at it or go on from a copy of it."""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[1] / "engine"))  # the stage of the engine's own tests

from place import Place
from program import Ran
from tiny_book import write_book


@pytest.fixture
def place(tmp_path: Path) -> Place:
    """A tiny book of which nothing is made."""
    found = Place(tmp_path)
    write_book(found.book)
    return found


@pytest.fixture(scope="session")
def made_once(tmp_path_factory: pytest.TempPathFactory) -> tuple[Place, Ran]:
    """A tiny book of which everything is made, and how making it went. Leave it as it is."""
    found = Place(tmp_path_factory.mktemp("made"))
    write_book(found.book)
    return found, found.make()


@pytest.fixture
def made(made_once: tuple[Place, Ran], tmp_path: Path) -> Place:
    """A copy of it, to go on from."""
    found = Place(tmp_path)
    shutil.copytree(made_once[0].home, found.home)
    shutil.copytree(made_once[0].book, found.book)
    return found
