"""A folder with a tiny book, its home and its finished files, as tests of the command line use it."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from program import Ran, Started, run, until
from tiny_book import SIZE, read


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

    def until_at_work(self, making: Started) -> None:
        """Wait until something is being made: the first progress is told before anything has begun."""
        making.until_said("%")
        begun = "SELECT id FROM asset WHERE state = 2"
        until(lambda: bool(read(self.home, begun)) or making.ended(), f"work, after {making.out!r} {making.err!r}")

    def steer(self, command: str, *more: str | Path) -> Started:
        """Begin another command on the same home."""
        return Started((command, *more, "--home", self.home), self.folder)
