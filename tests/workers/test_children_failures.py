"""Whatever a child does, its work ends as one typed failure, and the next work is done (CONTRACT 9)."""

from __future__ import annotations

import asyncio
import os
import resource
import signal
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import psutil
import pytest
from children_kit import ENCODED_S, HERE, ignore, is_gone, until

from animastor.protocol import FailureType
from animastor.workers.backend import BackendError
from animastor.workers.children import Children
from animastor.workers.work import Limits, Work


async def failure(children: Children, work: Work) -> tuple[FailureType, str, str]:
    """How work fails; the pool must be of use afterwards."""
    with pytest.raises(BackendError) as caught:
        await children.run(work, ignore)
    return caught.value.type, caught.value.code, caught.value.message


async def test_failure_of_the_backend_keeps_its_type_code_and_message(
    children: Children, ordered: Callable[..., Work]
) -> None:
    for type_ in FailureType:
        told = await failure(children, ordered("refuse", type=type_, code="c", message="why"))
        assert told == (type_, "c", "why")
    assert len(children.pids) == 1


async def test_rest_that_a_service_asked_for_is_told_with_the_failure(
    children: Children, ordered: Callable[..., Work]
) -> None:
    work = ordered("refuse", type=FailureType.TRANSIENT, code="c", message="busy", retry_after_s=7.5)
    with pytest.raises(BackendError) as caught:
        await children.run(work, ignore)
    assert caught.value.retry_after_s == 7.5


@pytest.mark.parametrize(
    ("error", "type_", "code"),
    [
        ("value", FailureType.TRANSIENT, "exception"),
        ("disk", FailureType.INFRASTRUCTURE, "disk_full"),
        ("memory", FailureType.INFRASTRUCTURE, "out_of_memory"),
        ("ffmpeg_missing", FailureType.MISCONFIGURED, "ffmpeg_missing"),
        ("ffmpeg_killed", FailureType.INFRASTRUCTURE, "ffmpeg_killed"),
        ("ffmpeg_hung", FailureType.TRANSIENT, "job_timeout"),
        ("exit", FailureType.TRANSIENT, "child_ended"),
    ],
)
async def test_exception_is_the_failure_that_its_class_says(
    children: Children, ordered: Callable[..., Work], error: str, type_: FailureType, code: str
) -> None:
    assert (await failure(children, ordered("raise_it", error=error)))[:2] == (type_, code)


async def test_unexpected_exception_is_told_in_one_line_with_its_place(
    children: Children, ordered: Callable[..., Work]
) -> None:
    message = (await failure(children, ordered("raise_it", error="value")))[2]
    assert message.startswith("ValueError: two lines (child_backends.py:")


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGSEGV, signal.SIGTERM])
async def test_child_ended_by_a_signal_is_infrastructure_and_names_it(
    children: Children, ordered: Callable[..., Work], number: signal.Signals
) -> None:
    type_, code, message = await failure(children, ordered("die", signal=int(number)))
    assert (type_, code) == (FailureType.INFRASTRUCTURE, "child_killed")
    assert f"ended by {number.name}" in message
    assert (await children.run(ordered("write", text="next"), ignore)).path.read_text() == "next"


async def test_child_that_ends_by_itself_tells_its_last_words(children: Children, ordered: Callable[..., Work]) -> None:
    type_, _, message = await failure(children, ordered("die"))
    assert type_ is FailureType.TRANSIENT
    assert message == "the child process ended by itself with exit code 7: the last words"


async def test_child_killed_from_outside_in_the_middle_of_its_work(
    children: Children, ordered: Callable[..., Work]
) -> None:
    work = ordered("hang")
    task = asyncio.create_task(children.run(work, ignore))
    pid = await pid_of(work)
    os.kill(pid, signal.SIGKILL)
    with pytest.raises(BackendError, match="SIGKILL"):
        await task


async def test_child_without_progress_is_ended(children: Children, ordered: Callable[..., Work]) -> None:
    await children.run(ordered("write"), ignore)  # starting a child takes longer than the limit on a busy machine
    (pid,) = children.pids
    work = ordered("hang", limits=Limits(idle_s=1.2, hard_s=60.0))
    assert await failure(children, work) == (
        FailureType.TRANSIENT,
        "job_timeout",
        "there was no progress for 1.2 s",
    )
    assert is_gone(pid)


