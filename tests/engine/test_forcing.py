"""`retry --force`: an asset at work starts anew, and what its worker did in the old way is not taken for its own."""

from __future__ import annotations

from invariants import always, at_rest, rows
from stage import Fate, Stage
from toys import plain_book

from animastor.engine.reasons import Reason
from animastor.engine.states import RequestState


def test_a_stuck_asset_starts_anew_and_its_running_job_is_stopped_for_good() -> None:
    async def play(stage: Stage) -> None:
        key = await stage.save(plain_book("tale", scenes=2, units=1))
        stage.crew.fate = lambda claim, times: Fate(seconds=900.0 if not times else 2.0)
        async with stage.playing() as engine:
            opened = await stage.ask(engine, key, ("sketch",))
            await stage.clock.sleep(30.0)
            assert await engine.requests.force(key, "sc-0", "ch-1", "sketch")
            await always(stage)
            await stage.clock.sleep(40.0)
            states = {row.scene_key: row.state for row in await rows(stage, "SELECT scene_key, state FROM asset"
                                                                            " WHERE media = 'sketch'")}  # fmt: skip
            assert sorted(states.values()) == [2, 4], "the other one goes on as it was"
            assert sum(stage.crew.stopped.values()) == 1
            assert not await engine.requests.force(key, "sc-0", "ch-1", "sketch"), "it is not at work any more"
            done = await stage.until_ended(opened.request.request_id)
        assert done.request.state is RequestState.DONE
        reasons = [row.reason for row in await rows(stage, "SELECT reason FROM dispatch WHERE outcome = 'cancelled'")]
        assert reasons == [Reason.FORCED]
        await at_rest(stage)

    Stage().run(play)
