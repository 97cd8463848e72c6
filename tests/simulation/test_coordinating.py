"""What holds the store on a real server against the one in memory."""

from __future__ import annotations

from random import Random
from types import SimpleNamespace
from typing import Any

import pytest

from animastor.coordination import Limits, MemoryCoordination
from animastor.protocol import Clock

from .coordinating import Memory, RepeatingLink
from .running import prepare, run
from .stores import at_once

SEED = 2


class Forgetful(MemoryCoordination):
    """Loses everything whenever somebody was admitted."""

    async def admit(self, candidates: Any) -> Any:
        answers = await super().admit(candidates)
        self.lose()
        return answers


class Another(Memory):
    """A kind of store whose calls are right, or not."""

    name = "another"

    def __init__(self, make: type[MemoryCoordination]) -> None:
        self._make = make

    def open(self, clock: Clock, limits: Limits, *, window: bool, **more: Any) -> Any:
        return self._make(clock, limits, window=window)


def test_a_store_that_answers_as_memory_does_tells_the_same_story() -> None:
    prepare()
    assert run(SEED, kind=Another(MemoryCoordination)).error == ""


def test_a_store_that_acts_otherwise_is_noticed_where_its_story_leaves_the_one_in_memory() -> None:
    prepare()
    report = run(SEED, kind=Another(Forgetful))
    assert report.apart
    assert report.error.startswith("another story: ") or report.error.endswith("(in memory: all is well)")


class Answers:
    """A server that gives one answer after the other."""

    def __init__(self, *answers: bytes) -> None:
        self._answers = list(answers)
        self.times: list[str] = []

    def execute_command(self, _command: str, _sha: str, _keys: int, _root: str, time: str, *_args: Any) -> bytes:
        self.times.append(time)
        return self._answers.pop(0)


class Always(Random):
    """Draws the same."""

    def __init__(self, *draws: float) -> None:
        super().__init__()
        self._draws = list(draws)

    def random(self) -> float:
        return self._draws.pop(0)


def link(client: Answers, *draws: float) -> tuple[RepeatingLink, list[str]]:
    faults: list[str] = []
    return RepeatingLink(client, Always(*draws), lambda number, message: faults.append(f"{number}: {message}")), faults


def call(over: RepeatingLink, name: str, time: str) -> Any:
    return at_once(over.run(SimpleNamespace(name=name, sha="sha"), ["root"], [time, "me", "id"]))


def test_a_call_that_is_executed_twice_gives_its_first_answer() -> None:
    client = Answers(b"S", b"R")
    over, faults = link(client, 0.99, 0.5)
    assert call(over, "enqueue", "1.0") == b"S"
    assert client.times == ["1.0", "1.0"]
    assert faults == []


def test_a_settlement_that_is_executed_twice_and_acts_twice_is_noticed() -> None:
    over, faults = link(Answers(b'[1,["d"]]', b"[0,[false]]"), 0.99, 0.5)
    assert call(over, "settle", "1.0") == b'[1,["d"]]'
    assert [fault[:2] for fault in faults] == ["6:"]


@pytest.mark.parametrize(("again", "noticed"), [(b'["5",[["1-1",{}]]]', False), (b'["5",[["1-2",{}]]]', True)])
def test_a_call_for_jobs_comes_once_more_when_others_have_acted(again: bytes, noticed: bool) -> None:
    first = b'["5",[["1-1",{}]]]'
    client = Answers(first, again, b"")
    over, faults = link(client, 0.5, 0.0, 0.0, 0.0)
    assert call(over, "claim", "1.0") == first
    assert call(over, "era", "2.0") == b""
    assert client.times == ["1.0", "2.0", "2.0"], "the late one has the time of its coming"
    assert bool(faults) is noticed


def test_a_call_that_was_given_nothing_does_not_come_once_more() -> None:
    client = Answers(b'["5",[]]', b"")
    over, _ = link(client, 0.5, 0.0, 0.0, 0.0)
    call(over, "claim", "1.0")
    call(over, "era", "2.0")
    assert client.times == ["1.0", "2.0"]
