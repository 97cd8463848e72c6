"""The table of backends names functions that exist, and says in a sentence what is missing."""

from __future__ import annotations

from pathlib import Path

import pytest
from loop_kit import World

from animastor.media import ffmpeg
from animastor.protocol import MERGE, FailureType
from animastor.workers import backends
from animastor.workers.backend import BackendError
from animastor.workers.backends import Backends, CpuBackend, cpu_backends
from virtual_clock import VirtualClock


def test_capacity_of_every_profile_is_the_number_of_children_that_they_share() -> None:
    table = Backends(cpu_backends(), VirtualClock())
    assert table.capacity(3) == dict.fromkeys((MERGE, "hibari", "espeak", "storyboard", "motion"), 3)


def test_everything_that_is_installed_with_the_package_is_well() -> None:
    clock = VirtualClock()
    table = Backends(cpu_backends(), clock)
    assert clock.run(table.able()) == (MERGE, "hibari", "espeak", "storyboard", "motion")
    assert table.complaints == {}


def test_what_is_missing_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def absent() -> str:
        raise ffmpeg.FfmpegMissingError("no ffmpeg program is installed")

    monkeypatch.setattr(ffmpeg, "program", absent)
    monkeypatch.setattr(backends, "find_spec", lambda _: None)
    clock = VirtualClock()
    table = Backends(cpu_backends(piper="no-such-piper", piper_voices=tmp_path), clock)
    assert clock.run(table.able()) == ("storyboard",)
    assert table.complaints == {
        MERGE: "no ffmpeg program is installed",
        "motion": "no ffmpeg program is installed",
        "hibari": "the English voice is not installed: the package hibari brings it",
        "espeak": "eSpeak NG is not installed: the package espeakng_loader brings it",
        "piper": "the program no-such-piper is not installed",
    }


def test_piper_needs_a_voice(tmp_path: Path) -> None:
    clock = VirtualClock()
    table = Backends(cpu_backends(piper="true", piper_voices=tmp_path), clock)
    assert "piper" not in clock.run(table.able())
    (tmp_path / "en_GB-alan.onnx").touch()
    clock.jump(5.0)
    assert "piper" in clock.run(table.able())


def test_health_is_looked_at_again_after_five_seconds_and_not_before() -> None:
    clock = VirtualClock()
    looks = 0

    def health() -> str | None:
        nonlocal looks
        looks += 1
        return None

    table = Backends([CpuBackend("p", {}, health)], clock)
    for seconds, expected in ((0.0, 1), (4.9, 1), (0.2, 2)):
        clock.jump(seconds)
        assert clock.run(table.able()) == ("p",)
        assert looks == expected


async def test_job_that_no_backend_does_is_misconfigured(tmp_path: Path) -> None:
    clock = VirtualClock()
    world = World(clock, tmp_path)
    (job,) = await world.enter(1, "voice")
    with pytest.raises(BackendError, match="no backend 'voice' that makes audio") as caught:
        Backends(cpu_backends(), clock).function(job)
    assert caught.value.type is FailureType.MISCONFIGURED
