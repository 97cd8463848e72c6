"""Checksums by a rotating pass: slowly, and few damaged bytes are given up while many are a person's to decide."""

from __future__ import annotations

from collections.abc import Sequence
from random import Random
from typing import Any

import pytest

from animastor.engine.alarms import Alarm
from animastor.engine.reasons import Reason
from animastor.engine.verifying import RATE, Verification
from virtual_clock import VirtualClock


class _Shelf:
    """Artifacts of one size, some of them damaged: storage, artifact store and observer in one."""

    def __init__(self, clock: VirtualClock, count: int, damaged: int, size: int) -> None:
        self.kept = {f"{n:064x}": size for n in range(count)}
        self.bad = set(list(self.kept)[:damaged])
        self.clock = clock
        self.read: list[tuple[float, int]] = []
        self.deleted: list[str] = []
        self.alarms: list[Alarm] = []

    async def artifacts_after(self, after: str, limit: int) -> Sequence[tuple[str, str, int]]:
        return [(one, ".x", size) for one, size in sorted(self.kept.items()) if one > after][:limit]

    async def whole(self, checksum: str, suffix: str) -> bool:
        self.read.append((self.clock.now(), self.kept[checksum]))
        return checksum not in self.bad

    async def delete(self, checksum: str, suffix: str) -> None:
        self.deleted.append(checksum)
        del self.kept[checksum]

    async def bytes_missing(self, checksums: Sequence[str]) -> int:
        return len(checksums)

    async def recovered(self, reason: Reason, **details: int | float) -> None:
        assert reason is Reason.CORRUPT_ARTIFACT


def _verification(shelf: Any) -> Verification:
    return Verification(
        storage=shelf, artifacts=shelf, observer=shelf, report=shelf.alarms.append, clock=shelf.clock, rng=Random(1)
    )


@pytest.mark.parametrize(
    ("count", "damaged", "gone", "asked"),
    [(5, 1, 1, False), (60, 2, 0, True), (400, 4, 4, False), (3000, 12, 0, True), (40, 40, 0, True)],
)
def test_few_damaged_artifacts_are_given_up_and_of_many_none(count: int, damaged: int, gone: int, asked: bool) -> None:
    clock = VirtualClock()
    shelf = _Shelf(clock, count, damaged, 10)

    async def play() -> None:
        assert await _verification(shelf).look() == gone

    clock.run(play())
    assert len(shelf.deleted) == gone
    assert [one.reason for one in shelf.alarms] == [Reason.CORRUPT_ARTIFACT] * asked


def test_no_second_sees_more_than_its_allowance_read() -> None:
    clock = VirtualClock()
    shelf = _Shelf(clock, 300, 0, 4_000_000)

    async def play() -> None:
        verification = _verification(shelf)
        for _ in range(4):
            await verification.look()
            await clock.sleep(60.0)

    clock.run(play())
    assert len(shelf.read) > 100
    for at, _ in shelf.read:
        assert sum(size for when, size in shelf.read if at <= when < at + 1.0) <= 2 * RATE
        assert sum(size for when, size in shelf.read if when == at) <= RATE
