"""Looking ahead plans the next batch while one begins: nothing is looked at twice, and nothing old is begun."""

from __future__ import annotations

import asyncio
from itertools import count
from random import Random

from stage import Stage
from toys import plain_book

from animastor.engine.assembly import Core, World
from animastor.engine.config import EngineConfig
from animastor.engine.looking import FRESH_S, Lookout
from animastor.protocol import Pair

PAIR = Pair("sketch", "system")


class _Asked:
    """A storage that notes how what is due was asked for."""

    def __init__(self, stage: Stage) -> None:
        self._storage = stage.storage
        self.limits: list[tuple[int, int]] = []

    def __getattr__(self, name: str):  # type: ignore[no-untyped-def]
        return getattr(self._storage, name)

    async def due(self, pair, limit, each, after_book, besides=()):  # type: ignore[no-untyped-def]
        self.limits.append((limit, len(besides)))
        return await self._storage.due(pair, limit, each, after_book, besides)


async def _lookout(stage: Stage, scenes: int) -> tuple[Lookout, _Asked]:
    """A lookout over a book whose pictures were asked for, and what it asked."""
    key = await stage.save(plain_book("tale", scenes=scenes, units=1))
    await stage.ask(stage.engine("asker"), key, ("sketch",))
    asked = _Asked(stage)
    world = World(
        asked,  # type: ignore[arg-type]
        stage.coordination,
        stage.bytes,
        stage.checker,
        stage.registry,
        stage.clock,
        EngineConfig(),
        map("{:032x}".format, count()).__next__,
        Random(1),
        stage.alarms.append,
    )
    return Core(world).lookout, asked


def test_next_batch_is_planned_while_one_begins_and_holds_nothing_of_it() -> None:
    async def play(stage: Stage) -> None:
        lookout, asked = await _lookout(stage, 7)
        running = asyncio.create_task(lookout.run())
        await asyncio.sleep(0)
        seen: list[int] = []
        for _ in range(2):
            look = await lookout.next(PAIR, 3, 1)
            lookout.ahead(PAIR, 3, 1, look)
            seen += [start.place.asset for start in look.starts]
            await stage.clock.sleep(0.1)
        assert len(set(seen)) == len(seen) == 6
        assert asked.limits == [(3, 0), (3, 3), (3, 3)]
        running.cancel()

    Stage().run(play)


def test_what_was_looked_at_too_long_ago_is_looked_at_again() -> None:
    async def play(stage: Stage) -> None:
        lookout, asked = await _lookout(stage, 7)
        running = asyncio.create_task(lookout.run())
        await asyncio.sleep(0)
        first = await lookout.next(PAIR, 3, 1)
        lookout.ahead(PAIR, 3, 1, first)
        await stage.clock.sleep(2 * FRESH_S)
        again = await lookout.next(PAIR, 3, 1)
        assert [start.place.asset for start in again.starts] == [start.place.asset for start in first.starts]
        assert asked.limits == [(3, 0), (3, 3), (3, 0)]
        running.cancel()

    Stage().run(play)


def test_what_is_more_than_there_is_room_for_waits_for_the_next_turn() -> None:
    async def play(stage: Stage) -> None:
        lookout, asked = await _lookout(stage, 9)
        running = asyncio.create_task(lookout.run())
        await asyncio.sleep(0)
        first = await lookout.next(PAIR, 4, 1)
        lookout.ahead(PAIR, 4, 1, first)
        second, third = await lookout.next(PAIR, 1, 1), await lookout.next(PAIR, 3, 1)
        starts = [start.place.asset for look in (first, second, third) for start in look.starts]
        assert len(set(starts)) == len(starts) == 8
        assert len(asked.limits) == 2
        running.cancel()

    Stage().run(play)


def test_nothing_is_looked_at_ahead_when_the_last_look_found_all_there_was() -> None:
    async def play(stage: Stage) -> None:
        lookout, asked = await _lookout(stage, 2)
        running = asyncio.create_task(lookout.run())
        await asyncio.sleep(0)
        lookout.ahead(PAIR, 3, 1, await lookout.next(PAIR, 3, 1))
        await stage.clock.sleep(0.1)
        assert asked.limits == [(3, 0)]
        running.cancel()

    Stage().run(play)
