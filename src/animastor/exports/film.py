"""The film: the scenes' moving pictures copied, their sound encoded once over the whole, chapters, subtitles, cover.

Picture and sound never drift apart: each scene's sound fills exactly the frames of its picture, so every scene begins
with its own sound, and the whole is as long in both within half a frame. Runs in a child process.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate, pairwise
from pathlib import Path

from animastor.exports.container import (
    LAYOUT,
    cover_arguments,
    cover_file,
    finished,
    language_code,
    marks,
    metadata_file,
    scraps,
)
from animastor.exports.model import About, Exported, ExportError, SceneMedia
from animastor.exports.sound import Format, Piece, Source, common_format, look, stream
from animastor.exports.subtitles import Spoken, subtitles, webvtt
from animastor.media import ffmpeg
from animastor.media.ffmpeg import Argument

BLOCK = 1024  # samples of an AAC frame: sound comes in whole ones
# "fast" is three times as fast as the usual coder, and on speech measured as closer to it and with lower peaks.
CODER = ("-c:a", "aac", "-aac_coder", "fast", "-aac_tns", 0, "-aac_pns", 0, "-aac_is", 0)


@dataclass(frozen=True, slots=True)
class _Picture:
    """A scene's video: what has to be equal for it to be joined by copying, and its frames."""

    frames: int
    fps: int
    ticks: int  # of each frame, in the stream's own time base
    shape: tuple[object, ...]


def film(
    scenes: Sequence[SceneMedia], target: Path, about: About, progress: Callable[[float], None] = lambda _: None
) -> Exported:
    """Make `target` (an MP4) and, if anything is said in it, the `.vtt` beside it.

    Every scene has a video; one without sound is silent. `progress` is told the share that is done.

    Raises:
        ExportError: a scene cannot be used, with the scene named.
        ffmpeg.FfmpegError: it could not be made. Nothing is left behind by either.
    """
    pictures = _pictures(scenes)
    fps = pictures[0].fps
    frames = list(accumulate((picture.frames for picture in pictures), initial=0))
    starts = [count / fps for count in frames]
    chapters = marks(scenes, starts[:-1], starts[-1])
    sources = [look(scene) for scene in scenes]
    form = common_format(sources)
    with finished(target) as folder:
        track = _subtitles(folder / target.name, scenes, starts, about.language)
        inputs = _inputs(folder, scenes, form, metadata_file(folder, about, chapters))
        outputs = _outputs(pictures[0], form, about, track, cover_file(folder, about.cover))
        pieces = _pieces(sources, frames, fps, form)
        ffmpeg.run([*inputs, *outputs], folder / target.name, feed=stream(pieces, form, progress))
    return Exported(target, starts[-1], chapters, target.with_suffix(".vtt") if track else None)


def sound_arguments(form: Format) -> list[Argument]:
    """The input options of samples that are fed, as `sound.stream` makes them."""
    return ["-f", "f32le", "-ar", form.rate, "-ac", form.channels, "-i", "pipe:0"]


def bit_rate(form: Format) -> int:
    """Bits a second of AAC: for speech nothing is heard to be missing."""
    mono = 80_000 if form.rate <= 24_000 else 112_000
    return mono if form.channels == 1 else mono * 8 // 5


def _pieces(sources: Sequence[Source], frames: Sequence[int], fps: int, form: Format) -> list[Piece]:
    """The samples of each scene's sound: from its first frame to the next scene's, the last to a whole block."""
    borders = [round(count * form.rate / fps) for count in frames]
    borders[-1] = max(borders[-2] + 1, round(borders[-1] / BLOCK) * BLOCK)
    return [Piece(source, end - start) for source, (start, end) in zip(sources, pairwise(borders), strict=True)]


def _pictures(scenes: Sequence[SceneMedia]) -> list[_Picture]:
    found = [_look(scene) for scene in scenes]
    if not found:
        raise ExportError("there is no scene to make a film of")
    for scene, picture in zip(scenes, found, strict=True):
        if picture.shape != found[0].shape:
            raise ExportError(
                f"the video of scene {scene.scene_id} differs in size, rate or encoding from the first scene's: "
                "make it again before the film is exported"
            )
    return found


