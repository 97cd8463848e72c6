"""What `explain` says, of lives that real dispatching brought about; never from a second copy of a rule."""

from __future__ import annotations

import time

from stage import Fate, Stage
from toys import plain_book

from animastor.engine.engine import Engine
from animastor.engine.explaining import Explainer
from animastor.engine.ports import ArtifactStoreUnavailableError, Circuit
from animastor.engine.reasons import Reason
from animastor.protocol import BookKey, Claim, FailureType, Pair

CHAPTER = "ch-1"


async def _told(stage: Stage, engine: Engine | None, key: BookKey, media: str, scene: str = "sc-0") -> str:
    explainer = engine.explainer if engine else Explainer(storage=stage.storage, registry=stage.registry)
    (one,) = await explainer.scene(key, CHAPTER, scene, media)
    return one.sentence


def _broken(unit_id: str, at: str = "make-picture"):  # type: ignore[no-untyped-def]
    def fate(claim: Claim, times: int) -> Fate:
        if claim.job.profile == at and claim.job.params["unit"] == unit_id:
            return Fate(1.0, FailureType.INFRASTRUCTURE, "connection refused")
        return Fate(1.0)

    return fate


def test_the_chain_of_reasons_reaches_the_part_that_is_in_trouble() -> None:
    async def play(stage: Stage) -> None:
        stage.crew.fate = _broken("b-iu-0-1")
        key = await stage.save(plain_book("b", 1, units=4))
        async with stage.playing() as engine:
            await stage.ask(engine, key)
            await stage.clock.sleep(6.0)
            told = await _told(stage, engine, key, "clip")
            assert told.startswith("clip of scene 1/1 waits for sketch: 3 of 4 parts are in; "), told
            assert "the part of unit 2 failed" in told, told
            assert "(made to fail: connection refused) and is " in told, told
            assert told.endswith("sketch has 1 of 8 slots in use."), told

    Stage().run(play)


def test_what_may_start_is_told_its_place_and_what_is_full_its_slots() -> None:
    async def play(stage: Stage) -> None:
        stage.crew.fate = lambda claim, times: Fate(300.0)
        key = await stage.save(plain_book("b", 30))
        async with stage.playing(slots=1) as engine:
            await stage.ask(engine, key, ["voice"])
            await stage.clock.sleep(5.0)
            last = await _told(stage, engine, key, "voice", "sc-29")
            assert last == "voice of scene 1/30 waits: voice has 3 of 3 slots in use."
            first = await _told(stage, engine, key, "voice")
            assert first.startswith("voice of scene 1/1 is being made: 0 of 2 parts are in; 1 part in work")

    Stage().run(play)


def test_without_workers_that_is_what_is_said() -> None:
    async def play(stage: Stage) -> None:
        key = await stage.save(plain_book("b", 1))
        async with stage.playing(workers=0) as engine:
            await stage.ask(engine, key, ["voice"])
            await stage.clock.sleep(5.0)
            assert "waits: there is no worker for voice." in await _told(stage, engine, key, "voice")

    Stage().run(play)


def test_a_profile_that_nobody_serves_is_named() -> None:
    async def play(stage: Stage) -> None:
        key = await stage.save(plain_book("b", 1))
        async with stage.playing() as engine:
            await stage.ask(engine, key, ["voice"])
            await stage.clock.sleep(5.0)
            assert "waits: there is no worker for make-chunk" in await _told(stage, engine, key, "voice")

    Stage(profiles=("make-picture", "merge")).run(play)


def test_failures_are_told_with_what_they_died_of_also_by_what_requires_them() -> None:
    async def play(stage: Stage) -> None:
        stage.crew.fate = lambda claim, times: Fate(1.0, FailureType.PERMANENT, "content policy")
        key = await stage.save(plain_book("b", 1))
        async with stage.playing() as engine:
            opened = await stage.ask(engine, key, ["clip"])
            await stage.until_ended(opened.request.request_id)
            told = await _told(stage, engine, key, "clip")
            assert told.startswith("clip of scene 1/1 has failed: sketch has failed; the part of unit 1"), told
            assert "(made to fail: content policy)" in told, told

    Stage().run(play)


