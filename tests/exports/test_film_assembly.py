"""Film and audiobook: picture and sound together in every scene, chapters, subtitles, cover, tags; whole or absent."""

from __future__ import annotations

import re
import resource
from collections.abc import Iterator
from dataclasses import replace
from io import BytesIO
from itertools import pairwise
from pathlib import Path
from typing import Any

import av
import numpy as np
import psutil
import pytest
from PIL import Image

from animastor.books.model import Cover
from animastor.exports.audiobook import audiobook
from animastor.exports.film import film
from animastor.exports.model import About, ExportError, SceneMedia
from animastor.media import ffmpeg
from animastor.media.probe import contents, probe
from animastor.workers.motion.encode import encode

SIZE = (64, 48)
RATE = 24000
FRAMES = (50, 37, 61)  # of the scenes
PITCHES = (300.0, 800.0, 500.0)
OFF = (+300, -400, +450)  # samples by which the sound is longer than the picture: less than half a frame
ABOUT = About("The Sea = #1", "A. Writer; B", "en-GB")


def a_video(path: Path, frames: int, size: tuple[int, int] = SIZE) -> Path:
    def drawn() -> Iterator[bytes]:
        for k in range(frames):
            yield bytes([40 + 2 * k]) * (size[0] * size[1]) + bytes([128]) * (size[0] * size[1] // 2)

    encode(drawn(), path, size, 24, [0, frames])
    return path


def a_sound(path: Path, samples: Any, rate: int = RATE) -> Path:
    data = (np.asarray(samples) * 32767).astype("<i2").tobytes()
    ffmpeg.run(["-f", "s16le", "-ar", rate, "-ac", 1, "-i", "pipe:0"], path, feed=[data])
    return path


def tone(pitch: float, samples: int, level: float = 0.3) -> Any:
    return level * np.sin(2 * np.pi * pitch * np.arange(samples) / RATE)


@pytest.fixture(scope="module")
def scenes(tmp_path_factory: pytest.TempPathFactory) -> list[SceneMedia]:
    folder = tmp_path_factory.mktemp("the 'scenes'")
    found = []
    for k, (frames, pitch, off) in enumerate(zip(FRAMES, PITCHES, OFF, strict=True)):
        seconds = frames / 24
        audio = a_sound(folder / f"{k}.flac", tone(pitch, frames * 1000 + off))
        found.append(
            SceneMedia(
                f"s{k}",
                f"c{k // 2}",
                f"Chapter; {k // 2}",
                audio,
                a_video(folder / f"{k}.mp4", frames),
                timings=((f"a{k}", 0.0, seconds / 2), (f"b{k}", seconds / 2, seconds)),
                texts={f"a{k}": f"The first of scene {k}.", f"b{k}": "And <the> second."},
            )
        )
    return found


@pytest.fixture(scope="module")
def a_film(scenes: list[SceneMedia], tmp_path_factory: pytest.TempPathFactory) -> Path:
    target = tmp_path_factory.mktemp("out") / "The Film.mp4"
    return film(scenes, target, replace(ABOUT, cover=a_cover("JPEG"))).path


def a_cover(kind: str) -> Cover:
    data = BytesIO()
    Image.new("RGB", (60, 80), "teal").save(data, kind)
    return Cover(f"image/{kind.lower()}", data.getvalue())


def heard(path: Path) -> Any:
    with av.open(str(path)) as container:
        return np.concatenate([frame.to_ndarray().ravel() for frame in container.decode(audio=0)])


def loudest_pitch(samples: Any) -> float:
    spectrum = np.abs(np.fft.rfft(samples * np.hanning(len(samples))))
    return float(spectrum.argmax() * RATE / len(samples))


def steps(samples: Any) -> Any:
    """How abrupt the signal is at each sample: a click is a peak of its fourth difference."""
    return np.abs(np.diff(samples, 4))


def test_film_has_its_streams_chapters_cover_and_tags(a_film: Path) -> None:
    found = contents(a_film)
    kinds = [(stream.type, stream.codec, stream.cover) for stream in found.streams if stream.type != "data"]
    assert kinds == [
        *(("video", "h264", False), ("audio", "aac", False), ("subtitle", "mov_text", False), ("video", "mjpeg", True))
    ]
    assert [stream.language for stream in found.streams[:3]] == ["eng"] * 3
    marks = [(mark.title, round(mark.start, 3)) for mark in found.chapters]
    assert marks == [("Chapter; 0", 0.0), ("Chapter; 1", round(87 / 24, 3))]
    assert (found.tags["title"], found.tags["artist"]) == ("The Sea = #1", "A. Writer; B")
    assert sum(stream.type == "data" for stream in found.streams) == 1  # the chapters, as a track
    data = a_film.read_bytes()
    assert data.index(b"moov") < data.index(b"mdat")


def test_picture_is_copied_and_as_long_as_the_sound(a_film: Path, scenes: list[SceneMedia]) -> None:
    facts = probe(a_film)
    assert facts.frames == sum(FRAMES)
    assert abs(facts.frames / 24 - facts.samples / facts.sample_rate) < 1 / 24
    with av.open(str(a_film)) as container:
        packets = [packet for packet in container.demux(video=0) if packet.size]
    copied = [bytes(packet) for packet in packets]
    sources = []
    for scene in scenes:
        with av.open(str(scene.video)) as container:
            sources += [bytes(packet) for packet in container.demux(video=0) if packet.size]
    assert copied == sources
    assert [packet.pts for packet in packets] == [k * packets[1].pts for k in range(sum(FRAMES))]


def test_each_scene_begins_with_its_own_sound(a_film: Path) -> None:
    samples = heard(a_film)
    at = 0
    for frames, pitch in zip(FRAMES, PITCHES, strict=True):
        start, end = at * 1000, (at + frames) * 1000
        at += frames
        assert loudest_pitch(samples[start + 100 : start + 2500]) == pytest.approx(pitch, abs=15)
        assert loudest_pitch(samples[end - 2900 : end - 500]) == pytest.approx(pitch, abs=15)


def test_joints_do_not_click(a_film: Path, tmp_path: Path) -> None:
    clicking = np.concatenate([tone(300, 50_100), tone(800, 40_000)])
    click = steps(clicking[49_500:50_700]).max()
    for at in (50_000, 87_000):
        assert steps(heard(a_film)[at - 600 : at + 600]).max() < 0.05 * click


def test_subtitles_are_a_track_and_a_file_with_the_same_cues(a_film: Path) -> None:
    text = a_film.with_suffix(".vtt").read_text(encoding="utf-8")
    times = re.findall(r"(\d+):(\d+):(\d+)\.(\d+) --> (\d+):(\d+):(\d+)\.(\d+)", text)
    cues = [[(int(h) * 60 + int(m)) * 60 + int(s) + int(ms) / 1000 for h, m, s, ms in (t[:4], t[4:])] for t in times]
    borders = [0, 25, 50, 68.5, 87, 117.5, 148]
    assert cues == [[pytest.approx(a / 24, abs=0.05), pytest.approx(b / 24, abs=0.05)] for a, b in pairwise(borders)]
    with av.open(str(a_film)) as container:
        packets = [packet for packet in container.demux(subtitles=0) if packet.size > 2]
        base = float(container.streams.subtitles[0].time_base)
        texts = [bytes(packet)[2:].decode() for packet in packets]
    assert [packet.pts * base for packet in packets] == [pytest.approx(start, abs=0.01) for start, _ in cues]
    assert texts[:2] == ["The first of scene 0.", "And <the> second."]


def test_scene_without_sound_is_silent_and_a_film_without_text_has_no_subtitles(
    scenes: list[SceneMedia], tmp_path: Path
) -> None:
    made = film([scenes[0], replace(scenes[1], audio=None)], tmp_path / "a.mp4", About())
    assert np.abs(heard(made.path)[51_500:86_000]).max() < 1e-3
    told: list[float] = []
    silent = film([replace(scene, audio=None, texts={}) for scene in scenes], tmp_path / "b.mp4", About(), told.append)
    assert silent.subtitles is None
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a.mp4", "a.vtt", "b.mp4"]
    assert told[-1] == pytest.approx(1.0)


def test_sounds_of_different_rates_are_brought_to_one(scenes: list[SceneMedia], tmp_path: Path) -> None:
    other = a_sound(tmp_path / "other.flac", 0.3 * np.sin(2 * np.pi * 700 * np.arange(25_000) / 12_000), rate=12_000)
    made = film([replace(scenes[0], audio=other), scenes[1]], tmp_path / "a.mp4", About())
    assert probe(made.path).sample_rate == RATE
    assert loudest_pitch(heard(made.path)[10_000:40_000]) == pytest.approx(700, abs=5)


def test_audiobook_has_chapters_cover_and_tags_and_only_scenes_with_sound(
    scenes: list[SceneMedia], tmp_path: Path
) -> None:
    told: list[float] = []
    chosen = [scenes[0], replace(scenes[1], audio=None), scenes[2]]
    about = replace(ABOUT, cover=a_cover("WEBP"))
    made = audiobook(chosen, tmp_path / "The Book.m4b", about, told.append)
    found = contents(made.path)
    assert [(s.type, s.codec, s.cover) for s in found.streams if s.type != "data"] == [
        *(("audio", "aac", False), ("video", "mjpeg", True))
    ]
    samples = [50_000 + OFF[0], 61_000 + OFF[2]]
    assert made.duration == sum(samples) / RATE
    assert [(mark.title, mark.start) for mark in found.chapters] == [
        ("Chapter; 0", 0.0),
        ("Chapter; 1", pytest.approx(samples[0] / RATE, abs=0.001)),
    ]
    assert probe(made.path).samples == pytest.approx(sum(samples), abs=1024)
    assert (found.tags["title"], found.tags["artist"], found.tags["major_brand"]) == (ABOUT.title, ABOUT.author, "M4B ")
    assert loudest_pitch(heard(made.path)[samples[0] + 100 : samples[0] + 2500]) == pytest.approx(500, abs=15)
    assert told == sorted(told)


def test_loudness_and_peaks_of_limited_sound_survive_the_encoding(tmp_path: Path) -> None:
    """A signal like speech at −18 LUFS, its true peaks at −1.5 dBTP: as the scenes' sound is."""
    source = tmp_path / "speech.flac"
    shape = "aevalsrc='(random(0)-0.5)*pow(abs(sin(3*t)),4)*pow(abs(sin(19*t)),2)':s=24000:d=12"
    level = "lowpass=3500,loudnorm=I=-18:TP=-1.5:LRA=9,aresample=24000"
    ffmpeg.run(["-f", "lavfi", "-i", shape, "-af", level, "-ac", 1], source)
    made = audiobook([SceneMedia("s", "c", "One", source)], tmp_path / "a.m4b", About())
    (before, _), (after, peak) = (loudness(path) for path in (source, made.path))
    assert after == pytest.approx(before, abs=0.3)
    assert peak <= -1.0


def loudness(path: Path) -> tuple[float, float]:
    """LUFS and dBTP, as ffmpeg's ebur128 measures them."""
    log = ffmpeg.run(["-i", path, "-af", "ebur128=peak=true", "-f", "null", "-"], log="info")
    return float(re.findall(r"I:\s+(-?[\d.]+) LUFS", log)[-1]), float(re.findall(r"Peak:\s+(-?[\d.]+) dBFS", log)[-1])


@pytest.mark.parametrize("kind", ["video", "size", "audio", "cover", "no scene"])
def test_what_cannot_be_used_is_named_and_nothing_is_left(
    kind: str, scenes: list[SceneMedia], tmp_path: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    elsewhere = tmp_path_factory.mktemp("bad")
    (elsewhere / "noise").write_bytes(b"noise" * 100)
    about, given = ABOUT, list(scenes)
    match kind:
        case "video":
            given[1] = replace(given[1], video=None)
        case "size":
            given[1] = replace(given[1], video=a_video(elsewhere / "other.mp4", 30, (80, 48)))
        case "audio":
            given[1] = replace(given[1], audio=elsewhere / "noise")
        case "cover":
            about = replace(ABOUT, cover=Cover("image/png", b"no picture"))
        case _:
            given = []
    with pytest.raises(ExportError, match={"cover": "cover", "no scene": "no scene"}.get(kind, "s1")):
        film(given, tmp_path / "a.mp4", about)
    assert list(tmp_path.iterdir()) == []
    assert not [each for each in psutil.Process().children() if "ffmpeg" in each.name()]


def test_sound_that_breaks_off_is_refused(scenes: list[SceneMedia], tmp_path: Path) -> None:
    whole = a_sound(tmp_path / "whole.flac", np.random.default_rng(1).uniform(-0.3, 0.3, 50_000))
    (tmp_path / "cut.flac").write_bytes(whole.read_bytes()[:40_000])
    with pytest.raises(ExportError, match=r"early|decoded"):
        audiobook([replace(scenes[0], audio=tmp_path / "cut.flac")], tmp_path / "a.m4b", ABOUT)
    assert not (tmp_path / "a.m4b").exists()


def test_full_disk_leaves_the_earlier_film_as_it_was(scenes: list[SceneMedia], tmp_path: Path) -> None:
    target = tmp_path / "a.mp4"
    target.write_bytes(b"the earlier film")
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (15_000, before[1]))
    try:
        with pytest.raises(ffmpeg.DiskFullError):
            film(scenes, target, ABOUT)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
    assert target.read_bytes() == b"the earlier film"
    assert list(tmp_path.iterdir()) == [target]


def test_what_a_killed_export_left_is_removed_by_the_next(scenes: list[SceneMedia], tmp_path: Path) -> None:
    left = tmp_path / ".a.m4b.partial"
    left.mkdir()
    (left / "a.m4b").write_bytes(b"half")
    audiobook(scenes, tmp_path / "a.m4b", ABOUT)
    assert [path.name for path in tmp_path.iterdir()] == ["a.m4b"]
