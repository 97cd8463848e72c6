"""The real program with toy media types, for the processes of the chaos tests.

    python chaos_program.py serve [--no-scheduler] …

Engine, storage, coordination, hub, worker loop, children and the command are the program's own. Others are: the media
types (`toys`), their backends (`chaos_backends`), the look at finished bytes, the clock, which may be wrong, and the
way from the worker to the hub, on which results are doubled and delayed and the coordination store is emptied between
an upload and its end. The environment says how (`CHAOS_…`).
"""

from __future__ import annotations

import asyncio
import json
import os
import random
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from datetime import timedelta
from pathlib import Path
from typing import Any

from toys import REGISTRY

import animastor.app as app
from animastor.clock import SystemClock
from animastor.hub.local import LocalHub
from animastor.media.types import Facts, Structure
from animastor.protocol import MERGE, Answer, Claim, Running, Uploaded, Worker
from animastor.workers.backends import CpuBackend

MAKE = "chaos_backends:make"
OFFSET_S = float(os.environ.get("CHAOS_CLOCK_OFFSET_S", "0"))
TWICE = float(os.environ.get("CHAOS_TWICE", "0"))  # the share of results that are delivered twice
LATE = float(os.environ.get("CHAOS_LATE", "0"))  # … and of those that are delivered late
LATE_S = float(os.environ.get("CHAOS_LATE_S", "3"))
STALL_S = 0.5  # a process that is kept waiting for longer writes things down late, and says so
EMPTYING = os.environ.get("CHAOS_EMPTY_AFTER_UPLOAD", "")  # while this file is there: the next to upload removes it


class OtherClock(SystemClock):
    """A clock that may be wrong."""

    def now(self) -> float:
        return super().now() + OFFSET_S


class Checker:
    """Knows the beginning of what was ordered; whether the rest is right too, the test looks at afterwards."""

    def __init__(self, *_: object) -> None:
        return

    async def check(self, media: str, kind: str, structure: Structure, path: Path) -> tuple[Facts, str | None]:
        facts = Facts(codec="right" if path.read_bytes().startswith(f"{kind}|".encode()) else "wrong", duration=1.0)
        return facts, REGISTRY[media].check(structure, facts)


class Road(LocalHub):
    """The hub behind a road on which things go wrong. What came through is written down."""

    def __init__(self, *arguments: Any, **named: Any) -> None:
        super().__init__(*arguments, **named)
        self._draw = random.Random(int(os.environ.get("CHAOS_SEED") or "0") ^ os.getpid())
        self._late: set[asyncio.Task[Any]] = set()
        self._watch: asyncio.Task[None] | None = None

    async def register(self, worker: Worker) -> None:
        if self._watch is None:
            self._watch = asyncio.create_task(_notice_stalls())
        await super().register(worker)

    async def claim(self, worker: Worker, limit: Mapping[str, int], wait: timedelta) -> Sequence[Claim]:
        claims = await super().claim(worker, limit, wait)
        if claims:
            _log("claimed", [claim.claim_no for claim in claims])
        return claims

    async def heartbeat(self, worker: Worker, running: Sequence[Running]) -> Sequence[Answer]:
        began = time.time()
        answers = await super().heartbeat(worker, running)
        _log("beat", [line.claim_no for line in running], began)  # heard of since then, however late the answer is
        told = [line.claim_no for line, answer in zip(running, answers, strict=True) if answer is Answer.STOP]
        if told:
            _log("stop", told)
        return answers

    async def hand_back(self, worker: Worker, claims: Sequence[Claim]) -> None:
        await super().hand_back(worker, claims)
        _log("handed_back", [claim.claim_no for claim in claims])

    async def upload(self, claim: Claim, path: Path) -> Uploaded:
        uploaded = await super().upload(claim, path)
        if EMPTYING:
            with suppress(FileNotFoundError):
                Path(EMPTYING).unlink()
                await self._empty()
        return uploaded

    async def finish(self, claim: Claim, uploaded: Uploaded) -> str:
        if self._draw.random() < TWICE:
            _log("doubled", [claim.claim_no])
            again = asyncio.create_task(self._again(claim, uploaded))
            self._late.add(again)
            again.add_done_callback(self._late.discard)
        if self._draw.random() < LATE:
            _log("delayed", [claim.claim_no])
            await asyncio.sleep(LATE_S * self._draw.random())
        return await super().finish(claim, uploaded)

    async def _again(self, claim: Claim, uploaded: Uploaded) -> None:
        """By the ticket alone: what this process remembers of the claim may be forgotten by then."""
        await asyncio.sleep(LATE_S * self._draw.random())
        with suppress(Exception):
            await super().finish(Claim(claim.job, claim.claim_no, claim.ticket), uploaded)

    async def _empty(self) -> None:
        from redis.asyncio import Redis

        client = Redis.from_url(os.environ["ANIMASTOR_COORDINATION_URL"])
        await client.flushall()
        _log("emptied")
        await client.aclose()


async def _notice_stalls() -> None:
    """Write down when this process stood still: killed by nobody, only short of a processor, or paused."""
    while True:
        began = time.time()
        await asyncio.sleep(STALL_S / 5)
        if time.time() - began > STALL_S:
            _log("stalled", since=began)


def _log(event: str, claims: Sequence[int] = (), at: float | None = None, since: float | None = None) -> None:
    now = time.time()
    line = {
        "event": event,
        "claims": list(claims),
        "time": now if at is None else at,
        "pid": os.getpid(),
        "since": since,
    }
    log = os.open(os.environ["CHAOS_ROAD_LOG"], os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
    try:
        os.write(log, json.dumps(line).encode() + b"\n")
    finally:
        os.close(log)


def main() -> None:
    """Run the program."""
    backends = (
        CpuBackend(MERGE, {"voice": MAKE, "clip": MAKE}, lambda: None),
        CpuBackend("make-chunk", {"voice": MAKE}, lambda: None),
        CpuBackend("make-picture", {"sketch": MAKE}, lambda: None),
        CpuBackend("make-shot", {"clip": MAKE}, lambda: None),
    )
    app.installed = lambda: REGISTRY  # type: ignore[assignment]
    app.cpu_backends = lambda **_: backends  # type: ignore[assignment]
    app.ChildChecker = Checker  # type: ignore[misc, assignment]
    app.LocalHub = Road  # type: ignore[misc]
    app.SystemClock = OtherClock  # type: ignore[misc]
    from animastor.cli import main as program

    program()


if __name__ == "__main__":
    main()
