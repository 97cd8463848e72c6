"""The way to a real server: scripts that it forgot, a server that is away or full, calls given up, bells of others."""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncIterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from coordination_world import AUDIO, NO_WAIT, job, worker

from coordination_servers import binary, started

pytest.importorskip("redis.asyncio", reason="needs the extra `redis`")

from redis.asyncio import Redis
from redis.exceptions import ConnectionError as RedisConnectionError

from animastor.clock import SystemClock
from animastor.coordination import Limits
from animastor.coordination.redis import Link, RedisCoordination, RedisLink, load_scripts
from animastor.coordination.redis.coordination import ROOT
from animastor.coordination.redis.link import connect
from animastor.coordination.redis.server import server_of
from animastor.engine.ports import (
    Candidate,
    CoordinationUnavailableError,
    Ended,
    Enqueued,
    JobState,
    Selection,
    Verdict,
)
from animastor.engine.reasons import Reason
from animastor.protocol import AssetId, BookKey, DispatchId

SPEAKER = worker("w1")
LIMITS = Limits(min_quota={"audio": 100})
LUA = Path(__file__).parents[2] / "src/animastor/coordination/redis/lua"


def candidate(asset: int, dispatch: str) -> Candidate:
    return Candidate(AssetId(asset), BookKey(1), AUDIO, DispatchId(dispatch))


class Flaky:
    """A link whose answers, or whose questions, are lost now and then: the client sees only a broken connection."""

    def __init__(self, client: Redis) -> None:
        self.client = client
        self.lose_answers = 0
        self.lose_questions = 0
        self.sent = 0

    async def execute_command(self, *command: Any) -> Any:
        if self.lose_questions:
            self.lose_questions -= 1
            raise RedisConnectionError("the question was lost")
        self.sent += 1
        answer = await self.client.execute_command(*command)
        if self.lose_answers:
            self.lose_answers -= 1
            raise RedisConnectionError("the answer was lost")
        return answer

    async def aclose(self) -> None:
        await self.client.aclose()


@pytest.fixture
def socket(servers: Any) -> Path:
    found: Path = servers.socket("valkey")
    return found


@pytest.fixture
async def client(socket: Path) -> AsyncIterator[Redis]:
    made = connect(f"unix://{socket}")
    await made.flushdb()
    yield made
    await made.aclose()


async def ready(link: Link) -> RedisCoordination:
    """A store that is open."""
    store = RedisCoordination(link, SystemClock(), LIMITS, window=False)
    await store.set_era(1)
    await store.serving()
    return store


@pytest.fixture
async def flaky(client: Redis) -> Flaky:
    return Flaky(client)


@pytest.fixture
async def store(flaky: Flaky) -> RedisCoordination:
    return await ready(RedisLink(flaky))  # type: ignore[arg-type]


async def entered(store: RedisCoordination, asset: int = 1, dispatch: str = "d1") -> None:
    assert (await store.admit([candidate(asset, dispatch)]))[0].reason is Reason.GRANTED
    assert await store.enqueue([job(asset, dispatch)]) == [Enqueued.STORED]


async def test_a_script_that_the_server_forgot_is_loaded_again(store: RedisCoordination, client: Redis):
    await entered(store)
    await client.script_flush()
    assert (await store.admit([candidate(2, "d2")]))[0].granted
    await client.script_flush()
    assert len(await store.claim(SPEAKER, {"speech": 1}, NO_WAIT)) == 1


async def test_without_a_clock_of_a_test_the_time_is_the_servers(store: RedisCoordination, client: Redis):
    before, _ = await client.time()
    await store.admit([candidate(1, "d1")])
    after, _ = await client.time()
    score = await client.zscore(f"{ROOT}:ends:lease", "d1")
    assert score is not None
    assert before + 15.0 <= score <= after + 1 + 15.0


async def test_a_lost_answer_of_an_admission_is_asked_for_again_and_is_one_admission(
    store: RedisCoordination, flaky: Flaky
):
    flaky.lose_answers = 2
    assert [one.reason for one in await store.admit([candidate(1, "d1")])] == [Reason.GRANTED]
    assert len(await store.leases(Selection())) == 1
    flaky.lose_answers = 1
    assert await store.release([Ended(AssetId(1), DispatchId("d1"))]) == [False]  # the first try found it
    assert await store.leases(Selection()) == []


async def test_a_lost_answer_of_a_claim_gives_the_same_claims_again(store: RedisCoordination, flaky: Flaky):
    await entered(store, 1, "d1")
    await entered(store, 2, "d2")
    flaky.lose_answers = 1
    first = await store.claim(SPEAKER, {"speech": 1}, NO_WAIT)
    assert [claim.job.asset for claim in first] == [1]
    assert [claim.job.asset for claim in await store.claim(SPEAKER, {"speech": 9}, NO_WAIT)] == [2]


