"""A file of one's own, brought into the shape of the part that it replaces; runs in a child.

Pictures are scaled and cropped around their middle; sound becomes mono FLAC; a clip gets the size, rate, number of
frames and key frames of the shot that was ordered, its last frame held or its end cut, so that it is joined with the
others without being encoded again.
"""

from __future__ import annotations

from itertools import accumulate
from pathlib import Path
from typing import Any

from animastor.media.types import Structure
from animastor.protocol import FailureType
from animastor.workers.backend import BackendError, Order, Produced, Progress

FUNCTION = "animastor.workers.fitting:fit"
OWN = "own"  # the input by its name


def fit(order: Order, workdir: Path, progress: Progress) -> Produced:
    """The file `own` as what the structure describes. Raises `BackendError` (`bad_input`) when it cannot be read."""
    source, structure = order.inputs[OWN], order.structure
    if "frames" in structure:
        return Produced(_clip(source, structure, workdir))
    if "size" in structure:
        return Produced(_picture(source, structure, workdir))
    return Produced(_sound(source, workdir))


def _picture(source: Path, structure: Structure, workdir: Path) -> Path:
    from PIL import Image, ImageOps

    try:
        with Image.open(source) as image:
            upright = ImageOps.exif_transpose(image).convert("RGB")
            ImageOps.fit(upright, tuple(structure["size"]), Image.Resampling.LANCZOS).save(workdir / "own.png")
    except (OSError, SyntaxError, ValueError, Image.DecompressionBombError) as error:
        raise _unreadable("picture", source, error) from error
    return workdir / "own.png"


def _sound(source: Path, workdir: Path) -> Path:
    from animastor.workers.speech import flac

    try:
        return flac.write(workdir / "own.flac", flac.read(source))
    except (flac.DecodeError, ValueError) as error:  # ValueError: rate or channels change within the file
        raise _unreadable("sound", source, error) from error


def _clip(source: Path, structure: Structure, workdir: Path) -> Path:
    from animastor.media import ffmpeg
    from animastor.workers.motion.encode import reencode

    counts = counts_of(structure)
    try:
        reencode(source, workdir / "own.mp4", structure["size"], structure["fps"], list(accumulate(counts, initial=0)))
    except ffmpeg.FfmpegFailedError as error:
        raise _unreadable("clip", source, error) from error
    return workdir / "own.mp4"


def counts_of(structure: Structure) -> list[int]:
    """Rendered frames of each unit of a shot; the surplus is the last one's."""
    *before, _ = structure["frames"]
    return [*before, structure["render_frames"] - sum(before)]


def _unreadable(what: str, source: Path, error: Any) -> BackendError:
    told = " ".join(str(error).split())[:200]
    return BackendError(FailureType.PERMANENT, "bad_input", f"{source.name} is no {what} that can be read ({told})")
