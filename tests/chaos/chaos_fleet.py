"""A fleet of real processes on a real PostgreSQL and a real Valkey, and everything that a test does to them.

What was done, and when, is written down (`Deeds`): the oracle needs it to tell a fault of the program from ours.
"""

from __future__ import annotations

import asyncio
import ctypes
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Coroutine, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, TypeVar

from toys import REGISTRY

from animastor.books.model import Book
from animastor.clock import SystemClock
from animastor.coordination.redis import RedisCoordination, root_of
from animastor.engine.ports import NewRequest, Scope
from animastor.protocol import BookKey
from animastor.storage.postgres import PostgresDatabase
from animastor.storage.sql import SqlStorage, open_shared
from coordination_servers import binary, started
from postgres_server import PostgresServer
from wire import Wire, wired

T = TypeVar("T")
HERE: Final = Path(__file__).parent
TESTS: Final = HERE.parent
PROGRAM: Final = HERE / "chaos_program.py"
PATHS: Final = os.pathsep.join(map(str, (HERE, TESTS, TESTS / "engine")))


def _fast_settings() -> Mapping[str, str]:
    """Those of a fleet that recovers fast, as docs/operating.md shows them."""
    page = (TESTS.parent / "docs" / "operating.md").read_text("utf-8")
    shown = page.partition("A fleet that recovers fast")[2].partition("```")[2].partition("```")[0]
    return dict(line.split("=", 1) for line in shown.split())


FAST: Final[Mapping[str, str]] = _fast_settings()


class Loop:
    """An event loop in a thread of its own, for a test that waits for processes."""

    def __init__(self) -> None:
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, daemon=True)
        self._thread.start()

    def run(self, what: Coroutine[Any, Any, T], timeout: float = 120.0) -> T:
        """Its result."""
        return asyncio.run_coroutine_threadsafe(what, self._loop).result(timeout)

    def close(self) -> None:
        """End it."""
        self.run(self._loop.shutdown_asyncgens())
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(100)
        self._loop.close()


@dataclass
class Deeds:
    """What was done to processes: by process id, when it was killed; from when to when it stood still."""

    killed: dict[int, float] = field(default_factory=dict)
    paused: list[tuple[int, float, float]] = field(default_factory=list)
    ended: dict[int, float] = field(default_factory=dict)


class Member:
    """A process of the fleet. It keeps its home when it is started again, as a machine does."""

    def __init__(self, name: str, arguments: Sequence[str], home: Path, environment: Mapping[str, str], deeds: Deeds):
        self.name, self._arguments, self.home = name, tuple(arguments), home
        self.environment, self._deeds = dict(environment), deeds
        self._process: subprocess.Popen[bytes] | None = None
        self._paused_at = 0.0
        self._starts = 0
        self.log = home.with_suffix(".log")

    @property
    def pid(self) -> int:
        """Its process id."""
        assert self._process is not None, f"{self.name} was started"
        return self._process.pid

    @property
    def alive(self) -> bool:
        """Whether it runs."""
        return self._process is not None and self._process.poll() is None

    def start(self, **more: str) -> Member:
        """Start it, again if it is over; the variables in `more` are its own from now on."""
        self.environment.update(more)
        self._starts += 1
        with self.log.open("ab") as log:
            self._process = subprocess.Popen(
                [sys.executable, str(PROGRAM), *self._arguments, "--json", "--home", str(self.home)],
                env=self.environment,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                start_new_session=True,
                preexec_fn=_die_with_parent,  # noqa: PLW1509 - it calls nothing that a thread could hold a lock of
            )
        return self

    def kill(self) -> None:
        """SIGKILL; its children die with it."""
        assert self._process is not None
        self._deeds.killed[self.pid] = time.time()
        self._process.kill()
        self._process.wait(100)

    def pause(self) -> None:
        """SIGSTOP: it alone, its children go on."""
        self._paused_at = time.time()
        os.kill(self.pid, signal.SIGSTOP)

    def go_on(self) -> None:
        """SIGCONT."""
        os.kill(self.pid, signal.SIGCONT)
        self._deeds.paused.append((self.pid, self._paused_at, time.time()))

    def end(self) -> None:
        """SIGTERM, and its end."""
        if not self.alive or self._process is None:
            return
        self._deeds.ended[self.pid] = time.time()
        self._process.terminate()
        try:
            self._process.wait(15)
        except subprocess.TimeoutExpired:
            self.kill()

    def said(self, text: str) -> bool:
        """Whether it has written this."""
        return self.log.exists() and text in self.log.read_text(errors="replace")

    def logged(self, text: str) -> bool:
        """Whether it has written this into the log of its home."""
        log = self.home / "animastor.log"
        return log.exists() and text in log.read_text(errors="replace")

    def until_serving(self) -> Member:
        """Wait until it serves, after its last start."""
        until(lambda: self._served() >= self._starts or not self.alive, 300, f"{self.name} to serve")
        assert self.alive, self.log.read_text(errors="replace")
        return self

    def _served(self) -> int:
        """How often it has begun to serve."""
        return self.log.read_text(errors="replace").count('"event":"serving"') if self.log.exists() else 0


