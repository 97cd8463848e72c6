"""Waiting for an event or for time (engine.waking)."""

from __future__ import annotations

import asyncio

from animastor.engine.waking import Bell, Changes
from virtual_clock import VirtualClock


def test_a_ring_before_the_wait_is_not_lost() -> None:
    clock = VirtualClock()

    async def main() -> bool:
        bell = Bell(clock)
        bell.ring()
        return await bell.wait(100.0)

    assert clock.run(main())
    assert clock.elapsed == 0.0


def test_a_ring_ends_a_wait() -> None:
    clock = VirtualClock()

    async def main() -> bool:
        bell = Bell(clock)
        waiting = asyncio.create_task(bell.wait(100.0))
        await clock.sleep(3.0)
        bell.ring()
        return await waiting

    assert clock.run(main())
    assert clock.elapsed == 3.0


def test_without_a_ring_the_time_passes() -> None:
    clock = VirtualClock()
    assert not clock.run(Bell(clock).wait(100.0))
    assert clock.elapsed == 100.0


def test_a_ring_is_heard_once() -> None:
    clock = VirtualClock()

    async def main() -> list[bool]:
        bell = Bell(clock)
        bell.ring()
        bell.ring()
        return [await bell.wait(1.0), await bell.wait(1.0)]

    assert clock.run(main()) == [True, False]


def test_a_change_wakes_every_watcher_and_only_those_who_watch() -> None:
    clock = VirtualClock()

    async def main() -> None:
        changes = Changes(clock)
        with changes.watching() as first, changes.watching() as second:
            changes.happened()
            assert await first.wait(1.0)
            assert await second.wait(1.0)
        changes.happened()
        assert not await first.wait(1.0)

    clock.run(main())
