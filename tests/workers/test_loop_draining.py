"""A worker that is drained: nothing new, what no child has begun goes back uncounted, what runs is finished."""

from __future__ import annotations

import asyncio
from pathlib import Path

from loop_kit import World, settled
from test_loop_work import serving

from animastor.engine.ports import JobState, Selection
from virtual_clock import VirtualClock


def test_a_drained_worker_finishes_what_runs_and_gives_back_what_it_only_holds(tmp_path: Path) -> None:
    clock = VirtualClock()
    world = World(clock, tmp_path)

    async def main() -> None:
        await world.enter(8, seconds=1.0)  # so quick that some are claimed ahead
        loop = world.loop()
        async with serving(loop):
            await clock.sleep(2.5)
            claimed = [job for job in await world.coordination.jobs(Selection()) if job.claim_no]
            assert len(claimed) == 4
            made, began = len(world.made), len(world.bench.began)
            await asyncio.wait_for(loop.drain(), 5.0)
            assert len(world.made) == made + 2
            assert len(world.bench.began) == began, "it began what it should have handed back"
            left = await world.coordination.jobs(Selection())
            assert {job.state for job in left} == {JobState.QUEUED}
            assert len(left) == 8 - len(world.made)
            assert world.engine.failed == []
            await world.enter(1)
            await clock.sleep(60.0)
            assert len(world.bench.began) == began, "it claimed although it was drained"

    clock.run(main())


def test_what_runs_while_a_worker_is_drained_stays_claimed_however_long_it_takes(tmp_path: Path) -> None:
    clock = VirtualClock()
    world = World(clock, tmp_path)

    async def main() -> None:
        await world.enter(1, seconds=300.0)
        loop = world.loop()
        async with serving(loop):
            await clock.sleep(1.0)
            draining = asyncio.create_task(loop.drain())
            for _ in range(20):
                await clock.sleep(12.0)
                await world.coordination.serving()
                assert await world.coordination.sweep() == []
            await draining
            assert len(world.made) == 1

    clock.run(main())


def test_a_worker_with_nothing_to_do_is_drained_at_once(tmp_path: Path) -> None:
    clock = VirtualClock()
    world = World(clock, tmp_path)

    async def main() -> None:
        await world.coordination.set_era(1)
        loop = world.loop()
        async with serving(loop):
            await clock.sleep(20.0)  # a claim waits for work
            began = clock.now()
            await loop.drain()
            assert clock.now() - began < 1.0
            await settled(clock, lambda: True)

    clock.run(main())