def _die_with_parent() -> None:
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(1, signal.SIGKILL)  # PR_SET_PDEATHSIG


class Valkey:
    """The coordination store: its process can be ended, and started again with nothing in it."""

    def __init__(self, folder: Path) -> None:
        self.socket = folder / "valkey"
        self.url = f"unix://{self.socket}"
        self._stack: ExitStack | None = None

    def start(self) -> None:
        """Start it, empty."""
        self._stack = ExitStack()
        self._stack.enter_context(started(binary("valkey"), self.socket))

    def stop(self) -> None:
        """Kill it."""
        if self._stack is not None:
            self._stack.close()
            self._stack = None

    def empty(self) -> None:
        """FLUSHALL."""
        from redis import Redis

        with Redis(unix_socket_path=str(self.socket)) as client:
            client.flushall()


class Fleet:
    """Members, their stores, and what is asked of them. `settings` are those of every member."""

    def __init__(self, postgres: PostgresServer, folder: Path, valkey_folder: Path, settings: Mapping[str, str]):
        self.postgres, self.folder, self.settings = postgres, folder, settings
        self.database_url = postgres.database("chaos")
        self.valkey = Valkey(valkey_folder)
        self.artifacts = folder / "artifacts"
        self.backend_log = folder / "backends.log"
        self.road_log = folder / "road.log"
        self.emptying = folder / "empty-after-upload"
        self.long_seen = folder / "long"
        self.deeds = Deeds()
        self.members: list[Member] = []
        self.loop = Loop()
        self.wire: Wire | None = None
        self._stack = ExitStack()
        self._stack.callback(self.loop.close)
        self._storage: SqlStorage | None = None

    @property
    def silent_s(self) -> float:
        """After how long without a heartbeat a claim is silent."""
        return float(self.settings.get("ANIMASTOR_SILENT_S", "30"))

    def open(self) -> None:
        """Start the coordination store, and make the database."""
        self.long_seen.mkdir()
        self.valkey.start()
        self._stack.callback(self.valkey.stop)
        self._storage = self.loop.run(self._opened())
        self._stack.callback(lambda: self.loop.run(self.storage.close()))

    async def _opened(self) -> SqlStorage:
        return await open_shared(PostgresDatabase(self.database_url, connections=2), REGISTRY, create=True)

    @property
    def storage(self) -> SqlStorage:
        """The database, for what the test itself asks of it."""
        assert self._storage is not None, "the fleet is open"
        return self._storage

    def close(self) -> None:
        """End everything."""
        for member in self.members:
            if member.alive:
                with suppress(ProcessLookupError):
                    os.kill(member.pid, signal.SIGCONT)
                member.kill()
        self._stack.close()

    def member(self, kind: str = "replica", *, lossy: bool = False, jobs: int = 1, **more: str) -> Member:
        """A new member, not started: a `replica`, or a `worker` that does not schedule.

        `lossy`: on its way to the database the answers of some commits are lost.
        """
        number = len(self.members) + 1
        arguments = ["serve", "--jobs", str(jobs), *(("--no-scheduler",) if kind == "worker" else ())]
        environment = {
            **{name: value for name, value in os.environ.items() if not name.startswith("ANIMASTOR_")},
            "PYTHONPATH": PATHS,
            "ANIMASTOR_DATABASE_URL": self._wire_url() if lossy else self.database_url,
            "ANIMASTOR_COORDINATION_URL": self.valkey.url,
            "ANIMASTOR_ARTIFACTS": str(self.artifacts),
            "ANIMASTOR_BACKEND_LOG": str(self.backend_log),
            "ANIMASTOR_DISK_LOW_BYTES": "0",
            "ANIMASTOR_DISK_LOW_FRACTION": "0",
            "CHAOS_ROAD_LOG": str(self.road_log),
            "CHAOS_LONG_SEEN": str(self.long_seen),
            "CHAOS_EMPTY_AFTER_UPLOAD": str(self.emptying),
            **self.settings,
            **more,
        }
        made = Member(f"{kind} {number}", arguments, self.folder / f"home-{number}", environment, self.deeds)
        self.members.append(made)
        return made

    def _wire_url(self) -> str:
        if self.wire is None:
            context = wired(self.database_url)
            self.wire = self.loop.run(context.__aenter__())
            self._stack.callback(lambda: self.loop.run(context.__aexit__(None, None, None)))
        return self.wire.url

    def fallen(self) -> list[str]:
        """Members that ended by themselves, with their last words."""
        return [
            f"{one.name}: {_tail(one.log)}"
            for one in self.members
            if not one.alive and one.pid not in self.deeds.killed
        ]

    # what is asked ------------------------------------------------------------------------------------------------

    def ask(self, book: Book, media: Sequence[str]) -> tuple[BookKey, int]:
        """Import a book and request media types of all of it: (book, request)."""
        return self.loop.run(self._ask(book, tuple(media)))

    async def _ask(self, book: Book, media: tuple[str, ...]) -> tuple[BookKey, int]:
        name = book.head.book_id
        saved = await self.storage.save_book(book, settings=None, source=name, source_key=name, source_sha256="")
        opened = await self.storage.open_request(NewRequest(saved.book_key, Scope(), media, f"{name}-{time.time()}"))
        while not (await self.storage.enter(opened.request.request_id, 1000)).done:
            pass
        root = root_of(await self.storage.installation())
        store = RedisCoordination.connect(self.valkey.url, SystemClock(), root=root)
        with suppress(Exception):  # nobody has to hear it: a tick finds it
            store.wake()
            await asyncio.sleep(0.05)
        await store.close()
        return saved.book_key, opened.request.request_id

    def run(self, *arguments: str) -> None:
        """A command, to its end, on a home of its own. Raises `AssertionError` when it does not succeed."""
        member = self.member("asker")
        self.members.remove(member)
        ran = subprocess.run(
            [sys.executable, str(PROGRAM), *arguments, "--json", "--home", str(member.home)],
            env=member.environment, capture_output=True, text=True, timeout=300, check=False,
        )  # fmt: skip
        assert ran.returncode == 0, (arguments, ran.stdout, ran.stderr)

    def rows(self, statement: str, *arguments: object) -> list[Any]:
        """What a statement finds in the database."""
        return self.loop.run(self._rows(statement, arguments))

    async def _rows(self, statement: str, arguments: Sequence[object]) -> list[Any]:
        import asyncpg

        connection = await asyncpg.connect(self.database_url.replace("+asyncpg", ""))
        try:
            return list(await connection.fetch(statement, *arguments))
        finally:
            await connection.close()

    def snapshot(self, *statements: str) -> list[list[Any]]:
        """What statements find at one and the same moment."""
        return self.loop.run(self._snapshot(statements))

    async def _snapshot(self, statements: Sequence[str]) -> list[list[Any]]:
        import asyncpg

        connection = await asyncpg.connect(self.database_url.replace("+asyncpg", ""))
        try:
            async with connection.transaction(isolation="repeatable_read", readonly=True):
                return [list(await connection.fetch(statement)) for statement in statements]
        finally:
            await connection.close()

    def done(self, request: int) -> bool:
        """Whether a request has ended."""
        (row,) = self.rows("SELECT state FROM request WHERE id = $1", request)
        return row["state"] not in ("open", "preparing", "paused")

    def ready(self) -> int:
        """How many assets are READY."""
        return int(self.rows("SELECT count(*) AS n FROM asset WHERE state = 4")[0]["n"])

    def left(self) -> int:
        """How many assets wait, or are at work."""
        return int(self.rows("SELECT count(*) AS n FROM asset WHERE state IN (1, 2)")[0]["n"])

    def ready_of(self, book: str) -> int:
        """How many assets of a book are READY."""
        of = "SELECT count(*) AS n FROM asset a JOIN book b USING (book_key) WHERE a.state = 4 AND b.book_id = $1"
        return int(self.rows(of, book)[0]["n"])

    def until_ready(self, count: int, timeout: float) -> None:
        """Wait until so many assets are READY."""
        until(lambda: self.ready() >= count, timeout, f"{count} assets to be ready", self.state)

    def until_done(self, request: int, timeout: float) -> None:
        """Wait until a request has ended and every dispatch is released."""
        until(lambda: self.done(request), timeout, f"request {request} to end", self.state)
        left = "SELECT count(*) AS n FROM dispatch WHERE outcome IS NULL OR released_at IS NULL"
        until(lambda: not self.rows(left)[0]["n"], 300, "all dispatches to be released", self.state)

    def state(self) -> str:
        """Where everything stands, for a failure."""
        counts = self.rows(
            "SELECT media, state, waits, reason, count(*) AS n FROM asset GROUP BY 1, 2, 3, 4 ORDER BY 1, 2"
        )
        told = [
            f"{row['media']} state {row['state']} waits {row['waits']} {row['reason']}: {row['n']}" for row in counts
        ]
        tails = [f"{one.name} {'alive' if one.alive else 'dead'}: {_tail(one.log)}" for one in self.members]
        return "\n".join((*told, *tails))


def _tail(log: Path) -> str:
    return " / ".join(log.read_text(errors="replace").splitlines()[-4:])[-900:] if log.exists() else ""


@contextmanager
def fleet_of(
    postgres: PostgresServer, folder: Path, valkey_folder: Path, settings: Mapping[str, str]
) -> Iterator[Fleet]:
    """An open fleet; nothing of it outlives the block."""
    made = Fleet(postgres, folder, valkey_folder, settings)
    try:
        made.open()
        yield made
    finally:
        made.close()


def until(
    condition: Callable[[], bool], timeout: float, what: str, state: Callable[[], str] = lambda: "", every: float = 0.1
) -> None:
    """Wait for a condition of the outside world; fail with what was waited for."""
    deadline = time.monotonic() + timeout
    while not condition():
        if time.monotonic() > deadline:
            raise AssertionError(f"waited {timeout:g} s for {what}\n{state()}")
        time.sleep(every)
