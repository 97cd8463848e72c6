"""Incidents of parts and of what is made from them: each happened in a system of this kind."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

import orjson
from hands import Hand
from incident_kit import (
    changed,
    dispatches,
    lasting,
    made,
    of_kind,
    ready_artifacts,
    reworded,
    states,
)
from invariants import always, at_rest, rows
from stage import Fate, Stage
from tables import told
from toys import book, content_of, plain_book, scene, unit

from animastor.engine.ports import NewRequest, Scope, ScopeKind, Selection
from animastor.engine.reasons import JournalType, Reason
from animastor.engine.states import RequestState
from animastor.protocol import MERGE, Answer, Claim, FailureType


def test_the_first_of_several_shots_to_finish_does_not_complete_the_scene(stage: Stage) -> None:
    def fate(claim: Claim, times: int) -> Fate:
        slow = claim.job.kind == "shot" and not claim.job.params["unit"].endswith("-1")
        return Fate(seconds=90.0 if slow else 1.0)

    async def play(_: Stage) -> None:
        key = await stage.save(plain_book("tale", scenes=1, units=3))
        stage.crew.fate = fate
        async with stage.playing() as engine:
            opened = await stage.ask(engine, key)
            await stage.clock.sleep(60.0)
            shots = await rows(stage, "SELECT state FROM part WHERE kind = 'shot' ORDER BY ordinal")
            assert sorted(row.state for row in shots) == [0, 0, 1]
            assert (await states(stage))["clip"] == {"GENERATING": 1}
            assert (await stage.storage.progress(opened.request.request_id)).fraction < 1.0
            await stage.until_ended(opened.request.request_id)
        assert (await states(stage))["clip"] == {"READY": 1}
        await at_rest(stage)

    stage.run(play)


def test_a_last_chunk_that_is_late_does_not_fail_its_scene_nor_make_it_anew(stage: Stage) -> None:
    def fate(claim: Claim, times: int) -> Fate:
        late = claim.job.kind == "chunk" and claim.job.params["unit"].endswith("-2") and times == 0
        return Fate(late=600.0 if late else 0.0)

    async def play(_: Stage) -> None:
        key = await stage.save(plain_book("tale", scenes=1, units=3))
        stage.crew.fate = fate
        async with stage.playing(workers=2) as engine:
            done = await made(stage, engine, key, ("voice",))
            await stage.clock.sleep(700.0)
        assert done.request.state is RequestState.DONE
        assert sorted(stage.crew.started.values()) == [1, 1, 1, 2], "only the late one was given to another worker"
        assert len(await dispatches(stage)) == 1
        assert not (await told(stage))[JournalType.FAILED]
        await at_rest(stage)

    stage.run(play)


def test_a_result_that_arrives_before_its_scene_waits_for_it_is_kept(stage: Stage) -> None:
    async def play(_: Stage) -> None:
        key = await stage.save(plain_book("tale", scenes=1, units=1))
        async with stage.playing(workers=0) as engine:
            hand = Hand(stage, engine)
            await hand.register()
            opened = await stage.ask(engine, key, ("voice",))
            (claim,) = await hand.take(wait=30.0)
            await engine.requests.cancel(opened.request.request_id)
            assert (await states(stage))["voice"] == {"DIRTY": 1}
            assert await hand.done(claim) == Reason.LATE_ACCEPT
            assert (await states(stage))["voice"] == {"DIRTY": 1}, "it starts nothing that nobody asked for"
        async with stage.playing(stage.engine("next")) as engine:
            done = await made(stage, engine, key, ("voice",))
        assert done.request.state is RequestState.DONE
        assert not [job for job in stage.crew.by_hash if job == claim.job.input_hash], "it is not made again"
        await at_rest(stage)

    stage.run(play)


def test_empty_files_do_not_count_as_made(stage: Stage) -> None:
    async def play(_: Stage) -> None:
        key = await stage.save(plain_book("tale", scenes=1, units=1))
        async with stage.playing(workers=0) as engine:
            hand = Hand(stage, engine)
            await hand.register()
            await stage.ask(engine, key, ("sketch",))
            (claim,) = await hand.take(wait=30.0)
            assert await hand.deliver(claim, b"") == Reason.CORRUPT_ARTIFACT
            assert not await rows(stage, "SELECT 1 AS one FROM part WHERE state = 1")
            (again,) = await hand.take(wait=30.0)
            assert again.job.input_hash == claim.job.input_hash
            assert await hand.done(again) == Reason.ACCEPTED
            await stage.clock.sleep(30.0)
        assert (await states(stage))["sketch"] == {"READY": 1}
        await at_rest(stage)

    stage.run(play)


def test_parts_are_merged_in_reading_order_whatever_they_are_called_and_whenever_they_come(stage: Stage) -> None:
    names = ["iu-10", "iu-2", "iu-1", "iu-20", "iu-3"]

    async def play(_: Stage) -> None:
        key = await stage.save(book("tale", scene("sc-0", *(unit(name, f"says {name}") for name in names))))
        seconds = {name: float(n) for n, name in enumerate(sorted(names, reverse=True), 1)}
        stage.crew.fate = lambda claim, times: Fate(seconds=seconds.get(claim.job.params.get("unit", ""), 1.0))
        async with stage.playing(slots=8) as engine:
            await made(stage, engine, key, ("voice",))
        chunks = [content_of("chunk", {"unit": n, "text": f"says {n}", "voice": ""}, ()) for n in names]
        (merge,) = await rows(stage, "SELECT params FROM part WHERE kind = :merge", merge=MERGE)
        (artifact,) = (await ready_artifacts(stage, "voice")).values()
        assert stage.bytes.content[artifact] == content_of(MERGE, orjson.loads(merge.params), chunks)
        await at_rest(stage)

    stage.run(play)


def test_a_finished_part_of_a_scene_that_is_put_into_another_order_is_kept(stage: Stage) -> None:
    tale = plain_book("tale", scenes=1, units=4)

    async def play(_: Stage) -> None:
        key = await stage.save(tale)
        stage.crew.fate = lambda claim, times: Fate(
            seconds=20.0 if str(claim.job.params.get("unit"))[-1] > "1" else 1.0
        )
        async with stage.playing() as engine:
            opened = await stage.ask(engine, key, ("voice",))
            await stage.clock.sleep(10.0)
            assert len(await rows(stage, "SELECT 1 AS one FROM part WHERE state = 1")) == 2
            await stage.save(changed(tale, "sc-0", lambda units: tuple(reversed(units))))
            await engine.edited()
            await stage.until_ended(opened.request.request_id)
        assert set(stage.crew.by_hash.values()) == {1}
        assert len(stage.crew.by_hash) == 5, "four chunks and one merge"
        await at_rest(stage)

    stage.run(play)


def test_an_old_file_does_not_revive_a_scene_that_was_changed(stage: Stage) -> None:
    tale = plain_book("tale", scenes=1)

    async def play(_: Stage) -> None:
        key = await stage.save(tale)
        async with stage.playing() as engine:
            await made(stage, engine, key)
            before = await ready_artifacts(stage, "voice")
            stage.crew.fate = lasting(20.0)
            await stage.save(reworded(tale, "sc-0"))
            opened = await stage.ask(engine, key)
            for _ in range(15):
                await stage.clock.sleep(1.0)
                assert await ready_artifacts(stage, "voice") == {}, "the old sound is on disk, and is not the scene's"
            await stage.until_ended(opened.request.request_id)
            assert await ready_artifacts(stage, "voice") != before
        await at_rest(stage)

    stage.run(play)


def test_a_merge_whose_worker_was_lost_is_not_a_failure(stage: Stage) -> None:
    async def play(_: Stage) -> None:
        key = await stage.save(plain_book("tale", scenes=1))
        stage.crew.fate = of_kind(MERGE, Fate(late=300.0), first=1)
        async with stage.playing(workers=2) as engine:
            done = await made(stage, engine, key, ("voice",))
            await stage.clock.sleep(400.0)
        assert done.request.state is RequestState.DONE
        assert len(await dispatches(stage)) == 1
        chunks = [n for job, n in stage.crew.by_hash.items()]
        assert sorted(chunks) == [1, 1, 2], "the merge was given to another worker, and nothing else"
        assert not (await told(stage))[JournalType.FAILED]
        assert {row.attempts for row in await rows(stage, "SELECT attempts FROM part")} == {0}
        await at_rest(stage)

    stage.run(play)


def test_who_makes_a_part_a_second_time_is_told_to_stop_when_the_first_one_comes(stage: Stage) -> None:
    """Two machines drew one picture for half an hour; only the other picture of the scene was still to be made."""

    async def play(_: Stage) -> None:
        key = await stage.save(plain_book("tale", scenes=1, units=2))
        async with stage.playing(workers=0) as engine:
            slow, quick = Hand(stage, engine, "slow"), Hand(stage, engine, "quick")
            await slow.register()
            first = await stage.ask(engine, key, ("sketch",))
            late = await slow.take("picture", wait=30.0)
            await engine.requests.cancel(first.request.request_id)
            assert await slow.beat(*late) == [Answer.STOP] * 2
            await slow.hub.hand_back(slow.worker, late)  # it says so, but it goes on
            await quick.register()
            again = await stage.ask(engine, key, ("sketch",))
            claims = await quick.take("picture", wait=30.0)
            assert await slow.done(late[0]) == Reason.LATE_ACCEPT
            assert await quick.beat(*claims) == [Answer.STOP, Answer.CONTINUE]
            assert await quick.done(claims[1]) == Reason.ACCEPTED
            done = await stage.until_ended(again.request.request_id, 120.0)
        assert done.request.state is RequestState.DONE
        await at_rest(stage)

    stage.run(play)


def test_a_merge_that_runs_is_taken_over_by_who_asks_again(stage: Stage) -> None:
    async def play(_: Stage) -> None:
        key = await stage.save(plain_book("tale", scenes=1, units=2))
        async with stage.playing(workers=0) as engine:
            hand = Hand(stage, engine)
            await hand.register()
            first = await stage.ask(engine, key, ("voice",))
            for claim in await hand.take("chunk", wait=30.0):
                await hand.done(claim)
            (merge,) = await hand.take(MERGE, wait=30.0)
            await engine.requests.cancel(first.request.request_id)
            again = await stage.ask(engine, key, ("voice",))
            await stage.clock.sleep(3.0)
            (job,) = await stage.coordination.jobs(Selection())
            assert job.claim_no == merge.claim_no, "the one that runs is the only one"
            assert await hand.beat(merge) == [Answer.CONTINUE]
            assert await hand.done(merge) == Reason.LATE_ACCEPT
            done = await stage.until_ended(again.request.request_id, 120.0)
        assert done.request.state is RequestState.DONE
        assert hand.taken[merge.job.input_hash] == 1
        await at_rest(stage)

    stage.run(play)


def test_a_refused_result_is_refused_once(stage: Stage) -> None:
    async def play(_: Stage) -> None:
        key = await stage.save(plain_book("tale", scenes=1, units=1))
        stage.crew.fate = of_kind("chunk", Fate(spoiled=True))
        async with stage.playing() as engine:
            done = await made(stage, engine, key, ("voice",))
            refused = (await told(stage))[JournalType.PART_REFUSED]
            starts = sum(stage.crew.started.values())
            await stage.clock.sleep(900.0)
            assert (await told(stage))[JournalType.PART_REFUSED] == refused
            assert sum(stage.crew.started.values()) == starts == 3
        assert done.request.state is RequestState.DONE_WITH_FAILURES
        await at_rest(stage)

    stage.run(play)


def test_two_dispatches_never_read_one_anothers_results(stage: Stage) -> None:
    """Two books of the same words: their jobs have equal hashes, and run at the same time."""
    names = ("left", "right")

    def fate(claim: Claim, times: int) -> Fate:
        bad = claim.job.book == "left" and claim.job.kind == "chunk"
        return Fate(3.0, FailureType.PERMANENT if bad else None)

    async def play(_: Stage) -> None:
        same = scene("sc-0", unit("iu-0", "the same words", "the same sight"), unit("iu-1", "and more", "and more"))
        keys = [await stage.save(book(name, same)) for name in names]
        stage.crew.fate = fate
        async with stage.playing(slots=8) as engine:
            opened = [await stage.ask(engine, key, ("voice", "sketch")) for key in keys]
            ended = [await stage.until_ended(one.request.request_id) for one in opened]
        assert RequestState.DONE in {one.request.state for one in ended}
        for _, dispatch_id, outcome, _ in await dispatches(stage):
            assert outcome in ("success", "failure"), dispatch_id
        await at_rest(stage)

    stage.run(play)


def test_a_scene_with_nothing_to_say_is_never_dispatched(stage: Stage) -> None:
    async def play(_: Stage) -> None:
        key = await stage.save(book("tale", scene("sc-0", unit("iu-0", ""), unit("iu-1", ""))))
        async with stage.playing() as engine:
            done = await made(stage, engine, key, ("voice",))
            await stage.clock.sleep(600.0)
        assert done.request.state is RequestState.DONE
        assert await dispatches(stage) == []
        assert (await states(stage))["voice"] == {"READY": 1}
        await at_rest(stage)

    stage.run(play)


def test_importing_twice_makes_nothing_twice(stage: Stage) -> None:
    tale = plain_book("tale", scenes=3)

    async def play(_: Stage) -> None:
        keys = [await stage.save(tale), await stage.save(tale)]
        assert keys[0] == keys[1]
        async with stage.playing() as engine:
            await made(stage, engine, keys[0])
            await stage.save(tale)
            await made(stage, engine, keys[0])
        assert set(stage.crew.by_hash.values()) == {1}
        assert len(await rows(stage, "SELECT id FROM asset")) == 9
        await at_rest(stage)

    stage.run(play)


def test_a_book_id_with_underscores_is_one_name(stage: Stage) -> None:
    """Nothing takes `a_b` with a scene `c` for `a` with a scene `b_c`, nor `sc-1` for a part of `sc-10`."""

    async def play(_: Stage) -> None:
        first = await stage.save(book("a_b", scene("c", unit("iu_1", "one")), scene("c_1", unit("iu_1_1", "two"))))
        other = await stage.save(book("a", scene("b_c", unit("iu_1", "three")), scene("b_c_1", unit("iu", "four"))))
        stage.crew.fate = lasting(10.0)
        async with stage.playing(slots=8) as engine:
            opened = [await stage.ask(engine, key, ("voice",)) for key in (first, other)]
            await stage.clock.sleep(2.0)
            await engine.requests.cancel(opened[1].request.request_id)
            done = await stage.until_ended(opened[0].request.request_id)
        assert done.request.state is RequestState.DONE
        assert Counter(one.scene_id for one in await _ready_scenes(stage)) == {"c": 1, "c_1": 1}
        await at_rest(stage)

    stage.run(play)


async def _ready_scenes(stage: Stage):  # type: ignore[no-untyped-def]
    return await rows(
        stage,
        "SELECT s.scene_id FROM asset a JOIN scene s ON s.scene_key = a.scene_key WHERE a.state = 4",
    )


def test_one_scene_that_is_made_anew_leaves_the_queue_of_the_others_alone(stage: Stage) -> None:
    tale = plain_book("tale", scenes=6)

    async def play(_: Stage) -> None:
        key = await stage.save(tale)
        stage.crew.fate = lasting(15.0)
        async with stage.playing(slots=2) as engine:
            opened = await stage.ask(engine, key, ("voice",))
            await stage.clock.sleep(5.0)
            others = {one[1] for one in await dispatches(stage)}
            await stage.save(reworded(tale, "sc-0"))
            scope = Scope(ScopeKind.SCENE, "ch-1", "sc-0")
            await engine.requests.open(NewRequest(key, scope, ("voice",), "again", kind="regenerate"))
            await always(stage)
            await stage.until_ended(opened.request.request_id)
        assert others
        ended = {one[1]: one[2] for one in await dispatches(stage)}
        assert {ended[one] for one in others} == {"success"}, "what ran goes on under the dispatch that it had"
        remade = {job: n for job, n in stage.crew.started.items() if n > 1}
        assert not remade
        await at_rest(stage)

    stage.run(play)


def test_a_changed_picture_does_not_spoil_what_is_unchanged(stage: Stage) -> None:
    tale = plain_book("tale", scenes=1, units=3)

    async def play(_: Stage) -> None:
        key = await stage.save(tale)
        async with stage.playing() as engine:
            await made(stage, engine, key)
            stage.crew.by_hash.clear()
            first = tale.chapters[0].scenes[0].units[0]
            seen = replace(first, image=replace(first.image, prompt="another sight"))
            await stage.save(changed(tale, "sc-0", lambda units: (seen, *units[1:])))
            await made(stage, engine, key)
        assert sum(stage.crew.by_hash.values()) == 3, "a picture, its shot, and the merge of shots"
        await at_rest(stage)

    stage.run(play)


def test_a_scene_that_is_forced_anew_leaves_the_other_scenes_as_they_are(stage: Stage) -> None:
    """A force flag that belongs to the book would throw away what the others have."""

    async def play(_: Stage) -> None:
        key = await stage.save(plain_book("tale", scenes=4))
        async with stage.playing() as engine:
            await made(stage, engine, key, ("voice",))
            before = await ready_artifacts(stage, "voice")
            stage.crew.by_hash.clear()
            scope = Scope(ScopeKind.SCENE, "ch-1", "sc-2")
            new = NewRequest(key, scope, ("voice",), "anew", kind="regenerate", rebuild=True)
            opened = await engine.requests.open(new)
            for _second in range(5):
                await always(stage)
                assert {"sc-0", "sc-1", "sc-3"} <= set(await ready_artifacts(stage, "voice"))
                await stage.clock.sleep(1.0)
            done = await stage.until_ended(opened.request.request_id)
            after = await ready_artifacts(stage, "voice")
        assert done.request.state is RequestState.DONE
        assert sum(stage.crew.by_hash.values()) == 3, "two chunks and their merge"
        assert {name for name in before if before[name] != after[name]} <= {"sc-2"}
        await at_rest(stage)

    stage.run(play)
