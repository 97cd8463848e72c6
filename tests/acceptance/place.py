"""A folder with a tiny book, its home and its finished files, as tests of the command line use it."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from program import Ran, Started, run
from tiny_book import SIZE


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

    def make(self, *more: str, env: dict[str, str] | None = None) -> Ran:
        """Make the book, to the end."""
        return run(*self.making, *more, cwd=self.folder, env=env)

    def start(self, *more: str, env: dict[str, str] | None = None, terminal: tuple[int, int] | None = None) -> Started:
        """Begin to make the book."""
        return Started((*self.making, *more), self.folder, env, terminal=terminal)

    def steer(self, command: str, *more: str | Path) -> Started:
        """Begin another command on the same home."""
        return Started((command, *more, "--home", self.home), self.folder)
