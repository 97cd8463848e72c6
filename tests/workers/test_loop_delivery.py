"""A finished result waits on disk until the hub has answered: through absences, lost stores, and crashes."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import orjson
import pytest
from children_kit import HERE, is_gone, watch_until
from hypothesis import given
from hypothesis import strategies as st
from loop_kit import World, settled
from test_loop_work import listening, serving

from animastor.engine.ports import Selection
from animastor.engine.reasons import Reason
from animastor.protocol import Answer, HubRefusedError, Running, Worker
from animastor.workers import receipts
from animastor.workers.delivery import FIRST_S, LONGEST_S, pause
from animastor.workers.frames import pack
from animastor.workers.workdir import Workdir
from virtual_clock import VirtualClock


def test_result_is_delivered_when_the_store_and_the_database_are_back(tmp_path: Path) -> None:
    clock = VirtualClock()
    world = World(clock, tmp_path)
    hub = listening(world)
    world.shelf.away = 8
    world.engine.answers = [ConnectionError("no database")] * 8

    async def main() -> None:
        await world.coordination.serving()
        await world.enter(1, seconds=1.0)
        async with serving(world.loop()):
            await clock.sleep(20.0)
            assert world.made == []
            assert len(list(tmp_path.glob("work/one/*/made.txt"))) == 1
            await settled(clock, lambda: bool(world.made))
            lost = await world.coordination.sweep()
            assert lost == []  # heartbeats kept the claim alive all the while
        assert world.bench.began == world.made
        assert sum(name == "heartbeat" for name, _ in hub.calls) >= 10

    clock.run(main())


def test_artifact_that_was_just_collected_is_uploaded_again(tmp_path: Path) -> None:
    clock = VirtualClock()
    world = World(clock, tmp_path)
    world.engine.answers = [Reason.ARTIFACT_GONE, Reason.ARTIFACT_GONE]

    async def main() -> None:
        await world.enter(1)
        async with serving(world.loop()):
            await settled(clock, lambda: bool(world.made))
        assert len(world.shelf.put_at) == 3

    clock.run(main())


def test_refused_result_is_reported_and_given_up(tmp_path: Path) -> None:
    clock = VirtualClock()
    world = World(clock, tmp_path)
    world.engine.answers = [HubRefusedError("no_room_here", "why")]

    async def main() -> None:
        await world.enter(1)
        async with serving(world.loop()):
            await settled(clock, lambda: bool(world.engine.failed))
            assert [code for _, _, code, _ in world.engine.failed] == ["no_room_here"]
        assert list(tmp_path.glob("work/one/*-*")) == []

    clock.run(main())


def test_result_whose_file_somebody_removed_is_a_failure_and_not_tried_for_ever(tmp_path: Path) -> None:
    clock = VirtualClock()
    world = World(clock, tmp_path)
    world.engine.answers = [Reason.ARTIFACT_GONE]

    async def remove(source: Path, suffix: str) -> tuple[str, int]:
        source.read_bytes()  # as every store does
        for path in source.parent.iterdir():
            path.unlink()
        return "made", 4

    world.shelf.put = remove  # type: ignore[method-assign]

    async def main() -> None:
        await world.enter(1)
        async with serving(world.loop()):
            await settled(clock, lambda: bool(world.engine.failed))
        assert [code for _, _, code, _ in world.engine.failed] == ["artifact_gone"]

    clock.run(main())


def test_nothing_more_is_claimed_while_too_many_results_wait(tmp_path: Path) -> None:
    clock = VirtualClock()
    world = World(clock, tmp_path, count=1)
    world.shelf.away = 1_000_000

    async def main() -> None:
        await world.enter(40, seconds=0.1)
        async with serving(world.loop()):
            await clock.sleep(60.0)
            assert len(world.bench.began) == 17

    clock.run(main())


def test_running_claims_are_known_again_after_the_store_was_lost(tmp_path: Path) -> None:
    clock = VirtualClock()
    world = World(clock, tmp_path)

    async def main() -> None:
        (job,) = await world.enter(1, seconds=60.0)
        async with serving(world.loop()):
            await clock.sleep(3.0)
            world.coordination.lose()
            await clock.sleep(3.0)
            await world.coordination.set_era(2)
            await clock.sleep(5.0)
            (known,) = await world.coordination.jobs(Selection())
            assert (known.job_id, known.worker, known.claim_no >> 40) == (job.job_id, "local/one", 1)
            await settled(clock, lambda: bool(world.made))
        assert world.bench.began == world.made

    clock.run(main())


def test_lost_heartbeat_ends_nothing(tmp_path: Path) -> None:
    clock = VirtualClock()
    world = World(clock, tmp_path)
    hub = listening(world)

    async def refuse(worker: Worker, running: Sequence[Running]) -> Sequence[Answer]:
        raise ConnectionError("nobody there")

    hub.heartbeat = refuse  # type: ignore[method-assign]

    async def main() -> None:
        await world.enter(1, seconds=60.0)
        async with serving(world.loop()):
            await settled(clock, lambda: bool(world.made))

    clock.run(main())


@given(tries=st.integers(0, 10_000), draw=st.floats(0.0, 1.0, exclude_max=True))
def test_pause_grows_to_a_limit_and_is_never_short(tries: int, draw: float) -> None:
    assert FIRST_S / 2 <= pause(tries, draw) <= LONGEST_S
    assert pause(tries + 1, draw) >= pause(tries, draw)


CRASHING = """
import asyncio, os, sys
from pathlib import Path
sys.path[:0] = [sys.argv[2], str(Path(sys.argv[2]).parent)]
from random import Random
from loop_kit import World
from animastor.workers.backends import Backends, CpuBackend
from animastor.workers.children import Children
from animastor.workers.loop import WorkerLoop
from animastor.workers.workdir import Workdir
from animastor.protocol import Worker
import time

