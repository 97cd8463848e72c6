"""The whole life of assets: asked for, planned, dispatched, made, merged, READY (CONTRACT 3 to 8)."""

from __future__ import annotations

from collections import Counter

import pytest
from invariants import at_rest, rows
from stage import Fate, Stage
from toys import RAISES, book, plain_book, scene, unit

from animastor.engine.ports import Scope, ScopeKind
from animastor.engine.reasons import JournalType, Reason
from animastor.engine.states import RequestState, State


async def states(stage: Stage) -> Counter[str]:
    """How many assets are in which state."""
    return Counter(State(row.state).name for row in await rows(stage, "SELECT state FROM asset"))


async def asset_of(stage: Stage, scene_id: str, media: str) -> int:
    """An asset by its scene and media type."""
    (row,) = await rows(
        stage,
        "SELECT a.id FROM asset a JOIN scene s ON s.scene_key = a.scene_key WHERE s.scene_id = :s AND a.media = :m",
        s=scene_id,
        m=media,
    )
    return int(row.id)


def test_a_book_is_made_whole_and_each_part_once() -> None:
    async def play(stage: Stage) -> None:
        key = await stage.save(plain_book("tale", scenes=5))
        async with stage.playing() as engine:
            opened = await stage.ask(engine, key)
            progress = await stage.until_ended(opened.request.request_id)
        assert progress.request.state is RequestState.DONE
        assert progress.fraction == 1.0
        assert await states(stage) == {"READY": 15}
        assert set(stage.crew.started.values()) == {1}
        assert sum(stage.crew.started.values()) == 5 * (2 + 1 + 2 + 2 + 1)
        assert not stage.alarms
        assert stage.clock.elapsed < 30.0 + 15.0, "nothing waited for the keeper"
        await at_rest(stage)

    Stage().run(play)


def test_making_it_again_starts_nothing() -> None:
    async def play(stage: Stage) -> None:
        key = await stage.save(plain_book("tale", scenes=2))
        async with stage.playing() as engine:
            await stage.until_ended((await stage.ask(engine, key)).request.request_id)
            stage.crew.started.clear()
            again = await stage.until_ended((await stage.ask(engine, key)).request.request_id)
        assert again.request.state is RequestState.DONE
        assert not stage.crew.started
        await at_rest(stage)

    Stage().run(play)


def test_the_same_invocation_gets_the_same_request() -> None:
    async def play(stage: Stage) -> None:
        key = await stage.save(plain_book("tale", scenes=1))
        async with stage.playing() as engine:
            first = await stage.ask(engine, key, key="once")
            again = await stage.ask(engine, key, key="once")
            assert first.request.request_id == again.request.request_id
            await stage.until_ended(first.request.request_id)

    Stage().run(play)


def test_a_request_says_which_media_types_it_added() -> None:
    async def play(stage: Stage) -> None:
        key = await stage.save(plain_book("tale", scenes=1))
        async with stage.playing() as engine:
            opened = await stage.ask(engine, key, ("clip",))
            assert opened.added == ("sketch",)
            await stage.until_ended(opened.request.request_id)
        made = {row.media: State(row.state) for row in await rows(stage, "SELECT media, state FROM asset")}
        assert made["sketch"] is made["clip"] is State.READY
        assert made["voice"] not in (State.PENDING, State.GENERATING, State.READY)
        await at_rest(stage)

    Stage().run(play)


def test_only_the_scope_that_was_asked_for_is_made() -> None:
    async def play(stage: Stage) -> None:
        key = await stage.save(plain_book("tale", scenes=3))
        async with stage.playing() as engine:
            scope = Scope(ScopeKind.SCENE, "ch-1", "sc-1")
            await stage.until_ended((await stage.ask(engine, key, scope=scope)).request.request_id)
        assert (await states(stage))["READY"] == 3
        await at_rest(stage)

    Stage().run(play)


def test_a_clip_is_begun_when_its_pictures_and_its_voice_are_ready() -> None:
    async def play(stage: Stage) -> None:
        key = await stage.save(plain_book("tale", scenes=1))
        stage.crew.fate = lambda claim, times: Fate(seconds=50.0 if claim.job.media == "voice" else 1.0)
        async with stage.playing() as engine:
            await stage.until_ended((await stage.ask(engine, key)).request.request_id)
        clip = await asset_of(stage, "sc-0", "clip")
        journal = [(row.asset, row.type) for row in await stage.journal()]
        begun = journal.index((clip, JournalType.DISPATCHED))
        for media in ("voice", "sketch"):
            assert journal.index((await asset_of(stage, "sc-0", media), JournalType.READY)) < begun
        assert journal.count((clip, JournalType.DISPATCHED)) == 1
        await at_rest(stage)

    Stage().run(play)


