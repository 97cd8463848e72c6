"""Incidents of failing backends, workers and budgets: each happened in a system of this kind."""

from __future__ import annotations

from collections import Counter

import pytest
from hands import Hand
from incident_kit import (
    dispatches,
    lasting,
    made,
    of_kind,
    reworded,
    states,
)
from invariants import always, at_rest, rows
from stage import HEARTBEAT_S, Fate, Stage
from tables import told
from toys import book, plain_book, scene, unit

from animastor.engine.ports import Circuit, Ended, Selection
from animastor.engine.reasons import JournalType, Reason
from animastor.engine.states import RequestState
from animastor.protocol import Answer, FailureType, Pair, Worker

PICTURES = Pair("sketch", "system")


def test_a_long_job_is_not_taken_for_dead_by_its_age(stage: Stage) -> None:
    async def play(_: Stage) -> None:
        key = await stage.save(plain_book("tale", scenes=1, units=1))
        stage.crew.fate = of_kind("picture", Fate(seconds=600.0))
        async with stage.playing(workers=2) as engine:
            done = await made(stage, engine, key, ("sketch",))
        assert done.request.state is RequestState.DONE
        assert set(stage.crew.started.values()) == {1}
        assert len(await dispatches(stage)) == 1
        await at_rest(stage)

    stage.run(play)


def test_an_encoder_that_hangs_near_its_end_is_ended_and_its_job_given_to_another(stage: Stage) -> None:
    """It reports 99 % for ever; its heart beats."""

    async def play(_: Stage) -> None:
        key = await stage.save(plain_book("tale", scenes=1, units=1))
        limit = stage.registry["sketch"].job_timeout.total_seconds()
        async with stage.playing(workers=0) as engine:
            hand = Hand(stage, engine)
            await hand.register()
            opened = await stage.ask(engine, key, ("sketch",))
            claims = await hand.take(wait=30.0)
            while await hand.beat(*claims, progress=0.99) != [Answer.STOP]:
                await stage.clock.sleep(HEARTBEAT_S)
                assert stage.clock.elapsed < limit + 60.0 + 60.0, "a minute after its own worker should have ended it"
            await hand.hub.hand_back(hand.worker, claims)
            (again,) = await hand.take(wait=30.0)
            assert again.claim_no > claims[0].claim_no
            assert await hand.done(again) == Reason.ACCEPTED
            done = await stage.until_ended(opened.request.request_id)
        assert done.request.state is RequestState.DONE
        assert done.fraction == 1.0
        await at_rest(stage)

    stage.run(play)


def test_a_worker_that_died_leaves_no_mark_that_blocks_its_scene(stage: Stage) -> None:
    """ "0 of 9 are being made", for ever."""

    async def play(_: Stage) -> None:
        key = await stage.save(plain_book("tale", scenes=3, units=3))
        async with stage.playing(workers=0) as engine:
            hand = Hand(stage, engine)
            await hand.register()
            opened = await stage.ask(engine, key, ("sketch",))
            assert len(await hand.take("picture", wait=30.0, at_most=4)) == 4  # and nothing is heard of it again
            died = stage.clock.now()
            crew = stage.crew.work(stage.hub(engine), Worker("wrk", "second", dict.fromkeys(stage.profiles, 4)))
            async with stage.beside(crew):
                done = await stage.until_ended(opened.request.request_id)
            assert stage.clock.now() - died < 42.0 + 30.0 + 30.0  # found, waited for at the end, and made
        assert done.request.state is RequestState.DONE
        await at_rest(stage)

    stage.run(play)


def test_a_permanent_failure_is_not_retried_and_opens_no_breaker(stage: Stage) -> None:
    async def play(_: Stage) -> None:
        key = await stage.save(plain_book("tale", scenes=12, units=1))
        refused = {f"tale-iu-{n}-0" for n in range(8)}
        stage.crew.fate = lambda claim, times: Fate(
            failure=FailureType.PERMANENT if claim.job.params.get("unit") in refused else None
        )
        async with stage.playing() as engine:
            done = await made(stage, engine, key, ("sketch",))
        assert done.request.state is RequestState.DONE_WITH_FAILURES
        assert (await states(stage))["sketch"] == {"FAILED": 8, "READY": 4}
        assert set(stage.crew.started.values()) == {1}
        assert not (await told(stage))[JournalType.CIRCUIT_OPENED]
        await at_rest(stage)

    stage.run(play)