async def test_stopped_child_is_ended_as_one_without_progress(children: Children, ordered: Callable[..., Work]) -> None:
    await children.run(ordered("write"), ignore)  # starting a child takes longer than the limit on a busy machine
    (pid,) = children.pids
    work = ordered("work_slowly", seconds=60.0, sign="progress", limits=Limits(idle_s=1.2, hard_s=60.0))
    with pytest.raises(BackendError, match="no progress"):
        await children.run(work, lambda _: os.kill(pid, signal.SIGSTOP))  # at its first progress
    assert is_gone(pid)


@pytest.mark.parametrize("sign", ["progress", "output"])
async def test_progress_in_value_or_output_keeps_it_alive_and_is_told(
    children: Children, ordered: Callable[..., Work], sign: str
) -> None:
    for idle_s in (1.2, 6.0, 30.0):  # a busy machine may leave a child alone for longer than the first of them
        told: list[float] = []
        await children.run(ordered("write"), ignore)  # starting one takes longer than the limit on a busy machine
        limits = Limits(idle_s=idle_s, hard_s=200.0)
        work = ordered("work_slowly", seconds=idle_s + 0.8, sign=sign, text="done", limits=limits)
        with suppress(BackendError):
            assert (await children.run(work, told.append)).path.read_text() == "done"
            assert len(set(told)) >= 2, "the hub ends what it hears no progress of"
            assert told == sorted(told)
            return
    raise AssertionError("work that makes progress was ended")


async def test_child_past_the_hard_limit_is_ended_although_it_makes_progress(
    children: Children, ordered: Callable[..., Work]
) -> None:
    await children.run(ordered("write"), ignore)  # starting a child takes longer than the limit on a busy machine
    work = ordered("work_slowly", seconds=60.0, sign="progress", limits=Limits(idle_s=60.0, hard_s=0.8))
    assert await failure(children, work) == (FailureType.TRANSIENT, "job_timeout", "it was not done after 0.8 s")


async def test_runaway_output_is_ended(children: Children, ordered: Callable[..., Work]) -> None:
    work = ordered("run_away", limits=Limits(idle_s=60.0, hard_s=60.0, output_bytes=500_000))
    type_, code, _ = await failure(children, work)
    assert (type_, code) == (FailureType.TRANSIENT, "output_too_large")
    assert (work.folder / "much").stat().st_size < 200_000_000


async def test_full_disk_is_recognised_by_a_real_limit(tmp_path: Path, ordered: Callable[..., Work]) -> None:
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (20_000, before[1]))
    pool = Children(1, tmp_path / "scratch", environment={"PYTHONPATH": str(HERE)})
    try:
        type_, code, _ = await failure(pool, ordered("write", text="x" * 30_000))
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
        await pool.aclose()
    assert (type_, code) == (FailureType.INFRASTRUCTURE, "disk_full")


async def test_cancelling_ends_the_work_and_its_ffmpeg_at_once(
    children: Children, ordered: Callable[..., Work]
) -> None:
    work = ordered("encode", limits=Limits(idle_s=1e4, hard_s=1e4))  # no limit of the work would end it
    other = ordered("work_slowly", seconds=0.5, sign="progress", text="other")
    told: list[float] = []
    running = asyncio.create_task(children.run(work, told.append))
    beside = asyncio.create_task(children.run(other, ignore))
    await until(lambda: max(told, default=0.0) > ENCODED_S)
    pid = int((work.folder / "pid").read_text())
    pids = [pid, *(child.pid for child in psutil.Process(pid).children())]
    assert len(pids) == 2
    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running
    await until(lambda: all(map(is_gone, pids)))
    assert (await beside).path.read_text() == "other"


async def test_cancelled_while_it_waits_for_a_child_it_takes_none(tmp_path: Path, ordered: Callable[..., Work]) -> None:
    pool = Children(1, tmp_path / "scratch", environment={"PYTHONPATH": str(HERE)})
    busy = asyncio.create_task(pool.run(ordered("work_slowly", seconds=0.3, sign="progress"), ignore))
    waiting = asyncio.create_task(pool.run(ordered("write"), ignore))
    await asyncio.sleep(0)
    waiting.cancel()
    await busy
    assert (await pool.run(ordered("write", text="free"), ignore)).path.read_text() == "free"
    await pool.aclose()


async def pid_of(work: Work) -> int:
    """The process that does it, once it has begun."""
    path = work.folder / "pid"
    await until(lambda: path.exists() and path.read_text() != "")
    return int(path.read_text())
