"""Results and failures that come between the steps of something else: nothing accepted is made again (CONTRACT 7, 17).

Time is virtual and each interleaving is exact: a test says which call another one comes in between.
"""

from __future__ import annotations

import asyncio
from contextlib import suppress

from hands import Hand
from interleaving import of_kind, once_after, once_before
from invariants import always, at_rest, rows
from stage import Stage
from tables import reasons, states, told
from toys import book, plain_book, scene, unit

from animastor.engine.ports import Selection
from animastor.engine.reasons import JournalType, Reason
from animastor.engine.states import RequestState, State
from animastor.protocol import MERGE, Answer, FailureType

ONE = plain_book("tale", scenes=1, units=2)
EDITED = book(
    "tale", scene("sc-0", unit("tale-iu-0-0", "another text", "x"), unit("tale-iu-0-1", "tale says 0 1", "y"))
)


def test_result_that_comes_between_planning_and_beginning_is_not_made_again() -> None:
    async def play(stage: Stage) -> None:
        key = await stage.save(ONE)
        async with stage.playing(workers=0) as engine:
            hand = Hand(stage, engine)
            first = await stage.ask(engine, key, ("voice",))
            one, two = await hand.take("chunk")
            await engine.requests.cancel(first.request.request_id)

            async def deliver() -> None:
                assert await hand.done(one) == Reason.LATE_ACCEPT

            once_before(stage.storage, "begin", deliver)
            await stage.ask(engine, key, ("voice",))
            await hand.keep(3.0, two)
            await hand.done(two)
            await hand.finish_all()
        assert set(hand.taken.values()) == {1}
        assert await states(stage, "voice") == [State.READY]
        await at_rest(stage)

    Stage().run(play)


def test_result_that_comes_between_beginning_and_the_queue_is_not_made_again() -> None:
    async def play(stage: Stage) -> None:
        key = await stage.save(ONE)
        async with stage.playing(workers=0) as engine:
            hand = Hand(stage, engine)
            first = await stage.ask(engine, key, ("voice",))
            one, two = await hand.take("chunk")
            await engine.requests.cancel(first.request.request_id)

            async def deliver() -> None:
                assert await hand.done(one) == Reason.LATE_ACCEPT

            once_after(stage.storage, "begin", deliver)
            await stage.ask(engine, key, ("voice",))
            await hand.keep(3.0, two)
            await hand.done(two)
            await hand.finish_all()
        assert set(hand.taken.values()) == {1}
        assert await states(stage, "voice") == [State.READY]
        await at_rest(stage)

    Stage().run(play)


def test_all_results_that_come_between_beginning_and_the_queue_complete_an_asset_without_a_merge() -> None:
    async def play(stage: Stage) -> None:
        key = await stage.save(ONE)
        async with stage.playing(workers=0) as engine:
            hand = Hand(stage, engine)
            first = await stage.ask(engine, key, ("sketch",))
            claims = await hand.take("picture")
            await engine.requests.cancel(first.request.request_id)

            async def deliver() -> None:
                for claim in claims:
                    await hand.done(claim)

            once_after(stage.storage, "begin", deliver)
            again = await stage.ask(engine, key, ("sketch",))
            done = await stage.until_ended(again.request.request_id, 30.0)
        assert done.request.state is RequestState.DONE
        assert set(hand.taken.values()) == {1}
        await at_rest(stage)

    Stage().run(play)


def test_result_of_a_worker_that_was_told_to_stop_leaves_nothing_to_the_job_that_waited_for_its_end() -> None:
    async def play(stage: Stage) -> None:
        key = await stage.save(ONE)
        async with stage.playing(workers=0) as engine:
            hand = Hand(stage, engine)
            first = await stage.ask(engine, key, ("voice",))
            claims = await hand.take("chunk")
            await engine.requests.cancel(first.request.request_id)
            assert await hand.beat(*claims) == [Answer.STOP] * 2  # but they are finished already
            await stage.ask(engine, key, ("voice",))
            await stage.clock.sleep(1.0)
            for claim in claims:
                assert await hand.done(claim) == Reason.LATE_ACCEPT
            await hand.finish_all()
        assert set(hand.taken.values()) == {1}
        assert await states(stage, "voice") == [State.READY]
        await at_rest(stage)

    Stage().run(play)


