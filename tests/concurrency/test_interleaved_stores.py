"""Lost stores, slow replicas, two keepers, engines that stop between two steps (CONTRACT 6, 8, 11, 17)."""

from __future__ import annotations

import asyncio

import pytest
from hands import Hand
from interleaving import of_kind, once_after, once_before
from invariants import always, at_rest, rows
from stage import Stage
from tables import reasons, states, told
from toys import plain_book

from animastor.coordination import MemoryCoordination
from animastor.engine.engine import Engine
from animastor.engine.errors import EngineStoppedError
from animastor.engine.ports import Held, Renewal, RollBack, Selection
from animastor.engine.reasons import JournalType, Reason
from animastor.engine.states import RequestState, State
from animastor.protocol import MERGE, Answer, AssetId, Claim, Pair, Worker

ONE = plain_book("tale", scenes=1, units=2)
WINDOW_S = 40.0


async def _twin(stage: Stage, name: str = "twin") -> Engine:
    twin = stage.engine(name)
    await twin.start()
    return twin


def test_dispatch_that_was_released_is_not_attached_again_by_a_slow_keeper() -> None:
    async def play(stage: Stage) -> None:
        key = await stage.save(ONE)
        async with stage.playing(workers=0) as engine:
            hand = Hand(stage, engine)
            opened = await stage.ask(engine, key, ("voice",))
            claims = await hand.take("chunk")
            (active,) = await stage.storage.active(AssetId(0), 10)
            held = Held(active.asset, active.book_key, Pair("voice", "system"), active.dispatch_id)
            await engine.requests.cancel(opened.request.request_id)
            assert await stage.coordination.renew([held]) == [Renewal.LOST]
            assert await stage.coordination.grant([held]) == [Renewal.LOST]
            assert await stage.coordination.leases(Selection()) == []
            await hand.hub.hand_back(hand.worker, claims)
            assert await hand.take(wait=60.0) == []
        await at_rest(stage)

    Stage().run(play)


def test_two_keepers_at_once_count_a_silent_claim_once() -> None:
    async def play(stage: Stage) -> None:
        key = await stage.save(plain_book("tale", scenes=2, units=2))
        async with stage.playing(workers=0) as engine:
            twins = [await _twin(stage, f"twin-{n}") for n in range(2)]
            silent, other = Hand(stage, engine, "silent"), Hand(stage, engine, "other")
            await stage.ask(engine, key, ("voice",))
            claims = await silent.take("chunk")
            await stage.clock.sleep(29.0)
            await asyncio.gather(*(one.keeper.look() for one in (engine, *twins)))
            await stage.clock.sleep(5.0)
            await asyncio.gather(*(one.keeper.look() for one in (engine, *twins)))
            assert (await told(stage))[JournalType.SWEPT] == len(claims) == 4
            assert {row.vanished for row in await rows(stage, "SELECT vanished FROM part WHERE kind = 'chunk'")} == {1}
            await other.finish_all()
            for twin in twins:
                await twin.stop()
        assert set(other.taken.values()) == {1}
        await at_rest(stage)

    Stage().run(play)


@pytest.mark.parametrize("step", ["accept", "settle"])
def test_engine_that_stops_after_it_accepted_leaves_the_merge_to_the_next(step: str) -> None:
    async def play(stage: Stage) -> None:
        key = await stage.save(ONE)
        first = stage.engine("first")
        async with stage.playing(workers=0) as engine:
            await first.start()
            hand, again = Hand(stage, first), Hand(stage, engine)
            opened = await stage.ask(engine, key, ("voice",))
            one, two = await hand.take("chunk")
            await hand.done(one)

            async def stop() -> None:
                asyncio.get_running_loop().call_soon(asyncio.ensure_future, first.stop())
                await asyncio.sleep(0.1)

            once_after(stage.storage if step == "accept" else stage.coordination, step, stop)
            with pytest.raises(EngineStoppedError):
                await hand.hub.finish(two, await hand.upload(two))
            assert await again.done(two) == Reason.ALREADY_ACCEPTED
            await again.finish_all()
            done = await stage.until_ended(opened.request.request_id, 60.0)
        assert done.request.state is RequestState.DONE
        assert set((hand.taken + again.taken).values()) == {1}
        await at_rest(stage)

    Stage().run(play)