async def test_a_lost_answer_of_a_verdict_is_given_again(store: RedisCoordination, flaky: Flaky):
    await entered(store)
    (claim,) = await store.claim(SPEAKER, {"speech": 1}, NO_WAIT)
    verdict = Verdict(claim.job.job_id, claim.claim_no, SPEAKER.key)
    flaky.lose_answers = 1
    assert [one.present for one in await store.settle([verdict])] == [True]
    assert [one.present for one in await store.settle([verdict])] == [False]


async def test_a_server_that_cannot_be_reached_is_one_clear_error_after_a_bounded_time(tmp_path: Path):
    nowhere = RedisLink(connect(f"unix://{tmp_path}/nobody"), attempts=3)
    store = RedisCoordination(nowhere, SystemClock())
    with pytest.raises(CoordinationUnavailableError, match=r"cannot be reached.*3 attempts at `admit`"):
        await store.admit([candidate(1, "d1")])
    await store.close()


async def test_a_short_absence_is_not_noticed(store: RedisCoordination, flaky: Flaky):
    flaky.lose_questions = 5
    assert (await store.admit([candidate(1, "d1")]))[0].granted
    assert flaky.lose_questions == 0


async def test_a_server_that_comes_back_empty_has_no_era(tmp_path: Path, servers: Any):
    servers.socket("valkey")  # skips where there is none
    program, where = binary("valkey"), tmp_path / "s"
    store = RedisCoordination.connect(f"unix://{where}", SystemClock(), LIMITS)
    with started(program, where):
        await store.set_era(4)
        assert await store.era() == 4
    with started(program, where):
        assert await store.era() is None
        assert [one.reason for one in await store.admit([candidate(1, "d1")])] == [Reason.ERA_WINDOW]
    await store.close()


async def test_a_full_server_takes_nothing_new_and_lets_what_is_there_end(store: RedisCoordination, client: Redis):
    await entered(store)
    await client.config_set("maxmemory", 1)
    try:
        with pytest.raises(CoordinationUnavailableError, match="is full"):
            await store.admit([candidate(2, "d2")])
        with pytest.raises(CoordinationUnavailableError, match="is full"):
            await store.enqueue([job(1, "d1", "p2")])
        (claim,) = await store.claim(SPEAKER, {"speech": 9}, NO_WAIT)
        assert (await store.settle([Verdict(claim.job.job_id, claim.claim_no, SPEAKER.key)]))[0].present
        assert await store.release([Ended(AssetId(1), DispatchId("d1"))]) == [True]
    finally:
        await client.config_set("maxmemory", 0)


async def test_more_calls_than_connections_wait_for_one(socket: Path, client: Redis):
    store = await ready(RedisLink(connect(f"unix://{socket}", connections=2)))
    answers = await asyncio.gather(*(store.admit([candidate(asset, f"d{asset}")]) for asset in range(40)))
    assert all(one[0].granted for one in answers)
    await store.close()


async def test_a_claim_that_is_given_up_while_its_answer_is_on_the_way_gives_the_job_back(client: Redis):
    held = asyncio.Event()
    asked = asyncio.Event()

    class Slow(Flaky):
        async def execute_command(self, *command: Any) -> Any:
            answer = await super().execute_command(*command)
            if isinstance(answer, bytes) and b"scene_id" in answer:
                asked.set()
                await held.wait()
            return answer

    link = RedisLink(Slow(client))  # type: ignore[arg-type]
    store = await ready(link)
    await entered(store)
    claiming = asyncio.ensure_future(store.claim(SPEAKER, {"speech": 1}, timedelta(seconds=5)))
    await asked.wait()
    claiming.cancel()
    assert [one.state for one in await store.jobs(Selection())] == [JobState.CLAIMED]
    held.set()
    await asyncio.gather(claiming, *link._behind, return_exceptions=True)
    assert [one.state for one in await store.jobs(Selection())] == [JobState.QUEUED]


