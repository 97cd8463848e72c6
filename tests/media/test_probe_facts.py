"""Bytes are decoded and measured; what is empty, damaged or no medium at all is refused with its reason."""

from __future__ import annotations

from pathlib import Path
from random import Random

import pytest
from PIL import Image

from animastor.media import ffmpeg
from animastor.media.probe import UndecodableError, contents, probe


@pytest.fixture(scope="module")
def tone(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("tone") / "tone.flac"
    ffmpeg.run(["-f", "lavfi", "-i", "sine=duration=1.5:sample_rate=24000"], path)
    return path


@pytest.fixture(scope="module")
def clip(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("clip") / "clip.mp4"
    ffmpeg.run(["-f", "lavfi", "-i", "testsrc2=size=128x72:rate=24", "-frames:v", 30, "-c:v", "libx264"], path)
    return path


def test_sound_is_measured_in_samples(tone: Path) -> None:
    facts = probe(tone)
    assert (facts.samples, facts.sample_rate, facts.duration, facts.codec) == (36000, 24000, 1.5, "flac")


def test_moving_picture_is_measured_in_frames(clip: Path) -> None:
    facts = probe(clip)
    assert (facts.frames, facts.fps, facts.duration) == (30, 24.0, 1.25)
    assert (facts.width, facts.height, facts.codec) == (128, 72, "h264")


@pytest.mark.parametrize("kind", ["png", "jpeg", "webp", "gif"])
def test_pictures_are_known_by_their_bytes_not_by_their_name(kind: str, tmp_path: Path) -> None:
    Image.new("RGB", (40, 30), "teal").save(tmp_path / "picture.mp4", format=kind)
    facts = probe(tmp_path / "picture.mp4")
    assert (facts.width, facts.height, facts.codec) == (40, 30, kind)


def test_empty_file_is_refused(tmp_path: Path) -> None:
    (tmp_path / "a").touch()
    with pytest.raises(UndecodableError, match="empty"):
        probe(tmp_path / "a")


@pytest.mark.parametrize(
    "data",
    [
        b"hello " * 50,
        Random(1).randbytes(2000),
        b"#EXTM3U\n#EXTINF:1,\n/etc/hostname\n",
        b"\x89PNG\r\n\x1a\n" + bytes(50),
        b"x",
    ],
    ids=["text", "noise", "playlist", "broken picture", "one byte"],
)
def test_what_is_no_medium_is_refused(data: bytes, tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(data)
    with pytest.raises(UndecodableError):
        probe(tmp_path / "a")


@pytest.mark.parametrize("share", [0.1, 0.5, 0.9])
def test_what_was_cut_off_is_refused(share: float, tone: Path, clip: Path, tmp_path: Path) -> None:
    Image.effect_noise((64, 64), 50).save(tmp_path / "noise.png")
    for source in (tone, clip, tmp_path / "noise.png"):
        data = source.read_bytes()
        (tmp_path / "cut").write_bytes(data[: int(share * len(data))])
        with pytest.raises(UndecodableError):
            probe(tmp_path / "cut")


def test_damaged_sound_is_refused_though_a_player_would_step_over_it(tone: Path, tmp_path: Path) -> None:
    data = bytearray(tone.read_bytes())
    data[len(data) // 2] ^= 0xFF
    (tmp_path / "damaged").write_bytes(data)
    with pytest.raises(UndecodableError, match="missing or damaged"):
        probe(tmp_path / "damaged")


def test_picture_of_endless_size_is_refused_before_it_is_unpacked(tmp_path: Path) -> None:
    Image.new("1", (20_000, 6_000)).save(tmp_path / "bomb.png")
    with pytest.raises(UndecodableError, match="pixels"):
        probe(tmp_path / "bomb.png")


def test_absent_file_is_another_error(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        probe(tmp_path / "absent")


def test_contents_lists_streams_chapters_and_tags(clip: Path, tmp_path: Path) -> None:
    marks = tmp_path / "marks"
    marks.write_text(";FFMETADATA1\ntitle=A\n[CHAPTER]\nTIMEBASE=1/1000\nSTART=0\nEND=500\ntitle=One\n")
    arguments = ["-i", clip, "-f", "ffmetadata", "-i", marks, "-map", "0", "-map_metadata", 1, "-c", "copy"]
    ffmpeg.run(arguments, tmp_path / "a.mp4")
    found = contents(tmp_path / "a.mp4")
    assert [(s.type, s.codec, s.frames, s.cover) for s in found.streams if s.type == "video"] == [
        ("video", "h264", 30, False)
    ]
    assert [(c.start, c.end, c.title) for c in found.chapters] == [(0.0, 0.5, "One")]
    assert found.tags["title"] == "A"
