"""Moving pictures without a model: the camera pans and zooms over each unit's picture, as the shot directs.

What it needs is in the order: pictures, moves and numbers of frames. The camera never stands still, so no two
successive frames are equal; a unit begins with a cut.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import accumulate
from pathlib import Path

from animastor.protocol import FailureType
from animastor.workers.backend import BackendError, Order, Produced, Progress
from animastor.workers.fitting import counts_of
from animastor.workers.motion.encode import encode
from animastor.workers.motion.path import views_at
from animastor.workers.motion.planes import Planes, load

__all__ = ["shot"]


def shot(order: Order, workdir: Path, progress: Progress) -> Produced:
    """Render a shot (`media.video.structure_of`) as an H.264 MP4 of exactly `render_frames` frames.

    Raises:
        BackendError: `bad_input` when a picture cannot be read.
        ffmpeg.FfmpegError: it could not be encoded.
    """
    structure = order.structure
    size = (structure["size"][0], structure["size"][1])
    counts = counts_of(structure)
    target = workdir / "shot.mp4"
    frames = _frames(order, counts, size, progress)
    encode(frames, target, size, structure["fps"], list(accumulate(counts, initial=0)))
    return Produced(target)


def _frames(order: Order, counts: Sequence[int], size: tuple[int, int], progress: Progress) -> Iterator[bytes]:
    done, total = 0, sum(counts)
    for picture, move, count in zip(order.structure["pictures"], order.structure["moves"], counts, strict=True):
        planes = _loaded(order.inputs[picture], size)
        for view in views_at(move["views"], count):
            yield from planes.seen(view, size)
            done += 1
            progress(done / total)


def _loaded(path: Path, size: tuple[int, int]) -> Planes:
    try:
        return load(path, size)
    except (OSError, SyntaxError, ValueError) as error:
        raise BackendError(
            FailureType.TRANSIENT, "bad_input", f"the picture {path.name} cannot be read: {error}"
        ) from error
