"""Requests, cancels and edits that come between the steps of something else (CONTRACT 5, 10, 17)."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import replace

import pytest
from hands import Hand
from interleaving import of_kind, once_after, once_before
from invariants import always, at_rest, rows
from stage import Stage
from tables import reasons, states, told
from toys import book, plain_book, scene, unit

from animastor.engine.ports import NewRequest, Scope, ScopeKind, Selection
from animastor.engine.reasons import JournalType, Reason
from animastor.engine.requests import AT_ONCE
from animastor.engine.states import RequestState, State
from animastor.protocol import MERGE, Answer

ONE = plain_book("tale", scenes=1, units=2)
THREE = plain_book("tale", scenes=3, units=1)
REDRAWN = book(
    "tale",
    scene(
        "sc-0", unit("tale-iu-0-0", "tale says 0 0", "another picture"), unit("tale-iu-0-1", "tale says 0 1", "another")
    ),
)


def test_cancel_between_beginning_and_the_queue_enters_nothing() -> None:
    async def play(stage: Stage) -> None:
        key = await stage.save(ONE)
        async with stage.playing(workers=0) as engine:
            hand = Hand(stage, engine)
            await hand.take(wait=0.0)

            async def cancel() -> None:
                (request,) = await stage.storage.requests()
                await engine.requests.cancel(request.request_id)
                assert await stage.coordination.jobs(Selection()) == []

            once_after(stage.storage, "begin", cancel)
            await stage.ask(engine, key)
            assert await hand.take(wait=60.0) == []
        assert set(await states(stage, "voice")) == {State.DIRTY}
        await at_rest(stage)

    Stage().run(play)


def test_retry_that_comes_when_an_edit_has_reached_only_what_the_rest_requires_makes_both_again() -> None:
    async def play(stage: Stage) -> None:
        stage.config = replace(stage.config, batch=1)
        key = await stage.save(ONE)
        async with stage.playing() as engine:
            made = await stage.ask(engine, key)
            await stage.until_ended(made.request.request_id)
            ((sketch,),) = await rows(stage, "SELECT id FROM asset WHERE media = 'sketch'")

            async def retry() -> None:
                assert await states(stage, "sketch") == [State.DIRTY], "nothing covered it"
                assert await states(stage, "clip") == [State.READY], "not planned again yet"
                await stage.ask(engine, key, kind="retry")

            once_after(stage.storage, "store_plans", retry, lambda plans: [one.asset for one in plans] == [sketch])
            await stage.save(REDRAWN)
            await engine.edited()
            await stage.clock.sleep(60.0)
            assert await stage.storage.requests() == [], "the retry has ended"
        assert await states(stage, "sketch") == await states(stage, "clip") == [State.READY]
        await at_rest(stage)

    Stage().run(play)


def test_edit_between_planning_and_beginning_begins_what_is_wanted_now() -> None:
    async def play(stage: Stage) -> None:
        key = await stage.save(ONE)
        async with stage.playing(workers=0) as engine:
            hand = Hand(stage, engine)
            await hand.take(wait=0.0)

            async def edit() -> None:
                await stage.save(plain_book("tale", scenes=1, units=3))

            once_before(stage.storage, "begin", edit)
            await stage.ask(engine, key, ("voice",))
            assert len(await hand.take("chunk", wait=30.0)) == 3
            await always(stage)
            await engine.requests.cancel((await stage.storage.requests())[0].request_id)
            await stage.clock.sleep(120.0)
        await at_rest(stage)

    Stage().run(play)


def test_merge_that_is_finished_after_a_cancel_is_kept_and_costs_nothing_when_it_is_asked_for_again() -> None:
    async def play(stage: Stage) -> None:
        key = await stage.save(ONE)
        async with stage.playing(workers=0) as engine:
            hand = Hand(stage, engine)
            opened = await stage.ask(engine, key, ("voice",))
            for claim in await hand.take("chunk"):
                await hand.done(claim)
            (merge,) = await hand.take(MERGE)
            await engine.requests.cancel(opened.request.request_id)
            assert await hand.done(merge) == Reason.LATE_ACCEPT
            assert await hand.take(wait=30.0) == []
            again = await stage.ask(engine, key, ("voice",))
            done = await stage.until_ended(again.request.request_id, 30.0)
        assert done.request.state is RequestState.DONE
        assert set(hand.taken.values()) == {1}
        await at_rest(stage)

    Stage().run(play)


def test_results_in_flight_when_a_later_make_supersedes_theirs_count_for_the_later_one() -> None:
    async def play(stage: Stage) -> None:
        key = await stage.save(ONE)
        async with stage.playing(workers=0) as engine:
            hand = Hand(stage, engine)
            first = await stage.ask(engine, key, ("voice",))
            one, two = await hand.take("chunk")

            async def supersede() -> None:
                await stage.ask(engine, key, ("voice", "sketch"))

            once_before(stage.storage, "accept", supersede)
            assert await hand.done(one) == Reason.ACCEPTED, "its dispatch went on"
            await hand.done(two)
            await hand.finish_all()
        assert (await stage.storage.progress(first.request.request_id)).request.state is RequestState.SUPERSEDED
        assert set(hand.taken.values()) == {1}
        assert await states(stage, "voice") == await states(stage, "sketch") == [State.READY]
        await at_rest(stage)

    Stage().run(play)


def test_what_a_later_make_does_not_cover_rests_although_its_results_are_in_flight() -> None:
    async def play(stage: Stage) -> None:
        key = await stage.save(THREE)
        async with stage.playing(workers=0) as engine:
            hand = Hand(stage, engine)
            await stage.ask(engine, key, ("voice",))
            claims = await hand.take("chunk")
            last = Scope(ScopeKind.SCENE, "ch-1", "sc-2")
            await stage.ask(engine, key, ("voice",), scope=last)
            answers = [await hand.done(claim) for claim in claims]
            assert sorted(answers) == [Reason.ACCEPTED, Reason.LATE_ACCEPT, Reason.LATE_ACCEPT]
            await hand.finish_all()
        assert await states(stage, "voice") == [State.DIRTY, State.DIRTY, State.READY]
        await at_rest(stage)

    Stage().run(play)


def test_one_of_two_requests_that_cover_an_asset_is_cancelled_and_its_dispatch_goes_on() -> None:
    async def play(stage: Stage) -> None:
        key = await stage.save(ONE)
        async with stage.playing(workers=0) as engine:
            hand = Hand(stage, engine)
            opened = [
                await engine.requests.open(NewRequest(key, Scope(), ("voice",), name, kind=name))
                for name in ("make", "preview")
            ]
            claims = await hand.take("chunk")
            await engine.requests.cancel(opened[0].request.request_id)
            assert await hand.beat(*claims) == [Answer.CONTINUE] * 2
            for claim in claims:
                assert await hand.done(claim) == Reason.ACCEPTED
            await hand.finish_all()
        assert await reasons(stage) == {""}
        assert await states(stage, "voice") == [State.READY]
        await at_rest(stage)

    Stage().run(play)


def test_request_does_not_end_while_an_edit_has_not_been_looked_at() -> None:
    async def play(stage: Stage) -> None:
        key = await stage.save(ONE)
        async with stage.playing(workers=0) as engine:
            hand = Hand(stage, engine)
            opened = await stage.ask(engine, key, ("voice",))
            for claim in await hand.take("chunk"):
                await hand.done(claim)
            (merge,) = await hand.take(MERGE)

            async def edit() -> None:
                await stage.save(plain_book("tale", scenes=1, units=3))
                ended = await stage.storage.finish_requests()
                assert ended == () or ended == []

            once_after(stage.storage, "accept", edit)
            await hand.done(merge)
            await hand.finish_all()
            done = await stage.until_ended(opened.request.request_id, 30.0)
        assert done.request.state is RequestState.DONE
        assert sum(hand.taken.values()) == 3 + 2
        await at_rest(stage)

    Stage().run(play)


@pytest.mark.parametrize(
    ("scenes", "hook", "step"),
    [
        pytest.param(1, once_after, "open_request", id="entered_at_once"),
        pytest.param(2 * AT_ONCE, once_before, "enter", id="in_chunks"),
    ],
)
def test_scene_that_is_added_while_the_last_chunk_is_entered_is_made_too(
    scenes: int, hook: Callable[..., None], step: str
) -> None:
    async def play(stage: Stage) -> None:
        key = await stage.save(plain_book("tale", scenes, units=1))
        async with stage.playing(workers=0) as engine:
            hand = Hand(stage, engine)

            async def edit() -> None:
                await stage.save(plain_book("tale", scenes + 1, units=1))
                await engine.edited()

            hook(stage.storage, step, edit)
            opened = await stage.ask(engine, key, ("voice",))
            await hand.finish_all()
            await stage.save(plain_book("tale", scenes + 2, units=1))  # it is done: this is nobody's
            assert await hand.take(wait=90.0) == []
        assert await states(stage, "voice") == [State.READY] * (scenes + 1) + [State.NEW]
        assert (await stage.storage.progress(opened.request.request_id)).request.state is RequestState.DONE

    Stage().run(play)


def test_request_cancelled_while_another_engine_enters_it_leaves_nothing_pending() -> None:
    async def play(stage: Stage) -> None:
        key = await stage.save(plain_book("tale", scenes=40, units=1))
        async with stage.playing(workers=0) as engine:
            other = stage.engine("other")
            await other.start()
            entered = stage.storage.enter
            stage.storage.enter = lambda request_id, _: entered(request_id, 7)  # type: ignore[method-assign]

            async def cancel() -> None:
                (request,) = await stage.storage.requests()
                await other.requests.cancel(request.request_id)

            once_after(stage.storage, "enter", cancel)
            await stage.ask(engine, key)
            await stage.clock.sleep(90.0)
            await other.stop()
        assert {row.state for row in await rows(stage, "SELECT state FROM asset")} <= {State.NEW, State.DIRTY}
        await at_rest(stage)

    Stage().run(play)


def test_the_same_invocation_at_two_engines_at_once_is_one_request() -> None:
    async def play(stage: Stage) -> None:
        key = await stage.save(ONE)
        async with stage.playing(workers=0) as engine:
            other = stage.engine("other")
            await other.start()
            opened = await asyncio.gather(
                stage.ask(engine, key, key="same"),
                stage.ask(other, key, key="same"),
                stage.ask(engine, key, key="same"),
            )
            assert len({one.request.request_id for one in opened}) == 1
            await Hand(stage, engine).finish_all()
            await other.stop()
        assert (await told(stage))[JournalType.READY] == 3
        await at_rest(stage)

    Stage().run(play)


def test_result_of_a_scene_that_left_while_it_was_made_changes_nothing() -> None:
    async def play(stage: Stage) -> None:
        key = await stage.save(plain_book("tale", scenes=2, units=1))
        async with stage.playing(workers=0) as engine:
            hand = Hand(stage, engine)
            await stage.ask(engine, key, ("voice",))
            claims = await hand.take("chunk")

            async def edit() -> None:
                await stage.save(plain_book("tale", scenes=1, units=1))

            once_before(stage.storage, "accept", edit)
            answers = [await hand.done(claim) for claim in claims]
            assert Reason.UNKNOWN_PART in answers
            await hand.finish_all()
        assert await states(stage, "voice") == [State.READY]
        assert Reason.SCENE_REMOVED in await reasons(stage)
        await at_rest(stage)

    Stage().run(play)


def test_scene_that_comes_back_takes_over_what_was_accepted_before_it_left() -> None:
    async def play(stage: Stage) -> None:
        key = await stage.save(plain_book("tale", scenes=2, units=2))
        async with stage.playing(workers=0) as engine:
            hand = Hand(stage, engine)
            await stage.ask(engine, key, ("voice",))
            claims = await hand.take("chunk")
            for claim in claims[:3]:
                await hand.done(claim)
            await stage.save(plain_book("tale", scenes=1, units=2))
            await engine.edited()
            await stage.save(plain_book("tale", scenes=2, units=2))
            await engine.edited()
            await hand.done(claims[3])
            await hand.finish_all()
        assert sum(hand.taken[claim.job.input_hash] for claim in claims[:3]) == 3
        assert await states(stage, "voice") == [State.READY] * 2
        await at_rest(stage)

    Stage().run(play)


def test_request_from_a_scene_that_leaves_the_book_ends_and_leaves_nothing_waiting() -> None:
    async def play(stage: Stage) -> None:
        key = await stage.save(plain_book("tale", scenes=3, units=1))
        async with stage.playing(workers=0) as engine:
            hand = Hand(stage, engine)
            await hand.take(wait=0.0)
            opened = await stage.ask(engine, key, ("voice",), scope=Scope(ScopeKind.FROM_SCENE, "ch-1", "sc-1"))
            claims = await hand.take("chunk")
            rest = [plain_book("tale", scenes=3, units=1).chapters[0].scenes[n] for n in (0, 2)]
            await stage.save(book("tale", *rest))
            for claim in claims:
                await hand.done(claim)
            await hand.finish_all()
            done = await stage.until_ended(opened.request.request_id, 120.0)
        assert done.request.state is RequestState.DONE
        await at_rest(stage)

    Stage().run(play)


def test_pictures_cancelled_while_a_clip_is_begun_from_them_leave_no_clip_waiting() -> None:
    async def play(stage: Stage) -> None:
        key = await stage.save(ONE)
        async with stage.playing(workers=0) as engine:
            hand = Hand(stage, engine)
            opened = await stage.ask(engine, key)
            for claim in await hand.take("picture", "chunk"):
                await hand.done(claim)

            async def edit() -> None:
                await stage.save(
                    book("tale", scene("sc-0", unit("tale-iu-0-0", prompt="new"), unit("tale-iu-0-1", prompt="newer")))
                )

            once_before(stage.coordination, "enqueue", edit, of_kind("shot"))
            for claim in await hand.take(MERGE):
                await hand.done(claim)
            await hand.finish_all()
            done = await stage.until_ended(opened.request.request_id, 60.0)
        assert done.request.state is RequestState.DONE
        assert await states(stage, "clip") == [State.READY]
        await at_rest(stage)

    Stage().run(play)
