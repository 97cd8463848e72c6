"""What these tests share with those of the layers: the engine's stage, and what real child processes need."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

for folder in ("engine", "workers"):
    sys.path.insert(0, str(Path(__file__).parents[1] / folder))

from interleaving import HOOKS  # noqa: E402 - found by the path that was just made


@pytest.fixture(autouse=True)
def _every_interleaving_comes() -> Iterator[None]:
    """A test whose interleaving did not happen, or failed where the code under test catches it, has shown nothing."""
    HOOKS.clear()
    yield
    assert [hook.name for hook in HOOKS if not hook.has_come] == []
    assert [hook.error for hook in HOOKS if hook.error is not None] == []
