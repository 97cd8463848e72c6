"""The loop claims what it can do, keeps its children busy, and never claims much more than it can do at once."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from datetime import timedelta
from pathlib import Path

import pytest
from loop_kit import World, settled

from animastor.engine.ports import Selection
from animastor.engine.reasons import Reason
from animastor.hub.local import LocalHub
from animastor.protocol import MERGE, Answer, Claim, FailureType, Running, Worker
from animastor.workers.backends import Backends, CpuBackend
from animastor.workers.loop import WorkerLoop
from animastor.workers.work import Limits
from virtual_clock import VirtualClock


@asynccontextmanager
async def serving(loop: WorkerLoop) -> AsyncIterator[WorkerLoop]:
    """The loop runs inside."""
    task = asyncio.create_task(loop.run())
    try:
        yield loop
    finally:
        loop.stop()
        await task


def test_every_job_is_delivered_once_with_its_notes_and_nothing_is_left(tmp_path: Path) -> None:
    clock = VirtualClock()
    world = World(clock, tmp_path)

    async def main() -> None:
        await world.enter(8, seconds=0.2)
        async with serving(world.loop()):
            await settled(clock, lambda: len(world.made) == 8)
            assert sorted(tmp_path.glob("work/one/*-*")) == []
        assert sorted(world.made) == sorted(set(world.bench.began))
        assert {uploaded.notes["note"] for _, _, uploaded in world.engine.finished} == set(world.made)
        assert await world.coordination.jobs(Selection()) == []

    clock.run(main())
    world.workdir.close()
    assert sorted(tmp_path.glob("work/*")) == []


def test_no_more_run_than_there_are_children_and_long_jobs_are_never_claimed_ahead(tmp_path: Path) -> None:
    clock = VirtualClock()
    world = World(clock, tmp_path)

    async def main() -> None:
        await world.enter(12, seconds=10.0)
        async with serving(world.loop()):
            await clock.sleep(25.0)
            claimed = [job for job in await world.coordination.jobs(Selection()) if job.claim_no]
            assert len(claimed) == world.bench.most == 2

    clock.run(main())


def test_quick_jobs_are_claimed_ahead_one_for_each_child(tmp_path: Path) -> None:
    clock = VirtualClock()
    world = World(clock, tmp_path)

    async def main() -> None:
        await world.enter(8, seconds=1.0)
        async with serving(world.loop()):
            await clock.sleep(2.5)
            claimed = [job for job in await world.coordination.jobs(Selection()) if job.claim_no]
            assert len(claimed) == 4
            assert world.bench.most == 2

    clock.run(main())


def test_merges_come_first_and_the_other_profiles_in_turn(tmp_path: Path) -> None:
    clock = VirtualClock()
    world = World(clock, tmp_path, count=1)

    async def main() -> None:
        await world.enter(4, "voice", seconds=5.0)
        await world.enter(2, "brush", seconds=5.0)
        await world.enter(1, MERGE, seconds=5.0)
        async with serving(world.loop()):
            await settled(clock, lambda: len(world.made) == 7)
        kinds = [text.split("-")[0] for text in world.bench.began]
        assert kinds == [MERGE, "voice", "brush", "voice", "brush", "voice", "voice"]

    clock.run(main())


def test_inputs_are_fetched_before_the_work_begins(tmp_path: Path) -> None:
    clock = VirtualClock()
    world = World(clock, tmp_path)
    (world.shelf.folder / "one.txt").write_text("one")

    async def main() -> None:
        await world.enter(1, inputs=["one", "one"])
        await world.enter(1, inputs=["unknown"])
        async with serving(world.loop()):
            await settled(clock, lambda: len(world.made) == 1 and bool(world.engine.failed))
        ((_, failure, code, _),) = world.engine.failed
        assert (failure, code) == (FailureType.TRANSIENT, Reason.ARTIFACT_MISSING)

    clock.run(main())


def test_work_is_limited_by_the_jobs_time_without_progress(tmp_path: Path) -> None:
    clock = VirtualClock()
    world = World(clock, tmp_path)

    async def main() -> None:
        (job,) = await world.enter(1)
        async with serving(world.loop()):
            await settled(clock, lambda: bool(world.made))
        assert world.bench.limits == [Limits.of_job(job.timeout_s)]

    clock.run(main())


def test_work_that_comes_while_it_waits_begins_at_once(tmp_path: Path) -> None:
    clock = VirtualClock()
    world = World(clock, tmp_path)

    async def main() -> None:
        await world.coordination.set_era(1)
        async with serving(world.loop()):
            await clock.sleep(100.0)
            await world.enter(1, seconds=1.0)
            entered = clock.now()
            await settled(clock, lambda: bool(world.made))
            assert world.engine.finished[0][0] - entered < 1.1

    clock.run(main())


def test_failure_of_the_backend_reaches_the_engine_as_it_is(tmp_path: Path) -> None:
    clock = VirtualClock()
    world = World(clock, tmp_path)

    async def main() -> None:
        await world.enter(1, fails="permanent")
        async with serving(world.loop()):
            await settled(clock, lambda: bool(world.engine.failed))
        ((_, *told),) = world.engine.failed
        assert told == [FailureType.PERMANENT, "told", "as it was told"]

    clock.run(main())


def test_backend_that_is_not_well_costs_no_job_and_is_claimed_for_when_it_is(tmp_path: Path) -> None:
    clock = VirtualClock()
    world = World(clock, tmp_path)
    world.ill["voice"] = "there is no voice"

    async def main() -> None:
        await world.enter(1, "voice")
        await world.enter(1, "brush")
        async with serving(world.loop()):
            await clock.sleep(60.0)
            assert [text.split("-")[0] for text in world.made] == ["brush"]
            assert world.engine.failed == []
            del world.ill["voice"]
            await clock.sleep(12.0)
            assert [text.split("-")[0] for text in world.made] == ["brush", "voice"]
        assert world.keys.woken == [MERGE, "brush", "voice"]

    clock.run(main())


def test_backend_whose_service_asks_for_a_rest_gets_it_and_the_others_go_on(tmp_path: Path) -> None:
    clock = VirtualClock()
    world = World(clock, tmp_path)

    async def main() -> None:
        await world.enter(1, "voice", fails="transient", retry_after_s=100.0)
        async with serving(world.loop()):
            await clock.sleep(5.0)
            await world.enter(1, "voice")
            await world.enter(1, "brush")
            await clock.sleep(85.0)
            assert [text.split("-")[0] for text in world.made] == ["brush"]
            await clock.sleep(20.0)
            assert [text.split("-")[0] for text in world.made] == ["brush", "voice"]
        assert [failure for _, failure, _, _ in world.engine.failed] == [FailureType.TRANSIENT]

    clock.run(main())


@pytest.mark.parametrize(("asked", "given"), [(30.0, 30.0), (1e9, 3600.0)])
def test_rest_is_as_long_as_asked_but_not_for_ever(asked: float, given: float) -> None:
    clock = VirtualClock()
    table = Backends([CpuBackend("p", {}, lambda: None)], clock)
    table.rest("p", asked)
    table.rest("p", 1.0)
    clock.jump(given - 0.1)
    assert clock.run(table.able()) == ()
    assert table.complaints == {}
    clock.jump(0.2)
    assert clock.run(table.able()) == ("p",)


def test_misconfigured_backend_is_left_alone_for_ten_minutes_and_its_job_goes_back(tmp_path: Path) -> None:
    clock = VirtualClock()
    world = World(clock, tmp_path)

    async def main() -> None:
        await world.enter(1, "voice", fails="misconfigured")
        await world.enter(1, "brush")
        async with serving(world.loop()):
            await clock.sleep(590.0)
            assert len(world.engine.failed) == 1
            assert [text.split("-")[0] for text in world.made] == ["brush"]
            await clock.sleep(20.0)
            assert len(world.engine.failed) == 2

    clock.run(main())


class Listening(LocalHub):
    """A hub that remembers what it is told, in order."""

    calls: list[tuple[str, object]]

    async def claim(self, worker: Worker, limit: Mapping[str, int], wait: timedelta) -> Sequence[Claim]:
        try:
            return await super().claim(worker, limit, wait)
        finally:
            self.calls.append(("claim", dict(limit)))

    async def heartbeat(self, worker: Worker, running: Sequence[Running]) -> Sequence[Answer]:
        self.calls.append(("heartbeat", [line.progress for line in running]))
        return await super().heartbeat(worker, running)

    async def hand_back(self, worker: Worker, claims: Sequence[Claim]) -> None:
        self.calls.append(("hand_back", [claim.job.params["text"] for claim in claims]))
        await super().hand_back(worker, claims)

    async def goodbye(self, worker: Worker) -> None:
        self.calls.append(("goodbye", None))
        await super().goodbye(worker)


def listening(world: World) -> Listening:
    """The world's hub, remembering."""
    world.hub.__class__ = Listening
    assert isinstance(world.hub, Listening)
    world.hub.calls = []
    return world.hub


