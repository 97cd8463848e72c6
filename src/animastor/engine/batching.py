"""Batches: natural ones (what arrived while the one before was served), and halving to find the member at fault.

No timer is involved (STORAGE, shape): under load batches grow by themselves, and a lone call is served at once.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

from animastor.engine.errors import EngineStoppedError
from animastor.engine.ports import ArtifactStoreUnavailableError, StorageUnavailableError

In = TypeVar("In")
Out = TypeVar("Out")

NOBODYS_FAULT = (StorageUnavailableError, ArtifactStoreUnavailableError)  # splitting the batch would not help


@dataclass(frozen=True, slots=True)
class Fault:
    """The answer of a member that a batch could not be served with."""

    error: Exception


class Batcher(Generic[In, Out]):
    """Collects single calls into batches of at most `limit`; `run` serves them until it is cancelled."""

    def __init__(self, serve: Callable[[Sequence[In]], Awaitable[Sequence[Out]]], limit: int) -> None:
        self._serve = serve
        self._limit = limit
        self._arrived: list[tuple[In, asyncio.Future[Out]]] = []
        self._event = asyncio.Event()
        self._open = True

    async def __call__(self, item: In) -> Out:
        """The answer of the batch that this item goes into. Raises what serving raised, or `EngineStoppedError`."""
        if not self._open:
            raise EngineStoppedError
        future: asyncio.Future[Out] = asyncio.get_running_loop().create_future()
        self._arrived.append((item, future))
        self._event.set()
        return await future

    async def run(self) -> None:
        """Serve batches. Raises `StorageUnavailableError`, after its callers were told; it may be run again then."""
        self._open = True
        try:
            while True:
                await self._event.wait()
                await asyncio.sleep(0)  # whoever is ready to call, joins
                batch, self._arrived = self._arrived[: self._limit], self._arrived[self._limit :]
                if not self._arrived:
                    self._event.clear()
                await self._serve_batch(batch)
        finally:
            self._open = False
            _refuse(self._arrived, EngineStoppedError())
            self._arrived = []

    async def _serve_batch(self, batch: Sequence[tuple[In, asyncio.Future[Out]]]) -> None:
        try:
            answers = await self._serve([item for item, _ in batch])
        except StorageUnavailableError as error:
            _refuse(batch, error)
            raise
        except Exception as error:  # noqa: BLE001 - every caller of the batch is told
            _refuse(batch, error)
            return
        except BaseException:
            _refuse(batch, EngineStoppedError())
            raise
        for (_, future), answer in zip(batch, answers, strict=True):
            if not future.done():
                future.set_result(answer)


def _refuse(batch: Sequence[tuple[object, asyncio.Future[Out]]], error: Exception) -> None:
    for _, future in batch:
        if not future.done():
            future.set_exception(error)


async def in_halves(
    serve: Callable[[Sequence[In]], Awaitable[Sequence[Out]]], members: Sequence[In]
) -> list[Out | Fault]:
    """Serve a batch; one that fails is split in halves down to the member that fails, which alone gets a `Fault`.

    Raises what is no member's fault (`StorageUnavailableError`, `ArtifactStoreUnavailableError`).
    """
    if not members:
        return []
    try:
        return list(await serve(members))
    except NOBODYS_FAULT:
        raise
    except Exception as error:  # noqa: BLE001 - given to the caller as the member's answer
        if len(members) == 1:
            return [Fault(error)]
    middle = len(members) // 2
    return [*await in_halves(serve, members[:middle]), *await in_halves(serve, members[middle:])]