def test_what_was_accepted_is_not_begun_again_when_its_claim_is_never_settled() -> None:
    """The engine dies between commit and settling, and the worker with it; another worker waits for any job."""

    async def play(stage: Stage) -> None:
        key = await stage.save(ONE)
        first = stage.engine("first")
        async with stage.playing(workers=0) as engine:
            await first.start()
            hand, again = Hand(stage, first), Hand(stage, engine)
            opened = await stage.ask(engine, key, ("voice",))
            one, two = await hand.take("chunk")

            async def stop() -> None:
                asyncio.get_running_loop().call_soon(asyncio.ensure_future, first.stop())
                await asyncio.sleep(0.1)

            once_after(stage.storage, "accept", stop)
            with pytest.raises(EngineStoppedError):
                await hand.hub.finish(one, await hand.upload(one))
            for _ in range(30):
                await hand.beat(two)
                assert await again.take("chunk", wait=2.0) == []
            await again.done(two)
            await again.finish_all()
            done = await stage.until_ended(opened.request.request_id, 60.0)
        assert done.request.state is RequestState.DONE
        assert set((hand.taken + again.taken).values()) == {1}
        await at_rest(stage)

    Stage().run(play)


def test_engine_that_is_slow_to_enter_a_merge_enters_none_that_is_there() -> None:
    async def play(stage: Stage) -> None:
        key = await stage.save(ONE)
        async with stage.playing(workers=0) as engine:
            twin = await _twin(stage)
            hand, other = Hand(stage, engine), Hand(stage, twin)
            await stage.ask(engine, key, ("voice",))
            one, two = await hand.take("chunk")
            await hand.done(one)

            async def overtake() -> None:
                await other.done(two)  # its answer was late, so the worker told another replica, which was quick
                for claim in await other.take(MERGE):
                    await other.done(claim)

            once_before(stage.coordination, "enqueue", overtake, of_kind(MERGE))
            await hand.done(two)
            assert await hand.take(wait=60.0) == []
            await twin.stop()
        assert set((hand.taken + other.taken).values()) == {1}
        assert await states(stage, "voice") == [State.READY]
        await at_rest(stage)

    Stage().run(play)


def test_jobs_that_a_slow_engine_enters_once_more_are_not_begun_again() -> None:
    """It has begun a dispatch and stands still; another replica misses its jobs, enters them, and one is made."""

    async def play(stage: Stage) -> None:
        key = await stage.save(ONE)
        async with stage.playing(workers=0) as engine:
            twin = await _twin(stage)
            hand = Hand(stage, engine)
            await hand.register()
            held: list[Claim] = []

            async def overtake() -> None:
                (active,) = await stage.storage.active(AssetId(0), 10)
                quick = engine if active.dispatch_id.startswith("twin") else twin
                hand.hub = stage.hub(quick)  # whoever gives out the jobs knows what it took in
                for _ in range(2):
                    await quick.keeper.look()
                one, two = await hand.take("chunk")
                await hand.done(one)
                held.append(two)

            once_before(stage.coordination, "enqueue", overtake, of_kind("chunk"))
            opened = await stage.ask(engine, key, ("voice",))
            await stage.clock.sleep(5.0)
            assert await hand.take() == [], "one is made, and the other is being made"
            await hand.done(*held)
            await hand.finish_all()
            done = await stage.until_ended(opened.request.request_id, 60.0)
            await twin.stop()
        assert done.request.state is RequestState.DONE
        assert set(hand.taken.values()) == {1}
        await at_rest(stage)

    Stage().run(play)