@pytest.mark.parametrize("ending", ["edited", "cancelled", "silent", "misconfigured", "permanent"])
def test_a_half_open_permit_is_free_again_however_its_test_ends(stage: Stage, ending: str) -> None:
    tale = plain_book("tale", scenes=6, units=1)

    async def circuit() -> Circuit:
        (status,) = await stage.coordination.pairs([PICTURES])
        return status.circuit

    async def play(_: Stage) -> None:
        keys = [await stage.save(tale), await stage.save(plain_book("other", scenes=6, units=1))]
        async with stage.playing(workers=0) as engine:
            hand = Hand(stage, engine, slots=20)
            await hand.register()
            for key in keys:
                await stage.ask(engine, key, ("sketch",))
            while await circuit() is not Circuit.OPEN:
                for claim in await hand.take(wait=30.0):
                    await hand.failed(claim, FailureType.TRANSIENT)
            while not (tests := await hand.take(wait=30.0)):
                pass
            test = tests[0]
            assert await circuit() is Circuit.HALF_OPEN
            match ending:
                case "edited":
                    await stage.save(book("tale", scene("sc-0", unit("another"))))
                    await engine.edited()
                case "cancelled":
                    for request in await stage.storage.requests():
                        await engine.requests.cancel(request.request_id)
                case "misconfigured":
                    await hand.failed(test, FailureType.MISCONFIGURED)
                case "permanent":
                    await hand.failed(test, FailureType.PERMANENT)
                case "silent":
                    await stage.clock.sleep(60.0)
            await stage.clock.sleep(100.0)
        async with stage.playing(stage.engine("next")) as engine:
            for key in keys:
                done = await made(stage, engine, key, ("sketch",))
                assert done.request.state is RequestState.DONE
        assert await circuit() is Circuit.CLOSED
        await at_rest(stage)

    stage.run(play)


def test_a_spent_retry_budget_is_told_and_does_not_stop_first_attempts(stage: Stage) -> None:
    """Many parts fail once, more than may be retried in five minutes; who asks why a scene waits is told."""
    count = 70

    async def play(_: Stage) -> None:
        key = await stage.save(plain_book("tale", scenes=count, units=1))
        stage.crew.fate = of_kind("picture", Fate(seconds=0.2, failure=FailureType.TRANSIENT), first=1)
        async with stage.playing(slots=40) as engine:
            opened = await stage.ask(engine, key, ("sketch",))
            causes: set[str] = set()
            while stage.clock.elapsed < 250.0 and not causes:
                await stage.clock.sleep(5.0)
                if len(stage.crew.started) == count:
                    for scene_number in range(0, count, 7):
                        (why,) = await engine.explainer.scene(key, "ch-1", f"sc-{scene_number}", "sketch")
                        causes |= {cause for cause in why.causes if "has retried too much" in cause}
            assert causes
            assert len(stage.crew.started) == count, "first attempts are never held back"
            done = await stage.until_ended(opened.request.request_id, 20_000.0)
        assert done.request.state is RequestState.DONE
        await at_rest(stage)

    stage.run(play)


def test_a_quota_cannot_go_below_nothing(stage: Stage) -> None:
    async def play(_: Stage) -> None:
        key = await stage.save(plain_book("tale", scenes=12, units=1))
        stage.crew.fate = lasting(20.0)
        async with stage.playing() as engine:
            opened = await stage.ask(engine, key, ("sketch",))
            await stage.clock.sleep(25.0)
            for ended in await _all_ended(stage):
                assert await stage.coordination.release([ended] * 3) == [False] * 3
            await always(stage)
            (status,) = await stage.coordination.pairs([PICTURES])
            assert 0 <= status.leases <= status.quota
            await stage.until_ended(opened.request.request_id)
            (status,) = await stage.coordination.pairs([PICTURES])
            assert (status.leases, status.free) == (0, status.quota)
        await at_rest(stage)

    stage.run(play)


async def _all_ended(stage: Stage) -> list[Ended]:
    found = await rows(stage, "SELECT asset, id FROM dispatch WHERE outcome IS NOT NULL")
    assert found
    return [Ended(row.asset, row.id) for row in found]


