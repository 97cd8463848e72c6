"""Fleet budgets (CONTRACT 9): they delay retries when many fail at once; a first attempt never asks.

A budget is a sliding window of what was spent, by book. No book may use more than half of one while another *has
retries*: while another book asked the same budget within its window, whether it got something or not.
"""

from __future__ import annotations

from collections import Counter, OrderedDict, deque
from collections.abc import Iterable
from itertools import islice

from animastor.coordination.limits import Limits
from animastor.protocol import BookKey, FailureType


class Budget:
    """So many retries within so many seconds."""

    def __init__(self, limit: int, period: float) -> None:
        self._limit = limit
        self._period = period
        self._spent: deque[tuple[float, BookKey]] = deque()
        self._by_book: Counter[BookKey] = Counter()
        self._asked: OrderedDict[BookKey, float] = OrderedDict()  # least recently asked first

    def ask(self, book: BookKey, now: float) -> None:
        """Note that a book has retries."""
        self._asked[book] = now
        self._asked.move_to_end(book)

    def allows(self, book: BookKey, now: float) -> bool:
        """Whether this book may spend one now."""
        self._forget(now)
        if len(self._spent) >= self._limit:
            return False
        return self._by_book[book] < max(1, self._limit // 2) or not self._another_asked(book)

    def spend(self, book: BookKey, now: float) -> None:
        """Take one."""
        self._spent.append((now, book))
        self._by_book[book] += 1

    def changes_at(self, now: float) -> float:
        """When what was spent or asked first leaves the window: before that, no refusal turns into a permission."""
        self._forget(now)
        oldest = [time for time, _ in islice(self._spent, 1)]
        oldest.extend(islice(self._asked.values(), 1))
        return min(oldest, default=float("inf")) + self._period

    def _another_asked(self, book: BookKey) -> bool:
        return any(other != book for other in islice(reversed(self._asked), 2))

    def _forget(self, now: float) -> None:
        while self._spent and self._spent[0][0] + self._period <= now:
            _, book = self._spent.popleft()
            self._by_book[book] -= 1
            if not self._by_book[book]:
                del self._by_book[book]
        while self._asked:
            book, asked = next(iter(self._asked.items()))
            if asked + self._period > now:
                return
            del self._asked[book]


class Budgets:
    """The budget of each failure type, and the one of all together."""

    def __init__(self, limits: Limits) -> None:
        self._all = Budget(limits.budget_all, limits.budget_all_period)
        self._types = {failure: Budget(limits.budget_per_type, limits.budget_type_period) for failure in FailureType}

    def ask(self, failures: Iterable[FailureType], book: BookKey, now: float) -> None:
        """Note that a book has retries of these types, before others of the same step spend."""
        for budget in self._named(failures):
            budget.ask(book, now)

    def spend(self, failures: Iterable[FailureType], book: BookKey, now: float) -> bool:
        """Take one of each named type and one of all together; or, when one of them is spent, take nothing."""
        budgets = self._named(failures)
        for budget in budgets:
            budget.ask(book, now)
        if not all(budget.allows(book, now) for budget in budgets):
            return False
        for budget in budgets:
            budget.spend(book, now)
        return True

    def changes_at(self, failure: FailureType, now: float) -> float:
        """Before this time a refusal of this type stays one."""
        return min(self._all.changes_at(now), self._types[failure].changes_at(now))

    def _named(self, failures: Iterable[FailureType]) -> list[Budget]:
        return [self._all, *(self._types[failure] for failure in failures)]
