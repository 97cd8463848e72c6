"""Several engines on one pair of stores: they take turns, and what a store that is away was asked for is done later."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import Any

import pytest
from invariants import always, at_rest, rows
from stage import Fate, Stage
from toys import PROFILES, plain_book

from animastor.engine.engine import Engine
from animastor.engine.ports import Begin, Begun, CoordinationUnavailableError, StorageUnavailableError
from animastor.engine.reasons import Reason
from animastor.engine.states import RequestState
from animastor.engine.turns import TURN_S, Turn
from animastor.protocol import Worker


class Around:
    """A port with something done before each of its calls."""

    def __init__(self, port: object, before: Callable[[str], Awaitable[None]]) -> None:
        self._port = port
        self._before = before

    def __getattr__(self, name: str) -> Any:
        call = getattr(self._port, name)
        if not asyncio.iscoroutinefunction(call):
            return call

        async def guarded(*args: Any, **kwargs: Any) -> Any:
            await self._before(name)
            return await call(*args, **kwargs)

        return guarded


class Switch:
    """A store that can be taken away: its calls raise, or raise after they were done."""

    def __init__(self, error: Exception) -> None:
        self.away = False
        self.asked = 0
        self._error = error

    async def before(self, name: str) -> None:
        if self.away:
            self.asked += 1
            raise self._error


def engine_on(stage: Stage, name: str, *, storage: Any = None, coordination: Any = None, **config: Any) -> Engine:
    """An engine of a stage with other ports or another configuration."""
    kept = stage.storage, stage.coordination, stage.config
    stage.storage, stage.coordination = storage or stage.storage, coordination or stage.coordination
    stage.config = replace(stage.config, **config)
    made = stage.engine(name)
    stage.storage, stage.coordination, stage.config = kept
    return made


@asynccontextmanager
async def running(stage: Stage, *engines: Engine, slots: int = 3) -> AsyncIterator[None]:
    """These engines at work, each with a worker of its own."""
    for engine in engines:
        await engine.start()
    crews = [
        asyncio.create_task(stage.crew.work(stage.hub(engine), Worker("wrk", str(n), dict.fromkeys(PROFILES, slots))))
        for n, engine in enumerate(engines)
    ]
    yield
    for crew in crews:
        crew.cancel()
    await asyncio.gather(*crews, return_exceptions=True)
    for engine in engines:
        await engine.stop()


def test_replicas_that_race_for_a_pair_take_turns_and_make_nothing_twice() -> None:
    """Beginning takes a while here, so that ticks of the others fall into it."""
    inside: Counter[str] = Counter()
    most: Counter[str] = Counter()
    by: Counter[str] = Counter()

    class Slow:
        def __init__(self, stage: Stage, name: str) -> None:
            self._stage, self._name, self._storage = stage, name, stage.storage

        def __getattr__(self, name: str) -> Any:
            return getattr(self._storage, name)

        async def begin(self, begins: Sequence[Begin]) -> Sequence[Begun]:
            media = {row.id: row.media for row in await rows(self._stage, "SELECT id, media FROM asset")}
            (pair,) = {media[one.asset] for one in begins}
            inside[pair] += 1
            most[pair] = max(most[pair], inside[pair])
            by[self._name] += 1
            await self._stage.clock.sleep(0.3)
            inside[pair] -= 1
            return await self._storage.begin(begins)

    async def play(stage: Stage) -> None:
        keys = [await stage.save(plain_book(f"tale{n}", scenes=4)) for n in range(3)]
        engines = [engine_on(stage, f"e{n}", storage=Slow(stage, f"e{n}"), batch=1) for n in range(3)]
        async with running(stage, *engines):
            opened = [await stage.ask(engine, key) for engine, key in zip(engines, keys, strict=True)]
            for each in opened:
                assert (await stage.until_ended(each.request.request_id)).request.state is RequestState.DONE
            await stage.clock.sleep(60.0)
        await at_rest(stage)
        assert set(stage.crew.started.values()) == {1}

    Stage().run(play)
    assert set(most.values()) == {1}, f"two replicas were in one pair at once: {most}"
    assert len(by) > 1, f"one replica did everything: {by}"


def test_what_one_replica_was_asked_for_is_begun_by_the_one_whose_turn_it_is_without_waiting_for_a_tick() -> None:
    """Sent away from a pair, a replica leaves word: the other looks again when its turn is over."""

    async def play(stage: Stage) -> None:
        first = await stage.save(plain_book("one", scenes=1))
        second = await stage.save(plain_book("two", scenes=1))
        stage.crew.fate = lambda claim, times: Fate(seconds=60.0)  # no result wakes anybody meanwhile
        slow, held, begun = asyncio.Event(), asyncio.Event(), asyncio.Event()

        async def before(name: str) -> None:
            if name == "admit":
                begun.set()
            elif name == "end_turns" and begun.is_set() and not held.is_set():  # it has seen all that it will see
                held.set()
                await slow.wait()

        one = engine_on(stage, "one", coordination=Around(stage.coordination, before), tick_s=1000.0, keeper_s=1000.0)
        two = engine_on(stage, "two", tick_s=1000.0, keeper_s=1000.0)
        async with running(stage, one, two, slots=8):
            await stage.clock.sleep(1.0)
            a = await stage.ask(one, first, ("voice",))
            await held.wait()
            b = await stage.ask(two, second, ("voice",))
            await stage.clock.sleep(0.5)  # the other has been sent away from the pair by now
            slow.set()
            free = stage.clock.now()
            for each in (a, b):
                await stage.until_ended(each.request.request_id)
            (last,) = await rows(stage, "SELECT max(at) AS at FROM journal WHERE type = 'DISPATCHED'")
            assert last.at - free < 1.0

    Stage().run(play)


def test_a_turn_that_is_lost_in_mid_tick_is_left_to_the_other_and_nothing_is_made_twice() -> None:
    """The first replica stands still, as a stopped process does, between its look and its effects."""

    async def play(stage: Stage) -> None:
        key = await stage.save(plain_book("tale", scenes=3))
        stopped = Counter[str]()
        effects: list[str] = []

        async def before(name: str) -> None:
            if name == "admit" and not stopped["admit"]:
                stopped["admit"] += 1
                await stage.clock.sleep(3 * TURN_S)  # past its turn, and the lease of no admission yet
            elif stopped["admit"] and name == "begin":
                effects.append(name)

        paused = engine_on(
            stage,
            "paused",
            storage=Around(stage.storage, before),
            coordination=Around(stage.coordination, before),
            tick_s=1000.0,
        )
        await paused.start()
        opened = await stage.ask(paused, key, ("voice",))
        await stage.hub(paused).register(Worker("wrk", "x", dict.fromkeys(PROFILES, 1)))
        while not stopped["admit"]:
            await stage.clock.sleep(0.1)
        async with running(stage, engine_on(stage, "other")):
            done = await stage.until_ended(opened.request.request_id)
            assert done.request.state is RequestState.DONE
            await stage.clock.sleep(60.0)
        await paused.stop()
        await at_rest(stage)
        assert effects == []
        assert set(stage.crew.started.values()) == {1}

    Stage().run(play)


def test_results_are_accepted_while_the_coordination_store_is_away_and_work_goes_on_when_it_is_back() -> None:
    async def play(stage: Stage) -> None:
        key = await stage.save(plain_book("tale", scenes=3))
        switch = Switch(CoordinationUnavailableError("the coordination store cannot be reached"))
        stage.crew.fate = lambda claim, times: Fate(seconds=5.0)
        engine = engine_on(stage, "e", coordination=Around(stage.coordination, switch.before), patient=True)
        async with running(stage, engine):
            opened = await stage.ask(engine, key)
            await stage.clock.sleep(4.0)
            before = await _parts_there(stage)
            switch.away = True
            await stage.clock.sleep(9.0)
            accepted = await _parts_there(stage) - before
            assert accepted > 0, "nothing was accepted by the database alone"
            assert switch.asked > 0
            switch.away, back = False, stage.clock.now()
            done = await stage.until_ended(opened.request.request_id)
            assert done.request.state is RequestState.DONE
            (ready,) = await rows(stage, "SELECT max(at) AS at FROM journal WHERE type = 'READY'")
            assert ready.at - back < 28.0, "what was owed has been waited for"  # three media types after one another
            await stage.clock.sleep(60.0)
        await at_rest(stage)
        assert set(stage.crew.started.values()) == {1}, "what had been accepted ran again"
        told = [alarm.message for alarm in stage.alarms if alarm.reason == Reason.COORDINATION_UNAVAILABLE]
        assert len(told) == 2, told
        assert "answers again" in told[1]
        assert [alarm for alarm in stage.alarms if alarm.reason != Reason.COORDINATION_UNAVAILABLE] == []

    Stage().run(play)


def test_a_process_that_dies_owing_a_settlement_leaves_nothing_to_be_made_again() -> None:
    """Its claim falls silent and is swept; but the database knows the part, so nobody is given the job again."""

    async def play(stage: Stage) -> None:
        key = await stage.save(plain_book("tale", scenes=2))
        switch = Switch(CoordinationUnavailableError("the coordination store cannot be reached"))
        stage.crew.fate = lambda claim, times: Fate(seconds=5.0)
        first = engine_on(stage, "first", coordination=Around(stage.coordination, switch.before), patient=True)
        async with running(stage, first):
            opened = await stage.ask(first, key)
            await stage.clock.sleep(4.0)
            switch.away = True
            await stage.clock.sleep(9.0)
        await always(stage)
        async with running(stage, engine_on(stage, "second")):
            done = await stage.until_ended(opened.request.request_id)
            assert done.request.state is RequestState.DONE
            await stage.clock.sleep(90.0)
        await at_rest(stage)
        assert set(stage.crew.started.values()) == {1}, "what had been accepted ran again"

    Stage().run(play)


async def _parts_there(stage: Stage) -> int:
    return len(await rows(stage, "SELECT hash FROM part WHERE artifact <> ''"))


def test_a_patient_engine_waits_for_its_database_and_goes_on() -> None:
    async def play(stage: Stage) -> None:
        key = await stage.save(plain_book("tale", scenes=3))
        switch = Switch(StorageUnavailableError("the database is not there"))
        engine = engine_on(stage, "e", storage=Around(stage.storage, switch.before), patient=True)
        async with running(stage, engine):
            opened = await stage.ask(engine, key)
            await stage.clock.sleep(1.5)
            switch.away = True
            await stage.clock.sleep(60.0)
            switch.away = False
            done = await stage.until_ended(opened.request.request_id)
            assert done.request.state is RequestState.DONE
            await stage.clock.sleep(60.0)
        await at_rest(stage)
        told = [alarm.message for alarm in stage.alarms if alarm.reason == Reason.DATABASE_UNAVAILABLE]
        assert len(told) == 2, told

    Stage().run(play)


@pytest.mark.parametrize("scheduling", [1, 2])
def test_a_process_without_a_scheduler_works_for_those_that_have_one(scheduling: int) -> None:
    """It takes its own results in, and wakes the others for what follows."""

    async def play(stage: Stage) -> None:
        key = await stage.save(plain_book("tale", scenes=3))
        deciding = [engine_on(stage, f"e{n}", tick_s=1000.0, keeper_s=1000.0) for n in range(scheduling)]
        working = engine_on(stage, "w", schedules=False)
        for engine in deciding:
            await engine.start()
        async with running(stage, working):
            opened = await stage.ask(working, key)
            done = await stage.until_ended(opened.request.request_id, 900.0)
            assert done.request.state is RequestState.DONE
        for engine in deciding:
            await engine.stop()
        assert set(stage.crew.started.values()) == {1}

    Stage().run(play)


def test_the_first_era_of_a_fresh_database_has_no_window_and_that_of_a_lost_store_has_one() -> None:
    async def play(stage: Stage) -> None:
        key = await stage.save(plain_book("tale", scenes=2))
        engine = stage.engine()
        async with running(stage, engine):
            began = stage.clock.now()
            opened = await stage.ask(engine, key, ("voice",))
            await stage.clock.sleep(5.0)
            (first,) = await rows(stage, "SELECT min(at) AS at FROM journal WHERE type = 'DISPATCHED'")
            assert first.at - began < 5.0
            await stage.until_ended(opened.request.request_id)
            stage.coordination.lose()
            lost = stage.clock.now()
            again = await stage.ask(engine, key, ("sketch",))
            await stage.until_ended(again.request.request_id)
            (next_,) = await rows(stage, f"SELECT min(at) AS at FROM journal WHERE type = 'DISPATCHED' AND at > {lost}")
            assert 40.0 <= next_.at - lost < 60.0

    Stage(window=True).run(play)


def test_replicas_together_reconcile_as_often_as_one_alone() -> None:
    async def play(stage: Stage) -> None:
        engines = [stage.engine(f"r{n}") for n in range(3)]
        rounds: list[float] = []
        for engine in engines:
            _note_rounds(engine, rounds, stage)
            await engine.start()
            await stage.clock.sleep(7.0)
        await stage.clock.sleep(600.0)
        assert 600 / 61 <= len(rounds) <= 12
        await engines[0].stop()
        await engines[1].stop()
        before = len(rounds)
        await stage.clock.sleep(121.0)
        assert len(rounds) >= before + 2, "whoever is left does all of them"
        await engines[2].stop()

    Stage().run(play)


def _note_rounds(engine: Engine, rounds: list[float], stage: Stage) -> None:
    steps = engine.reconciliation._steps

    async def noted(turn: Turn) -> None:
        rounds.append(stage.clock.now())
        await steps(turn)

    engine.reconciliation._steps = noted  # type: ignore[method-assign]