def test_failure_of_a_worker_that_was_told_to_stop_counts_and_lets_the_waiting_job_go() -> None:
    async def play(stage: Stage) -> None:
        key = await stage.save(ONE)
        async with stage.playing(workers=0) as engine:
            hand = Hand(stage, engine)
            first = await stage.ask(engine, key, ("voice",))
            claims = await hand.take("chunk")
            await engine.requests.cancel(first.request.request_id)
            await hand.beat(*claims)
            await stage.ask(engine, key, ("voice",))
            await stage.clock.sleep(1.0)
            assert await hand.take(wait=0.0) == [], "they wait for the end of the stopped ones"
            for claim in claims:
                await hand.failed(claim)
            await hand.finish_all()
        assert {count for hash_, count in hand.taken.items()} == {1, 2}
        assert await states(stage, "voice") == [State.READY]
        await at_rest(stage)

    Stage().run(play)


def test_failure_that_is_told_again_because_its_answer_was_lost_keeps_its_back_off() -> None:
    async def play(stage: Stage) -> None:
        key = await stage.save(plain_book("tale", scenes=1, units=1))
        async with stage.playing(workers=0) as engine:
            hand = Hand(stage, engine)
            await stage.ask(engine, key, ("voice",))
            (claim,) = await hand.take("chunk")
            settle, lost = stage.coordination.settle, 0

            async def gone(verdicts):  # type: ignore[no-untyped-def]
                nonlocal lost
                if not lost:
                    lost += 1
                    raise ConnectionError("the store did not hear of it")
                return await settle(verdicts)

            stage.coordination.settle = gone  # type: ignore[method-assign]
            with suppress(ConnectionError):
                await hand.failed(claim)
            assert await hand.failed(claim) == Reason.STALE_CLAIM
            (part,) = await rows(stage, "SELECT attempts, not_before FROM part WHERE kind = 'chunk'")
            assert part.attempts == 1
            (again,) = await hand.take("chunk", wait=60.0)
            assert stage.clock.now() >= part.not_before, "it was held back as if nothing had been lost"
            await hand.done(again)
            await hand.finish_all()
        await at_rest(stage)

    Stage().run(play)


def test_failure_of_a_part_whose_scene_has_left_the_book_is_not_tried_again() -> None:
    async def play(stage: Stage) -> None:
        key = await stage.save(plain_book("tale", scenes=2, units=1))
        async with stage.playing(workers=0) as engine:
            hand = Hand(stage, engine)
            await stage.ask(engine, key, ("voice",))
            claims = await hand.take("chunk")
            await stage.save(plain_book("tale", scenes=1, units=1))
            for claim in claims:
                await hand.failed(claim)
            entered = await stage.coordination.jobs(Selection())
            gone = [job for job in entered if job.dispatch_id not in await _current(stage)]
            assert gone == [], "nobody wants the job of a scene that is not there"
            await hand.finish_all()
        await at_rest(stage)

    Stage().run(play)


async def _current(stage: Stage) -> set[str]:
    return {row.dispatch_id for row in await rows(stage, "SELECT dispatch_id FROM asset WHERE state = 2")}


def test_failure_after_its_part_was_accepted_from_another_is_not_tried_again() -> None:
    async def play(stage: Stage) -> None:
        key = await stage.save(plain_book("tale", scenes=1, units=1))
        async with stage.playing(workers=0) as engine:
            slow, quick = Hand(stage, engine, "slow"), Hand(stage, engine, "quick")
            await stage.ask(engine, key, ("voice",))
            (late,) = await slow.take("chunk")
            await quick.take(wait=0.0)
            await stage.clock.sleep(45.0)  # it is silent
            (claim,) = await quick.take("chunk", wait=30.0)

            async def fail() -> None:
                assert await quick.failed(claim) == Reason.STALE_CLAIM

            once_after(stage.storage, "accept", fail)
            await slow.done(late)
            await quick.finish_all()
        assert quick.taken[claim.job.input_hash] == 1
        assert await states(stage, "voice") == [State.READY]
        await at_rest(stage)

    Stage().run(play)


