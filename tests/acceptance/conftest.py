"""A tiny book that was made once, for tests that look at it or go on from a copy of it."""

from __future__ import annotations

import shutil
from dataclasses import dataclass
from pathlib import Path

import pytest
from program import Ran, Started, run
from tiny_book import SIZE, write_book


@dataclass(frozen=True)
class Place:
    """A folder with a book, and the home and the finished files that belong to it."""

    folder: Path

    @property
    def book(self) -> Path:
        """The source."""
        return self.folder / "book"

    @property
    def home(self) -> Path:
        """The home."""
        return self.folder / "home"

    @property
    def out(self) -> Path:
        """The finished files."""
        return self.folder / "out"

    @property
    def making(self) -> tuple[str | Path, ...]:
        """The command that makes everything."""
        return ("make", self.book, "--size", SIZE, "--home", self.home, "--out", self.out)

    def make(self, *more: str, env: dict[str, str] | None = None, timeout: float = 100) -> Ran:
        """Make the book, to the end."""
        return run(*self.making, *more, cwd=self.folder, env=env, timeout=timeout)

    def start(self, *more: str, env: dict[str, str] | None = None, terminal: tuple[int, int] | None = None) -> Started:
        """Begin to make the book."""
        return Started((*self.making, *more), self.folder, env, terminal=terminal)


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
