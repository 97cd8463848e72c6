"""How slow this machine is at the moment, by the one on which the promised figures were measured."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Final

STARTING: Final = (sys.executable, "-c", "import asyncio, json, sqlite3")
START_S: Final = 0.06  # what that takes there when nothing else runs


def slowness() -> float:
    """How many times as long as there things take; at least 1.

    How many are at work now counts too: the load is a mean of a minute, and a machine gets busy within a second. And
    one may be slow without being busy, which is told by how long it takes to start a process.
    """
    busy = max(os.getloadavg()[0], _at_work()) / (os.cpu_count() or 1)
    return max(1.0, busy, min(_start() for _ in range(3)) / START_S)


def _start() -> float:
    began = time.monotonic()
    subprocess.run(STARTING, check=True)
    return time.monotonic() - began


def _at_work() -> int:
    """How many threads of the machine run or want to."""
    try:
        return int(Path("/proc/loadavg").read_text().split()[3].split("/")[0])
    except OSError:  # not Linux
        return 0
