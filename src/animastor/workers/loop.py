"""The worker loop: register, claim, fetch, run, upload, finish (CONTRACT 13).

It only waits: work is done by children, and the hub may be away for as long as it likes without anything being lost.
It stops in order: claims end first, what runs is handed back, heartbeats end last.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import timedelta
from enum import Enum, auto
from itertools import count
from pathlib import Path
from random import Random

import structlog

from animastor.ending import ended
from animastor.protocol import PROTOCOL, Answer, Claim, Clock, FailureType, Hub, HubRefusedError, Running, Worker
from animastor.workers import failures
from animastor.workers.appetite import Appetite
from animastor.workers.backend import BackendError, Order, Produced
from animastor.workers.backends import CHECK_S, Backends
from animastor.workers.delivery import Delivery, pause
from animastor.workers.receipts import Receipt
from animastor.workers.work import Limits, Runner, Work
from animastor.workers.workdir import Workdir

HEARTBEAT_S = 5.0
UNDELIVERED = 16  # per child: with more results than this on their way, nothing new is claimed
RECOVER_S = 10.0  # how long a start waits for the results of the run before it; they go on being delivered after that
GRACE_S = 1.0  # how long a stop waits for results on their way, and for the hub to take work back

_NOW = timedelta(0)
_A_WHILE = timedelta(seconds=CHECK_S)
_log = structlog.get_logger("animastor.worker")


class _Stage(Enum):
    MAKING = auto()
    DELIVERING = auto()


@dataclass(slots=True, eq=False)
class _Held:
    """A claim in hand."""

    claim: Claim
    folder: Path
    stage: _Stage = _Stage.MAKING
    progress: float = 0.0
    turn: int = 0  # its place among those that were given to the runner, which takes them in that order
    stopped: bool = False
    task: asyncio.Task[None] | None = None

    def advance(self, value: float) -> None:
        self.progress = max(self.progress, value)

    @property
    def line(self) -> Running:
        return Running(self.claim.job.job_id, self.claim.claim_no, self.progress)


class WorkerLoop:
    """One worker instance. `run` serves until `stop` is called or it is cancelled.

    `worker.profiles` says how many jobs of each profile may run at once; it is registered for those of them whose
    backends are well. `workdir` and `runner` belong to the caller, who closes them after `run` has returned.
    """

    def __init__(
        self,
        hub: Hub,
        worker: Worker,
        runner: Runner,
        backends: Backends,
        *,
        clock: Clock,
        workdir: Workdir,
        random: Random,
        heartbeat_s: float = HEARTBEAT_S,
    ) -> None:
        self._hub, self._worker, self._runner, self._backends = hub, worker, runner, backends
        self._clock, self._workdir, self._heartbeat_s = clock, workdir, heartbeat_s
        self._delivery = Delivery(hub, clock, random)
        self._appetite = Appetite(runner.count)
        self._held: dict[_Held, None] = {}
        self._in_hand = 0  # of them: not made yet
        self._recovering: dict[asyncio.Task[None], None] = {}
        self._present = worker  # as it is registered, with the profiles whose backends are well
        self._registered = False
        self._room = asyncio.Event()
        self._given = count(1)
        self._stop = asyncio.Event()
        self._draining = asyncio.Event()
        self._drained = asyncio.Event()  # nothing is being claimed

    def stop(self) -> None:
        """Begin to end; `run` returns when everything is handed back."""
        self._stop.set()

    async def drain(self) -> None:
        """Claim nothing any more, hand back what no child has begun, and return when the rest is delivered.

        What runs keeps its claims alive; `run` goes on until `stop` is called.
        """
        self._draining.set()
        await self._drained.wait()
        self._present = replace(self._worker, profiles={})  # what is entered from now on is not for this one
        try:
            await self._hub.register(self._present)
        except Exception as error:  # noqa: BLE001 - the boundary to a transport: reported; the next heartbeat says so
            _log.warning("the hub did not hear of the drain", error=f"{type(error).__name__}: {error}")
        while self._held:
            for held in self._not_begun():
                held.stopped = True
                held.task.cancel() if held.task is not None else None
            self._room.clear()
            await self._room.wait()

    async def recover(self) -> int:
        """Deliver what an earlier run of this work directory had finished, and remove what it left half done.

        Done before the first claim, so that no finished work is done again, whatever was dispatched meanwhile. How many
        were found; waits for their delivery, but not longer than `RECOVER_S`.
        """
        found = await asyncio.to_thread(self._workdir.take_over)
        for receipt in found:
            task = asyncio.create_task(self._redeliver(receipt))
            self._recovering[task] = None
            task.add_done_callback(self._recovering.pop)
        if self._recovering:
            await asyncio.wait(list(self._recovering), timeout=RECOVER_S)
        return len(found)

    async def run(self) -> None:
        """Serve. Whatever way it ends, running work is ended and handed back, and finished results stay on disk."""
        await self.recover()
        claims = asyncio.create_task(self._claim_until_drained(), name="claims")
        beats = asyncio.create_task(self._beat_for_ever(), name="heartbeats")
        stop = asyncio.create_task(self._stop.wait(), name="stop")
        try:
            await asyncio.wait({claims, beats, stop}, return_when=asyncio.FIRST_COMPLETED)
        finally:
            stop.cancel()
            await ended(claims)
            await self._wind_down()
            await ended(beats)
        for task in (claims, beats):
            if not task.cancelled():
                task.result()

    def _not_begun(self) -> list[_Held]:
        """What no child has yet."""
        making = [held for held in self._held if held.stage is _Stage.MAKING]
        given = sorted((held for held in making if held.turn), key=lambda held: held.turn)
        return [*given[self._runner.count :], *(held for held in making if not held.turn)]

    # claims -------------------------------------------------------------------------------------------------------

    async def _claim_until_drained(self) -> None:
        """Claim, and when it is enough, wait for the end all the same: what runs is still to be kept alive."""
        claiming = asyncio.create_task(self._claim_for_ever(), name="claiming")
        draining = asyncio.create_task(self._draining.wait(), name="draining")
        try:
            await asyncio.wait({claiming, draining}, return_when=asyncio.FIRST_COMPLETED)
        finally:
            draining.cancel()
            await ended(claiming)
            self._drained.set()
        if not claiming.cancelled():
            claiming.result()
        await self._stop.wait()

    async def _claim_for_ever(self) -> None:
        tries = 0
        while True:
            try:
                await self._claim_once()
                tries = 0
            except Exception as error:  # noqa: BLE001 - the boundary to a transport: reported, and tried again
                _log.warning("no work to be had", error=f"{type(error).__name__}: {error}", tries=tries + 1)
                self._registered = False
                await self._clock.sleep(pause(tries, 0.5))
                tries += 1

    async def _claim_once(self) -> None:
        """One round of claims: what there is at once; else wait for work, or for room."""
        able = await self._able()
        self._room.clear()
        if len(self._held) < (1 + UNDELIVERED) * self._runner.count:
            if await self._claim_in_turn(able):
                return
            if able and self._in_hand < self._runner.count:
                self._take(await self._hub.claim(self._present, dict.fromkeys(able, 1), _A_WHILE))
                return
        if able:
            await self._room.wait()
        else:
            await self._clock.sleep(CHECK_S)

    async def _claim_in_turn(self, able: Sequence[str]) -> bool:
        waiting, before = list(self._appetite.in_turn(able)), len(self._held)
        while share := self._appetite.share(waiting, self._in_hand):
            claims = await self._hub.claim(self._present, share, _NOW)
            came = Counter(claim.job.profile for claim in claims)
            self._take(claims)
            self._appetite.given(came)
            more = [profile for profile, asked in share.items() if came[profile] >= asked]
            waiting = [profile for profile in waiting if profile not in share] + more
        return len(self._held) > before

    async def _able(self) -> tuple[str, ...]:
        """The profiles that can be claimed for; makes the hub know when they have changed."""
        able = tuple(profile for profile in await self._backends.able() if profile in self._worker.profiles)
        if not self._registered or tuple(self._present.profiles) != able:
            profiles = {profile: self._worker.profiles[profile] for profile in able}
            self._present = replace(self._worker, profiles=profiles)
            await self._hub.register(self._present)
            self._registered = True
            for profile, message in self._backends.complaints.items():
                _log.warning("a backend cannot work", profile=profile, why=message)
        return able

    def _take(self, claims: Sequence[Claim]) -> None:
        for claim in claims:
            held = _Held(claim, self._workdir.folder(claim))
            self._held[held] = None
            self._in_hand += 1
            held.task = asyncio.create_task(self._serve(held))

    # one job ------------------------------------------------------------------------------------------------------

    async def _serve(self, held: _Held) -> None:
        """Make and deliver one job. Its folder goes when the hub has answered."""
        try:
            await self._make_and_deliver(held)
            await self._workdir.remove(held.folder)
        finally:
            del self._held[held]
            self._room.set()

    async def _make_and_deliver(self, held: _Held) -> None:
        try:
            try:
                made = await self._make(held)
            finally:
                held.stage = _Stage.DELIVERING
                self._in_hand -= 1
                self._room.set()
            if made is None:
                await self._hand_back([held.claim])
            else:
                await self._delivery.result(Receipt(held.claim, made.path, made.notes))
        except BackendError as error:
            await self._report(held, error)
        except HubRefusedError as error:
            await self._report(held, BackendError(FailureType.TRANSIENT, error.reason, str(error)))
        except asyncio.CancelledError:
            if not held.stopped:
                raise
            await self._hand_back([held.claim])

    async def _make(self, held: _Held) -> Produced | None:
        """The result; None when the claim came for a backend that is left alone since it was asked for."""
        job = held.claim.job
        if self._backends.is_stopped(job.profile):
            return None
        if job.protocol != PROTOCOL:
            message = f"the job is of protocol {job.protocol}, this worker speaks {PROTOCOL}"
            raise BackendError(FailureType.MISCONFIGURED, failures.PROTOCOL_MISMATCH, message)
        function = self._backends.function(job)
        inputs = {checksum: await self._fetch(held.claim, checksum) for checksum in dict.fromkeys(job.inputs)}
        order = Order(job.media, job.kind, job.params, inputs, job.inputs)
        limits = Limits.of_job(job.timeout_s)
        began = self._clock.now()
        held.turn = next(self._given)
        try:
            made = await self._runner.run(
                Work(function, order, held.folder, job.profile, limits, held.claim), held.advance
            )
        except BackendError:
            raise
        except Exception as error:
            raise failures.of_exception(error) from error
        self._appetite.took(job.profile, self._clock.now() - began)
        return made

    async def _fetch(self, claim: Claim, checksum: str) -> Path:
        return await self._delivery.patiently(lambda: self._hub.fetch(claim, checksum))

    async def _report(self, held: _Held, error: BackendError) -> None:
        """Tell the hub of a failure; a backend that is misconfigured, or asked for a rest, is not claimed for."""
        profile = held.claim.job.profile
        _log.warning("a job failed", job=held.claim.job.job_id, profile=profile, code=error.code, why=error.message)
        if error.type is FailureType.MISCONFIGURED:
            self._backends.stop(profile, error.message)
        if error.retry_after_s > 0:
            self._backends.rest(profile, error.retry_after_s)
        with suppress(HubRefusedError):  # not ours any more: then nobody wants to know
            await self._delivery.failure(held.claim, error)

    async def _redeliver(self, receipt: Receipt) -> None:
        try:
            answer = await self._delivery.result(receipt)
        except HubRefusedError as error:
            answer = error.reason
        _log.info("delivered a result of an earlier run", job=receipt.claim.job.job_id, answer=answer)
        await self._workdir.remove(receipt.path.parent)

    # heartbeats ---------------------------------------------------------------------------------------------------

    async def _beat_for_ever(self) -> None:
        while True:
            await self._clock.sleep(self._heartbeat_s)
            if held := list(self._held):
                await self._beat(held)

    async def _beat(self, held: Sequence[_Held]) -> None:
        try:
            answers = await self._hub.heartbeat(self._present, [one.line for one in held])
        except Exception as error:  # noqa: BLE001 - the boundary to a transport: reported, and the next beat tries
            _log.warning("a heartbeat was lost", error=f"{type(error).__name__}: {error}")
            self._registered = False
            return
        for one, answer in zip(held, answers, strict=True):
            if answer is Answer.STOP and one.stage is _Stage.MAKING and one.task is not None:
                one.stopped = True
                one.task.cancel()

    # the end ------------------------------------------------------------------------------------------------------

    async def _wind_down(self) -> None:
        """End what is being made and hand it back; give results on their way a moment; say goodbye."""
        making = [held for held in self._held if held.stage is _Stage.MAKING]
        for held in making:
            held.task.cancel() if held.task is not None else None
        delivering = [held.task for held in self._held if held.stage is _Stage.DELIVERING and held.task is not None]
        for held in making:
            await ended(held.task)
            await self._workdir.remove(held.folder)
        try:
            async with asyncio.timeout(GRACE_S):
                await self._hand_back([held.claim for held in making])
                if rest := [*delivering, *self._recovering]:
                    await asyncio.wait(rest)
                await self._hub.goodbye(self._present)
        except TimeoutError:
            _log.warning("results wait on disk for the next start", results=len(delivering) + len(self._recovering))
        except Exception as error:  # noqa: BLE001 - the boundary to a transport: reported; silence will tell the hub
            _log.warning("the hub did not hear the goodbye", error=f"{type(error).__name__}: {error}")
        for task in [*delivering, *self._recovering]:
            await ended(task)

    async def _hand_back(self, claims: Sequence[Claim]) -> None:
        if not claims:
            return
        try:
            await self._hub.hand_back(self._present, claims)
        except Exception as error:  # noqa: BLE001 - the boundary to a transport: reported; silence will tell the hub
            _log.warning("claims could not be handed back", error=f"{type(error).__name__}: {error}")
