"""Shots are rendered as ordered: smooth, never standing still, a cut at each unit, and nothing black."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path
from typing import Any

import av
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image, ImageDraw, ImageFilter

from animastor.media.probe import probe
from animastor.media.video_groups import render_frames
from animastor.media.video_moves import move_of
from animastor.workers.backend import BackendError, Order
from animastor.workers.motion import shot
from animastor.workers.motion.path import views_at
from animastor.workers.motion.planes import load

SIZE = (320, 180)
VIEWS = st.tuples(st.floats(0.45, 0.55), st.floats(0.45, 0.55), st.floats(0.88, 0.9))


def draw(path: Path, size: tuple[int, int] = SIZE, hue: int = 0) -> Path:
    """A picture with soft and sharp edges and no black in it."""
    width, height = size
    ramp = np.linspace(60, 200, width)[None, :] + np.linspace(0, 50, height)[:, None]
    picture = Image.fromarray(np.stack([np.roll([ramp, 255 - ramp, ramp * 0 + 120], hue, 0)[k] for k in range(3)], 2)
                              .astype(np.uint8))  # fmt: skip
    pen = ImageDraw.Draw(picture)
    for k in range(7):
        left = k * width // 7
        pen.ellipse([left, height // 3, left + width // 12, height // 2], fill=(250, 240, 60 + k * 20))
        pen.rectangle([left, height * 2 // 3, left + width // 20, height * 9 // 10], fill=(40, 60, 110))
    picture.save(path)
    return path


def an_order(tmp_path: Path, frames: list[int], shots: list[str], pictures: list[Path]) -> Order:
    moves = [
        move_of(f"u{k}", kind, "", count / 24, 0) for k, (kind, count) in enumerate(zip(shots, frames, strict=True))
    ]
    structure = {
        "kind": "shot",
        "size": list(SIZE),
        "fps": 24,
        "frames": frames,
        "render_frames": render_frames(sum(frames)),
        "pictures": [path.name for path in pictures],
        "moves": moves,
    }
    return Order("video", "shot", structure, {path.name: path for path in pictures})


def lumas(path: Path) -> list[Any]:
    with av.open(str(path)) as container:
        return [frame.to_ndarray()[: frame.height].astype(np.float64) for frame in container.decode(video=0)]


def step(before: Any, after: Any) -> float:
    """How many pixels the picture went to the left, by least squares over the gradient (Lucas and Kanade)."""
    before, after = (
        np.asarray(Image.fromarray(one.astype(np.uint8)).filter(ImageFilter.GaussianBlur(4)), np.float64)
        for one in (before, after)
    )
    gradient = np.gradient((before + after) / 2, axis=1)[20:-20, 20:-20]
    return float((gradient * (after - before)[20:-20, 20:-20]).sum() / (gradient**2).sum())


@given(st.lists(VIEWS, min_size=2, max_size=6), st.integers(2, 400))
def test_path_stays_within_its_views_and_reaches_its_ends(views: list[tuple[float, float, float]], frames: int) -> None:
    path = views_at(views, frames)
    assert len(path) == frames
    for axis in range(3):
        shares = [view[axis] for view in views]
        assert all(min(shares) - 1e-9 <= view[axis] <= max(shares) + 1e-9 for view in path)
        assert path[0][axis] == pytest.approx(views[0][axis], abs=0.06 / frames * len(views) + 1e-9)


@pytest.mark.parametrize("seconds", [1.0, 2.5, 6.0, 13.0, 31.0, 90.0])
def test_camera_never_stands_still(seconds: float) -> None:
    """At 1280 pixels an edge of the view moves at least a sixteenth of a pixel, at each frame of any move."""
    frames = round(seconds * 24)
    for k in range(12):
        for kind in ("wide", "close-up", "medium", "establishing"):
            path = views_at(move_of(f"u{k}", kind, "", seconds, 0)["views"], frames)
            for (x0, y0, w0), (x1, y1, w1) in pairwise(path):
                edges = (x1 - x0 + (w1 - w0) / 2, x1 - x0 - (w1 - w0) / 2, (y1 - y0) * 9 / 16)
                assert max(map(abs, edges)) * 1280 > 1 / 16, (k, kind)


def test_step_of_a_hundredth_of_a_pixel_is_one(tmp_path: Path) -> None:
    planes = load(draw(tmp_path / "a.png"), SIZE)
    frames = []
    for k in range(12):
        luma = next(planes.seen((0.5 + k * 0.01 / 320, 0.5, 0.9), SIZE))
        frames.append(np.frombuffer(luma, np.uint8).reshape(180, 320).astype(np.float64))
    steps = [step(frames[0], frame) for frame in frames[1:]]
    assert np.allclose(np.diff(steps), steps[0], atol=0.006)
    assert steps[-1] == pytest.approx(0.11 / 0.9, abs=0.03)


def test_pan_is_even_to_a_fraction_of_a_pixel_after_encoding(tmp_path: Path) -> None:
    order = an_order(tmp_path, [72], ["wide"], [draw(tmp_path / "a.png")])
    move = {"name": "pan right", "views": [[0.46, 0.5, 0.9], [0.54, 0.5, 0.9]]}
    path = shot(Order("video", "shot", {**order.structure, "moves": [move]}, order.inputs), tmp_path, print).path
    steps = np.array([step(a, b) for a, b in pairwise(lumas(path))])
    path_x = np.array([view[0] for view in views_at(move["views"], 73)])  # type: ignore[arg-type]
    wanted = np.diff(path_x) * 320 / 0.9
    assert np.abs(steps - wanted).max() < 0.1
    assert np.abs(steps - wanted).std() < 0.03


def test_shot_has_the_ordered_frames_none_equal_none_black_and_a_cut_at_each_unit(tmp_path: Path) -> None:
    pictures = [draw(tmp_path / f"{k}.png", hue=k) for k in range(3)]
    order = an_order(tmp_path, [31, 8, 150], ["establishing", "close-up", "medium"], pictures)
    told: list[float] = []
    path = shot(order, tmp_path, told.append).path
    facts = probe(path)
    assert (facts.frames, facts.width, facts.height, facts.fps) == (193, 320, 180, 24.0)
    frames = lumas(path)
    differences = [float(np.abs(a - b).mean()) for a, b in pairwise(frames)]
    assert min(differences) > 0.01
    assert [k + 1 for k, change in enumerate(differences) if change > 8] == [31, 39]
    assert min(frame.mean() for frame in frames) > 60
    with av.open(str(path)) as container:
        packets = [packet for packet in container.demux(video=0) if packet.size]
        keys = [k for k, packet in enumerate(packets) if packet.is_keyframe]
        codec = container.streams.video[0].codec_context
        assert (codec.profile, codec.pix_fmt, codec.colorspace, codec.has_b_frames) == ("High", "yuv420p", 1, False)
    assert {0, 31, 39} <= set(keys)
    assert max(b - a for a, b in pairwise([*keys, 193])) <= 120
    assert told == sorted(told)
    assert told[-1] == 1.0


def test_same_order_gives_the_same_bytes(tmp_path: Path) -> None:
    order = an_order(tmp_path, [30], ["wide"], [draw(tmp_path / "a.png")])
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
    one, two = (shot(order, tmp_path / name, print).path.read_bytes() for name in ("one", "two"))
    assert one == two


@pytest.mark.parametrize("size", [(320, 180), (400, 400), (100, 900), (1500, 700), (33, 21)])
def test_picture_of_another_shape_fills_the_frame(size: tuple[int, int], tmp_path: Path) -> None:
    planes = load(draw(tmp_path / "a.png", size), SIZE)
    y, u, v = (np.frombuffer(plane, np.uint8) for plane in planes.seen((0.5, 0.5, 0.9), SIZE))
    assert (y.size, u.size, v.size) == (320 * 180, 160 * 90, 160 * 90)
    assert planes.luma.width / planes.luma.height == pytest.approx(16 / 9, rel=0.02)
    assert y.min() >= 16


def test_colours_are_those_of_the_picture(tmp_path: Path) -> None:
    colour = (200, 60, 120)
    Image.new("RGB", SIZE, colour).save(tmp_path / "a.png")
    path = shot(an_order(tmp_path, [24], ["wide"], [tmp_path / "a.png"]), tmp_path, print).path
    with av.open(str(path)) as container:
        frame = next(container.decode(video=0))
        shown = frame.to_ndarray(format="rgb24", src_colorspace="ITU709")[90, 160]
    assert np.abs(shown.astype(int) - colour).max() <= 4


def test_picture_that_cannot_be_read_is_bad_input(tmp_path: Path) -> None:
    (tmp_path / "a.png").write_bytes(b"no picture")
    with pytest.raises(BackendError, match="cannot be read") as caught:
        shot(an_order(tmp_path, [24], ["wide"], [tmp_path / "a.png"]), tmp_path, print)
    assert caught.value.code == "bad_input"