def test_merge_that_two_keepers_find_due_is_begun_once() -> None:
    """The second one enters it when the first one's was accepted and settled, and its dispatch not released yet."""

    async def play(stage: Stage) -> None:
        key = await stage.save(ONE)
        async with stage.playing(workers=0) as engine:
            twin = await _twin(stage)
            hand = Hand(stage, engine)
            settled, entered = asyncio.Event(), asyncio.Event()
            delivered: list[asyncio.Future[str]] = []

            async def lose() -> None:
                stage.coordination.lose()

            async def pause() -> None:
                settled.set()
                await entered.wait()

            async def overtake() -> None:
                for _ in range(2):
                    await engine.keeper.look()
                (merge,) = await hand.take(MERGE)
                once_before(stage.coordination, "release", pause)
                delivered.append(asyncio.ensure_future(hand.done(merge)))
                await settled.wait()

            await stage.ask(engine, key, ("voice",))
            one, two = await hand.take("chunk")
            await hand.done(one)
            once_before(stage.coordination, "enqueue", lose, of_kind(MERGE))
            await hand.done(two)
            once_before(stage.coordination, "enqueue", overtake, of_kind(MERGE))
            await twin.keeper.look()
            assert await hand.take(MERGE) == []
            entered.set()
            await asyncio.gather(*delivered)
            await hand.finish_all()
            await twin.stop()
        assert set(hand.taken.values()) == {1}
        assert await states(stage, "voice") == [State.READY]
        await at_rest(stage)

    Stage().run(play)


def test_slow_engine_cannot_enter_jobs_of_a_dispatch_that_was_rolled_back_meanwhile() -> None:
    async def play(stage: Stage) -> None:
        key = await stage.save(ONE)
        async with stage.playing(workers=0) as engine:
            twin = await _twin(stage)
            hand = Hand(stage, twin)
            await hand.take(wait=0.0)

            async def sleep() -> None:
                await stage.clock.sleep(45.0)  # its admission is long over
                assert Reason.LOST_BOTH in await reasons(stage)

            once_before(stage.coordination, "enqueue", sleep)
            await stage.ask(engine, key, ("voice",))
            await stage.clock.sleep(50.0)
            await hand.finish_all()
            await twin.stop()
        assert set(hand.taken.values()) == {1}
        assert await states(stage, "voice") == [State.READY]
        await at_rest(stage)

    Stage().run(play)


def test_work_that_outlives_all_engines_and_its_lease_is_attached_again() -> None:
    async def play(stage: Stage) -> None:
        key = await stage.save(ONE)
        async with stage.playing(workers=0) as engine:
            hand = Hand(stage, engine)
            opened = await stage.ask(engine, key, ("voice",))
            claims = await hand.take("chunk")
        await stage.clock.sleep(300.0)
        assert await stage.coordination.leases(Selection()) == []
        async with stage.playing(stage.engine("next"), workers=0) as engine:
            after = Hand(stage, engine, "hand")
            await after.keep(20.0, *claims)
            assert await after.beat(*claims) == [Answer.CONTINUE] * 2
            for claim in claims:
                assert await after.done(claim) == Reason.ACCEPTED
            await after.finish_all()
            done = await stage.until_ended(opened.request.request_id, 60.0)
        assert done.request.state is RequestState.DONE
        assert set((hand.taken + after.taken).values()) == {1}
        assert await reasons(stage) == {""}, "it was the same dispatch all the time"
        await at_rest(stage)

    Stage().run(play)


def test_no_engine_rolls_anything_back_while_the_window_of_a_lost_store_is_open() -> None:
    async def play(stage: Stage) -> None:
        key = await stage.save(ONE)
        async with stage.playing(workers=0) as engine:
            twin = await _twin(stage)
            await stage.clock.sleep(WINDOW_S + 5.0)
            hand = Hand(stage, engine)
            opened = await stage.ask(engine, key, ("voice",))
            claims = await hand.take("chunk")
            stage.coordination.lose()
            late = await _twin(stage, "late")
            await stage.clock.sleep(WINDOW_S - 6.0)  # the worker is quiet, but not for longer than the window
            assert await states(stage, "voice") == [State.GENERATING]
            await hand.keep(20.0, *claims)
            for claim in claims:
                assert await hand.done(claim) == Reason.ACCEPTED
            await hand.finish_all()
            done = await stage.until_ended(opened.request.request_id, 60.0)
            for one in (twin, late):
                await one.stop()
        assert done.request.state is RequestState.DONE
        assert set(hand.taken.values()) == {1}
        assert await reasons(stage) == {""}
        await at_rest(stage)

    Stage(window=True).run(play)


