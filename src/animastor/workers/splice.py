"""The merge of a scene's shots: nothing is decoded, frames are copied, and as many as the timeline has room for.

Every unit of a shot begins with a frame that needs none before it, and no frame needs one behind it (see
`workers.motion.encode`); so the frames of a unit can be cut at its end, to the frame.
"""

from __future__ import annotations

import errno
from collections.abc import Sequence
from fractions import Fraction
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

from animastor.protocol import FailureType
from animastor.workers.backend import BackendError, Order, Produced, Progress
from animastor.workers.motion.encode import TIMESCALE

if TYPE_CHECKING:
    from av.container import InputContainer, OutputContainer
    from av.packet import Packet
    from av.video.stream import VideoStream

_NO_ROOM = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG}


def splice(order: Order, workdir: Path, progress: Progress) -> Produced:
    """Join the shots of a scene (`media.video.plan_video`, its merge) into one MP4, its frames evenly timed from 0.

    Raises:
        BackendError: `bad_input` when a shot is not the one that was ordered.
        OSError: the disk is full.
    """
    import av

    target = workdir / "scene.mp4"
    shots, files = order.structure["shots"], order.files()
    if len(files) != len(shots):
        raise _bad(f"there are {len(files)} shots, ordered were {len(shots)}")
    try:
        with av.open(f"file:{target.absolute()}", "w", format="mp4", options={"fflags": "+bitexact"}) as out:
            _Joint(out, order.structure["fps"]).take_all(shots, files, progress)
    except av.error.FFmpegError as error:
        if error.errno in _NO_ROOM:
            raise
        raise _bad(f"a shot cannot be read: {error}") from error
    return Produced(target)


class _Joint:
    """The output, and the frame that comes next."""

    def __init__(self, container: OutputContainer, fps: int) -> None:
        self._container = container
        self._fps = fps
        self._stream: VideoStream | None = None
        self._at = 0

    def take_all(self, shots: Sequence[dict[str, Any]], files: Sequence[Path], progress: Progress) -> None:
        import av

        for done, (shot, path) in enumerate(zip(shots, files, strict=True)):
            with av.open(f"file:{path.absolute()}", options={"protocol_whitelist": "file"}) as source:
                self._take(source, shot)
            progress((done + 1) / len(shots))

    def _take(self, source: InputContainer, shot: dict[str, Any]) -> None:
        stream = self._fitting(source)
        packets = (packet for packet in source.demux(video=0) if packet.size)
        for rendered, taken in zip(shot["rendered"], shot["taken"], strict=True):
            unit = list(islice(packets, rendered))
            if len(unit) != rendered or taken > rendered or not unit[0].is_keyframe:
                raise _bad(f"a unit of shot {shot['hash'][:12]} is not {rendered} frames from a key frame on")
            for packet in unit[:taken]:
                self._put(packet, stream)
        if next(packets, None) is not None:
            raise _bad(f"shot {shot['hash'][:12]} has more frames than were ordered")

    def _fitting(self, source: InputContainer) -> VideoStream:
        """The output's stream, made like the first shot's; every other must have its parameter sets."""
        if not source.streams.video:
            raise _bad("a shot has no moving picture")
        template = source.streams.video[0]
        if self._stream is None:
            self._stream = self._container.add_stream_from_template(template)
            self._stream.time_base = Fraction(1, TIMESCALE * self._fps)
        elif bytes(self._stream.codec_context.extradata or b"") != bytes(template.codec_context.extradata or b""):
            raise _bad("the shots were encoded in different ways, and cannot be joined by copying")
        return self._stream

    def _put(self, packet: Packet[VideoStream], stream: VideoStream) -> None:
        packet.stream = stream
        packet.time_base = Fraction(1, TIMESCALE * self._fps)
        packet.pts = packet.dts = self._at * TIMESCALE
        packet.duration = TIMESCALE
        self._container.mux(packet)
        self._at += 1


def _bad(message: str) -> BackendError:
    return BackendError(FailureType.TRANSIENT, "bad_input", message)
