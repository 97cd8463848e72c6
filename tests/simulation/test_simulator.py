"""A short run of the simulator, and that a seed replays exactly. Long ones: `make simulate`, `make mutants`."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from coordination_servers import missing

HERE = Path(__file__).parent
SECONDS = 60  # in which seeds are begun, on all cores
LEAST = 800  # seeds, even where they take longer
MOST = 2500  # however fast the machine is: the first ones, which `make simulate SEEDS=2500` tries on any machine
ON_VALKEY = 15  # the same, of the slower form
MOST_ON_VALKEY = 300


def simulation(*arguments: str) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "PYTHONHASHSEED": "0", "PYTHONPATH": str(HERE.parent)}
    return subprocess.run(
        [sys.executable, "-m", "simulation", *arguments], env=environment, capture_output=True, text=True, check=False
    )


@pytest.mark.slow
@pytest.mark.timeout(SECONDS * 50)
def test_whatever_the_seed_decides_the_invariants_hold_and_every_request_ends() -> None:
    ran = simulation("--seeds", str(MOST), "--seconds", str(SECONDS), "--least", str(LEAST), "--stop")
    assert ran.returncode == 0, ran.stdout[-6000:] + ran.stderr[-2000:]


@pytest.mark.slow
@pytest.mark.timeout(SECONDS * 50)
@pytest.mark.skipif(bool(missing("valkey")), reason="see test_real_servers.py")
def test_with_the_real_scripts_each_seed_tells_the_same_story_as_in_memory() -> None:
    ran = simulation(
        "--store", "valkey", "--seeds", str(MOST_ON_VALKEY), "--seconds", str(ON_VALKEY), "--least", "8", "--stop"
    )
    assert ran.returncode == 0, ran.stdout[-6000:] + ran.stderr[-2000:]
    assert "told the same story on valkey and in memory, 0 another one" in ran.stdout


def test_a_seed_replays_exactly() -> None:
    first, second = (simulation("--seed", "999").stdout for _ in range(2))
    assert len(first.splitlines()) > 100
    assert first == second
