"""Children do work: they are started when needed, used again, told apart by what they know, and replaced."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable
from pathlib import Path

import pytest
from children_kit import HERE, ignore, is_gone, until

from animastor.protocol import AssetId, BookKey, Claim, DispatchId, FailureType, Job, JobId
from animastor.workers import receipts
from animastor.workers.backend import BackendError
from animastor.workers.children import Children
from animastor.workers.work import Limits, Work


async def test_result_and_notes_come_back_and_the_child_is_used_again(
    children: Children, ordered: Callable[..., Work]
) -> None:
    first = await children.run(ordered("write", text="one"), ignore)
    second = await children.run(ordered("write", text="two"), ignore)
    assert (first.path.read_text(), second.path.read_text()) == ("one", "two")
    assert (first.notes["calls"], second.notes["calls"]) == (1, 2)
    assert first.notes["pid"] == second.notes["pid"] != os.getpid()


async def test_child_is_nicer_than_its_parent_and_computes_with_one_thread(
    children: Children, ordered: Callable[..., Work]
) -> None:
    made = await children.run(ordered("write"), ignore)
    assert made.notes["nice"] == min(19, os.nice(0) + 5)
    assert set(made.notes["environment"].values()) == {"1"}


async def test_no_more_than_the_count_run_at_once_and_all_are_done(
    children: Children, ordered: Callable[..., Work]
) -> None:
    made = await asyncio.gather(*(children.run(ordered("write"), ignore) for _ in range(12)))
    assert len({one.notes["pid"] for one in made}) <= 2
    assert len(children.pids) <= 2


async def test_work_goes_to_the_idle_child_that_knows_its_profile(
    children: Children, ordered: Callable[..., Work]
) -> None:
    voice = await children.run(ordered("write", profile="voice"), ignore)
    picture = await children.run(ordered("write", profile="picture"), ignore)
    again = [await children.run(ordered("write", profile=name), ignore) for name in ("voice", "picture", "voice")]
    assert voice.notes["pid"] != picture.notes["pid"]
    assert [one.notes["pid"] for one in again] == [one.notes["pid"] for one in (voice, picture, voice)]


async def test_what_libraries_print_reaches_nobody(children: Children, ordered: Callable[..., Work]) -> None:
    made = await children.run(ordered("chatter", text="still fine"), ignore)
    assert made.path.read_text() == "still fine"


async def test_progress_is_told_as_it_grows(children: Children, ordered: Callable[..., Work]) -> None:
    told: list[float] = []
    await children.run(ordered("work_slowly", seconds=0.7, sign="progress"), told.append)
    assert 2 <= len(told) <= 7  # of 35: one in 0.2 s, the last one, and two files that grew
    assert told == sorted(set(told))


async def test_receipt_lies_beside_a_result_that_was_claimed(children: Children, ordered: Callable[..., Work]) -> None:
    job = Job(
        job_id=JobId("j"),
        media="audio",
        kind="chunk",
        asset=AssetId(1),
        book_key=BookKey(2),
        book="b",
        chapter_id="c",
        scene_id="s",
        dispatch_id=DispatchId("d"),
        fence=3,
        input_hash="h",
        params={"text": "ü", "list": [1, {"a": None}]},
        inputs=("x", "y", "x"),
        timeout_s=60.0,
        profile="hibari",
        lane="system",
        retry_of=FailureType.INFRASTRUCTURE,
    )
    claim = Claim(job, (5 << 40) + 1, "a.ticket")
    plain = ordered("write", text="one")
    made = await children.run(Work(plain.function, plain.order, plain.folder, "p", plain.limits, claim), ignore)
    assert receipts.read(plain.folder) == receipts.Receipt(claim, made.path, made.notes)
    made.path.unlink()
    assert receipts.read(plain.folder) is None


async def test_child_that_died_while_idle_costs_no_job(children: Children, ordered: Callable[..., Work]) -> None:
    first = await children.run(ordered("write"), ignore)
    os.kill(first.notes["pid"], 9)
    while not is_gone(first.notes["pid"]):
        pass  # the loop does not run meanwhile: the closed channel has not been heard of
    second = await children.run(ordered("write"), ignore)
    assert second.notes["pid"] != first.notes["pid"]


async def test_child_that_has_grown_is_replaced(tmp_path: Path, ordered: Callable[..., Work]) -> None:
    pool = Children(1, tmp_path / "scratch", most_resident=200 * 2**20, environment={"PYTHONPATH": str(HERE)})
    small = await pool.run(ordered("grow", bytes=1), ignore)
    large = await pool.run(ordered("grow", bytes=300 * 2**20), ignore)
    assert pool.pids == ()
    fresh = await pool.run(ordered("write"), ignore)
    assert small.notes["pid"] == large.notes["pid"] != fresh.notes["pid"]
    await pool.aclose()


async def test_child_without_work_is_ended_after_a_while(tmp_path: Path, ordered: Callable[..., Work]) -> None:
    pool = Children(1, tmp_path / "scratch", idle_s=0.05, environment={"PYTHONPATH": str(HERE)})
    made = await pool.run(ordered("write"), ignore)
    await until(lambda: pool.pids == ())
    await until(lambda: is_gone(made.notes["pid"]))
    await pool.aclose()


async def test_unknown_backend_is_misconfigured(children: Children, ordered: Callable[..., Work]) -> None:
    with pytest.raises(BackendError, match="cannot be loaded") as caught:
        await children.run(ordered("no_such_function"), ignore)
    assert (caught.value.type, caught.value.code) == (FailureType.MISCONFIGURED, "backend_missing")


async def test_limits_of_a_job_are_its_timeout_and_four_times_that() -> None:
    limits = Limits.of_job(1800.0)
    assert (limits.idle_s, limits.hard_s) == (1800.0, 7200.0)
