"""The tick: woken by events, and every few seconds; starts what can start and ends what is over (DESIGN, the way).

A tick with nothing to do is one look into the database (`Storage.outlook`), and over. Errors of one pair never stop
another.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from math import inf
from typing import TypeVar

from animastor.engine.completing import Successors
from animastor.engine.config import EngineConfig
from animastor.engine.dispatching import Dispatcher, Round
from animastor.engine.eras import Eras
from animastor.engine.gate import Gate
from animastor.engine.isolating import Isolation
from animastor.engine.ports import Coordination, Outlook, PairStatus, Storage
from animastor.engine.reasons import Reason
from animastor.engine.replanning import Replanner
from animastor.engine.starting import kept_out
from animastor.engine.turns import Turn, Turns
from animastor.engine.waking import Bell, Changes
from animastor.media.registry import Registry
from animastor.protocol import Clock, Pair

BOOKS_FRESH_S = 1.0  # how old the count of books with open requests may be
NOBODY_S = 0.25  # between looks while there is no worker at all: the first one is on its way
WELCOME_S = 60.0  # how often what waits for a worker is woken anyway: another replica may have said so too late
FINISH_S = 1.0  # how long an ended request may go unnoticed while others are busy
FINISH_ANYWAY_S = 60.0  # or when nothing happened here since the last look: another replica's last event may be lost

T = TypeVar("T")


@dataclass(slots=True)
class _Tick:
    """What a tick found and did, to decide when the next one is due. `due`: pairs with something due, None: unknown."""

    replanned: int = 0
    started: int = 0
    moved: int = 0
    wake_in_s: float | None = None
    unplanned: bool = False
    due: frozenset[Pair] | None = None
    again: bool = False  # somebody else wanted to do what this one did, and was sent away
    others_s: float = inf  # when another one's turn is over at the latest

    @property
    def quiet(self) -> bool:
        """Nothing moved."""
        return not (self.replanned or self.started or self.moved)


async def _given(answer: T | BaseException) -> T:
    """An answer that was asked for before it was needed. Raises what asking raised."""
    if isinstance(answer, BaseException):
        raise answer
    return answer


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
        successors: Successors,
        eras: Eras,
        gate: Gate,
        isolation: Isolation,
        turns: Turns,
        clock: Clock,
        bell: Bell,
        changes: Changes,
        config: EngineConfig,
    ) -> None:
        self._storage = storage
        self._coordination = coordination
        self._dispatcher = dispatcher
        self._replanner = replanner
        self._successors = successors
        self._eras = eras
        self._gate = gate
        self._isolation = isolation
        self._turns = turns
        self._clock = clock
        self._bell = bell
        self._changes = changes
        self._config = config
        self._pairs = [Pair(media.name, lane) for lane in config.lanes for media in registry]
        self._served: frozenset[str] = frozenset()
        self._welcomed_at = clock.now()
        self._begun: set[Pair] = set()
        self._books = 1
        self._books_at = self._finished_at = float("-inf")
        self._may_have_ended = True

    async def run(self) -> None:
        """Tick for ever. Raises `StorageUnavailableError`."""
        while True:
            self._may_have_ended |= await self._bell.wait(await self.tick())

    async def tick(self) -> float:
        """One tick; how many seconds the next one may wait at most."""
        tick = _Tick()
        # Side by side, as no read hangs on another; what was read is looked at only when it may be.
        here, found, statuses = await asyncio.gather(
            self._eras.present(),
            self._storage.outlook(self._pairs),
            self._coordination.pairs(self._pairs),
            return_exceptions=True,
        )
        answers = await self._isolation.step("saying that a server is there", _given(here))
        if answers and self._successors.owes:
            await self._isolation.step("catching up", self._successors.pay())
        if answers and await self._may_look() and await self._isolation.step("looking", self._look(tick, found)):
            await self._isolation.step("waking what waited", self._wake_later(tick))
            await self._isolation.step("replanning", self._replan(tick))
            await self._isolation.step("dispatching", self._dispatch(tick, statuses))
        await self._isolation.step("finishing requests", self._finish(tick))
        if tick.replanned or tick.started or tick.moved:
            self._changes.happened()
        return self._pause(tick)

    def _pause(self, tick: _Tick) -> float:
        # what was moved without work may let others move, or end a request
        if tick.again or tick.replanned or tick.moved:
            return 0.0
        if not self._served:
            return min(NOBODY_S, self._config.tick_s)
        longest = min(self._config.tick_s, tick.others_s)
        return longest if tick.wake_in_s is None else min(longest, tick.wake_in_s)

    async def _may_look(self) -> bool:
        """Only a look at the database can tell that its plans are this program's again."""
        return await self._gate.look() in (None, Reason.OTHER_PLANNER)

    async def _look(self, tick: _Tick, answer: Outlook | BaseException) -> None:
        found = await _given(answer)
        await self._gate.plans_are_ours(found.may_plan)
        if found.may_plan:
            tick.due, tick.unplanned, tick.wake_in_s = found.due, found.unplanned, found.wake_in_s
        else:
            tick.due = frozenset()

    async def _wake_later(self, tick: _Tick) -> None:
        if tick.wake_in_s == 0.0:
            await self._storage.wake_later()
            tick.moved, tick.due = tick.moved + 1, None  # when the next one is over, the next look tells

    async def _replan(self, tick: _Tick) -> None:
        if tick.unplanned or (self._replanner.asked and self._gate.may_plan):
            tick.replanned, tick.due = await self._replanner.replan(), None

    async def _dispatch(self, tick: _Tick, answer: Sequence[PairStatus] | BaseException) -> None:
        statuses = await (_given(answer) if tick.quiet else self._coordination.pairs(self._pairs))
        if await self._welcome(frozenset().union(*(status.profiles for status in statuses))):
            tick.due = None
        for status in statuses:
            if kept_out(status) is None and (tick.due is None or status.pair in tick.due):
                pair = f"{status.pair.media}/{status.pair.lane}"
                await self._isolation.step(f"dispatching {pair}", self._dispatch_in_turn(pair, status, tick))

    async def _dispatch_in_turn(self, name: str, status: PairStatus, tick: _Tick) -> None:
        taking, sharing = self._turns.take([name]), self._sharing()
        taken, books = await asyncio.gather(taking, sharing, return_exceptions=True)
        turn = await _given(taken)
        try:
            if turn.has(name):
                await self._dispatch_pair(status, await _given(books), turn, tick)
        finally:
            await turn.end()
        tick.again = tick.again or turn.again
        tick.others_s = min(tick.others_s, *turn.missed.values(), inf)

    async def _dispatch_pair(self, status: PairStatus, books: int, turn: Turn, tick: _Tick) -> None:
        done: Round = await self._dispatcher.dispatch(status, books, turn)
        tick.started += done.started
        tick.moved += done.moved
        if done.started and not done.last and status.pair not in self._begun:
            # Only its first jobs tell which profiles it needs, and so how many of it the workers can take.
            self._begun.add(status.pair)
            tick.again = True

    async def _welcome(self, served: frozenset[str]) -> bool:
        """What waited for a worker of a profile that is served since the last look, waits no more; whether any did."""
        gained = served - self._served
        if self._clock.now() - self._welcomed_at >= WELCOME_S:
            gained, self._welcomed_at = served, self._clock.now()
        cleared = await self._storage.clear_no_worker(gained) if gained else 0
        self._served = served
        return cleared > 0

    async def _sharing(self) -> int:
        """How many books have open requests: the free slots are shared among them."""
        if self._clock.now() - self._books_at >= BOOKS_FRESH_S:
            self._books = await self._storage.books_at_work()
            self._books_at = self._clock.now()
        return self._books

    async def _finish(self, tick: _Tick) -> None:
        """A request ends only after something happened: a ring, or what a tick moved."""
        since = self._clock.now() - self._finished_at
        self._may_have_ended |= not tick.quiet or since >= FINISH_ANYWAY_S
        if not self._may_have_ended or (not tick.quiet and since < FINISH_S):
            return
        self._finished_at, self._may_have_ended = self._clock.now(), False
        if await self._storage.finish_requests():
            self._changes.happened()
