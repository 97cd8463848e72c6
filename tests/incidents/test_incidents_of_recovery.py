"""Incidents of restarts, cancels, repairs and lost stores: each happened in a system of this kind."""

from __future__ import annotations

from collections.abc import Awaitable
from dataclasses import replace

from incident_kit import dispatches, lasting, made, ready_artifacts, reworded, states
from invariants import always, at_rest, rows
from sqlalchemy import text
from stage import Fate, Stage
from tables import told
from toys import book, plain_book, scene, unit

from animastor.engine.engine import Engine
from animastor.engine.ports import Cancel, JobState, Scope, ScopeKind, Selection, Steer
from animastor.engine.reasons import JournalType, Reason
from animastor.engine.states import RequestState
from animastor.hub.local import LocalHub
from animastor.protocol import FailureType, Ticket, Uploaded, Worker
from animastor.storage import versions


def test_what_was_stopped_leaves_no_ghosts_and_a_restart_revives_nothing(stage: Stage) -> None:
    async def play(_: Stage) -> None:
        key = await stage.save(plain_book("tale", scenes=4))
        stage.crew.fate = lasting(30.0)
        async with stage.playing() as engine:
            opened = await stage.ask(engine, key)
            await stage.clock.sleep(12.0)
            await engine.requests.cancel(opened.request.request_id)
            assert await stage.coordination.leases(Selection()) == []
            jobs = await stage.coordination.jobs(Selection())
            assert all(job.stopping for job in jobs), "nothing is queued; what runs is told to stop"
            await stage.clock.sleep(60.0)
            await at_rest(stage)
        stage.forget()
        starts = sum(stage.crew.started.values())
        async with stage.playing(stage.engine("next")):
            await stage.clock.sleep(150.0)
            assert sum(stage.crew.started.values()) == starts
            assert await dispatches(stage, "outcome IS NULL") == []
        await at_rest(stage)

    stage.run(play)


def test_an_edit_is_never_seen_half_done(stage: Stage) -> None:
    """At each moment an asset is current, or known not to be looked at yet; and nobody is told that all is done."""
    tale = plain_book("tale", scenes=12)

    async def play(_: Stage) -> None:
        key = await stage.save(tale)
        async with stage.playing(slots=8) as engine:
            await made(stage, engine, key)
            opened = await stage.ask(engine, key)
            for scene_id in ("sc-0", "sc-7"):
                await stage.save(reworded(tale, scene_id))
                opened = await stage.ask(engine, key)
                while True:
                    await always(stage)
                    progress = await stage.storage.progress(opened.request.request_id)
                    unseen = await rows(stage, "SELECT id FROM asset WHERE planned_seq < plan_seq AND state > 1")
                    busy = await rows(stage, "SELECT id FROM asset WHERE state IN (1, 2)")
                    if progress.request.state is RequestState.DONE:
                        assert not unseen
                        assert not busy
                        break
                    await stage.clock.sleep(0.25)
        await at_rest(stage)

    stage.run(play)


def test_a_restart_of_the_server_does_not_end_jobs_of_hours(stage: Stage) -> None:
    """Servers come and go; the workers, and what they work on, stay."""

    async def play(_: Stage) -> None:
        key = await stage.save(plain_book("tale", scenes=2, units=1))
        stage.crew.fate = lambda claim, times: Fate(seconds=300.0)
        servers = [stage.engine(f"server-{n}") for n in range(4)]
        answering = Answering()
        hub = LocalHub(
            stage.coordination, answering, stage.bytes, stage.storage, media=stage.registry, clock=stage.clock
        )
        async with stage.beside(stage.crew.work(hub, Worker("wrk", "one", dict.fromkeys(stage.profiles, 2)))):
            for server in servers:
                await server.start()
                answering.engine = server
                if server is servers[0]:
                    opened = await stage.ask(server, key, ("sketch",))
                await stage.clock.sleep(60.0)
                assert sum(stage.crew.started.values()) == 2
                assert await dispatches(stage, "outcome IS NOT NULL") == []
                if server is not servers[-1]:
                    await server.stop()
                    await stage.clock.sleep(5.0)
            done = await stage.until_ended(opened.request.request_id)
            await servers[-1].stop()
        assert done.request.state is RequestState.DONE
        assert set(stage.crew.started.values()) == {1}
        await at_rest(stage)

    stage.run(play)


class Answering:
    """Delivers to the server that is there now."""

    engine: Engine

    async def finish(self, ticket: Ticket, uploaded: Uploaded, first: Awaitable[None]) -> Reason:
        """A result."""
        return await self.engine.results.finish(ticket, uploaded, first)

    async def fail(self, ticket: Ticket, failure: FailureType, code: str, message: str) -> Reason:
        """A failure."""
        return await self.engine.results.fail(ticket, failure, code, message)