def _look(scene: SceneMedia) -> _Picture:
    import av

    if scene.video is None:
        raise ExportError(f"scene {scene.scene_id} has no video")
    try:
        with av.open(f"file:{scene.video.absolute()}") as container:
            video = container.streams.video[0]
            codec, rate, base = video.codec_context, video.average_rate, video.time_base
            if not video.frames or not rate or not base or rate.denominator != 1:
                raise ExportError(f"the video of scene {scene.scene_id} does not say how many frames it has")
            ticks = 1 / (rate * base)
            shape = (codec.name, codec.width, codec.height, rate, base, bytes(codec.extradata or b""))
            return _Picture(video.frames, rate.numerator, int(ticks), shape)
    except (av.error.FFmpegError, IndexError) as error:
        raise ExportError(f"the video of scene {scene.scene_id} cannot be read: {error}") from error


def _subtitles(path: Path, scenes: Sequence[SceneMedia], starts: Sequence[float], language: str) -> Path | None:
    """The `.vtt` beside `path`, or None when nothing is said."""
    cues = subtitles(_spoken(scenes, starts), language)
    if not cues.events:
        return None
    written = path.with_suffix(".vtt")
    written.write_text(webvtt(cues), encoding="utf-8")
    return written


def _spoken(scenes: Sequence[SceneMedia], starts: Sequence[float]) -> Iterator[Spoken]:
    for scene, (start, end) in zip(scenes, pairwise(starts), strict=True):
        for unit_id, unit_start, unit_end in scene.timings:
            text = scene.texts.get(unit_id, "")
            yield Spoken(min(end, start + unit_start), min(end, start + unit_end), text)


def _inputs(folder: Path, scenes: Sequence[SceneMedia], form: Format, marks_in: Path) -> list[Argument]:
    """Video is input 0, sound 1, tags and chapters 2."""
    listed = _concat_list(folder, scenes)
    return [
        # The scenes have the same parameter sets, so their packets are right as they are (no conversion).
        *("-f", "concat", "-safe", 0, "-auto_convert", 0, "-protocol_whitelist", "file,pipe", "-i", listed),
        *(*sound_arguments(form), "-f", "ffmetadata", "-i", marks_in),
    ]


def _outputs(picture: _Picture, form: Format, about: About, track: Path | None, cover: Path | None) -> list[Argument]:
    """The inputs that not every film has, and what becomes of all of them."""
    language = language_code(about.language)
    return [
        *(("-f", "webvtt", "-i", track) if track else ()),
        *(("-i", cover) if cover else ()),
        *("-map", "0:v", "-map", "1:a", *(("-map", "3:s") if track else ())),
        *(("-map", f"{4 if track else 3}:v") if cover else ()),
        *("-map_metadata", 2, "-map_chapters", 2, "-c:v:0", "copy"),
        # Frames lie evenly from 0 on, whatever the joints of the list make of it: there is one packet for each.
        *("-bsf:v:0", f"setts=pts=N*{picture.ticks}:dts=N*{picture.ticks}:duration={picture.ticks}"),
        *(*CODER, "-b:a", bit_rate(form), "-metadata:s:a:0", f"language={language}"),
        *(("-c:s", "mov_text", "-metadata:s:s:0", f"language={language}") if track else ()),
        *(cover_arguments(1) if cover else ()),
        *("-metadata:s:v:0", f"language={language}", *LAYOUT, "-f", "mp4"),
    ]


def _concat_list(folder: Path, scenes: Sequence[SceneMedia]) -> Path:
    lines = ["ffconcat version 1.0"]
    for scene in scenes:
        assert scene.video is not None  # `_look` has made sure
        name = str(scene.video.absolute()).replace("'", r"'\''")
        lines.append(f"file 'file:{name}'")
    path = scraps(folder) / "scenes.txt"
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path