def test_a_lease_is_renewed_by_whoever_is_there(stage: Stage) -> None:
    async def play(_: Stage) -> None:
        key = await stage.save(plain_book("tale", scenes=1, units=1))
        stage.crew.fate = of_kind("picture", Fate(seconds=400.0))
        async with stage.playing() as engine:
            second = stage.engine("second")
            await second.start()
            opened = await stage.ask(engine, key, ("sketch",))
            await stage.clock.sleep(10.0)
            await second.stop()
            for _round in range(30):
                await stage.clock.sleep(10.0)
                assert len(await stage.coordination.leases(Selection())) == 1
            await stage.until_ended(opened.request.request_id)
        assert len(await dispatches(stage)) == 1
        await at_rest(stage)

    stage.run(play)


def test_an_expired_key_stops_a_backend_and_fails_nothing(stage: Stage) -> None:
    expired = True

    async def play(_: Stage) -> None:
        nonlocal expired
        key = await stage.save(plain_book("tale", scenes=10, units=1))
        stage.crew.fate = lambda claim, times: Fate(
            seconds=1.0 if not expired else 5.0,
            failure=FailureType.MISCONFIGURED if expired and claim.job.kind == "picture" else None,
            code="http_401",
        )
        async with stage.playing() as engine:
            opened = await stage.ask(engine, key)
            await stage.clock.sleep(300.0)
            assert "FAILED" not in (await states(stage))["sketch"]
            assert {row.attempts for row in await rows(stage, "SELECT attempts FROM part")} == {0}
            assert (await states(stage))["voice"] == {"READY": 10}, "other backends go on"
            expired = False
            done = await stage.until_ended(opened.request.request_id)
        assert done.request.state is RequestState.DONE
        await at_rest(stage)

    stage.run(play)


def test_one_book_that_no_worker_can_make_stops_nobody_else(stage: Stage) -> None:
    """The GPU of one is dead: what needs it waits; the others are made."""

    async def play(_: Stage) -> None:
        stuck = await stage.save(plain_book("stuck", scenes=30, units=1))
        other = await stage.save(plain_book("other", scenes=3, units=1))
        async with stage.playing(workers=0) as engine:
            crew = stage.crew.work(stage.hub(engine), Worker("wrk", "voices", {"make-chunk": 2, "merge": 1}))
            async with stage.beside(crew):
                waits = await stage.ask(engine, stuck, ("sketch",))
                done = await made(stage, engine, other, ("voice",))
                assert done.request.state is RequestState.DONE
                held = await stage.storage.progress(waits.request.request_id)
                assert held.request.state is RequestState.OPEN
        assert (await states(stage))["sketch"]["FAILED"] == 0

    stage.run(play)


def test_a_job_that_kills_each_worker_it_meets_is_lost_and_nothing_else_is(stage: Stage) -> None:
    async def play(_: Stage) -> None:
        key = await stage.save(plain_book("tale", scenes=4, units=1))
        stage.crew.fate = lambda claim, times: Fate(silent=claim.job.params.get("unit") == "tale-iu-0-0")
        async with stage.playing(workers=3) as engine:
            done = await made(stage, engine, key, ("sketch",))
            await stage.clock.sleep(200.0)
        assert done.request.state is RequestState.DONE_WITH_FAILURES
        assert (await states(stage))["sketch"] == {"FAILED": 1, "READY": 3}
        assert Counter(stage.crew.started.values()) == {1: 3, 3: 1}
        assert any(Reason.POISON in (row.reason, row.details.get("code")) for row in await stage.journal())
        await at_rest(stage)

    stage.run(play)


def test_progress_runs_forward_only_and_reaches_its_end(stage: Stage) -> None:
    tale = plain_book("tale", scenes=4)

    async def play(_: Stage) -> None:
        key = await stage.save(tale)
        stage.crew.fate = lambda claim, times: Fate(
            seconds=4.0, failure=FailureType.TRANSIENT if times == 0 and claim.job.input_hash[0] in "0123" else None
        )
        async with stage.playing() as engine:
            opened = await stage.ask(engine, key)
            seen = [0.0]
            for moment in range(400):
                await stage.clock.sleep(1.0)
                if moment == 12:
                    await stage.save(reworded(tale, "sc-1"))
                    await engine.edited()
                progress = await stage.storage.progress(opened.request.request_id)
                seen.append(progress.fraction)
                if progress.request.state is RequestState.DONE:
                    break
        assert seen == sorted(seen)
        assert seen[-1] == 1.0
        assert max(one for one in seen if one < 1.0) <= 0.99
        await at_rest(stage)

    stage.run(play)