def test_a_layer_that_is_switched_off_is_not_started_by_repair(stage: Stage) -> None:
    tale = plain_book("tale", scenes=3)

    async def play(_: Stage) -> None:
        key = await stage.save(tale)
        async with stage.playing() as engine:
            await made(stage, engine, key)
            await stage.save(replace(tale, head=replace(tale.head, layer_config={"voice_enabled": False})))
            stage.bytes.content.pop((await ready_artifacts(stage, "voice"))["sc-1"])
            starts = sum(stage.crew.started.values())
            await stage.clock.sleep(200.0)
            done = await made(stage, engine, key, ("sketch",))
            await stage.clock.sleep(200.0)
            assert sum(stage.crew.started.values()) == starts
        assert done.request.state is RequestState.DONE
        await at_rest(stage)

    stage.run(play)


def test_a_scene_that_is_removed_leaves_neither_rows_nor_jobs_nor_files(stage: Stage) -> None:
    tale = plain_book("tale", scenes=3)

    async def play(_: Stage) -> None:
        key = await stage.save(tale)
        async with stage.playing() as engine:
            await made(stage, engine, key)
            files = len(stage.bytes.content)
            stage.crew.fate = lasting(50.0)
            await stage.save(reworded(tale, "sc-1"))
            opened = await stage.ask(engine, key)
            await stage.clock.sleep(10.0)
            (chapter,) = tale.chapters
            await stage.save(replace(tale, chapters=(replace(chapter, scenes=chapter.scenes[::2]),)))
            await engine.edited()
            await stage.until_ended(opened.request.request_id)
            assert not await rows(stage, LEFT["scene"])
            assert not await rows(stage, LEFT["asset"])
            await stage.clock.sleep(100.0)
            stage.clock.jump(40 * 86_400.0)
            await stage.clock.sleep(200.0)
            assert not await rows(stage, LEFT["part"])
            assert len(stage.bytes.content) == files * 2 // 3
        await at_rest(stage)

    stage.run(play)


LEFT = {
    "scene": "SELECT 1 AS one FROM scene WHERE scene_id = 'sc-1'",
    "asset": "SELECT 1 AS one FROM asset a LEFT JOIN scene s ON s.scene_key = a.scene_key WHERE s.scene_key IS NULL",
    "part": "SELECT 1 AS one FROM part p LEFT JOIN asset a ON a.id = p.asset WHERE a.id IS NULL",
}


def test_cancelling_what_waits_does_not_stop_what_runs(stage: Stage) -> None:
    async def play(_: Stage) -> None:
        key = await stage.save(plain_book("tale", scenes=2))
        stage.crew.fate = lasting(20.0)
        async with stage.playing(slots=2) as engine:
            opened = await stage.ask(engine, key, ("voice",))
            await stage.clock.sleep(5.0)
            assert sum(stage.crew.started.values()) == 2, "the chunks of the first scene run; the second waits"
            await engine.requests.cancel_part(Cancel(key, scope=Scope(ScopeKind.SCENE, "ch-1", "sc-1")))
            done = await stage.until_ended(opened.request.request_id)
        assert done.request.state is RequestState.DONE
        assert not stage.crew.stopped
        assert set(stage.crew.started.values()) == {1}
        assert set(await ready_artifacts(stage, "voice")) == {"sc-0"}
        await at_rest(stage)

    stage.run(play)


def test_a_pause_leaves_nothing_in_the_queue_but_what_runs(stage: Stage) -> None:
    async def play(_: Stage) -> None:
        key = await stage.save(plain_book("tale", scenes=1, units=3))
        stage.crew.fate = lasting(60.0)
        async with stage.playing(slots=1) as engine:
            opened = await stage.ask(engine, key, ("voice",))
            await stage.clock.sleep(5.0)
            assert len(await stage.coordination.jobs(Selection())) == 3
            await engine.requests.steer(Steer(key, paused=True))
            await stage.clock.sleep(15.0)
            (job,) = await stage.coordination.jobs(Selection())
            assert (job.state, job.stopping) == (JobState.CLAIMED, False), "it is finished and kept"
            await stage.clock.sleep(60.0)
            assert await stage.coordination.jobs(Selection()) == []
            assert await stage.coordination.leases(Selection()) == [], "what is held back holds no slot"
            await engine.requests.steer(Steer(key, paused=False))
            done = await stage.until_ended(opened.request.request_id)
        assert done.request.state is RequestState.DONE
        assert set(stage.crew.started.values()) == {1}
        await at_rest(stage)

    stage.run(play)


