"""The film of the example, made by the command line as a person makes it, and then measured (CONTRACT 14, Film)."""

from __future__ import annotations

import json
import re
import resource
import sqlite3
import subprocess
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from pathlib import Path

import av
import numpy as np
import pysubs2
import pytest
from program import PROGRAM, environment

from animastor.media import ffmpeg

pytestmark = pytest.mark.slow  # the first of them makes the film

TALE = Path(__file__).parents[2] / "examples" / "tale"
SIZE = (640, 360)


@dataclass(frozen=True)
class Scene:
    """A scene of the film: where it starts, in frames, and its measured timings (unit, start, end in seconds)."""

    start: int
    frames: int
    timings: tuple[tuple[str, float, float], ...]
    audio_s: float


@dataclass(frozen=True)
class Frames:
    """The mean luma of each frame, and the mean difference of each from the one before; of 255."""

    lumas: Sequence[float]
    steps: Sequence[float]


@dataclass(frozen=True)
class Film:
    """The finished film, the database that it came from, and what making it took."""

    path: Path
    home: Path
    scenes: tuple[Scene, ...]
    cpu_all_s: float
    cpu_main_s: float


def _scenes(home: Path) -> Iterator[Scene]:
    database = sqlite3.connect(f"file:{home / 'animastor.db'}?mode=ro", uri=True)
    facts: dict[int, dict[str, dict[str, object]]] = {}
    for scene, media, told in database.execute(
        "SELECT a.scene_key, a.media, f.facts FROM asset a JOIN asset_facts f ON f.asset = a.id"
        " WHERE a.state = 4 ORDER BY a.reading_order, a.id"
    ):
        facts.setdefault(scene, {})[media] = json.loads(told)
    start = 0
    for told in facts.values():
        frames = int(told["video"]["frames"])  # type: ignore[call-overload]
        timings = tuple((u, s, e) for u, s, e in told["audio"]["timings"])  # type: ignore[attr-defined]
        yield Scene(start, frames, timings, float(told["audio"]["duration"]))  # type: ignore[arg-type]
        start += frames
    database.close()


@pytest.fixture(scope="module")
def film(tmp_path_factory: pytest.TempPathFactory) -> Film:
    folder = tmp_path_factory.mktemp("film")
    home, out = folder / "home", folder / "out"
    size = "x".join(map(str, SIZE))
    command = [*PROGRAM, "make", str(TALE), "--size", size, "--home", str(home), "--out", str(out), "--json"]
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    process = subprocess.Popen(command, env=environment(), stdout=subprocess.DEVNULL, cwd=folder)
    main = 0.0
    try:
        while process.poll() is None:
            main = _cpu_of(process.pid) or main
            time.sleep(0.05)  # sampling what only the kernel knows, while it can still be asked
    finally:
        process.kill()
        process.wait()
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    assert process.returncode == 0
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return Film(next(out.glob("*.mp4")), home, tuple(_scenes(home)), cpu, main)


