"""Which inputs of a job are of no use: those that are gone, and those that are not what they were."""

from __future__ import annotations

from stage import Fate, Stage
from toys import book, scene, unit

from animastor.engine.checking import Inspector
from animastor.protocol import AssetId


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
            inspector = Inspector(stage.storage, stage.bytes, stage.checker, engine.gate)
            found = [await inspector.spoiled(clip.asset, source.hash) for source in clip.missing]
            assert found == [[], [(pictures[1], ".x")], [(pictures[2], ".x")]]
            assert await inspector.spoiled(AssetId(clip.asset + 1), clip.missing[0].hash) == []

    Stage().run(play)
