"""What could not start: told once, and again when the asset has been asked for anew."""

from __future__ import annotations

from stage import Stage
from toys import book, scene, unit

from animastor.engine.observing import TOLD_S, Observer
from animastor.engine.ports import NewRequest, Scope
from animastor.engine.reasons import JournalType, Reason
from animastor.protocol import AssetId


async def _told(stage: Stage, asset: AssetId) -> list[str]:
    return [row.reason for row in await stage.storage.journal(asset=asset) if row.type is JournalType.SKIPPED]


def test_a_reason_is_told_once_and_anew_when_its_asset_was_asked_for_again() -> None:
    async def play(stage: Stage) -> None:
        key = await stage.save(book("b", scene("s", unit("u1", "one"))))
        engine, observer = stage.engine(), Observer(stage.storage, stage.clock)
        first = await engine.requests.open(NewRequest(key, Scope(), ("sketch",), "k1"))
        (asset,) = [one.asset for one in await stage.storage.asset_standings() if one.state.name == "PENDING"]
        for _ in range(3):
            await observer.skipped([(asset, Reason.BACKOFF)])
            await stage.clock.sleep(TOLD_S)
        assert await _told(stage, asset) == [Reason.BACKOFF]
        await engine.requests.cancel(first.request.request_id)
        await engine.requests.open(NewRequest(key, Scope(), ("sketch",), "k2"))
        await observer.skipped([(asset, Reason.BACKOFF)])
        assert await _told(stage, asset) == [Reason.BACKOFF, Reason.BACKOFF]

    Stage().run(play)