def test_edit_between_the_last_part_and_its_merge_makes_no_merge_of_what_was() -> None:
    async def play(stage: Stage) -> None:
        key = await stage.save(ONE)
        async with stage.playing(workers=0) as engine:
            hand = Hand(stage, engine)
            await stage.ask(engine, key, ("voice",))
            one, two = await hand.take("chunk")
            await hand.done(one)

            async def edit() -> None:
                await stage.save(EDITED)
                engine.wake()
                await hand.keep(0.5)

            once_before(stage.coordination, "enqueue", edit, of_kind(MERGE))
            await hand.done(two)
            await hand.finish_all()
        merges = await rows(stage, "SELECT hash FROM part WHERE kind = 'merge' AND wanted = 0")
        assert all(hand.taken[row.hash] == 0 for row in merges), "the merge of the old texts is not made"
        assert await states(stage, "voice") == [State.READY]
        await at_rest(stage)

    Stage().run(play)


def test_edit_between_a_merge_and_its_acceptance_shows_nothing_stale() -> None:
    async def play(stage: Stage) -> None:
        key = await stage.save(ONE)
        async with stage.playing(workers=0) as engine:
            hand = Hand(stage, engine)
            await stage.ask(engine, key, ("voice",))
            for claim in await hand.take("chunk"):
                await hand.done(claim)
            (merge,) = await hand.take(MERGE)

            async def edit() -> None:
                await stage.save(EDITED)

            once_before(stage.storage, "accept", edit)
            assert await hand.done(merge) == Reason.STALE_VERSION
            assert await states(stage, "voice") == [State.GENERATING]
            await always(stage)
            await hand.finish_all()
        assert hand.taken[merge.job.input_hash] == 1
        assert await states(stage, "voice") == [State.READY]
        await at_rest(stage)

    Stage().run(play)


def test_edit_that_is_undone_while_its_merge_runs_takes_the_first_merge() -> None:
    async def play(stage: Stage) -> None:
        key = await stage.save(ONE)
        async with stage.playing(workers=0) as engine:
            hand = Hand(stage, engine)
            await stage.ask(engine, key, ("voice",))
            for claim in await hand.take("chunk"):
                await hand.done(claim)
            (merge,) = await hand.take(MERGE)
            await stage.save(EDITED)
            engine.wake()
            await hand.keep(1.0, merge)  # told to stop, but it is finished already
            await hand.done(merge)
            await stage.save(ONE)
            engine.wake()
            await stage.clock.sleep(1.0)
        assert hand.taken[merge.job.input_hash] == 1
        assert await states(stage, "voice") == [State.READY]
        assert (await told(stage))[JournalType.READY] == 1

    Stage().run(play)


def test_the_same_result_from_two_hubs_at_once_counts_once() -> None:
    async def play(stage: Stage) -> None:
        key = await stage.save(ONE)
        async with stage.playing(workers=0) as engine:
            other = stage.engine("other")
            await other.start()
            hand, twin = Hand(stage, engine), Hand(stage, other)
            await stage.ask(engine, key, ("voice",))
            for kind in ("chunk", MERGE):
                for claim in await hand.take(kind):
                    answers = await asyncio.gather(hand.done(claim), twin.done(claim), hand.done(claim))
                    assert sorted(answers) == [Reason.ACCEPTED, *[Reason.ALREADY_ACCEPTED] * 2]
            assert await hand.take(wait=30.0) == []
            await other.stop()
        counts = await told(stage)
        assert (counts[JournalType.PART_ACCEPTED], counts[JournalType.MERGED], counts[JournalType.READY]) == (2, 1, 1)
        await at_rest(stage)

    Stage().run(play)


def test_failure_and_result_of_one_claim_at_once_make_it_once() -> None:
    async def play(stage: Stage) -> None:
        key = await stage.save(plain_book("tale", scenes=1, units=1))
        async with stage.playing(workers=0) as engine:
            hand = Hand(stage, engine)
            await stage.ask(engine, key, ("voice",))
            (claim,) = await hand.take("chunk")
            await asyncio.gather(hand.failed(claim), hand.done(claim))
            await hand.finish_all()
        assert hand.taken[claim.job.input_hash] == 1
        await at_rest(stage)

    Stage().run(play)


