"""What `status` says of requests that are not finished."""

from __future__ import annotations

import io
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from animastor.commands.status import _how, _say_requests, _under_way
from animastor.display import PlainDisplay
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


def test_a_make_that_was_repeated_is_told_once() -> None:
    out = io.StringIO()
    now = {"fraction": 0.17, "state": RequestState.OPEN, "idle": False, "worked_on": True}
    _say_requests([{**now, "request": 1}, {**now, "request": 2}], PlainDisplay(out, lambda: 0.0))
    assert out.getvalue() == "  17% of what was asked for (requests 1 and 2) is there; being made now.\n"
