"""What `status` says of requests that are not finished."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from animastor.commands.status import _how, _under_way
from animastor.engine.ports import RequestProgress, RequestRow, Scope
from animastor.engine.states import RequestState
from animastor.protocol import BookKey

ASKED = RequestRow(7, BookKey(1), Scope(), ("audio",), RequestState.OPEN, "make", 0.0)


class Half:
    """A storage in which half of everything is there."""

    async def progress(self, request_id: int) -> RequestProgress:
        """Half of it."""
        return RequestProgress(ASKED, 0.5, ())


@pytest.mark.parametrize(
    ("distributed", "said"), [(False, "interrupted: run make again to go on"), (True, "made by those who serve")]
)
async def test_a_fleet_is_not_taken_for_a_home_that_nobody_holds(tmp_path: Path, distributed: bool, said: str) -> None:
    opened: Any = SimpleNamespace(storage=Half(), settings=SimpleNamespace(distributed=distributed, home=tmp_path))
    assert _how(await _under_way(opened, ASKED)) == said
