"""Sound files: mono FLAC of 16 bits in, and whatever a backend made out. PyAV is imported here, so in children only."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, cast

import av
import numpy as np
from av.audio.frame import AudioFrame
from av.audio.resampler import AudioResampler
from numpy.typing import NDArray

from animastor.media.audio import SAMPLE_RATE

Samples = NDArray[np.float32]  # 1.0 is full scale
DecodeError = av.FFmpegError

_BLOCK = 1 << 16  # samples that are encoded at once
_LEVEL = "5"  # compression; measured: 2 and 5 take the same time here, 5 is smaller


def write(path: Path, blocks: Iterable[Samples]) -> Path:
    """Write mono samples, block by block, as FLAC of 16 bits and 24,000 samples a second. Samples are clipped at ±1."""
    with av.open(str(path), "w", format="flac") as container:
        stream = cast("Any", container.add_stream("flac", rate=SAMPLE_RATE, options={"compression_level": _LEVEL}))
        stream.layout = "mono"
        for block in blocks:
            for at in range(0, len(block), _BLOCK):
                container.mux(stream.encode(_frame(block[at : at + _BLOCK])))
        container.mux(stream.encode(None))
    return path


def write_silence(path: Path, seconds: float) -> Path:
    """Write so many seconds of digital silence."""
    return write(path, [np.zeros(round(seconds * SAMPLE_RATE), np.float32)])


def read(path: Path) -> Iterator[Samples]:
    """The sound of a file in blocks, mono, 24,000 samples a second, whatever it was. Raises `DecodeError`."""
    with av.open(str(path)) as container:
        resampler: AudioResampler | None = None
        for frame in container.decode(audio=0):
            if _is_ours(frame):
                yield _floats(frame)
                continue
            resampler = resampler or AudioResampler(format="flt", layout="mono", rate=SAMPLE_RATE)
            for out in resampler.resample(frame):
                yield out.to_ndarray()[0].astype(np.float32, copy=False)
        if resampler is not None:
            for out in resampler.resample(None):
                yield out.to_ndarray()[0].astype(np.float32, copy=False)


def _frame(block: Samples) -> AudioFrame:
    pcm = np.rint(np.clip(block * 32768.0, -32768.0, 32767.0)).astype(np.int16)
    frame = AudioFrame.from_ndarray(pcm[None], format="s16", layout="mono")
    frame.sample_rate = SAMPLE_RATE
    return frame


def _is_ours(frame: AudioFrame) -> bool:
    return frame.format.name == "s16" and frame.layout.nb_channels == 1 and frame.sample_rate == SAMPLE_RATE


def _floats(frame: AudioFrame) -> Samples:
    samples: Samples = frame.to_ndarray()[0].astype(np.float32)
    samples /= 32768.0
    return samples
