"""Two engines with the real media types, either stopped at any await: the same film, and no backend begun twice.

It is the real planner, database, queue and hub; a backend may be begun again only for a claim that was lost.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import suppress
from functools import cache

from actors import Actor, AnyResults
from hypothesis import given, settings
from hypothesis import strategies as st
from invariants import always, at_rest, rows
from stage import Fate, Stage
from studio import BOOK, MEDIA, PROFILES, Studio

from animastor.engine.errors import EngineStoppedError
from animastor.engine.reasons import JournalType
from animastor.engine.states import RequestState
from animastor.hub.local import LocalHub
from animastor.protocol import Claim, FailureType, Worker

Film = frozenset[tuple[str, str, str]]
MOST_STEPS = 3400  # about as many as an engine makes that nobody stops


async def _film(stage: Stage) -> Film:
    found = await rows(stage, "SELECT kind, hash, artifact FROM part WHERE state = 1 AND wanted = 1")
    return frozenset((row.kind, row.hash, row.artifact) for row in found)


def play(stops: list[int | None], fate: Callable[[Claim, int], Fate]) -> tuple[Film, Stage, dict[str, int]]:
    """What was made; where; how often each hash was swept. An engine for each stop, and a last one begun later."""
    films: list[Film] = []
    swept: dict[str, int] = {}

    async def main(stage: Stage) -> None:
        key = await stage.save(BOOK)
        stage.crew.fate = fate
        actors = [Actor(stage, f"e{n}", stop) for n, stop in enumerate(stops)]
        for actor in actors:
            with suppress(EngineStoppedError):
                await actor.engine.start()
        hub = LocalHub(
            stage.coordination, AnyResults(actors), stage.bytes, stage.storage, media=stage.registry, clock=stage.clock
        )
        crew = [
            asyncio.create_task(stage.crew.work(hub, Worker("wrk", str(n), dict.fromkeys(PROFILES, 3))))
            for n in range(2)
        ]
        opened = await stage.ask(stage.engine("asker"), key, MEDIA)
        await stage.clock.sleep(25.0)
        await always(stage)
        last = Actor(stage, "last", None)
        actors.append(last)
        await last.engine.start()
        done = await stage.until_ended(opened.request.request_id)
        assert done.request.state is RequestState.DONE
        await stage.clock.sleep(200.0)
        films.append(await _film(stage))
        for row in await stage.journal():
            if row.type is JournalType.SWEPT:
                swept[row.details["hash"]] = swept.get(row.details["hash"], 0) + 1
        for task in crew:
            task.cancel()
        await asyncio.gather(*crew, return_exceptions=True)
        for actor in actors:
            await actor.engine.stop()
        await at_rest(stage)

    stage = Studio()
    stage.run(main)
    return films[0], stage, swept


def steady(claim: Claim, times: int) -> Fate:
    return Fate(seconds=1.0 + int(claim.job.input_hash[:2], 16) % 5)


@cache
def undisturbed() -> Film:
    """What two engines make that nobody stops."""
    return play([None, None], steady)[0]


@settings(max_examples=12, deadline=None)
@given(st.lists(st.integers(1, MOST_STEPS), min_size=1, max_size=2))
def test_engines_stopped_anywhere_make_the_same_film_and_nothing_twice(stops: list[int]) -> None:
    film, stage, _ = play(list(stops), steady)
    assert film == undisturbed()
    assert set(stage.crew.by_hash.values()) == {1}


@settings(max_examples=10, deadline=None)
@given(st.lists(st.integers(1, MOST_STEPS), min_size=1, max_size=2), st.integers(0, 2**16))
def test_with_failing_workers_a_backend_begins_again_only_for_a_claim_that_was_lost(
    stops: list[int], seed: int
) -> None:
    failed: dict[str, int] = {}

    def fate(claim: Claim, times: int) -> Fate:
        hash_ = claim.job.input_hash
        drawn = (int(hash_[:8], 16) ^ seed * 2654435761) % 12
        if times == 0 and drawn in (0, 1, 2):
            failed[hash_] = 1
            return (Fate(failure=FailureType.TRANSIENT), Fate(failure=FailureType.INFRASTRUCTURE), Fate(silent=True))[
                drawn
            ]
        if times == 0 and drawn == 3:
            return Fate(seconds=2.0, twice=True)
        return Fate(seconds=2.0)

    film, stage, swept = play(list(stops), fate)
    assert film == undisturbed()
    more = {h: n for h, n in stage.crew.by_hash.items() if n > 1 + failed.get(h, 0) + swept.get(h, 0)}
    assert more == {}