def test_a_store_that_is_not_mounted_is_not_taken_for_a_library_that_is_lost(stage: Stage) -> None:
    async def play(_: Stage) -> None:
        key = await stage.save(plain_book("tale", scenes=5))
        async with stage.playing() as engine:
            await made(stage, engine, key)
            before = await states(stage)
            before_it = await _told_of_assets(stage)
            stage.bytes.away = True
            await stage.clock.sleep(200.0)
            assert await states(stage) == before
            assert await _told_of_assets(stage) == before_it, "nothing happened to any asset"
            assert stage.alarms, "and somebody was told"
            stage.bytes.away = False
            await stage.clock.sleep(200.0)
            starts = sum(stage.crew.started.values())
            await made(stage, engine, key)
            assert sum(stage.crew.started.values()) == starts
        await at_rest(stage)

    stage.run(play)


async def _told_of_assets(stage: Stage) -> int:
    return sum(row.asset is not None for row in await stage.journal())


def test_a_closed_request_is_not_taken_up_again_by_recovery(stage: Stage) -> None:
    async def play(_: Stage) -> None:
        key = await stage.save(plain_book("tale", scenes=3))
        stage.crew.fate = lasting(10.0)
        async with stage.playing() as engine:
            opened = await stage.ask(engine, key)
            await stage.clock.sleep(5.0)
            await engine.requests.cancel(opened.request.request_id)
            dispatched = (await told(stage))[JournalType.DISPATCHED]
            (artifact, *_more) = [row.checksum for row in await rows(stage, "SELECT checksum FROM artifact")] or [""]
            stage.bytes.content.pop(artifact, None)
            await stage.save(reworded(plain_book("tale", scenes=3), "sc-2"))
            await engine.edited()
            await stage.clock.sleep(200.0)
            assert (await told(stage))[JournalType.DISPATCHED] == dispatched
        await at_rest(stage)

    stage.run(play)


def test_two_books_of_one_name_apart_from_an_underscore_are_cancelled_apart(stage: Stage) -> None:
    async def play(_: Stage) -> None:
        keys = [await stage.save(book(name, scene("sc-1", unit(f"{name}.iu", name)))) for name in ("a_b", "a", "a_b_c")]
        stage.crew.fate = lasting(15.0)
        async with stage.playing(slots=8) as engine:
            opened = [await stage.ask(engine, key, ("voice",)) for key in keys]
            await stage.clock.sleep(3.0)
            await engine.requests.cancel_part(Cancel(keys[0]))
            ended = [await stage.until_ended(one.request.request_id) for one in opened]
        assert [one.request.state for one in ended] == [RequestState.CANCELLED, RequestState.DONE, RequestState.DONE]
        await at_rest(stage)

    stage.run(play)


def test_a_book_that_is_deleted_while_it_is_made_leaves_nothing(stage: Stage) -> None:
    async def play(_: Stage) -> None:
        gone, stays = [await stage.save(plain_book(name, scenes=3)) for name in ("gone", "stays")]
        stage.crew.fate = lasting(8.0)
        async with stage.playing() as engine:
            await stage.ask(engine, gone)
            opened = await stage.ask(engine, stays)
            await stage.clock.sleep(20.0)
            await engine.deletion.book(gone)
            jobs = await stage.coordination.jobs(Selection())
            known = await _assets(stage)
            assert all(job.stopping for job in jobs if job.asset not in known)
            for table in ("scene", "asset", "request"):
                assert not await rows(stage, f"SELECT 1 AS one FROM {table} WHERE book_key = :gone", gone=gone), table
            assert not await rows(stage, LEFT["part"])
            done = await stage.until_ended(opened.request.request_id)
            await stage.clock.sleep(100.0)
            stage.clock.jump(40 * 86_400.0)
            await stage.clock.sleep(200.0)
            used = {row.checksum for row in await rows(stage, "SELECT checksum FROM artifact")}
            assert set(stage.bytes.content) == used
        assert done.request.state is RequestState.DONE

    stage.run(play)


async def _assets(stage: Stage) -> set[int]:
    return {row.id for row in await rows(stage, "SELECT id FROM asset")}


def test_a_process_of_another_version_does_not_go_round_in_circles(stage: Stage) -> None:
    """It finds that it may not plan, says so once, and looks again at its ticks."""

    async def play(_: Stage) -> None:
        key = await stage.save(plain_book("tale", scenes=3))
        await _planner(stage, versions.PLANNER + 1)
        async with stage.playing() as engine:
            opened = await stage.ask(engine, key)
            await stage.clock.sleep(120.0)
            assert sum(stage.crew.started.values()) == 0
            assert [alarm.reason for alarm in stage.alarms] == [Reason.OTHER_PLANNER]
            notes = [row for row in await stage.journal() if row.reason == Reason.OTHER_PLANNER]
            assert len(notes) == 1
            await _planner(stage, versions.PLANNER)
            done = await stage.until_ended(opened.request.request_id)
        assert done.request.state is RequestState.DONE
        await at_rest(stage)

    stage.run(play)


async def _planner(stage: Stage, number: int) -> None:
    change = text(f"UPDATE meta SET value = {number} WHERE name = 'planner'")
    await stage.database.write(lambda connection: connection.execute(change).close())
