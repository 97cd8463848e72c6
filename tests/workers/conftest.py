"""Real children for the tests of this folder."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any

import pytest
from children_kit import HERE

from animastor.workers.backend import Order
from animastor.workers.children import Children
from animastor.workers.work import Limits, Work


@pytest.fixture
async def children(tmp_path: Path) -> AsyncIterator[Children]:
    """Two children; all of them are gone when the test is over."""
    pool = Children(2, tmp_path / "scratch", environment={"PYTHONPATH": str(HERE)})
    yield pool
    await pool.aclose()
    assert pool.pids == ()


@pytest.fixture
def ordered(tmp_path: Path) -> Callable[..., Work]:
    """Work for a function of `child_backends`, each in a folder of its own."""
    made = 0

    def work(function: str, *, profile: str = "p", limits: Limits | None = None, **structure: Any) -> Work:
        nonlocal made
        made += 1
        order = Order("audio", "chunk", structure)
        named = f"child_backends:{function}"
        return Work(named, order, tmp_path / f"job-{made}", profile, limits or Limits(20.0, 60.0, 10**9))

    return work
