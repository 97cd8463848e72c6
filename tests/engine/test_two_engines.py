"""Two engines on one database and one coordination store, either stopped at any await: the same film."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from typing import Any

from actors import Actor, AnyResults
from hypothesis import given, settings
from hypothesis import strategies as st
from invariants import always, at_rest, rows
from stage import Fate, Stage
from toys import PROFILES, plain_book

from animastor.books.model import Book, UnitImage
from animastor.engine.errors import EngineStoppedError
from animastor.engine.states import RequestState
from animastor.hub.local import LocalHub
from animastor.protocol import Claim, FailureType, Worker

Film = list[tuple[Any, ...]]


async def _film(stage: Stage) -> Film:
    return [
        tuple(row)
        for row in await rows(stage, "SELECT scene_key, media, state, artifact_hash, artifact FROM asset ORDER BY id")
    ]


async def _work(stage: Stage, actors: list[Actor]) -> None:
    hub = LocalHub(
        stage.coordination,
        AnyResults(actors),
        stage.bytes,
        stage.storage,
        media=stage.registry,
        clock=stage.clock,
    )
    await stage.crew.work(hub, Worker("wrk", "one", dict.fromkeys(PROFILES, 3)))


def _play(stops: list[int | None], fate: Callable[[Claim, int], Fate]) -> tuple[Film, Stage, list[int]]:
    """Play with an engine for each stop, and a last one that begins later and is never stopped."""
    film: Film = []
    steps: list[int] = []

    async def play(stage: Stage) -> None:
        key = await stage.save(plain_book("tale", scenes=3))
        stage.crew.fate = fate
        actors = [Actor(stage, f"e{n}", stop) for n, stop in enumerate(stops)]
        for actor in actors:
            with suppress(EngineStoppedError):
                await actor.engine.start()
        working = asyncio.create_task(_work(stage, actors))
        opened = await stage.ask(stage.engine("asker"), key)
        await stage.clock.sleep(40.0)
        await always(stage)
        last = Actor(stage, "last", None)
        actors.append(last)
        await last.engine.start()
        done = await stage.until_ended(opened.request.request_id)
        assert done.request.state is RequestState.DONE
        await stage.clock.sleep(60.0)
        film.extend(await _film(stage))
        steps.extend(actor.steps for actor in actors)
        working.cancel()
        await asyncio.gather(working, return_exceptions=True)
        for actor in actors:
            await actor.engine.stop()
        await at_rest(stage)

    stage = Stage()
    stage.run(play)
    return film, stage, steps


def _steady(claim: Claim, times: int) -> Fate:
    return Fate(seconds=1.0 + int(claim.job.input_hash[:2], 16) % 5)


UNDISTURBED: Film = []


@settings(max_examples=20)
@given(st.lists(st.integers(1, 500), min_size=1, max_size=2))
def test_engines_stopped_anywhere_make_the_same_film_and_nothing_twice(stops: list[int]) -> None:
    if not UNDISTURBED:
        UNDISTURBED.extend(_play([None, None], _steady)[0])
    film, stage, _ = _play(list(stops), _steady)
    assert film == UNDISTURBED
    assert set(stage.crew.started.values()) == {1}


@settings(max_examples=12)
@given(st.lists(st.integers(1, 500), min_size=1, max_size=2), st.integers(0, 2**16))
def test_engines_stopped_anywhere_cope_with_failing_workers(stops: list[int], seed: int) -> None:
    def fate(claim: Claim, times: int) -> Fate:
        drawn = (int(claim.job.input_hash[:8], 16) ^ seed * 2654435761) % 16
        if times:
            return Fate(seconds=2.0)
        return {
            0: Fate(failure=FailureType.TRANSIENT),
            1: Fate(silent=True),
            2: Fate(spoiled=True),
            3: Fate(twice=True),
            4: Fate(late=45.0),
            5: Fate(failure=FailureType.MISCONFIGURED),
        }.get(drawn, Fate(seconds=2.0))

    if not UNDISTURBED:
        UNDISTURBED.extend(_play([None, None], _steady)[0])
    film, _, _ = _play(list(stops), fate)
    assert film == UNDISTURBED


@settings(max_examples=12)
@given(st.lists(st.floats(0.5, 30.0), min_size=1, max_size=4))
def test_edits_at_any_moment_make_no_part_twice(moments: list[float]) -> None:
    """Replanning and finishing parts interleave at every call; only what was told to stop may be begun again."""

    async def play(stage: Stage) -> None:
        key = await stage.save(plain_book("tale", scenes=2, units=3))
        stage.crew.fate = _steady
        actor = Actor(stage, "e", None)
        await actor.engine.start()
        working = asyncio.create_task(_work(stage, [actor]))
        opened = await stage.ask(actor.engine, key)
        for n, moment in enumerate(moments):
            await stage.clock.sleep(moment)
            await stage.save(_with_text(plain_book("tale", scenes=2, units=3), f"edited {n % 2}"))
            actor.engine.wake()
        done = await stage.until_ended(opened.request.request_id)
        assert done.request.state is RequestState.DONE
        working.cancel()
        await asyncio.gather(working, return_exceptions=True)
        await actor.engine.stop()
        started, stopped = stage.crew.started, stage.crew.stopped
        assert {job: count for job, count in started.items() if count > 1 + stopped[job]} == {}
        await at_rest(stage)

    Stage().run(play)


def _with_text(book: Book, text: str) -> Book:
    chapter = book.chapters[0]
    first = chapter.scenes[0]
    units = (replace(first.units[0], text=text, image=UnitImage(prompt=text)), *first.units[1:])
    scenes = (replace(first, units=units), *chapter.scenes[1:])
    return replace(book, chapters=(replace(chapter, scenes=scenes),))
