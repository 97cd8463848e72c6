"""What bytes really are: sound, moving picture or picture, decoded and measured. Runs in child processes only.

Decoding strange bytes can hang or crash the decoder, and PyAV brings codecs under other licences; so this module is
called where a child process can be ended, and imports PyAV when it is called. Names and suffixes are not believed.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from animastor.media.types import Facts

if TYPE_CHECKING:
    from av.container import InputContainer

MOST_PIXELS = 100_000_000  # a picture above this is no picture of ours, and would take the memory of the process
_FORMATS = "mov,mp4,m4a,3gp,3g2,mj2,flac,wav,ogg,matroska,webm,mp3,aac"  # no playlists, which name other files
_PICTURES = (b"\x89PNG", b"\xff\xd8\xff", b"GIF8")  # and WebP, which is a RIFF as WAV is


class UndecodableError(Exception):
    """Raised when bytes are empty or cannot be decoded to their end; the message says which and why."""


@dataclass(frozen=True, slots=True)
class Stream:
    """A stream of a file. `duration` in seconds as the container says, `frames` as it counts (0: it does not)."""

    type: str
    codec: str
    duration: float
    frames: int
    language: str
    cover: bool  # an attached picture, not a moving one


@dataclass(frozen=True, slots=True)
class Chapter:
    """A chapter mark: seconds from the start, and its title."""

    start: float
    end: float
    title: str


@dataclass(frozen=True, slots=True)
class Contents:
    """What a container says of itself, without decoding."""

    streams: tuple[Stream, ...]
    chapters: tuple[Chapter, ...]
    tags: Mapping[str, str]


def probe(path: Path) -> Facts:
    """Decode the whole file and measure it.

    Durations are what was decoded, not what a header claims: samples over rate, or frames over rate.

    Raises:
        UndecodableError: it is empty, of no known kind, or damaged.
        OSError: it cannot be read.
    """
    with path.open("rb") as file:
        head = file.read(12)
    if not head:
        raise UndecodableError("the file is empty")
    return _picture(path) if _is_picture(head) else _media(path)


def contents(path: Path) -> Contents:
    """The streams, chapters and tags that a container lists.

    Raises:
        UndecodableError: it is of no known kind.
    """
    with _opened(path) as container:
        return Contents(
            streams=tuple(map(_described, container.streams)),
            chapters=tuple(map(_chapter, container.chapters())),
            tags=dict(container.metadata),
        )


def _is_picture(head: bytes) -> bool:
    return head.startswith(_PICTURES) or (head.startswith(b"RIFF") and head[8:12] == b"WEBP")


def _picture(path: Path) -> Facts:
    from PIL import Image, UnidentifiedImageError

    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", Image.DecompressionBombWarning)  # there is a limit of our own, below
            with Image.open(path) as picture:
                width, height = picture.size
                if width * height > MOST_PIXELS:
                    raise UndecodableError(f"the picture is {width}x{height} pixels, more than {MOST_PIXELS}")
                picture.load()
                return Facts(width=width, height=height, frames=1, codec=(picture.format or "").lower())
    except (UnidentifiedImageError, OSError, SyntaxError, ValueError, Image.DecompressionBombError) as error:
        raise UndecodableError(f"the picture cannot be decoded: {error}") from error


def _media(path: Path) -> Facts:
    with _opened(path) as container:
        videos = [stream for stream in container.streams.video if not _is_cover(stream)]
        sounds = container.streams.audio
        if not videos and not sounds:
            raise UndecodableError("there is neither sound nor moving picture in it")
        sound = _sound(path) if sounds else Facts()
        if not videos:
            return sound
        return _moving(container, videos[0], sound)


def _sound(path: Path) -> Facts:
    samples = 0
    with _opened(path) as container:
        stream = container.streams.audio[0]
        _be_strict(stream)
        for frame in container.decode(stream):
            samples += frame.samples
        rate, codec = stream.codec_context.sample_rate, stream.codec_context.name
        claimed = int(_seconds(stream) * rate + 0.5)
    if samples == 0:
        raise UndecodableError("there is not one sample of sound in it")
    if samples < claimed - 1:  # decoders step over damaged frames without a word
        raise UndecodableError(f"{claimed - samples} of {claimed} samples are missing or damaged")
    return Facts(duration=samples / rate, samples=samples, sample_rate=rate, codec=codec)


def _moving(container: InputContainer, stream: Any, sound: Facts) -> Facts:
    frames = 0
    _be_strict(stream)
    for _ in container.decode(stream):
        frames += 1
    rate = float(stream.average_rate or 0)
    if frames == 0 or rate <= 0:
        raise UndecodableError("there is not one frame in it")
    if frames < stream.frames:
        raise UndecodableError(f"{stream.frames - frames} of {stream.frames} frames are missing or damaged")
    return Facts(
        duration=frames / rate,
        samples=sound.samples,
        sample_rate=sound.sample_rate,
        width=stream.codec_context.width,
        height=stream.codec_context.height,
        frames=frames,
        fps=rate,
        codec=stream.codec_context.name,
    )


def _be_strict(stream: Any) -> None:
    """A damaged frame is an error, not something to be painted over. Smoothing what nobody sees is left out."""
    stream.codec_context.options = {"err_detect": "crccheck+bitstream+buffer+explode", "skip_loop_filter": "all"}
    stream.thread_type = "AUTO"


@contextmanager
def _opened(path: Path) -> Iterator[InputContainer]:
    import av

    try:
        options = {"format_whitelist": _FORMATS, "protocol_whitelist": "file"}
        with av.open(f"file:{path.absolute()}", options=options) as container:
            yield container
    except (av.error.FFmpegError, ValueError) as error:
        if isinstance(error, OSError) and not isinstance(error, ValueError):
            raise
        raise UndecodableError(f"it cannot be decoded: {error}") from error


def _is_cover(stream: Any) -> bool:
    import av

    return bool(stream.disposition & av.stream.Disposition.attached_pic)


def _described(stream: Any) -> Stream:
    codec = stream.codec_context.name if stream.codec_context is not None else ""
    language = stream.metadata.get("language", "")
    cover = stream.type == "video" and _is_cover(stream)
    return Stream(stream.type, codec, _seconds(stream), stream.frames, language, cover)


def _seconds(stream: Any) -> float:
    """The duration that the container claims; 0 when it does not know."""
    return float(stream.duration * stream.time_base) if stream.duration else 0.0


def _chapter(mark: Any) -> Chapter:
    base = float(mark["time_base"])
    return Chapter(mark["start"] * base, mark["end"] * base, mark["metadata"].get("title", ""))
