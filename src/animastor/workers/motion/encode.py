"""Raw frames to H.264, in the one way that lets all shots of a book be joined by copying.

Closed groups of pictures without B-frames: so any number of frames can be cut from the end of a unit, the order of
frames is the order of packets, and every shot has the same parameter sets.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise
from math import ceil
from pathlib import Path

from animastor.media import ffmpeg

TIMESCALE = 512  # ticks for each frame: what ffmpeg takes for whole frame rates, said aloud
_KEY_EVERY_S = 5  # a player finds any place within this time

# superfast with macroblock trees over ten frames of lookahead: measured on storyboard pictures as good and as small as
# veryfast (SSIM 0.995, about 0.8 Mb/s) for three quarters of its time. One thread, because x264's result depends on
# their number, and frames are drawn beside it anyway.
_QUALITY = ("-preset", "superfast", "-x264-params", "rc-lookahead=10:mbtree=1", "-crf", 21, "-profile:v", "high")
_ORDER = ("-bf", 0, "-g", 100_000, "-sc_threshold", 0, "-forced-idr", 1, "-threads", 1)
_COLOUR = ("-color_range", "tv", "-colorspace", "bt709", "-color_primaries", "bt709", "-color_trc", "bt709")


def encode(frames: Iterable[bytes], output: Path, size: tuple[int, int], fps: int, borders: Sequence[int]) -> None:
    """Encode the planes of yuv420p frames to an MP4 that begins anew at each border; the last one is its end.

    Raises:
        ffmpeg.FfmpegError: it could not be made.
    """
    ffmpeg.run(
        [
            *("-f", "rawvideo", "-pix_fmt", "yuv420p", "-s", f"{size[0]}x{size[1]}", "-r", fps),
            *(*_COLOUR, "-chroma_sample_location", "center", "-i", "pipe:0"),
            *_coder(fps, borders),
        ],
        output,
        feed=frames,
    )


def reencode(source: Path, output: Path, size: tuple[int, int], fps: int, borders: Sequence[int]) -> None:
    """Encode any clip in the same way: scaled and cropped to `size`, its last frame held or its end cut.

    Raises:
        ffmpeg.FfmpegError: it could not be read or made.
    """
    width, height = size
    shape = (
        f"fps={fps},scale={width}:{height}:force_original_aspect_ratio=increase:out_color_matrix=bt709:out_range=tv,"
        f"crop={width}:{height},setsar=0,tpad=stop=-1:stop_mode=clone,format=yuv420p,"
        "setparams=range=tv:color_primaries=bt709:color_trc=bt709:colorspace=bt709"
    )
    ffmpeg.run(
        ["-i", source, "-map", "0:v:0", "-an", "-sn", "-vf", shape, "-frames:v", borders[-1], *_coder(fps, borders)],
        output,
    )


def _coder(fps: int, borders: Sequence[int]) -> list[ffmpeg.Argument]:
    """The options of the encoder and of the file; the same for every shot, or they could not be joined by copying."""
    return [
        *("-c:v", "libx264", *_QUALITY, *_ORDER, *_COLOUR, "-chroma_sample_location", "center"),
        *("-force_key_frames", ",".join(f"{max(0.0, (key - 0.5) / fps):.6f}" for key in _keys(borders, fps))),
        *("-video_track_timescale", TIMESCALE * fps, "-fflags", "+bitexact", "-flags:v", "+bitexact"),
        *("-f", "mp4"),
    ]


def _keys(borders: Sequence[int], fps: int) -> Iterator[int]:
    """The frames that are coded by themselves: each beginning, and evenly between, so that seeking is quick."""
    for start, end in pairwise(borders):
        pieces = ceil((end - start) / (_KEY_EVERY_S * fps))
        yield from (start + (end - start) * piece // pieces for piece in range(pieces))
