"""Bytes that are collected, lost or found while somebody takes them into use (CONTRACT 11, 17)."""

from __future__ import annotations

import asyncio

from hands import Hand
from interleaving import once_after, once_before
from invariants import at_rest, rows
from stage import Stage
from tables import states
from toys import book, plain_book, scene, unit

from animastor.engine.engine import Engine
from animastor.engine.reasons import Reason
from animastor.engine.states import RequestState, State
from animastor.protocol import Claim

ONE = plain_book("tale", scenes=1, units=1)
MONTHS_S = 70 * 86_400.0


async def _with_unused(stage: Stage, engine: Engine, hand: Hand) -> Claim:
    """A picture that is made; its scene has left the book long ago. The claim of that picture."""
    key = await stage.save(plain_book("tale", scenes=2, units=1))
    await stage.ask(engine, key, ("sketch",))
    claims = await hand.take("picture")
    for claim in claims:
        await hand.done(claim)
    await stage.save(ONE)
    await stage.clock.sleep(5.0)
    (gone,) = [claim for claim in claims if "says 1" in str(claim.job.params) or "iu-1" in str(claim.job.params)]
    return gone


async def _age(stage: Stage) -> None:
    """Nobody has used anything for months."""
    await stage.database.write(
        lambda connection: connection.exec_driver_sql(
            "UPDATE artifact SET unused_since = unused_since - 70 * 86400.0 WHERE unused_since IS NOT NULL"
        ).close()
    )
    await stage.database.write(
        lambda connection: connection.exec_driver_sql(
            "UPDATE part SET unwanted_at = unwanted_at - 70 * 86400.0 WHERE unwanted_at IS NOT NULL"
        ).close()
    )


async def _all_bytes_are_there(stage: Stage) -> None:
    for row in await rows(stage, "SELECT artifact FROM part WHERE state = 1 AND wanted = 1"):
        assert row.artifact in stage.bytes.content, "2: READY without its bytes"


def _elsewhere(claim: Claim) -> object:
    """A book that wants the very picture of a claim."""
    return book("other", scene("sc-9", unit(claim.job.params["unit"], "x", claim.job.params["prompt"])))


def test_picture_that_is_made_again_while_its_old_bytes_are_collected_keeps_bytes() -> None:
    async def play(stage: Stage) -> None:
        async with stage.playing(workers=0) as engine:
            hand = Hand(stage, engine)
            old = await _with_unused(stage, engine, hand)
            await _age(stage)
            made: list[str] = []

            async def make_again() -> None:
                other = await stage.save(_elsewhere(old))  # type: ignore[arg-type]
                await stage.ask(engine, other, ("sketch",))
                made.extend([await _deliver(hand, claim) for claim in await hand.take("picture", wait=20.0)])

            making: list[asyncio.Task[None]] = []

            async def meanwhile() -> None:
                making.append(asyncio.create_task(make_again()))
                await stage.clock.sleep(3.0)

            once_before(stage.bytes, "delete", meanwhile)
            await stage.clock.sleep(300.0)
            await asyncio.gather(*making)
            await hand.finish_all()
        assert made == [Reason.ACCEPTED]
        await _all_bytes_are_there(stage)
        assert await states(stage, "sketch") == [State.READY] * 2
        await at_rest(stage)

    Stage().run(play)


async def _deliver(hand: Hand, claim: Claim) -> str:
    """As a worker does that is told to upload again."""
    for _ in range(60):
        answer = await hand.done(claim)
        if answer != Reason.ARTIFACT_GONE:
            return answer
        await hand.keep(5.0, claim)
    return answer


def test_bytes_that_were_looked_at_before_they_were_collected_are_not_accepted_after_it() -> None:
    async def play(stage: Stage) -> None:
        async with stage.playing(workers=0) as engine:
            hand = Hand(stage, engine)
            old = await _with_unused(stage, engine, hand)
            await _age(stage)
            other = await stage.save(_elsewhere(old))  # type: ignore[arg-type]
            at_delete = asyncio.Event()
            take_over, stage.storage.store_plans = stage.storage.store_plans, _blind(stage)  # type: ignore[method-assign]
            await stage.ask(engine, other, ("sketch",))
            (claim,) = await hand.take("picture", wait=20.0)
            stage.storage.store_plans = take_over  # type: ignore[method-assign]

            async def wait_for_the_delete() -> None:
                await at_delete.wait()
                await stage.clock.sleep(1.0)  # the bytes are gone; so is their row, had it been removed at once

            async def tell() -> None:
                at_delete.set()

            once_after(stage.checker, "check", wait_for_the_delete)
            once_after(stage.bytes, "delete", tell)
            answer = await _deliver(hand, claim)
            assert answer == Reason.ACCEPTED
            await _all_bytes_are_there(stage)
            await hand.finish_all()
        await _all_bytes_are_there(stage)
        await at_rest(stage)

    Stage().run(play)


