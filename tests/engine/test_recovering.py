"""Crashes, lost stores, lost bytes: nothing accepted is lost, and work goes on (CONTRACT 6, 11)."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Awaitable, Callable, Sequence
from typing import Any

import pytest
from invariants import always, at_rest, rows
from sqlalchemy import text
from stage import Fate, Stage
from toys import plain_book

from animastor.coordination import MemoryCoordination
from animastor.engine.errors import EngineFailedError
from animastor.engine.examining import look_at_artifacts
from animastor.engine.losses import give_up
from animastor.engine.ports import Begin, Begun, Enqueued, Outlook, Selection, StorageFullError
from animastor.engine.reasons import JournalType, Reason
from animastor.engine.states import RequestState, State
from animastor.protocol import MERGE, Job, Pair
from animastor.storage import versions


async def _states(stage: Stage) -> Counter[State]:
    return Counter(State(row.state) for row in await rows(stage, "SELECT state FROM asset"))


def _restart(stage: Stage) -> None:
    """What was in the memory of the process is gone."""
    stage.coordination = MemoryCoordination(stage.clock, stage.limits)


def test_after_a_crash_what_was_generating_is_rolled_back_uncounted_and_parts_are_kept() -> None:
    async def play(stage: Stage) -> None:
        key = await stage.save(plain_book("tale", scenes=4))
        stage.crew.fate = lambda claim, times: Fate(seconds=5.0 if claim.job.kind == "picture" else 30.0)
        async with stage.playing() as engine:
            opened = await stage.ask(engine, key)
            await stage.clock.sleep(42.0)
        before = {row.hash for row in await rows(stage, "SELECT hash FROM part WHERE state = 1")}
        assert before
        assert (await _states(stage))[State.GENERATING] > 0
        _restart(stage)
        stage.crew.by_hash.clear()
        stage.crew.started.clear()
        async with stage.playing(stage.engine("next")) as engine:
            done = await stage.until_ended(opened.request.request_id)
        assert done.request.state is RequestState.DONE
        assert not before & stage.crew.by_hash.keys(), "nothing that was accepted is made again"
        assert Reason.RESTART in {row.reason for row in await rows(stage, "SELECT reason FROM dispatch")}
        assert {row.attempts for row in await rows(stage, "SELECT attempts FROM part")} == {0}
        await at_rest(stage)

    Stage().run(play)


def test_a_second_engine_that_starts_rolls_nothing_back() -> None:
    async def play(stage: Stage) -> None:
        key = await stage.save(plain_book("tale", scenes=2))
        stage.crew.fate = lambda claim, times: Fate(seconds=30.0)
        async with stage.playing() as engine:
            opened = await stage.ask(engine, key)
            await stage.clock.sleep(10.0)
            second = stage.engine("second")
            await second.start()
            await stage.until_ended(opened.request.request_id)
            await second.stop()
        assert {row.outcome for row in await rows(stage, "SELECT outcome FROM dispatch")} == {"success"}
        await at_rest(stage)

    Stage().run(play)


@pytest.mark.parametrize("window", [True, False])
def test_losing_the_coordination_store_loses_no_accepted_part(window: bool) -> None:
    async def play(stage: Stage) -> None:
        key = await stage.save(plain_book("tale", scenes=4))
        stage.crew.fate = lambda claim, times: Fate(seconds=25.0)
        async with stage.playing() as engine:
            if window:
                await stage.clock.sleep(60.0)
            opened = await stage.ask(engine, key)
            await stage.clock.sleep(38.0)
            before = {row.hash for row in await rows(stage, "SELECT hash FROM part WHERE state = 1")}
            stage.coordination.lose()
            stage.crew.by_hash.clear()
            done = await stage.until_ended(opened.request.request_id)
        assert done.request.state is RequestState.DONE
        assert not before & stage.crew.by_hash.keys()
        if window:
            assert set(stage.crew.started.values()) == {1}, "running work was adopted, not repeated"
        await at_rest(stage)

    Stage(window=window).run(play)


def test_a_dispatch_that_lost_lease_and_jobs_is_rolled_back() -> None:
    async def play(stage: Stage) -> None:
        key = await stage.save(plain_book("tale", scenes=1))
        stage.crew.fate = lambda claim, times: Fate(seconds=30.0)
        async with stage.playing() as engine:
            opened = await stage.ask(engine, key, ("sketch",))
            await stage.clock.sleep(5.0)
            era = await stage.coordination.era()
            assert era is not None
            stage.coordination.lose()
            await stage.coordination.set_era(era)  # nobody notices
            done = await stage.until_ended(opened.request.request_id)
        assert done.request.state is RequestState.DONE
        assert Reason.LOST_BOTH in {row.reason for row in await rows(stage, "SELECT reason FROM dispatch")}
        await at_rest(stage)

    Stage().run(play)


def test_a_merge_that_was_never_entered_is_entered_by_the_keeper() -> None:
    async def play(stage: Stage) -> None:
        key = await stage.save(plain_book("tale", scenes=1))
        enqueue, lost = stage.coordination.enqueue, 0

        async def forgetful(jobs: Sequence[Job]) -> Sequence[Enqueued]:
            nonlocal lost
            if not lost and any(job.kind == MERGE for job in jobs):
                lost += 1
                return [Enqueued.STORED] * len(jobs)
            return await enqueue(jobs)

        stage.coordination.enqueue = forgetful  # type: ignore[method-assign]
        async with stage.playing() as engine:
            done = await stage.until_ended((await stage.ask(engine, key, ("voice",))).request.request_id)
        assert lost == 1
        assert done.request.state is RequestState.DONE
        assert {row.outcome for row in await rows(stage, "SELECT outcome FROM dispatch")} == {"success"}
        await at_rest(stage)

    Stage().run(play)


def test_a_job_that_the_queue_lost_is_entered_again_under_the_same_dispatch() -> None:
    async def play(stage: Stage) -> None:
        key = await stage.save(plain_book("tale", scenes=1, units=3))
        stage.crew.fate = lambda claim, times: Fate(seconds=100.0)
        enqueue, lost = stage.coordination.enqueue, 0

        async def forgetful(jobs: Sequence[Job]) -> Sequence[Enqueued]:
            nonlocal lost
            kept = jobs if lost else jobs[1:]
            lost += len(jobs) - len(kept)
            return [*([Enqueued.STORED] * (len(jobs) - len(kept))), *await enqueue(kept)]

        stage.coordination.enqueue = forgetful  # type: ignore[method-assign]
        async with stage.playing() as engine:
            opened = await stage.ask(engine, key, ("voice",))
            await stage.clock.sleep(40.0)
            assert sum(stage.crew.started.values()) == 3
            done = await stage.until_ended(opened.request.request_id)
        assert lost == 1
        assert done.request.state is RequestState.DONE
        assert set(stage.crew.started.values()) == {1}
        assert len(await rows(stage, "SELECT id FROM dispatch")) == 1
        await at_rest(stage)

    Stage().run(play)


def test_jobs_that_cannot_be_entered_roll_their_dispatch_back_and_are_tried_again() -> None:
    async def play(stage: Stage) -> None:
        key = await stage.save(plain_book("tale", scenes=2))
        enqueue, failures = stage.coordination.enqueue, 3

        async def failing(jobs: Sequence[Job]) -> Sequence[Enqueued]:
            nonlocal failures
            if failures:
                failures -= 1
                raise ConnectionError("the queue is away")
            return await enqueue(jobs)

        stage.coordination.enqueue = failing  # type: ignore[method-assign]
        async with stage.playing() as engine:
            done = await stage.until_ended((await stage.ask(engine, key, ("sketch",))).request.request_id)
        assert done.request.state is RequestState.DONE
        reasons = Counter(row.reason for row in await rows(stage, "SELECT reason FROM dispatch"))
        assert reasons[Reason.ENQUEUE_FAILED] > 0
        assert any(alarm.reason == Reason.ENQUEUE_FAILED for alarm in stage.alarms)
        await at_rest(stage)

    Stage().run(play)


def test_a_candidate_whose_plan_moved_on_never_was_a_dispatch() -> None:
    async def play(stage: Stage) -> None:
        key = await stage.save(plain_book("tale", scenes=2))
        begin, refused = stage.storage.begin, 0

        async def late(begins: Sequence[Begin]) -> Sequence[Begun]:
            nonlocal refused
            if not refused:
                refused = len(begins)
                return [Begun(one.asset, one.dispatch_id, begun=False) for one in begins]
            return await begin(begins)

        stage.storage.begin = late  # type: ignore[method-assign]
        async with stage.playing() as engine:
            opened = await stage.ask(engine, key, ("voice",))
            await stage.clock.sleep(0.5)
            done = await stage.until_ended(opened.request.request_id)
        assert refused == 2
        assert stage.clock.elapsed < 30.0 + 12.0, "its lease was given back, not waited for"
        assert done.request.state is RequestState.DONE
        assert len(await rows(stage, "SELECT id FROM dispatch")) == 2
        await at_rest(stage)

    Stage().run(play)


def test_a_full_disk_under_the_database_ends_the_engine_with_one_sentence() -> None:
    async def play(stage: Stage) -> None:
        key = await stage.save(plain_book("tale", scenes=2))
        engine = stage.engine()
        async with stage.playing(engine):
            opened = await stage.ask(engine, key)
            await stage.clock.sleep(1.5)

            async def full(*_: object) -> None:
                raise StorageFullError("no space is left for the database: free some and start again")

            whole, stage.storage.accept = stage.storage.accept, full  # type: ignore[method-assign, assignment]
            with pytest.raises(EngineFailedError, match="no space is left for the database"):
                await engine.wait()
            stage.storage.accept = whole  # type: ignore[method-assign]
        _restart(stage)
        async with stage.playing(stage.engine("next")):
            done = await stage.until_ended(opened.request.request_id)
        assert done.request.state is RequestState.DONE
        await at_rest(stage)

    Stage().run(play)


@pytest.mark.parametrize("cause", ["away", "low"])
def test_nothing_starts_while_the_artifact_store_cannot_take_it(cause: str) -> None:
    async def play(stage: Stage) -> None:
        key = await stage.save(plain_book("tale", scenes=6))
        stage.crew.fate = lambda claim, times: Fate(seconds=8.0)
        async with stage.playing() as engine:
            opened = await stage.ask(engine, key)
            await stage.clock.sleep(10.0)
            setattr(stage.bytes, cause, True)
            await stage.clock.sleep(60.0)
            before = await _states(stage), len(await rows(stage, "SELECT id FROM dispatch"))
            await stage.clock.sleep(200.0)
            assert (await _states(stage), len(await rows(stage, "SELECT id FROM dispatch"))) == before
            setattr(stage.bytes, cause, False)
            done = await stage.until_ended(opened.request.request_id)
        assert done.request.state is RequestState.DONE
        assert len(stage.alarms) == 2, "one that it closed, one that it opened"
        assert set(stage.crew.started.values()) == {1}
        await at_rest(stage)

    Stage().run(play)


def test_a_file_that_is_gone_makes_its_asset_dirty_and_it_is_made_again() -> None:
    async def play(stage: Stage) -> None:
        key = await stage.save(plain_book("tale", scenes=5))
        async with stage.playing() as engine:
            await stage.until_ended((await stage.ask(engine, key)).request.request_id)
            (row,) = await rows(stage, "SELECT artifact FROM asset WHERE media = 'voice' ORDER BY id LIMIT 1")
            del stage.bytes.content[row.artifact]
            await stage.clock.sleep(100.0)
            assert (await _states(stage))[State.DIRTY] == 1
            stage.crew.by_hash.clear()
            done = await stage.until_ended((await stage.ask(engine, key)).request.request_id)
        assert done.request.state is RequestState.DONE
        assert sum(stage.crew.by_hash.values()) == 1, "only the merge"
        await at_rest(stage)

    Stage().run(play)


def test_many_missing_files_change_nothing_until_a_person_says_so() -> None:
    async def play(stage: Stage) -> None:
        key = await stage.save(plain_book("tale", scenes=5))
        async with stage.playing() as engine:
            await stage.until_ended((await stage.ask(engine, key)).request.request_id)
            stage.bytes.content.clear()
            await stage.clock.sleep(100.0)
            assert await _states(stage) == {State.READY: 15}
            assert any("doctor --repair" in alarm.message for alarm in stage.alarms)
            found = await look_at_artifacts(stage.storage, stage.bytes)
            await give_up(stage.storage, stage.bytes, found.missing, found.damaged)
            done = await stage.until_ended((await stage.ask(engine, key)).request.request_id)
        assert done.request.state is RequestState.DONE
        await at_rest(stage)

    Stage().run(play)


def test_artifacts_that_nothing_uses_any_more_are_collected_after_a_while() -> None:
    async def play(stage: Stage) -> None:
        key = await stage.save(plain_book("tale", scenes=2))
        async with stage.playing() as engine:
            await stage.until_ended((await stage.ask(engine, key)).request.request_id)
            used = len(stage.bytes.content)
            await stage.save(plain_book("tale", scenes=1))
            await stage.clock.sleep(100.0)
            stage.clock.jump(6 * 86_400.0)
            await stage.clock.sleep(100.0)
            assert len(stage.bytes.content) == used
            stage.clock.jump(2 * 86_400.0)
            await stage.clock.sleep(100.0)
            assert len(stage.bytes.content) == used / 2
        await at_rest(stage)

    Stage().run(play)


def test_a_lease_outlives_any_job_that_is_alive() -> None:
    async def play(stage: Stage) -> None:
        key = await stage.save(plain_book("tale", scenes=1, units=1))
        stage.crew.fate = lambda claim, times: Fate(seconds=1500.0)
        async with stage.playing() as engine:
            opened = await stage.ask(engine, key, ("voice",))
            await stage.clock.sleep(1.0)
            for _ in range(14):
                assert len(await stage.coordination.leases(Selection())) == 1
                await stage.clock.sleep(100.0)
            await always(stage)
            await stage.until_ended(opened.request.request_id)
        types = Counter(row.type for row in await stage.journal())
        assert types[JournalType.DISPATCHED] == 1
        await at_rest(stage)

    Stage().run(play)


def test_a_process_with_another_planner_starts_nothing_takes_results_and_goes_on_when_it_is_its_own_again() -> None:
    async def play(stage: Stage) -> None:
        key = await stage.save(plain_book("tale", scenes=4))
        stage.crew.fate = lambda claim, times: Fate(seconds=20.0)
        async with stage.playing(slots=16) as engine:
            opened = await stage.ask(engine, key, ("sketch",))
            await stage.clock.sleep(5.0)
            begun = sum(stage.crew.started.values())
            await _set_planner(stage, versions.PLANNER + 1)
            await stage.save(plain_book("tale", scenes=5))
            looks = _counted(stage)
            await stage.clock.sleep(300.0)
            assert len(looks) <= 300, "it looks once a tick, and not again and again"
            assert sum(stage.crew.started.values()) == begun
            found = await rows(stage, "SELECT state FROM part WHERE state = 1")
            assert len(found) == begun, "what was being made is taken"
            assert [alarm.reason for alarm in stage.alarms] == [Reason.OTHER_PLANNER]
            await _set_planner(stage, versions.PLANNER)
            done = await stage.until_ended(opened.request.request_id)
        assert done.request.state is RequestState.DONE
        assert set(stage.crew.started.values()) == {1}
        await at_rest(stage)

    Stage().run(play)


async def _set_planner(stage: Stage, number: int) -> None:
    await stage.database.write(
        lambda connection: connection.execute(text(f"UPDATE meta SET value = {number} WHERE name = 'planner'"))
    )


def test_a_tick_asks_side_by_side_what_does_not_hang_on_an_answer() -> None:
    async def play(stage: Stage) -> None:
        engine, asked, all_asked = stage.engine(), set[str](), asyncio.Event()

        def together(name: str, ask: Callable[..., Awaitable[Any]]) -> Callable[..., Awaitable[Any]]:
            async def answer(*args: Any) -> Any:
                asked.add(name)
                if len(asked) == 3:
                    all_asked.set()
                await all_asked.wait()
                return await ask(*args)

            return answer

        for owner, name in ((stage.storage, "outlook"), (stage.coordination, "pairs"), (stage.coordination, "serving")):
            setattr(owner, name, together(name, getattr(owner, name)))
        async with asyncio.timeout(10.0):
            await engine.scheduler.tick()
        assert asked == {"outlook", "pairs", "serving"}

    Stage().run(play)


def _counted(stage: Stage) -> list[float]:
    """When it was looked at what there is to do, from now on."""
    looks: list[float] = []
    outlook = stage.storage.outlook

    async def counted(pairs: Sequence[Pair]) -> Outlook:
        looks.append(stage.clock.now())
        return await outlook(pairs)

    stage.storage.outlook = counted  # type: ignore[method-assign]
    return looks
