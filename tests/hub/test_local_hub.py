"""The hub in process gives real claims with real tickets, and takes results only from who holds one."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Coroutine
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from animastor.engine.ports import ArtifactStoreUnavailableError, JobState, Selection, StorageUnavailableError
from animastor.engine.reasons import Reason
from animastor.protocol import Answer, Claim, FailureType, HubRefusedError, JobId, Running, Uploaded, Worker
from virtual_clock import VirtualClock

sys.path.insert(0, str(Path(__file__).parents[1] / "workers"))

from loop_kit import World

NOW = timedelta(0)
WORKER = Worker("local", "one", {"voice": 2})
UPLOADED = Uploaded("made", 4, ".txt")


@pytest.fixture
def world(tmp_path: Path) -> World:
    """A hub with everything around it."""
    return World(VirtualClock(), tmp_path)


def run(world: World, main: Coroutine[Any, Any, None]) -> None:
    """In the world's time."""
    world.clock.run(main)


async def claimed(world: World, count: int = 1) -> list[Claim]:
    """So many claims of the worker."""
    await world.enter(count)
    await world.hub.register(WORKER)
    return list(await world.hub.claim(WORKER, {"voice": count}, NOW))


def test_result_of_a_claim_reaches_the_engine_with_what_its_ticket_says(world: World, tmp_path: Path) -> None:
    async def main() -> None:
        (claim,) = await claimed(world)
        (tmp_path / "made").write_text("bytes")
        uploaded = await world.hub.upload(claim, tmp_path / "made")
        assert (uploaded.checksum, uploaded.size, uploaded.suffix) == ("bytes", 5, ".txt")
        assert await world.hub.finish(claim, uploaded) == Reason.ACCEPTED
        ((_, ticket, _),) = world.engine.finished
        assert (ticket.job_id, ticket.claim_no, ticket.worker) == (claim.job.job_id, claim.claim_no, "local/one")
        assert (ticket.input_hash, ticket.fence, ticket.asset) == (claim.job.input_hash, 1, claim.job.asset)
        assert await world.coordination.jobs(Selection()) == []

    run(world, main())


def test_job_that_is_made_by_now_is_dropped_instead_of_given_out(world: World) -> None:
    async def main() -> None:
        one, two = await world.enter(2)
        await world.hub.register(WORKER)
        world.keys.made.add((one.asset, one.input_hash))
        assert [claim.job.job_id for claim in await world.hub.claim(WORKER, {"voice": 2}, NOW)] == [two.job_id]
        assert [job.job_id for job in await world.coordination.jobs(Selection())] == [two.job_id]

    run(world, main())


def test_nothing_is_given_out_while_the_database_cannot_say_whether_it_is_made(world: World) -> None:
    async def main() -> None:
        await world.enter(1)
        await world.hub.register(WORKER)
        world.keys.away = True
        with pytest.raises(StorageUnavailableError):
            await world.hub.claim(WORKER, {"voice": 1}, NOW)
        (job,) = await world.coordination.jobs(Selection())
        assert job.state is JobState.QUEUED
        world.keys.away = False
        assert len(await world.hub.claim(WORKER, {"voice": 1}, NOW)) == 1

    run(world, main())


def test_what_was_just_uploaded_can_be_fetched_by_the_job_that_needs_it(world: World, tmp_path: Path) -> None:
    async def main() -> None:
        (claim,) = await claimed(world)
        (tmp_path / "made").write_text("bytes")
        await world.hub.upload(claim, tmp_path / "made")
        needs = replace(claim, job=replace(claim.job, inputs=("bytes",)))
        assert (await world.hub.fetch(needs, "bytes")).read_text() == "bytes"
        with pytest.raises(HubRefusedError) as caught:
            await world.hub.fetch(claim, "bytes")  # no input of this job
        assert caught.value.reason == Reason.ARTIFACT_MISSING

    run(world, main())


@pytest.mark.parametrize(
    "change",
    [
        {"ticket": ""},
        {"ticket": "a.b.c"},
        {"claim_no": 7},
        {"job": {"job_id": JobId("another")}},
        {"job": {"input_hash": "another"}},
        {"job": {"fence": 2}},
    ],
)
def test_claim_that_its_ticket_does_not_prove_is_refused_everywhere(
    world: World, tmp_path: Path, change: dict[str, Any]
) -> None:
    async def main() -> None:
        (claim,) = await claimed(world)
        job = replace(claim.job, **change.get("job", {}))
        false = replace(claim, **{**change, "job": job})
        (tmp_path / "made").write_text("bytes")
        for call in (
            world.hub.upload(false, tmp_path / "made"),
            world.hub.finish(false, UPLOADED),
            world.hub.fail(false, FailureType.TRANSIENT, "c", "m"),
        ):
            with pytest.raises(HubRefusedError) as caught:
                await call
            assert caught.value.reason == Reason.NOT_CLAIMER
        assert (world.engine.finished, world.engine.failed, world.shelf.put_at) == ([], [], [])

    run(world, main())