@pytest.mark.parametrize("window", [True, False])
def test_cancelled_work_that_a_lost_store_hears_of_again_is_told_to_stop(window: bool) -> None:
    async def play(stage: Stage) -> None:
        key = await stage.save(ONE)
        async with stage.playing(workers=0) as engine:
            await stage.clock.sleep(60.0)
            hand = Hand(stage, engine)
            opened = await stage.ask(engine, key, ("voice",))
            one, two = await hand.take("chunk")
            await engine.requests.cancel(opened.request.request_id)
            stage.coordination.lose()  # before any heartbeat has carried the stop
            await stage.clock.sleep(3.0)
            assert await hand.beat(one, two) == [Answer.STOP] * 2
            await hand.hub.hand_back(hand.worker, [one])
            await hand.failed(two)
            assert await stage.coordination.jobs(Selection()) == []
            assert await hand.take(wait=120.0) == []
        await at_rest(stage)

    Stage(window=window).run(play)


def test_running_work_of_a_new_dispatch_is_known_by_it_when_the_store_was_lost() -> None:
    async def play(stage: Stage) -> None:
        key = await stage.save(ONE)
        async with stage.playing(workers=0) as engine:
            await stage.clock.sleep(60.0)
            hand = Hand(stage, engine)
            first = await stage.ask(engine, key, ("voice",))
            claims = await hand.take("chunk")
            await engine.requests.cancel(first.request.request_id)
            await stage.ask(engine, key, ("voice",))
            await hand.keep(2.0, *claims)  # adopted by the new dispatch
            stage.coordination.lose()
            await hand.keep(WINDOW_S + 20.0, *claims)
            (row,) = await rows(stage, "SELECT dispatch_id FROM asset WHERE media = 'voice'")
            assert {job.dispatch_id for job in await stage.coordination.jobs(Selection())} == {row.dispatch_id}
            for claim in claims:
                await hand.done(claim)
            await hand.finish_all()
        assert set(hand.taken.values()) == {1}
        assert [row.outcome for row in await rows(stage, "SELECT outcome FROM dispatch ORDER BY fence")] == [
            "cancelled",
            "success",
        ]
        await at_rest(stage)

    Stage(window=True).run(play)


def test_merge_that_is_delivered_while_the_window_is_open_completes_its_asset() -> None:
    async def play(stage: Stage) -> None:
        key = await stage.save(ONE)
        async with stage.playing(workers=0) as engine:
            await stage.clock.sleep(60.0)
            hand = Hand(stage, engine)
            opened = await stage.ask(engine, key, ("voice",))
            for claim in await hand.take("chunk"):
                await hand.done(claim)
            (merge,) = await hand.take(MERGE)
            once_before(stage.storage, "accept", _losing(stage))
            assert await hand.done(merge) == Reason.ACCEPTED
            done = await stage.until_ended(opened.request.request_id, 120.0)
        assert done.request.state is RequestState.DONE
        assert set(hand.taken.values()) == {1}
        await at_rest(stage)

    Stage(window=True).run(play)


@pytest.mark.parametrize("window", [True, False])
def test_store_that_is_lost_between_the_last_part_and_its_merge_costs_no_part(window: bool) -> None:
    async def play(stage: Stage) -> None:
        key = await stage.save(ONE)
        async with stage.playing(workers=0) as engine:
            await stage.clock.sleep(60.0)
            hand = Hand(stage, engine)
            opened = await stage.ask(engine, key, ("voice",))
            for claim in await hand.take("chunk"):
                once_after(stage.storage, "accept", _losing(stage))
                await hand.done(claim)
            await stage.clock.sleep(60.0)
            await hand.finish_all()
            done = await stage.until_ended(opened.request.request_id, 60.0)
        assert done.request.state is RequestState.DONE
        assert set(hand.taken.values()) == {1}
        await at_rest(stage)

    Stage(window=window).run(play)


