"""Bringing results and failures to the hub, for as long as it takes.

What the hub refuses is over. Everything else that goes wrong on the way (it cannot be reached, its database or its
store is away) is tried again, later and later, while the file waits on disk.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import replace
from itertools import count
from random import Random
from typing import TypeVar

import structlog

from animastor.protocol import Claim, Clock, Hub, HubRefusedError, Uploaded
from animastor.workers.backend import BackendError
from animastor.workers.failures import LONGEST_MESSAGE
from animastor.workers.receipts import Receipt

FIRST_S, LONGEST_S = 0.25, 10.0  # seconds between two tries
ARTIFACT_GONE = "artifact_gone"  # the store had begun to collect these very bytes: upload them again

T = TypeVar("T")
_log = structlog.get_logger("animastor.worker")


class Delivery:
    """Delivers for one worker. `random` spreads the tries of many workers."""

    def __init__(self, hub: Hub, clock: Clock, random: Random) -> None:
        self._hub, self._clock, self._random = hub, clock, random

    async def result(self, receipt: Receipt) -> str:
        """Upload the file and finish the job; the hub's answer. The file itself stays.

        While the store collects these very bytes, they are uploaded again and again, later and later. Raises
        `HubRefusedError`, also when the file is gone.
        """
        for tries in count():
            uploaded = await self.patiently(lambda: self._upload(receipt))
            answer = await self.patiently(lambda: self._hub.finish(receipt.claim, uploaded))  # noqa: B023 - awaited here
            if answer != ARTIFACT_GONE:
                return answer
            await self._clock.sleep(pause(tries, self._random.random()))
        raise AssertionError("it goes on until there is an answer")

    async def _upload(self, receipt: Receipt) -> Uploaded:
        try:
            uploaded = await self._hub.upload(receipt.claim, receipt.path)
        except Exception as error:
            if isinstance(error, HubRefusedError) or receipt.path.exists():
                raise
            raise HubRefusedError(ARTIFACT_GONE, "the finished file is not there any more") from error
        return replace(uploaded, notes=receipt.notes) if receipt.notes else uploaded

    async def failure(self, claim: Claim, error: BackendError) -> str:
        """Report a failure; the hub's answer. Raises `HubRefusedError`."""
        message = error.message[:LONGEST_MESSAGE]
        return await self.patiently(lambda: self._hub.fail(claim, error.type, error.code, message))

    async def patiently(self, call: Callable[[], Awaitable[T]]) -> T:
        """Make a call until the hub answers or refuses."""
        tries = 0
        while True:
            try:
                return await call()
            except HubRefusedError:
                raise
            except Exception as error:  # noqa: BLE001 - the boundary to a transport: reported, and tried again
                _log.warning("the hub does not answer", error=f"{type(error).__name__}: {error}", tries=tries + 1)
            await self._clock.sleep(pause(tries, self._random.random()))
            tries += 1


def pause(tries: int, draw: float) -> float:
    """Seconds before the next try: doubling from `FIRST_S` to `LONGEST_S`, half of it by chance (`draw` in [0, 1))."""
    full: float = min(LONGEST_S, FIRST_S * 2 ** min(tries, 16))
    return full * (0.5 + draw / 2)
