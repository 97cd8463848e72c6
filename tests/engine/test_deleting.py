"""Deleting while the book is being made: rows, jobs and bytes go, what others use stays, interrupted it goes on."""

from __future__ import annotations

import pytest
from invariants import at_rest, rows
from stage import Fate, Stage
from toys import book as book_of
from toys import plain_book, scene, unit

from animastor.engine.deleting import NothingLeftError
from animastor.engine.ports import Scope, ScopeKind, Selection
from animastor.engine.states import State

TABLES = ("asset", "asset_facts", "part", "dispatch", "scene", "chapter", "request", "tally", "artifact", "journal")


async def _left(stage: Stage) -> dict[str, int]:
    counted = {table: (await rows(stage, f"SELECT count(*) AS n FROM {table}"))[0].n for table in TABLES}
    return {table: count for table, count in counted.items() if count}


def test_a_book_deleted_in_the_making_leaves_no_row_no_job_and_no_bytes() -> None:
    async def play(stage: Stage) -> None:
        stage.crew.fate = lambda claim, times: Fate(7.0)
        key = await stage.save(plain_book("b", 20))
        async with stage.playing() as engine:
            await stage.ask(engine, key)
            await stage.clock.sleep(25.0)
            assert stage.crew.running
            deleted = await engine.deletion.book(key)
            assert deleted.scenes == 20
            assert deleted.stopped > 0
            assert await stage.coordination.leases(Selection()) == []
            assert not [job for job in await stage.coordination.jobs(Selection()) if not job.stopping]
            await stage.clock.sleep(200.0)
            assert stage.crew.stopped, "running jobs were told to stop"
            assert await stage.coordination.jobs(Selection()) == []
        assert stage.bytes.content == {}
        told = await _left(stage)
        assert told.pop("journal", 0) <= 3, "what is told of the home itself"
        assert told == {}

    Stage().run(play)


def test_a_deletion_that_was_interrupted_is_finished_by_reconciliation() -> None:
    async def play(stage: Stage) -> None:
        key = await stage.save(plain_book("b", 3))
        other = await stage.save(plain_book("other", 1))
        async with stage.playing() as engine:
            for one in (key, other):
                opened = await stage.ask(engine, one)
                await stage.until_ended(opened.request.request_id)
        await stage.storage.begin_deletion(key)
        again = stage.engine("again")
        async with stage.playing(again):
            await stage.clock.sleep(200.0)
        assert await stage.storage.deletions() == []
        assert {row.book_key for row in await rows(stage, "SELECT book_key FROM asset")} == {other}
        await at_rest(stage)

    Stage().run(play)


def test_whoever_watches_a_request_of_a_deleted_book_is_told_that_it_was_cancelled() -> None:
    async def play(stage: Stage) -> None:
        stage.crew.fate = lambda claim, times: Fate(20.0)
        key = await stage.save(plain_book("b", 3))
        async with stage.playing() as engine:
            opened = await stage.ask(engine, key)
            seen = []
            async for event in engine.requests.events(opened.request.request_id):
                seen.append(event)
                if len(seen) == 2:
                    await engine.deletion.book(key)
            assert seen[-1].progress.request.state == "cancelled"

    Stage().run(play)


def test_a_deleted_scene_and_unit_leave_nothing_and_the_rest_is_as_it_was() -> None:
    async def play(stage: Stage) -> None:
        key = await stage.save(plain_book("b", 3))
        async with stage.playing() as engine:
            opened = await stage.ask(engine, key)
            await stage.until_ended(opened.request.request_id)
            row = (await stage.storage.books())[0]
            await engine.deletion.part(row, Scope(ScopeKind.SCENE, "ch-1", "sc-2"))
            await engine.deletion.part((await stage.storage.books())[0], Scope(), ["b-iu-0-1"])
            opened = await stage.ask(engine, key)
            await stage.until_ended(opened.request.request_id)
            assert {one.state for one in await stage.storage.asset_standings()} == {State.READY}
            await stage.clock.sleep(200.0)
        gone = await rows(stage, "SELECT hash FROM part WHERE places LIKE '%iu-2-%' OR places LIKE '%b-iu-0-1%'")
        assert not gone
        assert await stage.storage.outline(key) == [("ch-1", "sc-0", "1/1"), ("ch-1", "sc-1", "1/2")]
        await at_rest(stage)

    Stage().run(play)


def test_a_book_is_not_emptied_by_deleting_its_parts() -> None:
    async def play(stage: Stage) -> None:
        await stage.save(book_of("b", scene("sc-0", unit("u"))))
        (row,) = await stage.storage.books()
        deletion = stage.engine().deletion
        for scope, units in ((Scope(ScopeKind.SCENE, "ch-1", "sc-0"), ()), (Scope(), ()), (Scope(), ("no such",))):
            with pytest.raises(NothingLeftError):
                await deletion.part(row, scope, units)

    Stage().run(play)


def test_bytes_that_were_refused_or_came_for_what_is_gone_are_collected() -> None:
    async def play(stage: Stage) -> None:
        stage.crew.fate = lambda claim, times: Fate(7.0, spoiled=times == 0, late=30.0 if times else 0.0)
        key = await stage.save(plain_book("b", 2))
        async with stage.playing() as engine:
            await stage.ask(engine, key)
            await stage.clock.sleep(30.0)
            spoiled = [one for one in stage.bytes.content.values() if one.endswith(b"spoiled")]
            assert spoiled, "refused bytes are there for a moment"
            await engine.deletion.book(key)
            await stage.clock.sleep(400.0)
        assert stage.bytes.content == {}
        told = await _left(stage)
        told.pop("journal", 0)
        assert told == {}

    Stage().run(play)
