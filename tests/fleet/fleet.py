"""Processes of the real program on shared stores."""

from __future__ import annotations

import asyncio
import sys
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from pathlib import Path
from types import TracebackType
from typing import Any, Self

ACCEPTANCE = Path(__file__).parents[1] / "acceptance"
sys.path.append(str(ACCEPTANCE))  # `program` runs commands, whichever tests want them

from program import Ran, Started, run  # noqa: E402


class Fleet:
    """The stores of an installation, and the processes that work on them."""

    def __init__(self, database: str, valkey: Path, folder: Path) -> None:
        self.database, self.valkey, self.folder = database, valkey, folder
        self.artifacts = folder / "artifacts"
        self._started = ExitStack()
        self._homes = 0

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._started.close()

    def environment(self, **more: str) -> dict[str, str]:
        """What tells a command where the stores are."""
        return {
            "ANIMASTOR_DATABASE_URL": self.database,
            "ANIMASTOR_COORDINATION_URL": f"unix://{self.valkey}",
            "ANIMASTOR_ARTIFACTS": str(self.artifacts),
            **more,
        }

    def serve(self, *more: str, **environment: str) -> Started:
        """A process that serves, with a home of its own, as if on another machine; it is ready on return."""
        started = self.start("serve", *more, **environment)
        started.until_said('"event":"serving"')
        return started

    def start(self, *arguments: str | Path, **environment: str) -> Started:
        """A command that runs while the test goes on."""
        self._homes += 1
        command = (*arguments, "--json", "--home", self.folder / f"home-{self._homes}")
        return self._started.enter_context(Started(command, self.folder, self.environment(**environment)))

    def run(self, *arguments: str | Path, timeout: float = 100, **environment: str) -> Ran:
        """A command, to its end."""
        self._homes += 1
        command = (*arguments, "--json", "--home", self.folder / f"home-{self._homes}")
        return run(*command, cwd=self.folder, env=self.environment(**environment), timeout=timeout)

    def rows(self, statement: str) -> list[tuple[Any, ...]]:
        """What a statement finds in the database."""
        with ThreadPoolExecutor(1) as aside:
            return aside.submit(lambda: asyncio.run(self._rows(statement))).result()

    async def _rows(self, statement: str) -> list[tuple[Any, ...]]:
        import asyncpg

        connection = await asyncpg.connect(self.database)
        try:
            return [tuple(row) for row in await connection.fetch(statement)]
        finally:
            await connection.close()
