"""The sound of many scenes as one stream of samples, each scene exactly as long as it has to be.

Runs in a child process (it decodes with PyAV); holds one block of samples at a time, whatever the book's length.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

from animastor.exports.model import ExportError, SceneMedia

if TYPE_CHECKING:
    import numpy as np
    from av.audio.frame import AudioFrame
    from numpy.typing import NDArray

    Samples: TypeAlias = NDArray[np.float32]  # (samples, channels)

FADE_S = 0.005  # at both ends of a scene: too short to be heard, long enough that no step clicks
_SILENT_BLOCK = 65536  # samples


@dataclass(frozen=True, slots=True)
class Source:
    """A scene's sound as its file describes it; no file: silence."""

    scene_id: str
    path: Path | None
    samples: int = 0
    rate: int = 0
    channels: int = 0


@dataclass(frozen=True, slots=True)
class Piece:
    """A source, and how many samples of the whole it fills: cut or followed by silence to fit."""

    source: Source
    samples: int


@dataclass(frozen=True, slots=True)
class Format:
    """Rate in Hz, and the number of channels (1 or 2)."""

    rate: int
    channels: int


def look(scene: SceneMedia) -> Source:
    """What a scene's sound is, without decoding it.

    Raises:
        ExportError: there is no sound of known length in it.
    """
    if scene.audio is None:
        return Source(scene.scene_id, None)
    import av

    try:
        with av.open(_url(scene.audio)) as container:
            stream = container.streams.audio[0]
            if not stream.duration or stream.time_base is None:
                raise ExportError(f"the sound of scene {scene.scene_id} does not say how long it is")
            rate = stream.codec_context.sample_rate
            samples = round(stream.duration * stream.time_base * rate)
            return Source(scene.scene_id, scene.audio, samples, rate, stream.codec_context.channels)
    except (av.error.FFmpegError, IndexError) as error:
        raise ExportError(f"the sound of scene {scene.scene_id} cannot be read: {error}") from error


def common_format(sources: Sequence[Source]) -> Format:
    """The highest rate and the most channels (at most two) of all; 24 kHz mono when all are silent."""
    rates = [source.rate for source in sources if source.path is not None]
    channels = [source.channels for source in sources if source.path is not None]
    return Format(max(rates, default=24000), min(2, max(channels, default=1)))


def length(source: Source, form: Format) -> int:
    """How many samples a source has once it is brought to a format's rate."""
    return round(source.samples * form.rate / source.rate) if source.rate else 0


def stream(pieces: Sequence[Piece], form: Format, progress: Callable[[float], None]) -> Iterator[bytes]:
    """All pieces in order as 32 bit floats, interleaved; `progress` is told the share that was taken.

    Raises:
        ExportError: a file cannot be decoded to its end.
    """
    total, done = max(1, sum(piece.samples for piece in pieces)), 0
    for piece in pieces:
        for block in _fitted(piece, form):
            yield block.tobytes()
            done += len(block)
            progress(done / total)


def _fitted(piece: Piece, form: Format) -> Iterator[Samples]:
    """Exactly the samples of a piece: faded at both ends, cut, and then silence."""
    end, at = min(piece.samples, length(piece.source, form)), 0
    fade = max(1, min(round(FADE_S * form.rate), end // 2))
    for block in _decoded(piece.source, form):
        kept = block[: end - at]
        yield _faded(kept, at, end, fade)
        at += len(kept)
    if end - at > form.rate // 100:  # a resampler may be a few samples off
        missing = (end - at) / form.rate
        raise ExportError(f"the sound of scene {piece.source.scene_id} is damaged: it ends {missing:.2f} s early")
    yield from _silence(piece.samples - at, form)


def _faded(block: Samples, at: int, end: int, fade: int) -> Samples:
    """The samples `at` and following of a piece that ends at `end`, with a fade (half a cosine) at both of its ends."""
    import numpy as np

    if at >= fade and at + len(block) <= end - fade:
        return block
    places = np.arange(at, at + len(block), dtype=np.float32)
    share = np.minimum((places + 0.5) / fade, (end - 0.5 - places) / fade).clip(0, 1)
    gain = 0.5 - 0.5 * np.cos(np.pi * share)
    faded: Samples = (block * gain[:, None]).astype(np.float32)
    return faded


def _silence(samples: int, form: Format) -> Iterator[Samples]:
    import numpy as np

    for start in range(0, samples, _SILENT_BLOCK):
        yield np.zeros((min(_SILENT_BLOCK, samples - start), form.channels), dtype=np.float32)


def _decoded(source: Source, form: Format) -> Iterator[Samples]:
    """The blocks of a source in the format."""
    if source.path is None:
        return
    import av

    resampler = av.AudioResampler("flt", "mono" if form.channels == 1 else "stereo", form.rate)
    try:
        with av.open(_url(source.path)) as container:
            for frame in container.decode(audio=0):
                yield from (_block(one, form) for one in resampler.resample(frame))
            yield from (_block(one, form) for one in resampler.resample(None))
    except av.error.FFmpegError as error:
        raise ExportError(f"the sound of scene {source.scene_id} cannot be decoded: {error}") from error


def _block(frame: AudioFrame, form: Format) -> Samples:
    import numpy as np

    return frame.to_ndarray().astype(np.float32, copy=False).reshape(-1, form.channels)


def _url(path: Path) -> str:
    return f"file:{path.absolute()}"
