"""Turns: what one of several engines at a time does, so that none does another's work again (CONTRACT 11).

A turn is a lock with a fence: it is renewed while its work goes on and looked at before each effect. Losing it costs
only repeated work, as each effect is conditional all the same; so a look that asks nobody is enough while the turn is
young, and a crash holds the others up for `TURN_S` at most.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from animastor.engine.ports import Coordination, CoordinationUnavailableError
from animastor.engine.reaching import Reach
from animastor.protocol import Clock

TURN_S = 4.0
YOUNG = 0.5  # of its length: so long after it was taken or renewed nobody is asked


class TurnLostError(Exception):
    """Raised when another engine may have begun the same work: it is left to that one."""


class Turn:
    """Turns that were taken together, each under its name; `missed` are those that others have.

    `again`: somebody wanted one of them before it was ended, and was sent away: look again for them.
    """

    def __init__(
        self, coordination: Coordination, clock: Clock, reach: Reach, who: str, answers: Sequence[tuple[str, float]]
    ) -> None:
        self._coordination = coordination
        self._clock = clock
        self._reach = reach
        self._who = who
        self._held = [name for name, left in answers if not left]
        self._since = clock.now()
        self._lost = False
        self.missed = {name: left for name, left in answers if left}
        self.again = False

    def has(self, name: str) -> bool:
        """Whether this one was taken, and is not lost."""
        return not self._lost and name in self._held

    async def check(self) -> None:
        """Before each effect. Raises `TurnLostError`, and `CoordinationUnavailableError`."""
        if not await self.is_ours():
            raise TurnLostError

    async def is_ours(self) -> bool:
        """Whether they still are; renews them when it is time to."""
        now = self._clock.now()
        if self._held and not self._lost and not 0 <= now - self._since < YOUNG * TURN_S:
            self._lost = not all(await self._coordination.keep_turns(self._held, self._who, TURN_S))
            self._since = now
        return not self._lost

    async def rest(self, seconds: float) -> None:
        """The work is done, and nobody shall begin it again for so long."""
        if self._held and not self._lost:
            await self._coordination.keep_turns(self._held, self._who, seconds)

    async def end(self) -> None:
        """Let go of them. A store that is away forgets them by itself."""
        if not self._held:
            return
        try:
            self.again = any(await self._coordination.end_turns(self._held, self._who))
        except CoordinationUnavailableError as error:
            self._reach.lost(error)


class Turns:
    """Takes turns for one engine. `new_word` never gives the same word twice, in any engine."""

    def __init__(self, coordination: Coordination, clock: Clock, reach: Reach, new_word: Callable[[], str]) -> None:
        self._coordination = coordination
        self._clock = clock
        self._reach = reach
        self._new_word = new_word

    async def take(self, names: Sequence[str]) -> Turn:
        """Take those that are free, in one step. Raises `CoordinationUnavailableError`."""
        who = self._new_word()
        left = await self._coordination.take_turns(names, who, TURN_S) if names else ()
        return Turn(self._coordination, self._clock, self._reach, who, list(zip(names, left, strict=True)))