def test_a_breaker_that_is_open_says_when_it_lets_a_test_through() -> None:
    async def play(stage: Stage) -> None:
        stage.crew.fate = lambda claim, times: Fate(0.5, FailureType.INFRASTRUCTURE, "connection refused")
        key = await stage.save(plain_book("b", 20))
        async with stage.playing() as engine:
            await stage.ask(engine, key, ["voice"])
            pair = Pair("voice", "system")
            while (await stage.coordination.pairs([pair]))[0].circuit is not Circuit.OPEN:
                await stage.clock.sleep(0.5)
            told = await _told(stage, engine, key, "voice", "sc-19")
            assert "voice failed many times in a row: a test is let through in " in told, told

    Stage().run(play)


def test_what_rests_says_why_and_a_store_that_is_away_is_named() -> None:
    async def play(stage: Stage) -> None:
        key = await stage.save(plain_book("b", 1))
        async with stage.playing() as engine:
            told = await _told(stage, engine, key, "voice")
            assert (
                "is missing: nobody has asked for it; `animastor regenerate b` makes what is missing or stale." in told
            )
            opened = await stage.ask(engine, key, ["voice"])
            await stage.until_ended(opened.request.request_id)
            assert "is ready." in await _told(stage, engine, key, "voice")
            stage.bytes.away = True
            await stage.clock.sleep(10.0)
            await stage.ask(engine, key, ["sketch"])
            await stage.clock.sleep(1.0)
            assert "the artifact store cannot be read" in await _told(stage, engine, key, "sketch")
            stage.bytes.check = _is_anothers  # type: ignore[method-assign]
            await stage.clock.sleep(10.0)
            assert "the store is another's; nothing starts until then" in await _told(stage, engine, key, "sketch")

    Stage().run(play)


async def _is_anothers() -> Reason | None:
    raise ArtifactStoreUnavailableError("the store is another's")


def test_without_a_holder_it_is_said_that_nobody_works() -> None:
    async def play(stage: Stage) -> None:
        key = await stage.save(plain_book("b", 1))
        engine = stage.engine()
        await stage.ask(engine, key, ["voice"])
        told = await _told(stage, None, key, "voice")
        assert told.endswith("may start now: it is planned at the next look; nobody is working on this home."), told

    Stage().run(play)


def test_a_book_is_told_by_counts_and_the_first_that_is_not_finished() -> None:
    async def play(stage: Stage) -> None:
        stage.crew.fate = lambda claim, times: Fate(20.0)
        key = await stage.save(plain_book("b", 12))
        async with stage.playing() as engine:
            await stage.ask(engine, key)
            await stage.clock.sleep(50.0)
            whole = await engine.explainer.book(key)
            assert {one.media for one in whole.counts} == {"voice", "sketch", "clip"}
            assert sum(one.assets for one in whole.counts) == 36
            assert [one.media for one in whole.assets] == ["voice", "sketch", "clip"]

    Stage().run(play)


def test_the_worst_asset_of_a_large_book_in_the_making_is_explained_within_50_ms() -> None:
    async def play(stage: Stage) -> None:
        stage.crew.fate = lambda claim, times: Fate(30.0)
        key = await stage.save(plain_book("b", 5000, units=3))
        async with stage.playing(slots=20) as engine:
            await stage.ask(engine, key)
            await stage.clock.sleep(100.0)
            for media in ("voice", "sketch", "clip"):
                took = []
                for _ in range(3):
                    began = time.process_time()
                    await _told(stage, engine, key, media, "sc-4999")
                    took.append(time.process_time() - began)
                assert min(took) < 0.05, (media, took)

    Stage().run(play)
