"""Any sequence of operations, given to the memory store and to a real server at once: every answer is the same, at
every moment, whatever has expired meanwhile. The model judges both (see test_coordination_machine)."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import pytest
from hypothesis import settings
from hypothesis.stateful import run_state_machine_as_test
from test_coordination_machine import CoordinationMachine

from animastor.coordination import Limits, MemoryCoordination
from animastor.protocol import Clock
from coordination_servers import direct_store

IN_ANY_ORDER = ("leases", "jobs")  # what an index finds has no order


class InStep:
    """Two stores as one: asks both, compares, and gives the first one's answer."""

    def __init__(self, first: Any, second: Any) -> None:
        self.both = (first, second)

    def lose(self) -> None:
        for store in self.both:
            store.lose()

    def __getattr__(self, name: str) -> Callable[..., Any]:
        async def ask(*args: object) -> Any:
            one, other = [await getattr(store, name)(*args) for store in self.both]
            assert plain(name, one) == plain(name, other), name
            return one

        return ask


def plain(name: str, answer: object) -> object:
    """An answer in a form in which equal ones are equal."""
    if isinstance(answer, Iterable) and not isinstance(answer, str):
        return sorted(map(repr, answer)) if name in IN_ANY_ORDER else list(answer)
    return answer


@pytest.mark.parametrize("kind", ["valkey"])
def test_every_answer_is_the_one_of_the_memory_store(kind: str, servers: Any):
    socket = servers.socket(kind)

    class Machine(CoordinationMachine):
        def make(self, clock: Clock, limits: Limits, *, window: bool) -> InStep:
            second = direct_store(socket, clock, limits, window=window)
            second.lose()
            return InStep(MemoryCoordination(clock, limits, window=window), second)

    run_state_machine_as_test(Machine, settings=settings(max_examples=40, stateful_step_count=50))
