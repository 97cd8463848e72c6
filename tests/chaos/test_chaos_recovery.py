"""How soon the work of a worker that was killed runs again (docs/operating.md, what happens when)."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from random import Random
from statistics import median

import pytest
from chaos_fleet import FAST, Fleet, Member, until
from chaos_runs import Run, runs
from toys import plain_book

from pace import slowness

FOREVER_S = "1000"
MakeFleet = Callable[[Mapping[str, str]], Fleet]


def _killed_at_work(fleet: Fleet, random: Random, victims: int, spread_s: float) -> list[float]:
    """Kill workers that each have one job, at any moment; seconds until each job is begun again by another one.

    No job ends: what runs again can only be what was lost.
    """
    keepers = [fleet.member("replica", CHAOS_PACE_S=FOREVER_S) for _ in range(2)]
    doomed = [fleet.member("worker", CHAOS_PACE_S=FOREVER_S) for _ in range(victims)]
    for member in (*keepers, *doomed):
        member.start()
    for member in (*keepers, *doomed):
        member.until_serving()
    fleet.ask(plain_book("tale", scenes=victims + len(keepers), units=1), ("sketch",))
    until(lambda: len(_held(fleet, doomed)) == victims, 300, "every worker to have a job", fleet.state)
    fleet.member("worker", jobs=victims, CHAOS_PACE_S=FOREVER_S).start().until_serving()
    killed: dict[str, float] = {}
    for member in doomed:
        time.sleep(random.random() * 2 * spread_s / victims)
        hash_ = _held(fleet, [member])[member.pid].hash
        member.kill()
        killed[hash_] = fleet.deeds.killed[member.pid]
    until(lambda: len(_again(fleet, killed)) == victims, 300, "every job to be begun again", fleet.state)
    taken = sorted(_again(fleet, killed).values())
    print(f"\n{victims} kills: median {median(taken):.1f} s, worst {taken[-1]:.1f} s", flush=True)
    return taken


def _held(fleet: Fleet, members: Sequence[Member]) -> dict[int, Run]:
    pids = {member.pid for member in members}
    return {run.member: run for run in runs(fleet) if run.member in pids}


def _again(fleet: Fleet, killed: Mapping[str, float]) -> dict[str, float]:
    """Seconds from the kill to the next run."""
    later = [run for run in runs(fleet) if run.start > killed.get(run.hash, float("inf"))]
    return {run.hash: run.start - killed[run.hash] for run in reversed(later)}


@pytest.mark.slow
@pytest.mark.timeout(1500)
def test_work_of_a_killed_worker_runs_again_within_8_s_where_a_fleet_recovers_fast(
    make_fleet: MakeFleet, seed: int
) -> None:
    """A machine that is slow at the moment takes longer; `make chaos` allows for nothing."""
    before = slowness()
    taken = _killed_at_work(make_fleet(FAST), Random(seed), 3, 4.0)
    assert max(taken) <= 8.0 * max(before, slowness())


@pytest.mark.chaos
@pytest.mark.timeout(900)
def test_work_of_20_killed_workers_runs_again_fast(make_fleet: MakeFleet, seed: int) -> None:
    assert max(_killed_at_work(make_fleet(FAST), Random(seed), 20, 20.0)) <= 8.0


@pytest.mark.chaos
@pytest.mark.timeout(900)
def test_work_of_20_killed_workers_runs_again_with_the_settings_as_they_come(make_fleet: MakeFleet, seed: int) -> None:
    taken = _killed_at_work(make_fleet({}), Random(seed), 20, 40.0)
    assert max(taken) <= 42.0
    assert median(taken) <= 37.0
