"""Requests: cancelled, superseded, watched, handed over (CONTRACT 10, 11)."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Sequence
from dataclasses import replace
from itertools import pairwise

import orjson
import pytest
from invariants import always, at_rest, rows
from stage import Fate, Stage
from toys import plain_book

from animastor.engine.errors import EngineError, UnknownMediaError
from animastor.engine.holder import Holder, UnknownCommandError, event_from_json
from animastor.engine.home import Message
from animastor.engine.ports import CoordinationUnavailableError, Ended, NewRequest, Scope, ScopeKind, Selection
from animastor.engine.reasons import Reason
from animastor.engine.requests import RequestEvent
from animastor.engine.states import RequestState, State
from animastor.protocol import Worker


async def _states(stage: Stage) -> set[State]:
    return {State(row.state) for row in await rows(stage, "SELECT state FROM asset")}


def test_a_cancelled_request_leaves_nothing_running_and_what_was_made_is_kept() -> None:
    async def play(stage: Stage) -> None:
        key = await stage.save(plain_book("tale", scenes=6))
        stage.crew.fate = lambda claim, times: Fate(seconds=20.0)
        async with stage.playing() as engine:
            opened = await stage.ask(engine, key)
            await stage.clock.sleep(65.0)
            assert await engine.requests.cancel(opened.request.request_id)
            assert await stage.coordination.leases(Selection()) == []
            jobs = await stage.coordination.jobs(Selection())
            assert all(job.stopping for job in jobs)
            await stage.clock.sleep(60.0)
            assert not await engine.requests.cancel(opened.request.request_id), "repeating it is harmless"
            assert not {State.PENDING, State.GENERATING} & await _states(stage)
            await at_rest(stage)
            done = await stage.until_ended((await stage.ask(engine, key)).request.request_id)
        assert done.request.state is RequestState.DONE
        started = stage.crew.started
        assert all(started[job] <= 1 + stage.crew.stopped[job] for job in started), "only what was stopped is repeated"
        await at_rest(stage)

    Stage().run(play)


def test_cancelling_pictures_leaves_the_voice_alone() -> None:
    async def play(stage: Stage) -> None:
        key = await stage.save(plain_book("tale", scenes=2))
        other = await stage.save(plain_book("other", scenes=2))
        stage.crew.fate = lambda claim, times: Fate(seconds=20.0)
        async with stage.playing() as engine:
            cancelled = await stage.ask(engine, key, ("sketch",))
            going_on = await stage.ask(engine, other)
            await stage.clock.sleep(10.0)
            await engine.requests.cancel(cancelled.request.request_id)
            done = await stage.until_ended(going_on.request.request_id)
        assert done.request.state is RequestState.DONE
        await at_rest(stage)

    Stage().run(play)


def test_a_later_make_supersedes_the_unfinished_one() -> None:
    async def play(stage: Stage) -> None:
        key = await stage.save(plain_book("tale", scenes=4))
        stage.crew.fate = lambda claim, times: Fate(seconds=20.0)
        async with stage.playing() as engine:
            first = await stage.ask(engine, key)
            await stage.clock.sleep(30.0)
            second = await stage.ask(engine, key, scope=Scope(ScopeKind.SCENE, "ch-1", "sc-3"))
            assert second.superseded == (first.request.request_id,)
            await always(stage)
            done = await stage.until_ended(second.request.request_id)
            assert done.request.state is RequestState.DONE
            before = await stage.storage.progress(first.request.request_id)
        assert before.request.state is RequestState.SUPERSEDED
        await at_rest(stage)

    Stage().run(play)


def test_an_unknown_media_type_is_refused_by_name() -> None:
    async def play(stage: Stage) -> None:
        key = await stage.save(plain_book("tale", scenes=1))
        async with stage.playing() as engine:
            with pytest.raises(UnknownMediaError, match="no media type 'smell'; installed are voice, sketch, clip"):
                await stage.ask(engine, key, ("smell",))

    Stage().run(play)


def test_a_switched_off_media_type_is_not_entered_nor_what_requires_it() -> None:
    async def play(stage: Stage) -> None:
        made = plain_book("tale", scenes=1)
        made = replace(made, head=replace(made.head, layer_config={"sketch_enabled": False}))
        key = await stage.save(made)
        async with stage.playing() as engine:
            opened = await stage.ask(engine, key)
            assert opened.disabled == ("sketch", "clip")
            await stage.until_ended(opened.request.request_id)
            with pytest.raises(EngineError, match="sketch, clip is switched off"):
                await stage.ask(engine, key, ("clip",))
        found = {row.media: State(row.state) for row in await rows(stage, "SELECT media, state FROM asset")}
        assert found["voice"] is State.READY
        assert State.READY not in (found["sketch"], found["clip"])
        await at_rest(stage)

    Stage().run(play)


def test_progress_never_runs_backwards_and_ends_with_the_request() -> None:
    async def play(stage: Stage) -> None:
        key = await stage.save(plain_book("tale", scenes=6))
        stage.crew.fate = lambda claim, times: Fate(seconds=3.0)
        events: list[RequestEvent] = []
        async with stage.playing() as engine:
            opened = await stage.ask(engine, key)
            at = []
            async for event in engine.requests.events(opened.request.request_id):
                events.append(event)
                at.append(stage.clock.elapsed)
        fractions = [event.progress.fraction for event in events]
        assert fractions == sorted(fractions)
        assert fractions[-1] == 1.0
        assert all(fraction <= 0.99 for fraction in fractions[:-1])
        assert [event.ended for event in events] == [False] * (len(events) - 1) + [True]
        assert all(later - earlier >= 0.199 for earlier, later in pairwise(at))
        await at_rest(stage)

    Stage().run(play)


def test_the_time_left_is_right_within_half_after_a_fifth_of_a_run() -> None:
    async def play(stage: Stage) -> None:
        key = await stage.save(plain_book("tale", scenes=20))
        costs = {"voice": 2.0, "sketch": 6.0, "clip": 9.0}
        stage.crew.fate = lambda claim, times: Fate(seconds=costs[claim.job.media])
        async with stage.playing(slots=1) as engine:
            opened = await stage.ask(engine, key)
            began = stage.clock.elapsed
            events = engine.requests.events(opened.request.request_id)
            seen = [(stage.clock.elapsed, event.seconds_left) async for event in events]
        total = seen[-1][0] - began
        at, left = next((at, left) for at, left in seen if at - began >= total / 5)
        assert left is not None
        really = total - (at - began)
        assert really / 1.5 <= left <= really * 1.5

    Stage().run(play)


def test_what_is_told_of_a_request_crosses_to_another_process_unchanged() -> None:
    async def play(stage: Stage) -> None:
        key = await stage.save(plain_book("tale", scenes=2))
        async with stage.playing() as engine:
            opened = await stage.ask(engine, key, ("voice",), scope=Scope(ScopeKind.FROM_SCENE, "ch-1", "sc-1"))
            told = [event async for event in engine.requests.events(opened.request.request_id, {})]
        assert [event_from_json(orjson.loads(orjson.dumps(event))) for event in told] == told
        assert told[-1].ended

    Stage().run(play)


def test_a_holder_answers_what_it_knows_and_refuses_the_rest() -> None:
    async def play(stage: Stage) -> None:
        async def echo(message: Message) -> AsyncGenerator[Message, None]:
            yield message

        holder = Holder({"echo": echo})
        assert [answer async for answer in holder.answer({"command": "echo"})] == [{"command": "echo"}]
        with pytest.raises(UnknownCommandError, match="does not know the command 'make'"):
            await anext(holder.answer({"command": "make"}))

    Stage().run(play)


def test_an_interrupted_entry_goes_on_at_the_next_start() -> None:
    async def play(stage: Stage) -> None:
        key = await stage.save(plain_book("long", scenes=30, units=1))
        new = NewRequest(key, Scope(), ("voice",), "interrupted")
        opened = await stage.storage.open_request(new)
        await stage.storage.enter(opened.request.request_id, 10)
        async with stage.playing():
            done = await stage.until_ended(opened.request.request_id)
        assert done.media[0].ready == 30
        await at_rest(stage)

    Stage().run(play)


def test_an_interrupted_cancel_goes_on_at_the_next_start() -> None:
    async def play(stage: Stage) -> None:
        key = await stage.save(plain_book("tale", scenes=4))
        stage.crew.fate = lambda claim, times: Fate(seconds=200.0)
        async with stage.playing() as engine:
            opened = await stage.ask(engine, key)
            await stage.clock.sleep(10.0)
            await stage.storage.close_request(opened.request.request_id, RequestState.CANCELLED)
        async with stage.playing(stage.engine("later")):
            await stage.clock.sleep(100.0)
        assert not {State.PENDING, State.GENERATING} & await _states(stage)
        assert Reason.CANCELLED in {row.reason for row in await rows(stage, "SELECT reason FROM dispatch")}
        await at_rest(stage)

    Stage().run(play)


def test_a_cancel_returns_only_when_nothing_of_it_can_be_claimed_any_more() -> None:
    """While the coordination store is away it says so; repeated, it finds nothing to sweep, but releases."""

    async def play(stage: Stage) -> None:
        key = await stage.save(plain_book("tale", scenes=2))
        async with stage.playing(workers=0) as engine:
            await stage.hub(engine).register(Worker("wrk", "idle", dict.fromkeys(stage.profiles, 4)))
            opened = await stage.ask(engine, key, ("voice",))
            await stage.clock.sleep(1.0)
            assert await stage.coordination.jobs(Selection())
            release = stage.coordination.release

            async def away(ended: Sequence[Ended]) -> Sequence[bool]:
                raise CoordinationUnavailableError("it does not answer")

            stage.coordination.release = away  # type: ignore[method-assign]
            with pytest.raises(CoordinationUnavailableError):
                await engine.requests.cancel(opened.request.request_id)
            stage.coordination.release = release  # type: ignore[method-assign]
            assert not await engine.requests.cancel(opened.request.request_id)
            assert not await stage.coordination.jobs(Selection())

    Stage().run(play)