def _blind(stage: Stage):  # type: ignore[no-untyped-def]
    """Storing plans at a moment at which what is to be collected is marked already, so that it is not reused."""
    store = stage.storage.store_plans

    async def marked(plans):  # type: ignore[no-untyped-def]
        await stage.database.write(
            lambda connection: connection.exec_driver_sql(
                "UPDATE artifact SET collecting = 1 WHERE unused_since IS NOT NULL"
            ).close()
        )
        return await store(plans)

    return marked


def test_claim_whose_bytes_are_to_be_uploaded_again_is_still_its_workers() -> None:
    async def play(stage: Stage) -> None:
        async with stage.playing(workers=0) as engine:
            hand, idle = Hand(stage, engine), Hand(stage, engine, "idle")
            old = await _with_unused(stage, engine, hand)
            await _age(stage)
            other = await stage.save(_elsewhere(old))  # type: ignore[arg-type]
            stage.storage.store_plans = _blind(stage)  # type: ignore[method-assign]
            opened = await stage.ask(engine, other, ("sketch",))
            (claim,) = await hand.take("picture", wait=20.0)
            answers = {await hand.done(claim)}
            await hand.keep(25.0, claim)
            assert await idle.take("picture", wait=0.0) == []
            answers.add(await _deliver(hand, claim))
            done = await stage.until_ended(opened.request.request_id, 60.0)
        assert answers == {Reason.ARTIFACT_GONE, Reason.ACCEPTED}
        assert done.request.state is RequestState.DONE
        await _all_bytes_are_there(stage)
        await at_rest(stage)

    Stage().run(play)


def test_plan_that_takes_kept_bytes_while_they_are_marked_has_them_or_makes_them() -> None:
    async def play(stage: Stage) -> None:
        async with stage.playing(workers=0) as engine:
            hand = Hand(stage, engine)
            old = await _with_unused(stage, engine, hand)
            await _age(stage)
            other = await stage.save(_elsewhere(old))  # type: ignore[arg-type]

            async def collect() -> None:
                await engine.reconciliation.reconcile()

            once_before(stage.storage, "store_plans", collect)
            await stage.ask(engine, other, ("sketch",))
            for claim in await hand.take("picture", wait=20.0):
                assert await _deliver(hand, claim) == Reason.ACCEPTED
            await stage.clock.sleep(300.0)
        await _all_bytes_are_there(stage)
        assert await states(stage, "sketch") == [State.READY] * 2
        await at_rest(stage)

    Stage().run(play)


def test_file_that_comes_back_before_anything_is_decided_is_not_made_again() -> None:
    async def play(stage: Stage) -> None:
        key = await stage.save(ONE)
        async with stage.playing(workers=0) as engine:
            hand = Hand(stage, engine)
            await stage.ask(engine, key, ("sketch",))
            for claim in await hand.take("picture"):
                await hand.done(claim)
            await stage.clock.sleep(10.0)
            before = dict(stage.bytes.content)
            stage.bytes.content.clear()

            async def mount() -> None:
                stage.bytes.content.update(before)

            once_after(stage.storage, "artifacts_after", _after_looking(stage, mount))
            await stage.clock.sleep(130.0)
        assert sum(hand.taken.values()) == 1
        assert await states(stage, "sketch") == [State.READY]

    Stage().run(play)


def _after_looking(stage: Stage, action):  # type: ignore[no-untyped-def]
    """Do something once the file was found to be missing."""

    async def arm() -> None:
        once_after(stage.bytes, "path", action)

    return arm


def test_bytes_given_up_while_another_asset_takes_them_over_are_missing_for_both() -> None:
    async def play(stage: Stage) -> None:
        key = await stage.save(ONE)
        async with stage.playing(workers=0) as engine:
            hand = Hand(stage, engine)
            await stage.ask(engine, key, ("sketch",))
            (claim,) = await hand.take("picture")
            await hand.done(claim)
            await stage.clock.sleep(5.0)
            other = await stage.save(_elsewhere(claim))  # type: ignore[arg-type]
            stage.bytes.content.clear()

            async def take_over() -> None:
                await hand.take(wait=0.0)
                await stage.ask(engine, other, ("sketch",))
                await stage.clock.sleep(3.0)
                assert await states(stage, "sketch") == [State.READY] * 2

            once_before(stage.storage, "bytes_missing", take_over)
            await stage.clock.sleep(90.0)
            await stage.ask(engine, key, ("sketch",))
            await stage.ask(engine, other, ("sketch",))
            await hand.finish_all()
        await _all_bytes_are_there(stage)
        assert await states(stage, "sketch") == [State.READY] * 2
        await at_rest(stage)

    Stage().run(play)
