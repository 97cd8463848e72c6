"""The diff of an edit says exactly what making it will make, whatever the edit is (CONTRACT 10)."""

from __future__ import annotations

from random import Random

import pytest
from invariants import at_rest
from stage import Stage
from toys import book, scene, unit

from animastor.books.model import Book
from animastor.engine.diffing import Diff, Differ
from animastor.protocol import MERGE, BookKey

WORDS = ("a", "b", "c")


def _book(random: Random) -> Book:
    scenes = random.sample(range(4), random.randint(1, 4))
    units = {one: [unit(f"u{one}-{n}", random.choice(WORDS), random.choice(WORDS)) for n in range(2)] for one in scenes}
    return book("tale", *(scene(f"s{one}", *units[one]) for one in scenes))


async def _diff(stage: Stage, key: BookKey, edited: Book) -> Diff:
    touched = await stage.storage.touched(key, edited)
    return [one async for one in Differ(stage.storage, stage.registry).diff(key, touched)][-1]


@pytest.mark.parametrize("seed", range(12))
def test_what_is_counted_is_what_is_made(seed: int) -> None:
    async def play(stage: Stage) -> None:
        random = Random(seed)
        key = await stage.save(_book(random))
        async with stage.playing() as engine:
            for _ in range(4):
                await stage.until_ended((await stage.ask(engine, key, ("voice", "sketch"))).request.request_id)
                edited = _book(random)
                diff = await _diff(stage, key, edited)
                stage.crew.started.clear()
                await stage.save(edited)
                await engine.edited()
                await stage.until_ended((await stage.ask(engine, key, ("voice", "sketch"))).request.request_id)
                counted = {kind: one.parts for (_, kind), one in diff.counts.items()}
                assert sum(counted.values()) == sum(stage.crew.started.values()), counted
        await at_rest(stage)

    Stage().run(play)


def test_a_changed_picture_counts_itself_and_its_shot_and_keeps_the_others() -> None:
    async def play(stage: Stage) -> None:
        key = await stage.save(book("tale", scene("s", unit("one"), unit("two")), scene("t", unit("three"))))
        async with stage.playing() as engine:
            await stage.until_ended((await stage.ask(engine, key)).request.request_id)
        edited = book("tale", scene("s", unit("one"), unit("two", prompt="other")), scene("t", unit("three")))
        diff = await _diff(stage, key, edited)
        counts = {key: (one.parts, one.kept) for key, one in diff.counts.items()}
        assert counts == {
            ("voice", "chunk"): (0, 2),
            ("sketch", "picture"): (1, 1),
            ("clip", "shot"): (1, 1),
            ("clip", MERGE): (1, 0),
        }
        assert (diff.scenes, diff.of) == (1, 1)

    Stage().run(play)


def test_what_was_never_asked_for_or_not_made_yet_is_not_made_again() -> None:
    async def play(stage: Stage) -> None:
        key = await stage.save(book("tale", scene("s", unit("one"))))
        edited = book("tale", scene("s", unit("one", text="other")))
        assert (await _diff(stage, key, edited)).counts == {}
        async with stage.playing() as engine:
            await stage.until_ended((await stage.ask(engine, key, ("voice",))).request.request_id)
        diff = await _diff(stage, key, edited)
        assert {key: one.parts for key, one in diff.counts.items()} == {("voice", "chunk"): 1, ("voice", MERGE): 1}
        undone = await _diff(stage, key, book("tale", scene("s", unit("one"))))
        assert undone.parts == 0

    Stage().run(play)


def test_a_new_head_looks_at_every_scene_in_portions() -> None:
    async def play(stage: Stage) -> None:
        scenes = [scene(f"s{n}", unit(f"u{n}")) for n in range(120)]
        key = await stage.save(book("tale", *scenes))
        touched = await stage.storage.touched(key, book("tale", *scenes, title="Other"))
        assert (len(touched.changed), len(touched.planned)) == (0, 120)
        seen = [diff.scenes async for diff in Differ(stage.storage, stage.registry).diff(key, touched)]
        assert seen[-1] == 120

    Stage().run(play)