def test_heartbeats_come_every_five_seconds_with_progress_and_only_while_something_runs(tmp_path: Path) -> None:
    clock = VirtualClock()
    world = World(clock, tmp_path)
    hub = listening(world)

    async def main() -> None:
        await world.enter(1, seconds=22.0)
        async with serving(world.loop()):
            await clock.sleep(100.0)
        told = [what for name, what in hub.calls if name == "heartbeat"]
        assert told == [[0.2], [0.4], [0.6], [0.9]]

    clock.run(main())


def test_stop_ends_exactly_that_job_and_its_claim(tmp_path: Path) -> None:
    clock = VirtualClock()
    world = World(clock, tmp_path)

    async def main() -> None:
        first, second = await world.enter(2, seconds=60.0)
        async with serving(world.loop()):
            await clock.sleep(7.0)
            await world.coordination.discard_jobs([first.job_id])
            await clock.sleep(5.0)
            assert world.bench.ended == [first.params["text"]]
            assert [job.job_id for job in await world.coordination.jobs(Selection())] == [second.job_id]
            await settled(clock, lambda: bool(world.made))
        assert world.made == [second.params["text"]]
        assert world.engine.failed == []

    clock.run(main())


def test_at_its_end_claims_end_first_work_is_handed_back_and_heartbeats_end_last(tmp_path: Path) -> None:
    clock = VirtualClock()
    world = World(clock, tmp_path, count=3)
    hub = listening(world)

    async def main() -> None:
        jobs = await world.enter(2, seconds=60.0)
        loop = world.loop()
        task = asyncio.create_task(loop.run())
        await clock.sleep(12.0)
        loop.stop()
        await task
        texts = [job.params["text"] for job in jobs]
        assert [call for call in hub.calls[-3:] if call[0] != "heartbeat"] == [
            ("claim", {MERGE: 1, "voice": 1, "brush": 1}),
            ("hand_back", texts),
            ("goodbye", None),
        ]
        assert sorted(world.bench.ended) == texts
        waiting = await world.coordination.jobs(Selection())
        assert {(job.state, job.live, job.claim_no) for job in waiting} == {("queued", True, 0)}
        assert world.engine.failed == []

    clock.run(main())


def test_cancelled_it_ends_as_when_it_is_stopped(tmp_path: Path) -> None:
    clock = VirtualClock()
    world = World(clock, tmp_path)
    hub = listening(world)

    async def main() -> None:
        await world.enter(1, seconds=60.0)
        task = asyncio.create_task(world.loop().run())
        await clock.sleep(3.0)
        task.cancel()
        await asyncio.wait({task})
        assert task.cancelled()
        assert [name for name, _ in hub.calls[-2:]] == ["hand_back", "goodbye"]

    clock.run(main())
