"""Pausing: what runs is finished and kept, nothing else starts, and resuming goes on where it was (CONTRACT 10)."""

from __future__ import annotations

from invariants import always, at_rest, rows
from stage import Fate, Stage
from toys import book, plain_book, scene, unit

from animastor.engine.ports import Scope, ScopeKind, Steer
from animastor.engine.states import RequestState, State
from animastor.protocol import FailureType


async def _states(stage: Stage) -> set[State]:
    return {State(row.state) for row in await rows(stage, "SELECT state FROM asset")}


def test_running_jobs_are_finished_and_nothing_else_starts_until_it_is_resumed() -> None:
    async def play(stage: Stage) -> None:
        key = await stage.save(plain_book("tale", scenes=6))
        stage.crew.fate = lambda claim, times: Fate(seconds=20.0)
        async with stage.playing() as engine:
            opened = await stage.ask(engine, key)
            await stage.clock.sleep(30.0)
            running, started = stage.crew.running, sum(stage.crew.started.values())
            assert running, "something is being made"
            await engine.requests.steer(Steer(key, paused=True))
            await always(stage)
            await stage.clock.sleep(600.0)
            assert sum(stage.crew.started.values()) <= started + len(stage.registry.names), "but for a merge"
            assert stage.crew.running == 0
            assert not stage.crew.stopped, "nothing that ran was stopped"
            assert State.GENERATING not in await _states(stage)
            assert (await stage.storage.progress(opened.request.request_id)).request.state is RequestState.PAUSED
            await engine.requests.steer(Steer(key, paused=False))
            done = await stage.until_ended(opened.request.request_id)
        assert done.request.state is RequestState.DONE
        assert set(stage.crew.started.values()) == {1}, "nothing is made twice"
        await at_rest(stage)

    Stage().run(play)


def test_what_is_queued_beside_a_running_job_is_not_begun_while_it_is_paused() -> None:
    async def play(stage: Stage) -> None:
        key = await stage.save(book("tale", scene("s", unit("one"), unit("two"), unit("three"))))
        stage.crew.fate = lambda claim, times: Fate(seconds=20.0)
        async with stage.playing(slots=1) as engine:
            opened = await stage.ask(engine, key, ("voice",))
            await stage.clock.sleep(5.0)
            await engine.requests.steer(Steer(key, paused=True))
            await stage.clock.sleep(300.0)
            assert sum(stage.crew.started.values()) == 1
            await engine.requests.steer(Steer(key, paused=False))
            done = await stage.until_ended(opened.request.request_id)
        assert done.request.state is RequestState.DONE
        assert set(stage.crew.started.values()) == {1}
        await at_rest(stage)

    Stage().run(play)


def test_what_fails_meanwhile_is_not_tried_again_before_it_is_resumed() -> None:
    async def play(stage: Stage) -> None:
        key = await stage.save(book("tale", scene("s", unit("one"), unit("two"))))
        failing = Fate(seconds=20.0, failure=FailureType.TRANSIENT)
        stage.crew.fate = lambda claim, times: Fate(seconds=60.0) if times else failing
        async with stage.playing() as engine:
            opened = await stage.ask(engine, key, ("voice",))
            await stage.clock.sleep(5.0)
            await engine.requests.steer(Steer(key, paused=True))
            await stage.clock.sleep(300.0)
            assert set(stage.crew.started.values()) == {1}
            await always(stage)
            await engine.requests.steer(Steer(key, paused=False))
            done = await stage.until_ended(opened.request.request_id)
        assert done.request.state is RequestState.DONE
        await at_rest(stage)

    Stage().run(play)


def test_another_book_goes_on_meanwhile() -> None:
    async def play(stage: Stage) -> None:
        held, other = await stage.save(plain_book("held", scenes=3)), await stage.save(plain_book("other", scenes=3))
        async with stage.playing() as engine:
            paused = await stage.ask(engine, held)
            await engine.requests.steer(Steer(held, paused=True))
            done = await stage.until_ended((await stage.ask(engine, other)).request.request_id)
            assert done.request.state is RequestState.DONE
            await engine.requests.cancel(paused.request.request_id)
            await stage.clock.sleep(60.0)
        await at_rest(stage)

    Stage().run(play)


def test_an_edit_while_it_is_paused_starts_nothing_of_what_is_being_made() -> None:
    async def play(stage: Stage) -> None:
        key = await stage.save(book("tale", scene("s", unit("one"), unit("two"))))
        stage.crew.fate = lambda claim, times: Fate(seconds=40.0)
        async with stage.playing(slots=1) as engine:
            opened = await stage.ask(engine, key, ("voice",))
            await stage.clock.sleep(5.0)
            assert stage.crew.running == 1
            await engine.requests.steer(Steer(key, paused=True))
            await stage.save(book("tale", scene("s", unit("one"), unit("two", "other words"))))
            await engine.edited()
            await stage.clock.sleep(120.0)
            assert sum(stage.crew.started.values()) == 1
            await engine.requests.steer(Steer(key, paused=False))
            done = await stage.until_ended(opened.request.request_id)
        assert done.request.state is RequestState.DONE
        await at_rest(stage)

    Stage().run(play)


def test_what_lies_ahead_of_the_reader_is_made_first_and_a_window_ends_idle() -> None:
    async def play(stage: Stage) -> None:
        key = await stage.save(plain_book("tale", scenes=8, units=1))
        made: list[str] = []

        def fate(claim: object, times: int) -> Fate:
            made.append(claim.job.scene_id)  # type: ignore[attr-defined]
            return Fate(seconds=5.0)

        stage.crew.fate = fate
        async with stage.playing(slots=1) as engine:
            at = Scope(ScopeKind.SCENE, "ch-1", "sc-4")
            opened = await stage.ask(engine, key, ("sketch",), kind="read", ahead=1, position=at)
            while not (await stage.storage.progress(opened.request.request_id)).idle:
                await stage.clock.sleep(1.0)
            assert made == ["sc-4", "sc-5"]
            moved = Scope(ScopeKind.SCENE, "ch-1", "sc-1")
            await engine.requests.steer(Steer(key, position=moved, ahead=0))
            await stage.until_ended(opened.request.request_id)
        assert made[2:] == ["sc-1", "sc-2", "sc-3", "sc-6", "sc-7", "sc-0"]
        await at_rest(stage)

    Stage().run(play)