def test_nothing_is_claimed_where_the_artifact_store_is_away_and_others_get_it(world: World) -> None:
    async def main() -> None:
        await world.enter(1)
        await world.hub.register(WORKER)
        world.shelf.reason = Reason.ARTIFACT_STORE_UNAVAILABLE
        await world.clock.sleep(6.0)  # what it said last holds for 5 s
        with pytest.raises(ArtifactStoreUnavailableError, match="cannot be read"):
            await world.hub.claim(WORKER, {"voice": 1}, NOW)
        with pytest.raises(ArtifactStoreUnavailableError, match="cannot be read"):
            await world.hub.register(WORKER)  # nobody is to wait for it
        await world.hub.register(Worker("local", "one", {}))  # it says that it serves nothing any more
        other = Worker("local", "two", {"voice": 1})
        await world.coordination.register(other)
        assert len(await world.coordination.claim(other, {"voice": 1}, NOW)) == 1
        await world.enter(1)
        world.shelf.reason = Reason.DISK_LOW  # what was admitted is finished
        await world.hub.register(WORKER)
        assert len(await world.hub.claim(WORKER, {"voice": 1}, NOW)) == 1

    run(world, main())


def test_message_of_a_failure_is_cut_to_its_length(world: World) -> None:
    async def main() -> None:
        (claim,) = await claimed(world)
        await world.hub.fail(claim, FailureType.PERMANENT, "code", "x" * 3000)
        ((_, failure, code, message),) = world.engine.failed
        assert (failure, code, len(message)) == (FailureType.PERMANENT, "code", 2000)

    run(world, main())


def test_work_handed_back_is_claimed_again_at_once_under_a_greater_number(world: World) -> None:
    async def main() -> None:
        claims = await claimed(world, 2)
        await world.hub.hand_back(WORKER, claims)
        again = await world.hub.claim(WORKER, {"voice": 2}, NOW)
        assert {claim.job.job_id for claim in again} == {claim.job.job_id for claim in claims}
        assert min(claim.claim_no for claim in again) > max(claim.claim_no for claim in claims)

    run(world, main())


def test_finish_after_the_store_was_lost_makes_its_claim_known_first(world: World) -> None:
    async def main() -> None:
        (claim,) = await claimed(world)
        world.coordination.lose()
        world.engine.answers = [Reason.STALE_PART]  # an answer that does not settle
        assert await world.hub.finish(claim, UPLOADED) == Reason.STALE_PART
        (known,) = await world.coordination.jobs(Selection())
        assert (known.job_id, known.claim_no, known.worker) == (claim.job.job_id, claim.claim_no, "local/one")

    run(world, main())


def test_repeated_finish_of_a_settled_claim_makes_nothing_known(world: World) -> None:
    async def main() -> None:
        (claim,) = await claimed(world)
        for _ in range(2):
            assert await world.hub.finish(claim, UPLOADED) == Reason.ACCEPTED
            assert await world.coordination.jobs(Selection()) == []

    run(world, main())


def test_heartbeat_after_the_store_was_lost_goes_on(world: World) -> None:
    async def main() -> None:
        (claim,) = await claimed(world)
        world.coordination.lose()
        await world.coordination.set_era(2)
        line = Running(claim.job.job_id, claim.claim_no, 0.5)
        assert await world.hub.heartbeat(WORKER, [line]) == [Answer.CONTINUE]
        assert await world.hub.heartbeat(WORKER, [replace(line, claim_no=9)]) == [Answer.STOP]

    run(world, main())


def test_registering_wakes_what_waited_for_its_profiles_once(world: World) -> None:
    async def main() -> None:
        await world.hub.register(WORKER)
        await world.hub.register(WORKER)
        assert world.keys.woken == ["voice"]
        await world.hub.goodbye(WORKER)
        await world.hub.register(WORKER)
        assert world.keys.woken == ["voice", "voice"]

    run(world, main())


def test_waiting_claim_returns_with_its_tickets_when_work_comes(world: World) -> None:
    async def main() -> None:
        await world.coordination.set_era(1)
        waiting = asyncio.create_task(world.hub.claim(WORKER, {"voice": 1}, timedelta(seconds=30)))
        await world.clock.sleep(10.0)
        await world.enter(1)
        (claim,) = await waiting
        assert world.clock.elapsed == pytest.approx(10.0)
        assert await world.hub.finish(claim, UPLOADED) == Reason.ACCEPTED

    run(world, main())
