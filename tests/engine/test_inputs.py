"""Which inputs of a job are of no use: those that are gone, and those that are not what they were."""

from __future__ import annotations

from dataclasses import replace

from invariants import rows
from stage import Fate, Stage
from toys import CLIP, SKETCH, VOICE, book, scene, unit

from animastor.engine.checking import Inspector
from animastor.media.registry import Registry
from animastor.protocol import AssetId, Uploaded


def test_inputs_that_are_gone_or_have_other_bytes_are_told_from_those_that_are_whole() -> None:
    async def play(stage: Stage) -> None:
        key = await stage.save(book("tale", scene("sc-0", *(unit(f"iu-{n}", prompt=f"p{n}") for n in range(3)))))
        stage.crew.fate = lambda claim, times: Fate(seconds=500.0 if claim.job.kind == "shot" else 1.0)
        async with stage.playing() as engine:
            await stage.ask(engine, key)
            await stage.clock.sleep(40.0)
            (clip,) = [one for one in await stage.storage.active(0, 10) if one.media == "clip"]
            pictures = [source.inputs[0] for source in clip.missing]
            stage.bytes.content[pictures[1]] = b"rotten"
            del stage.bytes.content[pictures[2]]
            inspector = Inspector(stage.storage, stage.bytes, stage.checker, engine.gate, stage.registry)
            found = [await inspector.spoiled(clip.asset, source.hash) for source in clip.missing]
            assert found == [[], [(pictures[1], ".x")], [(pictures[2], ".x")]]
            assert await inspector.spoiled(AssetId(clip.asset + 1), clip.missing[0].hash) == []

    Stage().run(play)


def test_a_merge_is_compared_with_the_parts_that_it_was_made_from() -> None:
    async def play(stage: Stage) -> None:
        key = await stage.save(book("tale", scene("sc-0", unit("iu-0"), unit("iu-1"))))
        async with stage.playing() as engine:
            opened = await stage.ask(engine, key)
            await stage.until_ended(opened.request.request_id)
            choosy = replace(VOICE, check_merge=lambda _, parts, merged: f"{[one.codec for one in parts]}")
            registry = Registry((choosy, SKETCH, CLIP))
            inspector = Inspector(stage.storage, stage.bytes, stage.checker, engine.gate, registry)
            keys = await rows(stage, "SELECT p.asset, p.hash FROM part p WHERE p.kind = 'merge'")
            orders = await stage.storage.part_orders([(row.asset, row.hash) for row in keys])
            (merge,) = [one for one in orders if one is not None and one.media == "voice"]
            assert merge.artifact is not None
            found = await inspector.inspect(merge, Uploaded(merge.artifact, 1, merge.suffix))
            assert found is not None
            assert found[1] == "['right', 'right']"

    Stage().run(play)
