"""Each step of reconciliation, by making the fault that it repairs; and none stops another (CONTRACT 11)."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

import pytest
from invariants import at_rest
from sqlalchemy import text
from stage import MEDIA, Stage
from toys import plain_book

from animastor.engine.engine import Engine
from animastor.engine.examining import findings, give_up_found, look_at_artifacts
from animastor.engine.ports import NewRequest, RequestRow, Scope
from animastor.engine.reasons import JournalType, Reason
from animastor.engine.states import RequestState, State
from animastor.protocol import BookKey


async def _execute(stage: Stage, sql: str) -> None:
    await stage.database.write(lambda connection: connection.execute(text(sql)))


async def _made(stage: Stage, engine: Engine) -> BookKey:
    key = await stage.save(plain_book("b", 3))
    opened = await stage.ask(engine, key)
    await stage.until_ended(opened.request.request_id)
    return key


async def _open(stage: Stage, key: BookKey) -> RequestRow:
    """A request that nobody enters."""
    return (await stage.storage.open_request(NewRequest(key, Scope(), MEDIA, "half"))).request


async def _found(stage: Stage) -> dict[str, int]:
    return {one.name: one.count for one in await findings(stage.storage, worked_on=True)}


async def _repairs(stage: Stage) -> list[str]:
    return [row.reason for row in await stage.journal() if row.type is JournalType.RECOVERED]


def test_a_request_that_was_entered_in_part_is_entered() -> None:
    async def play(stage: Stage) -> None:
        key = await stage.save(plain_book("b", 3))
        request = await _open(stage, key)
        await stage.storage.enter(request.request_id, 2)
        assert await _found(stage) == {"preparing": 1}
        await stage.engine().reconciliation.reconcile()
        assert await _found(stage) == {}
        assert {one.state for one in await stage.storage.asset_standings()} == {State.PENDING}

    Stage().run(play)


def test_a_cancel_that_was_interrupted_goes_on() -> None:
    async def play(stage: Stage) -> None:
        key = await stage.save(plain_book("b", 3))
        request = await _open(stage, key)
        await stage.storage.enter(request.request_id, 100)
        await stage.storage.close_request(request.request_id, RequestState.CANCELLED)
        assert await _found(stage) == {"sweeping": 1}
        await stage.engine().reconciliation.reconcile()
        assert await _found(stage) == {}
        assert {one.state for one in await stage.storage.asset_standings()} == {State.DIRTY}

    Stage().run(play)


def test_a_wait_bit_that_nothing_would_clear_is_found_told_and_mended() -> None:
    async def play(stage: Stage) -> None:
        async with stage.playing() as engine:
            await _made(stage, engine)
        request = await stage.ask(stage.engine("asks"), (await stage.storage.books())[0].book_key, key="again")
        await _execute(stage, "UPDATE asset SET state = 1, waits = 1, request_id = 1 WHERE media = 'clip'")
        await _execute(stage, f"UPDATE asset SET request_id = {request.request.request_id} WHERE media = 'clip'")
        found = await _found(stage)
        assert found["wait_drift"] == 3
        assert found["journal"] > 0, "what no row tells of is found as well"
        await stage.engine("mends").reconciliation.reconcile()
        assert Reason.WAIT_DRIFT in await _repairs(stage)
        assert "wait_drift" not in await _found(stage)

    Stage().run(play)


def test_bytes_that_have_rotted_are_given_up_and_made_again() -> None:
    async def play(stage: Stage) -> None:
        async with stage.playing() as engine:
            key = await _made(stage, engine)
        (scene, *_) = await stage.storage.export_rows(key, Scope())
        rotten = scene.media["voice"].artifact
        assert rotten is not None
        whole, stage.bytes.content[rotten] = stage.bytes.content[rotten], b"rotten"
        seen = await look_at_artifacts(stage.storage, stage.bytes)
        assert ([one for one, _ in seen.damaged], seen.missing, seen.too_many) == ([rotten], [], False)
        async with stage.playing(stage.engine("again")) as engine:
            await stage.clock.sleep(70.0)
            opened = await stage.ask(engine, key, key="again")
            await stage.until_ended(opened.request.request_id)
        assert stage.bytes.content[rotten] == whole
        assert (await _repairs(stage)).count(Reason.CORRUPT_ARTIFACT) == 1
        await at_rest(stage)

    Stage().run(play)


def test_many_missing_files_are_told_as_more_than_is_given_up_without_asking() -> None:
    async def play(stage: Stage) -> None:
        async with stage.playing() as engine:
            await _made(stage, engine)
        gone = list(stage.bytes.content)[:12]
        for checksum in gone:
            del stage.bytes.content[checksum]
        seen = await look_at_artifacts(stage.storage, stage.bytes)
        assert sorted(seen.lost) == sorted(gone)
        assert seen.too_many
        before = await stage.storage.asset_standings()
        await stage.engine("asks").reconciliation.reconcile()
        assert await stage.storage.asset_standings() == before

    Stage().run(play)


def test_what_was_found_lost_and_is_back_when_a_person_lets_it_be_repaired_is_kept() -> None:
    async def play(stage: Stage) -> None:
        async with stage.playing() as engine:
            await _made(stage, engine)
        gone, rotten, lost, *_ = stage.bytes.content
        kept = dict(stage.bytes.content)
        del stage.bytes.content[gone], stage.bytes.content[lost]
        stage.bytes.content[rotten] = b"rotten"
        found = await look_at_artifacts(stage.storage, stage.bytes)
        assert sorted(found.lost) == sorted([gone, rotten, lost])
        stage.bytes.content |= {gone: kept[gone], rotten: kept[rotten]}  # made again while the others were read
        await give_up_found(stage.storage, stage.bytes, found)
        assert stage.bytes.content[rotten] == kept[rotten]
        known = {checksum for checksum, _, _ in await stage.storage.artifacts_after("", 1000)}
        assert {gone, rotten} <= known
        assert lost not in known

    Stage().run(play)


STEPS = ("preparing", "uncovered", "deletions", "recheck_waits", "prune", "artifacts_after", "collectable")


@pytest.mark.parametrize("broken", STEPS)
def test_a_step_that_fails_is_reported_and_the_others_run(broken: str, monkeypatch: pytest.MonkeyPatch) -> None:
    async def play(stage: Stage) -> None:
        asked: set[str] = set()

        def watched(name: str) -> Callable[..., Awaitable[object]]:
            real = getattr(stage.storage, name)

            async def call(*args: object, **more: object) -> object:
                asked.add(name)
                if name == broken:
                    raise RuntimeError(f"{name} is out of order")
                return await real(*args, **more)

            return call

        for name in STEPS:
            monkeypatch.setattr(stage.storage, name, watched(name))
        await stage.engine().reconciliation.reconcile()
        assert asked == set(STEPS)
        told = [alarm.message for alarm in stage.alarms]
        assert all(f"{broken} is out of order" in message for message in told), told
        assert told

    Stage().run(play)


def test_a_refused_transition_is_counted_among_the_findings() -> None:
    async def play(stage: Stage) -> None:
        async with stage.playing() as engine:
            await _made(stage, engine)
            ready = [one.asset for one in await stage.storage.asset_standings() if one.state is State.READY]
            await stage.storage.fail_assets(ready[:1], Reason.ORCHESTRATION, "what has been made cannot fail")
            (found,) = await findings(stage.storage, worked_on=True)
        assert (found.name, found.count) == ("refused", 1)
        assert found.sentence == "1 refused transition is in the journal: please report this"

    Stage().run(play)


def test_a_sound_home_has_no_findings() -> None:
    async def play(stage: Stage) -> None:
        async with stage.playing() as engine:
            await _made(stage, engine)
            assert await findings(stage.storage, worked_on=True) == []
        assert await findings(stage.storage, worked_on=False) == []

    Stage().run(play)


def test_attempts_in_work_are_no_finding_while_somebody_works_and_interrupted_ones_are() -> None:
    async def play(stage: Stage) -> None:
        key = await stage.save(plain_book("b", 1))
        async with stage.playing(workers=1) as engine:
            await stage.ask(engine, key, ["voice"])
            await stage.clock.sleep(0.5)
            assert await findings(stage.storage, worked_on=True) == []
        (found,) = await findings(stage.storage, worked_on=False)
        assert found.sentence == "1 attempt was interrupted: it is rolled back, nothing is counted"

    Stage().run(play)
