"""The program forked from an interpreter that has imported it already, as importing takes most of a short command.

Each command is a process and a session of its own, with its own arguments, environment, folder and output. What this
does not show is how a process begins: for that there is `program.Started`.
"""

from __future__ import annotations

import atexit
import fcntl
import gc
import json
import os
import pkgutil
import runpy
import socket
import subprocess
import sys
import termios
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any, NoReturn

import psutil

MOST_BYTES = 128 * 1024  # of an order: arguments and an environment


@dataclass(frozen=True)
class Ended:
    """How a command ended: exit code, negative for a signal; user and system time with that of what it waited for."""

    code: int
    cpu_s: float


class Prepared:
    """An interpreter that waits for orders, one at a time."""

    def __init__(self) -> None:
        self._orders, its = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        with its:
            self._process = subprocess.Popen(
                [sys.executable, __file__, str(its.fileno())],
                cwd="/",
                stdin=subprocess.DEVNULL,
                pass_fds=(its.fileno(),),
            )

    def run(
        self,
        arguments: Sequence[str],
        cwd: Path,
        environment: Mapping[str, str],
        output: tuple[int, int],
        timeout: float,
        *,
        terminal: bool,
    ) -> Ended:
        """Run a command, whose output goes to these two descriptors, to its end; seconds in which it has to come.

        `terminal`: the first of them is that of a terminal, which controls it.
        """
        told = {"arguments": arguments, "cwd": str(cwd), "environment": environment, "terminal": terminal}
        order = json.dumps(told).encode()
        self._orders.settimeout(timeout)
        socket.send_fds(self._orders, [order], output)
        pid = int(self._orders.recv(MOST_BYTES))
        try:
            return Ended(**json.loads(self._orders.recv(MOST_BYTES)))
        except TimeoutError:
            _kill(pid)
            self._orders.settimeout(None)
            self._orders.recv(MOST_BYTES)
            raise AssertionError(f"{arguments} was still running after {timeout} s") from None

    def close(self) -> None:
        """The end of it."""
        self._orders.close()
        self._process.wait()


@cache
def prepared() -> Prepared:
    """That of this process."""
    made = Prepared()
    atexit.register(made.close)
    return made


def _kill(pid: int) -> None:
    with suppress(psutil.NoSuchProcess):
        root = psutil.Process(pid)
        for process in (root, *root.children(recursive=True)):
            with suppress(psutil.NoSuchProcess):
                process.kill()


def _serve(orders: socket.socket) -> None:
    """Fork for each order, say who does it, and how it ended."""
    _import()
    while True:
        order, output, _, _ = socket.recv_fds(orders, MOST_BYTES, 2)
        if not order:
            return
        pid = os.fork()
        if pid == 0:
            _become(json.loads(order), output)
        for descriptor in output:
            os.close(descriptor)
        orders.send(str(pid).encode())
        _, status, usage = os.wait4(pid, 0)
        ended = {"code": os.waitstatus_to_exitcode(status), "cpu_s": usage.ru_utime + usage.ru_stime}
        orders.send(json.dumps(ended).encode())


def _import() -> None:
    """What a command imports before there is work to do."""
    import sqlalchemy.dialects.sqlite  # noqa: F401

    import animastor.app
    import animastor.commands
    from animastor.media.registry import installed

    installed()
    for found in pkgutil.iter_modules(animastor.commands.__path__, "animastor.commands."):
        import_module(found.name)
    gc.freeze()


def _become(order: Mapping[str, Any], output: Sequence[int]) -> NoReturn:
    """The program, as it is when it was started with these."""
    os.setsid()
    if order["terminal"]:
        os.dup2(output[0], 0)
        fcntl.ioctl(0, termios.TIOCSCTTY, 0)
    for number, descriptor in enumerate(output, 1):
        os.dup2(descriptor, number)
    os.closerange(3, max(output) + 1)
    os.chdir(order["cwd"])
    os.environ.clear()
    os.environ.update(order["environment"])
    sys.argv = ["animastor", *order["arguments"]]
    sys.stdout, sys.stderr = open(1, "w", closefd=False), open(2, "w", buffering=1, closefd=False)  # noqa: SIM115
    runpy.run_module("animastor", run_name="__main__", alter_sys=True)
    os._exit(0)


if __name__ == "__main__":
    _serve(socket.socket(fileno=int(sys.argv[1])))