def test_a_scene_without_a_word_has_an_empty_voice_at_once() -> None:
    async def play(stage: Stage) -> None:
        key = await stage.save(book("silent", scene("sc-0", unit("iu-1", text=""))))
        async with stage.playing() as engine:
            done = await stage.until_ended((await stage.ask(engine, key)).request.request_id)
        assert done.request.state is RequestState.DONE
        assert await states(stage) == {"READY": 3}
        assert not any("chunk" in kind for kind in stage.checker.checked)
        await at_rest(stage)

    Stage().run(play)


def test_equal_parts_of_two_scenes_are_made_once_and_reused() -> None:
    async def play(stage: Stage) -> None:
        first = scene("sc-0", unit("iu-1", "said", "seen"))
        key = await stage.save(book("one", first))
        other = await stage.save(book("two", first))
        async with stage.playing() as engine:
            await stage.until_ended((await stage.ask(engine, key)).request.request_id)
            stage.crew.started.clear()
            await stage.until_ended((await stage.ask(engine, other)).request.request_id)
        assert not stage.crew.started
        assert await states(stage) == {"READY": 6}
        assert any(row.reason == Reason.REUSED for row in await stage.journal())

    Stage().run(play)


def test_a_plan_that_raises_fails_its_asset_alone() -> None:
    async def play(stage: Stage) -> None:
        scenes = [scene(f"sc-{n}", unit(f"iu-{n}", RAISES if n == 1 else f"text {n}", f"seen {n}")) for n in range(3)]
        key = await stage.save(book("tale", *scenes))
        async with stage.playing() as engine:
            done = await stage.until_ended((await stage.ask(engine, key)).request.request_id)
        assert done.request.state is RequestState.DONE_WITH_FAILURES
        assert await states(stage) == {"READY": 8, "FAILED": 1}
        assert any(alarm.reason == Reason.ORCHESTRATION and "stumbled" in alarm.message for alarm in stage.alarms)
        await at_rest(stage)

    Stage().run(play)


def test_a_resting_asset_whose_plan_raises_after_an_edit_wants_nothing_until_the_next() -> None:
    async def play(stage: Stage) -> None:
        good, bad = (book("tale", scene("sc-0", unit("iu-0", text))) for text in ("fine", RAISES))
        key = await stage.save(good)
        async with stage.playing() as engine:
            await stage.until_ended((await stage.ask(engine, key)).request.request_id)
            await stage.save(bad)
            await stage.clock.sleep(60.0)
            assert await states(stage) == {"READY": 2, "DIRTY": 1}
            assert len(stage.alarms) == 1
            await stage.save(good)
            await stage.clock.sleep(60.0)
            assert await states(stage) == {"READY": 3}
        await at_rest(stage)

    Stage().run(play)


def test_two_books_share_the_slots() -> None:
    async def play(stage: Stage) -> None:
        keys = [await stage.save(plain_book(name, scenes=12, units=1)) for name in ("first", "second")]
        order: list[str] = []

        def fate(claim, times: int) -> Fate:  # type: ignore[no-untyped-def]
            order.append(claim.job.book)
            return Fate()

        stage.crew.fate = fate
        async with stage.playing(slots=1) as engine:
            requests = [await stage.ask(engine, key, ("sketch",)) for key in keys]
            for opened in requests:
                await stage.until_ended(opened.request.request_id)
        half = Counter(order[: len(order) // 2])
        assert min(half["first"], half["second"]) >= len(order) // 4 - 2
        await at_rest(stage)

    Stage().run(play)


@pytest.mark.parametrize("count", [1100])
def test_a_scope_larger_than_a_chunk_is_entered_whole(count: int) -> None:
    async def play(stage: Stage) -> None:
        key = await stage.save(plain_book("long", scenes=count, units=1))
        stage.crew.fate = lambda claim, times: Fate(seconds=0.0)
        async with stage.playing(slots=200) as engine:
            done = await stage.until_ended((await stage.ask(engine, key, ("sketch",))).request.request_id)
        assert done.media[0].ready == count
        await at_rest(stage)

    Stage().run(play)