async def test_a_job_that_one_process_enters_is_claimed_by_one_that_waits_in_another(
    socket: Path, client: Redis, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(RedisCoordination, "look_every", 1000.0)  # it does not look by itself
    url = f"unix://{socket}"
    here, there = (RedisCoordination.connect(url, SystemClock(), LIMITS) for _ in range(2))
    here._window = 0.0
    await here.set_era(1)
    waiting = asyncio.ensure_future(there.claim(SPEAKER, {"speech": 1}, timedelta(seconds=1000)))
    while (await client.pubsub_numsub(f"{ROOT}:bell"))[0][1] == 0:  # noqa: ASYNC110 - nothing else tells
        await asyncio.sleep(0)
    await entered(here)
    assert [claim.job.asset for claim in await asyncio.wait_for(waiting, 60)] == [1]
    await here.close()
    await there.close()


async def test_a_wake_is_heard_by_who_listens_in_any_process_and_once_by_its_own(socket: Path, client: Redis):
    here, there = (RedisCoordination.connect(f"unix://{socket}", SystemClock(), LIMITS) for _ in range(2))
    own, others = [], asyncio.Event()
    here.listen(lambda: own.append("rung"))
    there.listen(others.set)
    while (await client.pubsub_numsub(f"{ROOT}:wake"))[0][1] < 2:  # noqa: ASYNC110 - nothing else tells
        await asyncio.sleep(0)
    await asyncio.wait_for(others.wait(), 60)  # for what could not be heard before
    others.clear()
    before = len(own)
    here.wake()
    assert len(own) == before + 1  # at once
    await asyncio.wait_for(others.wait(), 60)
    await here.close()
    await there.close()


async def test_a_wake_without_a_server_is_lost_without_an_error(tmp_path: Path):
    store = RedisCoordination.connect(f"unix://{tmp_path}/nobody", SystemClock())
    store.listen(lambda: None)
    store.wake()
    await store.close()


async def test_many_jobs_are_read_page_by_page(store: RedisCoordination, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("animastor.coordination.redis.coordination.PAGE", 7)
    await store.admit([candidate(1, "d1")])
    orders = [job(1, "d1", f"p{part}") for part in range(30)]
    await store.enqueue(orders)
    assert {one.job_id for one in await store.jobs(Selection())} == {one.job_id for one in orders}
    assert len(await store.jobs(Selection(book_key=BookKey(1)))) == 30
    assert len(await store.jobs(Selection(pair=AUDIO))) == 30


async def test_a_batch_of_any_size_fits(store: RedisCoordination):
    large = RedisCoordination(store._link, SystemClock(), Limits(min_quota={"audio": 100_000}))
    candidates = [candidate(asset, f"d{asset}") for asset in range(9_500)]
    assert all(one.granted for one in await large.admit(candidates))
    assert len(await large.leases(Selection())) == 9_500
    assert all(await large.release([Ended(one.asset, one.dispatch_id) for one in candidates]))
    assert await large.leases(Selection()) == []


async def test_what_is_in_a_job_arrives_as_it_was(store: RedisCoordination):
    await store.admit([candidate(1, "d1")])
    order = job(1, "d1", timeout_s=0.1 + 0.2, fence=2**60)
    strange = {"text": 'a "quoted" \\ back\u2028slash 日本 \x00 /', "number": 1e-7, "list": [1, [2.5, None, True]]}
    object.__setattr__(order, "params", strange)
    await store.enqueue([order])
    (claim,) = await store.claim(SPEAKER, {"speech": 1}, NO_WAIT)
    assert claim.job == order


# --- the scripts themselves ---


def test_no_script_looks_through_all_keys_or_names_one_without_the_root():
    for script in load_scripts(Limits()).values():
        assert not re.search(r"'(KEYS|SCAN|HSCAN|SSCAN|ZSCAN)'", script.text), script.name
        keys = re.findall(r"call\('[A-Z]+', ('[^']*')", script.text)
        assert keys == [], f"{script.name} names {keys}"


def test_every_script_says_what_it_takes_and_gives():
    for file in LUA.glob("*.lua"):
        head = file.read_text("utf-8").split("\n\n", 1)[0]
        assert "-- KEYS[1]" in head, file.name
        assert "-- Result" in head, file.name


# --- what server it is ---


class Says:
    """A server that says what it is, and knows nothing else."""

    def __init__(self, **facts: str) -> None:
        self.facts = facts
        self.asked: list[str] = []

    async def execute_command(self, *command: Any) -> Any:
        self.asked.append(command[0])
        return self.facts if command[0] == "INFO" else [b"7"]


@pytest.mark.parametrize("version", ["2.8.24", "5.0.14", "6.0.16", "6.1.0"])
async def test_a_server_that_is_too_old_is_refused_before_anything_is_asked_of_it(version: str):
    client = Says(redis_version=version)
    store = RedisCoordination(RedisLink(client), SystemClock())  # type: ignore[arg-type]
    for _ in range(2):
        with pytest.raises(CoordinationUnavailableError, match=rf"is Redis {version}: Animastor needs Redis 6\.2"):
            await store.era()
    assert client.asked == ["INFO", "INFO"]


@pytest.mark.parametrize("version", ["6.2.0", "7.2.4", "10.0.1", "", "of our own"])
async def test_a_server_that_is_new_enough_or_does_not_say_is_asked_once(version: str):
    client = Says(redis_version=version)
    link = RedisLink(client)  # type: ignore[arg-type]
    for _ in range(2):
        await link.run(load_scripts(Limits())["era"], ["{root}"], [])
    assert client.asked == ["INFO", "EVALSHA", "EVALSHA"]


async def test_the_server_says_what_it_is_and_how_it_evicts(client: Redis):
    before = await server_of(client.execute_command)
    assert before.name == "Valkey"
    assert not before.too_old
    assert not before.evicts
    await client.config_set("maxmemory-policy", "allkeys-lru")
    try:
        assert (await server_of(client.execute_command)).evicts
    finally:
        await client.config_set("maxmemory-policy", "noeviction")
