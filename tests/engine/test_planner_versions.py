"""Two versions of the planner at work on one database (CONTRACT 11, versions)."""

from __future__ import annotations

from collections.abc import Sequence

from invariants import at_rest, rows
from stage import Fate, Stage
from toys import plain_book

from animastor.engine.ports import PlanStored, StorePlan
from animastor.engine.reasons import Reason
from animastor.engine.states import RequestState, State


async def _planner(stage: Stage, number: int) -> None:
    """What `animastor upgrade` does."""
    await stage.database.write(
        lambda connection: connection.exec_driver_sql(f"UPDATE meta SET value = {number} WHERE name = 'planner'")
    )
    await stage.database.write(
        lambda connection: connection.exec_driver_sql("UPDATE asset SET plan_seq = plan_seq + 1")
    )


async def _states(stage: Stage) -> set[State]:
    return {State(row.state) for row in await rows(stage, "SELECT state FROM asset WHERE media = 'voice'")}


def test_an_engine_of_another_planner_plans_nothing_until_it_is_the_one_that_plans() -> None:
    async def play(stage: Stage) -> None:
        tried, store = [], stage.storage.store_plans

        async def noted(plans: Sequence[StorePlan]) -> Sequence[PlanStored]:
            tried.extend(plans)
            return await store(plans)

        stage.storage.store_plans = noted
        key = await stage.save(plain_book("tale", scenes=2))
        await _planner(stage, 2)
        async with stage.playing() as engine:
            opened = await stage.ask(engine, key, ("voice",))
            await stage.clock.sleep(60.0)
            assert await _states(stage) == {State.PENDING}
            assert not tried, "nothing was planned, again and again and in vain"
            assert not await rows(stage, "SELECT hash FROM part"), "not a single plan was stored"
            assert [alarm.reason for alarm in stage.alarms] == [Reason.OTHER_PLANNER], "it says so once"
            await _planner(stage, 1)
            done = await stage.until_ended(opened.request.request_id)
        assert done.request.state is RequestState.DONE
        await at_rest(stage)

    Stage().run(play)


def test_what_runs_when_another_planner_takes_over_is_accepted_by_its_hash() -> None:
    async def play(stage: Stage) -> None:
        key = await stage.save(plain_book("tale", scenes=1))
        stage.crew.fate = lambda claim, times: Fate(seconds=20.0)
        async with stage.playing() as engine:
            await stage.ask(engine, key, ("voice",))
            await stage.clock.sleep(10.0)
            await _planner(stage, 2)
            await stage.clock.sleep(120.0)
            made = await rows(stage, "SELECT hash FROM part WHERE state = 1 AND kind = 'chunk'")
            assert len(made) == 2, "the chunks that ran are kept"

    Stage().run(play)
