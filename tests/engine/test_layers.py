"""Layers at work: what is switched off stops at once, and a job gets the time that its book allows."""

from __future__ import annotations

from dataclasses import replace

from invariants import at_rest, rows
from stage import Fate, Stage
from toys import plain_book

from animastor.engine.states import State
from animastor.protocol import Claim


def test_switching_a_layer_off_stops_its_running_jobs_and_lets_the_others_go_on() -> None:
    async def play(stage: Stage) -> None:
        key = await stage.save(plain_book("tale", scenes=4))
        stage.crew.fate = lambda claim, times: Fate(seconds=60.0)
        async with stage.playing() as engine:
            opened = await stage.ask(engine, key)
            await stage.clock.sleep(10.0)
            answer, stopped = await engine.requests.set_layers(key, {"sketch_enabled": False})
            assert (dict(answer.changed), stopped > 0) == ({"sketch_enabled": False}, True)
            await stage.until_ended(opened.request.request_id)
        states = {(row.media, State(row.state)) for row in await rows(stage, "SELECT media, state FROM asset")}
        assert {state for media, state in states if media == "voice"} == {State.READY}
        assert State.READY not in {state for media, state in states if media != "voice"}
        await at_rest(stage)

    Stage().run(play)


def test_a_job_may_be_without_progress_for_as_long_as_its_book_says() -> None:
    async def play(stage: Stage) -> None:
        slow, other = plain_book("slow", scenes=1), plain_book("other", scenes=1)
        slow = replace(slow, head=replace(slow.head, layer_config={"voice_timeout_minutes": 90}))
        keys = [await stage.save(one) for one in (slow, other)]
        given: dict[tuple[str, str], float] = {}

        def fate(claim: Claim, times: int) -> Fate:
            given[claim.job.book, claim.job.media] = claim.job.timeout_s
            return Fate()

        stage.crew.fate = fate
        async with stage.playing() as engine:
            await engine.requests.set_layers(keys[0], {"sketch_timeout_minutes": 5})
            for key in keys:
                await stage.until_ended((await stage.ask(engine, key, ("voice", "sketch"))).request.request_id)
        assert (given["slow", "voice"], given["slow", "sketch"]) == (5400.0, 300.0)
        assert given["other", "voice"] == 1800.0
        await at_rest(stage)

    Stage().run(play)
