"""No child outlives its parent, nor does anything that the child has started."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest
from children_kit import ENCODED_S, HERE, PATIENT_S, is_gone, watch_until

from animastor.workers.frames import pack

PARENT = """
import asyncio, os, sys
from pathlib import Path
from animastor.workers.backend import Order
from animastor.workers.children import Children
from animastor.workers.work import Work

async def main(root):
    pool = Children(2, root / "scratch", environment={"PYTHONPATH": sys.argv[2]})
    def work(function):
        return Work(f"child_backends:{function}", Order("audio", "x", {}), root / function)
    told = asyncio.Event()
    encoding = asyncio.create_task(pool.run(work("encode"), lambda made: made > float(sys.argv[3]) and told.set()))
    hanging = asyncio.create_task(pool.run(work("hang"), lambda _: None))
    await told.wait()
    while not (root / "hang" / "pid").exists():
        await asyncio.sleep(0.01)
    print(*pool.pids, flush=True)
    await asyncio.gather(encoding, hanging)

asyncio.run(main(Path(sys.argv[1])))
"""


@pytest.fixture
def parent(tmp_path: Path) -> Iterator[subprocess.Popen[bytes]]:
    """A process with two busy children, one of which runs ffmpeg."""
    command = [sys.executable, "-c", PARENT, str(tmp_path), str(HERE), str(ENCODED_S)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as process:
        yield process
        process.kill()


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGINT, signal.SIGTERM])
def test_children_and_their_ffmpeg_end_with_the_parent(parent: subprocess.Popen[bytes], number: int) -> None:
    assert parent.stdout is not None
    line = parent.stdout.readline()
    below = psutil.Process(parent.pid).children(recursive=True)
    assert {child.pid for child in below} >= set(map(int, line.split()))
    assert any("ffmpeg" in child.name() for child in below)
    assert len(below) == 3
    os.kill(parent.pid, number)
    parent.wait()
    watch_until(lambda: all(is_gone(child.pid) for child in below))


@pytest.mark.skipif(sys.platform != "linux", reason="PDEATHSIG is Linux's")
def test_children_that_are_stopped_end_with_the_parent_too(parent: subprocess.Popen[bytes]) -> None:
    assert parent.stdout is not None
    pids = [int(pid) for pid in parent.stdout.readline().split()]
    for pid in pids:
        os.kill(pid, signal.SIGSTOP)
    os.kill(parent.pid, signal.SIGKILL)
    parent.wait()
    watch_until(lambda: all(is_gone(pid) for pid in pids))


def test_child_whose_parent_died_before_it_could_ask_ends_by_itself(tmp_path: Path) -> None:
    ours, its = socket.socketpair()
    with ours, its:
        stranger = os.getpid() + 1  # not this process
        command = [sys.executable, "-m", "animastor.workers.child", str(its.fileno()), str(stranger), "0"]
        child = subprocess.Popen(command, pass_fds=(its.fileno(),), start_new_session=True)
        assert child.wait(PATIENT_S) == 1


def test_closed_channel_ends_a_busy_child_where_the_kernel_does_not(tmp_path: Path) -> None:
    ours, its = socket.socketpair()
    order = {"function": "child_backends:hang", "media": "a", "kind": "b", "structure": {}, "inputs": {}, "ordered": []}
    command = [sys.executable, "-m", "animastor.workers.child", str(its.fileno()), str(os.getpid()), "0"]
    with its:
        child = subprocess.Popen(
            command, pass_fds=(its.fileno(),), start_new_session=True, env={**os.environ, "PYTHONPATH": str(HERE)}
        )
    ours.sendall(pack({**order, "workdir": str(tmp_path), "claim": None}))
    watch_until((tmp_path / "pid").exists)
    ours.close()
    assert child.wait(PATIENT_S) == -signal.SIGKILL
