"""Failures: retried, counted, lost; breakers; workers that vanish (CONTRACT 6, 9)."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

import pytest
from hands import Hand
from invariants import always, at_rest, rows
from stage import Fate, Stage
from toys import CLIP, SKETCH, VOICE, book, plain_book, plan_voice, scene, unit

from animastor.engine.reasons import JournalType, Reason
from animastor.engine.states import RequestState, State
from animastor.media.registry import Registry
from animastor.media.types import PlanInput, Planned
from animastor.protocol import MERGE, Claim, FailureType, Worker

HOUR = 3600.0  # whoever sets a machine's clock, or its summer time, may be wrong by it


async def _states(stage: Stage) -> dict[str, list[State]]:
    found: dict[str, list[State]] = {}
    for row in await rows(stage, "SELECT media, state FROM asset ORDER BY id"):
        found.setdefault(row.media, []).append(State(row.state))
    return found


async def _types(stage: Stage) -> Counter[JournalType]:
    return Counter(row.type for row in await stage.journal())


def _only(kind: str, fate: Fate, first: int = 10**9):  # type: ignore[no-untyped-def]
    """The fate of the first so many attempts of each job of a kind; everything else succeeds."""

    def choose(claim: Claim, times: int) -> Fate:
        return fate if claim.job.kind == kind and times < first else Fate()

    return choose


def test_a_transient_failure_is_retried_inside_its_dispatch() -> None:
    async def play(stage: Stage) -> None:
        key = await stage.save(plain_book("tale", scenes=1))
        stage.crew.fate = _only("chunk", Fate(failure=FailureType.TRANSIENT), first=2)
        async with stage.playing() as engine:
            done = await stage.until_ended((await stage.ask(engine, key, ("voice",))).request.request_id)
        assert done.request.state is RequestState.DONE
        types = await _types(stage)
        assert types[JournalType.PART_FAILED] == 4
        assert types[JournalType.DISPATCHED] == 1
        assert stage.clock.elapsed < 30.0 + 12.0, "it waited for its back-off and for nothing else"
        await at_rest(stage)

    Stage().run(play)


def test_a_part_that_never_succeeds_is_lost_at_its_limit_and_its_asset_fails() -> None:
    async def play(stage: Stage) -> None:
        key = await stage.save(plain_book("tale", scenes=1, units=1))
        stage.crew.fate = _only("chunk", Fate(failure=FailureType.TRANSIENT))
        async with stage.playing() as engine:
            done = await stage.until_ended((await stage.ask(engine, key)).request.request_id)
        assert done.request.state is RequestState.DONE_WITH_FAILURES
        assert await _states(stage) == {"voice": [State.FAILED], "sketch": [State.READY], "clip": [State.READY]}
        assert max(stage.crew.started.values()) == 4
        await at_rest(stage)

    Stage().run(play)


def test_a_permanent_failure_fails_what_requires_it_and_not_what_follows_it() -> None:
    async def play(stage: Stage) -> None:
        key = await stage.save(plain_book("tale", scenes=2))
        stage.crew.fate = _only("picture", Fate(failure=FailureType.PERMANENT), first=1)
        async with stage.playing() as engine:
            done = await stage.until_ended((await stage.ask(engine, key)).request.request_id)
        assert done.request.state is RequestState.DONE_WITH_FAILURES
        found = await _states(stage)
        assert found["voice"] == [State.READY] * 2
        assert found["sketch"] == found["clip"] == [State.FAILED] * 2
        assert f"{Reason.REQUIRES_FAILED}:sketch" in {row.reason for row in await stage.journal()}
        await at_rest(stage)

    Stage().run(play)


def test_what_failed_is_made_when_it_is_asked_for_again() -> None:
    async def play(stage: Stage) -> None:
        key = await stage.save(plain_book("tale", scenes=1))
        stage.crew.fate = _only("picture", Fate(failure=FailureType.PERMANENT))
        async with stage.playing() as engine:
            await stage.until_ended((await stage.ask(engine, key)).request.request_id)
            stage.crew.fate = lambda claim, times: Fate()
            done = await stage.until_ended((await stage.ask(engine, key)).request.request_id)
        assert done.request.state is RequestState.DONE
        await at_rest(stage)

    Stage().run(play)


def test_a_long_back_off_holds_no_slot() -> None:
    async def play(stage: Stage) -> None:
        key = await stage.save(plain_book("tale", scenes=8, units=1))
        stage.crew.fate = _only("chunk", Fate(failure=FailureType.TRANSIENT), first=3)
        for _ in range(1):
            async with stage.playing() as engine:
                done = await stage.until_ended((await stage.ask(engine, key, ("voice",))).request.request_id, 40_000)
        assert done.request.state is RequestState.DONE
        await at_rest(stage)

    Stage().run(play)


@pytest.mark.parametrize("wrong_by", [0.0, HOUR, -HOUR])
def test_a_misconfigured_backend_gives_its_job_back_uncounted_and_at_once(wrong_by: float) -> None:
    async def play(stage: Stage) -> None:
        stage.wrong_by = wrong_by
        key = await stage.save(plain_book("tale", scenes=1, units=1))
        stage.crew.fate = _only("chunk", Fate(failure=FailureType.MISCONFIGURED, code="no_voice"), first=6)
        async with stage.playing() as engine:
            done = await stage.until_ended((await stage.ask(engine, key, ("voice",))).request.request_id)
        assert done.request.state is RequestState.DONE
        assert {row.attempts for row in await rows(stage, "SELECT attempts FROM part")} == {0}
        await at_rest(stage)

    Stage().run(play)


def test_what_misconfigured_backends_give_back_keeps_no_worker_from_working() -> None:
    async def play(stage: Stage) -> None:
        key = await stage.save(plain_book("tale", scenes=12))
        async with stage.playing(workers=0) as engine:
            hand = Hand(stage, engine)
            await hand.register()
            await stage.ask(engine, key, ("voice",))
            await stage.clock.sleep(1.0)  # its first jobs tell what it needs, and the others follow at once
            claims = await hand.take("chunk")
            assert len(claims) > 20, "so many failures would keep it from working for a minute"
            for claim in claims:
                await hand.failed(claim, FailureType.MISCONFIGURED, "no_voice")
            assert len(await hand.take("chunk")) == len(claims)
        await always(stage)

    Stage().run(play)


@pytest.mark.parametrize(("spoiled", "state"), [(2, RequestState.DONE), (3, RequestState.DONE_WITH_FAILURES)])
def test_corrupt_bytes_are_transient_twice_then_permanent(spoiled: int, state: RequestState) -> None:
    async def play(stage: Stage) -> None:
        key = await stage.save(plain_book("tale", scenes=1, units=1))
        stage.crew.fate = _only("chunk", Fate(spoiled=True), first=spoiled)
        async with stage.playing() as engine:
            done = await stage.until_ended((await stage.ask(engine, key, ("voice",))).request.request_id)
        assert done.request.state is state
        assert max(stage.crew.started.values()) == 3
        await at_rest(stage)

    Stage().run(play)


def test_a_silent_worker_loses_its_job_to_another_and_its_late_result_changes_nothing() -> None:
    async def play(stage: Stage) -> None:
        key = await stage.save(plain_book("tale", scenes=1, units=1))
        stage.crew.fate = _only("chunk", Fate(late=100.0), first=1)
        async with stage.playing(workers=2) as engine:
            opened = await stage.ask(engine, key, ("voice",))
            done = await stage.until_ended(opened.request.request_id)
            assert stage.clock.elapsed < 100.0, "nobody waited for the silent one"
            await stage.clock.sleep(120.0)
        assert done.request.state is RequestState.DONE
        types = await _types(stage)
        assert types[JournalType.SWEPT] == 1
        assert max(stage.crew.started.values()) == 2
        await at_rest(stage)

    Stage().run(play)


def test_a_late_result_is_accepted_when_nobody_else_was_faster() -> None:
    async def play(stage: Stage) -> None:
        key = await stage.save(plain_book("tale", scenes=1, units=1))

        def fate(claim: Claim, times: int) -> Fate:
            if claim.job.kind != "chunk":
                return Fate()
            return Fate(late=60.0) if times == 0 else Fate(seconds=1000.0)

        stage.crew.fate = fate
        async with stage.playing(workers=2) as engine:
            done = await stage.until_ended((await stage.ask(engine, key, ("voice",))).request.request_id)
            assert stage.clock.elapsed < 200.0
            await stage.clock.sleep(60.0)
        assert done.request.state is RequestState.DONE
        assert sum(stage.crew.stopped.values()) == 1, "the second one was told to stop"
        await at_rest(stage)

    Stage().run(play)


def test_a_late_result_stops_the_one_who_works_on_the_same_part_while_the_others_go_on() -> None:
    async def play(stage: Stage) -> None:
        key = await stage.save(plain_book("tale", scenes=1, units=2))
        other_began = stage.clock.now()

        def fate(claim: Claim, times: int) -> Fate:
            if claim.job.kind != "chunk":
                return Fate()
            if claim.job.params["unit"].endswith("-1"):
                return Fate(seconds=400.0)
            return Fate(late=60.0) if times == 0 else Fate(seconds=1000.0)

        stage.crew.fate = fate
        async with stage.playing(workers=2) as engine:
            opened = await stage.ask(engine, key, ("voice",))
            while not stage.crew.stopped:
                assert stage.clock.now() < other_began + 100.0, "nobody told the second one to stop"
                await stage.clock.sleep(1.0)
            done = await stage.until_ended(opened.request.request_id)
        assert done.request.state is RequestState.DONE
        await at_rest(stage)

    Stage().run(play)


def test_a_job_whose_workers_vanish_again_and_again_is_poison() -> None:
    async def play(stage: Stage) -> None:
        key = await stage.save(plain_book("tale", scenes=1, units=1))
        stage.crew.fate = _only("chunk", Fate(silent=True))
        async with stage.playing(workers=2) as engine:
            done = await stage.until_ended((await stage.ask(engine, key, ("voice",))).request.request_id)
            await stage.clock.sleep(200.0)
        assert done.request.state is RequestState.DONE_WITH_FAILURES
        assert max(stage.crew.started.values()) == 3
        await at_rest(stage)

    Stage().run(play)


def test_results_that_are_delivered_twice_count_once() -> None:
    async def play(stage: Stage) -> None:
        key = await stage.save(plain_book("tale", scenes=3))
        stage.crew.fate = lambda claim, times: Fate(twice=True)
        async with stage.playing() as engine:
            done = await stage.until_ended((await stage.ask(engine, key)).request.request_id)
        assert done.request.state is RequestState.DONE
        assert set(stage.crew.started.values()) == {1}
        types = await _types(stage)
        assert types[JournalType.READY] == 9
        await at_rest(stage)

    Stage().run(play)


def test_failures_that_are_delivered_twice_count_once() -> None:
    async def play(stage: Stage) -> None:
        key = await stage.save(plain_book("tale", scenes=1, units=1))
        stage.crew.fate = _only("chunk", Fate(failure=FailureType.TRANSIENT, twice=True), first=1)
        async with stage.playing() as engine:
            done = await stage.until_ended((await stage.ask(engine, key, ("voice",))).request.request_id)
        assert done.request.state is RequestState.DONE
        assert (await _types(stage))[JournalType.PART_FAILED] == 1
        await at_rest(stage)

    Stage().run(play)


def test_a_merge_that_blames_a_good_part_has_failed_itself() -> None:
    async def play(stage: Stage) -> None:
        key = await stage.save(plain_book("tale", scenes=1))
        stage.crew.fate = _only(MERGE, Fate(failure=FailureType.TRANSIENT, code="bad_input"), first=1)
        async with stage.playing() as engine:
            done = await stage.until_ended((await stage.ask(engine, key, ("voice",))).request.request_id)
        assert done.request.state is RequestState.DONE
        assert sorted(stage.crew.started.values()) == [1, 1, 2]
        await at_rest(stage)

    Stage().run(play)


def test_a_merge_that_blames_a_broken_part_gets_it_made_again() -> None:
    async def play(stage: Stage) -> None:
        key = await stage.save(plain_book("tale", scenes=1))

        def fate(claim: Claim, times: int) -> Fate:
            if claim.job.kind == MERGE and times == 0:
                stage.bytes.content[claim.job.inputs[0]] += b"spoiled"
                return Fate(failure=FailureType.TRANSIENT, code="bad_input")
            return Fate()

        stage.crew.fate = fate
        async with stage.playing() as engine:
            done = await stage.until_ended((await stage.ask(engine, key, ("voice",))).request.request_id)
        assert done.request.state is RequestState.DONE
        assert sorted(stage.crew.started.values()) == [1, 2, 2]
        await at_rest(stage)

    Stage().run(play)


@pytest.mark.parametrize("wrong_by", [0.0, HOUR, -HOUR])
def test_a_backend_that_fails_opens_the_breaker_which_tests_and_closes_again(wrong_by: float) -> None:
    async def play(stage: Stage) -> None:
        stage.wrong_by = wrong_by
        key = await stage.save(plain_book("tale", scenes=6, units=1))
        broken_until = stage.clock.now() + 100.0
        stage.crew.fate = lambda claim, times: Fate(
            failure=FailureType.INFRASTRUCTURE if stage.clock.now() < broken_until else None
        )
        async with stage.playing() as engine:
            opened = await stage.ask(engine, key, ("sketch",))
            for _ in range(60):
                await stage.clock.sleep(2.0)
                await always(stage)
            done = await stage.until_ended(opened.request.request_id)
        assert done.request.state is RequestState.DONE
        types = await _types(stage)
        assert types[JournalType.CIRCUIT_OPENED] >= 1
        assert types[JournalType.CIRCUIT_HALF_OPENED] >= 1
        assert types[JournalType.CIRCUIT_CLOSED] == 1
        await at_rest(stage)

    Stage().run(play)


def test_an_asset_without_a_worker_waits_and_starts_when_one_registers() -> None:
    async def play(stage: Stage) -> None:
        key = await stage.save(plain_book("tale", scenes=1))
        async with stage.playing(workers=0) as engine:
            hub = stage.hub(engine)
            await hub.register(Worker("wrk", "pictures", {"make-picture": 1}))
            opened = await stage.ask(engine, key, ("voice",))
            await stage.clock.sleep(30.0)
            assert (await _states(stage))["voice"] == [State.PENDING]
            assert any(row.reason == Reason.NO_WORKER for row in await stage.journal())
        async with stage.playing() as engine:
            done = await stage.until_ended(opened.request.request_id)
        assert done.request.state is RequestState.DONE
        await at_rest(stage)

    Stage().run(play)


def test_many_that_nobody_can_make_do_not_hold_up_the_one_that_somebody_can() -> None:
    def plan(wanted: PlanInput) -> Planned:
        planned = plan_voice(wanted)
        profile = "make-chunk" if wanted.scene.scene_id == "sc-last" else "make-nothing"
        return replace(planned, parts=tuple(replace(part, profile=profile) for part in planned.parts))

    async def play(stage: Stage) -> None:
        scenes = [scene(f"sc-{n}", unit(f"iu-{n}", str(n))) for n in range(40)]
        key = await stage.save(book("tale", *scenes, scene("sc-last", unit("iu-last", "last"))))
        async with stage.playing() as engine:
            await stage.ask(engine, key, ("voice",))
            await stage.clock.sleep(5.0)
        assert (await _states(stage))["voice"] == [State.PENDING] * 40 + [State.READY]

    Stage(Registry((replace(VOICE, plan=plan), SKETCH, CLIP))).run(play)


def test_a_worker_that_is_able_again_wakes_what_waited_for_it() -> None:
    async def play(stage: Stage) -> None:
        key = await stage.save(plain_book("tale", scenes=1, units=1))
        async with stage.playing(workers=0) as engine:
            await stage.coordination.register(Worker("wrk", "pictures", {"make-picture": 1}))
            await stage.ask(engine, key, ("voice",))
            await stage.clock.sleep(20.0)
            assert (await _states(stage))["voice"] == [State.PENDING]
            await stage.coordination.register(Worker("wrk", "voices", {"make-chunk": 1}))  # past the hub
            await stage.clock.sleep(5.0)
            assert (await _states(stage))["voice"] == [State.GENERATING]

    Stage().run(play)


def test_a_dispatch_whose_workers_left_is_rolled_back_after_five_minutes() -> None:
    async def play(stage: Stage) -> None:
        key = await stage.save(plain_book("tale", scenes=1, units=1))
        async with stage.playing(workers=0) as engine:
            hub, leaving = stage.hub(engine), Worker("wrk", "leaving", {"make-chunk": 1})
            await hub.register(leaving)
            opened = await stage.ask(engine, key, ("voice",))
            await stage.clock.sleep(5.0)
            assert (await _states(stage))["voice"] == [State.GENERATING]
            await hub.goodbye(leaving)
            await stage.clock.sleep(280.0)
            assert (await _states(stage))["voice"] == [State.GENERATING]
            await stage.clock.sleep(60.0)
            assert (await _states(stage))["voice"] == [State.PENDING]
        async with stage.playing() as engine:
            done = await stage.until_ended(opened.request.request_id)
        assert done.request.state is RequestState.DONE
        await at_rest(stage)

    Stage().run(play)


def test_a_merge_that_was_given_up_is_made_when_it_is_asked_for_again() -> None:
    async def play(stage: Stage) -> None:
        key = await stage.save(plain_book("tale", scenes=1))
        stage.crew.fate = _only(MERGE, Fate(failure=FailureType.PERMANENT))
        async with stage.playing() as engine:
            lost = await stage.until_ended((await stage.ask(engine, key, ("voice",))).request.request_id)
            stage.crew.fate = lambda claim, times: Fate()
            done = await stage.until_ended((await stage.ask(engine, key, ("voice",))).request.request_id)
        assert lost.request.state is RequestState.DONE_WITH_FAILURES
        assert done.request.state is RequestState.DONE
        assert sorted(stage.crew.started.values()) == [1, 1, 2], "its parts were kept"
        await at_rest(stage)

    Stage().run(play)


def test_a_broken_part_is_not_taken_over_from_another_book_again_and_again() -> None:
    async def play(stage: Stage) -> None:
        line, more = unit("iu-0", "one line"), unit("iu-1", "and another")
        first = await stage.save(book("tale", scene("sc-0", line)))
        async with stage.playing() as engine:
            await stage.until_ended((await stage.ask(engine, first, ("voice",))).request.request_id)
            (chunk,) = await rows(stage, "SELECT artifact FROM part WHERE kind = 'chunk'")
            stage.bytes.content[chunk.artifact] += b"spoiled"

            def fate(claim: Claim, times: int) -> Fate:
                broken = any(stage.bytes.content.get(one, b"spoiled").endswith(b"spoiled") for one in claim.job.inputs)
                return Fate(failure=FailureType.TRANSIENT, code="bad_input") if broken else Fate()

            stage.crew.fate = fate
            longer = await stage.save(book("longer", scene("sc-0", line, more)))
            done = await stage.until_ended((await stage.ask(engine, longer, ("voice",))).request.request_id)
        assert done.request.state is RequestState.DONE
        assert max(stage.crew.started.values()) == 2, "the merge that found it, and the one after it was made again"
        await at_rest(stage)

    Stage().run(play)


def test_a_shot_whose_picture_is_gone_gets_it_made_again_and_is_not_blamed() -> None:
    async def play(stage: Stage) -> None:
        key = await stage.save(plain_book("tale", scenes=1))

        def fate(claim: Claim, times: int) -> Fate:
            if claim.job.kind == "shot" and not lost:
                lost.append(claim.job.inputs[0])
                del stage.bytes.content[lost[0]]
            gone = any(one not in stage.bytes.content for one in claim.job.inputs)
            return Fate(failure=FailureType.TRANSIENT, code=Reason.ARTIFACT_MISSING) if gone else Fate()

        lost: list[str] = []
        stage.crew.fate = fate
        async with stage.playing() as engine:
            done = await stage.until_ended((await stage.ask(engine, key)).request.request_id)
        assert done.request.state is RequestState.DONE
        assert {row.attempts for row in await rows(stage, "SELECT attempts FROM part")} == {0}
        assert (await _types(stage))[JournalType.PART_FAILED] == 0
        await at_rest(stage)

    Stage().run(play)
