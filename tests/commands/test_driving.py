"""A home that is driven: what the composition root does beside putting parts together."""

from __future__ import annotations

from pathlib import Path

import pytest

from animastor import app
from animastor.config import Settings


async def test_a_process_that_drives_a_home_is_tuned_as_the_measured_one_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tuned: list[bool] = []
    monkeypatch.setattr(app, "tune", lambda: tuned.append(True))
    settings = Settings(home=tmp_path / "home", jobs=1)
    async with app.reading(settings, writable=True) as opened, app.driving(opened, lambda alarm: None) as drive:
        assert tuned == [True]
        assert drive.children.count == 1