class Clock:
    now = staticmethod(time.time)
    sleep = staticmethod(asyncio.sleep)

async def main(root):
    world = World(Clock(), root)
    world.shelf.away = 1_000_000
    workdir = Workdir(root / "work", "crashing")
    names = {"voice": "write", "brush": "encode"}
    backends = Backends([CpuBackend(n, {"audio": f"child_backends:{f}", "image": f"child_backends:{f}"}, lambda: None)
                         for n, f in names.items()], Clock())
    children = Children(2, workdir.scratch, environment={"PYTHONPATH": sys.argv[2]})
    worker = Worker("local", "crashing", backends.capacity(2))
    loop = WorkerLoop(world.hub, worker, children, backends, clock=Clock(), workdir=workdir, random=Random(1))
    await world.enter(2, "voice")
    await world.enter(1, "brush")
    task = asyncio.create_task(loop.run())
    while len(list(root.glob("work/*/*/result.json"))) < 2 or not list(root.glob("work/*/*/long.wav")):
        await asyncio.sleep(0.01)
    secret, = world.keys.keys.items()
    print('crash now', secret[0], secret[1][0].hex(), secret[1][1], *children.pids, flush=True)
    await task

asyncio.run(main(Path(sys.argv[1])))
"""


def test_after_a_crash_finished_results_are_delivered_and_everything_else_is_removed(tmp_path: Path) -> None:
    command = [sys.executable, "-c", CRASHING, str(tmp_path), str(HERE)]
    with subprocess.Popen(command, stdout=subprocess.PIPE) as crashing:
        assert crashing.stdout is not None
        said = next(line for line in crashing.stdout if line.startswith(b"crash now"))
        _, _, key_id, secret, made, *pids = said.decode().split()
        os.kill(crashing.pid, signal.SIGKILL)
    watch_until(lambda: all(is_gone(int(pid)) for pid in pids))
    (tmp_path / "shelf").rmdir()
    clock = VirtualClock(float(made) + 10)
    world = World(clock, tmp_path)
    world.keys.keys[key_id] = (bytes.fromhex(secret), float(made))

    async def main() -> None:
        await world.coordination.set_era(2)
        loop = world.loop()
        assert await loop.recover() == 2
        assert sorted(world.made) == ["voice-1", "voice-2"]
        assert await world.coordination.jobs(Selection()) == []

    clock.run(main())
    assert [path.name for path in (tmp_path / "work").rglob("*")] == ["one", ".lock"]
    world.workdir.close()


def test_results_that_a_stop_could_not_deliver_wait_for_the_next_start(tmp_path: Path) -> None:
    clock = VirtualClock()
    world = World(clock, tmp_path)
    world.shelf.away = 1_000_000

    async def main() -> None:
        await world.enter(1)
        async with serving(world.loop()):
            await clock.sleep(30.0)
            folder = next(tmp_path.glob("work/one/*/made.txt")).parent
            claim = {"claim": orjson.loads(pack(claim_of(world))[4:]), "path": "made.txt", "notes": {}}
            (folder / receipts.NAME).write_bytes(orjson.dumps(claim))  # as a real child does
        world.workdir.close()
        assert len(list(tmp_path.glob("work/one/*/made.txt"))) == 1
        world.shelf.away = 0
        async with serving(world.loop(instance="two")):
            await settled(clock, lambda: bool(world.made))
            assert not (tmp_path / "work" / "one").exists()
        assert world.made == world.bench.began

    clock.run(main())


def claim_of(world: World) -> object:
    """The claim that is in the world's hands."""
    ((claim, _),) = world.hub._given.values()
    return claim


def test_folder_of_a_living_run_is_left_alone(tmp_path: Path) -> None:
    living, other = Workdir(tmp_path, "living"), Workdir(tmp_path, "other")
    (living.scratch / "deep").mkdir(parents=True)
    assert other.take_over() == ()
    assert (living.scratch / "deep").exists()
    living.close()
    other.close()
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("left", ["nonsense", b"\x00\xff", "{}", '{"claim": {}, "path": "a", "notes": {}}'])
def test_receipt_that_cannot_be_read_is_none(tmp_path: Path, left: str | bytes) -> None:
    (tmp_path / "a").touch()
    (tmp_path / receipts.NAME).write_bytes(left if isinstance(left, bytes) else left.encode())
    assert receipts.read(tmp_path) is None
