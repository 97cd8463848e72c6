"""How much a worker asks for, and of what: pure arithmetic over what it holds.

Each free child gets a job, of the profiles in turn, merges first (they finish assets). Jobs that take a moment are
claimed one more per child ahead of time, so that no child waits between two of them; long ones never are, since
what is only held could be done elsewhere.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from animastor.protocol import MERGE

QUICK_S = 2.0  # jobs of a profile that lately took less than this are claimed ahead
_NEW = 0.3  # weight of the latest duration in the average


class Appetite:
    """What one worker with `count` children asks for. Knows whose turn it is, and how long jobs lately took."""

    def __init__(self, count: int) -> None:
        self._count = count
        self._turns: list[str] = []
        self._seconds: dict[str, float] = {}

    def room(self, profile: str, in_hand: int) -> int:
        """How many jobs of a profile may be claimed with so many in hand."""
        quick = self._seconds.get(profile, QUICK_S) < QUICK_S
        return max(0, self._count * (2 if quick else 1) - in_hand)

    def in_turn(self, able: Iterable[str]) -> tuple[str, ...]:
        """The profiles in the order in which they are asked for."""
        able = tuple(able)
        self._turns = [profile for profile in self._turns if profile in able]
        self._turns += [profile for profile in able if profile not in self._turns]
        return tuple(sorted(self._turns, key=lambda profile: profile != MERGE))

    def share(self, waiting: Sequence[str], in_hand: int) -> dict[str, int]:
        """What the next claim asks for: room for the first of those waiting, divided so that no more can come."""
        rooms = {profile: self.room(profile, in_hand) for profile in waiting}
        hungry = [profile for profile in waiting if rooms[profile] > 0]
        if not hungry:
            return {}
        least = min(rooms[profile] for profile in hungry)
        asked = hungry[:least]
        each, rest = divmod(least, len(asked))
        return {profile: each + (place < rest) for place, profile in enumerate(asked)}

    def given(self, counts: Mapping[str, int]) -> None:
        """Jobs of these profiles came: their next turn is after the others'."""
        came = [profile for profile in self._turns if counts.get(profile)]
        self._turns = [profile for profile in self._turns if profile not in came] + came

    def took(self, profile: str, seconds: float) -> None:
        """A job of this profile took so long."""
        before = self._seconds.get(profile, seconds)
        self._seconds[profile] = before + _NEW * (seconds - before)