def test_late_result_completes_the_dispatch_that_is_current_and_stops_its_second_maker() -> None:
    async def play(stage: Stage) -> None:
        key = await stage.save(plain_book("tale", scenes=1, units=1))
        async with stage.playing(workers=0) as engine:
            slow, quick = Hand(stage, engine, "slow"), Hand(stage, engine, "quick")
            first = await stage.ask(engine, key, ("sketch",))
            (late,) = await slow.take("picture")
            await engine.requests.cancel(first.request.request_id)
            assert await slow.beat(late) == [Answer.STOP]
            await slow.hub.hand_back(slow.worker, [late])  # it says so, but it goes on
            again = await stage.ask(engine, key, ("sketch",))
            (second,) = await quick.take("picture")
            assert await slow.done(late) == Reason.LATE_ACCEPT
            assert await quick.beat(second) == [Answer.STOP]
            done = await stage.until_ended(again.request.request_id, 60.0)
        assert done.request.state is RequestState.DONE
        ends = await rows(stage, "SELECT outcome FROM dispatch ORDER BY fence")
        assert [row.outcome for row in ends] == ["cancelled", "success"]
        await at_rest(stage)

    Stage().run(play)


def test_merge_that_blames_a_rotten_part_gets_that_part_made_again_and_only_that() -> None:
    async def play(stage: Stage) -> None:
        key = await stage.save(ONE)
        async with stage.playing(workers=0) as engine:
            hand = Hand(stage, engine)
            await stage.ask(engine, key, ("voice",))
            one, two = await hand.take("chunk")
            rotten = await hand.upload(one)
            await hand.done(one)
            await hand.done(two)
            (merge,) = await hand.take(MERGE)
            stage.bytes.content[rotten.checksum] = b"rotten spoiled"
            assert await hand.failed(merge, FailureType.PERMANENT, "bad_input") == Reason.BAD_INPUT
            await hand.finish_all()
        assert hand.taken[one.job.input_hash] == 2
        assert hand.taken[two.job.input_hash] == 1
        assert hand.taken[merge.job.input_hash] == 2
        assert await states(stage, "voice") == [State.READY]
        await at_rest(stage)

    Stage().run(play)


def test_merge_that_blames_good_parts_while_one_of_them_is_edited_away_harms_nothing() -> None:
    async def play(stage: Stage) -> None:
        key = await stage.save(ONE)
        async with stage.playing(workers=0) as engine:
            hand = Hand(stage, engine)
            await stage.ask(engine, key, ("voice",))
            for claim in await hand.take("chunk"):
                await hand.done(claim)
            (merge,) = await hand.take(MERGE)

            async def edit() -> None:
                await stage.save(EDITED)
                engine.wake()
                await stage.clock.sleep(1.0)

            once_before(stage.storage, "wanted_parts", edit)
            await hand.failed(merge, FailureType.PERMANENT, "bad_input")
            await hand.finish_all()
        assert hand.taken[merge.job.input_hash] == 1
        assert await states(stage, "voice") == [State.READY]
        await at_rest(stage)

    Stage().run(play)


def test_request_cancelled_while_its_last_merge_is_accepted_stays_finished() -> None:
    async def play(stage: Stage) -> None:
        key = await stage.save(ONE)
        async with stage.playing(workers=0) as engine:
            hand = Hand(stage, engine)
            opened = await stage.ask(engine, key, ("voice",))
            for claim in await hand.take("chunk"):
                await hand.done(claim)
            (merge,) = await hand.take(MERGE)

            async def cancel() -> None:
                await engine.requests.cancel(opened.request.request_id)

            once_after(stage.storage, "accept", cancel)
            await hand.done(merge)
            await stage.clock.sleep(30.0)
        assert await states(stage, "voice") == [State.READY], "a completion that commits before the sweep stands"
        assert await reasons(stage) == {""}
        await at_rest(stage)

    Stage().run(play)


def test_request_cancelled_while_a_part_is_accepted_enters_no_merge() -> None:
    async def play(stage: Stage) -> None:
        key = await stage.save(ONE)
        async with stage.playing(workers=0) as engine:
            hand = Hand(stage, engine)
            opened = await stage.ask(engine, key, ("voice",))
            one, two = await hand.take("chunk")
            await hand.done(one)

            async def cancel() -> None:
                await engine.requests.cancel(opened.request.request_id)

            once_before(stage.coordination, "enqueue", cancel, of_kind(MERGE))
            await hand.done(two)
            assert await hand.take(wait=60.0) == []
        assert await states(stage, "voice") == [State.DIRTY]
        await at_rest(stage)

    Stage().run(play)
