"""Edits make again exactly what they touch, also while it is being made (CONTRACT 4, 7, 10)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from invariants import always, at_rest, rows
from stage import WHOLE, Fate, Stage
from toys import book, scene, unit

from animastor.books.model import Book
from animastor.engine.ports import PlanRow, PlanStored, StorePlan
from animastor.engine.reasons import JournalType, Reason
from animastor.engine.states import RequestState, State
from animastor.media.types import ContentSettings
from animastor.protocol import MERGE, AssetId


def tale(texts: Sequence[str], prompts: Sequence[str]) -> Book:
    """One scene, a unit for each text and prompt."""
    units = [unit(f"iu-{n}", text, prompt) for n, (text, prompt) in enumerate(zip(texts, prompts, strict=True))]
    return book("tale", scene("sc-0", *units))


BEFORE = tale(["a", "b", "c"], ["x", "y", "z"])


async def _kinds_started(stage: Stage) -> list[str]:
    known = {row.hash: row.kind for row in await rows(stage, "SELECT hash, kind FROM part")}
    return sorted(known[hash_] for hash_, count in stage.crew.by_hash.items() for _ in range(count))


def _edited(after: Book, expected: Sequence[str], settings: ContentSettings | None = None) -> None:
    async def play(stage: Stage) -> None:
        key = await stage.save(BEFORE)
        async with stage.playing() as engine:
            await stage.until_ended((await stage.ask(engine, key)).request.request_id)
            stage.crew.by_hash.clear()
            await stage.save(after, settings)
            await stage.until_ended((await stage.ask(engine, key)).request.request_id)
        assert await _kinds_started(stage) == sorted(expected)
        await at_rest(stage)

    Stage().run(play)


def test_changing_a_text_makes_its_chunk_and_the_merge() -> None:
    _edited(tale(["a", "B", "c"], ["x", "y", "z"]), ["chunk", MERGE])


def test_changing_a_prompt_makes_its_picture_the_shot_from_it_and_the_merge_of_shots() -> None:
    _edited(tale(["a", "b", "c"], ["x", "Y", "z"]), ["picture", "shot", MERGE])


def test_changing_the_voice_makes_every_chunk() -> None:
    _edited(BEFORE, ["chunk", "chunk", "chunk", MERGE], ContentSettings(narrator="deep"))


def test_changing_nothing_makes_nothing() -> None:
    _edited(BEFORE, [])


def test_moving_a_unit_makes_only_the_merges() -> None:
    moved = book("tale", scene("sc-0", unit("iu-1", "b", "y"), unit("iu-0", "a", "x"), unit("iu-2", "c", "z")))
    _edited(moved, [MERGE, MERGE])


def test_undoing_an_edit_makes_nothing() -> None:
    async def play(stage: Stage) -> None:
        key = await stage.save(BEFORE)
        async with stage.playing() as engine:
            await stage.until_ended((await stage.ask(engine, key)).request.request_id)
            await stage.save(tale(["a", "B", "c"], ["x", "Y", "z"]))
            await stage.clock.sleep(20.0)
            assert {row.state for row in await rows(stage, "SELECT state FROM asset")} == {State.DIRTY}
            stage.crew.by_hash.clear()
            await stage.save(BEFORE)
            await stage.clock.sleep(20.0)
        assert not stage.crew.by_hash
        assert {row.state for row in await rows(stage, "SELECT state FROM asset")} == {State.READY}
        await at_rest(stage)

    Stage().run(play)


def test_an_edit_without_a_request_starts_nothing() -> None:
    async def play(stage: Stage) -> None:
        key = await stage.save(BEFORE)
        async with stage.playing() as engine:
            await stage.until_ended((await stage.ask(engine, key)).request.request_id)
            stage.crew.by_hash.clear()
            await stage.save(tale(["a", "B", "c"], ["x", "y", "z"]))
            await stage.clock.sleep(100.0)
        assert not stage.crew.by_hash
        await at_rest(stage)

    Stage().run(play)


def test_an_edit_while_generating_keeps_what_is_still_wanted_and_stops_the_rest() -> None:
    async def play(stage: Stage) -> None:
        key = await stage.save(BEFORE)
        stage.crew.fate = lambda claim, times: Fate(seconds=40.0)
        async with stage.playing() as engine:
            opened = await stage.ask(engine, key, ("voice",))
            await stage.clock.sleep(10.0)
            await stage.save(tale(["a", "B", "c"], ["x", "y", "z"]))
            engine.wake()
            await stage.clock.sleep(1.0)
            await always(stage)
            done = await stage.until_ended(opened.request.request_id)
        assert done.request.state is RequestState.DONE
        assert await _kinds_started(stage) == [*["chunk"] * 4, MERGE]
        assert sum(stage.crew.stopped.values()) == 1
        dispatched = [row for row in await stage.journal() if row.type is JournalType.DISPATCHED]
        assert len(dispatched) == 1, "it went on under the same dispatch"
        await at_rest(stage)

    Stage().run(play)


def test_a_part_that_is_finished_while_its_asset_is_replanned_is_not_made_again() -> None:
    async def play(stage: Stage) -> None:
        key = await stage.save(BEFORE)
        stage.crew.fate = lambda claim, times: Fate(seconds=10.0)
        async with stage.playing() as engine:
            opened = await stage.ask(engine, key, ("voice",))
            await stage.clock.sleep(8.0)
            store_plans = stage.storage.store_plans

            async def slow(plans: Sequence[StorePlan]) -> Sequence[PlanStored]:
                stored = await store_plans(plans)
                await stage.clock.sleep(5.0)  # two chunks are finished between the commit and the queue
                return stored

            stage.storage.store_plans = slow  # type: ignore[method-assign]
            await stage.save(tale(["a", "B", "c"], ["x", "y", "z"]))
            engine.wake()
            await stage.until_ended(opened.request.request_id)
        assert await _kinds_started(stage) == [*["chunk"] * 4, MERGE]
        await at_rest(stage)

    Stage().run(play)


def test_a_merge_that_loses_against_an_edit_is_made_again_from_what_is_wanted() -> None:
    async def play(stage: Stage) -> None:
        key = await stage.save(BEFORE)
        stage.crew.fate = lambda claim, times: Fate(seconds=20.0 if claim.job.kind == MERGE else 1.0)
        async with stage.playing() as engine:
            opened = await stage.ask(engine, key, ("voice",))
            while not any(claim == MERGE for claim in await _kinds_started(stage)):
                await stage.clock.sleep(0.5)
            await stage.clock.sleep(19.0)  # the edit comes just before the merge is delivered
            await stage.save(tale(["a", "B", "c"], ["x", "y", "z"]))
            done = await stage.until_ended(opened.request.request_id)
        assert done.request.state is RequestState.DONE
        assert await _kinds_started(stage) == [*["chunk"] * 4, MERGE, MERGE]
        await at_rest(stage)

    Stage().run(play)


def test_a_result_that_is_no_longer_wanted_is_kept_for_the_undo() -> None:
    async def play(stage: Stage) -> None:
        key = await stage.save(BEFORE)
        stage.crew.fate = lambda claim, times: Fate(seconds=3.0)
        async with stage.playing() as engine:
            opened = await stage.ask(engine, key, ("voice",))
            await stage.clock.sleep(2.5)
            await stage.save(tale(["a", "B", "c"], ["x", "y", "z"]))  # the running chunk b is delivered before the tick
            await stage.until_ended(opened.request.request_id)
            stage.crew.by_hash.clear()
            await stage.save(BEFORE)
            await stage.until_ended((await stage.ask(engine, key, ("voice",))).request.request_id)
        assert await _kinds_started(stage) in ([MERGE], ["chunk", MERGE])
        await at_rest(stage)

    Stage().run(play)


def test_a_scene_that_leaves_the_book_takes_its_running_work_along() -> None:
    async def play(stage: Stage) -> None:
        one, two = scene("sc-0", unit("iu-0", "a")), scene("sc-1", unit("iu-1", "b"))
        key = await stage.save(book("tale", one, two))
        stage.crew.fate = lambda claim, times: Fate(seconds=30.0)
        async with stage.playing() as engine:
            opened = await stage.ask(engine, key)
            await stage.clock.sleep(10.0)
            await stage.save(book("tale", one))
            done = await stage.until_ended(opened.request.request_id)
        assert done.request.state is RequestState.DONE
        outcomes = {row.reason for row in await rows(stage, "SELECT reason FROM dispatch")}
        assert Reason.SCENE_REMOVED in outcomes
        await at_rest(stage)

    Stage().run(play)


def test_pictures_that_are_what_they_were_again_cost_no_clip() -> None:
    async def play(stage: Stage) -> None:
        key = await stage.save(BEFORE)
        async with stage.playing() as engine:
            await stage.until_ended((await stage.ask(engine, key)).request.request_id)
            clip_before = await rows(stage, "SELECT artifact FROM asset WHERE media = 'clip'")
            stage.crew.by_hash.clear()
            await stage.save(tale(["a", "b", "c"], ["x", "Y", "z"]))
            await stage.until_ended((await stage.ask(engine, key, ("sketch",))).request.request_id)
            await stage.save(BEFORE)
            await stage.until_ended((await stage.ask(engine, key)).request.request_id)
        assert await rows(stage, "SELECT artifact FROM asset WHERE media = 'clip'") == clip_before
        assert await _kinds_started(stage) == ["picture"]
        await at_rest(stage)

    Stage().run(play)


def test_a_scene_that_is_added_under_an_open_request_is_made_at_once_and_the_request_ends() -> None:
    async def play(stage: Stage) -> None:
        one, two = scene("sc-0", unit("iu-0", "a")), scene("sc-1", unit("iu-1", "b"))
        key = await stage.save(book("tale", one))
        stage.crew.fate = lambda claim, times: Fate(seconds=3.0)
        async with stage.playing() as engine:
            opened = await stage.ask(engine, key)
            await stage.clock.sleep(2.0)
            await stage.save(book("tale", one, two))
            await engine.edited()
            done = await stage.until_ended(opened.request.request_id)
        assert done.request.state is RequestState.DONE
        assert {row.state for row in await rows(stage, "SELECT state FROM asset")} == {State.READY}
        assert stage.clock.elapsed < 30.0 + 20.0, "nobody waited for reconciliation"
        await at_rest(stage)

    Stage().run(play)


def test_a_layer_that_is_switched_off_is_stopped_at_once() -> None:
    async def play(stage: Stage) -> None:
        one = scene("sc-0", unit("iu-0", "a"))
        key = await stage.save(book("tale", one))
        stage.crew.fate = lambda claim, times: Fate(seconds=30.0)
        async with stage.playing() as engine:
            opened = await stage.ask(engine, key)
            await stage.clock.sleep(2.0)
            off = book("tale", one)
            await stage.save(replace(off, head=replace(off.head, layer_config={"sketch_enabled": False})))
            await engine.edited()
            assert {row.state for row in await rows(stage, "SELECT state FROM asset WHERE media <> 'voice'")} == {
                State.DIRTY
            }
            done = await stage.until_ended(opened.request.request_id)
        assert done.request.state is RequestState.DONE
        assert sum(stage.crew.stopped.values()) == 1
        await at_rest(stage)

    Stage().run(play)


def test_what_is_asked_for_while_it_is_looked_at_is_looked_at_again() -> None:
    async def play(stage: Stage) -> None:
        await stage.save(BEFORE)
        replanner = stage.engine().scheduler._replanner
        (asset, *_) = await rows(stage, "SELECT id FROM asset")
        plan_rows = stage.storage.plan_rows

        async def asked_meanwhile(assets: Sequence[AssetId]) -> Sequence[PlanRow]:
            replanner.ask([asset.id])
            return await plan_rows(assets)

        stage.storage.plan_rows = asked_meanwhile  # type: ignore[method-assign]
        replanner.ask([asset.id])
        assert [await replanner.replan() for _ in range(2)] == [1, 1]

    Stage().run(play)


def test_what_an_edit_left_current_is_known_when_it_has_been_planned() -> None:
    async def play(stage: Stage) -> None:
        key = await stage.save(BEFORE)
        async with stage.playing() as engine:
            await stage.until_ended((await stage.ask(engine, key)).request.request_id)

            async def current() -> set[bool]:
                (row,) = await stage.storage.export_rows(key, WHOLE)
                return {asset.current for asset in row.media.values()}

            await stage.save(replace(BEFORE, head=replace(BEFORE.head, title="Another title")))
            assert await current() == {False}
            await engine.edited()
            await engine.planned()
            assert await current() == {True}
        await at_rest(stage)

    Stage().run(play)


def test_nobody_waits_for_plans_that_cannot_be_made() -> None:
    async def play(stage: Stage) -> None:
        key = await stage.save(BEFORE)
        async with stage.playing() as engine:
            await stage.until_ended((await stage.ask(engine, key)).request.request_id)
            stage.bytes.away = True
            await stage.clock.sleep(10.0)
            await stage.save(tale(["a", "B", "c"], ["x", "y", "z"]))
            await engine.planned()
            assert engine.gate.reason is Reason.ARTIFACT_STORE_UNAVAILABLE

    Stage().run(play)


def test_what_is_restored_without_work_takes_no_time() -> None:
    async def play(stage: Stage) -> None:
        key = await stage.save(BEFORE)
        async with stage.playing() as engine:
            await stage.until_ended((await stage.ask(engine, key)).request.request_id)
            await stage.save(tale(["a", "B", "c"], ["x", "Y", "z"]))
            await engine.edited()
            await stage.until_ended((await stage.ask(engine, key)).request.request_id)
            await stage.save(BEFORE)
            await engine.edited()
            began = stage.clock.elapsed
            opened = await stage.ask(engine, key)
            last = [event async for event in engine.requests.events(opened.request.request_id)][-1]
        assert last.progress.request.state is RequestState.DONE
        assert stage.clock.elapsed - began < 1.0, "it waited for a tick"
        await at_rest(stage)

    Stage().run(play)