@pytest.mark.parametrize("step", ["admit", "begin", "enqueue"])
def test_store_that_is_lost_while_an_asset_begins_costs_nothing(step: str) -> None:
    async def play(stage: Stage) -> None:
        key = await stage.save(ONE)
        async with stage.playing(workers=0) as engine:
            await stage.clock.sleep(60.0)
            hand = Hand(stage, engine)
            await hand.take(wait=0.0)
            once_after(stage.storage if step == "begin" else stage.coordination, step, _losing(stage))
            opened = await stage.ask(engine, key, ("voice",))
            await stage.clock.sleep(100.0)
            await always(stage)
            await hand.finish_all()
            done = await stage.until_ended(opened.request.request_id, 60.0)
        assert done.request.state is RequestState.DONE
        assert set(hand.taken.values()) == {1}
        await at_rest(stage)

    Stage(window=True).run(play)


def _losing(stage: Stage):  # type: ignore[no-untyped-def]
    async def lose() -> None:
        stage.coordination.lose()

    return lose


def test_store_that_two_engines_find_lost_at_once_gives_claims_that_only_grow() -> None:
    async def play(stage: Stage) -> None:
        key = await stage.save(plain_book("tale", scenes=2, units=1))
        async with stage.playing(workers=0) as engine:
            twin = await _twin(stage)
            await stage.clock.sleep(60.0)
            hand = Hand(stage, engine)
            await stage.ask(engine, key, ("voice",))
            before = await hand.take("chunk")
            stage.coordination.lose()
            await asyncio.gather(engine.scheduler.tick(), twin.scheduler.tick())
            await stage.clock.sleep(90.0)
            after = await hand.take("chunk")
            assert min(claim.claim_no for claim in after) > max(claim.claim_no for claim in before)
            for claim in after:
                await hand.done(claim)
            await hand.finish_all()
            await twin.stop()
        assert await states(stage, "voice") == [State.READY] * 2
        await at_rest(stage)

    Stage(window=True).run(play)


@pytest.mark.parametrize("claimed", [False, True])
def test_result_of_an_earlier_run_counts_for_the_job_that_the_next_run_has_entered(claimed: bool) -> None:
    async def play(stage: Stage) -> None:
        key = await stage.save(ONE)
        async with stage.playing(workers=0) as engine:
            before = Hand(stage, engine, "before")
            opened = await stage.ask(engine, key, ("voice",))
            undelivered = await before.take("chunk")
        stage.coordination = MemoryCoordination(stage.clock, stage.limits)
        async with stage.playing(stage.engine("next"), workers=0) as engine:
            hand = Hand(stage, engine, "after")
            await hand.hub.register(hand.worker)
            await stage.clock.sleep(5.0)
            claims = await hand.take("chunk") if claimed else []
            for claim in undelivered:
                assert await hand.done(claim) == Reason.LATE_ACCEPT
            assert await hand.beat(*claims) == [Answer.STOP] * len(claims)
            await hand.hub.hand_back(hand.worker, claims)
            await hand.finish_all()
            done = await stage.until_ended(opened.request.request_id, 60.0)
        assert done.request.state is RequestState.DONE
        assert max(hand.taken.values()) == 1
        assert claimed or not {claim.job.input_hash for claim in undelivered} & hand.taken.keys()
        await at_rest(stage)

    Stage().run(play)


def test_result_of_an_earlier_run_for_what_nobody_wants_any_more_leaves_no_job() -> None:
    async def play(stage: Stage) -> None:
        key = await stage.save(ONE)
        async with stage.playing(workers=0) as engine:
            before = Hand(stage, engine, "before")
            opened = await stage.ask(engine, key, ("voice",))
            one, two = await before.take("chunk")
            await engine.requests.cancel(opened.request.request_id)
        stage.coordination = MemoryCoordination(stage.clock, stage.limits)
        async with stage.playing(stage.engine("next"), workers=0) as engine:
            hand = Hand(stage, engine, "after")
            assert await hand.done(one) == Reason.LATE_ACCEPT
            uploaded = await hand.upload(two)
            stage.bytes.content.pop(uploaded.checksum)
            assert await hand.hub.finish(two, uploaded) == Reason.ARTIFACT_GONE
            await stage.clock.sleep(60.0)  # and it is never heard of again
            assert await hand.take(wait=60.0) == []
            assert await stage.coordination.jobs(Selection()) == []
        await at_rest(stage)

    Stage().run(play)


