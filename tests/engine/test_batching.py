"""Natural batches, and halving down to the member at fault (engine.batching)."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from animastor.engine.batching import Batcher, Fault, in_halves
from animastor.engine.errors import EngineStoppedError
from animastor.engine.ports import StorageUnavailableError
from virtual_clock import VirtualClock, now


class Served:
    """Doubles numbers, and remembers the batches; a negative number spoils its batch."""

    def __init__(self, seconds: float = 0.0) -> None:
        self.batches: list[list[int]] = []
        self.seconds = seconds

    async def __call__(self, batch: Sequence[int]) -> Sequence[int]:
        self.batches.append(list(batch))
        if self.seconds:
            await asyncio.sleep(self.seconds)
        if any(number < 0 for number in batch):
            raise ValueError("negative")
        return [2 * number for number in batch]


def _run(served: Served, calls: Sequence[int], limit: int = 10) -> list[int | BaseException]:
    async def main() -> list[int | BaseException]:
        batcher: Batcher[int, int] = Batcher(served, limit)
        loop = asyncio.create_task(batcher.run())
        answers = await asyncio.gather(*(batcher(number) for number in calls), return_exceptions=True)
        loop.cancel()
        return answers

    return VirtualClock().run(main())


def test_calls_that_come_together_are_one_batch() -> None:
    served = Served()
    assert _run(served, [1, 2, 3]) == [2, 4, 6]
    assert served.batches == [[1, 2, 3]]


def test_a_batch_has_at_most_its_limit() -> None:
    served = Served()
    assert _run(served, list(range(25))) == [2 * number for number in range(25)]
    assert [len(batch) for batch in served.batches] == [10, 10, 5]


def test_what_arrives_while_a_batch_is_served_is_the_next_one() -> None:
    served = Served(seconds=1.0)

    async def main() -> list[int]:
        batcher: Batcher[int, int] = Batcher(served, 10)
        loop = asyncio.create_task(batcher.run())
        first = asyncio.create_task(batcher(1))
        await asyncio.sleep(0.5)
        others = [asyncio.create_task(batcher(number)) for number in (2, 3)]
        answers = await asyncio.gather(first, *others)
        loop.cancel()
        return answers

    assert VirtualClock().run(main()) == [2, 4, 6]
    assert served.batches == [[1], [2, 3]]


def test_every_caller_of_a_failed_batch_is_told_and_the_next_batch_is_served() -> None:
    async def main() -> None:
        batcher: Batcher[int, int] = Batcher(Served(), 10)
        loop = asyncio.create_task(batcher.run())
        answers = await asyncio.gather(batcher(1), batcher(-1), return_exceptions=True)
        assert [type(answer) for answer in answers] == [ValueError, ValueError]
        assert await batcher(3) == 6
        loop.cancel()

    VirtualClock().run(main())


def test_losing_the_database_ends_the_loop_after_its_callers_were_told() -> None:
    async def lost(batch: Sequence[int]) -> Sequence[int]:
        raise StorageUnavailableError("gone")

    async def main() -> None:
        batcher: Batcher[int, int] = Batcher(lost, 10)
        loop = asyncio.create_task(batcher.run())
        with pytest.raises(StorageUnavailableError):
            await batcher(1)
        with pytest.raises(StorageUnavailableError):
            await loop
        with pytest.raises(EngineStoppedError):
            await batcher(2)

    VirtualClock().run(main())


def test_callers_of_a_stopped_loop_are_told_to_ask_another() -> None:
    async def main() -> None:
        batcher: Batcher[int, int] = Batcher(Served(seconds=10.0), 1)
        loop = asyncio.create_task(batcher.run())
        calls = [asyncio.create_task(batcher(number)) for number in (1, 2)]
        await asyncio.sleep(1.0)
        loop.cancel()
        answers = await asyncio.gather(*calls, return_exceptions=True)
        assert [type(answer) for answer in answers] == [EngineStoppedError, EngineStoppedError]

    VirtualClock().run(main())


@given(st.lists(st.integers(-3, 100), max_size=40))
def test_halving_finds_exactly_the_members_at_fault(numbers: list[int]) -> None:
    answers = now(in_halves(Served(), numbers))
    assert [isinstance(answer, Fault) for answer in answers] == [number < 0 for number in numbers]
    assert [answer for answer in answers if not isinstance(answer, Fault)] == [2 * n for n in numbers if n >= 0]


def test_halving_does_not_blame_a_member_for_a_lost_database() -> None:
    async def lost(batch: Sequence[int]) -> Sequence[int]:
        raise StorageUnavailableError("gone")

    with pytest.raises(StorageUnavailableError):
        now(in_halves(lost, [1, 2]))
