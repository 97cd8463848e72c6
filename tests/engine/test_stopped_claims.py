"""Claims that were told to stop: what they deliver all the same counts, and their silence counts against nobody."""

from __future__ import annotations

from datetime import timedelta

from invariants import at_rest, rows
from stage import Stage
from toys import PROFILES, book, content_of, plain_book, scene, unit

from animastor.engine.engine import Engine
from animastor.engine.ports import Selection
from animastor.engine.reasons import JournalType, Reason
from animastor.engine.states import RequestState
from animastor.hub.local import LocalHub
from animastor.protocol import Answer, BookKey, Claim, Running, Uploaded, Worker

WORKER = Worker("wrk", "slow", dict.fromkeys(PROFILES, 1))
NOW = timedelta(0)


async def _claimed(stage: Stage, hub: LocalHub) -> Claim:
    await stage.clock.sleep(1.0)
    (claim,) = await hub.claim(WORKER, {"make-chunk": 1}, timedelta(seconds=30))
    return claim


async def _stopped_and_wanted_again(stage: Stage, engine: Engine, hub: LocalHub, key: BookKey, claim: Claim) -> int:
    """Cancel, let a heartbeat carry the stop, and ask again: the new job waits for the end of the claim."""
    (first,) = await stage.storage.requests()
    await engine.requests.cancel(first.request_id)
    assert await hub.heartbeat(WORKER, [Running(claim.job.job_id, claim.claim_no)]) == [Answer.STOP]
    again = await stage.ask(engine, key, ("voice",))
    await stage.clock.sleep(1.0)
    return again.request.request_id


def test_a_result_of_a_stopped_claim_leaves_nothing_to_do_for_the_job_that_waited_for_its_end() -> None:
    async def play(stage: Stage) -> None:
        key = await stage.save(plain_book("tale", scenes=1, units=1))
        async with stage.playing(workers=0) as engine:
            hub = stage.hub(engine)
            await hub.register(WORKER)
            await stage.ask(engine, key, ("voice",))
            claim = await _claimed(stage, hub)
            request = await _stopped_and_wanted_again(stage, engine, hub, key, claim)
            content = content_of(claim.job.kind, claim.job.params, [])
            answer = await hub.finish(claim, Uploaded(stage.bytes.keep(content), len(content), ".a"))
            assert answer == Reason.LATE_ACCEPT
            assert await hub.claim(WORKER, {"make-chunk": 1}, NOW) == [], "it is there: nobody needs to make it"
        async with stage.playing(stage.engine("next")):
            done = await stage.until_ended(request)
        assert done.request.state is RequestState.DONE
        assert not stage.crew.by_hash[claim.job.input_hash]
        await at_rest(stage)

    Stage().run(play)


def test_what_is_wanted_again_before_its_worker_heard_of_the_stop_goes_on() -> None:
    async def play(stage: Stage) -> None:
        one, other = (book("tale", scene("s", unit("u", text))) for text in ("said", "said otherwise"))
        key = await stage.save(one)
        async with stage.playing(workers=0) as engine:
            hub = stage.hub(engine)
            await hub.register(WORKER)
            await stage.ask(engine, key, ("voice",))
            claim = await _claimed(stage, hub)
            await stage.save(other)
            await stage.clock.sleep(6.0)
            stopping = {job.job_id: job.stopping for job in await stage.coordination.jobs(Selection())}
            assert stopping[claim.job.job_id], "the edit wants another one"
            await stage.save(one)
            await stage.clock.sleep(6.0)
            assert await hub.heartbeat(WORKER, [Running(claim.job.job_id, claim.claim_no)]) == [Answer.CONTINUE]

    Stage().run(play)


def test_silence_after_a_stop_counts_no_attempt_against_a_part_that_is_wanted_again() -> None:
    async def play(stage: Stage) -> None:
        key = await stage.save(plain_book("tale", scenes=1, units=1))
        async with stage.playing(workers=0) as engine:
            hub = stage.hub(engine)
            await hub.register(WORKER)
            await stage.ask(engine, key, ("voice",))
            claim = await _claimed(stage, hub)
            await _stopped_and_wanted_again(stage, engine, hub, key, claim)
            await stage.clock.sleep(60.0)  # the worker did as it was told, and was never heard of again
        assert [row.details["requeued"] for row in await stage.journal() if row.type is JournalType.SWEPT] == [False]
        assert {row.infra_attempts for row in await rows(stage, "SELECT infra_attempts FROM part")} == {0}

    Stage().run(play)
