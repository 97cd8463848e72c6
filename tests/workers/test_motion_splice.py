"""Shots are joined by copying: the frames that the timeline has room for, evenly timed, pixel for pixel."""

from __future__ import annotations

import resource
from pathlib import Path
from typing import Any

import av
import numpy as np
import pytest

from animastor.media import ffmpeg
from animastor.media.probe import contents, probe
from animastor.workers.backend import BackendError, Order
from animastor.workers.motion.encode import encode
from animastor.workers.splice import splice

SIZE = (64, 48)


def a_shot(path: Path, units: list[int], shade: int = 40) -> Path:
    """A clip of grey units whose frames grow brighter one by one, each unit 60 above the last."""
    frames = []
    for k, count in enumerate(units):
        for i in range(count):
            luma = np.full((SIZE[1], SIZE[0]), shade + 60 * k + i, np.uint8)
            frames.append(luma.tobytes() + bytes([128]) * (SIZE[0] * SIZE[1] // 2))
    borders = [sum(units[:k]) for k in range(len(units) + 1)]
    encode(frames, path, SIZE, 24, borders)
    return path


def a_merge(shots: list[tuple[list[int], list[int]]], files: list[Path]) -> Order:
    structure = {
        "kind": "merge",
        "size": list(SIZE),
        "fps": 24,
        "shots": [
            {"hash": f"{k}" * 64, "rendered": rendered, "taken": taken} for k, (rendered, taken) in enumerate(shots)
        ],
    }
    return Order("video", "merge", structure, {file.name: file for file in files}, tuple(file.name for file in files))


def shades(path: Path) -> list[int]:
    with av.open(str(path)) as container:
        return [round(float(frame.to_ndarray()[: SIZE[1]].mean())) for frame in container.decode(video=0)]


def packets(path: Path) -> list[Any]:
    with av.open(str(path)) as container:
        return [(packet.pts, packet.dts, packet.duration) for packet in container.demux(video=0) if packet.size]


def test_each_unit_gives_the_frames_that_are_taken_and_no_other(tmp_path: Path) -> None:
    one = a_shot(tmp_path / "one", [10, 15])
    two = a_shot(tmp_path / "two", [25])
    told: list[float] = []
    order = a_merge([([10, 15], [9, 13]), ([25], [25]), ([10, 15], [0, 1])], [one, two, one])
    merged = splice(order, tmp_path, told.append).path
    wanted = [*shades(one)[:9], *shades(one)[10:23], *shades(two), shades(one)[10]]
    assert shades(merged) == wanted
    assert probe(merged).frames == 48
    assert told[-1] == 1.0
    ticks = packets(merged)[1][0]
    assert packets(merged) == [(k * ticks, k * ticks, ticks) for k in range(48)]
    assert contents(merged).streams[0].duration == 2.0


@pytest.mark.parametrize(
    ("rendered", "taken"),
    [([10, 16], [1, 1]), ([10, 14], [1, 1]), ([9, 16], [1, 1]), ([10, 15], [11, 1]), ([10], [10])],
)
def test_shot_that_is_not_the_ordered_one_is_bad_input(rendered: list[int], taken: list[int], tmp_path: Path) -> None:
    with pytest.raises(BackendError) as caught:
        splice(a_merge([(rendered, taken)], [a_shot(tmp_path / "one", [10, 15])]), tmp_path, print)
    assert caught.value.code == "bad_input"


def test_shot_that_was_encoded_in_another_way_is_bad_input(tmp_path: Path) -> None:
    one, other = a_shot(tmp_path / "one", [10]), tmp_path / "other.mp4"
    ffmpeg.run(["-f", "lavfi", "-i", "color=size=64x48:rate=24", "-frames:v", 10, "-c:v", "libx264", "-bf", 2], other)
    with pytest.raises(BackendError, match="different ways"):
        splice(a_merge([([10], [10]), ([10], [10])], [one, other]), tmp_path, print)


def test_damaged_or_missing_shot_is_bad_input(tmp_path: Path) -> None:
    one = a_shot(tmp_path / "one", [10])
    (tmp_path / "cut").write_bytes(one.read_bytes()[:500])
    with pytest.raises(BackendError) as caught:
        splice(a_merge([([10], [10])], [tmp_path / "cut"]), tmp_path, print)
    assert caught.value.code == "bad_input"
    with pytest.raises(BackendError, match="ordered were 2"):
        splice(a_merge([([10], [10]), ([10], [10])], [one]), tmp_path, print)


def test_full_disk_is_not_bad_input(tmp_path: Path) -> None:
    shots = [a_shot(tmp_path / str(k), [100]) for k in range(3)]
    order = a_merge([([100], [100])] * 3, shots)
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (2000, before[1]))
    try:
        with pytest.raises(OSError, match="File too large"):
            splice(order, tmp_path, print)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