def test_waiting_for_a_worker_ends_although_the_engine_that_said_so_has_stopped() -> None:
    async def play(stage: Stage) -> None:
        key = await stage.save(ONE)
        async with stage.playing(workers=0) as engine:
            await stage.coordination.register(Worker("wrk", "pictures", {"make-picture": 1}))
            first = await _twin(stage, "first")
            hand = Hand(stage, engine)

            async def register() -> None:
                await hand.take(wait=0.0)
                await engine.scheduler.tick()  # this engine knows of the worker, and has woken what waited for it

            once_before(stage.storage, "set_waits", register)
            stage.storage.begin, begin = _refusing(stage.storage.begin)
            await stage.ask(first, key, ("voice",))
            await first.scheduler.tick()
            await first.stop()
            begin()
            await stage.clock.sleep(65.0)
            await hand.finish_all()
        assert await states(stage, "voice") == [State.READY]
        await at_rest(stage)

    Stage().run(play)


def _refusing(begin):  # type: ignore[no-untyped-def]
    """A `begin` that nothing gets through, until it is opened: only one engine shall do the planning."""
    is_open = False

    async def maybe(begins):  # type: ignore[no-untyped-def]
        if is_open:
            return await begin(begins)
        return await begin([])

    def open_it() -> None:
        nonlocal is_open
        is_open = True

    return maybe, open_it


def test_roll_back_that_comes_after_the_result_completed_its_asset_changes_nothing() -> None:
    async def play(stage: Stage) -> None:
        key = await stage.save(plain_book("tale", scenes=1, units=1))
        async with stage.playing(workers=0) as engine:
            hand = Hand(stage, engine)
            await stage.ask(engine, key, ("sketch",))
            (claim,) = await hand.take("picture")
            (active,) = await stage.storage.active(AssetId(0), 10)
            await hand.done(claim)
            assert await stage.storage.roll_back([RollBack(active.asset, active.dispatch_id, Reason.LOST_BOTH)]) == [
                None
            ]
            await stage.clock.sleep(30.0)
        assert await states(stage, "sketch") == [State.READY]
        await at_rest(stage)

    Stage().run(play)


def test_two_engines_that_replan_the_same_at_once_have_nothing_made_twice() -> None:
    """As after an era's window: both find the same parts without jobs, and one is slower than the making."""

    async def play(stage: Stage) -> None:
        key = await stage.save(ONE)
        async with stage.playing(workers=0) as engine:
            hand = Hand(stage, engine)
            await hand.take(wait=0.0)
            opened = await stage.ask(engine, key, ("voice",))
            await stage.clock.sleep(1.0)
            (active,) = await stage.storage.active(AssetId(0), 10)
            await stage.coordination.discard(Selection(assets=[active.asset]))
            twin = await _twin(stage)
            again, overtaken = Hand(stage, twin, "again"), asyncio.Event()

            async def overtake() -> None:
                engine.keeper._replanner.ask([active.asset])
                engine.wake()
                for claim in await hand.take("chunk"):
                    await hand.done(claim)
                overtaken.set()

            once_before(stage.coordination, "enqueue", overtake, of_kind("chunk"))
            twin.keeper._replanner.ask([active.asset])
            twin.wake()
            await overtaken.wait()
            assert await again.take("chunk", wait=5.0) == []
            await hand.finish_all()
            done = await stage.until_ended(opened.request.request_id, 60.0)
            await twin.stop()
        assert done.request.state is RequestState.DONE
        assert set(hand.taken.values()) == {1}
        await at_rest(stage)

    Stage().run(play)