def _cpu_of(pid: int) -> float:
    """CPU seconds of a process alone, its ended children not counted."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text(encoding="ascii").rpartition(")")[2].split()
    except (OSError, ProcessLookupError):
        return 0.0
    return (int(fields[11]) + int(fields[12])) / 100.0


@pytest.fixture(scope="module")
def frames(film: Film) -> Frames:
    """The whole film, looked at once."""
    lumas, steps, before = [], [], None
    with av.open(str(film.path)) as container:
        for frame in container.decode(video=0):
            luma = frame.to_ndarray(format="gray").astype(np.int16)
            lumas.append(float(luma.mean()))
            if before is not None:
                steps.append(float(np.abs(luma - before).mean()))
            before = luma
    return Frames(lumas, steps)


def _sound(path: Path) -> tuple[np.ndarray, int]:  # type: ignore[type-arg]
    with av.open(str(path)) as container:
        stream = container.streams.audio[0]
        blocks = [frame.to_ndarray().mean(axis=0) for frame in container.decode(audio=0)]
        return np.concatenate(blocks), stream.rate


def _measured(film: Film, filter_: str) -> str:
    return ffmpeg.run(["-i", film.path, "-map", "0:a", "-af", filter_, "-f", "null", "-"], log="info")


def test_the_streams_are_what_players_expect(film: Film) -> None:
    with av.open(str(film.path)) as container:
        video, audio = container.streams.video[0], container.streams.audio[0]
        assert (video.codec_context.name, video.codec_context.pix_fmt) == ("h264", "yuv420p")
        assert (video.codec_context.width, video.codec_context.height) == SIZE
        assert video.average_rate == Fraction(24)
        assert audio.codec_context.name == "aac"
        assert [stream.codec_context.name for stream in container.streams.subtitles] == ["mov_text"]
        titles = [chapter["metadata"]["title"] for chapter in container.chapters()]
        starts = [float(chapter["start"] * chapter["time_base"]) for chapter in container.chapters()]
        assert container.metadata["title"] == "The Fog Knitter"
    assert titles == ["The Dropped Stitch", "The Long Red Thread"]
    assert starts[0] == 0.0
    assert any(abs(scene.start / 24 - starts[1]) < 0.05 for scene in film.scenes)
    assert film.path.read_bytes()[:4096].find(b"moov") > 0, "a player may start before the end has arrived"


def test_picture_and_sound_are_equally_long_in_every_scene_and_over_the_whole(film: Film, frames: Frames) -> None:
    for scene in film.scenes:
        assert abs(scene.frames / 24 - scene.audio_s) <= 1 / 24
    count = len(frames.lumas)
    sound, rate = _sound(film.path)
    assert count == sum(scene.frames for scene in film.scenes)
    assert abs(len(sound) / rate - count / 24) <= 1 / 24


def test_every_moving_frame_differs_from_the_one_before_and_none_is_black(frames: Frames) -> None:
    black = [luma < 20 for luma in frames.lumas]
    assert not any(one and next_ for one, next_ in pairwise(black))
    assert min(frames.steps) > 0.01, "two successive frames are the same"


def test_no_joint_clicks(film: Film) -> None:
    sound, rate = _sound(film.path)
    steps = np.abs(np.diff(sound))
    loudest = float(np.quantile(steps, 0.9999))
    for scene in film.scenes[1:]:
        joint = round(scene.start / 24 * rate)
        around = steps[joint - rate // 100 : joint + rate // 100]
        assert float(around.max()) <= loudest, "a joint jumps more than speech does"


def test_loudness_and_true_peak(film: Film) -> None:
    told = _measured(film, "ebur128=peak=true")
    loudness = float(re.findall(r"I:\s+(-?[\d.]+) LUFS", told)[-1])
    peak = float(re.findall(r"Peak:\s+(-?[\d.]+) dBFS", told)[-1])
    assert loudness == pytest.approx(-18, abs=1)
    assert peak <= -1.0


def _spoken_borders(film: Film) -> Sequence[tuple[float, float]]:
    return [
        (scene.start / 24 + start, scene.start / 24 + end) for scene in film.scenes for _, start, end in scene.timings
    ]


def test_subtitle_cues_begin_and_end_with_what_is_spoken(film: Film) -> None:
    cues = [cue for cue in pysubs2.load(str(film.path.with_suffix(".vtt"))) if cue.plaintext.strip()]
    borders = _spoken_borders(film)
    starts, ends = [start for start, _ in borders], [end for _, end in borders]
    inside = 0
    for cue in cues:
        start, end = cue.start / 1000, cue.end / 1000
        unit = max(k for k, begin in enumerate(starts) if begin - 0.05 <= start)
        inside += abs(start - starts[unit]) > 0.05  # a later cue of a long unit
        assert end <= ends[unit] + 0.05
    spoken = {k for k, (begin, _) in enumerate(borders) if any(abs(cue.start / 1000 - begin) <= 0.05 for cue in cues)}
    assert len(cues) - inside == len(spoken)
    assert len(spoken) >= len(borders) - 2, "only what is not spoken has no cue"


def test_speech_begins_where_its_cue_begins(film: Film) -> None:
    """Measured in the sound itself: before a unit's border it is quiet, soon after it there is speech."""
    sound, rate = _sound(film.path)
    loud = np.abs(sound).reshape(-1)
    late = 0
    for start, end in _spoken_borders(film)[1:]:
        first = loud[round(start * rate) : round(min(end, start + 0.4) * rate)]
        late += not bool((first > 0.02).any())
    assert late <= 1


def test_the_engine_itself_takes_little_of_the_work(film: Film) -> None:
    """At a quarter of the pixels of `make film`; there it is 3 % (docs/performance.md)."""
    print(f"engine {film.cpu_main_s:.2f} s of {film.cpu_all_s:.2f} s")
    assert film.cpu_main_s <= 0.15 * film.cpu_all_s
