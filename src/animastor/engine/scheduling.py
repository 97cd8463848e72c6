"""The tick: woken by events, and every few seconds; starts what can start and ends what is over (DESIGN, the way).

A tick with nothing to do asks a few indexes and is over. Errors of one pair never stop another.
"""

from __future__ import annotations

from dataclasses import dataclass

from animastor.engine.config import EngineConfig
from animastor.engine.dispatching import Dispatcher, Round
from animastor.engine.eras import Eras
from animastor.engine.gate import Gate
from animastor.engine.isolating import Isolation
from animastor.engine.ports import Circuit, Coordination, PairStatus, Storage
from animastor.engine.replanning import Replanner
from animastor.engine.waking import Bell, Changes
from animastor.media.registry import Registry
from animastor.protocol import Clock, Pair

BOOKS_FRESH_S = 1.0  # how old the count of books with open requests may be
NOBODY_S = 0.25  # between looks while there is no worker at all: the first one is on its way
WELCOME_S = 60.0  # how often what waits for a worker is woken anyway: another replica may have said so too late
FINISH_S = 1.0  # how long an ended request may go unnoticed while others are busy


@dataclass(slots=True)
class _Tick:
    """What a tick did, to decide when the next one is due."""

    replanned: int = 0
    started: int = 0
    moved: int = 0
    next_wake: float | None = None

    @property
    def quiet(self) -> bool:
        """Nothing moved."""
        return not (self.replanned or self.started or self.moved)


class Scheduler:
    """Runs ticks until it is cancelled."""

    def __init__(
        self,
        *,
        storage: Storage,
        coordination: Coordination,
        registry: Registry,
        dispatcher: Dispatcher,
        replanner: Replanner,
        eras: Eras,
        gate: Gate,
        isolation: Isolation,
        clock: Clock,
        bell: Bell,
        changes: Changes,
        config: EngineConfig,
    ) -> None:
        self._storage = storage
        self._coordination = coordination
        self._dispatcher = dispatcher
        self._replanner = replanner
        self._eras = eras
        self._gate = gate
        self._isolation = isolation
        self._clock = clock
        self._bell = bell
        self._changes = changes
        self._config = config
        self._pairs = [Pair(media.name, lane) for lane in config.lanes for media in registry]
        self._served: frozenset[str] = frozenset()
        self._welcomed_at = clock.now()
        self._books = 1
        self._books_at = self._finished_at = float("-inf")

    async def run(self) -> None:
        """Tick for ever. Raises `StorageUnavailableError`."""
        while True:
            await self._bell.wait(await self.tick())

    async def tick(self) -> float:
        """One tick; how many seconds the next one may wait at most."""
        tick = _Tick()
        await self._isolation.step("saying that a server is there", self._eras.present())
        if await self._gate.look() is None:
            await self._isolation.step("waking what waited", self._wake_later(tick))
            await self._isolation.step("replanning", self._replan(tick))
            await self._isolation.step("dispatching", self._dispatch(tick))
        await self._isolation.step("finishing requests", self._finish(tick))
        if tick.replanned or tick.started or tick.moved:
            self._changes.happened()
        return self._pause(tick)

    def _pause(self, tick: _Tick) -> float:
        if tick.replanned or tick.moved:  # what was moved without work may let others move, or end a request
            return 0.0
        if not self._served:
            return min(NOBODY_S, self._config.tick_s)
        if tick.next_wake is None:
            return self._config.tick_s
        return min(self._config.tick_s, max(0.0, tick.next_wake - self._clock.now()))

    async def _wake_later(self, tick: _Tick) -> None:
        tick.next_wake = await self._storage.wake_later()

    async def _replan(self, tick: _Tick) -> None:
        tick.replanned = await self._replanner.replan()

    async def _dispatch(self, tick: _Tick) -> None:
        statuses = await self._coordination.pairs(self._pairs)
        await self._welcome(frozenset().union(*(status.profiles for status in statuses)))
        for status in statuses:
            if _may_start(status, self._clock.now()):
                pair = f"dispatching {status.pair.media}/{status.pair.lane}"
                await self._isolation.step(pair, self._dispatch_pair(status, tick))

    async def _dispatch_pair(self, status: PairStatus, tick: _Tick) -> None:
        done: Round = await self._dispatcher.dispatch(status, await self._sharing())
        tick.started += done.started
        tick.moved += done.moved

    async def _welcome(self, served: frozenset[str]) -> None:
        """What waited for a worker of a profile that is served since the last look, waits no more."""
        gained = served - self._served
        if self._clock.now() - self._welcomed_at >= WELCOME_S:
            gained, self._welcomed_at = served, self._clock.now()
        if gained:
            await self._storage.clear_no_worker(gained)
        self._served = served

    async def _sharing(self) -> int:
        """How many books have open requests: the free slots are shared among them."""
        if self._clock.now() - self._books_at >= BOOKS_FRESH_S:
            self._books = len({request.book_key for request in await self._storage.requests()})
            self._books_at = self._clock.now()
        return self._books

    async def _finish(self, tick: _Tick) -> None:
        if not tick.quiet and self._clock.now() - self._finished_at < FINISH_S:
            return
        self._finished_at = self._clock.now()
        if await self._storage.finish_requests():
            self._changes.happened()


def _may_start(status: PairStatus, now: float) -> bool:
    """A pair with no free slot, no able worker, or a breaker that has not cooled is not asked."""
    cooling = status.circuit is Circuit.OPEN and now < status.circuit_until
    return status.free > 0 and bool(status.profiles) and not cooling
