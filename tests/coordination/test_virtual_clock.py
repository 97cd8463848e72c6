"""The clock that other tests stand on."""

from __future__ import annotations

import asyncio
import time

import pytest

from virtual_clock import EPOCH, NothingHappensError, VirtualClock, now


def test_hours_pass_in_an_instant_and_in_order():
    clock = VirtualClock()
    woken: list[tuple[str, float]] = []

    async def sleeper(name: str, seconds: float) -> None:
        await clock.sleep(seconds)
        woken.append((name, clock.now() - EPOCH))

    async def main() -> None:
        await asyncio.gather(sleeper("late", 7200.0), sleeper("early", 60.0), asyncio.sleep(3600.0))

    began = time.perf_counter()
    clock.run(main())

    assert woken == [("early", 60.0), ("late", 7200.0)]
    assert time.perf_counter() - began < 60.0


def test_time_stands_still_while_a_thread_works():
    clock = VirtualClock()

    async def main() -> float:
        watcher = asyncio.ensure_future(clock.sleep(1.0))
        await asyncio.to_thread(time.sleep, 0.02)
        assert not watcher.done()
        await watcher
        return clock.now() - EPOCH

    assert clock.run(main()) == 1.0


def test_a_run_in_which_nothing_can_happen_any_more_ends():
    async def main() -> None:
        await asyncio.get_running_loop().create_future()

    with pytest.raises(NothingHappensError):
        VirtualClock().run(main())


def test_tasks_that_are_left_behind_are_cancelled():
    clock = VirtualClock()
    ended: list[str] = []

    async def forever() -> None:
        try:
            await clock.sleep(1e9)
        finally:
            ended.append("cancelled")

    async def main() -> None:
        task = asyncio.ensure_future(forever())
        await clock.advance(1.0)
        assert not task.done()

    clock.run(main())
    assert ended == ["cancelled"]


def test_an_operation_that_waits_is_no_atomic_step():
    with pytest.raises(AssertionError):
        now(VirtualClock().sleep(0.0))
