"""The settings of an installation: what may be set, that each has its effect, and that the page tells the truth."""

from __future__ import annotations

from pathlib import Path

import pytest
from pydantic import ValidationError

from animastor.config import Settings, table
from animastor.media.registry import installed
from animastor.stores import coordination_limits

PAGE = Path(__file__).parents[2] / "docs" / "settings.md"


def test_the_page_holds_the_table_of_all_settings() -> None:
    assert table() in PAGE.read_text(encoding="utf-8"), "write `animastor.config.table()` into docs/settings.md"


def test_leases_live_as_long_as_the_settings_say() -> None:
    limits = coordination_limits(installed(), Settings(lease_ttl_s=90.0, silent_s=40.0, keeper_s=20.0))
    assert [limits.ttl_of(media.name) for media in installed()] == [90.0] * 3
    assert (limits.silence, limits.keeper) == (40.0, 20.0)


@pytest.mark.parametrize("told", [{"lease_ttl_s": 50.0}, {"silent_s": 40.0}, {"keeper_s": 15.0}])
def test_leases_that_could_run_out_under_a_live_job_are_refused_in_a_sentence(told: dict[str, float]) -> None:
    with pytest.raises(ValidationError, match="ANIMASTOR_LEASE_TTL_S must exceed 2 × ANIMASTOR_KEEPER_S"):
        Settings(**told)  # type: ignore[arg-type]
