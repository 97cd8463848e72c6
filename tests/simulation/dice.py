"""What the seed decides besides the order: which faults come, when, and what people do.

Each kind of decision has a stream of its own, so that leaving one fault out (`without`) disturbs the others as little
as can be: that is what makes a failing run shrink. With `only`, nothing else comes. A seed likes some faults and knows
nothing of others, so that rare ones are not always drowned by frequent ones.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Sequence
from random import Random
from typing import TypeVar

T = TypeVar("T")
MOODS = (0.0, 0.0, 0.3, 1.0, 1.0, 3.0)  # how much a seed likes a fault


class Extremes(Random):
    """Draws that are mostly near one of their ends, such as of a back-off: hardly any, or nearly the longest."""

    def random(self) -> float:
        """From [0, 1)."""
        drawn = super().random()
        if drawn < 0.5:
            return drawn / 10.0
        return 1.0 - drawn / 50.0 if drawn < 0.8 else super().random()


class Dice:
    """Draws for one run. `happened` lists what came, as (number of the step, key, what)."""

    def __init__(
        self,
        seed: int,
        rates: dict[str, float],
        without: Collection[str] = (),
        only: Collection[str] | None = None,
    ) -> None:
        self.seed = seed
        self.without = frozenset(without)
        self.only = None if only is None else frozenset(only)
        moods = Random(f"{seed}/moods")
        self.moods = {fault: moods.choice(MOODS) for fault in sorted(rates)}
        self.rates = {fault: rate * self.moods[fault] for fault, rate in rates.items()}
        self.on = True
        self.came: Counter[str] = Counter()
        self.happened: list[tuple[int, str, str]] = []
        self.step = 0
        self._asked: Counter[str] = Counter()
        self._streams: dict[str, Random] = {}

    def stream(self, name: str) -> Random:
        """The generator of one kind of decision."""
        found = self._streams.get(name)
        if found is None:
            found = self._streams[name] = Random(f"{self.seed}/{name}")
        return found

    def strikes(self, fault: str, what: object = "") -> bool:
        """Whether a fault comes at this decision."""
        rate = self.rates[fault]
        if not rate or not self.on or self.stream(fault).random() >= rate:
            return False
        return self.comes(fault, what)

    def comes(self, fault: str, what: object = "") -> bool:
        """A fault that was drawn otherwise comes, unless this run is to do without it."""
        self._asked[fault] += 1
        key = f"{fault}:{self._asked[fault]}"
        if key in self.without or fault in self.without or (self.only is not None and key not in self.only):
            return False
        self.came[fault] += 1
        self.happened.append((self.step, key, str(what)))
        return True

    def seconds(self, name: str, choices: Sequence[float]) -> float:
        """A time."""
        return self.stream(name).choice(choices) * (0.5 + self.stream(name).random())

    def pick(self, name: str, options: Sequence[T]) -> T:
        """One of several."""
        return self.stream(name).choice(options)
