"""Four schedulers and four workers make thousands of assets while everything fails that can (CONTRACT 17)."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from random import Random

import pytest
from chaos_faults import FAULTS, MEDIA, Chaos, Spans
from chaos_fleet import FAST, Fleet, Member
from chaos_oracle import check, check_cancelled
from chaos_runs import happened, runs
from toys import plain_book

SHORT = Spans(valkey=10.0, schedulers=15.0, paused=15.0, long=20.0, soon=200.0)
FULL = Spans(valkey=10.0, schedulers=60.0, paused=75.0, long=80.0, soon=180.0)
MakeFleet = Callable[[Mapping[str, str]], Fleet]


def _members(fleet: Fleet, random: Random, spans: Spans) -> list[Member]:
    """One of each kind loses answers of commits, one of each has a clock that is wrong by an hour: the latter two."""
    told = {
        "CHAOS_TWICE": "0.1",
        "CHAOS_LATE": "0.05",
        "CHAOS_LONG_S": str(spans.long),
        "CHAOS_SEED": str(random.randrange(2**31)),
    }
    wrong = []
    for kind, offset in (("replica", "3600"), ("worker", "-3600")):
        fleet.member(kind, **told)
        fleet.member(kind, **told)
        fleet.member(kind, lossy=True, **told)
        wrong.append(fleet.member(kind, CHAOS_CLOCK_OFFSET_S=offset, **told))
    for member in fleet.members:
        member.start()
    for member in fleet.members:
        member.until_serving()
    assert fleet.wire is not None
    fleet.wire.lose = lambda: random.random() < 0.02
    return wrong


def _survive(fleet: Fleet, random: Random, spans: Spans, *, scenes: int, timeout: float) -> None:
    """Two books are made while every fault is done once; a third is asked for, and cancelled in between."""
    wrong = _members(fleet, random, spans)
    requests = [
        fleet.ask(plain_book("tale", scenes=scenes), MEDIA)[1],
        fleet.ask(plain_book("short", scenes=scenes, units=1), MEDIA)[1],
    ]
    dropped, _ = fleet.ask(plain_book("dropped", scenes=200), MEDIA)
    fleet.until_ready(100, 600)
    names = [*FAULTS, "kill_one"]
    random.shuffle(names)
    chaos = Chaos(fleet, random, spans)
    chaos.run(names[:5])
    fleet.run("cancel", "dropped")
    cancelled_at = time.time()
    chaos.run(names[5:])
    for request in (*requests, *chaos.more):
        fleet.until_done(request, timeout)
    print({**check(fleet), **check_cancelled(fleet, dropped, cancelled_at)}, flush=True)
    _all_was_done(fleet, wrong)
    assert fleet.fallen() == []
    assert fleet.ready_of("tale") == fleet.ready_of("short") == 3 * scenes


def _all_was_done(fleet: Fleet, wrong: Sequence[Member]) -> None:
    """What goes on all the time went on, too; and whose clock is wrong said so and was given nothing."""
    assert fleet.wire is not None
    road = happened(fleet)
    assert all((fleet.wire.lost, road["doubled"], road["delayed"], road["emptied"])), (fleet.wire.lost, road)
    assert any(fleet.long_seen.iterdir()), "no job was as long as what is away"
    assert all(member.logged("off the database's") for member in wrong)
    assert not {run.member for run in runs(fleet)} & {member.pid for member in wrong}


@pytest.mark.slow
@pytest.mark.timeout(3000)  # a machine that does much else takes longer
def test_a_fleet_survives_everything_that_is_done_to_it(make_fleet: MakeFleet, seed: int) -> None:
    """With settings under which it recovers fast, so that the test ends soon."""
    _survive(make_fleet(FAST), Random(seed), SHORT, scenes=330, timeout=600)


@pytest.mark.chaos
@pytest.mark.timeout(3600)
@pytest.mark.parametrize("turn", range(3))
def test_a_fleet_survives_in_any_order(make_fleet: MakeFleet, seed: int, turn: int) -> None:
    _survive(make_fleet(FAST), Random(seed + turn), SHORT, scenes=700, timeout=600)


@pytest.mark.chaos
@pytest.mark.timeout(3600)
def test_a_fleet_with_the_settings_as_they_come_survives_longer_absences(make_fleet: MakeFleet, seed: int) -> None:
    _survive(make_fleet({}), Random(seed), FULL, scenes=700, timeout=900)
