"""Processes of the real program on shared stores."""

from __future__ import annotations

import asyncio
import json
import shutil
import sys
import tempfile
import urllib.error
import urllib.request
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from coordination_servers import binary, started

ACCEPTANCE = Path(__file__).parents[1] / "acceptance"
sys.path.append(str(ACCEPTANCE))  # `program` runs commands, whichever tests want them

from program import Ran, Started, run  # noqa: E402
from tiny_book import SHORT, SIZE, write_book  # noqa: E402


class Valkey:
    """A server of its own, on a unix socket; ended and started again it is empty. Raises `NoServerError`."""

    def __init__(self) -> None:
        self._program = binary("valkey")
        self._folder = Path(tempfile.mkdtemp(prefix="animastor-kv-"))
        self._running = ExitStack()
        self.socket = self._folder / "socket"
        self.start()

    @property
    def url(self) -> str:
        """Where it listens."""
        return f"unix://{self.socket}"

    def start(self) -> None:
        """Start it, with nothing in it."""
        self._running.enter_context(started(self._program, self.socket))

    def stop(self) -> None:
        """End it at once."""
        self._running.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()
        shutil.rmtree(self._folder, ignore_errors=True)


class Fleet:
    """The stores of an installation, and the processes that work on them."""

    def __init__(self, database: str, valkey: Valkey, folder: Path) -> None:
        self.database, self.valkey, self.folder = database, valkey, folder
        self.artifacts = folder / "artifacts"
        self.book = folder / "book"
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
            "ANIMASTOR_COORDINATION_URL": self.valkey.url,
            "ANIMASTOR_ARTIFACTS": str(self.artifacts),
            **more,
        }

    def serve(self, *more: str, **environment: str) -> Started:
        """A process that serves, with a home of its own, as if on another machine; it is ready on return."""
        serving = self.start("serve", *more, ANIMASTOR_BACKEND_LOG=str(self.log), **environment)
        serving.until_said('"event":"serving"')
        return serving

    @property
    def log(self) -> Path:
        """What backends of all processes began and ended."""
        return self.folder / "backends.log"

    def logged(self, event: str) -> list[dict[str, Any]]:
        """The lines of that log of one kind: `start` or `end`."""
        whole = self.log.read_text().rpartition("\n")[0] if self.log.exists() else ""  # the last may be being written
        lines = whole.splitlines()
        return [line for line in map(json.loads, lines) if line["event"] == event]

    def asks(self, *more: str, texts: Sequence[Sequence[Sequence[str]]] = SHORT) -> Started:
        """A `make` of a tiny book that runs while the test goes on."""
        write_book(self.book, texts)
        return self.start("make", self.book, "--size", SIZE, "--out", self.folder / "out", *more)

    def start(self, *arguments: str | Path, **environment: str) -> Started:
        """A command that runs while the test goes on."""
        self._homes += 1
        command = (*arguments, "--json", "--home", self.folder / f"home-{self._homes}")
        return self._started.enter_context(Started(command, self.folder, self.environment(**environment)))

    def run(self, *arguments: str | Path, **environment: str) -> Ran:
        """A command, to its end."""
        self._homes += 1
        command = (*arguments, "--json", "--home", self.folder / f"home-{self._homes}")
        return run(*command, cwd=self.folder, env=self.environment(**environment))

    def ready(self, serving: Started, path: str = "readyz") -> tuple[int, dict[str, str]]:
        """What a process answers that serves, or waits for its stores."""
        events = [json.loads(line) for line in serving.out.rpartition("\n")[0].splitlines()]
        address = next(one["listen"] for one in events if one["event"] in ("waiting", "serving"))
        try:
            with urllib.request.urlopen(f"http://{address}/{path}", timeout=100) as answer:
                return answer.status, json.load(answer)
        except urllib.error.HTTPError as error:
            with error:
                return error.code, json.load(error)

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
